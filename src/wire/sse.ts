import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"

/** Maximum length of an event in bytes: twice the largest body that a model API takes (Anthropic: 32 MB). */
const maxEventLength = 64_000_000

/**
 * An event of a server-sent stream, a comment, or (`cut`) the rest of a stream that ended inside an event. The `raw` bytes of all events
 * joined are the bytes that came in.
 */
export type SseEvent = {
  readonly type: "event" | "comment" | "cut"
  readonly name?: string
  /** The data lines joined; for a comment, its text. */
  readonly data: string
  readonly id?: string
  readonly retryMs?: number
  readonly raw: Uint8Array
  /** Set if it came as an element of a streamed JSON array, not as a server-sent event. */
  readonly framing?: "array"
}

type Line = "empty" | "comment" | "field"

/** The state of the parser between two chunks. */
export type SseState = {
  readonly limit: number
  readonly pending: Pending
  /** The kind of the current line, by its first byte. */
  readonly line: Line
  /** True if the current event has a field. */
  readonly fields: boolean
  /** True if the last byte was a CR, which an LF may follow. */
  readonly afterCr: boolean
  /** Number of bytes of a byte order mark read at the start; -1 once that is decided. */
  readonly mark: number
}

export function startSse(limit: number = maxEventLength): SseState {
  return { limit, pending: undefined, line: "empty", fields: false, afterCr: false, mark: 0 }
}

type Scan = { -readonly [Name in keyof SseState]: SseState[Name] } & {
  readonly bytes: Uint8Array
  copy?: Uint8Array
  from: number
  readonly events: SseEvent[]
  tooLarge: boolean
}

const lf = 0x0a
const cr = 0x0d
const colon = 0x3a
const byteOrderMark: readonly number[] = [0xef, 0xbb, 0xbf]

/** Reads the next bytes, however the stream is chunked. An event over the limit is a Problem; the state before it still has its bytes. */
export function sseStep(state: SseState, bytes: Uint8Array): readonly [SseState, readonly SseEvent[]] {
  if (lengthOf(state.pending) > state.limit) throw eventTooLarge(state)
  const scan: Scan = { ...state, bytes, from: 0, events: [], tooLarge: false }
  const hasCr = bytes.includes(cr)
  for (let at = 0; at < bytes.length && !scan.tooLarge; at++) {
    // Inside a line only its end matters.
    if (!hasCr && scan.line !== "empty" && scan.mark < 0 && !scan.afterCr) at = endOfLine(bytes, at)
    if (at < bytes.length) readByte(scan, bytes[at] ?? 0, at)
  }
  const next = stateOf(scan)
  if (scan.events.length === 0 && lengthOf(next.pending) > state.limit) throw eventTooLarge(state)
  return [next, scan.events]
}

/** Returns what is left at the end of the stream: nothing, blank lines (as a comment), or the beginning of an event (a `cut`). */
export function sseEnd(state: SseState): readonly SseEvent[] {
  if (lengthOf(state.pending) > state.limit) throw eventTooLarge(state)
  const scan: Scan = { ...state, bytes: new Uint8Array(0), from: 0, events: [], tooLarge: false }
  if (state.afterCr) endLine(scan, 0)
  const rest = join(scan.pending, scan.bytes)
  if (rest.length === 0) return scan.events
  const blank = scan.line === "empty" && !scan.fields
  return [...scan.events, readEvent(blank ? "comment" : "cut", rest)]
}

/** Reads a complete stream. */
export function readSse(bytes: Uint8Array): readonly SseEvent[] {
  const [state, events] = sseStep(startSse(), bytes)
  return [...events, ...sseEnd(state)]
}

function endOfLine(bytes: Uint8Array, from: number): number {
  const at = bytes.indexOf(lf, from)
  return at < 0 ? bytes.length : at
}

const eventTooLarge = ({ limit }: { readonly limit: number }): HoldfastError =>
  new HoldfastError({ code: "stream-event-too-large", limit })

function stateOf({ bytes, from, pending, limit, line, fields, afterCr, mark }: Scan): SseState {
  return { limit, pending: append(pending, bytes.subarray(from)), line, fields, afterCr, mark }
}

