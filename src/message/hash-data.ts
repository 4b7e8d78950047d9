import { sha256Hex } from "./sha256.ts"

/** The sha256 of a text's UTF-8, in hex: for a whole file the same as `sha256sum` says. */
export const hashText = (text: string): string => sha256Hex(text.toWellFormed())

/** The sha256 of plain data, framed as JSON so that no two lists read alike. */
export const hashData = (data: unknown): string => hashText(JSON.stringify(data))
