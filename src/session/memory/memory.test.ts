import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { text, transcript } from "../../../test/support/transcripts.ts"
import { flush, type MemoryEntry, type MemoryKind } from "../../compact/state/flush.ts"
import { type Channel, instructs } from "../../message/message.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import type { MemoryRow } from "../../store/store.ts"
import { createMemory, type Memory, type MemoryLimits, maxRowsPerFlush } from "./memory.ts"
import { maxTextLength, rowOf, sessionIdOf } from "./row-of.ts"

const noon = Date.UTC(2026, 10, 15, 12)

const said = (words: string, { from = "m1", channel = "user", kind = "fact" }: Partial<Said> = {}): MemoryEntry => ({
  kind,
  text: words,
  sources: from === "" ? [] : [from],
  channel,
  trusted: instructs(channel),
})
type Said = { readonly from: string; readonly channel: Channel; readonly kind: MemoryKind }

/** A memory with a manual clock. */
function open(agent = "ana", store = createMemoryStore().memory, limits: Partial<MemoryLimits> = {}) {
  let atMs = noon
  const memory = createMemory({ store, agent, limits, now: () => atMs })
  const at = (ms: number): Memory => {
    atMs = noon + ms
    return memory
  }
  const all = async (): Promise<readonly MemoryRow[]> =>
    (await memory.search({ withSuperseded: true, limit: 1000 })).map(({ row }) => row)
  const current = async (): Promise<readonly string[]> =>
    (await memory.search({ limit: 1000 })).map(({ row }) => row.text).sort()
  return { memory, store, at, all, current }
}

describe("what is remembered", () => {
  test("is stored under its day with its sources, and only channels that may instruct are trusted", async () => {
    const { memory, all } = open()
    await memory.remember("s", [said("budget: 500"), { ...said("rate: 7", { channel: "tool" }), trusted: true }])
    expect(await all()).toMatchObject([
      { text: "rate: 7", trusted: false, channel: "tool", day: "2026-11-15", agent: "ana", session: "s" },
      { text: "budget: 500", trusted: true, sources: ["m1"], subject: "budget", day: "2026-11-15" },
    ])
  })

  test("is the flush of a real conversation, stored once, however often it is flushed", async () => {
    const { at, all } = open()
    const { entries } = flush(transcript(["user", text("My order is W-1234. Ship it to a@b.example by 2030-01-02.")]))
    const first = await at(0).remember("s", entries)
    const before = await all()
    expect(first.written.length).toBeGreaterThan(1)
    expect(await at(86_400_000).remember("s", entries)).toMatchObject({ written: [], superseded: [], leftOut: 0 })
    expect(await all()).toEqual(before)
  })

  test("the same text with other spacing is the same row; in another session or kind it is another one", async () => {
    const { memory, all } = open()
    await memory.remember("s", [said("we chose  bcrypt", { kind: "decision" })])
    await memory.remember("s", [said("we chose bcrypt", { kind: "decision" })])
    expect(await all()).toHaveLength(1)
    await memory.remember("s", [said("we chose bcrypt", { kind: "conclusion" })])
    await memory.remember("t", [said("we chose bcrypt", { kind: "decision" })])
    expect(await all()).toHaveLength(3)
  })

  test("empty text is ignored, long text is cut, control characters and lone surrogates do no harm", async () => {
    const { memory, all } = open()
    const long = "😀".repeat(maxTextLength)
    const entries = [said(""), said(" \n\t"), said("\ud800x\0y"), said(long), said("z".repeat(5_000_000))]
    const { written } = await memory.remember("s", entries)
    expect(written).toHaveLength(3)
    for (const row of await all()) {
      expect(row.text.isWellFormed()).toBe(true)
      expect(row.text.length).toBeLessThanOrEqual(maxTextLength)
      expect(row.text).not.toContain("\0")
    }
  })

  test("rows beyond the limit are written by the next flush", async () => {
    const { memory } = open("ana", createMemoryStore().memory, { sessionRowsPerDay: 10_000 })
    const entries = Array.from({ length: maxRowsPerFlush + 5 }, (_, n) => said(`path ${n}`, { kind: "path" }))
    expect(await memory.remember("s", entries)).toMatchObject({ leftOut: 5, known: 0, limit: "flush" })
    const second = await memory.remember("s", entries)
    expect(second).toMatchObject({ leftOut: 0, known: maxRowsPerFlush })
    expect(second.written).toHaveLength(5)
  })
})

