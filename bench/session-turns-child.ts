import type { PrepareOptions } from "../src/session/history/prepared.ts"
import type { Session } from "../src/session/session.ts"
import { openStore } from "../src/store/open-store.ts"
import { median } from "./quantile.ts"
import { callOptions, fillLog, makeTurn, openAgent, type TurnResult, takeTurn } from "./session-agent.ts"
import { createRandom } from "./texts.ts"

/**
 * Turns of one session whose log grows, in its own process: `node --expose-gc session-turns-child.ts TURNS SIZE…`, with the store's name on
 * stdin. Prints a line of JSON for each size. With zero turns nothing is written: an existing log is opened.
 */
export type TurnsMeasured = {
  readonly entries: number
  /** First call of a new process: the session is opened, its outline read, its view assembled and counted. */
  readonly openMs: number
  readonly openCpuMs: number
  /** Turns without a compaction: the median by the wall clock, and CPU time of the working thread. */
  readonly wallMs: number
  readonly cpuMs: number
  readonly turns: number
  /** Time of turns with a compaction. */
  readonly compactingMs?: number
  readonly compactions: number
  /** Background work after a turn that nobody waits for, on average. */
  readonly afterwardsMs: number
  readonly viewMessages: number
  /** Memory of the session, beyond the process before it was opened. */
  readonly heapMb: number
  readonly rssMb: number
}

type Timed<Value> = { readonly value: Value; readonly wallMs: number; readonly cpuMs: number }

async function timed<Value>(act: () => Promise<Value>): Promise<Timed<Value>> {
  const before = process.threadCpuUsage()
  const start = performance.now()
  const value = await act()
  const wallMs = performance.now() - start
  const { user, system } = process.threadCpuUsage(before)
  return { value, wallMs, cpuMs: (user + system) / 1000 }
}

function memoryNow(): { readonly heap: number; readonly rss: number } {
  globalThis.gc?.()
  globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  return { heap: heapUsed, rss }
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

/**
 * Mean of the middle half: the CPU clock moves in ticks of up to 4 ms, and a turn may share its thread with the previous turn's background
 * work.
 */
const middleMean = (values: readonly number[]): number =>
  mean([...values].sort((one, other) => one - other).slice(values.length >> 2, values.length - (values.length >> 2)))

/** Turns before the first measurement: code is compiled, and the view consists of turns like these. */
const warmUpTurns = 40

type OpenResult = Pick<TurnsMeasured, "openMs" | "openCpuMs" | "heapMb" | "rssMb">

/** Measures the first call of a session that is new to this process. */
async function open(session: Session, options: PrepareOptions): Promise<OpenResult> {
  const before = memoryNow()
  const { wallMs, cpuMs } = await timed(() => session.prepare(options))
  const after = memoryNow()
  return { openMs: wallMs, openCpuMs: cpuMs, heapMb: (after.heap - before.heap) / 1e6, rssMb: after.rss / 1e6 }
}

type OneTurn = TurnResult & { readonly wallMs: number; readonly cpuMs: number; readonly afterwardsMs: number }

function summed(taken: readonly OneTurn[]): Omit<TurnsMeasured, keyof OpenResult | "entries"> {
  const plain = taken.filter(({ compacted }) => !compacted)
  const compacting = taken.filter(({ compacted }) => compacted).map(({ wallMs }) => wallMs)
  return {
    wallMs: median(plain.map(({ wallMs }) => wallMs)),
    cpuMs: middleMean(plain.map(({ cpuMs }) => cpuMs)),
    turns: plain.length,
    ...(compacting.length === 0 ? {} : { compactingMs: median(compacting) }),
    compactions: compacting.length,
    afterwardsMs: mean(taken.map(({ afterwardsMs }) => afterwardsMs)),
    viewMessages: mean(taken.map(({ viewMessages }) => viewMessages)),
  }
}

async function measure(name: string, sizes: readonly number[], turns: number): Promise<void> {
  const store = await openStore(name)
  const random = createRandom(3)
  const options = callOptions(random)
  const id = "measured"
  let n = 0
  for (const entries of sizes) {
    if (turns > 0) {
      const filler = openAgent(store, { memory: { flush: false } })
      await fillLog(filler.session(id), options, random, entries)
      for (let left = warmUpTurns; left > 0; left--) await takeTurn(filler.session(id), options, makeTurn(random, n++))
      await filler.close()
    }
    const holdfast = openAgent(store)
    const session = holdfast.session(id)
    const opened = await open(session, options)
    const taken: OneTurn[] = []
    for (let left = turns; left > 0; left--) {
      const turn = makeTurn(random, n++)
      const { value, ...spent } = await timed(() => takeTurn(session, options, turn))
      taken.push({ ...value, ...spent, afterwardsMs: (await timed(holdfast.idle)).wallMs })
    }
    const found: TurnsMeasured = { entries, ...opened, ...summed(taken) }
    process.stdout.write(`${JSON.stringify(found)}\n`)
    await holdfast.close()
  }
  await store.close()
}

/** Reads the store's name from stdin: other users of the machine can read arguments, and an address contains a password. */
async function storeName(): Promise<string> {
  let input = ""
  for await (const chunk of process.stdin) input += String(chunk)
  return input.trim()
}

const [turns = "40", ...sizes] = process.argv.slice(2)
await measure(await storeName(), sizes.map(Number), Number(turns))
