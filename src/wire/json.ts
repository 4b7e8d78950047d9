import { HoldfastError } from "../message/errors.ts"
import type { Format, Part, Span, Wire } from "../message/message.ts"
import { runSteps, type Steps } from "../message/steps.ts"

/** Maximum length of a body, refused before it is parsed: three times the largest that any model API takes (Anthropic: 32 MB). */
export const maxBodyLength = 100_000_000

/** Whether a malformed value is reported as an invalid request or an invalid response. */
type Origin = "request" | "response"

/** A value of a JSON text together with its position: read it by `value`, copy its text by position. */
export type Json = {
  readonly value: unknown
  readonly source: { readonly text: string; readonly tape: Tape; readonly origin: Origin }
  readonly at: number
  readonly parent?: Json
  readonly key?: string | number
}

/** Parses a JSON text. Throws a Problem with the offset if it is invalid. */
export const readJson = (text: string, origin: Origin): Json =>
  isShort(text, unitsAtOnce) ? readShort(text, origin) : runSteps(readJsonSteps(text, origin))

/** The same in steps of at most `most` characters, for long texts. */
export function* readJsonSteps(text: string, origin: Origin, most = unitsAtOnce): Steps<Json> {
  if (isShort(text, most)) return readShort(text, origin)
  const { tape, isWhole } = yield* layTapeSteps(text, most)
  const value = isWhole ? yield* parseSteps({ text, tape, most }) : undefined
  // Parsing in pieces cannot tell the offset of an error.
  return { value: value === undefined ? parse(text) : value, source: { text, tape, origin }, at: 0 }
}

/**
 * True if a text is short enough to be parsed in one step. Throws a Problem for anything but text, and for a text too long for any
 * request.
 */
function isShort(text: string, most: number): boolean {
  if (typeof text !== "string")
    throw new HoldfastError({ code: "json-invalid", offset: 0, reason: `it is ${typeof text}, not text` })
  if (text.length > maxBodyLength)
    throw new HoldfastError({ code: "body-too-large", length: text.length, limit: maxBodyLength })
  return text.length <= most
}

const readShort = (text: string, origin: Origin): Json => ({
  value: parse(text),
  source: { text, tape: layTape(text), origin },
  at: 0,
})

const jsonBlank = /^[ \t\n\r]*$/
const jsonComma = /^[ \t\n\r]*,[ \t\n\r]*$/
const jsonColon = /^[ \t\n\r]*:[ \t\n\r]*$/

/** A text, the positions of its values, and how many characters are parsed in one step. */
type LaidText = { readonly text: string; readonly tape: Tape; readonly most: number }

/** Parses a text in pieces; undefined if it is not valid JSON. */
function* parseSteps(laid: LaidText): Steps<unknown> {
  const { text, tape } = laid
  const { starts, ends } = tape
  const [start = 0, end = 0] = [starts[0], ends[0]]
  const isAlone = jsonBlank.test(text.slice(0, start)) && jsonBlank.test(text.slice(end))
  return isAlone && starts.length > 0 ? yield* parseAt(laid, 0) : undefined
}

function* parseAt(laid: LaidText, at: number): Steps<unknown> {
  const { text, tape, most } = laid
  const [start = 0, end = 0] = [tape.starts[at], tape.ends[at]]
  const [first, last] = [text[start], text[end - 1]]
  const isObject = first === "{" && last === "}"
  if (end - start <= most || !(isObject || (first === "[" && last === "]"))) {
    yield
    return tryParse(text.slice(start, end))
  }
  return isObject ? yield* parseMembers(laid, at) : yield* parseElements(laid, at)
}