describe("what is not written again", () => {
  const output = { channel: "tool", kind: "path" } as const

  test("data in another session of the agent, under any stored id", async () => {
    const { memory, store, all } = open()
    const entries = [
      said("src/boat.ts", output),
      said("[Failed attempt] `npm test`", { channel: "tool", kind: "error" }),
    ]
    expect((await memory.remember("s", entries)).written).toHaveLength(2)
    expect(await memory.remember("t", entries)).toMatchObject({ written: [], known: 2 })
    const [older] = await all()
    const asBefore = { id: "as it was before", session: "u", text: "src/mast.ts" }
    const old = rowOf(said(asBefore.text, output), { tenant: "", agent: "ana", session: "u", atMs: noon })
    if (older === undefined || old === undefined) throw new Error("there is no row")
    await store.write([{ ...old, id: sessionIdOf(old) }])
    expect(await memory.remember("u", [said("src/mast.ts", output)])).toMatchObject({ written: [], known: 1 })
  })

  test("words of people, and values of a subject, belong to each session", async () => {
    const { memory } = open()
    const own = [said("we use tabs", { kind: "wish" }), said("status of W1: open", { channel: "tool" })]
    for (const session of ["s", "t"]) expect((await memory.remember(session, own)).written).toHaveLength(2)
  })

  test("data of another agent or tenant is not shared", async () => {
    const { store } = open()
    for (const whose of [{ agent: "ana" }, { agent: "bob" }, { agent: "ana", tenant: "north" }]) {
      const memory = createMemory({ store, ...whose, now: () => noon })
      const session = `${whose.tenant ?? ""}.${whose.agent}`
      expect((await memory.remember(session, [said("src/boat.ts", output)])).written).toHaveLength(1)
    }
  })
})

describe("the limits of a day", () => {
  const lines = (count: number, from: number, channel: Channel) =>
    Array.from({ length: count }, (_, n) => said(`path ${from + n}`, { kind: "path", channel }))
  const limits = { sessionRowsPerDay: 20, agentRowsPerDay: 30 }

  test("data may use three quarters of a session's limit, people's words the rest", async () => {
    const { at } = open("ana", createMemoryStore().memory, limits)
    const flood = await at(0).remember("s", lines(50, 0, "tool"))
    expect(flood).toMatchObject({ leftOut: 35, limit: "session-day" })
    expect(flood.written).toHaveLength(15)
    const words = await at(1).remember("s", [...lines(5, 100, "tool"), ...lines(10, 200, "user")])
    expect(words.written.map(({ trusted }) => trusted)).toEqual(Array.from({ length: 5 }, () => true))
    expect(words).toMatchObject({ leftOut: 10, limit: "session-day" })
    expect(await at(86_400_000).remember("s", lines(5, 300, "tool"))).not.toHaveProperty("limit")
  })

  test("all sessions of an agent share the agent's limit", async () => {
    const { at } = open("ana", createMemoryStore().memory, limits)
    await at(0).remember("s", lines(20, 0, "user"))
    const second = await at(1).remember("t", lines(20, 100, "user"))
    expect(second.written).toHaveLength(10)
    expect(second).toMatchObject({ leftOut: 10, limit: "agent-day" })
  })

  test("hold for any flushes, and the counts of a flush add up", async () => {
    const batches = fc.array(
      fc.record({
        session: fc.constantFrom("s", "t", "u"),
        count: fc.nat(15),
        from: fc.nat(60),
        channel: fc.constantFrom<Channel>("user", "tool", "assistant"),
        day: fc.nat(1),
      }),
      { maxLength: 12 },
    )
    await fc.assert(
      fc.asyncProperty(batches, async (flushed) => {
        const { at, store } = open("ana", createMemoryStore().memory, limits)
        for (const { session, count, from, channel, day } of flushed) {
          const { written, known, leftOut } = await at(day * 86_400_000).remember(session, lines(count, from, channel))
          expect(written.length + known + leftOut).toBe(count)
        }
        for (const day of ["2026-11-15", "2026-11-16"])
          for (const session of ["s", "t", "u"]) {
            const counts = await store.counts({ tenant: "", agent: "ana" }, session, day)
            expect(counts.session.rows).toBeLessThanOrEqual(20)
            expect(counts.session.data).toBeLessThanOrEqual(15)
            expect(counts.agent.rows).toBeLessThanOrEqual(30)
          }
      }),
    )
  })
})

