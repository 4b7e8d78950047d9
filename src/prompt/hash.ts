import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js"

/** The sha256 of a text's UTF-8, in hex: for a whole file the same as `sha256sum` says. */
export const hashText = (text: string): string => bytesToHex(sha256(utf8ToBytes(text.toWellFormed())))

/** The sha256 of plain data, framed as JSON so that no two lists read alike. */
export const hashData = (data: unknown): string => hashText(JSON.stringify(data))
