import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, expect, test } from "vitest"
import { describeOwnPostgres } from "../support/postgres-suite.ts"
import { isLongRun } from "../support/property.ts"
import { checkSession, continueSession } from "./check-session.ts"
import { marksIn } from "./marked-turn.ts"
import { openDurable } from "./open-durable.ts"
import { startWorker, type Worker } from "./start-worker.ts"
import type { WorkerReport } from "./told.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-restart-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One session that all workers write to, and a separate one for each. */
const shared = "day-all"
const own = (worker: number): string => `day-${worker}`

/** Longer than a store retries: what is written then waits in memory. */
const longOutageMs = 7000

/** Outages take time, and turns during one are all alike: without a pause, three processes would write all through it. */
const pauseMs = isLongRun ? 0 : 120

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/**
 * Simulates a machine failure: a PostgreSQL server that loses one of its processes to SIGKILL ends all others, and recovers from its log.
 */
async function crashServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on("error", () => {})
  await client.connect()
  const { rows } = await client.query("select pg_backend_pid() as pid")
  process.kill(Number(rows[0]?.pid), "SIGKILL")
  await client.end().catch(() => {})
}

/** Returns the marks of everything that a worker reports as written, durable at that moment or not. */
const writtenBy = ({ told }: Worker, session: string): readonly string[] =>
  told().flatMap((line) =>
    line.type === "written" && line.session === session
      ? line.entries.flatMap(({ wire }) => marksIn(wire).slice(0, 1))
      : [],
  )

const continues = async (workers: readonly Worker[]): Promise<void> => {
  await Promise.all(
    workers.map(async (worker) => {
      const from = worker.told().length
      await worker.until(
        (told) => told.slice(from).filter((line) => line.type === "written" && line.durable).length > 5,
      )
    }),
  )
}

await describeOwnPostgres("a PostgreSQL that goes away under processes that work", (server) => {
  test.skipIf(server.restart === undefined)(
    "and comes back: they go on by themselves, nothing acknowledged is lost, and what waited is written once",
    async ({ annotate }) => {
      const url = await server.createDatabase()
      const questions = join(folder, "questions")
      const workers = [0, 1, 2].map((n) =>
        startWorker({ place: url, name: `w${n}`, sessions: [shared, own(n)], pauseMs, questions }),
      )
      for (const worker of workers) await worker.until((told) => told.length > 0)
      for (const worker of workers) worker.go()
      await continues(workers)
      await server.restart?.()
      await continues(workers)
      await crashServer(url)
      await continues(workers)
      await server.restart?.(() => sleep(longOutageMs))
      await continues(workers)
      await crashServer(url)
      await continues(workers)
      for (const worker of workers) worker.end()
      for (const worker of workers) expect(await worker.ended).toBe(0)
      const told: readonly WorkerReport[] = workers.flatMap((worker) => worker.told())
      const holdfast = openDurable(url)
      for (const session of [shared, own(0), own(1), own(2)]) {
        const history = await checkSession(holdfast, session, told)
        const said = new Set(history.flatMap(({ message }) => marksIn(message?.wire ?? "").slice(0, 1)))
        const promised = workers.flatMap((worker) => writtenBy(worker, session))
        expect(promised.filter((mark) => !said.has(mark))).toEqual([])
        const aside = history
          .filter(({ onBranch }) => onBranch === false)
          .flatMap(({ message }) => marksIn(message?.wire ?? ""))
        expect(aside).toEqual([])
        await continueSession(holdfast.session(session), `after.${session}`)
      }
      await holdfast.close()
      expect(told.flatMap((line) => (line.type === "prepared" && line.objection !== undefined ? [line] : []))).toEqual(
        [],
      )
      await annotate(JSON.stringify(figures(told)))
    },
    300_000,
  )
})

function figures(told: readonly WorkerReport[]): object {
  const written = told.filter((line) => line.type === "written")
  return {
    written: written.reduce((sum, { entries }) => sum + entries.length, 0),
    inMemory: written.filter(({ durable }) => !durable).length,
    prepared: told.filter(({ type }) => type === "prepared").length,
    refused: told.filter(({ type }) => type === "refused").length,
  }
}