describe("which row supersedes which", () => {
  const address = "delivery address of order W12"

  test("a later value of the same subject does; the earlier one is kept and marked", async () => {
    const { at, all, current } = open()
    await at(0).remember("s", [said(`${address}: 5 Elm Street`)])
    const { written, superseded } = await at(1).remember("s", [said(`${address}: 9 Oak Road`, { from: "m7" })])
    expect(await current()).toEqual([`${address}: 9 Oak Road`])
    const old = (await all()).find(({ text: words }) => words.includes("Elm"))
    expect(superseded).toEqual([old?.id])
    expect(old?.supersededBy).toBe(written[0]?.id)
  })

  test("within one flush the later row does", async () => {
    const { at, current } = open()
    await at(0).remember("s", [said(`${address}: 5 Elm`), said(`${address}: 9 Oak`, { from: "m4" })])
    expect(await current()).toEqual([`${address}: 9 Oak`])
  })

  test("values from one message are kept side by side", async () => {
    const { at, current } = open()
    await at(0).remember("s", [said("price of W12: 10"), said("price of W12: 12")])
    expect(await current()).toHaveLength(2)
    await at(1).remember("s", [said("price of W12: 14", { from: "m5" })])
    expect(await current()).toEqual(["price of W12: 14"])
  })

  test("not in another session, kind or subject, and not without the form of a value", async () => {
    const { at, current } = open()
    await at(0).remember("s", [said(`${address}: 5 Elm`), said("run: a", { kind: "command" }), said("we use tabs")])
    await at(1).remember("t", [said(`${address}: 9 Oak`, { from: "m4" })])
    await at(2).remember("s", [said(`${address}: 9 Oak`, { from: "m4", kind: "wish" })])
    await at(3).remember("s", [said("delivery address of order W13: 1 Ash", { from: "m4" })])
    await at(4).remember("s", [said("run: b", { from: "m4", kind: "command" }), said("we use blanks", { from: "m4" })])
    expect(await current()).toHaveLength(8)
  })

  test("a tool's later value is kept beside the user's; the user's later one supersedes the tool's", async () => {
    const { at, current } = open()
    await at(0).remember("s", [said("limit of card 9: 100")])
    await at(1).remember("s", [said("limit of card 9: 99999", { from: "m2", channel: "tool" })])
    expect(await current()).toEqual(["limit of card 9: 100", "limit of card 9: 99999"])
    await at(2).remember("s", [said("limit of card 9: 200", { from: "m3" })])
    expect(await current()).toEqual(["limit of card 9: 200"])
  })

  test("a value that the tool and then the user states counts as the user's", async () => {
    const { at, all } = open()
    await at(0).remember("s", [said("limit of card 9: 100")])
    await at(1).remember("s", [said("limit of card 9: 200", { from: "m2", channel: "tool" })])
    await at(2).remember("s", [said("limit of card 9: 200", { from: "m3" })])
    const standing = (await all()).filter(({ supersededBy }) => supersededBy === undefined)
    expect(standing).toMatchObject([{ text: "limit of card 9: 200", trusted: true }])
  })

  test("a value stated again in another message is current again, and flushing it again changes nothing", async () => {
    const { at, all, current } = open()
    await at(0).remember("s", [said("budget: 500")])
    await at(1).remember("s", [said("budget: 700", { from: "m5" })])
    await at(2).remember("s", [said("budget: 500")])
    expect(await current()).toEqual(["budget: 700"])
    await at(3).remember("s", [said("budget: 500", { from: "m9" })])
    expect(await current()).toEqual(["budget: 500"])
    const before = await all()
    await at(4).remember("s", [said("budget: 500", { from: "m9" })])
    expect(await all()).toEqual(before)
  })

  test("a flush interrupted between writing and marking is completed by the next", async () => {
    const { store, at, current } = open()
    const torn = { ...store, supersede: () => Promise.reject(new Error("cut off")) }
    await at(0).remember("s", [said("budget: 500")])
    const entries = [said("budget: 700", { from: "m5" })]
    const cut = createMemory({ store: torn, agent: "ana", now: () => noon + 1 })
    await expect(cut.remember("s", entries)).rejects.toThrow("cut off")
    expect(await current()).toHaveLength(2)
    await at(2).remember("s", entries)
    expect(await current()).toEqual(["budget: 700"])
  })

  test("in a session with more rows than one search returns, the earlier value is found by its subject", async () => {
    const { at, memory } = open("ana", createMemoryStore().memory, { sessionRowsPerDay: 10_000 })
    await at(0).remember("s", [said(`${address}: 5 Elm`)])
    const many = Array.from({ length: 1200 }, (_, n) => said(`path ${n}`, { kind: "path" }))
    await at(1).remember("s", many)
    await at(2).remember("s", [said(`${address}: 9 Oak`, { from: "m4" })])
    expect(await memory.search({ text: "delivery" })).toMatchObject([{ row: { text: `${address}: 9 Oak` } }])
    await at(3).remember(
      "s",
      many.map((entry) => ({ ...entry, text: `${entry.text} again` })),
    )
    await at(4).remember("s", [said(`${address}: 5 Elm`, { from: "m8" })])
    expect(await memory.search({ text: "delivery" })).toMatchObject([{ row: { text: `${address}: 5 Elm` } }])
  })
})

