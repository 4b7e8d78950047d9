import { setTimeout as sleep } from "node:timers/promises"

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
