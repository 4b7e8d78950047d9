import { mkdtemp, rm } from "node:fs/promises"
import { loadavg, tmpdir } from "node:os"
import { join } from "node:path"
import { conditionsNow } from "./conditions.ts"
import { type Case, latencyCases, type Target, throughputCases } from "./gateway-cases.ts"
import type { Job, JobResult, Sample } from "./gateway-load-child.ts"
import type { Account } from "./gateway-ours-child.ts"
import { askChild, type BenchProcess, profiling, residentMb, startChild, startPortkey } from "./gateway-servers.ts"
import { installedSize, type PackageSize } from "./gateway-size.ts"
import { type SoakReport, soak } from "./gateway-soak.ts"
import { quantile } from "./quantile.ts"

/**
 * What the gateway adds to a call, compared with no gateway, a bare passthrough on the same runtime, and a peer: each in its own process,
 * in interleaved rounds, so that other load on the machine affects all alike.
 */
export type Options = { readonly quick?: boolean }

export type Measured = {
  readonly target: Target
  readonly requests: number
  readonly failed: number
  readonly changed: number
  readonly p50: number
  readonly p99: number
  /** Time to the first byte of the body. */
  readonly firstP50: number
  readonly perSecond: number
  readonly how?: Readonly<Record<string, number>>
}
export type CaseReport = { readonly name: string; readonly measured: readonly Measured[] }
export type Report = {
  readonly conditions: Readonly<Record<string, string | number>>
  readonly latency: readonly CaseReport[]
  readonly throughput: readonly CaseReport[]
  readonly memory: readonly { readonly target: Target; readonly startMb: number; readonly endMb: number }[]
  readonly installed: readonly PackageSize[]
  readonly faults: readonly string[]
}

const usualSoakMinutes = 30

/** So small that a body of 800 kB does not fit, and one of 640 kB does. */
const smallWindow = 300_000

