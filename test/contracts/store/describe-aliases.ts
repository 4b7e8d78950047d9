import { describe, expect, test } from "vitest"
import { pruneSessions } from "../../../src/store/prune.ts"
import type { Alias } from "../../../src/store/store.ts"
import type { OpenStore } from "./describe-store.ts"
import { batch, hardTexts } from "./example-rows.ts"

const clock = (): number => 5000

const named = (count: number, entry: string): readonly Alias[] =>
  Array.from({ length: count }, (_, at) => ({ name: `name ${at}`, entry }))

/** The contract of aliases, the names by which sessions are found. */
export function describeAliases(open: OpenStore): void {
  describe("aliases", () => {
    describeBearers(open)
    describeManyAliases(open)
    describeLostAliases(open)
    describeBadAliases(open)
  })
}

function describeBearers(open: OpenStore): void {
  test("lead to their session, with their entry if they have one, before it exists and after", async () => {
    const { store } = await open(clock)
    await store.putAliases("s", [{ name: "thread-1" }, { name: "mark", entry: "e12" }])
    const found = [
      { name: "mark", entry: "e12", session: "s" },
      { name: "thread-1", session: "s" },
    ]
    expect(await store.findAliases(["mark", "thread-1"])).toStrictEqual(found)
    expect(await store.sessions()).toEqual([])
    await store.append("s", batch(0, 1))
    expect(await store.findAliases(["mark", "thread-1"])).toStrictEqual(found)
  })

  test("are found in the order asked, each once, without those that nobody bears", async () => {
    const { store } = await open(clock)
    await store.putAliases("s", [{ name: "a" }, { name: "b" }, { name: "c" }])
    const names = (await store.findAliases(["c", "nobody", "a", "c", "A", "b "])).map(({ name }) => name)
    expect(names).toEqual(["c", "a"])
    expect(await store.findAliases([])).toEqual([])
    expect(await store.findAliases(["nobody"])).toEqual([])
  })

  test("belong to the last session said to bear them, as they were said last", async () => {
    const { store } = await open(clock)
    await store.putAliases("old", [{ name: "a", entry: "e1" }, { name: "b" }])
    await store.putAliases("new", [{ name: "a" }])
    expect(await store.findAliases(["a", "b"])).toStrictEqual([
      { name: "a", session: "new" },
      { name: "b", session: "old" },
    ])
    await store.putAliases("new", [{ name: "a", entry: "e2" }])
    await store.putAliases("new", [{ name: "a", entry: "e2" }])
    expect(await store.findAliases(["a"])).toStrictEqual([{ name: "a", entry: "e2", session: "new" }])
  })

  test("of which one call says a name twice: the last holds", async () => {
    const { store } = await open(clock)
    await store.putAliases("s", [{ name: "a", entry: "e1" }, { name: "b" }, { name: "a", entry: "e2" }])
    await store.putAliases("s", [{ name: "b", entry: "e3" }, { name: "b" }])
    expect(await store.findAliases(["a", "b"])).toStrictEqual([
      { name: "a", entry: "e2", session: "s" },
      { name: "b", session: "s" },
    ])
  })

  test("none at all is no fault", async () => {
    const { store } = await open(clock)
    await store.putAliases("s", [])
    expect(await store.remove("s")).toBe(false)
  })

  test("of hard texts come back verbatim and are told apart", async () => {
    const { store } = await open(clock)
    const texts = hardTexts.filter((text) => text !== "")
    for (const text of texts) await store.putAliases(text, [{ name: text, entry: text }])
    const found = texts.map((text) => ({ name: text, entry: text, session: text }))
    expect(await store.findAliases(texts)).toStrictEqual(found)
  })
}

