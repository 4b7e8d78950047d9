import type { Span } from "../message/message.ts"

/** A paragraph, list item, heading, table row or quoted line; its span leaves out bullet and marks. */
export type TextBlock = Span & {
  readonly kind: "paragraph" | "item" | "heading" | "row" | "quote"
  /** Columns before its first word; what stands deeper than an item belongs to it. */
  readonly indent: number
  /** The heading that it stands under. */
  readonly under?: Span
  /** Nothing but blank lines stands between the block before and this one. */
  readonly follows: boolean
}

const fence = /^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+-]{0,20})/
/** Fences around prose: what is inside is read. */
const proseFence = /^(?:md|markdown|mdx|text|txt|plain|plaintext|rst|prompt|instructions|policy)$/i
const heading = /^[ \t>]*(#{1,6})[ \t]+(?=\S)/
const tag = /^<(?!\/)([a-z][\w-]{2,40})(?: [^<>]{0,80})?>$/i
const bold = /^(?:\*\*|__)[^*_\n]{2,80}(?:\*\*|__):?$/
const item =
  /^([ \t>]*)(?:[-*+•‣◦·–—●▪]|\(?\d{1,3}(?:[.)]|、|．)|\(?[a-zA-Z][.)]|[（(]?[一二三四五六七八九十]{1,3}[)）、.])[ \t]+(?=\S)/
const wideItem = /^([ \t>]*)(?:\d{1,3}(?:、|．)|[（(]?[一二三四五六七八九十]{1,3}[)）、])(?=\S)/
const quote = /^[ \t]*>+[ \t]?/
const row = /^[ \t]*\|/
const parting = /^(?:[-=*_]{3,}|<!--.{0,200}-->|<\/?[a-z][^<>]{0,120}>|[-:|][-:| \t]{2,})$/i
/** Check boxes and the pictures that stand for yes, no and beware. */
const mark = /^(?:\[[ xX]\][ \t]+|\p{Extended_Pictographic}\u{fe0f}?[ \t]*){1,4}/u

/** The pattern of pictures is long, and compiled only where a sign of one stands: a bracket, or what is no letter of Latin script. */
const mayMark = (code: number): boolean => code === 0x5b || code === 0xa9 || code === 0xae || code >= 0x2000

/** A line that only parts others is no longer than this. */
const maxMark = 300

type Reading = { readonly blocks: TextBlock[]; under: Span | undefined; open: TextBlock | undefined; gap: boolean }

/** The blocks of a text in order, without the code in it. One pass. */
export function blocksIn(lines: readonly Line[]): readonly TextBlock[] {
  const [first] = lines
  if (first !== undefined && lines.length === 1 && first.apart === undefined && isPlainStart(first.text))
    return [{ kind: "paragraph", indent: 0, start: first.start, end: first.end, follows: true }]
  const reading: Reading = { blocks: [], under: undefined, open: undefined, gap: false }
  const closing = closingFences(lines)
  for (let at = frontMatterEnd(lines); at < lines.length; at++) {
    const line = lines[at]
    if (line === undefined) break
    const found = closing.get(at)
    if (found !== undefined) {
      shut(reading)
      reading.gap = true
      at = found
    } else readLine(reading, line)
  }
  shut(reading)
  return reading.blocks
}

/** For each fence that opens code, where it closes. One that never closes hides nothing. */
function closingFences(lines: readonly Line[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>()
  let open: { readonly at: number; readonly sign: string; readonly prose: boolean } | undefined
  for (const [at, { text }] of lines.entries()) {
    if (isPlainStart(text) || (!text.includes("```") && !text.includes("~~~"))) continue
    const [, sign = "", info = ""] = fence.exec(text) ?? []
    if (sign === "") continue
    if (open === undefined) open = { at, sign, prose: proseFence.test(info) }
    else if (sign.startsWith(open.sign) && info === "") {
      if (!open.prose) closing.set(open.at, at)
      open = undefined
    }
  }
  return closing
}

/** Keys between dashes at the top of a file configure the file. */
function frontMatterEnd(lines: readonly Line[]): number {
  if (lines[0]?.text.trim() !== "---") return 0
  const end = lines.slice(1, 40).findIndex(({ text }) => text.trim() === "---")
  return end < 0 ? 0 : end + 2
}

/** Does a line start with a word, which no mark of a heading, item, row, quotation or fence does? */
function isPlainStart(text: string): boolean {
  const code = text.charCodeAt(0)
  if (!(code >= 0x61 && code <= 0x7a) && !(code >= 0x41 && code <= 0x5a)) return false
  // "a)" and "b." are items.
  const next = text.charCodeAt(1)
  return next !== 0x29 && next !== 0x2e
}

function readLine(reading: Reading, line: Line): void {
  const { text } = line
  if (isPlainStart(text) && line.apart === undefined) {
    readText(reading, line)
    return
  }
  const bare = text.trim()
  const headed = heading.exec(text) ?? tag.exec(bare)
  const [bulleted = "", before = ""] = item.exec(text) ?? wideItem.exec(text) ?? []
  if (headed !== null || bold.test(bare)) readHeading(reading, line, headed)
  else if (bare === "" || (bare.length <= maxMark && parting.test(bare)) || fence.test(text)) shut(reading)
  else if (line.apart) start(reading, line, "item", 0, 0)
  else if (row.test(text)) start(reading, line, "row", text.indexOf("|"), 0)
  else if (bulleted !== "") start(reading, line, "item", bulleted.length, columns(before))
  else readText(reading, line)
}

/** A line without a mark goes on with what is open, or starts a paragraph. */
function readText(reading: Reading, line: Line): void {
  const isPlain = isPlainStart(line.text)
  const quoted = isPlain ? 0 : (quote.exec(line.text)?.[0].length ?? 0)
  const indent = isPlain ? 0 : columns(/^[ \t]*/.exec(line.text)?.[0] ?? "")
  if (reading.open !== undefined && (reading.open.kind === "quote") === quoted > 0) {
    reading.open = { ...reading.open, end: line.end }
  } else start(reading, line, quoted > 0 ? "quote" : "paragraph", quoted, indent)
}

const columns = (blanks: string): number => blanks.replaceAll("\t", "    ").replace(/> ?/g, "").length

function readHeading(reading: Reading, line: Line, headed: RegExpExecArray | null): void {
  const from = headed?.[1]?.startsWith("#") ? headed[0].length : 0
  start(reading, line, "heading", from, 0)
  const made = reading.open
  shut(reading)
  if (made !== undefined) reading.under = { start: made.start, end: made.end }
}

function start(reading: Reading, line: Line, kind: TextBlock["kind"], from: number, indent: number): void {
  shut(reading)
  const rest = line.text.slice(from)
  const lead = rest.length - rest.trimStart().length
  const marked = mayMark(rest.charCodeAt(lead)) ? (mark.exec(rest.slice(lead))?.[0].length ?? 0) : 0
  const { under, gap } = reading
  const made = { kind, indent, start: line.start + from + lead + marked, end: line.end, follows: !gap }
  reading.open = under === undefined ? made : { ...made, under }
  reading.gap = false
}

function shut(reading: Reading): void {
  if (reading.open !== undefined) reading.blocks.push(reading.open)
  reading.open = undefined
}

/** A line of a text without what a listing printed before it; `text` is `whole.slice(start, end)`. */
type Line = Span & {
  readonly text: string
  /** It has nothing to do with the line before it. */
  readonly apart?: true
}

/** Numbers that `cat -n`, `grep -n` and file readers print before each line. */
const numbered = /^[ \t]{0,8}\d{1,6}(?:\t|→|: |\| |:(?=\S))/

/** So many lines are looked at to tell a numbered listing, and so large a share of them must have a number. */
const probedLines = 12
const numberedShare = 0.8

const lineEnds = /\r\n|[\n\r\u2028\u2029]/g

/** Looking for one sign takes less than starting a pattern does, and most of what people say is one line. */
const hasLineEnd = (text: string): boolean =>
  text.includes("\n") || text.includes("\r") || text.includes("\u2028") || text.includes("\u2029")

/** The lines of a text. `keyed` lines are read without the name before them. One pass. */
export function linesOfText(text: string, span: Span, keyed: boolean): readonly Line[] {
  const own = text.slice(span.start, span.end)
  const lines: Line[] = []
  if (!hasLineEnd(own)) {
    const line = { start: span.start, end: span.end, text: own }
    return [keyed ? withoutKey(line) : line]
  }
  let start = 0
  const take = (end: number): void => {
    lines.push({ start: span.start + start, end: span.start + end, text: own.slice(start, end) })
  }
  lineEnds.lastIndex = 0
  for (let match = lineEnds.exec(own); match !== null; match = lineEnds.exec(own)) {
    take(match.index)
    start = match.index + match[0].length
  }
  take(own.length)
  const bare = withoutNumbers(lines)
  return keyed ? bare.map(withoutKey) : bare
}

/** A name and a string in quotation marks behind it, as YAML and the like have them. */
const keyed = /^[ \t]{0,40}(?:- )?[\w.-]{1,40}: {1,4}(["'])(?=\S.{8}).{0,2000}\1[ \t]{0,8},?$/

/** The string that a line gives a name, without the name and the quotation marks. */
function withoutKey(line: Line): Line {
  const [, sign = ""] = keyed.exec(line.text) ?? []
  if (sign === "") return line
  const from = line.text.indexOf(sign) + 1
  const to = line.text.lastIndexOf(sign)
  return { start: line.start + from, end: line.start + to, text: line.text.slice(from, to), apart: true }
}

function withoutNumbers(lines: readonly Line[]): readonly Line[] {
  if (lines.length < 2) return lines
  const probed = lines.filter(({ text }) => text.trim() !== "").slice(0, probedLines)
  const hits = probed.filter(({ text }) => numbered.test(text)).length
  if (probed.length < 2 || hits < probed.length * numberedShare) return lines
  return lines.map((line) => {
    const length = numbered.exec(line.text)?.[0].length ?? 0
    return length === 0 ? line : { start: line.start + length, end: line.end, text: line.text.slice(length) }
  })
}
