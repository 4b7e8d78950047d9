import { describe, expect, test } from "vitest"
import type { SessionFilter, Store } from "../../../src/store/store.ts"
import type { OpenStore } from "./describe-store.ts"
import { batch, clerk, job, payloads, row } from "./example-rows.ts"

/** The contract of sessions as a whole. */
export function describeSessions(open: OpenStore): void {
  describe("sessions", () => {
    describeListing(open)
    describeCopies(open)
    describeRemoval(open)
    describeSummaries(open)
  })
}

function describeListing(open: OpenStore): void {
  test("take bytes, and more of them no fewer", async () => {
    const { store } = await open(() => 1)
    const before = await store.usedBytes()
    for (let n = 0; n < 50; n++)
      await store.append(`s${n}`, { ...batch(0, 20, `s${n}`), payloads: payloads(`text ${n} `.repeat(500)) })
    expect(await store.usedBytes()).toBeGreaterThan(before)
  })

  test("are listed newest first, with agent, head and moments", async () => {
    let now = 100
    const { store } = await open(() => now)
    await store.append("a", batch(0, 1, "a", { agent: "clerk" }))
    now = 200
    await store.append("b", batch(0, 2, "b", { agent: "coder" }))
    now = 300
    await store.append("a", batch(1, 1, "a", { agent: "thief" }))
    const a = { id: "a", tenant: "", agent: "clerk", head: { seq: 2, hash: "a-2" }, createdMs: 100, updatedMs: 300 }
    const b = { id: "b", tenant: "", agent: "coder", head: { seq: 2, hash: "b-2" }, createdMs: 200, updatedMs: 200 }
    expect(await store.sessions()).toEqual([a, b])
    expect(await store.session("b")).toEqual(b)
    expect(await store.sessions({ agent: "coder" })).toEqual([b])
    expect(await store.sessions({ agent: "nobody" })).toEqual([])
    expect(await store.sessions({ updatedBeforeMs: 300 })).toEqual([b])
    expect(await store.sessions({ updatedBeforeMs: 200 })).toEqual([])
    expect(await store.sessions({ updatedBeforeMs: 301, agent: "clerk" })).toEqual([a])
    expect(await store.sessions({ limit: 1 })).toEqual([a])
    expect(await store.sessions({ limit: 0 })).toEqual([])
  })

  test("an agent that is said late is kept from then on", async () => {
    const { store } = await open(() => 100)
    await store.append("a", batch(0, 1))
    expect((await store.session("a"))?.agent).toBe("")
    await store.append("a", batch(1, 1, "a", { agent: "clerk" }))
    await store.append("a", batch(2, 1, "a", { agent: "thief" }))
    expect((await store.session("a"))?.agent).toBe("clerk")
  })

  test("a tenant is kept with its session and its copies, and lists its own alone", async () => {
    let now = 100
    const { store } = await open(() => now)
    for (const [id, tenant] of [
      ["north.a", "north"],
      ["south.a", "south"],
      ["a", undefined],
    ] as const)
      await store.append(id, batch(0, 1, id, { agent: "clerk", ...(tenant === undefined ? {} : { tenant }) }))
    await store.append("north.a", batch(1, 1, "north.a", { agent: "clerk", tenant: "south" }))
    now = 200
    await store.copy("north.a", "north.b", 1)
    const ids = async (filter: SessionFilter) => (await store.sessions(filter)).map(({ id }) => id).sort()
    expect(await ids({ tenant: "north" })).toEqual(["north.a", "north.b"])
    expect(await ids({ tenant: "north", agent: "coder" })).toEqual([])
    expect(await ids({ tenant: "", agent: "clerk" })).toEqual(["a"])
    expect(await store.session("north.a")).toMatchObject({ tenant: "north" })
  })
}

