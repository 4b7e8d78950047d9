import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { conditionsNow } from "./conditions.ts"
import { type AppendsMeasured, measureAppends } from "./session-appends.ts"
import { type ClientMeasured, measureClient } from "./session-client.ts"
import { measureSearch, type SearchMeasured } from "./session-search.ts"
import { measureSize, type SizeMeasured } from "./session-size.ts"
import { openStores, type Stores } from "./session-stores.ts"
import type { TurnsMeasured } from "./session-turns-child.ts"

/**
 * What a session costs: a turn while its log grows, a client that sends its whole history, durable appends compared with the bare driver's,
 * the search of a large memory, and disk space.
 */
export type Options = { readonly quick?: boolean }

type StoreTurns = { readonly store: string; readonly sizes: readonly TurnsMeasured[]; readonly fresh?: TurnsMeasured }
type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly turns: readonly StoreTurns[]
  readonly client: readonly ClientMeasured[]
  readonly appends: readonly AppendsMeasured[]
  readonly search: SearchMeasured
  readonly size: SizeMeasured
}

const child = fileURLToPath(new URL("session-turns-child.ts", import.meta.url))
/** Timeout of a child, which includes filling the largest log; a slower machine reports fewer sizes. */
const childMs = 600_000

function runChild(store: string, turns: number, sizes: readonly number[]): Promise<readonly TurnsMeasured[]> {
  return new Promise((resolve) => {
    const args = ["--expose-gc", "--max-old-space-size=4096", child, String(turns), ...sizes.map(String)]
    const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
    const timer = setTimeout(() => started.kill("SIGKILL"), childMs)
    started.stdin.end(store)
    let output = ""
    started.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString()
    })
    started.on("close", () => {
      clearTimeout(timer)
      resolve(
        output
          .split("\n")
          .filter((line) => line !== "")
          .map((line): TurnsMeasured => JSON.parse(line)),
      )
    })
  })
}

/** Grows the log in one process; a fresh one then opens it at its largest, to measure opening alone. */
async function measureTurns(stores: Stores, turns: number, sizes: readonly number[]): Promise<readonly StoreTurns[]> {
  const found: StoreTurns[] = []
  const places: readonly (readonly [string, string | undefined])[] = [
    ["memory", "memory"],
    ["sqlite", join(stores.folder, "turns.db")],
    ["postgres", await stores.postgres?.()],
  ]
  for (const [store, place] of places) {
    if (place === undefined) continue
    console.error(`  session: turns on ${store}`)
    const measured = await runChild(place, turns, sizes)
    const [fresh] = store === "memory" ? [] : await runChild(place, 0, sizes.slice(-1))
    found.push({ store, sizes: measured, ...(fresh === undefined ? {} : { fresh }) })
  }
  return found
}

export async function run({ quick = false }: Options = {}): Promise<Report> {
  const stores = await openStores()
  const turns = quick ? 30 : 60
  const searchRuns = quick ? 20 : 50
  try {
    const report = {
      turns: await measureTurns(stores, turns, quick ? [1000, 10_000] : [1000, 10_000, 100_000]),
      client: await measureClient((name) => join(stores.folder, `${name}.db`), [100, 500, 1000, 2000], turns),
      appends: await measureAppends(stores, quick ? { appends: 300, repeats: 1 } : { appends: 2000, repeats: 3 }),
      search: await measureSearch(stores.folder, quick ? 200_000 : 1_000_000, searchRuns),
      size: await measureSize(stores.folder),
    }
    const postgres =
      stores.withoutPostgres === undefined ? "waits for its disk" : `not there: ${stores.withoutPostgres}`
    return { conditions: { ...conditionsNow(), turns, searchRuns, postgres }, ...report }
  } finally {
    await stores.close()
  }
}

const figure = (value: number): string =>
  value < 10 ? value.toFixed(2) : value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en")
const times = (value: number, base: number): string => `${figure(value / base)}x`

function table(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const pad = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)
  return lines.map((line) => `    ${line.map(pad).join("  ").trimEnd()}`).join("\n")
}