function readByte(scan: Scan, byte: number, at: number): void {
  if (scan.afterCr) {
    scan.afterCr = false
    endLine(scan, byte === lf ? at + 1 : at)
    if (byte === lf || scan.tooLarge) return
  }
  if (byte === lf) endLine(scan, at + 1)
  else if (byte === cr) scan.afterCr = true
  else if (scan.mark >= 0 && byte === byteOrderMark[scan.mark]) scan.mark = scan.mark === 2 ? -1 : scan.mark + 1
  else {
    if (scan.line === "empty") scan.line = byte === colon && !scan.fields && scan.mark < 1 ? "comment" : "field"
    scan.mark = -1
  }
}

/** Ends a line: a blank one ends an event; a comment between events is emitted at once, because it may be all that comes for a while. */
function endLine(scan: Scan, end: number): void {
  const line = scan.mark > 0 ? "field" : scan.line
  scan.mark = -1
  scan.line = "empty"
  if (line === "field") scan.fields = true
  else if (line === "comment") dispatch(scan, "comment", end)
  else if (scan.fields) dispatch(scan, "event", end)
}

function dispatch(scan: Scan, type: SseEvent["type"], end: number): void {
  if (lengthOf(scan.pending) + end - scan.from > scan.limit) {
    scan.tooLarge = true
    return
  }
  // One copy for all events of a chunk: the caller may reuse its memory.
  scan.copy ??= scan.bytes.slice()
  const last = scan.copy.subarray(scan.from, end)
  scan.events.push(readEvent(type, scan.pending === undefined ? last : join(scan.pending, last)))
  scan.pending = undefined
  scan.from = end
  scan.fields = false
}

function readEvent(type: SseEvent["type"], raw: Uint8Array): SseEvent {
  const text = utf8Text(raw)
  const marked = text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  const lines = marked.includes("\r") ? marked.split(/\r\n|\n|\r/) : marked.split("\n")
  if (type === "comment") {
    const line = lines.find((candidate) => candidate !== "") ?? ""
    return { type, data: fieldValue(line, 0), raw }
  }
  let data: string | undefined
  let name: string | undefined
  let id: string | undefined
  let retry: string | undefined
  for (const line of lines) {
    const at = line.indexOf(":")
    const field = at < 0 ? line : line.slice(0, at)
    if (field === "data") data = data === undefined ? fieldValue(line, at) : `${data}\n${fieldValue(line, at)}`
    else if (field === "event") name = fieldValue(line, at)
    else if (field === "id") id = fieldValue(line, at)
    else if (field === "retry") retry = fieldValue(line, at)
  }
  const event: SseEvent = name === undefined ? { type, data: data ?? "", raw } : { type, data: data ?? "", raw, name }
  if (id === undefined && retry === undefined) return event
  const retryMs = retry !== undefined && /^\d{1,9}$/.test(retry) ? Number(retry) : undefined
  return { ...event, ...present({ id, retryMs }) }
}

/** Returns the value of a field line whose colon is at `at`, without one space after it. */
function fieldValue(line: string, at: number): string {
  if (at < 0 || line === "") return ""
  return line.slice(line.charCodeAt(at + 1) === 0x20 ? at + 2 : at + 1)
}

/** Two web standards that every runtime has and the configured library does not declare. */
declare const TextDecoder: new (label: "utf-8", options: { readonly ignoreBOM: true }) => Decoder
declare const TextEncoder: new () => Encoder
type Decoder = { readonly decode: (bytes: Uint8Array) => string }
type Encoder = { readonly encode: (text: string) => Uint8Array }

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const encoder = new TextEncoder()

export const utf8Text = (bytes: Uint8Array): string => decoder.decode(bytes)
export const utf8Bytes = (text: string): Uint8Array => encoder.encode(text)

/** Bytes that wait for the rest of their event, in pieces of decreasing size, so that appending never copies all of them. */
type Pending = { readonly bytes: Uint8Array; readonly before: Pending; readonly length: number } | undefined

/** Appends bytes. A piece is copied only into one at least as large, so any chunking costs little more than one pass. */
function append(pending: Pending, bytes: Uint8Array): Pending {
  if (bytes.length === 0) return pending
  let last: Uint8Array = bytes.slice()
  let before = pending
  while (before !== undefined && before.bytes.length <= last.length) {
    last = join({ ...before, before: undefined, length: before.bytes.length }, last)
    before = before.before
  }
  return { bytes: last, before, length: lengthOf(before) + last.length }
}

