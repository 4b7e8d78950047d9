import { describe, expect, test } from "vitest"
import { payloadHash } from "../../../src/store/packed-text.ts"
import type { OpenStore } from "./describe-store.ts"
import { batch, entry, hardTexts, payloads } from "./example-rows.ts"

const clock = (): number => 5000

/** The contract of a session's log and its payloads. */
export function describeLog(open: OpenStore): void {
  describe("log", () => {
    describeAppend(open)
    describeConflicts(open)
    describeDuplicates(open)
    describeReading(open)
    describePayloads(open)
  })
}

function describeAppend(open: OpenStore): void {
  test("an unknown session reads as empty", async () => {
    const { store } = await open(clock)
    expect(await store.head("nobody")).toEqual({ seq: 0, hash: "" })
    expect(await store.read("nobody")).toEqual([])
    expect(await store.outline("nobody")).toEqual([])
    expect(await store.readEntries("nobody", [1, 2])).toEqual([])
    expect(await store.session("nobody")).toBeUndefined()
    expect(await store.holdings("nobody")).toEqual({ payloads: [], summaries: [], memory: [] })
    expect(await store.payloads("nobody", [])).toEqual(new Map())
  })

  test("appends keep their order and stay in their session", async () => {
    const { store } = await open(clock)
    expect(await store.append("a", batch(0, 2))).toEqual({ type: "appended" })
    await store.append("b", batch(0, 1, "b"))
    await store.append("a", batch(2, 1))
    expect(await store.read("a")).toEqual([entry(1), entry(2), entry(3)])
    expect(await store.read("b")).toEqual([entry(1, "b")])
    expect(await store.head("a")).toEqual({ seq: 3, hash: "a-3" })
  })

  test("the same batch again is appended and changes nothing, even when others have written since", async () => {
    let now = 100
    const { store } = await open(() => now)
    const first = batch(0, 2, "a", { payloads: payloads("one") })
    await store.append("s", first)
    await store.append("s", batch(2, 1))
    const before = await store.session("s")
    now = 200
    expect(await store.append("s", first)).toEqual({ type: "appended" })
    expect(await store.append("s", batch(1, 1))).toEqual({ type: "appended" })
    expect(await store.session("s")).toEqual(before)
    expect(await store.read("s")).toEqual([entry(1), entry(2), entry(3)])
  })
}

function describeConflicts(open: OpenStore): void {
  const conflicts: [why: string, after: number, count: number, writer: string][] = [
    ["another batch behind the same entry", 0, 2, "b"],
    ["one that begins alike and goes on beyond the end", 0, 4, "a"],
    ["one that is alike but for an entry in the middle", 1, 2, "b"],
    ["a gap", 4, 1, "a"],
  ]
  test.each(conflicts)("%s is a conflict, says the head and writes nothing", async (_why, after, count, writer) => {
    const { store } = await open(clock)
    await store.append("s", batch(0, 3))
    const refused = batch(after, count, writer, { payloads: payloads("refused"), agent: "thief" })
    expect(await store.append("s", refused)).toEqual({ type: "conflict", head: { seq: 3, hash: "a-3" } })
    expect(await store.read("s")).toEqual([entry(1), entry(2), entry(3)])
    expect((await store.holdings("s")).payloads).toEqual([])
    expect((await store.session("s"))?.agent).toBe("")
  })

  test("a gap in an unknown session is a conflict with its empty head", async () => {
    const { store } = await open(clock)
    expect(await store.append("s", batch(1, 1))).toEqual({ type: "conflict", head: { seq: 0, hash: "" } })
    expect(await store.session("s")).toBeUndefined()
  })

  test("a batch with a hole in it is refused whole", async () => {
    const { store } = await open(clock)
    await expect(store.append("s", { after: 0, entries: [entry(1), entry(3)] })).rejects.toThrow()
    expect(await store.read("s")).toEqual([])
  })

  test("an empty batch is appended and makes no session", async () => {
    const { store } = await open(clock)
    expect(await store.append("s", { after: 0, entries: [], agent: "clerk" })).toEqual({ type: "appended" })
    expect(await store.sessions()).toEqual([])
  })

  test("of appends raced against each other behind one entry exactly one wins", async () => {
    const { store } = await open(clock)
    const writers = ["a", "b", "c", "d", "e"]
    const answers = await Promise.all(writers.map((writer) => store.append("s", batch(0, 3, writer))))
    const won = writers.filter((_, at) => answers[at]?.type === "appended")
    expect(won).toHaveLength(1)
    expect(await store.read("s")).toEqual(batch(0, 3, won[0]).entries)
  })
}

