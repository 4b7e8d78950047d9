import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, test } from "vitest"
import { crashes, killRepeatedly } from "./live-and-die.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Processes per file: a fresh file every so often, so that its creation is interrupted too and checking stays quick. */
const livesInFile = 3
const kills = crashes(6)
const place = (life: number): string => join(folder, `${Math.floor(life / livesInFile)}.db`)

test(`a process that writes to an SQLite file is killed ${kills} times: everything acknowledged is there, and it goes on`, async ({
  annotate,
}) => {
  const died = await killRepeatedly({ kills, place, questions: join(folder, "questions") })
  await annotate(JSON.stringify(died))
  expect(died.killed).toBe(kills)
  expect(died.acknowledged).toBeGreaterThan(kills)
}, 900_000)
