import { mkdtemp, readdir, rm, stat } from "node:fs/promises"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { conditionsNow } from "./conditions.ts"
import type { Job, JobResult } from "./gateway-load-child.ts"
import type { Account } from "./gateway-ours-child.ts"
import { askChild, profiling, startChild } from "./gateway-servers.ts"
import { quantile } from "./quantile.ts"

/**
 * The gateway while sessions grow, are compacted and others begin, minute by minute: its memory (a leak is a rising minimum), what a turn
 * adds to the database, and how long the event loop was blocked.
 */
export type SoakReport = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly minutes: readonly Minute[]
  readonly faults: readonly string[]
}

type Minute = {
  readonly minute: number
  readonly rssMb: number
  /** Measured after a garbage collection. */
  readonly heapMb: number
  readonly requests: number
  readonly failed: number
  readonly p50: number
  readonly p99: number
  readonly load: number
  /** Requests that were changed: compacted, or sent with the result of an earlier compaction. */
  readonly changed: number
  readonly storeMb: number
  readonly loopP99: number
  readonly loopLongest: number
  readonly turnLongest: number
  readonly turnsOver100: number
  readonly gcAll: number
  readonly gcLongest: number
  /** CPU time of the gateway per request. */
  readonly cpuMs: number
}

const sessions = 100
/** By the time a session has grown to 120 kB, it has been compacted several times. */
const windowTokens = 16_000
/** Each session sends at most about one request every two seconds; one that has grown to 120 kB ends, and another begins. */
const thinkMs = 2000
const minuteMs = 60_000

export async function soak(minutes: number): Promise<SoakReport> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-soak-"))
  const upstream = await startChild("gateway-upstream-child")
  const gateway = await startChild(
    "gateway-ours-child",
    [upstream.url, join(folder, "soak.db"), String(windowTokens)],
    profiling,
  )
  const load = await startChild("gateway-load-child")
  const found: Minute[] = []
  try {
    const faults = new Set<string>()
    for (let minute = 1; minute <= minutes; minute++) {
      const job: Job = {
        ...{ url: gateway.url, headers: {}, kind: "next", key: "soak", isNamed: true, bytes: 2000, stream: true },
        ...{
          calls: false,
          turnUnits: 1250,
          count: Number.MAX_SAFE_INTEGER,
          forMs: minuteMs,
          thinkMs,
          workers: sessions,
        },
      }
      const seen = await askChild<JobResult>(load, job)
      const account = await askChild<Account>(gateway, {})
      for (const fault of account.faults) faults.add(fault)
      const totals = seen.samples.map(({ totalMs }) => totalMs)
      const one = {
        minute,
        rssMb: account.rssMb,
        heapMb: account.heapMb,
        requests: seen.samples.length,
        failed: seen.failed,
        p50: quantile(totals, 0.5),
        p99: quantile(totals, 0.99),
        load: loadavg()[0] ?? 0,
        changed: account.changed,
        storeMb: (await bytesIn(folder)) / 1e6,
        loopP99: account.loopDelayMs.p99,
        loopLongest: account.loopDelayMs.longest,
        turnLongest: account.longestTurnMs,
        turnsOver100: account.turnsOver100Ms,
        gcAll: account.gcMs.all,
        gcLongest: account.gcMs.longest,
        cpuMs: account.cpuMs / Math.max(1, seen.samples.length),
      }
      console.error(`  gateway: soak ${JSON.stringify(one)}`)
      found.push(one)
    }
    return {
      conditions: { ...conditionsNow(), sessions, windowTokens, thinkMs, store: "sqlite" },
      minutes: found,
      faults: [...faults],
    }
  } finally {
    for (const server of [load, gateway, upstream]) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0
  for (const file of await readdir(folder)) bytes += (await stat(join(folder, file))).size
  return bytes
}
