import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { main } from "../../test/support/programs.ts"
import { isLongRun } from "../../test/support/property.ts"
import { nobody } from "../../test/support/serve-process.ts"
import { openStore } from "../store/open-store.ts"

const root = mkdtempSync(join(tmpdir(), "holdfast-unusable-"))

/** Compiled modules for the user who may not write to those of the other tests. */
const compiled = join(root, "compiled")

type Ended = { readonly exit: number | null; readonly said: string }

async function holdfast(argv: readonly string[], place: string): Promise<Ended> {
  const child = spawn(process.execPath, [main, ...argv, "--data", place], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", NODE_NO_WARNINGS: "1", NODE_COMPILE_CACHE: compiled },
    timeout: 50_000,
    killSignal: "SIGKILL",
    ...nobody,
  })
  const { promise, resolve } = Promise.withResolvers<Ended>()
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (said += data.toString()))
  child.on("error", (error) => resolve({ exit: null, said: `not started: ${error.message}` }))
  child.on("close", (exit) => resolve({ exit, said }))
  return await promise
}

const serve = ["serve", "--port", "0"]
const list = ["sessions", "list"]
const doctor = ["doctor"]

/** May that user run the program at all? Not where the project lies in a folder of root's own. */
let canRun = false
const inside = (name: string): string => join(root, name)

beforeAll(async () => {
  chmodSync(root, 0o755)
  mkdirSync(compiled)
  chmodSync(compiled, 0o777)
  canRun = (await holdfast(["sessions", "--help"], root)).exit === 0
  for (const name of ["readable", "full-of-rights"]) mkdirSync(inside(name))
  for (const name of ["stored", "locked-folder"]) await (await openStore(join(inside(name), "holdfast.db"))).close()
  chmodSync(join(inside("stored"), "holdfast.db"), 0o444)
  chmodSync(join(inside("locked-folder"), "holdfast.db"), 0o666)
  for (const name of ["readable", "stored", "locked-folder"]) chmodSync(inside(name), 0o555)
  writeFileSync(inside("file"), "A list of things to buy.\n")
  chmodSync(inside("file"), 0o666)
}, 60_000)
afterAll(() => {
  for (const name of ["readable", "stored", "locked-folder"]) chmodSync(inside(name), 0o755)
  rmSync(root, { recursive: true })
})

const denied = /permission denied \(EACCES\)/
type Case = readonly [
  what: string,
  place: string,
  path: string,
  cause: RegExp,
  commands: readonly (readonly string[])[],
]
const cases: readonly Case[] = [
  ["a folder without the right to write", inside("readable"), inside("readable"), denied, [serve, doctor]],
  ["a folder below one", inside("readable/below"), inside("readable"), denied, [serve]],
  ["a store without the right to write", inside("stored"), inside("stored/holdfast.db"), denied, [serve, list]],
  ["a store in such a folder", inside("locked-folder"), inside("locked-folder"), denied, [serve, list, doctor]],
  [
    "a file in place of a folder",
    inside("file/below"),
    inside("file"),
    /where a folder is needed/,
    [serve, list, doctor],
  ],
  ["a device", "/dev/full", "/dev/full", /where a file is needed/, [serve, list, doctor]],
  [
    "a folder of the system's own",
    "/proc/holdfast-data",
    "/proc",
    /cannot be created|permission denied/,
    [serve, doctor],
  ],
]

/** The everyday run tries one command on each place, all of them in turn. */
const tried = cases.map(([what, place, path, cause, commands], n): Case => {
  const some = isLongRun ? commands : commands.slice(n % commands.length).slice(0, 1)
  return [what, place, path, cause, some]
})

describe.skipIf(process.platform === "win32")(
  "a store's place that cannot be used is told with its path and its cause",
  () => {
    test.for(tried)("%s", { timeout: 60_000 }, async ([what, place, path, cause, commands], { skip }) => {
      skip(!canRun, "nobody may not read this folder")
      if (what.includes("system's") && process.platform !== "linux") return
      const ended = await Promise.all(commands.map((argv) => holdfast(argv, place)))
      for (const { exit, said } of ended) {
        expect({ exit, said }).toEqual({ exit: 1, said: expect.stringContaining(path) })
        expect(said).toMatch(cause)
        expect(said).not.toMatch(/is running|fault of holdfast/)
      }
    })

    test("a store that another program has locked", { timeout: 60_000 }, async ({ skip }) => {
      skip(!canRun, "nobody may not read this folder")
      const path = join(inside("full-of-rights"), "holdfast.db")
      await (await openStore(path)).close()
      chmodSync(inside("full-of-rights"), 0o777)
      chmodSync(path, 0o666)
      const other = new DatabaseSync(path)
      other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE held (a)")
      const ended = await Promise.all([serve, list].map((argv) => holdfast(argv, path)))
      other.exec("ROLLBACK")
      other.close()
      for (const { exit, said } of ended) {
        expect(exit).toBe(1)
        expect(said).toContain(`The store at ${path} was locked by another program`)
      }
    })
  },
)
