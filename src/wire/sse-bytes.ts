/** The two web standards that every runtime has and the configured library does not name. */
declare const TextDecoder: new (label: "utf-8", options: { readonly ignoreBOM: true }) => Decoder
declare const TextEncoder: new () => Encoder
type Decoder = { readonly decode: (bytes: Uint8Array) => string }
type Encoder = { readonly encode: (text: string) => Uint8Array }

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const encoder = new TextEncoder()

export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes)
export const bytesOf = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that wait for the rest of their event, in pieces of falling size: adding to them never copies them all. */
export type Pending = readonly Uint8Array[]

/** Add bytes; a piece is copied only into one at least as large, so that any chunking costs little more than one pass. */
export function append(pending: Pending, bytes: Uint8Array): Pending {
  if (bytes.length === 0) return pending
  let last = bytes.slice()
  let kept = pending.length
  for (; kept > 0; kept--) {
    const before = pending[kept - 1]
    if (before === undefined || before.length > last.length) break
    last = join([before], last)
  }
  return [...pending.slice(0, kept), last]
}

/** All that waits and `bytes` after it, as a copy of its own. */
export function join(pending: Pending, bytes: Uint8Array): Uint8Array {
  if (pending.length === 0) return bytes.slice()
  const whole = new Uint8Array(lengthOf(pending) + bytes.length)
  let at = 0
  for (const piece of [...pending, bytes]) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

export function lengthOf(pending: Pending): number {
  let length = 0
  for (const piece of pending) length += piece.length
  return length
}
