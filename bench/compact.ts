import { spawn } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { present } from "../src/message/present.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { type ChatMessage, countMessages } from "./chat.ts"
import type { Measured } from "./compact-child.ts"
import { conditionsNow } from "./conditions.ts"
import { oursNames } from "./ours.ts"
import { peers } from "./peers.ts"
import { makeSession, sessionSizes } from "./sessions.ts"
import { longestTrace } from "./traces.ts"

/**
 * Compacting a long session to a quarter of its tokens: ours from the text of a request to the text of a smaller one, a peer from its own
 * messages to its own messages, so that a peer pays for no conversion. Every row of every size is a fresh process, and the times are CPU
 * time of its main thread (wall clock below 25 ms).
 */
export type Options = { readonly corpus?: string; readonly quick?: boolean; readonly repeats?: number }

type Outcome =
  | ({ readonly type: "measured"; readonly meetsBudget: boolean } & Measured)
  | { readonly type: "stopped" }
  | { readonly type: "extrapolated"; readonly ms: number }
  | { readonly type: "not-built" }
  | { readonly type: "failed" }

type Size = {
  readonly name: string
  readonly messages: number
  readonly tokens: number
  readonly bytes: number
  readonly budgetTokens: number
  /** Equal for sizes whose messages are alike and which differ only in their number. */
  readonly unitsPerMessage: number
  readonly rows: Readonly<Record<string, Outcome>>
}
type Report = { readonly conditions: Readonly<Record<string, string | number>>; readonly sizes: readonly Size[] }

/** A compaction leaves a quarter: below a window's low-water mark, and the budget at which retention is measured. */
const budgetShare = 0.25
const limitMs = 60_000
const quickLimitMs = 15_000
/** A row that takes this long is not repeated: its noise is relatively small. */
const longMs = 5000
/** If an extrapolation exceeds the limit by this factor, it is reported instead of waiting. */
const maxExtrapolatedLimits = 2

const rows: readonly string[] = [...oursNames, ...peers.map(({ name }) => name)]
const child = fileURLToPath(new URL("compact-child.ts", import.meta.url))

/** Returns what the child measured, or why there is nothing. The child's own error messages go to stderr. */
function runChild(args: readonly string[], timeoutMs: number): Promise<Measured | "stopped" | "not-built" | "failed"> {
  return new Promise((resolve) => {
    const started = spawn(process.execPath, ["--expose-gc", "--max-old-space-size=4096", child, ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    })
    let stopped = false
    const timer = setTimeout(() => {
      stopped = true
      started.kill("SIGKILL")
    }, timeoutMs)
    let output = ""
    started.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
    started.on("close", () => {
      clearTimeout(timer)
      const line = output.split("\n").at(-2)
      const found: Measured | null | undefined = line === undefined ? undefined : JSON.parse(line)
      resolve(found ?? (found === null ? "not-built" : stopped ? "stopped" : "failed"))
    })
  })
}

const median = (values: readonly number[]): number | undefined =>
  [...values].sort((one, other) => one - other)[values.length >> 1]

function middle(runs: readonly Measured[], budgetTokens: number): Outcome {
  const [first] = runs
  if (first === undefined) return { type: "stopped" }
  return {
    ...first,
    type: "measured",
    coldMs: median(runs.map(({ coldMs }) => coldMs)) ?? first.coldMs,
    ...present({ cachedMs: median(runs.flatMap(({ cachedMs = [] }) => cachedMs)) }),
    peakMb: median(runs.map(({ peakMb }) => peakMb)) ?? first.peakMb,
    meetsBudget: first.tokens <= budgetTokens,
  }
}

/** Extrapolates from the two smaller sizes by their growth, not counting the one-time cost of a first run. */
function extrapolate(earlier: readonly Size[], row: string, messages: number): number | undefined {
  const known = earlier.flatMap((size) => {
    const outcome = size.rows[row]
    if (outcome?.type === "measured") return [{ messages: size.messages, ms: outcome.cachedMs ?? outcome.coldMs }]
    return outcome?.type === "extrapolated" ? [{ messages: size.messages, ms: outcome.ms }] : []
  })
  const [before, last] = known.slice(-2)
  if (before === undefined || last === undefined) return undefined
  const exponent = Math.log(last.ms / before.ms) / Math.log(last.messages / before.messages)
  return last.ms * (messages / last.messages) ** exponent
}

type Task = {
  readonly row: string
  readonly messages: number
  readonly file: string
  readonly budgetTokens: number
  /** Tokens of the budget taken by the system messages. */
  readonly systemTokens: number
  readonly repeats: number
  readonly limitMs: number
}

async function measureRow(
  { row, messages, file, budgetTokens, systemTokens, repeats, limitMs: limit }: Task,
  earlier: readonly Size[],
): Promise<Outcome> {
  const stoppedBefore = earlier.some(({ rows: done }) => done[row]?.type === "stopped")
  const expected = extrapolate(earlier, row, messages)
  if (stoppedBefore) return { type: "stopped" }
  if (expected !== undefined && expected > maxExtrapolatedLimits * limit) return { type: "extrapolated", ms: expected }
  const runs: Measured[] = []
  for (let n = 0; n < repeats; n++) {
    const measured = await runChild([row, file, String(budgetTokens), "9", String(systemTokens)], limit)
    if (typeof measured === "string") return runs.length > 0 ? middle(runs, budgetTokens) : { type: measured }
    runs.push(measured)
    if (measured.coldMs > longMs) break
  }
  return middle(runs, budgetTokens)
}

