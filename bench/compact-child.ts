import { readFileSync, writeFileSync } from "node:fs"
import { countO200k } from "../src/tokens/counter.ts"
import { type ChatMessage, type Count, countMessages } from "./chat.ts"
import { openOurs } from "./ours.ts"

/** One row of the compaction bench in a process of its own: `node --expose-gc compact-child.ts ROW FILE BUDGET REPEATS SYSTEM`. A line of JSON after the first run, and one after all. */
export type Measured = {
  /** On first sight, the counter's tables not yet built. */
  readonly coldMs: number
  /** The median of more runs, every text counted before; absent if the child was stopped before one of them was done. */
  readonly cachedMs?: number
  /** What the process took at its highest during the first run, beyond what it had before. */
  readonly peakMb: number
  readonly tokens: number
  readonly messages: number
}

type Result = () => readonly ChatMessage[]
/** Gets a fresh input ready, then hands over what is timed. */
type Prepare = () => () => Promise<Result>

const messagesIn = (text: string): readonly ChatMessage[] => JSON.parse(text).messages

/** A copy that shares nothing with the first: no hidden hash, no flattened string. */
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

/** Resident bytes at their highest since the last reset; Linux only, elsewhere since the start of the process. */
function createPeak(): { readonly reset: () => void; readonly read: () => number } {
  return {
    reset: () => {
      try {
        writeFileSync("/proc/self/clear_refs", "5")
      } catch {
        // Not Linux, or not allowed: the peak of the whole life stands in, and is never too small.
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

/** In CPU time of the thread that does the work, in which other processes hardly show; a short run by the wall clock. */
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

/** More runs with the counts cached, within this time. */
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
