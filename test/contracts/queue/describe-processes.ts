import { type ChildProcess, fork } from "node:child_process"
import { afterEach, describe, expect, test, vi } from "vitest"
import { bundleProgram } from "../../support/programs.ts"
import type { Order, WorkerReport } from "./worker-process.ts"

/** Location of the jobs, as passed to a worker process. */
export type Place = {
  readonly kind: "sqlite" | "postgres" | "pg-boss"
  readonly place: string
  readonly leaseMs: number
  readonly stop: () => Promise<void>
}

type Worker = { readonly child: ChildProcess; readonly said: WorkerReport[]; readonly order: (order: Order) => void }

const file = await bundleProgram(new URL("worker-process.ts", import.meta.url))
const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
/** Key of the job during which a process is killed. */
const fatal = "k0"

const comes = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 90_000, interval: 10 })

const count = (workers: readonly Worker[], type: "started" | "done", key: string): number =>
  workers.flatMap(({ said }) => said).filter((told) => told.type === type && told.key === key).length

const has = ({ said }: Worker, type: WorkerReport["type"], key?: string): boolean =>
  said.some((told) => told.type === type && (key === undefined || ("key" in told && told.key === key)))

/** The contract of several processes sharing a queue, even if one of them fails. */
export function describeProcesses(name: string, create: () => Promise<Place>): void {
  describe(name, () => {
    const workers: Worker[] = []
    let place: Place | undefined
    /** Resolves once the worker is ready, and rejects at once if it cannot start. */
    const start = async (at: Place): Promise<void> => {
      const child = fork(file, [at.kind, at.place, String(at.leaseMs)], { execArgv: [] })
      const said: WorkerReport[] = []
      child.on("message", (told: WorkerReport) => said.push(told))
      workers.push({ child, said, order: (order) => void child.send(order) })
      const ready = Promise.withResolvers<void>()
      child.once("message", () => ready.resolve())
      child.once("exit", () => ready.reject(new Error("the worker ended before it was ready")))
      await ready.promise
    }
    afterEach(async () => {
      for (const { child } of workers.splice(0)) child.kill("SIGKILL")
      await place?.stop()
    })

    test("three at once do each job once, and a killed one's job is taken over after its lease", async () => {
      const at = await create()
      place = at
      await Promise.all([1, 2, 3].map(() => start(at)))
      await addAll(workers)
      for (const { order } of workers) order({ type: "work", concurrency: 2 })
      await comes(() => expect(count(workers, "started", fatal)).toBe(1))
      const victim = workers.find((worker) => has(worker, "started", fatal))
      const others = workers.filter((worker) => worker !== victim)
      victim?.child.kill("SIGKILL")
      for (const { order } of others) order({ type: "calm" })
      await comes(() => expect(keys.filter((key) => count(workers, "done", key) === 0)).toEqual([]))
      for (const { order } of others) order({ type: "close" })
      await comes(() => expect(others.every((worker) => has(worker, "closed"))).toBe(true))
      expect(count(others, "done", fatal)).toBe(1)
      const untouched = keys.filter((key) => victim === undefined || !has(victim, "started", key))
      expect(untouched.length).toBeGreaterThan(0)
      expect(untouched.filter((key) => count(workers, "started", key) !== 1)).toEqual([])
      expect(untouched.filter((key) => count(workers, "done", key) !== 1)).toEqual([])
    })
  })
}

/** Each worker adds a third of the jobs, and all three add the first ten, of which each is accepted from one worker only. */
async function addAll(workers: readonly Worker[]): Promise<void> {
  for (const [n, key] of keys.entries())
    for (const [w, { order }] of workers.entries())
      if (n < 10 || n % workers.length === w) order({ type: "add", key, payload: key === fatal ? '"wait"' : '"short"' })
  const answers = (key: string): readonly boolean[] =>
    workers.flatMap(({ said }) =>
      said.flatMap((told) => (told.type === "added" && told.key === key ? [told.added] : [])),
    )
  await comes(() => {
    for (const [n, key] of keys.entries()) expect(answers(key)).toHaveLength(n < 10 ? workers.length : 1)
  })
  for (const key of keys) expect(answers(key).filter(Boolean)).toHaveLength(1)
}
