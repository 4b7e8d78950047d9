import type { Span } from "../message/request.ts"

/** A line of a text without what a listing printed before it; `text` is `whole.slice(start, end)`. */
export type Line = Span & {
  readonly text: string
  /** It has nothing to do with the line before it. */
  readonly apart?: true
}

/** Numbers that `cat -n`, `grep -n` and file readers print before each line. */
const numbered = /^[ \t]{0,8}\d{1,6}(?:\t|→|: |\| |:(?=\S))/

/** So many lines are looked at to tell a numbered listing, and so large a share of them must have a number. */
const probedLines = 12
const numberedShare = 0.8

/** The lines of a text. Escaped line ends part lines too where the text stands in a string of JSON; `keyed` lines are read without the name before them. One pass. */
export function linesIn(text: string, span: Span, escaped: boolean, keyed: boolean): readonly Line[] {
  const own = text.slice(span.start, span.end)
  const lines: Line[] = []
  let start = 0
  const take = (end: number): void => {
    lines.push({ start: span.start + start, end: span.start + end, text: own.slice(start, end) })
  }
  for (const match of own.matchAll(escaped ? /\\r\\n|\\n|\n/g : /\r\n|\n|\r|\u2028|\u2029/g)) {
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
  const probed = lines.filter(({ text }) => text.trim() !== "").slice(0, probedLines)
  const hits = probed.filter(({ text }) => numbered.test(text)).length
  if (probed.length < 2 || hits < probed.length * numberedShare) return lines
  return lines.map((line) => {
    const length = numbered.exec(line.text)?.[0].length ?? 0
    return length === 0 ? line : { start: line.start + length, end: line.end, text: line.text.slice(length) }
  })
}
