import { expect, test } from "vitest"
import { converse, openAdminHouse } from "../../../test/fixtures/gateway/admin-house.ts"
import { codePoints, fc, runs } from "../../../test/support/property.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { isObject } from "../../wire/json.ts"

const house = await openAdminHouse()
await converse(house.holdfast, "s")

const lists = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isObject) : []

test("a session is shown with its owner and its figures", async () => {
  const { read, holdfast } = await openAdminHouse()
  const id = "0123456789abcdef.4f1c~agent-scout"
  await holdfast.session(id).append([{ role: "user", content: "Good morning." }])
  expect(await read(`/admin/sessions/${encodeURIComponent(id)}`)).toMatchObject({
    session: { id, tenant: "0123456789abcdef", conversation: "4f1c", role: "agent", subagent: "scout" },
    overview: { types: { "message-appended": 1 }, branchCount: 1, checkpointCount: 0, durable: true },
  })
})

test("the log is listed page by page, each entry once and in order", async () => {
  const all = lists((await house.read("/admin/sessions/s/history?limit=500")).entries)
  const paged: unknown[] = []
  let next: unknown = "/admin/sessions/s/history?limit=4"
  while (typeof next === "string") {
    const page = await house.read(next)
    paged.push(...lists(page.entries))
    next = page.next
  }
  expect(paged).toEqual(all)
  expect(all.map(({ seq }) => seq)).toEqual(all.map((_, n) => n + 1))
  expect(await house.read(`/admin/sessions/s/history?limit=${all.length}`)).not.toHaveProperty("next")
  expect(await house.read("/admin/sessions/s/history?from=999999")).toEqual({ entries: [] })
})

test("a long text is shortened and marked; ?full=1 shows all of it", async () => {
  const textOf = ({ message }: Readonly<Record<string, unknown>>): string => JSON.stringify(message ?? null)
  const long = "The mill stands still at noon. ".repeat(100)
  const cut = lists((await house.read("/admin/sessions/s/history")).entries).filter((entry) => entry.cut === true)
  const whole = lists((await house.read("/admin/sessions/s/history?full=1")).entries)
  expect(cut.filter(({ type }) => type === "message-appended")).toHaveLength(1)
  expect(cut.map(textOf).join("")).not.toContain(long)
  expect(whole.map(textOf).join("")).toContain(long)
  expect(JSON.stringify(whole)).not.toContain("secret")
})

test("an entry is shown with its state and the reason", async () => {
  const { entries } = await house.read("/admin/sessions/s/history?limit=500")
  const first = lists(entries).find(({ type }) => type === "message-appended")
  expect(await house.read(`/admin/sessions/s/entries/${first?.id}`)).toMatchObject({
    entry: { id: first?.id, message: { role: "user" } },
    explanation: { state: "summarized", changes: [{ what: "left-out", reason: expect.any(String) }] },
  })
})

test("rules in force are listed, and with all=1 also withdrawn ones", async () => {
  const { holdfast, read } = await openAdminHouse()
  const session = holdfast.session("s")
  await session.pin("Ask before you sell a boat.")
  const { id } = await session.pin("Never write after noon.")
  await session.unpin(id)
  expect(await read("/admin/sessions/s/pins")).toMatchObject({
    pins: [{ text: "Ask before you sell a boat." }],
    total: 1,
  })
  expect(await read("/admin/sessions/s/pins?all=1&limit=1")).toMatchObject({ pins: [{}], total: 2 })
})

test("a compaction shows its sizes, what was kept and left out and why, and what is shown now", async () => {
  const { compactions, total } = await house.read("/admin/sessions/s/compactions")
  const [compaction] = lists(compactions)
  expect(total).toBe(1)
  expect(compaction).toMatchObject({
    remedy: expect.any(String),
    focus: "noon",
    inForce: true,
    undone: false,
    why: { plan: { type: "compact" } },
    kept: { whole: expect.any(Array), made: expect.any(Number) },
    leftOut: [{ entries: expect.any(Array), reason: expect.any(String), tokens: expect.any(Number) }],
    digest: { sections: expect.any(Array) },
  })
  expect(Number(compaction?.afterTokens)).toBeLessThan(Number(compaction?.beforeTokens))
  expect(lists(compaction?.installed).map(({ role }) => role)).toContain("digest")
})

test("compactions are listed page by page, newest first", async () => {
  const { holdfast, read } = await openAdminHouse()
  await converse(holdfast, "s")
  await converse(holdfast, "s")
  const whole = lists((await read("/admin/sessions/s/compactions")).compactions).map(({ id }) => id)
  const first = await read("/admin/sessions/s/compactions?limit=1")
  expect(lists(first.compactions).map(({ id }) => id)).toEqual(whole.slice(0, 1))
  const second = await read(String(first.next))
  expect(lists(second.compactions).map(({ id }) => id)).toEqual(whole.slice(1, 2))
})

