import { expect, test } from "vitest"
import { converse, openAdminHouse, type Told } from "../../../test/fixtures/gateway/admin-house.ts"
import { writeLongSession } from "../../../test/inspector/open-inspector.ts"
import { fc } from "../../../test/support/property.ts"
import { isObject } from "../../wire/json.ts"
import { thin } from "./session-profile.ts"

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
