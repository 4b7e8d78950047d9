import { describe, expect, test } from "vitest"
import { fillStore, writtenMs } from "../../test/fixtures/mcp/stored-sessions.ts"
import { HoldfastError } from "../message/errors.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createMcpSource, type McpScope } from "./source.ts"

const store = createMemoryStore()
const handles = await fillStore(store)
const handleOf = (session: string): string => handles.get(session) ?? ""

const sourceOf = (scope: McpScope) => createMcpSource(scope, async () => store)
const problem = (code: string) => ({ problem: { code } })

describe("a session", () => {
  const source = sourceOf({ session: "north" })

  test("gives back what its handles stand for, whole or in part", async () => {
    const { text, lines, channel, entry } = await source.recall(handleOf("north"), { fromLine: 3, toLine: 4 })
    expect(text).toMatch(/^Quay 2 of north, part \d, is 302 metres\.\nQuay 3 of north/)
    expect({ lines, channel, entry }).toEqual({ lines: 120, channel: "tool", entry: expect.stringMatching(/^e\d+$/) })
  })

  test("is searched alone, and its pins are told", async () => {
    const hits = await source.search({ text: "quay 7" })
    expect(hits.length).toBeGreaterThan(0)
    expect(new Set(hits.map(({ session }) => session))).toEqual(new Set(["north"]))
    expect(await source.search({ text: "quay 7", session: "north" })).toEqual(hits)
    const pin = { id: "e2", text: expect.stringContaining("Never close quay 4 of north."), channel: "user" }
    expect(await source.pins()).toEqual([pin])
  })

  test("lists its compactions, each with its trace", async () => {
    const [listed, ...others] = await source.traces(10)
    expect(others).toEqual([])
    expect(listed).toEqual({
      id: expect.stringMatching(/^e\d+$/),
      title: expect.stringMatching(/^summary: 1\dk -> \d{4} tokens$/),
      atMs: writtenMs,
    })
    const trace: unknown = JSON.parse((await source.trace(listed?.id ?? "")) ?? "")
    expect(trace).toContainEqual(expect.objectContaining({ type: "messages-dropped" }))
    expect(await source.traces(0)).toEqual([])
  })

  test.each(["e1", "e3", "e999", "", "checkpoint", "../e22"])("has no trace %j", async (id) => {
    expect(await source.trace(id)).toBeUndefined()
  })

  test("tells what its agent remembers only where whoever started the server said so", async () => {
    const wide = sourceOf({ session: "north", memory: "agent" })
    const sessions = (await wide.search({ text: "quay 7" })).map(({ session }) => session)
    expect(new Set(sessions)).toEqual(new Set(["north", "south"]))
    expect(await wide.search({ text: "quay 7", session: "east" })).toEqual([])
  })
})

describe("an agent", () => {
  const source = sourceOf({ agent: "harbour" })

  test.each(["north", "south"])(
    "gives back what a handle of its session %s stands for, with and without its name",
    async (id) => {
      const { text } = await source.recall(handleOf(id))
      expect(text).toContain(`of ${id}, part`)
      expect(await source.recall(`${id}/${handleOf(id)}`)).toMatchObject({ text })
    },
  )

  test("is searched whole, or one of its sessions", async () => {
    const sessions = async (session?: string) =>
      new Set((await source.search({ text: "quay 7", ...(session && { session }) })).map((hit) => hit.session))
    expect(await sessions()).toEqual(new Set(["north", "south"]))
    expect(await sessions("south")).toEqual(new Set(["south"]))
  })

  test("has neither pins nor traces of its own", async () => {
    expect([await source.pins(), await source.traces(9), await source.trace("e22")]).toEqual([[], [], undefined])
  })
})

describe("what is outside the scope is never read", () => {
  const scopes: readonly (readonly [
    why: string,
    scope: McpScope,
    others: readonly string[],
    seen: readonly string[],
  ])[] = [
    ["a session", { session: "north" }, ["south", "east"], ["north"]],
    ["a session with its agent's memory", { session: "north", memory: "agent" }, ["south", "east"], ["north", "south"]],
    ["an agent", { agent: "harbour" }, ["east"], ["north", "south"]],
    ["an agent that has nothing", { agent: "nobody" }, ["north", "south", "east"], []],
    ["a session that has nothing", { session: "nobody" }, ["north", "south", "east"], []],
  ]
  test.each(scopes)("by a handle: %s", async (_why, scope, others) => {
    const source = sourceOf(scope)
    for (const other of others) {
      const handle = handleOf(other)
      expect(handle).toMatch(/^hf-/)
      for (const written of [handle, `${other}/${handle}`, `north/${handle}`, `/${handle}`, `${other}//${handle}`])
        await expect(source.recall(written)).rejects.toMatchObject(problem("handle-unknown"))
    }
  })

  test.each(scopes)("by a search: %s", async (_why, scope, _others, seen) => {
    const source = sourceOf(scope)
    for (const session of [undefined, "north", "south", "east", "nobody"]) {
      const hits = await source.search({ text: "quay", ...(session && { session }) }).catch((error: unknown) => {
        expect(error).toMatchObject(problem("request-invalid"))
        return []
      })
      for (const hit of hits) expect(seen).toContain(hit.session)
    }
  })

  test("a handle that was made up for the right entry is none", async () => {
    const made = handleOf("north").replace(/.$/, (digit) => (digit === "0" ? "1" : "0"))
    for (const scope of [{ session: "north" }, { agent: "harbour" }])
      await expect(sourceOf(scope).recall(made)).rejects.toMatchObject(problem("handle-unknown"))
  })

  test.each([{ session: "" }, { session: "two words" }, { agent: "" }])("%j is nobody", (scope) => {
    expect(() => sourceOf(scope)).toThrow(HoldfastError)
  })
})

test("a store that is made later, or that is away for a while, is found when it is there", async () => {
  const away = new HoldfastError({ code: "store-unavailable", store: "sqlite", reason: "away" })
  let now: Store | undefined
  const source = createMcpSource({ session: "north" }, async () => now ?? Promise.reject(away))
  await expect(source.pins()).rejects.toBe(away)
  now = store
  expect(await source.pins()).toHaveLength(1)
  now = { ...store, head: () => Promise.reject(away) }
  await expect(source.recall(handleOf("north"))).rejects.toBe(away)
})

test("asking writes nothing, not even of a session that nobody knows", async () => {
  const before = await store.sessions()
  const source = sourceOf({ session: "new" })
  await source.recall("hf-1-00000000000000000000").catch(() => {})
  expect([await source.pins(), await source.traces(5), await source.search({ text: "quay" })]).toEqual([[], [], []])
  expect(await store.sessions()).toEqual(before)
})

test("a pin that comes while the server runs is told at the next question", async () => {
  const own = createMemoryStore()
  const source = createMcpSource({ session: "s" }, async () => own)
  expect(await source.pins()).toEqual([])
  await createHoldfast({ store: own }).session("s").pin("Always greet.")
  expect(await source.pins()).toMatchObject([{ text: "Always greet." }])
})
