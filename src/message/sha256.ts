import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** The runtime's own sha256, where it lends one without an import: the same digest, ten times as fast. */
const own = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash

/** The sha256 of a text in plain JavaScript, for wherever there is nothing else. */
export const plainSha256 = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** The sha256 of a text's UTF-8, in hex. */
export const sha256Hex: (text: string) => string =
  own === undefined ? plainSha256 : (text) => own("sha256", text, "hex")
