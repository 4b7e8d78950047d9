import type { Screen } from "./screen.ts"
import { wrapText } from "./wrap-text.ts"

/** A name in the margin, and what is said under it. */
export type Row = readonly [label: string, text: string]

const margin = 11

/** A paragraph with its name in the margin. */
export function paragraph([label, text]: Row, width: number, { bold }: Pick<Screen, "bold">): readonly string[] {
  return wrapText(text, width - margin).map(
    (line, n) => `${n === 0 ? bold(label.padEnd(margin)) : " ".repeat(margin)}${line.padEnd(width - margin)}`,
  )
}

/** A box for what is worth a look. */
export function box(
  title: string,
  rows: readonly Row[],
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
