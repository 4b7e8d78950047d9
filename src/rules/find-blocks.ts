import { isAsciiLetter } from "../language/letters.ts"
import type { Span } from "../message/message.ts"
import { charKind, kindTable, learnKind } from "./sign-kinds.ts"
import { isOfRun } from "./word-facts.ts"

/** A paragraph, list item, heading, table row or quoted line; its span leaves out the bullet and other marks. */
export type TextBlock = Span & {
  readonly kind: "paragraph" | "item" | "heading" | "row" | "quote"
  /** Column of its first word; text that is indented deeper than an item belongs to it. */
  readonly indent: number
  /** The heading that it stands under. */
  readonly under?: Span
  /** True if no code stands between the block before and this one. */
  readonly follows: boolean
}

const fence = /^[ \t>]*(`{3,}|~{3,})[ \t]*([\w+-]{0,20})/
/** Languages of fences around prose, which is read. */
const proseFence = /^(?:md|markdown|mdx|text|txt|plain|plaintext|rst|prompt|instructions|policy)$/i
const heading = /^[ \t>]*(#{1,6})[ \t]+(?=\S)/
const tag = /^<(?!\/)([a-z][\w-]{2,40})(?: [^<>]{0,80})?>$/i
const bold = /^(?:\*\*|__)[^*_\n]{2,80}(?:\*\*|__):?$/
const item =
  /^([ \t>]*)(?:[-*+•‣◦·–—●▪]|\(?\d{1,3}(?:[.)]|、|．)|\(?[a-zA-Z][.)]|[（(]?[一二三四五六七八九十]{1,3}[)）、.])[ \t]+(?=\S)/
const wideItem = /^([ \t>]*)(?:\d{1,3}(?:、|．)|[（(]?[一二三四五六七八九十]{1,3}[)）、])(?=\S)/
const quote = /^[ \t]*>+[ \t]?/
const row = /^[ \t]*\|/
const separatorLine = /^(?:[-=*_]{3,}|<!--.{0,200}-->|<\/?[a-z][^<>]{0,120}>|[-:|][-:| \t]{2,})$/i
/** Matches check boxes, and emoji for yes, no and beware. */
const mark = /^(?:\[[ xX]\][ \t]+|\p{Extended_Pictographic}\u{fe0f}?[ \t]*){1,4}/u

/**
 * True if a line may start with such a mark. The pattern of emoji is long, and is compiled only for a bracket or a character that is no
 * Latin letter.
 */
const mayMark = (code: number): boolean => code === 0x5b || code === 0xa9 || code === 0xae || code >= 0x2000

/** Maximum length of a line that only separates others. */
const maxMark = 300

type ParserState = { readonly blocks: TextBlock[]; under: Span | undefined; open: TextBlock | undefined; gap: boolean }

/** Returns the blocks of a text in order, without the code in it. One pass. */
export function blocksIn(lines: readonly Line[]): readonly TextBlock[] {
  const [first] = lines
  if (first !== undefined && lines.length === 1 && first.apart === undefined && isPlainStart(first.text))
    return [{ kind: "paragraph", indent: 0, start: first.start, end: first.end, follows: true }]
  const state: ParserState = { blocks: [], under: undefined, open: undefined, gap: false }
  const closing = closingFences(lines)
  for (let at = frontMatterEnd(lines); at < lines.length; at++) {
    const line = lines[at]
    if (line === undefined) break
    const found = closing.get(at)
    if (found !== undefined) {
      closeBlock(state)
      state.gap = true
      at = found
    } else readLine(state, line)
  }
  closeBlock(state)
  return state.blocks
}

/** Maps each fence that opens code to the one that closes it. A fence that is never closed hides nothing. */
function closingFences(lines: readonly Line[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>()
  let open: { readonly at: number; readonly sign: string; readonly prose: boolean } | undefined
  for (const [at, { text }] of lines.entries()) {
    if (isPlainStart(text) || (!text.includes("```") && !text.includes("~~~"))) continue
    const [, fenceMark = "", info = ""] = fence.exec(text) ?? []
    if (fenceMark === "") continue
    if (open === undefined) open = { at, sign: fenceMark, prose: proseFence.test(info) }
    else if (fenceMark.startsWith(open.sign) && info === "") {
      if (!open.prose) closing.set(open.at, at)
      open = undefined
    }
  }
  return closing
}

/** Returns the first line after the front matter: keys between dashes at the top configure the file. */
function frontMatterEnd(lines: readonly Line[]): number {
  if (lines[0]?.text.trim() !== "---") return 0
  const end = lines.slice(1, 40).findIndex(({ text }) => text.trim() === "---")
  return end < 0 ? 0 : end + 2
}

/** True if a line starts with a word, and so with no mark of a heading, item, row, quotation or fence. */
function isPlainStart(text: string): boolean {
  const code = text.charCodeAt(0)
  if (code >= 0x80) return isPlainLetter(code)
  if (!isAsciiLetter(code)) return false
  // "a)" and "b." are items.
  const next = text.charCodeAt(1)
  return next !== 0x29 && next !== 0x2e
}

