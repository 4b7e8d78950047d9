import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describeProcesses } from "../../../test/contracts/queue/describe-processes.ts"
import { describePostgres } from "../../../test/support/postgres-suite.ts"

describeProcesses("processes on one SQLite file", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-queue-"))
  const stop = (): Promise<void> => rm(directory, { recursive: true, force: true })
  return { kind: "sqlite", place: join(directory, "jobs.sqlite"), leaseMs: 3_000, stop }
})

await describePostgres("processes on one PostgreSQL", (server) => {
  const create = (kind: "postgres" | "pg-boss") => async () => ({
    kind,
    place: await server.createDatabase(),
    leaseMs: 3_000,
    stop: async () => {},
  })
  describeProcesses("over the jobs of the store", create("postgres"))
  describeProcesses("over pg-boss", create("pg-boss"))
})