describe("a search", () => {
  const refused: readonly [option: string, search: object][] = [
    ["text", { text: 7 }],
    ["text", { text: "x".repeat(1001) }],
    ["session", { session: "" }],
    ["kind", { kind: 4 }],
    ["fromDay", { fromDay: "2026-02-30" }],
    ["toDay", { toDay: "yesterday" }],
    ["toDay", { fromDay: "2026-03-02", toDay: "2026-03-01" }],
    ["trustedOnly", { trustedOnly: "yes" }],
    ["withSuperseded", { withSuperseded: 1 }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 1.5 }],
    ["limit", { limit: 1001 }],
  ]
  test.each(refused)("with a wrong %s is refused by that name: %o", async (option, search) => {
    const { memory } = open()
    await expect(memory.search(search)).rejects.toMatchObject({ problem: { code: "option-invalid", option } })
  })

  test("is narrowed by session, kind, day and trust", async () => {
    const { at, memory } = open()
    await at(0).remember("s", [said("port is 80", { kind: "decision" }), said("port taken", { channel: "tool" })])
    await at(86_400_000).remember("t", [said("port is 81", { kind: "wish" })])
    const found = async (search: object) => (await memory.search(search)).map(({ row }) => row.text).sort()
    expect(await found({ text: "port" })).toEqual(["port is 80", "port is 81", "port taken"])
    expect(await found({ text: "port", session: "t" })).toEqual(["port is 81"])
    expect(await found({ kind: "decision" })).toEqual(["port is 80"])
    expect(await found({ fromDay: "2026-11-16" })).toEqual(["port is 81"])
    expect(await found({ toDay: "2026-11-15", trustedOnly: true })).toEqual(["port is 80"])
  })

  test("never returns another agent's rows", async () => {
    const { store, memory } = open()
    const other = createMemory({ store, agent: "bob", now: () => noon })
    await other.remember("s", [said("secret of bob 1: x")])
    const sly: object = { text: "secret", agent: "bob" }
    expect(await memory.search(sly)).toEqual([])
    expect(await memory.days()).toEqual([])
    expect(await memory.day("2026-11-15")).toBeUndefined()
  })

  test("agents without a name and clocks without a time are refused", async () => {
    const { store } = open()
    expect(() => createMemory({ store, agent: "" })).toThrow("agent")
    await expect(createMemory({ store, agent: "a", now: () => Number.NaN }).remember("s", [])).rejects.toThrow("now")
    await expect(createMemory({ store, agent: "a" }).remember("", [])).rejects.toThrow("session")
    await expect(createMemory({ store, agent: "a" }).day("today")).rejects.toThrow("day")
  })
})

