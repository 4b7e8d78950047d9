/**
 * Characters that tell a terminal what to do instead of being seen, those that turn the reading direction, and lone surrogates. What
 * a tool wrote must not move the cursor of whoever reads about it.
 */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** A text of unknown origin, safe to print; line breaks stay. */
export const printable = (text: string): string =>
  text
    .replace(/\r\n?/g, "\n")
    .replaceAll("\t", "  ")
    .replace(acting, (found) => (found === "\n" ? "\n" : "\uFFFD"))

/** A value as JSON on one line; what would act on a terminal is escaped in it, so that it still says the same. */
export const jsonLine = (value: unknown): string => `${escapeActing(JSON.stringify(value) ?? "null")}\n`

/** The same JSON, in which no character acts on a terminal. It has no line breaks: in JSON such characters stand in strings alone. */
export const escapeActing = (json: string): string =>
  json.replace(acting, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** A sentence with words of unknown origin in it, on one line. */
export const sentenceOf = (text: string): string => printable(text).replace(/\s+/g, " ").trim()

/** More than this of a text is not looked at to get one line out of it. */
const maxLooked = 10_000

/** A text on one line, cut to a width. */
export function clip(text: string, width: number): string {
  const line = sentenceOf(text.slice(0, maxLooked))
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1)).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Lines no longer than a width, broken between words where that is possible. */
export function wrap(text: string, width: number): readonly string[] {
  return printable(text)
    .split("\n")
    .flatMap((line) => wrapLine(line, width))
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = []
  let at = 0
  while (line.length - at > width) {
    const space = line.slice(at, at + width + 1).lastIndexOf(" ")
    const end = at + (space > width / 2 ? space : width)
    const whole = /[\ud800-\udbff]/.test(line.charAt(end - 1)) ? end - 1 : end
    lines.push(line.slice(at, whole))
    at = line[whole] === " " ? whole + 1 : whole
  }
  return [...lines, line.slice(at)]
}
