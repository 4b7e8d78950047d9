import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** The runtime's own sha256, where it lends one without an import: the same digest, ten times as fast. */
const own = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash

/** The sha256 of a text in plain JavaScript, for wherever there is nothing else. */
export const plainSha256 = (text: string): string => bytesToHex(sha256(utf8ToBytes(text)))

/** The sha256 of a text's UTF-8, in hex. */
export const sha256Hex: (text: string) => string =
  own === undefined ? plainSha256 : (text) => own("sha256", text, "hex")

/** The sha256 of a text's UTF-8, in hex: for a whole file the same as `sha256sum` says. */
export const hashText = (text: string): string => sha256Hex(text.toWellFormed())

/** The sha256 of plain data, framed as JSON so that no two lists read alike. */
export const hashData = (data: unknown): string => hashText(JSON.stringify(data))
