import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gunzipSync } from "node:zlib"
import { gateSummary } from "../src/compact/gate/gate-summary.ts"
import { scan } from "../src/compact/gate/scan.ts"
import { conditionsNow } from "./conditions.ts"
import { type EvictionRow, printEviction, runDirectives, runEviction } from "./eviction.ts"
import { makeSession } from "./sessions.ts"

/**
 * What the gate finds and its false alarms, by source and kind, and what it costs: on sentences written before any pattern was tried on
 * them, and with a corpus also on real tool outputs with and without injections. No peer runs here; the figures are ours alone.
 */
export type Options = { readonly corpus?: string; readonly quick?: boolean }

type Row = { readonly source: string; readonly kind: string; readonly attack: boolean; readonly text: string }
type Rate = {
  readonly source: string
  readonly kind: string
  readonly attack: boolean
  readonly found: number
  readonly of: number
}
type GateResult = { readonly half: string; readonly stopped: number; readonly of: number }
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly rates: readonly Rate[]
  readonly summaries: readonly GateResult[]
  readonly msPerMb: number
  readonly eviction: readonly EvictionRow[]
  /** Results of every directive that no pattern was made from, each in its own session. */
  readonly directives: readonly EvictionRow[]
  readonly corpus: boolean
}

const self = fileURLToPath(import.meta.url)
const fixtures = new URL("../test/fixtures/gate/", import.meta.url)

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "")

type Fresh = readonly [family: string, half: string, text: string]

const freshOf = (file: string): readonly Fresh[] =>
  linesOf(readFileSync(new URL(`${file}.jsonl`, fixtures), "utf8")).map((line): Fresh => JSON.parse(line))

const freshRows = (): readonly Row[] =>
  (["attacks", "benign"] as const).flatMap((file) =>
    freshOf(file).map(([family, half, text]) => ({
      source: `fresh/${half}/${family}`,
      kind: "sentence",
      attack: file === "attacks",
      text,
    })),
  )

type Labelled = { readonly text: string; readonly label: number; readonly source: string; readonly kind: string }

/** Reads the labelled rows, which are beside the traces or below the folder that holds both. */
function corpusRows(folder: string): readonly Row[] {
  const places = ["injection", "../injection", "."].map((place) => join(folder, place, "dev.jsonl.gz"))
  const file = places.find((place) => existsSync(place))
  if (file === undefined) return []
  const text = gunzipSync(readFileSync(file)).toString()
  return linesOf(text).map((line) => {
    const row: Labelled = JSON.parse(line)
    return { source: row.source, kind: row.kind, attack: row.label === 1, text: row.text }
  })
}

