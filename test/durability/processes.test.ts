import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { describePostgres } from "../support/postgres-suite.ts"
import { isLongRun } from "../support/property.ts"
import { serveTogether } from "./serve-together.ts"

/** Enough turns for the checkpoints that are expected below. */
const turnsOfTwo = isLongRun ? 40 : 24
const turnsOfFour = isLongRun ? 40 : 20

const folder = mkdtempSync(join(tmpdir(), "holdfast-together-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("two processes on one SQLite file serve the same sessions: nothing is lost, doubled or asked twice", async ({
  annotate,
}) => {
  const place = join(folder, "shared.db")
  const served = await serveTogether({ place, processes: 2, turns: turnsOfTwo, questions: join(folder, "sqlite") })
  await annotate(JSON.stringify(served))
  expect(served.checkpoints).toBeGreaterThan(4)
  expect(served.stored).toBeGreaterThan(0)
}, 300_000)

await describePostgres("four processes on one PostgreSQL", (server) => {
  test("serve the same sessions: nothing is lost, doubled or asked twice", async ({ annotate }) => {
    const place = await server.createDatabase()
    const served = await serveTogether({ place, processes: 4, turns: turnsOfFour, questions: join(folder, "postgres") })
    await annotate(JSON.stringify(served))
    expect(served.checkpoints).toBeGreaterThan(8)
    expect(served.stored).toBeGreaterThan(0)
  }, 300_000)
})