/** Short elements are parsed several at a time, a long one by itself. */
function* parseElements(laid: LaidText, at: number): Steps<unknown> {
  const { text, tape, most } = laid
  const { starts, ends, next } = tape
  const values: unknown[] = []
  const close = next[at] ?? 0
  let before = (starts[at] ?? 0) + 1
  for (let child = at + 1; child < close; ) {
    const from = starts[child] ?? 0
    const gap = text.slice(before, from)
    if (!(child === at + 1 ? jsonBlank : jsonComma).test(gap)) return undefined
    let last = child
    for (let more = next[child] ?? close; more < close && (ends[more] ?? 0) - from <= most; more = next[more] ?? close)
      last = more
    before = ends[last] ?? 0
    if (last === child) {
      const value = yield* parseAt(laid, child)
      if (value === undefined) return undefined
      values.push(value)
    } else {
      const run = tryParse(`[${text.slice(from, before)}]`)
      if (!Array.isArray(run)) return undefined
      for (const value of run) values.push(value)
      yield
    }
    child = next[last] ?? close
  }
  return jsonBlank.test(text.slice(before, (ends[at] ?? 0) - 1)) ? values : undefined
}

function* parseMembers(laid: LaidText, at: number): Steps<unknown> {
  const { text, tape } = laid
  const { starts, ends, next } = tape
  const object: Record<string, unknown> = {}
  const close = next[at] ?? 0
  let before = (starts[at] ?? 0) + 1
  for (let key = at + 1; key < close; key = next[key + 1] ?? close) {
    const [from = 0, end = 0] = [starts[key], ends[key]]
    const name = text[from] === '"' ? tryParse(text.slice(from, end)) : undefined
    const isPlaced = (key === at + 1 ? jsonBlank : jsonComma).test(text.slice(before, from))
    const isNamed = key + 1 < close && jsonColon.test(text.slice(end, starts[key + 1]))
    if (typeof name !== "string" || !isPlaced || !isNamed) return undefined
    const value = yield* parseAt(laid, key + 1)
    if (value === undefined) return undefined
    // Assigning to `__proto__` would set the prototype.
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
    before = ends[key + 1] ?? 0
  }
  return jsonBlank.test(text.slice(before, (ends[at] ?? 0) - 1)) ? object : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    const position = /position (\d+)/.exec(reason)
    const offset = position === null ? Math.max(0, text.length - 1) : Number(position[1])
    throw new HoldfastError(
      { code: "json-invalid", offset, reason: reason.length > 200 ? `${reason.slice(0, 200)}…` : reason },
      { cause },
    )
  }
}

/** Parses text that may not be JSON, such as the arguments of an unfinished call; undefined if it is not, or nests too deep. */
export function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return text.length > 2 * maxJsonDepth && isDeeperThan(value, maxJsonDepth) ? undefined : value
  } catch {
    return undefined
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false
  if (depth === 0) return true
  for (const inner of Array.isArray(value) ? value : Object.values(value))
    if (isDeeperThan(inner, depth - 1)) return true
  return false
}

export function spanOf({ source, at }: Json): Span {
  return { start: source.tape.starts[at] ?? 0, end: source.tape.ends[at] ?? 0 }
}

