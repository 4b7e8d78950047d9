import { monitorEventLoopDelay, PerformanceObserver } from "node:perf_hooks"
import { startGateway } from "../src/gateway/gateway.ts"
import { usualGatewayLimits, usualTimes } from "../src/gateway/settings/gateway-options.ts"
import { createGuard } from "../src/guard/guard.ts"
import { joinGuards } from "../src/guard/join-guards.ts"
import { createHoldfast } from "../src/session/holdfast.ts"
import { openStore } from "../src/store/open-store.ts"
import { builtInGuard } from "../test/support/built-in-guard.ts"
import { tell } from "./gateway-child.ts"

/** Our gateway, as `holdfast serve` builds it: `node gateway-ours-child UPSTREAM STORE [WINDOW|-] [guard]`. */
export type Account = {
  readonly how: Readonly<Record<string, number>>
  readonly changed: number
  readonly faults: readonly string[]
  readonly heapMb: number
  readonly rssMb: number
  /** Delay of the event loop since the last query, by the wall clock. */
  readonly loopDelayMs: { readonly p99: number; readonly longest: number }
  /** Longest turn of the event loop by the CPU time of its thread, which other processes do not affect. */
  readonly longestTurnMs: number
  readonly turnsOver100Ms: number
  /** Garbage collection that blocked the thread, by the wall clock. */
  readonly gcMs: { readonly all: number; readonly longest: number }
  /** CPU time of all threads. */
  readonly cpuMs: number
}

const [upstream = "", place = "memory", window = "-", guarded = ""] = process.argv.slice(2)
const windowTokens = window === "-" ? {} : { windowTokens: Number(window) }
/** The guard that every gateway has. */
const builtIn = builtInGuard(place)
const operators = [
  { template: "no-secrets" },
  { template: "protected-paths", paths: ["/etc", "~/.ssh"], access: "any" },
  { template: "no-production-destruction" },
] as const
const guard = guarded === "" ? builtIn : joinGuards([builtIn, createGuard(operators)])

const store = await openStore(place)
const holdfast = createHoldfast({ store, ...windowTokens, guard: { guard } })
await holdfast.open()
const how: Record<string, number> = {}
const faults: string[] = []
let changed = 0

const gateway = await startGateway({
  host: "127.0.0.1",
  port: 0,
  allowedHosts: [],
  allowedOrigins: [],
  upstreams: [{ name: "model", families: ["anthropic", "openai", "gemini"], baseUrl: upstream, ...usualTimes }],
  tenants: "by-key",
  recall: false,
  limits: { ...usualGatewayLimits, newSessions: Number.MAX_SAFE_INTEGER },
  admin: { origins: [] },
  askTimeoutMs: 2000,
  keepAliveMs: 15_000,
  version: "0.0.0",
  now: Date.now,
  ...windowTokens,
  holdfast,
  store,
  guard: builtIn,
  onRecord: (record) => {
    how[record.how] = (how[record.how] ?? 0) + 1
    if (record.changed) changed++
    if (record.problem !== undefined && faults.length < 20) faults.push(record.problem.code)
  },
  onFault: (error) => {
    if (faults.length < 20) faults.push(String(error))
  },
})

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const nsPerMs = 1e6

const gcMs = { all: 0, longest: 0 }
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) {
    gcMs.all += duration
    gcMs.longest = Math.max(gcMs.longest, duration)
  }
}).observe({ entryTypes: ["gc"] })

const turns = { longestMs: 0, over100Ms: 0 }
let lastWork = process.threadCpuUsage()
setInterval(() => {
  const { user, system } = process.threadCpuUsage(lastWork)
  const workMs = (user + system) / 1000
  turns.longestMs = Math.max(turns.longestMs, workMs)
  if (workMs > 100) turns.over100Ms++
  lastWork = process.threadCpuUsage()
}, 2).unref()
let begun = process.cpuUsage()

function beginCounts(): void {
  delay.reset()
  Object.assign(gcMs, { all: 0, longest: 0 })
  Object.assign(turns, { longestMs: 0, over100Ms: 0 })
  begun = process.cpuUsage()
}

/** Any message asks for the counts, which then start again from zero. */
process.on("message", () => {
  const { user, system } = process.cpuUsage(begun)
  const counts = {
    loopDelayMs: { p99: delay.percentile(99) / nsPerMs, longest: delay.max / nsPerMs },
    longestTurnMs: turns.longestMs,
    turnsOver100Ms: turns.over100Ms,
    gcMs: { ...gcMs },
    cpuMs: (user + system) / 1000,
  }
  globalThis.gc?.()
  // The collection triggered just now counts in neither minute: it is reported when the event loop continues.
  setTimeout(beginCounts, 50)
  const { heapUsed, rss } = process.memoryUsage()
  process.send?.({
    how: { ...how },
    changed,
    faults: [...faults],
    heapMb: heapUsed / 1e6,
    rssMb: rss / 1e6,
    ...counts,
  })
  for (const name of Object.keys(how)) delete how[name]
  changed = 0
})
tell(gateway.url)
