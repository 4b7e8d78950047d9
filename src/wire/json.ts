import { HoldfastError } from "../message/errors.ts"
import { type Format, type Part, type Span, type Wire, wireText } from "../message/message.ts"
import { runSteps, type Steps } from "../message/steps.ts"

/** Larger bodies are refused before they are parsed: the largest that any model API takes is a third of it (Anthropic: 32 MB). */
export const maxBodyLength = 100_000_000

/** Whose fault it is when a value is not what it should be. */
type Origin = "request" | "response"

type Source = { readonly text: string; readonly tape: Tape; readonly origin: Origin }

/** A value of a JSON text together with where it stands. Reading goes by value, copying by place. */
export type Json = {
  readonly value: unknown
  readonly source: Source
  readonly at: number
  readonly parent?: Json
  readonly key?: string | number
}

/** Parse a whole JSON text; what is not JSON is a Problem that says where. */
export const readJson = (text: string, origin: Origin): Json => runSteps(readJsonSteps(text, origin))

/** The same, a long text some hundred kilobytes at a time. */
export function* readJsonSteps(text: string, origin: Origin, most = unitsAtOnce): Steps<Json> {
  if (typeof text !== "string")
    throw new HoldfastError({ code: "json-invalid", offset: 0, reason: `it is ${typeof text}, not text` })
  if (text.length > maxBodyLength) {
    throw new HoldfastError({ code: "body-too-large", length: text.length, limit: maxBodyLength })
  }
  if (text.length <= most) return { value: parse(text), source: { text, tape: layTape(text), origin }, at: 0 }
  const { tape, isWhole } = yield* layTapeSteps(text, most)
  const value = isWhole ? yield* parseSteps({ text, tape, most }) : undefined
  // Only a whole reading can say where it went wrong.
  return { value: value === undefined ? parse(text) : value, source: { text, tape, origin }, at: 0 }
}

/** Characters that are parsed or laid out in one step: a few milliseconds. */
const unitsAtOnce = 500_000

const jsonBlank = /^[ \t\n\r]*$/
const jsonComma = /^[ \t\n\r]*,[ \t\n\r]*$/
const jsonColon = /^[ \t\n\r]*:[ \t\n\r]*$/

/** A text, where its values stand, and how much of it is parsed in one step. */
type LaidText = { readonly text: string; readonly tape: Tape; readonly most: number }

/** Parse a laid out text in pieces; undefined if it is no JSON. */
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

/** Runs of elements are parsed together, a long one by itself. */
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
    // Not by assignment: that would take `__proto__` for something else.
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
    throw new HoldfastError({ code: "json-invalid", offset, reason: shorten(reason) }, { cause })
  }
}

/** Parse text that may or may not be JSON, such as the arguments of a half-written call. What nests too deep is none. */
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

const shorten = (reason: string): string => (reason.length > 200 ? `${reason.slice(0, 200)}…` : reason)

export function spanOf({ source, at }: Json): Span {
  return { start: source.tape.starts[at] ?? 0, end: source.tape.ends[at] ?? 0 }
}

