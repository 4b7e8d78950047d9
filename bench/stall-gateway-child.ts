import { monitorEventLoopDelay } from "node:perf_hooks"
import { setTimeout as sleep } from "node:timers/promises"

/** Our gateway or the bare one, and how long its event loop stood still: `node stall-gateway-child ours|bare ARGUMENTS`. */
export type Stalled = {
  readonly longestMs: number
  /** The longest piece of work by the processor time of its thread: what others on the machine do does not count. */
  readonly longestWorkMs: number
  /** Of the processor, whoever else used it. */
  readonly cpuMs: number
  readonly rssMb: number
}

const [, , kind = "ours"] = process.argv
process.argv.splice(2, 1)
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
let begun = process.cpuUsage()
let mostRss = 0
let longestWork = 0
let lastWork = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastWork)
  lastWork = process.threadCpuUsage()
  longestWork = Math.max(longestWork, user + system)
}, 2).unref()
setInterval(() => {
  mostRss = Math.max(mostRss, process.memoryUsage().rss)
}, 50).unref()

/** Wait until nothing is worked on any more. */
async function quiet(): Promise<void> {
  for (let idle = 0; idle < 3; ) {
    const before = process.cpuUsage()
    await sleep(200)
    const { user, system } = process.cpuUsage(before)
    idle = user + system < 20_000 ? idle + 1 : 0
  }
}

await import(kind === "ours" ? "./gateway-ours-child.ts" : "./gateway-bare-child.ts")
process.removeAllListeners("message")
process.on("message", async ({ begin }: { readonly begin: boolean }) => {
  await quiet()
  if (begin) {
    globalThis.gc?.()
    await sleep(100)
    delay.reset()
    begun = process.cpuUsage()
    mostRss = 0
    longestWork = 0
    process.send?.({})
    return
  }
  const { user, system } = process.cpuUsage(begun)
  const told: Stalled = {
    longestMs: delay.max / 1e6,
    longestWorkMs: longestWork / 1000,
    cpuMs: (user + system) / 1000,
    rssMb: mostRss / 1e6,
  }
  process.send?.(told)
})
