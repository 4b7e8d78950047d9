import { type Wire, wireText } from "../message/ids.ts"
import { layTape } from "./tape.ts"

/** What an object should say about the fields that we know: JSON text, or `undefined` for "not there". */
export type Fields = Readonly<Record<string, Wire | undefined>>

export const write = (value: unknown): Wire => wireText(JSON.stringify(value) ?? "null")

/** A list of values that are JSON text already. */
export const writeList = (items: readonly Wire[]): Wire => wireText(`[${items.join(",")}]`)

/** An object of fields that are JSON text already. */
export function writeObject(fields: Fields): Wire {
  return overlay(undefined, fields)
}

const sameValue = (one: string, other: string): boolean =>
  one === other || JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))

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
