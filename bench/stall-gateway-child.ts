import { Session } from "node:inspector/promises"
import { setTimeout as sleep } from "node:timers/promises"

/** Our gateway, which reports its longest piece of work on request; same arguments as gateway-ours-child. */
export type StallReport = {
  /** Longest piece of work by the CPU time of its thread, which other processes do not affect. */
  readonly longestMs: number
  /** Longest time that the event loop was blocked, by the wall clock. */
  readonly awayMs: number
  /** Pieces of more than 50 ms, the longest first, each with the functions that took most of it, outermost first. */
  readonly pieces: readonly { readonly ms: number; readonly steps: readonly string[] }[]
  /** CPU time of all threads. */
  readonly cpuMs: number
  readonly rssMb: number
}

const nowUs = (): number => Number(process.hrtime.bigint() / 1000n)

type Piece = { readonly workUs: number; readonly startUs: number; readonly endUs: number }

/** Shorter pieces are not reported, unless there is none longer. */
const reportedUs = 50_000
const maxReported = 5

let pieces: readonly Piece[] = []

/** Keeps the longest pieces, the longest first. */
function note(piece: Piece): void {
  const shortest = pieces.at(-1)
  if (shortest !== undefined && piece.workUs < reportedUs && piece.workUs <= (pieces[0]?.workUs ?? 0)) return
  pieces = [...pieces, piece].sort((one, other) => other.workUs - one.workUs).slice(0, maxReported)
}

let awayUs = 0
let mostRss = 0
let begun = process.cpuUsage()
let lastWork = process.threadCpuUsage()
let lastUs = nowUs()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastWork)
  const atUs = nowUs()
  note({ workUs: user + system, startUs: lastUs, endUs: atUs })
  awayUs = Math.max(awayUs, atUs - lastUs)
  lastWork = process.threadCpuUsage()
  lastUs = nowUs()
}, 2).unref()
setInterval(() => {
  mostRss = Math.max(mostRss, process.memoryUsage().rss)
}, 50).unref()

/** Waits until the process is idle. */
async function quiet(): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    const before = process.cpuUsage()
    await sleep(60)
    const { user, system } = process.cpuUsage(before)
    idle = user + system < 15_000 ? idle + 1 : 0
  }
}

const inspector = new Session()
inspector.connect()
await inspector.post("Profiler.enable")
await inspector.post("Profiler.setSamplingInterval", { interval: 1000 })

type Profile = Awaited<ReturnType<typeof stopProfile>>
const stopProfile = async () => (await inspector.post("Profiler.stop")).profile

/** Matches frames that do not tell which code did the work. */
const anonymousFrame = /^\((?:root|program|idle)\)$|^$|^process|^node:|^run(?:Steps|InSteps)|^next$/

/**
 * Returns the functions that did a piece of work: from the root down, as long as one function accounts for more than half of what remains.
 * The last one is the step to split.
 */
function stepsOf({ nodes, samples = [], timeDeltas = [], startTime }: Profile, piece: Piece): readonly string[] {
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const times = new Map<number, number>()
  let atUs = startTime
  for (const [n, id] of samples.entries()) {
    const delta = timeDeltas[n] ?? 0
    atUs += delta
    if (atUs < piece.startUs || atUs > piece.endUs) continue
    for (let one: number | undefined = id; one !== undefined; one = parents.get(one))
      times.set(one, (times.get(one) ?? 0) + delta)
  }
  const names = new Map(nodes.map(({ id, callFrame }) => [id, callFrame.functionName]))
  const path: string[] = []
  let at = nodes.find(({ callFrame }) => callFrame.functionName === "(root)")
  while (at !== undefined) {
    const own = times.get(at.id) ?? 0
    const next = (at.children ?? [])
      .filter((id) => names.get(id) !== "(idle)" && names.get(id) !== "(program)")
      .sort((one, other) => (times.get(other) ?? 0) - (times.get(one) ?? 0))[0]
    if (next === undefined || (times.get(next) ?? 0) * 2 < own || own === 0) break
    at = nodes.find(({ id }) => id === next)
    const name = names.get(next) ?? ""
    if (!anonymousFrame.test(name) && path.at(-1) !== name) path.push(name)
  }
  return path
}

await import("./gateway-ours-child.ts")
process.removeAllListeners("message")
process.on("message", async ({ begin }: { readonly begin: boolean }) => {
  await quiet()
  if (begin) {
    globalThis.gc?.()
    await inspector.post("Profiler.start")
    await sleep(30)
    begun = process.cpuUsage()
    mostRss = 0
    awayUs = 0
    pieces = []
    process.send?.({})
    return
  }
  const found = pieces
  const longestAwayUs = awayUs
  const { user, system } = process.cpuUsage(begun)
  const profile = await stopProfile()
  const told: StallReport = {
    longestMs: (found[0]?.workUs ?? 0) / 1000,
    awayMs: longestAwayUs / 1000,
    pieces: found
      .filter(({ workUs }, n) => n === 0 || workUs > reportedUs)
      .map((piece) => ({ ms: piece.workUs / 1000, steps: stepsOf(profile, piece) })),
    cpuMs: (user + system) / 1000,
    rssMb: mostRss / 1e6,
  }
  process.send?.(told)
})