function describeDuplicates(open: OpenStore): void {
  const said = (seq: number, writer: string, parent: number, key: string) => entry(seq, writer, { parent, key })

  test("a message that the log has under the same parent is a duplicate, says which entry it is and writes nothing", async () => {
    const { store } = await open(clock)
    const first = [said(1, "a", 0, "question"), said(2, "a", 1, "answer"), said(3, "a", 2, "next question")]
    await store.append("s", { after: 0, entries: first })
    const again = { after: 3, entries: [said(4, "b", 1, "answer"), entry(5, "b")], payloads: payloads("refused") }
    expect(await store.append("s", again)).toEqual({ type: "duplicate", seq: 2 })
    expect(await store.read("s")).toEqual(first)
    expect((await store.holdings("s")).payloads).toEqual([])
    expect(await store.head("s")).toEqual({ seq: 3, hash: "a-3" })
  })

  const others: [why: string, parent: number, key: string, session: string][] = [
    ["another message under the same parent", 1, "another answer", "s"],
    ["the same message under another parent", 3, "answer", "s"],
    ["the same message in another session", 0, "question", "t"],
  ]
  test.each(others)("%s is appended", async (_why, parent, key, session) => {
    const { store } = await open(clock)
    const first = [said(1, "a", 0, "question"), said(2, "a", 1, "answer"), said(3, "a", 2, "next question")]
    await store.append("s", { after: 0, entries: first })
    if (session !== "s") await store.append(session, batch(0, 3))
    expect(await store.append(session, { after: 3, entries: [said(4, "b", parent, key)] })).toEqual({
      type: "appended",
    })
  })

  test("entries that are no messages may refer to the same entry as often as they like", async () => {
    const { store } = await open(clock)
    await store.append("s", { after: 0, entries: [said(1, "a", 0, "question"), entry(2, "a", { parent: 1 })] })
    expect(await store.append("s", { after: 2, entries: [entry(3, "b", { parent: 1 })] })).toEqual({ type: "appended" })
  })

  test("a copy of a log that has a message twice is written as it was", async () => {
    const { store } = await open(clock)
    const entries = [said(1, "a", 0, "question"), said(2, "a", 1, "answer"), said(3, "a", 1, "answer")]
    await store.append("s", { after: 0, entries: entries.slice(0, 2), isCopy: true })
    expect(await store.append("s", { after: 2, entries: entries.slice(2), isCopy: true })).toEqual({ type: "appended" })
    expect(await store.read("s")).toEqual(entries)
  })
}

