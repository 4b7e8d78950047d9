/** The two web standards that every runtime has and the configured library does not name. */
declare const TextDecoder: new (label: "utf-8", options: { readonly ignoreBOM: true }) => Decoder
declare const TextEncoder: new () => Encoder
type Decoder = { readonly decode: (bytes: Uint8Array) => string }
type Encoder = { readonly encode: (text: string) => Uint8Array }

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const encoder = new TextEncoder()

export const utf8Text = (bytes: Uint8Array): string => decoder.decode(bytes)
export const utf8Bytes = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that wait for the rest of their event, in pieces of falling size: adding to them never copies them all. */
export type Pending = { readonly bytes: Uint8Array; readonly before: Pending; readonly length: number } | undefined

/** Add bytes; a piece is copied only into one at least as large, so that any chunking costs little more than one pass. */
export function append(pending: Pending, bytes: Uint8Array): Pending {
  if (bytes.length === 0) return pending
  let last: Uint8Array = bytes.slice()
  let before = pending
  while (before !== undefined && before.bytes.length <= last.length) {
    last = join({ ...before, before: undefined, length: before.bytes.length }, last)
    before = before.before
  }
  return { bytes: last, before, length: lengthOf(before) + last.length }
}

/** All that waits and `bytes` after it, as a copy of its own. */
export function join(pending: Pending, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(lengthOf(pending) + bytes.length)
  let end = whole.length - bytes.length
  whole.set(bytes, end)
  for (let link = pending; link !== undefined; link = link.before) {
    end -= link.bytes.length
    whole.set(link.bytes, end)
  }
  return whole
}

export const lengthOf = (pending: Pending): number => pending?.length ?? 0
