import { setTimeout as sleep } from "node:timers/promises"
import { createPaper, sentenceOf, styled, wrap } from "../terminal/output.ts"

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

export function createScreen({ write, colour, columns, pace, signal }: ScreenOptions): Screen {
  const { width, bold, dim } = createPaper({ columns: Math.floor(columns), hasColour: colour })
  return {
    width,
    print: async (lines) => {
      signal.throwIfAborted()
      if (lines.length > 0) await write(`${lines.join("\n")}\n`)
    },
    pause: async (ms) => {
      if (pace === "read") await sleep(ms, undefined, { signal })
    },
    bold,
    dim,
    good: styled(colour, 32),
    bad: styled(colour, 31),
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

/** A text of unknown origin on lines no longer than a width. */
export const wrapText = (text: string, width: number): readonly string[] => wrap(sentenceOf(text), width)