export function wireOf(json: Json): Wire {
  const { start, end } = spanOf(json)
  return json.source.text.slice(start, end) as Wire
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The value of a member, without its position. */
export function valueIn({ value }: Json, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** A member of an object, if there is one. Of repeated names the last counts, as in JSON.parse. */
export function member(json: Json | undefined, name: string): Json | undefined {
  if (json === undefined || !isObject(json.value) || !Object.hasOwn(json.value, name)) return undefined
  const at = memberAt(json, name)
  return at < 0 ? undefined : { value: json.value[name], source: json.source, at, parent: json, key: name }
}

function memberAt({ source: { text, tape }, at }: Json, name: string): number {
  const end = tape.next[at] ?? 0
  let found = -1
  let key = at + 1
  while (key < end) {
    if (isKey(text, tape, key, name)) found = key + 1
    key = tape.next[key + 1] ?? end
  }
  return found
}

function isKey(text: string, { starts, ends }: Tape, key: number, name: string): boolean {
  const start = (starts[key] ?? 0) + 1
  const end = (ends[key] ?? 0) - 1
  if (end - start === name.length) return text.startsWith(name, start)
  return (
    end - start > name.length &&
    text.slice(start, end).includes("\\") &&
    JSON.parse(text.slice(start - 1, end + 1)) === name
  )
}

/** The first of these members that exists: some APIs accept two spellings of a name. */
export function memberOf(json: Json, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const found = member(json, name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The elements of an array; an empty list for any other value, or none. */
export function elements(json: Json | undefined): readonly Json[] {
  if (json === undefined || !Array.isArray(json.value)) return []
  const { value, source } = json
  let at = json.at + 1
  return value.map((element: unknown, key) => {
    const item: Json = { value: element, source, at, parent: json, key }
    at = source.tape.next[at] ?? at
    return item
  })
}

/** The path of a value as in code: `messages[3].content[0].text`. */
export function pathOf({ parent, key }: Json): string {
  if (parent === undefined || key === undefined) return ""
  const before = pathOf(parent)
  if (typeof key === "number") return `${before}[${key}]`
  return before === "" ? key : `${before}.${key}`
}

/** The type of a value in words, without its content. */
function nameOf(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** Throws a Problem with the path, what was expected and what was found. */
export function refuseJson(json: Json, expected: string, name?: string): never {
  const found = nameOf(name === undefined ? json.value : valueIn(json, name))
  const at = pathOf(json)
  const path = [at, name].filter((step) => step !== undefined && step !== "").join(".") || "the body"
  throw new HoldfastError({ code: `${json.source.origin}-invalid`, path, expected, found })
}

export function requireObject(json: Json): Json {
  return isObject(json.value) ? json : refuseJson(json, "an object")
}

/** A member that must be an object. */
export const requireObjectIn = (json: Json, name: string): Json =>
  requireObject(member(json, name) ?? refuseJson(json, "an object", name))

export function requireString(json: Json, name: string): string {
  const value = valueIn(json, name)
  return typeof value === "string" ? value : refuseJson(json, "a string", name)
}

export function requireElements(json: Json, name: string): readonly Json[] {
  const list = member(json, name)
  return list !== undefined && Array.isArray(list.value) ? elements(list) : refuseJson(json, "an array", name)
}

/** A member that is a string; undefined for anything else. For fields that we read and never rewrite. */
export function stringIn(json: Json | undefined, name: string): string | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "string" ? value : undefined
}

export function numberIn(json: Json | undefined, name: string): number | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "number" ? value : undefined
}

/** A member that is a whole number of zero or more; undefined for anything else. */
export function countIn(json: Json | undefined, name: string): number | undefined {
  const value = numberIn(json, name)
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function isTrue(json: Json, name: string): boolean {
  return valueIn(json, name) === true
}

/** The original JSON of a part that we relay and cannot write ourselves. Throws a Problem if the part has none. */
export function requireWire({ wire, type }: Part, format: Format): Wire {
  if (wire === undefined) throw new HoldfastError({ code: "part-unwritable", part: type, format })
  return wire
}

// Positions of the values of a text

/** Characters scanned or parsed in one step: a few milliseconds. */
export const unitsAtOnce = 500_000

/** Deeper JSON is refused, so that recursion over it cannot overflow the stack. No model API nests a tenth as deep. */
export const maxJsonDepth = 512

/**
 * The positions of all values of a valid JSON text, found in one pass: value n is `text.slice(starts[n], ends[n])`, and `next[n]` is the
 * first value behind it and everything inside it. A container is followed by its children; an object's are key, value, key, value.
 */
export type Tape = {
  readonly starts: readonly number[]
  readonly ends: readonly number[]
  readonly next: readonly number[]
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a

/** The first characters of a string are scanned one by one: most strings are short, and `indexOf` on each would take fifty times as long. */
const nearUnits = 64

/**
 * Returns the position after the string that `start` is in. If the string does not end before `until`, returns the bitwise complement of
 * the position to continue from. Long runs without a quote are skipped with `indexOf`.
 */
function endWithin(text: string, start: number, until: number): number {
  let from = start
  while (from < until) {
    const near = Math.min(from + nearUnits, text.length)
    while (from < near) {
      const code = text.charCodeAt(from)
      if (code === quote) return from + 1
      from += code === backslash ? 2 : 1
    }
    const close = text.indexOf('"', from)
    if (close < 0) return text.length
    let slashes = 0
    while (close - 1 - slashes >= from && text.charCodeAt(close - 1 - slashes) === backslash) slashes++
    if (slashes % 2 === 0) return close + 1
    from = close + 1
  }
  return from >= text.length ? text.length : ~from
}

/** Returns the position after the string that opens at `start`. */
const endOfString = (text: string, start: number): number => endWithin(text, start + 1, text.length)

const isGap = (code: number): boolean => code === comma || code === colon || code <= 0x20

/**
 * A tape under construction: the position reached, whether it is inside a string, the open containers, and whether all brackets matched so
 * far.
 */
type LayoutState = {
  readonly tape: { readonly starts: number[]; readonly ends: number[]; readonly next: number[] }
  readonly open: number[]
  at: number
  inString: boolean
  isWhole: boolean
}

const startLaying = (): LayoutState => ({
  tape: { starts: [], ends: [], next: [] },
  open: [],
  at: 0,
  inString: false,
  isWhole: true,
})

/** Extends the tape to position `until` or a little after it. Does not validate the JSON. */
function layUntil(text: string, laying: LayoutState, until: number): void {
  const { tape, open } = laying
  const { starts, ends, next } = tape
  let { at } = laying
  if (laying.inString) at = endString(text, laying, at, until)
  while (at < until && !laying.inString) {
    const code = text.charCodeAt(at)
    if (isGap(code)) {
      at++
    } else if (code === closeBrace || code === closeBracket) {
      const container = open.pop()
      laying.isWhole &&= container !== undefined
      ends[container ?? 0] = ++at
      next[container ?? 0] = starts.length
    } else {
      const value = starts.push(at) - 1
      ends.push(0)
      next.push(0)
      if (code === openBrace || code === openBracket) {
        if (open.push(value) > maxJsonDepth)
          throw new HoldfastError({ code: "json-too-deep", offset: at, limit: maxJsonDepth })
        at++
      } else if (code === quote) {
        at = endString(text, laying, at + 1, until)
      } else {
        at = endOfBare(text, at)
        ends[value] = at
        next[value] = value + 1
      }
    }
  }
  laying.at = at
}

/** Continues in the last value, a string, which may end after `until`. */
function endString(text: string, laying: LayoutState, from: number, until: number): number {
  const { ends, next } = laying.tape
  const end = endWithin(text, from, until)
  laying.inString = end < 0
  if (end < 0) return ~end
  ends[ends.length - 1] = end
  next[next.length - 1] = next.length
  return end
}

/** The tape of a text that is known to be valid JSON. */
export function layTape(text: string): Tape {
  const laying = startLaying()
  layUntil(text, laying, text.length)
  return laying.tape
}

/** The same in steps, for any text; `isWhole` is false if its brackets or quotes do not match. */
export function* layTapeSteps(text: string, most: number): Steps<{ readonly tape: Tape; readonly isWhole: boolean }> {
  const laying = startLaying()
  while (laying.at < text.length) {
    layUntil(text, laying, Math.min(text.length, laying.at + most))
    yield
  }
  return { tape: laying.tape, isWhole: laying.isWhole && laying.open.length === 0 && !laying.inString }
}

/** Returns the position after the number or keyword that starts at `start`. */
function endOfBare(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isGap(code) || code === closeBrace || code === closeBracket) break
  }
  return at
}

/**
 * Returns the position of the bracket that closes the list around `from`; the end of the text if it is cut off, which the parser reports.
 */
export function closeOfList(text: string, from: number): number {
  let depth = 0
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      continue
    }
    if (code === openBrace || code === openBracket) depth++
    else if (code === closeBrace || code === closeBracket) {
      if (depth === 0) return at
      depth--
    }
    at++
  }
  return at
}

/** Nesting depth of messages in a body, and of their parts. */
const messageDepth = 3
const partDepth = 5

/** Whether a body has more than `limit` messages, parts and tools, without parsing it or reading on. */
export function* hasMorePieces(text: string, limit: number, most = unitsAtOnce): Steps<boolean> {
  let depth = 0
  let pieces = 0
  let due = most
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      let end = endWithin(text, at + 1, due)
      for (; end < 0; end = endWithin(text, ~end, due)) {
        yield
        due = ~end + most
      }
      at = end - 1
    } else if (code === openBrace || code === openBracket) {
      depth++
      if (code === openBrace && (depth === messageDepth || depth === partDepth) && ++pieces > limit) return true
    } else if (code === closeBrace || code === closeBracket) depth--
    if (at >= due) {
      yield
      due = at + most
    }
  }
  return false
}
