import { oneLine } from "../summary/summary.ts"

/** Formats a call, and values of its input or answer, within the length that a summary line has for them. */

/** Maximum length of an argument in characters: ids, addresses and short sentences fit whole. */
const maxValueLength = 64

/** Maximum length of a call in characters. */
const maxCallLength = 240

/** Maximum number of members read of a list or record. */
export const maxMembers = 12

/** Maximum nesting depth read. */
const maxDepth = 4

/** Formats a JSON value briefly: strings without quotes, lists in brackets, what does not fit as `…`. */
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

/** Maximum number of members of a record whose values are shown without keys. */
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
  // A call with nothing but empty fields clears them.
  if (count === 0 && depth > 0)
    for (const key of Object.keys(record).slice(0, maxMembers)) yield `${oneLine(key, maxValueLength)}=null`
}

/** Keys whose values are never repeated in a summary. */
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

/** Removes the MCP server's name from a tool's name, unless the tool's own name is a single word, as in `ticket.update`. */
function toldName(tool: string): string {
  const [first, server = "", ...rest] = tool.split("__")
  const own = rest.join("__")
  return first !== "mcp" || own === "" ? tool : /[a-z][_A-Z-]/.test(own) ? own : `${server}.${own}`
}

/** Formats a call as one would write it: `tool(name=value, …)`. */
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

/** Formats a call with its SQL statement first, before the other arguments. */
export function statementText(tool: string, input: unknown, statement: string): string {
  const isRecord = typeof input === "object" && input !== null && !Array.isArray(input)
  const others = isRecord ? Object.entries(input).filter(([, value]) => value !== statement) : []
  const said = [oneLine(statement, maxStatement), ...entriesOf(Object.fromEntries(others), maxCallLength, 0)]
  return `${oneLine(toldName(tool), maxValueLength)}(${joinWithin(said, maxCallLength)})`
}
const maxStatement = 140

/** Splits the arguments of a formatted call at the commas outside brackets. */
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
 * Shortens a formatted call: names and figures stay whole, sentences are cut, and the MCP server's name may go; undefined if even that
 * does not fit.
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
      // A gap between arguments takes characters too.
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

/** Returns the minimum length of a call with its first argument and its first figure. */
export function coreLength(call: string): number | undefined {
  const told = partsOf(call)
  if (told === undefined) return undefined
  const { short, parts } = told
  const figure = parts.find((_, n) => rankOf(parts, n) === 1) ?? ""
  return short.length + (parts[0] ?? "").length + Math.min(figure.length, longestFigure) + "(, , …)".length
}
const longestFigure = 40

/** Splits a formatted call into its tool, the tool's name without its server, and its arguments. */
function partsOf(
  call: string,
): { readonly tool: string; readonly short: string; readonly parts: readonly string[] } | undefined {
  const [, tool = "", list = ""] = /^([\w.:-]{1,80})\((.*)\)$/s.exec(call) ?? []
  const parts = wholeArguments(toldArguments(list)).map(withShortNames)
  return /^[\w.-]{1,64}=/.test(parts[0] ?? "") ? { tool, short: tool.split("__").at(-1) ?? tool, parts } : undefined
}

/** Shortens an argument to a length: sentences and lists are cut; anything else stays whole even if it does not fit. */
function partWithin(part: string, length: number): string {
  if (part.length <= length) return part
  const [, name = "", path] = /^([\w.-]{1,64}=)https?:\/\/[^/\s]+(\/\S+)$/.exec(part) ?? []
  // The path of a URL says what was done; other calls name its host.
  if (path !== undefined && name.length + path.length < length) return `${name}…${path}`
  if (!isProse(part)) return cutList(part, length)
  return length < leastProse ? part : oneLine(part, length)
}

const gapLength = ", …".length
const leastProse = 24

/** Joins pieces split at a comma inside a sentence, which begins no argument. */
function wholeArguments(pieces: readonly string[]): readonly string[] {
  const parts: string[] = []
  for (const piece of pieces) {
    if (parts.length === 0 || piece === "…" || /^[\w.-]{1,64}=/.test(piece)) parts.push(piece)
    else parts.push(`${parts.pop()}, ${piece}`)
  }
  return parts
}

/** Keeps the first members of a list without cutting a word. */
function cutList(part: string, length: number): string {
  const head = /^[\w.-]{1,64}=[[{]/.exec(part)?.[0]
  if (head === undefined) return part
  const kept = part.slice(0, length).replace(/[\s,]*[^\s,]*$/, "")
  return kept.length <= head.length ? part : `${kept}…`
}

/** Rank of an argument: the first one, then figures, dates and identifiers, then other short values, then options, and sentences last. */
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

/** True for a sentence, which says what something is for rather than what it is. */
const isProse = (part: string): boolean => {
  const [, value = ""] = /^[\w.-]{1,64}=(.*)$/s.exec(part) ?? []
  return value.length > leastProse && !/^[[{]/.test(value) && value.split(" ").length > proseWords
}
const proseWords = 3

/** Shortens checksums: their beginning identifies them. */
const withShortNames = (part: string): string =>
  part.replace(/(?<![\w/.-])[a-f\d]{32,}(?![\w/.-])/gi, (checksum) => `${checksum.slice(0, 8)}…`)
