import { describe, expect, test } from "vitest"
import type { MemoryQuery, Store } from "../../../src/store/store.ts"
import type { OpenStore } from "./describe-store.ts"
import { clerk, hardTexts, row } from "./example-rows.ts"

const clock = (): number => 5000

/** The contract of memory rows: written once, filtered, superseded, counted. */
export function describeMemory(open: OpenStore): void {
  describe("memory", () => {
    describeWriting(open)
    describeCounts(open)
    describeFilters(open)
    describeSuperseding(open)
    describeOrder(open)
  })
}

function describeWriting(open: OpenStore): void {
  test("a row comes back as it was written, with every field and without those that it lacks", async () => {
    const { store } = await open(clock)
    const full = row(1, "the cap is 800", { subject: "cap", sources: ["e1", "e2"], trusted: false, channel: "tool" })
    const bare = row(2, "nothing more", { sources: [] })
    await store.memory.write([full, bare])
    expect(await store.memory.get(clerk, ["m1"])).toEqual([full])
    expect(await store.memory.get(clerk, ["m2"])).toEqual([bare])
    const both = await store.memory.get(clerk, ["m2", "m1", "m1", "unknown"])
    expect(both.map(({ id }) => id).toSorted()).toEqual(["m1", "m2"])
    expect(await store.memory.get({ tenant: "", agent: "coder" }, ["m1"])).toEqual([])
    expect(await store.memory.get(clerk, [])).toEqual([])
    await store.memory.write([])
  })

  test("writing a row again changes nothing, not even whether it was superseded", async () => {
    const { store } = await open(clock)
    await store.memory.write([row(1, "first"), row(1, "twice in one go")])
    await store.memory.supersede("s", ["m1"], "m2")
    await store.memory.write([row(1, "second")])
    expect(await store.memory.get(clerk, ["m1"])).toEqual([row(1, "first", { supersededBy: "m2" })])
    expect(await store.memory.search({ ...clerk, text: "second", withSuperseded: true })).toEqual([])
    expect(await store.memory.days(clerk)).toEqual([{ day: "2026-11-15", rows: 1 }])
  })

  test("the same id in another session is another row", async () => {
    const { store } = await open(clock)
    await store.memory.write([row(1, "mine"), row(1, "theirs", { session: "t" })])
    expect(await found(store, { session: "t" })).toEqual(["m1"])
    await store.remove("t")
    expect(await store.memory.get(clerk, ["m1"])).toEqual([row(1, "mine")])
    expect((await store.holdings("s")).memory).toEqual([{ ...clerk, id: "m1" }])
  })

  test("texts come back verbatim", async () => {
    const { store } = await open(clock)
    const rows = hardTexts.map((text, at) =>
      row(at, text, { id: `${at}${text}`, subject: text, kind: text, channel: text, sources: [text] }),
    )
    await store.memory.write(rows)
    for (const one of rows) expect(await store.memory.get(clerk, [one.id])).toEqual([one])
    const hits = await store.memory.search({ ...clerk })
    expect(hits.map(({ row }) => row)).toEqual(rows.toReversed())
  })

  test("a text of megabytes is kept whole and found by its beginning", async () => {
    const { store } = await open(clock)
    const long = row(1, `needle ${"hay stack ".repeat(300_000)}${"x".repeat(1_000_000)}`)
    await store.memory.write([long])
    expect(await store.memory.search({ ...clerk, text: "needle" })).toMatchObject([{ row: { id: "m1" } }])
    expect(await store.memory.get(clerk, ["m1"])).toEqual([long])
  })
}

function describeCounts(open: OpenStore): void {
  test("days are counted for each tenant's agent, newest first", async () => {
    const { store } = await open(clock)
    await store.memory.write([
      row(1, "a", { day: "2026-11-13" }),
      row(2, "b", { day: "2026-11-15" }),
      row(3, "c", { day: "2026-11-13", session: "t" }),
      row(4, "d", { day: "2026-11-14", agent: "coder" }),
      row(5, "e", { day: "2026-11-12", tenant: "north", session: "north.s" }),
    ])
    await store.memory.supersede("s", ["m1"], "m2")
    expect(await store.memory.days(clerk)).toEqual([
      { day: "2026-11-15", rows: 1 },
      { day: "2026-11-13", rows: 2 },
    ])
    expect(await store.memory.days({ ...clerk, tenant: "north" })).toEqual([{ day: "2026-11-12", rows: 1 }])
    expect(await store.memory.get(clerk, ["m4", "m5"])).toEqual([])
    expect(await store.memory.get({ ...clerk, tenant: "north" }, ["m1", "m5"])).toMatchObject([{ id: "m5" }])
    expect((await store.holdings("north.s")).memory).toEqual([{ ...clerk, tenant: "north", id: "m5" }])
    expect(await store.memory.days({ tenant: "", agent: "nobody" })).toEqual([])
  })

  test("rows of a day are counted for the agent and for one of its sessions, data apart", async () => {
    const { store } = await open(clock)
    await store.memory.write([
      row(1, "a"),
      row(2, "b", { trusted: false }),
      row(3, "c", { trusted: false, session: "t" }),
      row(4, "d", { supersededBy: "m1" }),
      row(5, "e", { day: "2026-11-14" }),
      row(6, "f", { agent: "coder" }),
      row(7, "g", { tenant: "north", session: "north.s" }),
    ])
    const count = (session: string, day = "2026-11-15") => store.memory.counts(clerk, session, day)
    expect(await count("s")).toEqual({ agent: { rows: 4, data: 2 }, session: { rows: 3, data: 1 } })
    expect(await count("t")).toEqual({ agent: { rows: 4, data: 2 }, session: { rows: 1, data: 1 } })
    expect(await count("s", "2026-11-14")).toEqual({ agent: { rows: 1, data: 0 }, session: { rows: 1, data: 0 } })
    expect(await count("s", "2026-11-13")).toEqual({ agent: { rows: 0, data: 0 }, session: { rows: 0, data: 0 } })
  })
}

