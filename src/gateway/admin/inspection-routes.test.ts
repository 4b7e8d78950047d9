import { expect, test } from "vitest"
import { converse, openAdminHouse, type Told } from "../../../test/fixtures/gateway/admin-house.ts"
import { writeLongSession } from "../../../test/inspector/open-inspector.ts"
import { fc } from "../../../test/support/property.ts"
import { createGuard } from "../../guard/guard.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { isObject } from "../../wire/json.ts"
import { thin } from "./session-summary.ts"

const lists = (value: unknown): readonly Told[] => (Array.isArray(value) ? value.filter(isObject) : [])

test("a list shows the title and figures of each session, and can be limited to one tenant", async () => {
  const { read, store, holdfast } = await openAdminHouse()
  await writeLongSession(store, "one.long", 250)
  await holdfast.session("two.other", { tenant: "two" }).append([{ role: "user", content: "Good morning." }])
  const all = lists((await read("/admin/sessions")).sessions)
  expect(all.map(({ id }) => id).sort()).toEqual(["one.long", "two.other"])
  expect(all.find(({ id }) => id === "one.long")).toMatchObject({
    title: "Port the importer, one table at a time.",
    turns: 250,
    model: "claude-sonnet-4-5",
    compactionCount: 2,
    windowTokens: 200_000,
    cost: { dollars: expect.any(Number), savedDollars: expect.any(Number) },
  })
  expect(lists((await read("/admin/sessions?tenant=two")).sessions)).toMatchObject([{ title: "Good morning." }])
  expect(await read("/admin/totals?tenant=one")).toMatchObject({ sessions: 1, turns: 250, compactions: 2, unpriced: 0 })
})

test("the savings of a compaction never exceed what fits the window", async () => {
  const { read, store } = await openAdminHouse()
  await writeLongSession(store, "one.long", 1000)
  const [row] = lists((await read("/admin/sessions")).sessions)
  const cost = isObject(row?.cost) ? row.cost : {}
  // At most the whole window is read from cache in each of a thousand turns, at 0.30 dollars a million.
  expect(cost.savedDollars).toBeLessThan((1000 * 200_000 * 0.3) / 1e6)
  expect(cost.savedDollars).toBeGreaterThan(0)
})

test("the series of turns continues when more is written", async () => {
  const { read, store, holdfast } = await openAdminHouse()
  await writeLongSession(store, "one.long", 40)
  expect(await read("/admin/sessions/one.long/turns")).toMatchObject({ total: 40 })
  await holdfast.session("one.long").append([{ role: "user", content: "And now the last one." }])
  const told = await read("/admin/sessions/one.long/events?from=80&limit=10")
  expect(lists(told.events).at(-1)).toMatchObject({ line: { who: "person", text: "And now the last one." } })
})

test("events are listed page by page, each once and in order", async () => {
  const { read, store } = await openAdminHouse()
  await writeLongSession(store, "one.long", 120)
  const whole = lists((await read("/admin/sessions/one.long/events?limit=500")).events)
  const paged: unknown[] = []
  for (let from = 0; from < whole.length; from += 37)
    paged.push(...lists((await read(`/admin/sessions/one.long/events?from=${from}&limit=37`)).events))
  expect(paged).toEqual(whole)
  expect(whole).toHaveLength(241)
  const only = await read("/admin/sessions/one.long/events?only=compactions")
  expect(lists(only.events)).toMatchObject([{ type: "checkpoint-installed", turn: 101 }])
})

test("the messages of a compaction add up to its two sizes, and each has one action", async () => {
  const { read, holdfast } = await openAdminHouse()
  await converse(holdfast, "s")
  const [made] = (await holdfast.session("s").overview()).checkpoints
  const told = await read(`/admin/sessions/s/compactions/${made?.id}`)
  const items = lists(told.items)
  const stack = isObject(told.stackTokens) ? told.stackTokens : {}
  const handoff = isObject(told.handoff) ? told.handoff : {}
  const sum = (name: string): number => items.reduce((total, item) => total + Number(item[name]), 0)
  expect(items.length).toBe(12)
  expect(Math.abs(sum("beforeTokens") + Number(stack.before) - (made?.beforeTokens ?? 0))).toBeLessThanOrEqual(
    items.length,
  )
  const pins = items.some(({ id }) => id === "pins") ? 0 : Number(told.rulesTokens)
  const after = sum("afterTokens") + Number(stack.after) + Number(handoff.tokens) + pins
  expect(Math.abs(after - (made?.afterTokens ?? 0))).toBeLessThanOrEqual(items.length)
  expect(items.every(({ action }) => /^(?:kept|shortened|summarized|dropped)$/.test(String(action)))).toBe(true)
})

