import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"
import type { SessionEvent } from "./state/events.ts"
import type { MemoryOptions } from "./state/options.ts"

type Flushed = Extract<SessionEvent, { type: "memory-flushed" }>

/** A program with small sessions, so that memory is written on nearly every turn. */
function open(memory: MemoryOptions = {}, windowTokens = 6000) {
  const store = createMemoryStore()
  const holdfast = createHoldfast({ store, format: "openai-chat", windowTokens, reserveTokens: 300, memory })
  const flushes: Flushed[] = []
  holdfast.subscribe((event) => {
    if (event.type === "memory-flushed") flushes.push(event)
  })
  return { holdfast, store, flushes }
}

/** Where the text of a turn is placed. */
type Place = "user" | "tool" | "assistant"

async function talk(holdfast: Holdfast, id: string, texts: readonly string[], place: Place): Promise<void> {
  const session = holdfast.session(id)
  for (const [turn, text] of texts.entries()) {
    const call = { id: `c${turn}`, type: "function", function: { name: "read_log", arguments: "{}" } }
    await session.append([
      { role: "user", content: place === "user" ? `Look at this.\n${text}` : "Look at the next log." },
      { role: "assistant", content: "I look.", tool_calls: [call] },
      { role: "tool", tool_call_id: `c${turn}`, content: place === "tool" ? text : "done" },
      { role: "assistant", content: place === "assistant" ? `It has:\n${text}` : "Nothing is wrong with it." },
    ])
    await session.prepare({ system: "You are careful." })
    await holdfast.idle()
  }
}

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length })
const idLine = fc.oneof(
  fc.tuple(hex(32), hex(10)).map(([request, user]) => `2026-11-15T09:12:33Z request=${request} user=usr_${user}`),
  hex(40).map((id) => `commit ${id} build-${id.slice(0, 5)} /srv/app/${id.slice(0, 6)}/main.ts:17`),
  fc.tuple(hex(8), fc.nat(99_999)).map(([id, n]) => `{"order_id":"ORD-${n}","sku":"SKU-${id}","amount":${n / 100}}`),
)
const idText = fc.array(idLine, { minLength: 25, maxLength: 40 }).map((lines) => lines.join("\n"))

/** Limit on the lines of a turn: a few notes on what was asked, done and concluded, plus listed values. */
const rowsPerTurn = 20

describe("text full of identifiers", () => {
  test("leaves a few lines a turn in memory, from any channel, and the event counts the values left out", async () => {
    const places = fc.constantFrom<Place>("user", "tool", "assistant")
    await fc.assert(
      fc.asyncProperty(fc.array(idText, { minLength: 4, maxLength: 6 }), places, async (texts, place) => {
        const { holdfast, store, flushes } = open()
        await talk(holdfast, "s", texts, place)
        await holdfast.close()
        const rows = (await store.holdings("s")).memory.length
        expect(rows).toBeLessThanOrEqual(rowsPerTurn * texts.length)
        expect(flushes.length).toBeGreaterThan(0)
        expect(flushes.some(({ worthless = 0 }) => worthless > 0)).toBe(true)
      }),
      { numRuns: 25 },
    )
  })

  test("that is repeated in another session is not stored again", async () => {
    const { holdfast, store, flushes } = open({}, 1500)
    const texts = [1, 2, 3, 4].map((n) => `I chose pump ${n} because hall ${n} is free. ${"It is long. ".repeat(60)}`)
    for (const id of ["s", "t"]) await talk(holdfast, id, texts, "assistant")
    await holdfast.close()
    const data = async (id: string): Promise<number> => {
      const { memory } = await store.holdings(id)
      const rows = await store.memory.get({ tenant: "", agent: "default" }, [...new Set(memory.map((row) => row.id))])
      return rows.filter(({ session, trusted, subject }) => session === id && !trusted && subject === undefined).length
    }
    expect(await data("s")).toBeGreaterThan(0)
    expect(await data("t")).toBe(0)
    expect(flushes.filter(({ session }) => session === "t").some(({ known = 0 }) => known > 0)).toBe(true)
  })
})

describe("what there is nothing to remember of", () => {
  const filler = "It is long. ".repeat(60)
  const empty = [1, 2, 3].map(() => `Go on. ${filler}`)
  const orders = [4, 5].map((turn) => `My order is ORD-77${turn}41 and the host is srv-${turn}.example. ${filler}`)
  const notedIn = async (store: Store): Promise<number> =>
    (await store.outline("s", { from: 1, limit: 1000 })).filter(({ type }) => type === "memory-flushed").length

  test("takes no write of its own, and what follows is remembered all the same, also by another process", async () => {
    const { holdfast, store, flushes } = open({}, 1500)
    await talk(holdfast, "s", empty, "user")
    const before = await notedIn(store)
    await talk(holdfast, "s", empty, "user")
    expect(flushes.at(-1)?.rows).toBe(0)
    expect(await notedIn(store)).toBe(before)
    await holdfast.close()
    const other = createHoldfast({ store, format: "openai-chat", windowTokens: 1500, reserveTokens: 300 })
    await talk(other, "s", orders, "user")
    await other.close()
    expect(await notedIn(store)).toBeGreaterThan(before)
    const { memory } = await store.holdings("s")
    const rows = await store.memory.get({ tenant: "", agent: "default" }, [...new Set(memory.map(({ id }) => id))])
    for (const order of ["ORD-77441", "ORD-77541"]) expect(rows.some(({ text }) => text.includes(order))).toBe(true)
  })
})

describe("the limits of a day", () => {
  const wishes = (turn: number): string =>
    `My order is ORD-77${turn}41 and the host is srv-${turn}.example. Ship it by 2030-01-0${turn}. ${"It is long. ".repeat(60)}`

  test.each([
    ["session-day", { sessionRowsPerDay: 6 }],
    ["agent-day", { agentRowsPerDay: 6 }],
  ] as const)("%s: no more is written than it allows, and the event names the limit", async (limit, memory) => {
    const { holdfast, store, flushes } = open(memory, 1500)
    await talk(holdfast, "s", [1, 2, 3, 4, 5].map(wishes), "user")
    await holdfast.close()
    expect((await store.holdings("s")).memory.length).toBe(6)
    expect(flushes.some((flushed) => flushed.limit === limit && (flushed.leftOut ?? 0) > 0)).toBe(true)
  })

  test("that are not numbers are refused by name", () => {
    for (const name of ["sessionRowsPerDay", "agentRowsPerDay"])
      expect(() => createHoldfast({ memory: { [name]: -1 } })).toThrow(`memory.${name}`)
  })
})
