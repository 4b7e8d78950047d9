import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions } from "../../test/fixtures/mcp/stored-sessions.ts"
import { fc, runs } from "../../test/support/property.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { SessionRow } from "../store/store.ts"
import { findSession, shortNames } from "./ask-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-search-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const data = join(folder, "filled.db")
const handles = await storeSessions(data)
const ask = (...argv: readonly string[]) => holdfast([...argv, "--data", data])
const askJson = async (...argv: readonly string[]) => JSON.parse((await ask(...argv, "--json")).stdout)

/** What would move a cursor or turn the reading direction. */
const acting = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

describe("search", () => {
  test("finds what was compacted away in every session, and says how to print it", async () => {
    const { exit, stdout } = await ask("search", '"Quay 64 of south"')
    expect(exit).toBe(0)
    expect(stdout).toContain("result of read_file")
    expect(stdout).toContain("Quay 64 of south, part")
    const [, session = "", entry = ""] = /holdfast recall (\S+) (e\d+) prints/.exec(stdout) ?? []
    expect(session).toBe("south")
    expect((await ask("recall", session, entry)).stdout).toContain("Quay 64 of south")
  })

  test("in one session only, with a limit, as data", async () => {
    const all = await askJson("search", "letter", "harbour", "master")
    expect(new Set(all.found.map(({ session }: { readonly session: string }) => session))).toEqual(
      new Set(["north", "south", "east"]),
    )
    const one = await askJson("search", "letter", "harbour", "master", "--session", "nor", "--limit", "1")
    expect(one).toMatchObject({ found: [{ session: "north", role: "user", kind: "text" }], sessions: 1, cut: false })
    expect(one.found).toHaveLength(1)
    expect(one.found[0].text).toContain("write the letter to the harbour master of north")
  })

  test("nothing in a text acts on the terminal", async () => {
    const { stdout } = await ask("search", "decided", "close")
    expect(stdout).toContain("quay 7")
    expect(stdout).not.toMatch(acting)
  })

  test("nothing found is no failure; what cannot be meant is one", async () => {
    expect(await ask("search", "zeppelin")).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("Nothing was found in 3 sessions"),
    })
    expect(await ask("search")).toMatchObject({ exit: 2, stderr: expect.stringContaining("what to search for") })
    expect(await ask("search", "quay", "--session", "west")).toMatchObject({ exit: 1 })
    expect(await ask("search", "quay", "--limit", "0")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--limit"),
    })
  })
})

describe("recall", () => {
  test("a handle gives back the result that was shortened, whole, and nothing else on stdout", async () => {
    const handle = handles.get("north") ?? ""
    const { exit, stdout, stderr } = await ask("recall", "north", handle)
    expect(exit).toBe(0)
    expect(stdout.trimEnd().split("\n")).toHaveLength(120)
    expect(stdout).toMatch(/^Quay 0 of north, part \d, is 300 metres\.\n/)
    expect(stderr).toMatch(/^holdfast: e\d+, tool, 120 lines\n$/)
    const other = await ask("recall", "south", handle)
    expect(other).toMatchObject({ exit: 1, stdout: "" })
  })

  test("an entry, and lines or excerpts of it", async () => {
    const { found } = await askJson("search", '"Quay 64 of north"', "--session", "north", "--limit", "1")
    const [{ entry }] = found
    expect((await ask("recall", "@last", entry)).exit).toBe(0)
    const some = await ask("recall", "north", entry, "--lines", "65-66")
    expect(some.stdout).toMatch(/^Quay 64 of north.*\nQuay 65 of north.*\n$/)
    expect(some.stderr).toContain("lines 65-66 of 120")
    expect(await askJson("recall", "north", entry, "--lines", "119-")).toMatchObject({
      ...{ session: "north", entry, fromLine: 119, toLine: 120, lines: 120 },
    })
    expect((await ask("recall", "north", entry, "--find", "364 metres")).stdout).toContain("Quay 64")
  })

  test.each([
    [["recall"], 2, "which session"],
    [["recall", "north"], 2, "what to recall"],
    [["recall", "north", "e9999"], 1, "e9999"],
    [["recall", "north", "hf-12-0123456789abcdef0123"], 1, "hf-12"],
    [["recall", "north", "e2", "--lines", "9-3"], 2, "--lines"],
    [["recall", "north", "e2", "--lines", "first"], 2, "--lines"],
  ])("%j is refused with what to do", async (argv, exit, words) => {
    expect(await ask(...argv)).toMatchObject({ exit, stdout: "", stderr: expect.stringContaining(words) })
  })
})

const screens = [
  ["sessions", "list"],
  ["sessions", "show", "north"],
  ["sessions", "show", "north", "--compaction", "last"],
  ["sessions", "show", "north", "--log"],
  ["rules", "north"],
  ["search", "quay", "closed", "May"],
  ["status"],
]

test.each(screens)("holdfast %s %s %s %s %s fits terminals of 80 and 120 columns", async (...words) => {
  const argv = words.filter((word) => word !== undefined)
  for (const columns of [80, 120]) {
    const { exit, stdout } = await holdfast([...argv, "--data", data], { columns })
    expect(exit).toBe(0)
    const lines = stdout.trimEnd().split("\n")
    expect(lines.length).toBeGreaterThan(1)
    expect(lines.filter(({ length }) => length > columns)).toEqual([])
  }
})

test("a table on a terminal gives way in the column that may, and is whole in a pipe", async () => {
  const narrow = await holdfast(["sessions", "list", "--data", data], { columns: 60 })
  const piped = await holdfast(["sessions", "list", "--data", data])
  expect(narrow.stdout).toContain("…")
  expect(piped.stdout).toContain("Read the plan of north")
  for (const name of ["north", "south", "east"])
    for (const { stdout } of [narrow, piped]) expect(stdout).toMatch(new RegExp(` ${name}\n`))
})

test("the short name of any session finds that session", async () => {
  const letters = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom("a", "b", "-", ".") })
  const id = fc
    .tuple(
      fc.constantFrom("", "k3f9.", "k3f9.~", "aa."),
      letters,
      fc.constantFrom("", "~side-1", "~agent-ab", "~tools"),
    )
    .map((parts) => parts.join(""))
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(id, { minLength: 1, maxLength: 12 }), async (ids) => {
      const rows = ids.map((name, n): SessionRow => {
        const times = { createdMs: n, updatedMs: n }
        return { id: name, tenant: "", agent: "", head: { seq: 1, hash: "" }, ...times }
      })
      const byId = new Map(rows.map((row) => [row.id, row]))
      const store = {
        ...createMemoryStore(),
        session: async (one: string) => byId.get(one),
        sessions: async () => rows,
      }
      const nameOf = shortNames(rows)
      for (const row of rows) expect(await findSession(store, nameOf(row.id)), nameOf(row.id)).toBe(row)
    }),
    { numRuns: runs },
  )
})