function describeManyAliases(open: OpenStore): void {
  test("by the thousand are put and found at once", async () => {
    const { store } = await open(clock)
    const aliases = named(5000, "e1")
    await store.putAliases("s", aliases)
    const found = await store.findAliases(aliases.map(({ name }) => name))
    expect(found).toEqual(aliases.map((alias) => ({ ...alias, session: "s" })))
    await store.putAliases("t", aliases)
    expect(await store.remove("s")).toBe(false)
    expect(await store.findAliases(["name 0", "name 4999"])).toMatchObject([{ session: "t" }, { session: "t" }])
  })

  test("that many put at once, each in another order, fail nobody and go to one session whole", async () => {
    const { store } = await open(clock)
    const aliases = named(300, "e1")
    const names = aliases.map(({ name }) => name)
    const orders = [aliases, aliases.toReversed(), [...aliases.slice(150), ...aliases.slice(0, 150)]]
    const puts = Array.from({ length: 9 }, (_, at) => store.putAliases(`s${at}`, orders[at % 3] ?? aliases))
    await Promise.all([...puts, store.remove("s0"), store.remove("s1")])
    await store.putAliases("last", aliases.slice(0, 1))
    const bearers = new Set((await store.findAliases(names)).slice(1).map(({ session }) => session))
    expect(bearers.size).toBeLessThanOrEqual(1)
    expect(await store.findAliases(names.slice(0, 1))).toMatchObject([{ session: "last" }])
  })
}

function describeLostAliases(open: OpenStore): void {
  test("go with their session when it is removed, and only those that are still its own", async () => {
    const { store } = await open(clock)
    await store.putAliases("gone", [{ name: "a" }, { name: "b" }, { name: "c" }])
    await store.putAliases("stays", [{ name: "b" }, { name: "d" }])
    expect(await store.remove("gone")).toBe(true)
    expect((await store.findAliases(["a", "b", "c", "d"])).map(({ name }) => name)).toEqual(["b", "d"])
    expect(await store.remove("gone")).toBe(false)
    await store.vacuum()
    await store.putAliases("gone", [{ name: "a" }])
    expect(await store.findAliases(["a"])).toEqual([{ name: "a", session: "gone" }])
  })

  test("go with their session when it is pruned", async () => {
    let now = 1
    const { store } = await open(() => now)
    await store.append("old", batch(0, 1))
    now = 10
    await store.append("new", batch(0, 1))
    await store.putAliases("old", [{ name: "a" }])
    await store.putAliases("new", [{ name: "b" }])
    expect(await pruneSessions(store, { updatedBeforeMs: 10, now: () => 20 })).toEqual({ removed: 1 })
    expect(await store.findAliases(["a", "b"])).toEqual([{ name: "b", session: "new" }])
  })

  test("stay with a session that is copied, and are none of the copy's", async () => {
    const { store } = await open(clock)
    await store.append("from", batch(0, 1))
    await store.putAliases("from", [{ name: "a" }])
    await store.copy("from", "to", 1)
    expect(await store.findAliases(["a"])).toEqual([{ name: "a", session: "from" }])
    await store.remove("to")
    expect(await store.findAliases(["a"])).toEqual([{ name: "a", session: "from" }])
  })
}

function describeBadAliases(open: OpenStore): void {
  test("of 300 characters are kept, whatever characters they are", async () => {
    const { store } = await open(clock)
    const names = ["x", "\0", "\ud800", "東", "👩"].map((character) => character.repeat(300 / character.length))
    await store.putAliases(
      "s",
      names.map((name) => ({ name, entry: name })),
    )
    expect(await store.findAliases(names)).toEqual(names.map((name) => ({ name, entry: name, session: "s" })))
  })

  test.each(["", "x".repeat(301)])(
    "with a name or entry of no length or too much are refused whole (%#)",
    async (bad) => {
      const { store } = await open(clock)
      const refused = (option: string) => ({ problem: { code: "option-invalid", option } })
      await expect(store.putAliases("s", [{ name: "a" }, { name: bad }])).rejects.toMatchObject(refused("name"))
      await expect(store.putAliases("s", [{ name: "a", entry: bad }])).rejects.toMatchObject(refused("entry"))
      await expect(store.findAliases(["a", bad])).rejects.toMatchObject(refused("name"))
      expect(await store.findAliases(["a"])).toEqual([])
    },
  )

  test("more than anyone has are refused whole", async () => {
    const { store } = await open(clock)
    const refused = { problem: { code: "option-invalid", option: "aliases" } }
    const aliases = named(20_001, "e1")
    await expect(store.putAliases("s", aliases)).rejects.toMatchObject(refused)
    await expect(store.findAliases(aliases.map(({ name }) => name))).rejects.toMatchObject(refused)
    expect(await store.findAliases(["name 0"])).toEqual([])
  })
}