/** Returns all pending bytes followed by `bytes`, as a new copy. */
function join(pending: Pending, bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(lengthOf(pending) + bytes.length)
  let end = whole.length - bytes.length
  whole.set(bytes, end)
  for (let link = pending; link !== undefined; link = link.before) {
    end -= link.bytes.length
    whole.set(link.bytes, end)
  }
  return whole
}

const lengthOf = (pending: Pending): number => pending?.length ?? 0

/** Creates an event. */
export function createSseEvent(data: string, name?: string): SseEvent {
  const lines = data.split(/\r\n|\n|\r/).map((line) => `data: ${line}\n`)
  const text = `${name === undefined ? "" : `event: ${name}\n`}${lines.join("")}\n`
  return { type: "event", data, raw: utf8Bytes(text), ...present({ name }) }
}

/** Replaces the data of an event, and its name if given; its other lines and line ends stay. The same data returns the same event. */
export function replaceData(event: SseEvent, data: string, name: string | undefined = event.name): SseEvent {
  if (data === event.data && name === event.name) return event
  const text = utf8Text(event.raw)
  if (event.framing === "array") {
    return { ...event, data, raw: utf8Bytes(text.slice(0, text.length - event.data.length) + data) }
  }
  let written = false
  const lines = text.match(/[^\r\n]*(?:\r\n|\n|\r|$)/g) ?? []
  const kept = lines.map((line) => {
    if (/^\uFEFF?event:/.test(line) && name !== undefined) return `event: ${name}${lineEndOf(line)}`
    if (!/^\uFEFF?data(?::|[\r\n]|$)/.test(line)) return line
    if (written) return ""
    written = true
    const end = lineEndOf(line)
    const mark = line.startsWith("\uFEFF") ? "\uFEFF" : ""
    return data
      .split("\n")
      .map((piece, n) => `${n === 0 ? mark : ""}data: ${piece}${end}`)
      .join("")
  })
  return { ...event, data, raw: utf8Bytes(kept.join("")), ...present({ name }) }
}

const lineEndOf = (line: string): string => /(?:\r\n|\n|\r)$/.exec(line)?.[0] ?? "\n"

/** The state of the parser of the other framing, Gemini's without `alt=sse`: a JSON array whose elements arrive one by one. */
export type ArrayState = {
  readonly limit: number
  readonly pending: Pending
  /** Number of bytes before the current element: bracket, comma and white space. */
  readonly lead: number
  /** Number of open containers, including the array itself. */
  readonly depth: number
  readonly quoted: boolean
  readonly escaped: boolean
}

export function startArray(limit: number = maxEventLength): ArrayState {
  return { limit, pending: undefined, lead: 0, depth: 0, quoted: false, escaped: false }
}

type ArrayScan = { -readonly [Name in keyof ArrayState]: ArrayState[Name] } & { from: number }

const quote = 0x22
const backslash = 0x5c
const isOpening = (byte: number): boolean => byte === 0x7b || byte === 0x5b
const isClosing = (byte: number): boolean => byte === 0x7d || byte === 0x5d

/** Reads the next bytes: one event per complete element, with the bytes before it in `raw`; the closing bracket becomes a comment. */
export function arrayStep(state: ArrayState, bytes: Uint8Array): readonly [ArrayState, readonly SseEvent[]] {
  if (lengthOf(state.pending) > state.limit) throw eventTooLarge(state)
  const scan: ArrayScan = { ...state, from: 0 }
  const events: SseEvent[] = []
  for (let at = 0; at < bytes.length; at++) {
    const closed = readArrayByte(scan, bytes[at] ?? 0)
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

function readArrayByte(scan: ArrayScan, byte: number): "nothing" | "element" | "array" {
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

/** Returns the bytes of an event in an array stream after `written` elements: the original ones if brackets and commas still fit. */
export function writeArrayEvent(event: SseEvent, written: number): Uint8Array {
  if (event.type === "comment") return written === 0 ? utf8Bytes("[]") : event.raw
  const text = utf8Text(event.raw)
  const opens = /^[\s\uFEFF]*\[/.test(text)
  if (event.framing === "array" && opens === (written === 0)) return event.raw
  return utf8Bytes(`${written === 0 ? "[" : ",\r\n"}${event.data}`)
}
