import { HoldfastError } from "../message/errors.ts"
import { type Format, type Part, type Span, type Wire, wireText } from "../message/message.ts"

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
export function readJson(text: string, origin: Origin): Json {
  if (typeof text !== "string")
    throw new HoldfastError({ code: "json-invalid", offset: 0, reason: `it is ${typeof text}, not text` })
  if (text.length > maxBodyLength) {
    throw new HoldfastError({ code: "body-too-large", length: text.length, limit: maxBodyLength })
  }
  return { value: parse(text), source: { text, tape: layTape(text), origin }, at: 0 }
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
  if (isText !== other.startsWith('"')) return false
  // Without these escapes there is but one way to write a text, and `other` is written by us.
  if (isText && !one.includes("\\u") && !one.includes("\\/") && one.isWellFormed()) return false
  const [value, wanted]: readonly [unknown, unknown] = [JSON.parse(one), JSON.parse(other)]
  return isText ? value === wanted : JSON.stringify(value) === JSON.stringify(wanted)
}

/** One member of an object as it stands: `"name": value`. */
type Member = { readonly name: string; readonly start: number; readonly valueStart: number; readonly end: number }

function membersOf(text: string): readonly Member[] {
  const { starts, ends, next } = layTape(text)
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

/** The position after the string that opens at `start`. Long stretches without a quote are crossed by a native search. */
function endOfString(text: string, start: number): number {
  let from = start + 1
  for (;;) {
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
}

const isGap = (code: number): boolean => code === comma || code === colon || code <= 0x20

/** Lay out `text`, which must have been parsed successfully before: nothing is validated here. */
function layTape(text: string): Tape {
  const starts: number[] = []
  const ends: number[] = []
  const next: number[] = []
  const open: number[] = []
  const length = text.length
  let at = 0
  while (at < length) {
    const code = text.charCodeAt(at)
    if (isGap(code)) {
      at++
    } else if (code === closeBrace || code === closeBracket) {
      const container = open.pop() ?? 0
      ends[container] = ++at
      next[container] = starts.length
    } else {
      const value = starts.length
      starts.push(at)
      if (code === openBrace || code === openBracket) {
        if (open.push(value) > maxJsonDepth)
          throw new HoldfastError({ code: "json-too-deep", offset: at, limit: maxJsonDepth })
        ends.push(0)
        next.push(0)
        at++
      } else {
        at = code === quote ? endOfString(text, at) : endOfBare(text, at)
        ends.push(at)
        next.push(value + 1)
      }
    }
  }
  return { starts, ends, next }
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
export function hasMorePieces(text: string, limit: number): boolean {
  let depth = 0
  let pieces = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      continue
    }
    if (code === openBrace || code === openBracket) {
      depth++
      if (code === openBrace && (depth === messageDepth || depth === partDepth) && ++pieces > limit) return true
    } else if (code === closeBrace || code === closeBracket) depth--
    at++
  }
  return false
}
