import { oneLine, type SummaryLine } from "../summary/summary.ts"
import { distinct } from "./note-draft.ts"

/** Lines that differ in a number or a name alone are told as one: files of a series, pages that were read, lookups with one tool. */
type Member = {
  readonly key: string
  readonly items: readonly string[]
  /** How often, where a line counts that. */
  readonly times: number
  readonly join: (items: readonly string[], times: number) => Joined | undefined
}

type Joined = { readonly text: string; readonly short?: string }

/** What was done is told call by call. */
const memberOf = (text: string, section: string): Member | undefined =>
  pageMember(text) ??
  fileMember(text) ??
  (section === "acts" || section === "recent_actions" ? undefined : lookupMember(text))

type InSection = { readonly section: string; readonly line: SummaryLine }

/** Each series as one line, and the files of one folder that were only read; every other line as it is. */
export const withSeries = <Placed extends InSection>(placed: readonly Placed[]): readonly Placed[] =>
  joinMembers(joinMembers(placed, memberOf), folderMember)

/** The members of each series as one line, where the newest of them stands. */
function joinMembers<Placed extends InSection>(
  placed: readonly Placed[],
  memberOf: (text: string, section: string) => Member | undefined,
): readonly Placed[] {
  const members = placed.flatMap((one) => {
    const member = one.line.state === undefined ? memberOf(one.line.text, one.section) : undefined
    return member === undefined ? [] : [{ one, member }]
  })
  const joined = new Map<Placed, Placed | undefined>()
  for (const group of Map.groupBy(members, ({ one, member }) => `${one.section}\n${member.key}`).values()) {
    const newest = group.at(-1)
    const items = [...new Set(group.flatMap(({ member }) => member.items))]
    const times = group.reduce((sum, { member }) => sum + member.times, 0)
    const text = newest?.member.join(items, times)
    if (newest === undefined || text === undefined) continue
    for (const { one } of group) joined.set(one, undefined)
    const { short: _, ...line } = newest.one.line
    const sources = distinct(group.flatMap(({ one }) => one.line.sources))
    const worth = Math.max(...group.map(({ one }) => one.line.worth))
    joined.set(newest.one, { ...newest.one, line: { ...line, ...text, sources, worth } })
  }
  return placed.flatMap((one) => (joined.has(one) ? (joined.get(one) ?? []) : [one]))
}

/** Files of one series that were only read, from so many on, are one line. */
const leastSeries = 5

/** A line that tells of files or pages that were only read ends so: few do, and the others need no closer look. */
const endsAsRead = (text: string): boolean => text.endsWith(": read")
const onlyRead = /^`([^`{}]*?)(?:(\d{1,9})|\{([\d.,]{1,400})\})(\D*)`: read$/

/** A file that was only read, by the number in its name, or the numbers of those that were joined before: `` `step-{1..9,12}.txt`: read ``. */
function fileMember(text: string): Member | undefined {
  const [, before = "", number, list, after = ""] = endsAsRead(text) ? (onlyRead.exec(text) ?? []) : []
  if (number === undefined && list === undefined) return undefined
  // `007` is another name than `7`.
  if (number?.startsWith("0") === true && number !== "0") return undefined
  const items = (list ?? number ?? "").split(",")
  if (items.map(rangeOf).some(([from, to]) => !(from <= to))) return undefined
  return {
    key: `file\n${before}\n${after}`,
    items,
    times: 0,
    join: (all) => {
      const ranges = united(all.map(rangeOf))
      const size = ranges.reduce((sum, [from, to]) => sum + to - from + 1, 0)
      if (all.length < 2 || size < leastSeries || ranges.length > maxRanges) return undefined
      const told = ranges.map(([from, to]) => (from === to ? String(from) : `${from}..${to}`)).join(",")
      return { text: `\`${before}{${told}}${after}\`: read` }
    },
  }
}

type Range = readonly [from: number, to: number]

function rangeOf(item: string): Range {
  const [from = 0, to = from] = item.split("..").map(Number)
  return [from, to]
}

function united(ranges: readonly Range[]): readonly Range[] {
  const all: Range[] = []
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    const last = all.at(-1)
    if (last !== undefined && from <= last[1] + 1) all[all.length - 1] = [last[0], Math.max(last[1], to)]
    else all.push([from, to])
  }
  return all
}

/** Ranges that a line names: a series with more gaps is a list of files. */
const maxRanges = 12

/** Files of a folder that one line names. */
const maxInFolder = 12

const readFiles = /^(`[^`]+`(?:, `[^`]+`){0,30}): read$/
/** Is it a line of files that were only read? */
export const isRead = (text: string): boolean => endsAsRead(text) && readFiles.test(text)

