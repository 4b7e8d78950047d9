/** What ends a line or turns its direction somewhere: blanks, controls, separators, bidirectional overrides. */
const breaking = /[\s\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Half of a character that takes two units; alone it is none. */
const lone = /[\ud800-\udfff]/gu

/** How much longer than its limit a text may be before it is cut unread: blanks fold to one. */
const slack = 4

/** The text on one line, each run of blanks and breaks as one blank, at most `max` characters, `…` at the end where it was cut. */
export function oneLine(text: string, max: number): string {
  const read = text.slice(0, slack * max)
  const line = read.replace(breaking, " ").replace(lone, "\ufffd").trim()
  return line.length <= max && read.length === text.length ? line : shorten(line, max)
}

/** The beginning of a line with `…` behind it, at most `max` characters together, cut between words where one ends close by. */
export function shorten(line: string, max: number): string {
  const kept = line.slice(0, Math.max(0, max - 1)).replace(/[\ud800-\udbff]$/, "")
  const blank = kept.lastIndexOf(" ")
  return `${(blank > kept.length * 0.8 ? kept.slice(0, blank) : kept).trimEnd()}…`
}

/** A value between backticks; its own backticks become quotation marks so that nobody mistakes where it ends. */
export const code = (value: string): string => `\`${value.replaceAll("`", "'")}\``

/** How much a text says, in letters: an ideograph says as much as three. */
export const weightOf = (text: string): number =>
  text.length + 2 * (text.match(/[\u2e80-\u9fff\uac00-\ud7af]/g)?.length ?? 0)
