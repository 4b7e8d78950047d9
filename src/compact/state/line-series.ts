import { oneLine, type SummaryLine } from "../summary/summary.ts"
import { distinct } from "./note-draft.ts"

/** Lines that differ only in a number or a name are joined: files of a series, pages that were read, lookups with one tool. */
type Member = {
  readonly key: string
  readonly items: readonly string[]
  /** Number of calls, for lines that count them. */
  readonly times: number
  readonly join: (items: readonly string[], times: number) => Joined | undefined
}

type Joined = { readonly text: string; readonly short?: string }

/** Acts are not joined: each call has a line of its own. */
const memberOf = (text: string, section: string): Member | undefined =>
  pageMember(text) ??
  fileMember(text) ??
  (section === "acts" || section === "recent_actions" ? undefined : lookupMember(text))

type InSection = { readonly section: string; readonly line: SummaryLine }

/** Joins each series of lines into one, and the read-only files of each folder; other lines stay as they are. */
export const withSeries = <Placed extends InSection>(placed: readonly Placed[]): readonly Placed[] =>
  joinMembers(joinMembers(placed, memberOf), folderMember)

/** Joins the lines of each group at the place of the newest of them. */
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

/** Minimum number of files in a joined series. */
const leastSeries = 5

/** Ending of a line about files or pages that were only read: a quick check, because few lines have it. */
const endsAsRead = (text: string): boolean => text.endsWith(": read")
const onlyRead = /^`([^`{}]*?)(?:(\d{1,9})|\{([\d.,]{1,400})\})(\D*)`: read$/

/** A file that was only read, by the number in its name, or the numbers of a joined line: `` `step-{1..9,12}.txt`: read ``. */
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

/** Maximum number of ranges in a line: a series with more gaps is a list of files. */
const maxRanges = 12

/** Maximum number of files of a folder in a line. */
const maxInFolder = 12

const readFiles = /^(`[^`]+`(?:, `[^`]+`){0,30}): read$/
/** True for a line of files that were only read. */
export const isRead = (text: string): boolean => endsAsRead(text) && readFiles.test(text)

/** Returns the files of a line that were only read: one, or those of a series or folder. */
function filesIn(text: string): readonly string[] {
  if (!endsAsRead(text)) return []
  const [, listed = ""] = readFiles.exec(text) ?? []
  return [...listed.matchAll(/`([^`]+)`/g)].flatMap(([, file = ""]) =>
    /\{[\d.,]+\}/.test(file) ? [file] : expanded(file),
  )
}

/**
 * A file that was only read, to be joined with others of its folder: `` `docs/{a.md,b.md}`: read ``, or with whole paths where there is
 * room.
 */
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

/** Splits the joined line of a folder's files into one line for each. */
export function eachRead(line: SummaryLine): readonly SummaryLine[] {
  const files = filesIn(line.text)
  return files.length < 2 ? [line] : files.map((file) => ({ ...line, text: `\`${file}\`: read` }))
}

/** True for a URL, which is a page or other resource rather than a file of the work. */
export const isAddress = (path: string): boolean => /^[a-z][\w+.-]{1,20}:\/\//i.test(path)

/** Separates the members of a joined line: URLs and arguments contain commas. */
const between = " | "

const pagesHead = "Pages read: "
export const isPages = (text: string): boolean => text.startsWith(pagesHead)

/** A page that was read, or the pages of a joined line: `` Pages read: `https://a.example/x` | `https://b.example/{1,2}` ``. */
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
/** Minimum number of URLs that share everything but their last piece for that to be written once. */
const leastAlike = 4

/** Formats URLs with their common beginning written once. */
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

/** Minimum number of lookups with one tool, without results worth telling, for them to be joined. */
const leastLookups = 3
const maxLookups = 30
const fewLookups = 4
const maxLookupLength = 100

/** A call without a result worth telling, or the calls of a joined line: `` `search` ×3: red shoes | blue shoes | socks ``. */
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

/** Returns the argument values of a call, without small numbers and flags. */
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
