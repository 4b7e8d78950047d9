import { setTimeout as sleep } from "node:timers/promises"
import { clipText } from "../../language/cut-text.ts"

export type ScreenOptions = {
  readonly write: (text: string) => Promise<void>
  readonly colour: boolean
  readonly columns: number
  /** `read` leaves time to read along; `none` does not wait. */
  readonly pace: "read" | "none"
  readonly signal: AbortSignal
}

/** Where the demo is shown: lines one after the other, so that a file or a log will do as well as a terminal. */
export type Screen = {
  readonly width: number
  readonly print: (lines: readonly string[]) => Promise<void>
  /** Time to look at what was printed last. */
  readonly pause: (ms: number) => Promise<void>
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly bad: (text: string) => string
}

/** Narrower than this the columns do not fit beside one another; wider than this nobody follows a line. */
const leastWidth = 60
const mostWidth = 100

export function createScreen({ write, colour, columns, pace, signal }: ScreenOptions): Screen {
  const styled = (code: number) => (text: string) => (colour ? `\x1b[${code}m${text}\x1b[0m` : text)
  return {
    width: Math.min(mostWidth, Math.max(leastWidth, Math.floor(columns) - 1)),
    print: async (lines) => {
      signal.throwIfAborted()
      if (lines.length > 0) await write(`${lines.join("\n")}\n`)
    },
    pause: async (ms) => {
      if (pace === "read") await sleep(ms, undefined, { signal })
    },
    bold: styled(1),
    dim: styled(2),
    good: styled(32),
    bad: styled(31),
  }
}

/** A name in the margin, and what is said under it. */
export type ScreenRow = readonly [label: string, text: string]

const margin = 11

/** A paragraph with its name in the margin. */
function paragraph([label, text]: ScreenRow, width: number, { bold }: Pick<Screen, "bold">): readonly string[] {
  return wrapText(text, width - margin).map(
    (line, n) => `${n === 0 ? bold(label.padEnd(margin)) : " ".repeat(margin)}${line.padEnd(width - margin)}`,
  )
}

/** A box for what is worth a look. */
export function box(
  title: string,
  rows: readonly ScreenRow[],
  screen: Pick<Screen, "width" | "bold" | "dim">,
): readonly string[] {
  const { width, bold, dim } = screen
  const inner = width - 4
  const rule = "─".repeat(Math.max(0, width - title.length - 5))
  return [
    `${dim("╭─")} ${bold(title)} ${dim(`${rule}╮`)}`,
    ...rows.flatMap((row) => paragraph(row, inner, screen)).map((line) => `${dim("│")} ${line} ${dim("│")}`),
    dim(`╰${"─".repeat(width - 2)}╯`),
  ]
}

/** Signs that act on a terminal or turn the reading direction, and lone surrogates: what is shown must only be seen. */
const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\p{Cs}]/gu

/** More than this of a text is not looked at to show some lines of it. */
const maxLooked = 10_000

/** A text as one line, safe to print. */
export const printableLine = (text: string): string =>
  text.slice(0, maxLooked).replace(/\s+/g, " ").replace(acting, "\uFFFD").trim()

/** A text on one line, cut to a width. */
export const clipLine = (text: string, width: number): string => clipText(printableLine(text), width)

/** Lines no longer than a width, broken between words where that is possible. */
export function wrapText(text: string, width: number): readonly string[] {
  const line = printableLine(text)
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