test("what was said is found by words in all sessions, in one of them, and in those of one tenant", async () => {
  const { read, ask, holdfast } = await openAdminHouse()
  await holdfast.session("one.a", { tenant: "one" }).append([
    { role: "user", content: "The importer stops at the third table." },
    { role: "assistant", content: "I look into the importer." },
  ])
  await holdfast.session("two.b", { tenant: "two" }).append([{ role: "user", content: "Who broke the importer?" }])
  const found = async (path: string) =>
    lists((await read(path)).found)
      .map(({ session, entry }) => `${session} ${entry}`)
      .sort()
  expect(await found("/admin/search?query=importers")).toEqual(["one.a e2", "one.a e3", "two.b e2"])
  expect(await found("/admin/search?query=importers&tenant=two")).toEqual(["two.b e2"])
  expect(await found("/admin/search?query=third+importer&session=one.a&limit=1")).toEqual(["one.a e2"])
  expect(await read("/admin/search?query=third+table&limit=1")).toMatchObject({
    sessions: 2,
    cut: false,
    found: [{ role: "user", kind: "text", pieces: expect.arrayContaining([{ text: "third", isUsed: true }]) }],
  })
  for (const path of ["?query=", "?query=x&limit=0", "?query=x&limit=1000"])
    expect((await ask(`/admin/search${path}`)).status, path).toBe(400)
  expect((await ask("/admin/search?query=x&session=nobody")).status).toBe(404)
})

const answerOf = (message: object) => ({
  choices: [{ index: 0, message, finish_reason: "stop" }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
})

test("a rule says since which turn and in how many requests it was held, and which calls it denied", async () => {
  const { read, store } = await openAdminHouse()
  const holdfast = createHoldfast({
    store,
    format: "openai-chat",
    guard: { guard: createGuard([]), fromRules: "enforce" },
  })
  const session = holdfast.session("s")
  const turn = async (said: object, answer: object): Promise<void> => {
    await session.append([said])
    await session.prepare({ model: "gpt-5.4" })
    await session.record(answerOf(answer))
  }
  await turn({ role: "user", content: "Good morning." }, { role: "assistant", content: "Good morning." })
  await turn(
    { role: "user", content: "From now on, never e-mail anyone outside example.com." },
    { role: "assistant", content: "I will not." },
  )
  await turn({ role: "user", content: "Write to Bo." }, { role: "assistant", content: "Done." })
  const call = { name: "send_email", arguments: JSON.stringify({ to: "bo@elsewhere.test", body: "Hello" }) }
  await session.judge(answerOf({ role: "assistant", tool_calls: [{ id: "c1", type: "function", function: call }] }))
  await session.pin("Write in metric units.")
  const { pins } = await read("/admin/sessions/s/pins")
  expect(lists(pins)).toMatchObject([
    { text: expect.stringContaining("never e-mail"), held: { turn: 2, requests: 2, denied: 1 } },
    { text: "Write in metric units.", held: { turn: 4, requests: 0, denied: 0 } },
  ])
  await holdfast.close()
})

test.each([
  ["observe", "allow"],
  ["enforce", "deny"],
] as const)("a call that a rule would stop is an event and a decision where rules %s", async (fromRules, decision) => {
  const { read, store } = await openAdminHouse()
  const holdfast = createHoldfast({ store, format: "openai-chat", guard: { guard: createGuard([]), fromRules } })
  const session = holdfast.session("s")
  const rule = "Never e-mail anyone outside example.com."
  await session.append([{ role: "user", content: `${rule} Write to Bo.` }])
  const calls = ["bo@elsewhere.test", "bo@example.com"].map((to, n) => ({
    ...{ id: `c${n}`, type: "function" },
    function: { name: "send_email", arguments: JSON.stringify({ to, body: "Hello" }) },
  }))
  await session.judge(answerOf({ role: "assistant", tool_calls: calls }))
  const observed = [{ rule, decision: "deny" }]
  const told = { callId: "c0", decision, ...(fromRules === "observe" ? { observed } : {}) }
  const { events } = await read("/admin/sessions/s/events?only=judged")
  expect(lists(events)).toMatchObject([{ type: "calls-judged", calls: [told] }])
  expect(lists((await read("/admin/sessions/s/turns")).decisions)).toMatchObject([told])
  const counts = fromRules === "observe" ? { denied: 0, observed: 1 } : { denied: 1, observed: 0 }
  expect(lists((await read("/admin/sessions/s/pins")).pins)).toMatchObject([{ text: rule, held: counts }])
  expect(lists((await read("/admin/rows?ids=s")).sessions)).toMatchObject([{ denied: counts.denied }])
  await holdfast.close()
})

test("what if: as it was costs what the list says that it cost", async () => {
  const { read, store } = await openAdminHouse()
  await writeLongSession(store, "one.long", 40)
  const [row] = lists((await read("/admin/sessions")).sessions)
  const told = await read("/admin/sessions/one.long/what-if?window=30000")
  const dollars = (course: unknown): unknown =>
    isObject(course) && isObject(course.totals) ? course.totals.dollars : undefined
  expect(dollars(told.asItWas)).toBeCloseTo(Number(isObject(row?.cost) ? row.cost.dollars : Number.NaN), 9)
  expect(dollars(told.whatIf)).toBeLessThan(Number(dollars(told.noCompaction)))
})

test("for any series, thinning keeps its order, its size and both extremes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(1000), { minLength: 1, maxLength: 300 }),
      fc.integer({ min: 2, max: 50 }),
      (list, most) => {
        const points = list.map((value, at) => ({ value, at }))
        const kept = thin(points, most, ({ value }) => value)
        expect(kept.length).toBeLessThanOrEqual(Math.max(most, 2))
        expect(kept.map(({ at }) => at)).toEqual(kept.map(({ at }) => at).toSorted((one, other) => one - other))
        expect(Math.max(...kept.map(({ value }) => value))).toBe(Math.max(...list))
        expect(Math.min(...kept.map(({ value }) => value))).toBe(Math.min(...list))
      },
    ),
  )
})
