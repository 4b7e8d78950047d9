import { wrap } from "./printable.ts"
import type { Sink } from "./world.ts"

/** What an account is written on: how wide it is, and how words stand out on it. */
export type Paper = {
  readonly width: number
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
}

/** Narrower than this the bars say nothing; wider than this nobody follows a line. */
const leastWidth = 60
const mostWidth = 100
/** Where nobody knows how wide it is: a file, a log. */
const usualWidth = 96

/** Paper for where the text goes. Colour only on a terminal that has it and whose owner has not said no. */
export function createPaper({ columns = usualWidth, hasColour }: Pick<Sink, "columns" | "hasColour">): Paper {
  const styled = (code: number) => (text: string) => (hasColour ? `\x1b[${code}m${text}\x1b[0m` : text)
  return { width: Math.min(mostWidth, Math.max(leastWidth, columns - 1)), bold: styled(1), dim: styled(2) }
}

export const number = (value: number): string => value.toLocaleString("en")

/** "1 message", "2 messages", "2 entries". */
export const count = (value: number, noun: string, nouns = `${noun}s`): string =>
  `${number(value)} ${value === 1 ? noun : nouns}`

/** A moment to the minute, in UTC: `2026-11-15 09:12`. What no calendar has is a question mark. */
export const moment = (atMs: number): string =>
  Math.abs(atMs) <= latestMs ? new Date(atMs).toISOString().slice(0, 16).replace("T", " ") : "?"

/** The last moment that a date can say. */
const latestMs = 8.64e15

/** The margin of a paragraph, in which its name stands. */
export const indent = 11

/** A paragraph with its name in the margin. */
export function paragraph(label: string, text: string, { width, bold }: Paper): readonly string[] {
  const margin = " ".repeat(indent)
  return wrap(text, width - indent).map((line, n) => `${n === 0 ? bold(label.padEnd(indent)) : margin}${line}`)
}
