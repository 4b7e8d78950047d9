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

/** A tool without the name of the server that it comes from, unless its own is one word, as in `ticket.update`. */
function toldName(tool: string): string {
  const [first, server = "", ...rest] = tool.split("__")
  const own = rest.join("__")
  return first !== "mcp" || own === "" ? tool : /[a-z][_A-Z-]/.test(own) ? own : `${server}.${own}`
}

/** A call as one would write it: `tool(name=value, …)`. */
export function callText(tool: string, input: unknown): string {
  const name = oneLine(toldName(tool), maxValueLength)
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
  return `${oneLine(toldName(tool), maxValueLength)}(${joinWithin(said, maxCallLength)})`
}
const maxStatement = 140

/** The arguments of a call as it is told, split at the commas that stand in no bracket. */
export function toldArguments(list: string): readonly string[] {
  const parts: string[] = []
  let [depth, start] = [0, 0]
  for (let at = 0; at < list.length; at++) {
    const sign = list[at] ?? ""
    if ("([{".includes(sign)) depth++
    else if (")]}".includes(sign)) depth = Math.max(0, depth - 1)
    else if (depth === 0 && list.startsWith(", ", at)) {
      parts.push(list.slice(start, at))
      start = at + 2
    }
  }
  return [...parts, list.slice(start)]
}

/**
 * A call as it is told in fewer characters: names and figures whole, sentences by their beginning, the name of the tool without that of its
 * server; nothing where not even that fits.
 */
export function callWithin(call: string, length: number): string | undefined {
  const told = partsOf(call)
  if (told === undefined) return undefined
  const { tool, short, parts } = told
  const order = parts.map((_, n) => n).toSorted((one, other) => rankOf(parts, one) - rankOf(parts, other))
  for (const name of new Set([tool, short])) {
    const kept = new Map<number, string>()
    let left = length - name.length - 2 - gapLength
    for (const n of order) {
      // Each gap between arguments takes room of its own.
      const text = [left, left - gapLength - 2]
        .map((room) => partWithin(parts[n] ?? "", room))
        .find((one) => {
          const call = keptCall(name, parts, new Map([...kept, [n, one]]))
          return one !== "…" && one.length <= left && (n === 0 || call.length <= length)
        })
      if (text === undefined) continue
      kept.set(n, text)
      left -= text.length + 2
    }
    const isWhole = parts.every((part, n) => kept.has(n) || isProse(part) || part === "…")
    if (kept.has(0) && (name === short || isWhole)) return keptCall(name, parts, kept)
  }
  return undefined
}

function keptCall(name: string, parts: readonly string[], kept: ReadonlyMap<number, string>): string {
  const all = parts.map((_, n) => kept.get(n) ?? "…")
  return `${name}(${all.filter((part, n) => part !== "…" || all[n - 1] !== "…").join(", ")})`
}

/** How many characters a call takes at least, with what it is about and its first figure. */
export function coreLength(call: string): number | undefined {
  const told = partsOf(call)
  if (told === undefined) return undefined
  const { short, parts } = told
  const figure = parts.find((_, n) => rankOf(parts, n) === 1) ?? ""
  return short.length + (parts[0] ?? "").length + Math.min(figure.length, longestFigure) + "(, , …)".length
}
const longestFigure = 40

/** The arguments of a call of a tool by their names, and what the tool is called without its server. */
function partsOf(
  call: string,
): { readonly tool: string; readonly short: string; readonly parts: readonly string[] } | undefined {
  const [, tool = "", list = ""] = /^([\w.:-]{1,80})\((.*)\)$/s.exec(call) ?? []
  const parts = wholeArguments(toldArguments(list)).map(withShortNames)
  return /^[\w.-]{1,64}=/.test(parts[0] ?? "") ? { tool, short: tool.split("__").at(-1) ?? tool, parts } : undefined
}

/** An argument in so many characters: a sentence or a list by its beginning, anything else whole, though it does not fit. */
function partWithin(part: string, length: number): string {
  if (part.length <= length) return part
  const [, name = "", path] = /^([\w.-]{1,64}=)https?:\/\/[^/\s]+(\/\S+)$/.exec(part) ?? []
  // Of an address the path says what was done, and the calls around it where.
  if (path !== undefined && name.length + path.length < length) return `${name}…${path}`
  if (!isProse(part)) return cutList(part, length)
  return length < leastProse ? part : oneLine(part, length)
}

const gapLength = ", …".length
const leastProse = 24

/** A comma in a sentence begins no argument. */
function wholeArguments(pieces: readonly string[]): readonly string[] {
  const parts: string[] = []
  for (const piece of pieces) {
    if (parts.length === 0 || piece === "…" || /^[\w.-]{1,64}=/.test(piece)) parts.push(piece)
    else parts.push(`${parts.pop()}, ${piece}`)
  }
  return parts
}

/** Of a list its first members, no word cut in two. */
function cutList(part: string, length: number): string {
  const head = /^[\w.-]{1,64}=[[{]/.exec(part)?.[0]
  if (head === undefined) return part
  const kept = part.slice(0, length).replace(/[\s,]*[^\s,]*$/, "")
  return kept.length <= head.length ? part : `${kept}…`
}

/** What a call is about, then figures, dates and what only a program writes, then other short values, and sentences last. */
function rankOf(parts: readonly string[], n: number): number {
  const part = parts[n] ?? ""
  if (n === 0) return 0
  if (isProse(part)) return 4
  if (
    /^(?:\w*version|currency|locale|lang|language|page|limit|timezone|visibility|headers|cookies|timeout\w*)=/i.test(
      part,
    )
  )
    return 3
  return /[\d_@/]/.test(part.slice(part.indexOf("=") + 1)) ? 1 : 2
}

/** Sentences, which tell what something is for, and not what it is. */
const isProse = (part: string): boolean => {
  const [, value = ""] = /^[\w.-]{1,64}=(.*)$/s.exec(part) ?? []
  return value.length > leastProse && !/^[[{]/.test(value) && value.split(" ").length > proseWords
}
const proseWords = 3

/** Of a checksum the beginning tells which it is. */
const withShortNames = (part: string): string =>
  part.replace(/(?<![\w/.-])[a-f\d]{32,}(?![\w/.-])/gi, (checksum) => `${checksum.slice(0, 8)}…`)
