import { oneLine } from "../summary/summary.ts"

/** A call, and a value of it or of its answer, in as many characters as a line of a summary has for them. */

/** Longest argument shown: ids, addresses and short sentences whole. */
const maxValueLength = 64

/** Longest call shown. */
const maxCallLength = 240

/** Members of a list or record that are looked at. */
export const maxMembers = 12

/** Lists and records inside one another that are looked into. */
const maxDepth = 4

/** A JSON value in few characters: texts as they are, lists in brackets, the rest left out as `…`. */
export function valueText(value: unknown, room: number, depth = 0): string {
  if (typeof value === "string") return oneLine(value, Math.min(room, maxValueLength))
  if (value === null || typeof value !== "object") return String(value)
  if (depth >= maxDepth) return "…"
  const isList = Array.isArray(value)
  const text = joinWithin(isList ? listed(value, room, depth) : entriesOf(value, room, depth), room - 2)
  return isList ? `[${text}]` : `{${text}}`
}

function* listed(items: readonly unknown[], room: number, depth: number): Generator<string> {
  for (const item of items.slice(0, maxMembers)) yield bareRecord(item) ?? valueText(item, room, depth + 1)
  if (items.length > maxMembers) yield "…"
}

/** Members of a record so small that its values speak without their keys. */
const maxBareMembers = 4

function bareRecord(item: unknown): string | undefined {
  if (item === null || typeof item !== "object" || Array.isArray(item)) return undefined
  const values: readonly unknown[] = Object.values(item)
  const isBare = (value: unknown): boolean =>
    (typeof value === "string" && value.length <= 32) || typeof value === "number"
  if (values.length === 0 || values.length > maxBareMembers || !values.every(isBare)) return undefined
  return oneLine(values.join(" "), 2 * maxValueLength)
}

function* entriesOf(record: object, room: number, depth: number): Generator<string> {
  let count = 0
  for (const key in record) {
    const value: unknown = Reflect.get(record, key)
    if (value === null || value === undefined || value === "" || isEmpty(value)) continue
    if (++count > maxMembers) return yield "…"
    yield `${oneLine(key, maxValueLength)}=${secretKey.test(key) ? "…" : valueText(value, room, depth + 1)}`
  }
  // Who passes nothing but empty fields empties them.
  if (count === 0 && depth > 0)
    for (const key of Object.keys(record).slice(0, maxMembers)) yield `${oneLine(key, maxValueLength)}=null`
}

/** What a record of the work does not repeat: whoever needs it again finds it where it was kept. */
const secretKey =
  /^(?:\w*[_-])?(?:pass(?:word|wd|phrase)?|secret|api_?key|private_?key|access_?token|auth_?token|otp|cvv|cvc)$/i

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0

function joinWithin(pieces: Iterable<string>, room: number): string {
  let text = ""
  for (const piece of pieces) {
    const joined = text === "" ? piece : `${text}, ${piece}`
    if (joined.length > room) return text === "" ? oneLine(piece, Math.max(1, room)) : `${text}, …`
    text = joined
  }
  return text
}

/** A call as one would write it: `tool(name=value, …)`. */
export function callText(tool: string, input: unknown): string {
  const name = oneLine(tool, maxValueLength)
  const inner =
    input === null || input === undefined
      ? ""
      : typeof input === "object" && !Array.isArray(input)
        ? joinWithin(entriesOf(input, maxCallLength, 0), maxCallLength)
        : valueText(input, maxCallLength)
  return `${name}(${inner})`
}

/** A call with the statement that it runs before what else it was given. */
export function statementText(tool: string, input: unknown, statement: string): string {
  const isRecord = typeof input === "object" && input !== null && !Array.isArray(input)
  const others = isRecord ? Object.entries(input).filter(([, value]) => value !== statement) : []
  const said = [oneLine(statement, maxStatement), ...entriesOf(Object.fromEntries(others), maxCallLength, 0)]
  return `${oneLine(tool, maxValueLength)}(${joinWithin(said, maxCallLength)})`
}
const maxStatement = 140
