import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { HoldfastError } from "../src/message/errors.ts"
import { compactRequest } from "../src/session/one-shot/compact-request.ts"
import type { CompactOptions } from "../src/session/one-shot/options.ts"
import { countO200k } from "../src/tokens/counter.ts"
import { decodeRequest } from "../src/wire/decode.ts"
import { type ChatMessage, countMessages } from "./chat.ts"
import { compactWith, peers } from "./peers.ts"
import { cutOf, type Probe, probesOf } from "./probes.ts"
import { plainMessages } from "./traces.ts"

/** How much of what the agent needed later is still present, verbatim, after compacting the first half of what it did. */

type Base = "conversation" | "everything"
type Cell = {
  readonly kept: number
  readonly probes: number
  readonly impossible: number
  /** Probes of the traces whose budget can be met at all. */
  readonly possible: number
  readonly tokens: number
  readonly budget: number
}
type Row = { readonly name: string; readonly cells: Readonly<Record<string, Cell>>; readonly meetsBudget: boolean }
type Trace = { readonly source: string; readonly half: readonly ChatMessage[]; readonly probes: readonly Probe[] }
export type Report = {
  readonly shares: readonly number[]
  readonly base: Base
  readonly sources: Readonly<Record<string, { readonly traces: number; readonly probes: number }>>
  readonly rows: readonly Row[]
  /** Results over many budgets, by source: what is kept at each, and how much of the budget is used. Only in the first report. */
  readonly sweep?: Readonly<Record<string, readonly Point[]>>
}

/** Result at one budget of a sweep. */
export type Point = {
  readonly share: number
  readonly kept: number
  readonly probes: number
  /** Share of the budget used, on average over the traces that can be compacted at all. */
  readonly fill: number
}

const shares = [0.1, 0.25]
const sweepShares = [0.05, 0.1, 0.15, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]

const ours: readonly (readonly [string, Partial<CompactOptions>])[] = [
  ["holdfast, extractive", {}],
  ["holdfast, hierarchical", { strategy: "hierarchical" }],
  ["holdfast, hybrid", { strategy: "hybrid" }],
  ["recency, no digest", { strategy: "recency", summarizer: "none" }],
  ["oldest-drop, no digest", { strategy: "oldest-drop", summarizer: "none" }],
  ["middle-drop, no digest", { strategy: "middle-drop", summarizer: "none" }],
  ["head-tail, no digest", { strategy: "head-tail", summarizer: "none" }],
  ["tool-rounds, no digest", { strategy: "tool-rounds", summarizer: "none" }],
]

function readTraces(folder: string): readonly Trace[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".jsonl.gz"))
    .sort()
    .flatMap((file) =>
      gunzipSync(readFileSync(join(folder, file)))
        .toString()
        .trim()
        .split("\n")
        .map((line) => readTrace(file.replace(".jsonl.gz", ""), line)),
    )
}

function readTrace(source: string, line: string): Trace {
  const { messages } = JSON.parse(line)
  const chat = plainMessages(messages)
  const transcript = decodeRequest("openai-chat", JSON.stringify({ messages: chat })).messages
  return { source, half: chat.slice(0, cutOf(transcript)), probes: probesOf(transcript) }
}

const isSystem = ({ role }: ChatMessage): boolean => role === "system"

/** Returns what a reader of the context finds: texts, and calls with their arguments with and without JSON escapes. */
function textOf(messages: readonly ChatMessage[]): string {
  return messages
    .filter((message) => !isSystem(message))
    .flatMap((message) => [
      message.content ?? "",
      ...("tool_calls" in message ? (message.tool_calls ?? []) : []).flatMap(({ function: called }) => [
        called.name,
        called.arguments,
        called.arguments.replaceAll("\\n", "\n").replaceAll('\\"', '"').replaceAll("\\\\", "\\"),
      ]),
    ])
    .join("\n")
}

type Compactor = (half: readonly ChatMessage[], budgetTokens: number) => Promise<readonly ChatMessage[] | undefined>

const holdfast =
  (options: Partial<CompactOptions>): Compactor =>
  async (messages, budgetTokens) => {
    try {
      const { body } = await compactRequest(
        { model: "gpt-4o", messages },
        { ...options, format: "openai-chat", budgetTokens },
      )
      return body.messages
    } catch (error) {
      if (error instanceof HoldfastError && error.problem.code === "budget-impossible") return undefined
      throw error
    }
  }

async function measure(
  traces: readonly Trace[],
  compacting: Compactor,
  base: Base,
  at: readonly number[] = shares,
): Promise<Row["cells"]> {
  const cells: Record<string, Cell> = {}
  for (const { source, half, probes } of traces) {
    if (probes.length === 0) continue
    const system = countMessages(half.filter(isSystem), countO200k)
    const said = countMessages(half, countO200k) - system
    for (const share of at) {
      const budget = Math.max(1, Math.floor(share * (base === "everything" ? said + system : said)))
      const out = await compacting(half, budget)
      const text = out === undefined ? "" : textOf(out)
      const kept = probes.filter(({ value }) => text.includes(value)).length
      const name = `${source} ${share}`
      const cell = cells[name] ?? { kept: 0, probes: 0, impossible: 0, possible: 0, tokens: 0, budget: 0 }
      cells[name] = {
        kept: cell.kept + kept,
        probes: cell.probes + probes.length,
        impossible: cell.impossible + (out === undefined ? 1 : 0),
        possible: cell.possible + (out === undefined ? 0 : probes.length),
        tokens:
          cell.tokens +
          (out === undefined
            ? 0
            : countMessages(
                out.filter((message) => !isSystem(message)),
                countO200k,
              )),
        budget: cell.budget + budget,
      }
    }
  }
  return cells
}