function describeReading(open: OpenStore): void {
  test("an outline is the log without its bodies", async () => {
    const { store } = await open(clock)
    const entries = [entry(1, "a", { parent: 0, key: "k1" }), entry(2), entry(3, "a", { parent: 1, key: "" })]
    await store.append("s", { after: 0, entries })
    expect(await store.read("s")).toEqual(entries)
    expect(await store.outline("s")).toEqual(entries.map(({ body: _, ...rest }) => rest))
  })

  const ranges: [why: string, range: { from?: number; to?: number; limit?: number }, seqs: number[]][] = [
    ["all", {}, [1, 2, 3, 4, 5]],
    ["from one on", { from: 3 }, [3, 4, 5]],
    ["up to and including", { to: 2 }, [1, 2]],
    ["between", { from: 2, to: 4 }, [2, 3, 4]],
    ["at most so many", { from: 2, limit: 2 }, [2, 3]],
    ["limit beyond the end of the range", { from: 2, to: 3, limit: 9 }, [2, 3]],
    ["none asked", { limit: 0 }, []],
    ["upside down", { from: 4, to: 2 }, []],
    ["beyond the end", { from: 6 }, []],
    ["from before the first", { from: -3, to: 1 }, [1]],
    ["without end", { from: 5, to: Number.POSITIVE_INFINITY, limit: Number.POSITIVE_INFINITY }, [5]],
  ]
  test.each(ranges)("a range: %s", async (_why, range, seqs) => {
    const { store } = await open(clock)
    await store.append("s", batch(0, 5))
    expect((await store.read("s", range)).map(({ seq }) => seq)).toEqual(seqs)
    expect((await store.outline("s", range)).map(({ seq }) => seq)).toEqual(seqs)
  })

  test("entries by number come in the order of the log, each once, without those that are not there", async () => {
    const { store } = await open(clock)
    await store.append("s", batch(0, 5))
    expect(await store.readEntries("s", [4, 9, 2, 4, 0])).toEqual([entry(2), entry(4)])
    expect(await store.readEntries("s", [])).toEqual([])
  })

  test("two thousand entries in one batch, and all of them asked for by number", async () => {
    const { store } = await open(clock)
    await store.append("s", batch(0, 2000))
    const seqs = Array.from({ length: 2000 }, (_, at) => at + 1)
    expect((await store.readEntries("s", seqs)).map(({ seq }) => seq)).toEqual(seqs)
  })

  test("large and small bodies come back verbatim", async () => {
    const { store } = await open(clock)
    const bodies = [...hardTexts, "x".repeat(3_000_000), JSON.stringify(hardTexts).repeat(500)]
    const entries = bodies.map((body, at) => entry(at + 1, "a", { body }))
    await store.append("s", { after: 0, entries })
    expect(await store.read("s")).toEqual(entries)
  })
}

function describePayloads(open: OpenStore): void {
  test("payloads come back verbatim, megabytes and half characters included", async () => {
    const { store } = await open(clock)
    const noise = Array.from({ length: 400_000 }, (_, at) => String.fromCharCode((at * 7919) % 0xffff)).join("")
    const texts = payloads(...hardTexts, "long ".repeat(1_000_000), noise)
    await store.append("s", batch(0, 1, "a", { payloads: texts }))
    expect(await store.payloads("s", [...texts.keys()])).toEqual(texts)
  })

  test("a payload is stored once, however often it is written", async () => {
    const { store } = await open(clock)
    await store.append("s", batch(0, 1, "a", { payloads: payloads("same", "one") }))
    await store.append("s", batch(1, 1, "a", { payloads: payloads("same", "two") }))
    const { payloads: hashes } = await store.holdings("s")
    expect(hashes.toSorted()).toEqual([..."same one two".split(" ")].map(payloadHash).toSorted())
    const [hash = ""] = payloads("same").keys()
    expect(await store.payloads("s", [hash, hash])).toEqual(payloads("same"))
  })

  test("a payload that is missing, or another session's, is a corrupt store and not an empty text", async () => {
    const { store } = await open(clock)
    await store.append("a", batch(0, 1, "a", { payloads: payloads("mine") }))
    await store.append("b", batch(0, 1))
    const corrupt = { problem: { code: "store-corrupt", session: "b" } }
    await expect(store.payloads("b", [payloadHash("mine")])).rejects.toMatchObject(corrupt)
  })

  test("a payload that is not what its hash says is a corrupt store", async () => {
    const { store } = await open(clock)
    const hash = payloadHash("right")
    await store.append("s", batch(0, 1, "a", { payloads: new Map([[hash, "wrong"]]) }))
    await expect(store.payloads("s", [hash])).rejects.toMatchObject({
      problem: { code: "store-corrupt", session: "s" },
    })
  })
}