function printTurns(stores: readonly StoreTurns[]): void {
  console.log(`
  one turn in log mode: a question, a call, its answer with a tool call, 1,200 tokens of result, a call`)
  const header = "|wall ms|CPU ms|compacting turn ms|afterwards ms|open cold ms|heap MB|rss MB".split("|")
  const lines = stores.flatMap(({ store, sizes, fresh }) => {
    const cells = (name: string, one: TurnsMeasured): readonly string[] => [
      name,
      ...[one.wallMs, one.cpuMs, one.compactingMs, one.afterwardsMs].map((ms) => (ms === undefined ? "" : figure(ms))),
      ...[one.openMs, one.heapMb, one.rssMb].map(figure),
    ]
    const [first, last] = [sizes[0], sizes.at(-1)]
    return [
      ...sizes.map((one) => cells(`${store}, ${one.entries.toLocaleString("en")} entries`, one)),
      ...(first === undefined || last === undefined
        ? []
        : [["  last : first", times(last.wallMs, first.wallMs), times(last.cpuMs, first.cpuMs)]]),
      ...(fresh === undefined
        ? []
        : [["  in a fresh process", "", "", "", "", ...[fresh.openMs, fresh.heapMb, fresh.rssMb].map(figure)]]),
    ]
  })
  console.log(table([header, ...lines]))
}

function printClient(rows: readonly ClientMeasured[]): void {
  console.log("\n  one turn of a client that sends its whole history, on sqlite: the call and the answer to it")
  const header =
    "messages|kB|turn ms|compacting turn ms|decodeNext alone|turn : that|JSON.parse alone|turn : that".split("|")
  const lines = rows.map((row) => [
    row.messages.toLocaleString("en"),
    figure(row.kilobytes),
    figure(row.turnMs),
    row.compactingMs === undefined ? "" : figure(row.compactingMs),
    figure(row.readMs),
    times(row.turnMs, row.readMs),
    figure(row.parseMs),
    times(row.turnMs, row.parseMs),
  ])
  console.log(table([header, ...lines]))
}

function printAppends(rows: readonly AppendsMeasured[]): void {
  console.log("\n  durable appends of 4 KB a second, and those of the bare driver in the same run")
  const lines = rows.map(({ store, writers, perSecond, floorPerSecond }) => [
    `${store}, ${writers === 1 ? "one session" : `${writers} sessions at once`}`,
    figure(perSecond),
    figure(floorPerSecond),
    times(perSecond, floorPerSecond),
  ])
  console.log(table([["", "ours", "driver", "ours : driver"], ...lines]))
}

function printSearch({ rows, buildMs, fileMb, textMb, questions }: SearchMeasured): void {
  console.log(
    `\n  search of ${rows.toLocaleString("en")} memory rows on sqlite: built in ${figure(buildMs / 1000)} s, ` +
      `${figure(fileMb)} MB for ${figure(textMb)} MB of text (${times(fileMb, textMb)})`,
  )
  const lines = questions.map(({ name, p50, p95, hits, floorMs }) => [
    name,
    figure(p50),
    figure(p95),
    String(hits),
    figure(floorMs),
    times(p50, floorMs),
  ])
  console.log(table([["", "p50 ms", "p95 ms", "shown", "bare index ms", "ours : index"], ...lines]))
}

export function print({ conditions, turns, client, appends, search, size }: Report): void {
  const told = Object.entries(conditions).map(([key, value]) => `${key} ${value}`)
  console.log(`session: what sessions cost (${told.join(", ")})`)
  printTurns(turns)
  printClient(client)
  printAppends(appends)
  printSearch(search)
  const { jsonMbPerMillion: json, fileMbPerMillion: file, deflatedMbPerMillion: deflated } = size
  console.log(`
  a million tokens of log on disk: ${figure(file)} MB on sqlite, ${times(file, json)} the ${figure(json)} MB of plain JSON (${figure(deflated)} MB if deflated as one)`)
}