export async function run({
  corpus,
  quick,
}: {
  readonly corpus?: string
  readonly quick: boolean
}): Promise<readonly Report[] | undefined> {
  if (corpus === undefined) return undefined
  const traces = readTraces(join(corpus, "traces"))
  const bases: readonly Base[] = ["conversation", "everything"]
  const reports: Report[] = []
  for (const base of bases) {
    const rows: Row[] = []
    for (const [name, options] of quick ? ours.slice(0, 1) : ours)
      rows.push({ name, meetsBudget: true, cells: await measure(traces, holdfast(options), base) })
    for (const peer of quick ? [] : peers) rows.push(await measurePeer(traces, peer, base))
    const sweep = base === "conversation" ? { sweep: await sweepBudgets(traces) } : {}
    reports.push({ shares, base, sources: countSources(traces), rows, ...sweep })
  }
  return reports
}

/** Measures budgets from small to large: a larger one should never keep less. */
async function sweepBudgets(traces: readonly Trace[]): Promise<Readonly<Record<string, readonly Point[]>>> {
  const cells = await measure(traces, holdfast({}), "conversation", sweepShares)
  const sources = [...new Set(traces.map(({ source }) => source))]
  return Object.fromEntries(
    sources.map((source) => [
      source,
      sweepShares.flatMap((share): readonly Point[] => {
        const cell = cells[`${source} ${share}`]
        if (cell === undefined) return []
        const { kept, probes, tokens, budget } = cell
        return [{ share, kept, probes, fill: tokens / Math.max(1, budget) }]
      }),
    ]),
  )
}

function printSweep(sweep: Readonly<Record<string, readonly Point[]>>): void {
  console.log(
    "\nRetention over budgets (share of the first half without its system prompt): values kept, and how much of the budget is used.",
  )
  console.log(["".padEnd(16), ...sweepShares.map((share) => percent(share).padStart(13))].join(""))
  const falls: string[] = []
  for (const [source, points] of Object.entries(sweep)) {
    if (points.length === 0) continue
    const figures = points.map(({ kept, probes, fill }) => `${percent(kept / probes)} /${fill.toFixed(2)}`.padStart(13))
    console.log(`${source.padEnd(16)}${figures.join("")}`)
    for (const [n, { kept, share }] of points.entries()) {
      const before = points[n - 1]
      if (before !== undefined && kept < before.kept)
        falls.push(`${source}: ${before.kept - kept} fewer of ${before.probes} at ${percent(share)}`)
    }
  }
  console.log(
    falls.length === 0
      ? "No budget keeps less than a smaller one."
      : `A larger budget keeps less: ${falls.join("; ")}.`,
  )
}

async function measurePeer(traces: readonly Trace[], peer: (typeof peers)[number], base: Base): Promise<Row> {
  let meetsBudget = true
  const cells = await measure(
    traces,
    async (half, budget) => {
      // A peer counts the system prompt as well: its budget is larger by that much, so that the conversation has the same room.
      const system = countMessages(half.filter(isSystem), countO200k)
      const done = await compactWith(peer, half, budget + system, countO200k)
      meetsBudget &&= done.meetsBudget
      return done.messages
    },
    base,
  )
  return { name: peer.name, meetsBudget, cells }
}

function countSources(traces: readonly Trace[]): Report["sources"] {
  const sources: Record<string, { traces: number; probes: number }> = {}
  for (const { source, probes } of traces) {
    const known = sources[source] ?? { traces: 0, probes: 0 }
    sources[source] = { traces: known.traces + (probes.length > 0 ? 1 : 0), probes: known.probes + probes.length }
  }
  return sources
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`

export function print(reports: readonly Report[] | undefined): void {
  if (reports === undefined) {
    console.log("retention needs real traces: npm run bench -- retention --corpus DIR")
    return
  }
  for (const { base, rows, sources, sweep } of reports) {
    const columns = Object.keys(rows[0]?.cells ?? {})
    console.log(
      `\nRetention: values that later calls needed, still there verbatim. Budget: share of the tokens of ${base === "everything" ? "the first half, system prompt included" : "the first half without its system prompt"}.`,
    )
    console.log(
      Object.entries(sources)
        .map(([name, { traces, probes }]) => `${name}: ${probes} probes in ${traces} traces`)
        .join("; "),
    )
    console.log(["", ...columns].map((name, n) => name.padStart(n === 0 ? 54 : 22)).join(""))
    for (const { name, cells, meetsBudget } of rows) {
      const figures = columns.map((column) => {
        const cell = cells[column]
        if (cell === undefined) return "".padStart(22)
        const possible =
          cell.impossible > 0 ? ` (${cell.impossible}: ${percent(cell.kept / Math.max(1, cell.possible))})` : ""
        return `${percent(cell.kept / cell.probes)}${possible}`.padStart(22)
      })
      console.log(`${name}${meetsBudget ? "" : " *"}`.padEnd(54) + figures.join(""))
    }
    console.log(
      "In brackets: traces whose budget is smaller than what may never be cut (the latest user message, a call that waits), and the retention of the others; their own probes count as lost before the bracket. *: does not keep to a budget.",
    )
    if (sweep !== undefined) printSweep(sweep)
  }
}