test("an intact log is reported as whole, and an altered one is not", async () => {
  expect(await house.read("/admin/sessions/s/verify")).toMatchObject({
    session: "s",
    whole: true,
    hash: expect.any(String),
  })
  const store = createMemoryStore()
  const changed = {
    ...store,
    read: async (...args: Parameters<typeof store.read>) => {
      const entries = await store.read(...args)
      return entries.map((entry) => (entry.seq === 2 ? { ...entry, body: entry.body.replace("one", "two") } : entry))
    },
  }
  const { holdfast, read } = await openAdminHouse({ store: changed })
  await holdfast.session("s").append([{ role: "user", content: "one" }])
  expect(await read("/admin/sessions/s/verify")).toMatchObject({ whole: false, problem: { code: "store-corrupt" } })
})

test("requesting an unknown session writes nothing", async () => {
  const { ask, store } = await openAdminHouse()
  for (const rest of ["", "/history", "/entries/e1", "/pins", "/compactions", "/verify"]) {
    const answer = await ask(`/admin/sessions/nobody${rest}`)
    expect([rest, answer.status]).toEqual([rest, 404])
    expect(await answer.json()).toMatchObject({
      error: { code: "session-unknown", sentence: expect.stringContaining("nobody") },
    })
  }
  expect(await store.sessions()).toEqual([])
})

test.each(["e0", "e99", "12", "e1e1", "e", "%65%39%39", "e1.5", `e${"9".repeat(40)}`])(
  "%s is not an entry",
  async (entry) => {
    const answer = await house.ask(`/admin/sessions/s/entries/${entry}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error: { code: "entry-unknown" } })
  },
)

const huge = "9".repeat(400)
test.each([
  ["sessions?limit=0", "limit"],
  ["sessions?limit=501", "limit"],
  ["sessions?limit=-1", "limit"],
  ["sessions?limit=1e2", "limit"],
  ["sessions?limit=0x10", "limit"],
  ["sessions?limit=%20%205", "limit"],
  ["sessions?limit=٣", "limit"],
  ["sessions?limit=", "limit"],
  [`sessions?limit=${huge}`, "limit"],
  ["sessions?limit=5&limit=6", "limit"],
  ["sessions?before=yesterday", "before"],
  ["sessions?before=9999999999999999:s", "before"],
  ["sessions?agent=", "agent"],
  [`sessions?agent=${"a".repeat(201)}`, "agent"],
  ["sessions?agent=%00", "agent"],
  ["sessions/s/history?from=0", "from"],
  ["sessions/s/history?from=1.5", "from"],
  [`sessions/s/history?from=${huge}`, "from"],
  ["sessions/s/history?full=yes", "full"],
  ["sessions/s/history?limit=NaN", "limit"],
  ["sessions/s/entries/e1?full=2", "full"],
  ["sessions/s/pins?all=true", "all"],
  ["sessions/s/compactions?before=12", "before"],
  ["sessions/s/compactions?limit=51", "limit"],
  ["traces?limit=1001", "limit"],
  ["traces?session=", "session"],
  ["audit?from=-1", "from"],
  ["audit?limit=Infinity", "limit"],
  ["events?session=%0a", "session"],
])("%s is refused with the name of its parameter", async (path, name) => {
  const answer = await house.ask(`/admin/${path}`)
  expect(answer.status).toBe(400)
  const { error } = Object(await answer.json())
  expect(error.code).toBe("request-invalid")
  expect(error.sentence).toContain(`?${name}=`)
  expect(error.sentence.length).toBeLessThan(300)
})

test("every valid session id leads to its session", async () => {
  const { holdfast, read } = await openAdminHouse()
  const name = fc.string({ unit: codePoints, minLength: 1, maxLength: 12 }).filter((id) => {
    // A path cannot end in a dot segment: every client removes it.
    return /^[\x21-\x7e\u00a0-\ud7ff]+$/.test(id) && !/^\.{1,2}$/.test(id) && id.isWellFormed()
  })
  const odd = fc.constantFrom(
    "a/b",
    "%2F",
    "a%b",
    "100%",
    "?x",
    "#x",
    "a.~b",
    ":id",
    "*",
    "%25",
    "ä",
    "a+b",
    "__proto__",
    "\\",
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(odd, name), async (id) => {
      await holdfast.session(id).append([{ role: "user", content: "Good morning." }])
      expect(await read(`/admin/sessions/${encodeURIComponent(id)}`)).toMatchObject({ session: { id } })
    }),
    { numRuns: Math.ceil(runs / 10) },
  )
})