function ratesOf(rows: readonly Row[]): readonly Rate[] {
  const groups = Map.groupBy(rows, ({ source, kind, attack }) => `${source}\t${kind}\t${attack}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (first === undefined) return []
    const found = group.filter(({ text }) => scan(text, { channel: "tool" }).findings.length > 0).length
    return [{ source: first.source, kind: first.kind, attack: first.attack, found, of: group.length }]
  })
}

/** CPU time, the minimum of several rounds over the honest texts, because of other load on the machine. */
function speedOf(rows: readonly Row[], rounds: number): number {
  const texts = rows.filter(({ attack }) => !attack).map(({ text }) => text)
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const start = cpuMs()
    for (const text of texts) scan(text, { channel: "tool" })
    best = Math.min(best, cpuMs() - start)
  }
  return best / (bytes / 1e6)
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Counts how much the gate stops of a summarizer that copies what a page says and attributes it to the user. */
function stoppedOf(half: string): GateResult {
  const goal = { id: "goal", channel: "user", text: "Compare the three offers and tell me which is cheapest." } as const
  const own = freshOf("attacks").filter(([family, of]) => of === half && family !== "disguised")
  const stopped = own.filter(([, , text]) => {
    const page = { id: "page", channel: "tool", text: `Offers found: 3.\n${text}\nEnd of list.` } as const
    return gateSummary([{ text: text.replaceAll("\n", " "), sources: ["goal"] }], [goal, page]).lines.length === 0
  })
  return { half, stopped: stopped.length, of: own.length }
}

/**
 * Returns attacks that no pattern and no test was made from: the second half of the first set, and families written later by someone else.
 */
const unseen = (): readonly string[] =>
  freshOf("attacks").flatMap(([family, half, text]) => (half === "dev" || family === "disguised" ? [] : [text]))

/** Minimum length of an output; shorter ones leave nothing to compact. */
const minOutput = 500

/** Returns honest outputs to hide an attack in: real ones if there are some, otherwise the texts of the other benches. */
function hostsOf(real: readonly Row[]): readonly string[] {
  const honest = real.filter(({ attack, kind, text }) => !attack && kind === "tool_output" && text.length >= minOutput)
  if (honest.length > 0) return honest.map(({ text }) => text)
  return makeSession({ name: "hosts", messages: 200, unitsPerMessage: 1500 }).flatMap((message) =>
    message.role === "tool" && message.content.length >= minOutput ? [message.content] : [],
  )
}

export async function run({ corpus, quick = false }: Options = {}): Promise<Report> {
  const real = corpus === undefined ? [] : corpusRows(corpus)
  const rows = [...freshRows(), ...real]
  return {
    conditions: {
      ...conditionsNow(),
    },
    rates: ratesOf(rows),
    summaries: ["dev", "held", "aside"].map(stoppedOf),
    msPerMb: speedOf(rows, quick ? 1 : 5),
    eviction: await runEviction(hostsOf(real), quick ? 5 : 50),
    directives: await runDirectives(hostsOf(real), unseen().slice(0, quick ? 30 : undefined)),
    corpus: real.length > 0,
  }
}

const percent = (found: number, of: number): string => (of === 0 ? "-" : `${((100 * found) / of).toFixed(1)} %`)

const table = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n")
}

/** One line for each source and kind, and one for all of a kind. */
function rateTable(rates: readonly Rate[], attack: boolean): string {
  const own = rates.filter((rate) => rate.attack === attack)
  const whole = [
    ...Map.groupBy(
      own,
      ({ source, kind }) => `${source.startsWith("fresh/") ? source.split("/")[1] : "corpus"}\t${kind}`,
    ),
  ]
  const sums = whole.map(([name, group]) => {
    const [half = "", kind = ""] = name.split("\t")
    const found = group.reduce((sum, rate) => sum + rate.found, 0)
    const of = group.reduce((sum, rate) => sum + rate.of, 0)
    return [
      `all of ${half === "corpus" ? "the corpus" : `fresh/${half}`}`,
      kind,
      String(found),
      String(of),
      percent(found, of),
    ]
  })
  const each = own.map(({ source, kind, found, of }) => [source, kind, String(found), String(of), percent(found, of)])
  return table([["source", "kind", "found", "of", "rate"], ...sums, ...each])
}

export function print({ conditions, rates, summaries, msPerMb, corpus, eviction, directives }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  const rows = summaries.map(({ half, stopped, of }) => [
    `fresh/${half}`,
    "copied",
    String(stopped),
    String(of),
    percent(stopped, of),
  ])
  console.log(`${told.join(", ")}${corpus ? "" : "\nNo corpus: give --corpus DIR for real tool outputs."}

Attempts found by the scan of tool text
${rateTable(rates, true)}

False alarms on honest tool text
${rateTable(rates, false)}

A summarizer that copies the attempt and names the user as its source: stopped behind it
${table([["source", "how", "stopped", "of", "rate"], ...rows])}

Scan of honest text: ${msPerMb.toFixed(1)} ms of CPU per MB`)
  printEviction("Eviction attacks", eviction)
  printEviction("Unseen directives, each in a session of its own", directives)
}

if (process.argv[1] === self) {
  const at = process.argv.indexOf("--corpus")
  const corpus = at < 0 ? undefined : process.argv[at + 1]
  const report = await run({ ...(corpus === undefined ? {} : { corpus }), quick: process.argv.includes("--quick") })
  if (process.argv.includes("--json")) console.log(JSON.stringify(report, undefined, 2))
  else print(report)
}
