import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { describePostgres } from "../support/postgres-suite.ts"
import { crashes, killRepeatedly } from "./live-and-die.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const kills = crashes(4)
/** Processes alternate between them, so that checking stays quick. */
const databases = 2

await describePostgres("a process that writes to PostgreSQL", (server) => {
  test(`is killed ${kills} times: everything acknowledged is there, and it goes on`, async ({ annotate }) => {
    const urls = await Promise.all(Array.from({ length: databases }, () => server.createDatabase()))
    const place = (life: number): string => urls[life % databases] ?? ""
    const died = await killRepeatedly({ kills, place, questions: join(folder, "questions") })
    await annotate(JSON.stringify(died))
    expect(died.killed).toBe(kills)
    expect(died.acknowledged).toBeGreaterThan(kills)
  }, 900_000)
})
