import { createHash } from "node:crypto"

const alphabet = "0123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

/** Returns bytes that depend on the seed alone. */
function bytesOf(seed: string, length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
    createHash("sha256").update(`${seed}/${n}`).digest(),
  )
  return Buffer.concat(blocks).subarray(0, length)
}

const letters = (seed: string, length: number): string =>
  [...bytesOf(seed, length)].map((byte) => alphabet[byte % alphabet.length]).join("")

/** An id in Anthropic's shape: `msg_01…`, `toolu_01…`, `req_01…`. */
export const anthropicId = (prefix: "msg" | "toolu" | "req", index: number, piece = 0): string =>
  `${prefix}_01${letters(`${prefix}/${index}/${piece}`, 22)}`

/** An id in the shape of the OpenAI Responses API: `resp_…`, `rs_…`, `msg_…`, `fc_…`. */
export const responsesId = (prefix: "resp" | "rs" | "msg" | "fc", index: number, piece = 0): string =>
  `${prefix}_0${bytesOf(`${prefix}/${index}/${piece}`, 25).toString("hex").slice(1)}`

/** An OpenAI tool call id: `call_…`. */
export const openaiCallId = (index: number, piece: number): string => `call_${letters(`call/${index}/${piece}`, 24)}`

export const chatId = (index: number): string => `chatcmpl-${letters(`chat/${index}`, 29)}`

export const geminiResponseId = (index: number): string => bytesOf(`gemini/${index}`, 17).toString("base64url")

export const geminiCallId = (index: number, piece: number): string =>
  letters(`gemini-call/${index}/${piece}`, 8).toLowerCase()

type SealKind = "signature" | "reasoning" | "thought"

const sealPrefixes: Readonly<Record<SealKind, string>> = { signature: "EqQB", reasoning: "gAAA", thought: "CiIB" }

const sealLengthBytes = 128

const digest = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest()

/**
 * Returns an opaque text that stands for another: thinking signature, encrypted reasoning, thought signature. It contains its own checksum.
 */
export function seal(kind: SealKind, sealed: string): string {
  const bytes = bytesOf(`${kind}/${sealed}`, sealLengthBytes)
  return sealPrefixes[kind] + Buffer.concat([bytes, digest(bytes)]).toString("base64")
}

/** True if `seal` made this text and it is unaltered. */
export function isSeal(kind: SealKind, text: string): boolean {
  const bytes = Buffer.from(text.slice(sealPrefixes[kind].length), "base64")
  const [sealed, check] = [bytes.subarray(0, sealLengthBytes), bytes.subarray(sealLengthBytes)]
  return text.startsWith(sealPrefixes[kind]) && digest(sealed).equals(check)
}

/** Seconds since 1970, always the same: the server has no clock. */
export const createdAt = (index: number): number => 1_790_000_000 + index
