import { HoldfastError } from "../message/errors.ts"
import { type Wire, wireText } from "../message/ids.ts"
import type { Span } from "../message/request.ts"
import { layTape, type Tape } from "./tape.ts"

/** Larger bodies are refused before they are parsed: the largest that any model API takes is a third of it (Anthropic: 32 MB). */
export const maxBodyLength = 100_000_000

/** Whose fault it is when a value is not what it should be. */
export type Origin = "request" | "response"

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

/** Parse text that may or may not be JSON, such as the arguments of a half-written call. */
export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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