async function measureSize(
  { name, unitsPerMessage }: Pick<Size, "name" | "unitsPerMessage">,
  messages: readonly ChatMessage[],
  folder: string,
  earlier: readonly Size[],
  options: { readonly repeats: number; readonly limitMs: number },
): Promise<Size> {
  const text = JSON.stringify({ model: "gpt-5", messages })
  const file = join(folder, "session.json")
  writeFileSync(file, text)
  const total = countMessages(messages, countO200k)
  const budgetTokens = Math.floor(total * budgetShare)
  const systemTokens = countMessages(
    messages.filter(({ role }) => role === "system"),
    countO200k,
  )
  const done: Record<string, Outcome> = {}
  for (const row of rows) {
    const task = { row, messages: messages.length, file, budgetTokens, systemTokens, ...options }
    const outcome = await measureRow(task, earlier)
    console.error(`  compact: ${name}, ${row}: ${outcome.type === "measured" ? figure(outcome.coldMs) : outcome.type}`)
    done[row] = outcome
  }
  const bytes = Buffer.byteLength(text)
  return { name, messages: messages.length, tokens: total, bytes, budgetTokens, unitsPerMessage, rows: done }
}

export async function run({ corpus, quick = false, repeats = 5 }: Options = {}): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-compact-"))
  const options = { repeats, limitMs: quick ? quickLimitMs : limitMs }
  const sizes: Size[] = []
  try {
    for (const size of sessionSizes.filter(({ messages }) => !quick || messages <= 10_000)) {
      const alike = sizes.filter(({ unitsPerMessage }) => unitsPerMessage === size.unitsPerMessage)
      sizes.push(await measureSize(size, makeSession(size), folder, alike, options))
    }
    if (corpus !== undefined) {
      const real = { name: "longest real trace", unitsPerMessage: 0 }
      sizes.push(await measureSize(real, longestTrace(corpus), folder, [], options))
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const conditions = {
    ...conditionsNow(),
    repeats,
    limitMs: options.limitMs,
  }
  return { conditions, sizes }
}

const figure = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en")
const times = (value: number | undefined, base: number | undefined): string =>
  value === undefined || base === undefined ? "" : `${figure(value / base)}x`

function growth(row: string, at: "coldMs" | "cachedMs", size: Size, before: Size | undefined): string {
  const [one, other] = [before?.rows[row], size.rows[row]]
  if (before === undefined || one?.type !== "measured" || other?.type !== "measured") return ""
  const ratio = (other[at] ?? Number.NaN) / (one[at] ?? Number.NaN)
  return Number.isNaN(ratio) ? "" : `n^${(Math.log(ratio) / Math.log(size.messages / before.messages)).toFixed(2)}`
}

/** Returns the measurement that ratios refer to: the whole compaction, or the plan while only that is built. */
const oursIn = ({ rows: done }: Size): (Outcome & { readonly type: "measured" }) | undefined =>
  oursNames.map((name) => done[name]).find((outcome) => outcome?.type === "measured")

function cellsOf(row: string, size: Size, before: Size | undefined, limit: number): readonly string[] {
  const outcome = size.rows[row]
  const ours = oursIn(size)
  if (outcome === undefined || outcome.type === "not-built") return [row, "not built"]
  if (outcome.type === "failed") return [row, "failed"]
  if (outcome.type === "stopped") return [row, `stopped at ${limit / 1000} s`, `> ${times(limit, ours?.coldMs)}`]
  if (outcome.type === "extrapolated") return [row, `~${figure(outcome.ms)}`, `~${times(outcome.ms, ours?.coldMs)}`]
  return [
    row,
    figure(outcome.coldMs),
    times(outcome.coldMs, ours?.coldMs),
    growth(row, "coldMs", size, before),
    outcome.cachedMs === undefined ? "" : figure(outcome.cachedMs),
    times(outcome.cachedMs, ours?.cachedMs),
    growth(row, "cachedMs", size, before),
    figure(outcome.peakMb),
    `${Math.round((100 * outcome.tokens) / size.tokens)} %`,
    outcome.meetsBudget ? "yes" : "no",
  ]
}

const header = "|first sight ms|vs ours|growth|counts cached ms|vs ours|growth|peak MB|tokens left|meets budget".split(
  "|",
)

function table(lines: readonly (readonly string[])[]): string {
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => `  ${line.map(pad).join("  ").trimEnd()}`).join("\n")
}

/** Returns the previous size if it is of the same kind. */
const before = (sizes: readonly Size[], n: number): Size | undefined => {
  const [one, other] = [sizes[n - 1], sizes[n]]
  return one !== undefined && one.unitsPerMessage === other?.unitsPerMessage ? one : undefined
}

export function print({ conditions, sizes }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`compact: a session down to ${100 * budgetShare} % of its tokens (${told.join(", ")}; CPU ms, medians)
  ours reads and writes the request's text; a peer is given its own messages. "~" is extrapolated from the sizes before.`)
  for (const [n, size] of sizes.entries()) {
    const alike = before(sizes, n)
    const lines = rows.map((row) => cellsOf(row, size, alike, Number(conditions.limitMs)))
    console.log(
      `\n  ${size.name}: ${figure(size.messages)} messages, ${figure(size.tokens)} tokens, ${figure(size.bytes / 1e6)} MB\n${table([header, ...lines])}`,
    )
  }
}