function describeFilters(open: OpenStore): void {
  const rows = [
    row(1, "refund of order one", { kind: "fact", day: "2026-11-11" }),
    row(2, "refund of order two", { kind: "decision", day: "2026-11-12", session: "t" }),
    row(3, "refund of order three", { kind: "fact", day: "2026-11-13", trusted: false }),
    row(4, "refund of order four", { kind: "fact", day: "2026-11-14", agent: "coder" }),
    row(5, "refund of order five", { kind: "fact", day: "2026-11-15", supersededBy: "m1" }),
    row(6, "something else", { kind: "fact", day: "2026-11-16" }),
    row(7, "refund of order seven", { kind: "fact", day: "2026-11-17", tenant: "north", session: "north.s" }),
  ]
  const cases: [why: string, query: Partial<MemoryQuery>, ids: string[]][] = [
    ["nothing but the agent", {}, ["m6", "m3", "m2", "m1"]],
    ["another agent", { agent: "coder" }, ["m4"]],
    ["another tenant with an agent of the same name", { tenant: "north" }, ["m7"]],
    ["another tenant, by its words", { tenant: "north", text: "refund" }, ["m7"]],
    ["another tenant, by its words and days", { tenant: "north", text: "refund", fromDay: "2026-11-11" }, ["m7"]],
    ["a tenant without memory", { tenant: "south", text: "refund" }, []],
    ["an agent without memory", { agent: "nobody" }, []],
    ["a session", { session: "t" }, ["m2"]],
    ["a kind", { kind: "fact" }, ["m6", "m3", "m1"]],
    ["from a day on", { fromDay: "2026-11-13" }, ["m6", "m3"]],
    ["up to a day", { toDay: "2026-11-12" }, ["m2", "m1"]],
    ["between two days", { fromDay: "2026-11-12", toDay: "2026-11-13" }, ["m3", "m2"]],
    ["only what may be trusted", { trustedOnly: true }, ["m6", "m2", "m1"]],
    ["what was superseded as well", { withSuperseded: true }, ["m6", "m5", "m3", "m2", "m1"]],
    ["several at once", { session: "s", kind: "fact", trustedOnly: true, toDay: "2026-11-15" }, ["m1"]],
    ["the first few", { limit: 2 }, ["m6", "m3"]],
    ["none", { limit: 0 }, []],
  ]
  test.each(cases)("without words, newest first: %s", async (_why, query, ids) => {
    const { store } = await open(clock)
    await store.memory.write(rows)
    expect(await found(store, query)).toEqual(ids)
  })
  test.each(cases.filter(([, { limit }]) => limit === undefined))("with words: %s", async (_why, query, ids) => {
    const { store } = await open(clock)
    await store.memory.write(rows)
    const hits = await found(store, { ...query, text: "refund" })
    expect(hits.toSorted()).toEqual(ids.filter((id) => id !== "m6").toSorted())
  })
}

function describeSuperseding(open: OpenStore): void {
  test("a superseded row is found only by who asks for such rows, and says what took its place", async () => {
    const { store } = await open(clock)
    await store.memory.write([row(1, "the cap is 500"), row(2, "the cap is 800"), row(3, "the cap", { session: "t" })])
    await store.memory.supersede("s", ["m1", "m3", "unknown"], "m2")
    expect((await found(store, { text: "cap" })).toSorted()).toEqual(["m2", "m3"])
    expect((await found(store, { text: "cap", withSuperseded: true })).toSorted()).toEqual(["m1", "m2", "m3"])
    expect(await store.memory.get(clerk, ["m1"])).toMatchObject([{ supersededBy: "m2" }])
  })

  test("the first successor stays, and no row takes its own place", async () => {
    const { store } = await open(clock)
    await store.memory.write([row(1, "a"), row(2, "b"), row(3, "c")])
    await store.memory.supersede("s", ["m1", "m2"], "m2")
    await store.memory.supersede("s", ["m1"], "m3")
    expect(await store.memory.get(clerk, ["m1"])).toMatchObject([{ supersededBy: "m2" }])
    expect(await found(store, {})).toEqual(["m3", "m2"])
  })
}

function describeOrder(open: OpenStore): void {
  test("what says it more often in fewer words comes first, and scores fall", async () => {
    const { store } = await open(clock)
    await store.memory.write([
      row(1, "refund refund refund"),
      row(2, `a refund, in passing, ${"among many other words ".repeat(40)}`),
      row(3, "a refund was promised to the customer"),
    ])
    const hits = await store.memory.search({ ...clerk, text: "refund" })
    expect(hits.map(({ row }) => row.id)).toEqual(["m1", "m3", "m2"])
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a))
  })

  test("a word that is everywhere finds the newest, by their moments and not by when they were written", async () => {
    const { store } = await open(clock)
    const rows = Array.from({ length: 400 }, (_, at) => row((at * 7) % 400, `order ${"order ".repeat(at % 3)}`))
    await store.memory.write(rows)
    expect(await found(store, { text: "order", limit: 3 })).toEqual(["m399", "m398", "m397"])
    expect(await found(store, { limit: 3 })).toEqual(["m399", "m398", "m397"])
    expect(await found(store, { text: "order" })).toHaveLength(20)
    expect(await found(store, { text: "order", limit: 400 })).toHaveLength(400)
  })
}

async function found(store: Store, query: Partial<MemoryQuery>): Promise<readonly string[]> {
  const hits = await store.memory.search({ ...clerk, ...query })
  return hits.map(({ row }) => row.id)
}
