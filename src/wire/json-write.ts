import { type Wire, wireText } from "../message/message.ts"
import type { Steps } from "../message/steps.ts"
import { layTape, layTapeSteps, type Tape, unitsAtOnce } from "./json.ts"

/** Fields to write into an object, each as JSON text; `undefined` removes the field. */
export type Fields = Readonly<Record<string, Wire | undefined>>

export const write = (value: unknown): Wire => wireText(JSON.stringify(value) ?? "null")

/** The same for a value that may be absent, whose field is then omitted. */
export const writeOptional = (value: unknown): Wire | undefined => (value === undefined ? undefined : write(value))

/** Writes a JSON array of values that are JSON text already. */
export const writeList = (items: readonly Wire[]): Wire => wireText(`[${items.join(",")}]`)

/** Writes a JSON object of fields that are JSON text already. */
export function writeObject(fields: Fields): Wire {
  return overlay(undefined, fields)
}

function sameValue(one: string, other: string): boolean {
  if (one === other) return true
  const isText = one.startsWith('"')
  if (isText !== other.startsWith('"') || (isText && differsPlainly(one, other))) return false
  // Without these escapes a string has only one JSON form, and `other` was written by us.
  if (isText && !one.includes("\\u") && !one.includes("\\/") && one.isWellFormed()) return false
  const [value, wanted]: readonly [unknown, unknown] = [JSON.parse(one), JSON.parse(other)]
  return isText ? value === wanted : JSON.stringify(value) === JSON.stringify(wanted)
}

const comparedAtOnce = 4096

/** Whether two JSON strings differ for sure at their first differing character, without parsing them. */
function differsPlainly(one: string, other: string): boolean {
  let at = 0
  while (at < one.length && one.slice(at, at + comparedAtOnce) === other.slice(at, at + comparedAtOnce))
    at += comparedAtOnce
  while (at < one.length && one[at] === other[at]) at++
  const written = one[at] === "\\" ? one[at + 1] : other[at] === "\\" ? other[at + 1] : undefined
  // Only these escapes can represent characters that may also be written unescaped.
  return !isInEscape(one, at) && written !== "u" && written !== "/"
}

/** True if a position is inside an escape sequence, after its backslash. */
function isInEscape(text: string, at: number): boolean {
  if (isEscaped(text, at)) return true
  for (let start = Math.max(0, at - 5); start < at - 1; start++)
    if (text[start] === "\\" && text[start + 1] === "u" && !isEscaped(text, start)) return true
  return false
}

/** Whether the character at a position is escaped by a backslash before it. */
function isEscaped(text: string, at: number): boolean {
  let slashes = 0
  while (text[at - 1 - slashes] === "\\") slashes++
  return slashes % 2 === 1
}

type Member = { readonly name: string; readonly start: number; readonly valueStart: number; readonly end: number }

/** Cache of the members of long objects, newest first: a long message that is rewritten is rewritten several times. */
let longObjects: readonly { readonly text: string; readonly members: readonly Member[] }[] = []
const maxLongUnits = 16_000_000

/** Finds the members of a long object in steps, before `overlay` is called on it. Short objects need no preparation. */
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
 * Writes fields over the JSON object that was read. A field with the same value keeps its original text, a changed one is replaced in
 * place, a new one is appended, and all other fields keep their text. If no field changes, the result is the same text.
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