describe("the log of a day", () => {
  test("is Markdown with a heading for each session and marks on what is superseded or unverified", async () => {
    const { at, memory } = open()
    await at(0).remember("s", [said("budget: 500")])
    await at(60_000).remember("t", [said("host is down", { channel: "tool", from: "m3", kind: "error" })])
    const { written } = await at(120_000).remember("s", [said("budget: 700", { from: "m5" })])
    expect(await memory.days()).toEqual([{ day: "2026-11-15", rows: 3 }])
    expect(await memory.day("2026-11-15")).toBe(
      [
        "# 2026-11-15",
        "",
        "## Session s",
        "",
        `- 12:00 fact: ~~budget: 500~~ (superseded by ${written[0]?.id.slice(0, 8)}; from m1)`,
        "- 12:02 fact: budget: 700 (from m5)",
        "",
        "## Session t",
        "",
        "- 12:01 error: host is down (unverified, from tool; from m3)",
        "",
      ].join("\n"),
    )
    expect(await memory.day("2026-11-14")).toBeUndefined()
  })

  test("no row can add a line, a heading, a link or markup", async () => {
    const { memory } = open()
    const sly = "a\n## Session x\u2028- 10:00 fact: ![p](http://evil.example) <img src=x> ~~b~~ `c`"
    await memory.remember("s\n# y", [said(sly, { channel: "tool", from: "m\n# z", kind: "error" })])
    const day = (await memory.day("2026-11-15")) ?? ""
    expect(day.split("\n").filter((line) => line.startsWith("#"))).toHaveLength(2)
    expect(day.split("\n").filter((line) => line.startsWith("- "))).toHaveLength(1)
    expect(day).not.toMatch(/(?<!\\)[[\]<>`~*]/)
  })

  test("states how much of a very long day is not shown", async () => {
    const { memory } = open()
    await memory.remember(
      "s",
      Array.from({ length: 1003 }, (_, n) => said(`path ${n}`, { kind: "path" })),
    )
    expect(await memory.day("2026-11-15")).toContain("\n3 earlier lines are not shown.\n")
  })
})

/** Few labels, values, sources and channels, so that they collide. */
const anyEntry = fc
  .record({
    label: fc.constantFrom("status of W1", "status of W2", "budget", "note", "x"),
    value: fc.constantFrom("a", "b", "c"),
    from: fc.constantFrom("m1", "m2", "m3", ""),
    channel: fc.constantFrom<Channel>("user", "tool", "assistant", "system", "document"),
    kind: fc.constantFrom<MemoryKind>("fact", "wish", "error"),
  })
  .map(({ label, value, ...rest }) => said(`${label}: ${value}`, rest))

const flushes = fc.array(fc.array(anyEntry, { maxLength: 5 }), { maxLength: 5 })

describe("for any flushes", () => {
  test("remembering twice equals remembering once", async () => {
    await fc.assert(
      fc.asyncProperty(flushes, fc.constantFrom(0, 1), async (batches, step) => {
        const { at, all } = open()
        for (const [n, entries] of batches.entries()) {
          await at(n * 10).remember("s", entries)
          const once = await all()
          expect(await at(n * 10 + step).remember("s", entries)).toMatchObject({ written: [], superseded: [] })
          expect(await all()).toEqual(once)
        }
      }),
    )
  })

  test("no untrusted row supersedes a trusted one, and no less trusted row a more trusted one", async () => {
    await fc.assert(
      fc.asyncProperty(flushes, async (batches) => {
        const { at, all } = open()
        for (const [n, entries] of batches.entries()) await at(n).remember("s", entries)
        const rows = await all()
        const byId = new Map(rows.map((row) => [row.id, row]))
        for (const row of rows) {
          if (row.supersededBy === undefined) continue
          const by = byId.get(row.supersededBy)
          expect(by).toMatchObject({ subject: row.subject, kind: row.kind, session: "s" })
          if (row.trusted) expect(by?.trusted).toBe(true)
          if (by?.channel === "tool") expect(row.channel).toBe("tool")
        }
        // For every subject, one row is still current.
        const slots = Map.groupBy(rows, ({ kind, subject }) => `${kind} ${subject}`)
        for (const held of slots.values()) expect(held.some((row) => row.supersededBy === undefined)).toBe(true)
      }),
    )
  })

  test("the order of flushes does not matter: the later row is current", async () => {
    const moments = fc.uniqueArray(
      fc.record({
        atMs: fc.nat(1000),
        label: fc.constantFrom("status of W1", "budget"),
        from: fc.constantFrom("m1", "m2", "m3", ""),
        channel: fc.constantFrom<Channel>("user", "tool", "assistant"),
      }),
      { selector: ({ atMs }) => atMs, maxLength: 7 },
    )
    const orders = moments.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    )
    await fc.assert(
      fc.asyncProperty(orders, async ([one, other]) => {
        const standing = async (order: typeof one) => {
          const { at, current } = open()
          for (const { atMs, label, ...rest } of order)
            await at(atMs).remember("s", [said(`${label}: value ${atMs}`, rest)])
          return current()
        }
        const current = await standing(one)
        expect(await standing(other)).toEqual(current)
        const byUser = one.filter(({ channel, label }) => channel === "user" && label === "budget")
        const latest = Math.max(...byUser.map(({ atMs }) => atMs))
        if (byUser.length > 0) expect(current).toContain(`budget: value ${latest}`)
      }),
    )
  })

  test("no search returns a row of another agent", async () => {
    await fc.assert(
      fc.asyncProperty(flushes, flushes, async (mine, theirs) => {
        const { store, memory, all } = open("ana")
        const other = createMemory({ store, agent: "bob", now: () => noon })
        for (const entries of mine) await memory.remember("s", entries)
        const before = await all()
        for (const entries of theirs) await other.remember("s", entries)
        expect(await all()).toEqual(before)
        for (const { row } of await other.search({ text: "status", withSuperseded: true, limit: 1000 }))
          expect(row.agent).toBe("bob")
      }),
    )
  })
})
