import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { holdfast } from "../../test/fixtures/cli/command-line.ts"
import { storeSessions } from "../../test/fixtures/mcp/stored-sessions.ts"
import { createMemory } from "../session/memory/memory.ts"
import { openStore } from "../store/open-store.ts"

const folder = mkdtempSync(join(tmpdir(), "holdfast-memory-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const data = join(folder, "filled.db")
await storeSessions(data)

const memory = (...argv: readonly string[]) => holdfast(["memory", ...argv, "--data", data])
const harbour = (...argv: readonly string[]) => memory(...argv, "--agent", "harbour")

const sessionsIn = (stdout: string): ReadonlySet<string> =>
  new Set(JSON.parse(stdout).hits.map(({ session }: { readonly session: string }) => session))

const acting = /(?!\n)[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

describe("search", () => {
  test("finds what has all words, of the agent that was named, and prints nothing that acts on a terminal", async () => {
    const { exit, stdout } = await harbour("search", "close", "quay", "7")
    expect(exit).toBe(0)
    expect(stdout).toContain("We decided to close quay 7 of north in May.")
    expect(stdout).toContain("request")
    expect(stdout).not.toContain("of east")
    expect(stdout).not.toMatch(acting)
    expect((await harbour("search", "zeppelin")).stdout).toContain("Nothing was found")
  })

  test("narrows by session, kind, day and number", async () => {
    expect(sessionsIn((await harbour("search", "decided", "--json")).stdout)).toEqual(new Set(["north", "south"]))
    expect(sessionsIn((await harbour("search", "quay", "--session", "south", "--json")).stdout)).toEqual(
      new Set(["south"]),
    )
    expect(sessionsIn((await harbour("search", "quay", "--session", "east", "--json")).stdout)).toEqual(new Set())
    expect(JSON.parse((await harbour("search", "--limit", "3", "--json")).stdout).hits).toHaveLength(3)
    expect((await harbour("search", "quay", "--from", "2026-11-16")).stdout).toContain("Nothing was found")
    expect((await harbour("search", "quay", "--to", "2026-11-14")).stdout).toContain("Nothing was found")
    const { hits } = JSON.parse(
      (await harbour("search", "--kind", "request", "--from", "2026-11-15", "--to", "2026-11-15", "--json")).stdout,
    )
    expect(hits.length).toBeGreaterThan(0)
    for (const { kind } of hits) expect(kind).toBe("request")
  })

  test("says of a line that nobody who may instruct said that it is unverified", async () => {
    expect((await harbour("search", "--kind", "path")).stdout).toMatch(/unverified, from (?:tool|assistant)/)
  })

  test("asks the memory of the tenant that was named, or of the only one that the agent has", async () => {
    const place = join(folder, "tenants.db")
    const store = await openStore(place)
    const written = async (tenant: string): Promise<void> => {
      const session = `${tenant}.talk`
      const entry = { seq: 1, hash: "h", type: "session-opened", atMs: 1, body: "{}" }
      await store.append(session, { after: 0, entries: [entry], tenant, agent: "clerk" })
      const memory = createMemory({ store: store.memory, tenant, agent: "clerk" })
      const said = { kind: "wish", sources: [], channel: "user", trusted: true } as const
      await memory.remember(session, [{ ...said, text: `the mast of ${tenant} is blue` }])
    }
    const ask = (...argv: readonly string[]) => holdfast(["memory", "search", "mast", "--data", place, ...argv])
    await written("north")
    expect((await ask()).stdout).toContain("mast of north")
    await written("south")
    expect((await ask()).stderr).toContain("--tenant")
    const { stdout } = await ask("--tenant", "south")
    expect(stdout).toContain("mast of south")
    expect(stdout).not.toContain("mast of north")
    await store.close()
  })

  const misused: readonly (readonly [why: string, argv: readonly string[], words: string])[] = [
    ["a day that is none", ["search", "x", "--from", "yesterday"], "--from"],
    ["a day that no calendar has", ["search", "x", "--to", "2026-02-30"], "--to"],
    [
      "an end before its beginning",
      ["search", "x", "--from", "2026-11-15", "--to", "2026-11-14"],
      "2026-11-15 or later",
    ],
    ["too many lines", ["search", "x", "--limit", "100000"], "--limit"],
    ["a page for a question", ["search", "x ".repeat(1000)], "1000 characters"],
    ["no day", ["day"], "not said which day"],
    ["a word for a day", ["day", "today"], "2026-11-15"],
  ]
  test.each(misused)("%s cannot be meant", async (_why, argv, words) => {
    const { exit, stdout, stderr } = await harbour(...argv)
    expect({ exit, stdout, stderr }).toEqual({ exit: 2, stdout: "", stderr: expect.stringContaining(words) })
  })
})

describe("whose memory", () => {
  test("has to be said where there are several agents", async () => {
    const { exit, stderr } = await memory("search", "quay")
    expect(exit).toBe(2)
    expect(stderr).toMatch(/The store has 2 agents: (harbour, mill|mill, harbour)\./)
  })

  test("is that of the only one where there is one, and nobody's where there is none", async () => {
    const only = join(folder, "only.db")
    await storeSessions(only)
    for (const id of ["north", "south"]) await holdfast(["sessions", "delete", id, "--yes", "--data", only])
    const { stdout } = await holdfast(["memory", "search", "quay", "--json", "--data", only])
    expect(JSON.parse(stdout)).toMatchObject({ agent: "mill" })
    const empty = join(folder, "empty.db")
    await (await openStore(empty)).close()
    expect(await holdfast(["memory", "days", "--data", empty])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("--agent NAME"),
    })
  })
})

describe("days", () => {
  test("are listed, and each can be read", async () => {
    expect((await harbour("days")).stdout).toMatch(/^DAY {9}LINES\n2026-11-15 {2}\d+\n$/)
    const { exit, stdout } = await harbour("day", "2026-11-15")
    expect(exit).toBe(0)
    expect(stdout).toMatch(/^# 2026-11-15\n/)
    expect(stdout).toContain("## Session north")
    expect(stdout).not.toMatch(acting)
    expect((await memory("days", "--agent", "nobody")).stdout).toContain("has written nothing down")
  })

  test("one without anything is told, with how to find another", async () => {
    expect(await harbour("day", "2026-11-14")).toMatchObject({
      exit: 1,
      stdout: "",
      stderr: expect.stringContaining("memory days"),
    })
  })
})
