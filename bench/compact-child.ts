import { readFileSync, writeFileSync } from "node:fs"
import { countO200k } from "../src/tokens/counter.ts"
import { type ChatMessage, type Count, countMessages } from "./chat.ts"
import { openOurs } from "./ours.ts"

/**
 * Measures one row of the compaction bench in its own process: `node --expose-gc compact-child.ts ROW FILE BUDGET REPEATS SYSTEM`. Prints a
 * line of JSON after the first run, and one after all.
 */
export type Measured = {
  /** Time of the first run, before the tables of the counter are built. */
  readonly coldMs: number
  /** Median of further runs, with every text already counted; absent if the child was stopped before the first of them ended. */
  readonly cachedMs?: number
  /** Peak memory of the first run, above what the process had before. */
  readonly peakMb: number
  readonly tokens: number
  readonly messages: number
}

type Result = () => readonly ChatMessage[]
/** Prepares a fresh input, then returns the function that is timed. */
type Prepare = () => () => Promise<Result>

const messagesIn = (text: string): readonly ChatMessage[] => JSON.parse(text).messages

/** Returns a copy that shares nothing with the original: no cached hash, no flattened string. */
const freshCopy = (text: string): string => Buffer.from(text).toString()

async function open(row: string, text: string, budgetTokens: number, count: Count): Promise<Prepare | undefined> {
  if (row.startsWith("holdfast")) {
    const run = (await openOurs(row, Number(systemTokens)))?.prepare(text)
    if (run === undefined) return undefined
    return () => {
      const copy = freshCopy(text)
      return async () => {
        const body = await run(copy, budgetTokens)
        return () => messagesIn(body)
      }
    }
  }
  const { peers } = await import("./peers.ts")
  const peer = peers.find(({ name }) => name === row)
  if (peer === undefined) return undefined
  return () => {
    const work = peer.prepare(messagesIn(freshCopy(text)))
    return () => work(budgetTokens, count)
  }
}

/** Peak resident bytes since the last reset; on anything but Linux, since the start of the process. */
function createPeak(): { readonly reset: () => void; readonly read: () => number } {
  return {
    reset: () => {
      try {
        writeFileSync("/proc/self/clear_refs", "5")
      } catch {
        // Not Linux, or not allowed: `read` returns the peak since the start instead, which is never too small.
      }
    },
    read: () => {
      try {
        return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]) * 1024
      } catch {
        return process.resourceUsage().maxRSS * 1024
      }
    },
  }
}

/** Below this the CPU clock, which moves in ticks of up to 4 ms, is too coarse. */
const coarseMs = 25

/** Measures CPU time of the working thread, which other processes hardly affect; wall clock for a short run. */
async function timed(run: () => Promise<Result>): Promise<{ readonly ms: number; readonly result: Result }> {
  const before = process.threadCpuUsage()
  const start = performance.now()
  const result = await run()
  const wallMs = performance.now() - start
  const { user, system } = process.threadCpuUsage(before)
  return { ms: wallMs < coarseMs ? wallMs : (user + system) / 1000, result }
}

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? Number.NaN

/** Maximum time for further runs with the counts cached. */
const enoughMs = 1500
const warmUpRuns = 2

const tell = (found: Measured | null): void => {
  process.stdout.write(`${JSON.stringify(found)}\n`)
}

async function measure(prepare: Prepare, repeats: number): Promise<void> {
  const run = prepare()
  globalThis.gc?.()
  globalThis.gc?.()
  const peak = createPeak()
  peak.reset()
  const before = process.memoryUsage().rss
  const { ms: coldMs, result } = await timed(run)
  const peakMb = Math.max(0, peak.read() - before) / 1e6
  const compacted = result()
  const first = { coldMs, peakMb, tokens: countMessages(compacted, countO200k), messages: compacted.length }
  tell(first)
  const times: number[] = []
  for (let n = 0, spent = 0; n < repeats + warmUpRuns && (n === 0 || spent < enoughMs); n++) {
    const { ms } = await timed(prepare())
    spent += ms
    times.push(ms)
  }
  const settled = times.length > warmUpRuns ? times.slice(warmUpRuns) : times
  tell({ ...first, cachedMs: median(settled) })
}

const [row = "", file = "", budget = "0", repeats = "5", systemTokens = "0"] = process.argv.slice(2)
const prepare = await open(row, readFileSync(file, "utf8"), Number(budget), countO200k)
if (prepare === undefined) tell(null)
else await measure(prepare, Number(repeats))