function describeCopies(open: OpenStore): void {
  test("a copy has the first entries and all payloads, and goes its own way", async () => {
    let now = 100
    const { store } = await open(() => now)
    await fill(store, "from")
    now = 200
    expect(await store.copy("from", "to", 2)).toBe(true)
    const copied = {
      id: "to",
      tenant: "",
      agent: "clerk",
      head: { seq: 2, hash: "a-2" },
      createdMs: 200,
      updatedMs: 200,
    }
    expect(await store.session("to")).toEqual(copied)
    expect(await store.read("to")).toEqual(await store.read("from", { to: 2 }))
    expect(await store.payloads("to", [...payloads("one", "two").keys()])).toEqual(payloads("one", "two"))
    expect((await store.holdings("to")).summaries).toEqual([])
    expect((await store.holdings("to")).memory).toEqual([])
    expect(await store.append("to", batch(2, 1, "own"))).toEqual({ type: "appended" })
    expect((await store.head("from")).hash).toBe("a-3")
    await store.remove("from")
    expect(await store.payloads("to", [...payloads("one").keys()])).toEqual(payloads("one"))
  })

  test("a copy beyond the end is a copy of everything, a copy of nothing makes no session", async () => {
    const { store } = await open(() => 100)
    await fill(store, "from")
    expect(await store.copy("from", "all", 99)).toBe(true)
    expect(await store.read("all")).toEqual(await store.read("from"))
    expect(await store.copy("from", "none", 0)).toBe(true)
    expect(await store.copy("nobody", "none", 5)).toBe(true)
    expect(await store.session("none")).toBeUndefined()
    expect((await store.holdings("none")).payloads).toEqual([])
  })

  test("a copy never writes over a session", async () => {
    const { store } = await open(() => 100)
    await fill(store, "from")
    await store.append("to", batch(0, 1, "to"))
    expect(await store.copy("from", "to", 3)).toBe(false)
    expect(await store.copy("from", "from", 3)).toBe(false)
    expect((await store.read("to")).map(({ hash }) => hash)).toEqual(["to-1"])
    expect((await store.holdings("to")).payloads).toEqual([])
  })
}

function describeRemoval(open: OpenStore): void {
  test("a removed session is gone with all it had, and nothing else is", async () => {
    const { store } = await open(() => 100)
    await fill(store, "gone")
    await fill(store, "stays")
    expect(await store.remove("gone")).toBe(true)
    expect(await store.read("gone")).toEqual([])
    expect(await store.session("gone")).toBeUndefined()
    expect(await store.holdings("gone")).toEqual({ payloads: [], summaries: [], memory: [] })
    expect(await store.getSummary("gone", "k")).toBeUndefined()
    expect(await store.jobs.list("gone")).toEqual([])
    const hits = await store.memory.search({ ...clerk, text: "refund" })
    expect(hits.map(({ row }) => row.session)).toEqual(["stays"])
    expect(await store.memory.get(clerk, ["m1"])).toHaveLength(1)
    expect(await store.read("stays")).toHaveLength(3)
    expect((await store.holdings("stays")).payloads).toHaveLength(2)
    expect(await store.getSummary("stays", "k")).toBe("{}")
    expect(await store.jobs.list()).toEqual([job("j", "stays")])
    expect(await store.remove("gone")).toBe(false)
    await store.vacuum()
    expect(await store.read("stays")).toHaveLength(3)
    expect(await store.memory.search({ ...clerk, text: "refund" })).toHaveLength(1)
  })

  test("a removed session can be written again from its start", async () => {
    const { store } = await open(() => 100)
    await fill(store, "s")
    await store.remove("s")
    await fill(store, "s")
    expect(await store.read("s")).toHaveLength(3)
    expect(await store.memory.search({ ...clerk, text: "refund" })).toHaveLength(1)
  })

  test("what has no log can be removed too", async () => {
    const { store } = await open(() => 100)
    await store.putSummary("a", "k", "{}")
    await store.jobs.put(job("j", "b"), 1)
    await store.memory.write([row(1, "a line", { session: "c" })])
    expect(await store.sessions()).toEqual([])
    expect([await store.remove("a"), await store.remove("b"), await store.remove("c")]).toEqual([true, true, true])
    expect([await store.remove("a"), await store.remove("b"), await store.remove("c")]).toEqual([false, false, false])
  })
}

function describeSummaries(open: OpenStore): void {
  test("of two summaries by one key the first stays, and each session has its own", async () => {
    const { store } = await open(() => 100)
    expect(await store.getSummary("s", "k")).toBeUndefined()
    expect(await store.putSummary("s", "k", '{"n":1}')).toBe(true)
    expect(await store.putSummary("s", "k", '{"n":2}')).toBe(false)
    expect(await store.putSummary("t", "k", '{"n":3}')).toBe(true)
    expect(await store.getSummary("s", "k")).toBe('{"n":1}')
    expect(await store.getSummary("t", "k")).toBe('{"n":3}')
    expect((await store.holdings("s")).summaries).toEqual(["k"])
  })
}

async function fill(store: Store, session: string): Promise<void> {
  await store.append(session, batch(0, 3, "a", { payloads: payloads("one", "two"), agent: "clerk" }))
  await store.putSummary(session, "k", "{}")
  await store.jobs.put(job("j", session), 1)
  await store.memory.write([row(1, "the refund was paid", { session })])
}
