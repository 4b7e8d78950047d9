import { number, type Paper } from "./paper.ts"
import { type Kind, kinds, type Sizes, totalOf } from "./sizes.ts"

const names: Readonly<Record<Kind, string>> = {
  stack: "system and tools",
  documents: "documents",
  system: "system messages",
  pins: "pinned rules",
  digest: "digest",
  memory: "retrieved memory",
  user: "user",
  assistant: "assistant",
  results: "tool results",
}

const labelWidth = 18
const numberWidth = 9
const gap = 2

/** Before and after side by side, a bar for each kind, all on one scale. */
export function accountSizes(before: Sizes, after: Sizes, paper: Paper): readonly string[] {
  const barWidth = Math.floor((paper.width - labelWidth) / 2) - numberWidth - gap - 1
  const shown = kinds.filter((kind) => before[kind] > 0 || after[kind] > 0)
  const largest = Math.max(1, ...shown.flatMap((kind) => [before[kind], after[kind]]))
  const side = (value: number): string =>
    `${(value === 0 ? "-" : number(value)).padStart(numberWidth)} ${barOf(value / largest, barWidth).padEnd(barWidth + gap)}`
  const rows = shown.map((kind) =>
    `${names[kind].padEnd(labelWidth)}${side(before[kind])}${side(after[kind])}`.trimEnd(),
  )
  const [was, is] = [totalOf(before), totalOf(after)]
  const half = numberWidth + 1 + barWidth + gap
  const head = `${"".padEnd(labelWidth)}${"before".padStart(numberWidth).padEnd(half)}${"after".padStart(numberWidth)}`
  const share = was === 0 ? 100 : (100 * is) / was
  const sum = `${"together".padEnd(labelWidth)}${number(was).padStart(numberWidth).padEnd(half)}${number(is).padStart(numberWidth)} ${share.toFixed(0)} % of what it was`
  return [paper.dim(head), ...rows, paper.bold(sum)]
}

const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

/** A bar to an eighth of a character; what is there at all is seen. */
export function barOf(share: number, width: number): string {
  const units = share <= 0 ? 0 : Math.max(1, Math.round(Math.min(1, share) * width * 8))
  return `${"█".repeat(Math.floor(units / 8))}${eighths[units % 8] ?? ""}`
}