/** True for a letter beyond ASCII that no mark contains: Chinese numerals count items, and some symbols are letters. */
const isPlainLetter = (code: number): boolean =>
  isOfRun(code)
    ? !numerals.includes(String.fromCharCode(code))
    : code < 0x2000 && ((kindTable[code] || learnKind(code)) & charKind.letter) !== 0
const numerals = "一二三四五六七八九十"

function readLine(state: ParserState, line: Line): void {
  const { text } = line
  if (isPlainStart(text) && line.apart === undefined) {
    readText(state, line)
    return
  }
  const bare = text.trim()
  const headed = heading.exec(text) ?? tag.exec(bare)
  const [bulleted = "", before = ""] = item.exec(text) ?? wideItem.exec(text) ?? []
  if (headed !== null || bold.test(bare)) readHeading(state, line, headed)
  else if (bare === "" || (bare.length <= maxMark && separatorLine.test(bare)) || fence.test(text)) closeBlock(state)
  else if (line.apart) startBlock(state, line, "item", 0, 0)
  else if (row.test(text)) startBlock(state, line, "row", text.indexOf("|"), 0)
  else if (bulleted !== "") startBlock(state, line, "item", bulleted.length, columns(before))
  else readText(state, line)
}

/** Adds a line without a mark to the open block, or starts a paragraph with it. */
function readText(state: ParserState, line: Line): void {
  const isPlain = isPlainStart(line.text)
  const quoted = isPlain ? 0 : (quote.exec(line.text)?.[0].length ?? 0)
  const indent = isPlain ? 0 : columns(/^[ \t]*/.exec(line.text)?.[0] ?? "")
  if (state.open !== undefined && (state.open.kind === "quote") === quoted > 0) {
    state.open = { ...state.open, end: line.end }
  } else startBlock(state, line, quoted > 0 ? "quote" : "paragraph", quoted, indent)
}

const columns = (blanks: string): number => blanks.replaceAll("\t", "    ").replace(/> ?/g, "").length

function readHeading(state: ParserState, line: Line, headed: RegExpExecArray | null): void {
  const from = headed?.[1]?.startsWith("#") ? headed[0].length : 0
  startBlock(state, line, "heading", from, 0)
  const made = state.open
  closeBlock(state)
  if (made !== undefined) state.under = { start: made.start, end: made.end }
}

function startBlock(state: ParserState, line: Line, kind: TextBlock["kind"], from: number, indent: number): void {
  closeBlock(state)
  const rest = line.text.slice(from)
  const lead = rest.length - rest.trimStart().length
  const marked = mayMark(rest.charCodeAt(lead)) ? (mark.exec(rest.slice(lead))?.[0].length ?? 0) : 0
  const { under, gap } = state
  const made = { kind, indent, start: line.start + from + lead + marked, end: line.end, follows: !gap }
  state.open = under === undefined ? made : { ...made, under }
  state.gap = false
}

function closeBlock(state: ParserState): void {
  if (state.open !== undefined) state.blocks.push(state.open)
  state.open = undefined
}

/** A line of a text, without the line number of a listing; `text` is `whole.slice(start, end)`. */
type Line = Span & {
  readonly text: string
  /** True if it does not continue the line before it. */
  readonly apart?: true
}

/** Matches numbers that `cat -n`, `grep -n` and file readers print before each line. */
const numbered = /^[ \t]{0,8}\d{1,6}(?:\t|→|: |\| |:(?=\S))/

/** Number of lines looked at to recognize a numbered listing, and minimum share of them that have a number. */
const probedLines = 12
const numberedShare = 0.8

const lineEnds = /\r\n|[\n\r\u2028\u2029]/g

/** True if a text has a line end. Searching for single characters is faster than a pattern, and most of what people say is one line. */
const hasLineEnd = (text: string): boolean =>
  text.includes("\n") || text.includes("\r") || text.includes("\u2028") || text.includes("\u2029")

/** Returns the lines of a text. `keyed` removes the key before a quoted string. One pass. */
export function linesOfText(text: string, span: Span, keyed: boolean): readonly Line[] {
  const own = text.slice(span.start, span.end)
  const lines: Line[] = []
  if (!hasLineEnd(own)) {
    const line = { start: span.start, end: span.end, text: own }
    return [keyed ? withoutKey(line) : line]
  }
  let start = 0
  const addLine = (end: number): void => {
    lines.push({ start: span.start + start, end: span.start + end, text: own.slice(start, end) })
  }
  lineEnds.lastIndex = 0
  for (let match = lineEnds.exec(own); match !== null; match = lineEnds.exec(own)) {
    addLine(match.index)
    start = match.index + match[0].length
  }
  addLine(own.length)
  const bare = withoutNumbers(lines)
  return keyed ? bare.map(withoutKey) : bare
}

/** Matches a key and a quoted string after it, as in YAML. */
const keyed = /^[ \t]{0,40}(?:- )?[\w.-]{1,40}: {1,4}(["'])(?=\S.{8}).{0,2000}\1[ \t]{0,8},?$/

/** Returns the string of a line without its key and the quotation marks; other lines stay as they are. */
function withoutKey(line: Line): Line {
  const [, quoteMark = ""] = keyed.exec(line.text) ?? []
  if (quoteMark === "") return line
  const from = line.text.indexOf(quoteMark) + 1
  const to = line.text.lastIndexOf(quoteMark)
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