type Fleet = {
  readonly load: BenchProcess
  readonly servers: ReadonlyMap<Target, BenchProcess>
  readonly headers: (target: Target) => Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

async function startFleet(folder: string): Promise<Fleet> {
  const upstream = await startChild("gateway-upstream-child")
  const ours = (store: string, ...more: readonly string[]): Promise<BenchProcess> =>
    startChild("gateway-ours-child", [upstream.url, store, ...more], profiling)
  const servers = new Map<Target, BenchProcess>([
    ["direct", upstream],
    ["bare", await startChild("gateway-bare-child", [upstream.url])],
    ["portkey", await startPortkey()],
    ["sqlite", await ours(join(folder, "bench.db"))],
    ["memory", await ours("memory")],
    ["small", await ours(join(folder, "small.db"), String(smallWindow))],
    ["guarded", await ours(join(folder, "guarded.db"), "-", "guard")],
  ])
  const load = await startChild("gateway-load-child")
  const forPortkey = { "x-portkey-provider": "openai", "x-portkey-custom-host": `${upstream.url}/v1` }
  return {
    load,
    servers,
    headers: (target) => (target === "portkey" ? forPortkey : {}),
    stop: async () => {
      for (const server of [load, ...servers.values()]) await server.stop()
    },
  }
}

const isOurs = (target: Target): boolean => target !== "direct" && target !== "bare" && target !== "portkey"

function summed(target: Target, seen: readonly JobResult[]): Measured {
  const samples: readonly Sample[] = seen.flatMap((one) => one.samples)
  const totals = samples.map(({ totalMs }) => totalMs)
  const wall = seen.reduce((sum, { wallMs }) => sum + wallMs, 0)
  return {
    target,
    requests: samples.length,
    failed: seen.reduce((sum, { failed }) => sum + failed, 0),
    changed: seen.reduce((sum, { changed }) => sum + changed, 0),
    p50: quantile(totals, 0.5),
    p99: quantile(totals, 0.99),
    firstP50: quantile(
      samples.map(({ firstMs }) => firstMs),
      0.5,
    ),
    perSecond: (samples.length / wall) * 1000,
  }
}

async function measure(fleet: Fleet, one: Case, rounds: number, count: number): Promise<CaseReport> {
  const { load, servers, headers } = fleet
  const seen = new Map<Target, JobResult[]>(one.targets.map((target) => [target, []]))
  const ask = (target: Target, requests: number): Promise<JobResult> => {
    const url = servers.get(target)?.url ?? ""
    const job: Job = { ...one.job, url, headers: headers(target), key: `${target}/${one.name}`, count: requests }
    return askChild<JobResult>(load, job)
  }
  const accounts = async (): Promise<ReadonlyMap<Target, Account>> => {
    const found = new Map<Target, Account>()
    for (const target of one.targets.filter(isOurs)) {
      const server = servers.get(target)
      if (server !== undefined) found.set(target, await askChild<Account>(server, {}))
    }
    return found
  }
  const requests = Math.max(1, Math.round(count * (one.share ?? 1)))
  if (one.job.kind !== "compacting") for (const target of one.targets) await ask(target, Math.min(4, requests))
  await accounts()
  for (let round = 0; round < rounds; round++) {
    const order = one.targets.map((_, n) => one.targets[(n + round) % one.targets.length] ?? "direct")
    for (const target of order) seen.get(target)?.push(await ask(target, requests))
  }
  const told = await accounts()
  const failure = [...seen.values()].flat().find((each) => each.failure !== undefined)?.failure
  if (failure !== undefined) console.error(`  gateway: ${one.name}: ${failure}`)
  return {
    name: one.name,
    measured: one.targets.map((target) => {
      const how = told.get(target)?.how
      return { ...summed(target, seen.get(target) ?? []), ...(how === undefined ? {} : { how }) }
    }),
  }
}

export async function run({ quick = false }: Options = {}): Promise<Report | SoakReport> {
  const soakAt = process.argv.indexOf("--soak")
  if (soakAt >= 0) return soak(Number(process.argv[soakAt + 1] ?? usualSoakMinutes))
  const folder = await mkdtemp(join(tmpdir(), "holdfast-gateway-"))
  const fleet = await startFleet(folder)
  const resident = (): ReadonlyMap<Target, number> =>
    new Map([...fleet.servers].map(([target, server]) => [target, residentMb(server)]))
  try {
    const loadBefore = loadavg()[0] ?? 0
    const start = resident()
    const [rounds, count] = quick ? [2, 10] : [5, 20]
    const latency: CaseReport[] = []
    const throughput: CaseReport[] = []
    const onlyAt = process.argv.indexOf("--only")
    const only = onlyAt < 0 ? "" : (process.argv[onlyAt + 1] ?? "")
    for (const one of latencyCases.filter(({ name }) => name.includes(only))) {
      console.error(`  gateway: ${one.name}`)
      latency.push(await measure(fleet, one, rounds, count))
    }
    for (const one of throughputCases.filter(({ name }) => name.includes(only))) {
      console.error(`  gateway: ${one.name}`)
      throughput.push(await measure(fleet, one, Math.min(3, rounds), quick ? 10 : 40))
    }
    const end = resident()
    const faults: string[] = []
    for (const [target, server] of fleet.servers) {
      if (isOurs(target))
        faults.push(...(await askChild<Account>(server, {})).faults.map((fault) => `${target}: ${fault}`))
    }
    const conditions = {
      ...conditionsNow(),
      loadBefore,
      loadAfter: loadavg()[0] ?? 0,
      rounds,
      requestsInARound: count,
      smallWindow,
    }
    return {
      conditions,
      latency,
      throughput,
      memory: [...start].map(([target, startMb]) => ({ target, startMb, endMb: end.get(target) ?? Number.NaN })),
      installed: await installedSize(),
      faults,
    }
  } finally {
    await fleet.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

export { print } from "./gateway-print.ts"
