import { statSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { readQuery } from "../src/store/search-terms.ts"
import { sqliteMatch } from "../src/store/sqlite-memory.ts"
import { openSqliteStore } from "../src/store/sqlite-store.ts"
import type { MemoryOwner, MemoryQuery, MemoryRow } from "../src/store/store.ts"
import { quantile } from "./quantile.ts"
import { createRandom, pick, type Random, writers } from "./texts.ts"

/** Searching a large memory in SQLite: finding, reading and ranking rows, compared with asking the bare index for the same places. */
export type SearchMeasured = {
  readonly rows: number
  readonly buildMs: number
  readonly fileMb: number
  readonly textMb: number
  readonly questions: readonly {
    readonly name: string
    readonly p50: number
    readonly p95: number
    readonly hits: number
    /** Time of the word index alone, without filters, rows and ranking; absent if the question has no words. */
    readonly floorMs: number
  }[]
}

const owner: MemoryOwner = { tenant: "", agent: "bench" }
const kinds = ["decision", "fact", "failure", "preference"]
const firstDay = Date.UTC(2026, 0, 1)
const dayMs = 86_400_000
/** A year of work. */
const days = 365
const page = 2000
/** A machine on which building takes longer measures with what it has by then. */
const buildLimitMs = 240_000

function makeRow(random: Random, n: number, of: number): MemoryRow {
  const atMs = firstDay + Math.floor((n / of) * days * dayMs)
  const words = `${writers.english?.(random).trim()} ${writers.english?.(random).trim()}`
  return {
    id: `m${n}`,
    session: `session-${Math.floor(n / 500)}`,
    ...owner,
    day: new Date(atMs).toISOString().slice(0, 10),
    atMs,
    kind: pick(random, kinds),
    // A name in ten rows of a million, and another in every thousandth row.
    text: `${words}${n % 100_000 === 7 ? " zanzibar-7" : ""}${n % 1000 === 3 ? " quarterdeck release" : ""}`,
    channel: "user",
    trusted: n % 3 > 0,
    sources: [`e${n}`],
  }
}

const questions: readonly { readonly name: string; readonly query: Omit<MemoryQuery, keyof MemoryOwner> }[] = [
  { name: "rare word", query: { text: "zanzibar" } },
  { name: "two words", query: { text: "quarterdeck release" } },
  { name: "phrase", query: { text: '"quarterdeck release"' } },
  { name: "phrase of common words", query: { text: '"of the"' } },
  { name: "very common word", query: { text: "the" } },
  {
    name: "common word, one day, one kind",
    query: { text: "the", fromDay: "2026-06-15", toDay: "2026-06-15", kind: "fact" },
  },
  {
    name: "two words, one month, one kind",
    query: { text: "quarterdeck release", fromDay: "2026-06-01", toDay: "2026-06-30", kind: "fact" },
  },
]

function timesOf(count: number, act: () => unknown): readonly number[] {
  return Array.from({ length: count }, () => {
    const start = performance.now()
    act()
    return performance.now() - start
  })
}

/** Returns the places that the index alone finds, as many as a search reads. */
function floorOf(path: string): (query: MemoryQuery) => unknown {
  const raw = new DatabaseSync(path, { readOnly: true })
  const ask = raw.prepare("SELECT rowid FROM memory_words WHERE memory_words MATCH ? ORDER BY rowid DESC LIMIT ?")
  ask.setReadBigInts(true)
  return (query) => {
    const { quoted, words } = readQuery(query.text ?? "")
    return ask.all(sqliteMatch(owner, [...quoted, ...words], undefined), 201)
  }
}

export async function measureSearch(folder: string, rows: number, runs: number): Promise<SearchMeasured> {
  const path = join(folder, "search.db")
  const store = await openSqliteStore({ path })
  const random = createRandom(41)
  let written = 0
  let textBytes = 0
  let buildMs = 0
  while (written < rows && buildMs < buildLimitMs) {
    const batch = Array.from({ length: Math.min(page, rows - written) }, (_, n) => makeRow(random, written + n, rows))
    for (const { text } of batch) textBytes += Buffer.byteLength(text)
    const start = performance.now()
    await store.memory.write(batch)
    buildMs += performance.now() - start
    written += batch.length
    if (written % 100_000 === 0) console.error(`  session: memory of ${written} rows, ${Math.round(buildMs / 1000)} s`)
  }
  const floor = floorOf(path)
  const measured: SearchMeasured["questions"][number][] = []
  for (const { name, query } of questions) {
    const asked = { ...owner, ...query }
    const times: number[] = []
    let hits = 0
    for (let n = 0; n < runs + 3; n++) {
      const start = performance.now()
      hits = (await store.memory.search(asked)).length
      if (n >= 3) times.push(performance.now() - start)
    }
    const floorMs = quantile(
      timesOf(runs, () => floor(asked)),
      0.5,
    )
    measured.push({ name, p50: quantile(times, 0.5), p95: quantile(times, 0.95), hits, floorMs })
  }
  await store.close()
  const fileMb = statSync(path).size / 1e6
  return { rows: written, buildMs, fileMb, textMb: textBytes / 1e6, questions: measured }
}
