import type { Span } from "../message/request.ts"
import type { Line } from "./find-lines.ts"

/** A paragraph, list item, heading, table row or quoted line; its span leaves out bullet and marks. */
export type Block = Span & {
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
  /^([ \t>]*)(?:[-*+•‣◦·–—●▪]|\(?\d{1,3}(?:[.)]|、|．)|\(?[a-zA-Z][.)]|[（(]?[一二三四五六七八九十]{1,3}[)）、.])[ \t]+(?=\S)/u
const wideItem = /^([ \t>]*)(?:\d{1,3}(?:、|．)|[（(]?[一二三四五六七八九十]{1,3}[)）、])(?=\S)/u
const quote = /^[ \t]*>+[ \t]?/
const row = /^[ \t]*\|/
const parting = /^(?:[-=*_]{3,}|<!--.{0,200}-->|<\/?[a-z][^<>]{0,120}>|[-:|][-:| \t]{2,})$/i
/** Check boxes and the pictures that stand for yes, no and beware. */
const mark = /^(?:\[[ xX]\][ \t]+|\p{Extended_Pictographic}\u{fe0f}?[ \t]*){1,4}/u

/** A line that only parts others is no longer than this. */
const maxMark = 300

type Reading = { readonly blocks: Block[]; under: Span | undefined; open: Block | undefined; gap: boolean }

/** The blocks of a text in order, without the code in it. One pass. */
export function blocksIn(lines: readonly Line[]): readonly Block[] {
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

function readLine(reading: Reading, line: Line): void {
  const { text } = line
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
  const quoted = quote.exec(line.text)?.[0].length ?? 0
  const indent = columns(/^[ \t]*/.exec(line.text)?.[0] ?? "")
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

function start(reading: Reading, line: Line, kind: Block["kind"], from: number, indent: number): void {
  shut(reading)
  const rest = line.text.slice(from)
  const lead = /^\s*/.exec(rest)?.[0].length ?? 0
  const marked = mark.exec(rest.slice(lead))?.[0].length ?? 0
  const { under, gap } = reading
  const made = { kind, indent, start: line.start + from + lead + marked, end: line.end, follows: !gap }
  reading.open = under === undefined ? made : { ...made, under }
  reading.gap = false
}

function shut(reading: Reading): void {
  if (reading.open !== undefined) reading.blocks.push(reading.open)
  reading.open = undefined
}
