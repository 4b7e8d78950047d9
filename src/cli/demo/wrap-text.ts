/** Signs that act on a terminal or turn the reading direction, and lone surrogates: what is shown must only be seen. */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** More than this of a text is not looked at to show some lines of it. */
const maxLooked = 10_000

/** A text as one line, safe to print. */
export const oneLine = (text: string): string =>
  text.slice(0, maxLooked).replace(/\s+/g, " ").replace(acting, "\uFFFD").trim()

/** A text on one line, cut to a width. */
export function clipText(text: string, width: number): string {
  const line = oneLine(text)
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1)).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Lines no longer than a width, broken between words where that is possible. */
export function wrapText(text: string, width: number): readonly string[] {
  const line = oneLine(text)
  const lines: string[] = []
  let at = 0
  while (line.length - at > width) {
    const space = line.lastIndexOf(" ", at + width)
    const end = space > at + width / 2 ? space : at + width
    lines.push(line.slice(at, end))
    at = line[end] === " " ? end + 1 : end
  }
  return [...lines, line.slice(at)]
}