export function wireOf(json: Json): Wire {
  const { start, end } = spanOf(json)
  return wireText(json.source.text.slice(start, end))
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What the member of that name says, without asking where it stands. */
export function valueIn({ value }: Json, name: string): unknown {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The member of that name, if the value is an object that has one. Of repeated names the last counts, as JSON.parse has it. */
export function member(json: Json, name: string): Json | undefined {
  if (!isObject(json.value) || !Object.hasOwn(json.value, name)) return undefined
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

/** The first of these members that is there: some APIs take a name in two spellings. */
export function memberOf(json: Json, names: readonly string[]): Json | undefined {
  for (const name of names) {
    const found = member(json, name)
    if (found !== undefined) return found
  }
  return undefined
}

/** The elements of an array; none for anything else. */
export function elements(json: Json): readonly Json[] {
  const { value, source } = json
  if (!Array.isArray(value)) return []
  let at = json.at + 1
  return value.map((element: unknown, key) => {
    const item: Json = { value: element, source, at, parent: json, key }
    at = source.tape.next[at] ?? at
    return item
  })
}

/** The way to a value as one would write it in code: `messages[3].content[0].text`. */
export function pathOf({ parent, key }: Json): string {
  if (parent === undefined || key === undefined) return ""
  const before = pathOf(parent)
  if (typeof key === "number") return `${before}[${key}]`
  return before === "" ? key : `${before}.${key}`
}

/** What stands there, in a word or two that never quote the content. */
function nameOf(value: unknown): string {
  if (value === undefined) return "nothing"
  if (value === null) return "null"
  if (Array.isArray(value)) return "an array"
  return typeof value === "object" ? "an object" : `a ${typeof value}`
}

/** Refuse with the path, what was expected and what is there. */
export function refuseJson(json: Json, expected: string, name?: string): never {
  const found = nameOf(name === undefined ? json.value : valueIn(json, name))
  const at = pathOf(json)
  const path = [at, name].filter((step) => step !== undefined && step !== "").join(".") || "the body"
  throw new HoldfastError({ code: `${json.source.origin}-invalid`, path, expected, found })
}

export function requireObject(json: Json): Json {
  return isObject(json.value) ? json : refuseJson(json, "an object")
}

export function requireString(json: Json, name: string): string {
  const value = valueIn(json, name)
  return typeof value === "string" ? value : refuseJson(json, "a string", name)
}

export function requireElements(json: Json, name: string): readonly Json[] {
  const list = member(json, name)
  return list !== undefined && Array.isArray(list.value) ? elements(list) : refuseJson(json, "an array", name)
}

/** A string where there is one; anything else reads as absent. For what we only look at and never rewrite. */
export function stringIn(json: Json | undefined, name: string): string | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "string" ? value : undefined
}

export function numberIn(json: Json | undefined, name: string): number | undefined {
  const value = json === undefined ? undefined : valueIn(json, name)
  return typeof value === "number" ? value : undefined
}

/** A count where there is a whole number of zero or more; anything else reads as absent. */
export function countIn(json: Json | undefined, name: string): number | undefined {
  const value = numberIn(json, name)
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export function isTrue(json: Json, name: string): boolean {
  return valueIn(json, name) === true
}

/** The text that a part came in, for parts that we relay and could not write from what we know of them. */
export function requireWire({ wire, type }: Part, format: Format): Wire {
  if (wire === undefined) throw new HoldfastError({ code: "part-unwritable", part: type, format })
  return wire
}

/** What an object should say about the fields that we know: JSON text, or `undefined` for "not there". */
export type Fields = Readonly<Record<string, Wire | undefined>>

export const write = (value: unknown): Wire => wireText(JSON.stringify(value) ?? "null")

/** A list of values that are JSON text already. */
export const writeList = (items: readonly Wire[]): Wire => wireText(`[${items.join(",")}]`)

/** An object of fields that are JSON text already. */
export function writeObject(fields: Fields): Wire {
  return overlay(undefined, fields)
}

function sameValue(one: string, other: string): boolean {
  if (one === other) return true
  const isText = one.startsWith('"')
  if (isText !== other.startsWith('"') || (isText && differsPlainly(one, other))) return false
  // Without these escapes there is but one way to write a text, and `other` is written by us.
  if (isText && !one.includes("\\u") && !one.includes("\\/") && one.isWellFormed()) return false
  const [value, wanted]: readonly [unknown, unknown] = [JSON.parse(one), JSON.parse(other)]
  return isText ? value === wanted : JSON.stringify(value) === JSON.stringify(wanted)
}

const comparedAtOnce = 4096

/** Do two texts in quotes differ first in signs that cannot mean the same? Told without looking at what follows. */
function differsPlainly(one: string, other: string): boolean {
  let at = 0
  while (at < one.length && one.slice(at, at + comparedAtOnce) === other.slice(at, at + comparedAtOnce))
    at += comparedAtOnce
  while (at < one.length && one[at] === other[at]) at++
  const written = one[at] === "\\" ? one[at + 1] : other[at] === "\\" ? other[at + 1] : undefined
  // Of what is written as an escape, only these can be written without one.
  return !isInEscape(one, at) && written !== "u" && written !== "/"
}

/** Does a place in a text in quotes stand within an escape, behind its first sign? */
function isInEscape(text: string, at: number): boolean {
  if (isEscaped(text, at)) return true
  for (let start = Math.max(0, at - 5); start < at - 1; start++)
    if (text[start] === "\\" && text[start + 1] === "u" && !isEscaped(text, start)) return true
  return false
}

/** Is the sign at a place the one that a backslash before it speaks of? */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === "\\") slashes++
  return slashes % 2 === 1
}

/** One member of an object as it stands: `"name": value`. */
type Member = { readonly name: string; readonly start: number; readonly valueStart: number; readonly end: number }

/** The members of the newest long objects: a long message that has to be written again is written several times. */
let longObjects: readonly { readonly text: string; readonly members: readonly Member[] }[] = []
const maxLongUnits = 16_000_000

/** Lay out an object some hundred kilobytes at a time before fields are written over it. Short ones need not be. */
export function* layMembers(text: string): Steps<void> {
  if (text.length <= unitsAtOnce || longObjects.some((known) => known.text === text)) return
  const { tape } = yield* layTapeSteps(text, unitsAtOnce)
  let units = text.length
  const others = longObjects.filter((known) => {
    units += known.text.length
    return units <= maxLongUnits
  })
  longObjects = [{ text, members: membersOn(text, tape) }, ...others]
}

const membersOf = (text: string): readonly Member[] =>
  (text.length > unitsAtOnce ? longObjects.find((known) => known.text === text)?.members : undefined) ??
  membersOn(text, layTape(text))

function membersOn(text: string, { starts, ends, next }: Tape): readonly Member[] {
  const members: Member[] = []
  for (let key = 1; key < (next[0] ?? 0); key = next[key + 1] ?? key + 2) {
    const start = starts[key] ?? 0
    const name: string = JSON.parse(text.slice(start, ends[key]))
    members.push({ name, start, valueStart: starts[key + 1] ?? 0, end: ends[key + 1] ?? 0 })
  }
  return members
}

/**
 * Lay our fields over the object that was read: a field that says the same keeps its very text, one that differs is replaced in
 * place, one that is new comes last, and all that we do not know stays as it stood. Nothing changed means the same text.
 */
export function overlay(wire: Wire | undefined, fields: Fields): Wire {
  const text = wire ?? "{}"
  const members = membersOf(text)
  const names = new Set(members.map(({ name }) => name))
  const added = Object.entries(fields)
    .filter(([name, value]) => value !== undefined && !names.has(name))
    .map(([name, value]) => `${JSON.stringify(name)}:${value}`)
  const gone = members.some(({ name }) => Object.hasOwn(fields, name) && fields[name] === undefined)
  if (gone) {
    const kept = members.filter(({ name }) => !Object.hasOwn(fields, name) || fields[name] !== undefined)
    return wireText(`{${[...kept.map((member) => memberText(text, member, fields)), ...added].join(",")}}`)
  }
  let out = ""
  let at = 0
  for (const member of members) {
    out += text.slice(at, member.start) + memberText(text, member, fields)
    at = member.end
  }
  const comma = members.length > 0 && added.length > 0 ? "," : ""
  const head = members.length > 0 ? out : text.slice(0, text.length - 1)
  const tail = members.length > 0 ? text.slice(at) : "}"
  return wireText(`${head}${comma}${added.join(",")}${tail}`)
}

function memberText(text: string, { name, start, valueStart, end }: Member, fields: Fields): string {
  const wanted = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (wanted === undefined || sameValue(text.slice(valueStart, end), wanted)) return text.slice(start, end)
  return text.slice(start, valueStart) + wanted
}

/** Deeper JSON is refused: no model API nests a tenth as deep, and every walk over it would have to fear for its stack. */
export const maxJsonDepth = 512

/**
 * Where each value of a valid JSON text stands, found in one pass: value n is `text.slice(starts[n], ends[n])`, and the first
 * value after it and all it contains is `next[n]`. A container's children follow it directly; an object's are key, value, key, value.
 */
type Tape = {
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

/** Quotes and escapes that are near are found character by character: a search for each of them would take fifty times as long. */
const nearUnits = 64

/**
 * The position after the string that `from` stands in, or, where it does not end before `until`, the complement of the place to go on from.
 * Long stretches without a quote are crossed by a native search.
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

/** The position after the string that opens at `start`. */
const endOfString = (text: string, start: number): number => endWithin(text, start + 1, text.length)

const isGap = (code: number): boolean => code === comma || code === colon || code <= 0x20

/** A tape while it is laid: how far, whether a string goes on there, the containers that are open, and whether all closed that opened. */
type Laying = {
  readonly tape: { readonly starts: number[]; readonly ends: number[]; readonly next: number[] }
  readonly open: number[]
  at: number
  inString: boolean
  isWhole: boolean
}

const startLaying = (): Laying => ({
  tape: { starts: [], ends: [], next: [] },
  open: [],
  at: 0,
  inString: false,
  isWhole: true,
})

/** Lay out `text` up to a place or somewhat behind it. Nothing is validated here. */
function layUntil(text: string, laying: Laying, until: number): void {
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

/** Go on in the string that is the newest value; it may go on behind the place. */
function endString(text: string, laying: Laying, from: number, until: number): number {
  const { ends, next } = laying.tape
  const end = endWithin(text, from, until)
  laying.inString = end < 0
  if (end < 0) return ~end
  ends[ends.length - 1] = end
  next[next.length - 1] = next.length
  return end
}

/** Lay out `text`, which must have been parsed successfully before. */
function layTape(text: string): Tape {
  const laying = startLaying()
  layUntil(text, laying, text.length)
  return laying.tape
}

/** The same, some hundred kilobytes at a time, for any text: it may turn out that it is no JSON. */
function* layTapeSteps(text: string, most: number): Steps<{ readonly tape: Tape; readonly isWhole: boolean }> {
  const laying = startLaying()
  while (laying.at < text.length) {
    layUntil(text, laying, Math.min(text.length, laying.at + most))
    yield
  }
  return { tape: laying.tape, isWhole: laying.isWhole && laying.open.length === 0 && !laying.inString }
}

/** The position after the number or word that starts at `start`. */
function endOfBare(text: string, start: number): number {
  let at = start + 1
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isGap(code) || code === closeBrace || code === closeBracket) break
  }
  return at
}

/** Where the list closes that `at` stands in, or the end of a text that is broken off: whoever parses the rest will say so. */
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

/** Messages stand in a list of the body, and their parts in a list of theirs. */
const messageDepth = 3
const partDepth = 5

/**
 * Has a body more than `limit` messages and parts? Told without parsing it, and no further than it takes: of a flood of them only the first
 * are looked at. Tools count too, which are few.
 */
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