/** The files that were only read and that one line names: one, those of a series or of a folder. */
function filesIn(text: string): readonly string[] {
  if (!endsAsRead(text)) return []
  const [, listed = ""] = readFiles.exec(text) ?? []
  return [...listed.matchAll(/`([^`]+)`/g)].flatMap(([, file = ""]) =>
    /\{[\d.,]+\}/.test(file) ? [file] : expanded(file),
  )
}

/** A file that was only read among others of its folder: `` `docs/{a.md,b.md}`: read ``, or each by its whole path where there is room. */
function folderMember(text: string): Member | undefined {
  const files = filesIn(text)
  const folder = files[0]?.slice(0, files[0].lastIndexOf("/") + 1) ?? ""
  const names = files.map((file) => file.slice(folder.length))
  if (folder === "" || isAddress(folder) || names.some((name) => name === "" || /[{},/]/.test(name))) return undefined
  return {
    key: `folder\n${folder}`,
    items: names,
    times: 0,
    join: (all) => {
      if (all.length < 2 || all.length > maxInFolder) return undefined
      const whole = all.map((name) => `\`${folder}${name}\``).join(", ")
      return { text: `${whole}: read`, short: `\`${folder}{${all.join(",")}}\`: read` }
    },
  }
}

/** The line of a folder's files as one line for each, as they were before they were joined. */
export function eachRead(line: SummaryLine): readonly SummaryLine[] {
  const files = filesIn(line.text)
  return files.length < 2 ? [line] : files.map((file) => ({ ...line, text: `\`${file}\`: read` }))
}

/** An address with a scheme is a page or another resource, not a file of the work. */
export const isAddress = (path: string): boolean => /^[a-z][\w+.-]{1,20}:\/\//i.test(path)

/** Between the members of a line: addresses and arguments have commas. */
const between = " | "

const pagesHead = "Pages read: "
export const isPages = (text: string): boolean => text.startsWith(pagesHead)

/** A page that was read, or those that were joined before: `` Pages read: `https://a.example/x` | `https://b.example/{1,2}` ``. */
function pageMember(text: string): Member | undefined {
  const listed = isPages(text)
    ? text.slice(pagesHead.length)
    : endsAsRead(text)
      ? /^(`[^`]+`): read$/.exec(text)?.[1]
      : undefined
  if (listed === undefined) return undefined
  const items = [...listed.matchAll(/`([^`]+)`/g)].flatMap(([, page = ""]) => expanded(page))
  if (items.length === 0 || !items.every(isAddress)) return undefined
  return {
    key: "pages",
    items,
    times: 0,
    join: (all) => ({
      text: pagesText(all.slice(-maxPages)),
      ...(all.length > fewPages ? { short: `${pagesText(all.slice(-fewPages))}${between}…` } : {}),
    }),
  }
}

const maxPages = 120
const fewPages = 6
/** Pages whose addresses differ in their last piece, from so many on, are told by that piece. */
const leastAlike = 4

/** Addresses with what they share told once. */
function pagesText(pages: readonly string[]): string {
  const stemOf = (page: string): string => page.slice(0, Math.max(page.lastIndexOf("/"), page.lastIndexOf("=")) + 1)
  const groups = Map.groupBy(pages, (page) => (/[{},`]/.test(page) ? page : stemOf(page)))
  const told = [...groups].flatMap(([stem, own]) =>
    own.length < leastAlike ? own : [`${stem}{${own.map((page) => page.slice(stem.length)).join(",")}}`],
  )
  return `${pagesHead}${told.map((page) => `\`${page}\``).join(between)}`
}

function expanded(page: string): readonly string[] {
  const [, stem = "", list] = /^([^{}]*)\{([^{}]+)\}$/.exec(page) ?? []
  return list === undefined ? [page] : list.split(",").map((piece) => `${stem}${piece}`)
}

/** Lookups with one tool whose results are told nowhere, from so many on, are one line. */
const leastLookups = 3
const maxLookups = 30
const fewLookups = 4
const maxLookupLength = 100

/** A call without a result to tell, or those that were joined before: `` `search` ×3: red shoes | blue shoes | socks ``. */
function lookupMember(text: string): Member | undefined {
  if (!text.startsWith("`")) return undefined
  const [, tool = "", given, again] = /^`([\w.:-]{1,64})\(([^`]*)\)`(?: ×(\d{1,6}))?$/.exec(text) ?? []
  const [, joined = "", count, list] = /^`([\w.:-]{1,64})` ×(\d{1,6}): (.+)$/.exec(text) ?? []
  if (given === undefined && list === undefined) return undefined
  const name = given === undefined ? joined : tool
  return {
    key: `lookup\n${name}`,
    items: given === undefined ? (list ?? "").split(between).filter((item) => item !== "…") : [argumentsText(given)],
    times: Number(count ?? again ?? 1),
    join: (all, times) => {
      const told = all.filter((item) => item !== "")
      if (told.length < leastLookups) return undefined
      const line = (most: number): string =>
        `\`${name}\` ×${times}: ${told.length > most ? `…${between}` : ""}${told.slice(-most).join(between)}`
      return { text: line(maxLookups), ...(told.length > fewLookups ? { short: line(fewLookups) } : {}) }
    },
  }
}

/** What a call was given, without the names of its arguments and the numbers that only set it. */
const argumentsText = (given: string): string =>
  oneLine(
    given
      .split(/, (?=[\w.-]{1,40}=)/)
      .map((pair) => pair.slice(pair.indexOf("=") + 1))
      .filter((value) => !/^(?:\d{1,3}|true|false|…)$/.test(value))
      .join(", ")
      .replaceAll("|", "/"),
    maxLookupLength,
  )
