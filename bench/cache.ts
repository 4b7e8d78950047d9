import { existsSync } from "node:fs"
import { join } from "node:path"
import { readShare } from "./cache-cost.ts"
import { measureReplays, type ReplayReport } from "./cache-replay.ts"
import { measureSessions, type SessionReport, windowTokens } from "./cache-sessions.ts"
import { conditionsNow } from "./conditions.ts"
import { quantile } from "./quantile.ts"
import { measureStackSessions, type StackSession } from "./stack-sessions.ts"

/**
 * What a provider's prompt cache would make of the gateway's requests: over long sessions that are compacted, and of real requests that
 * fit. All of it is simulated: no provider was asked, and the simulated cache never evicts anything.
 */
export type Options = { readonly quick?: boolean; readonly corpus?: string }

type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly sessions: readonly SessionReport[]
  readonly stacks: readonly StackSession[]
  readonly replays: readonly ReplayReport[]
}

export async function run({ quick = false, corpus }: Options = {}): Promise<Report> {
  const turns = quick ? 60 : 160
  const sessions = await measureSessions(turns)
  const stacks = await measureStackSessions(60)
  const hasCorpus = corpus !== undefined && existsSync(join(corpus, "traces")) && existsSync(join(corpus, "requests"))
  const replays = hasCorpus ? await measureReplays(corpus, quick) : []
  return { conditions: { ...conditionsNow(), cache: "simulated", windowTokens, turns }, sessions, stacks, replays }
}

const percent = (share: number): string => `${(share * 100).toFixed(1)} %`
const dollars = (value: number): string => value.toFixed(4)

function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => `    ${line.map(pad).join("  ").trimEnd()}`).join("\n")
}

function printSessions(sessions: readonly SessionReport[]): void {
  console.log("\n  one long session through the gateway, and where it ends without")
  const header = "|turns|compactions|refused|ends without at|stack read|all read|p10 of a request|dollars".split("|")
  const lines = sessions.map((one) => [
    one.format,
    String(one.turns),
    String(one.compactions),
    String(one.refused),
    one.withoutEndsAt === undefined ? "" : `turn ${one.withoutEndsAt}`,
    percent(one.stackReadShare),
    percent(one.readShare),
    percent(quantile(one.shares, 0.1)),
    dollars(one.charged.dollars),
  ])
  console.log(table([header, ...lines]))
}

function printStacks(stacks: readonly StackSession[]): void {
  console.log("\n  fifty pages of documents in the prompt stack, or read by tools (simulated agent, window 100,000)")
  const header = "|door|documents|steps|requests|at once|compactions|system parts|stack read|dollars".split("|")
  const lines = stacks.map((one) => [
    one.format,
    one.door,
    one.documents,
    ...[one.steps, one.requests, one.atOnce, one.compactions, one.systemParts].map(String),
    percent(one.stackReadShare),
    dollars(one.charged.dollars),
  ])
  console.log(table([header, ...lines]))
}

function printReplays(replays: readonly ReplayReport[]): void {
  if (replays.length === 0) {
    console.log("\n  real requests: left out, for there is no corpus (--corpus DIR, or HOLDFAST_CORPUS)")
    return
  }
  console.log("\n  real requests, through the gateway and without: dollars for reading the prompts")
  const header = "|sequences|requests|changed|compacted|without|through|through : without|read|dearer".split("|")
  const lines = replays.map((one) => [
    one.name,
    ...[one.sequences, one.requests, one.changed, one.compacted].map(String),
    dollars(one.direct.dollars),
    dollars(one.through.dollars),
    one.direct.dollars === 0 ? "" : (one.through.dollars / one.direct.dollars).toFixed(4),
    percent(readShare(one.through)),
    one.dearer.length === 0 ? "none" : one.dearer.join(" "),
  ])
  console.log(table([header, ...lines]))
}

export function print({ conditions, sessions, stacks, replays }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`cache: what a provider's prompt cache would read, simulated (${told.join(", ")})`)
  printSessions(sessions)
  printStacks(stacks)
  printReplays(replays)
}
