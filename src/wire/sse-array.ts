import {
  append,
  eventTooLarge,
  join,
  lengthOf,
  maxEventLength,
  type Pending,
  type SseEvent,
  utf8Bytes,
  utf8Text,
} from "./sse.ts"

/** The second framing, Gemini's without `alt=sse`: a JSON array whose elements arrive one by one. Where its parser stands between two chunks. */
export type ArrayState = {
  readonly limit: number
  readonly pending: Pending
  /** Bytes before the element that has begun: bracket, comma and white space. */
  readonly lead: number
  /** How many containers are open; the array itself is one. */
  readonly depth: number
  readonly quoted: boolean
  readonly escaped: boolean
}

export function startArray(limit: number = maxEventLength): ArrayState {
  return { limit, pending: undefined, lead: 0, depth: 0, quoted: false, escaped: false }
}

type Scan = { -readonly [Name in keyof ArrayState]: ArrayState[Name] } & { from: number }

const quote = 0x22
const backslash = 0x5c
const isOpening = (byte: number): boolean => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d

/** Read the next bytes: an event for each element that is whole, raw with what stood before it; the closing bracket is a comment. */
export function arrayStep(state: ArrayState, bytes: Uint8Array): readonly [ArrayState, readonly SseEvent[]] {
  if (lengthOf(state.pending) > state.limit) throw eventTooLarge(state)
  const scan: Scan = { ...state, from: 0 }
  const events: SseEvent[] = []
  for (let at = 0; at < bytes.length; at++) {
    const closed = readByte(scan, bytes[at] ?? 0)
    if (closed !== "nothing") {
      const raw = join(scan.pending, bytes.subarray(scan.from, at + 1))
      if (raw.length > state.limit) break
      events.push(closed === "array" ? commentOf(raw) : elementOf(raw, scan.lead))
      scan.pending = undefined
      scan.from = at + 1
      scan.lead = 0
    }
  }
  const { from, ...rest } = scan
  const pending = append(scan.pending, bytes.subarray(from))
  if (events.length === 0 && lengthOf(pending) > state.limit) throw eventTooLarge(state)
  return [{ ...rest, pending }, events]
}

export function arrayEnd(state: ArrayState): readonly SseEvent[] {
  if (lengthOf(state.pending) > state.limit) throw eventTooLarge(state)
  const rest = join(state.pending, new Uint8Array(0))
  if (rest.length === 0) return []
  return [state.depth > 0 ? { ...elementOf(rest, state.lead), type: "cut" } : commentOf(rest)]
}

function readByte(scan: Scan, byte: number): "nothing" | "element" | "array" {
  if (scan.quoted) {
    if (scan.escaped) scan.escaped = false
    else if (byte === backslash) scan.escaped = true
    else if (byte === quote) scan.quoted = false
    return "nothing"
  }
  if (byte === quote) scan.quoted = true
  else if (isOpening(byte)) scan.depth++
  else if (isClosing(byte)) {
    scan.depth--
    return scan.depth === 1 ? "element" : scan.depth === 0 ? "array" : "nothing"
  }
  if (scan.depth < 2 && !(scan.depth === 1 && scan.quoted)) scan.lead++
  return "nothing"
}

const commentOf = (raw: Uint8Array): SseEvent => ({ type: "comment", data: "", raw, framing: "array" })

function elementOf(raw: Uint8Array, lead: number): SseEvent {
  return { type: "event", data: utf8Text(raw.subarray(lead)), raw, framing: "array" }
}

/** The bytes of an event in an array stream of which `written` elements have gone out: as they came where brackets and commas still fit. */
export function writeArrayEvent(event: SseEvent, written: number): Uint8Array {
  if (event.type === "comment") return written === 0 ? utf8Bytes("[]") : event.raw
  const text = utf8Text(event.raw)
  const opens = /^[\s\uFEFF]*\[/.test(text)
  if (event.framing === "array" && opens === (written === 0)) return event.raw
  return utf8Bytes(`${written === 0 ? "[" : ",\r\n"}${event.data}`)
}
