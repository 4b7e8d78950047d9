import { expect, test } from "vitest"
import { createFailingStore, type Fault } from "../../test/support/failing-store.ts"
import { longestPieceShare } from "../../test/support/longest-piece.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast } from "./holdfast.ts"

/** More messages than are saved at once; some of them have a payload. */
const history = Array.from({ length: 2600 }, (_, n) => ({
  role: n % 2 === 0 ? "user" : "assistant",
  content: n % 7 === 0 ? `line ${n} `.repeat(200) : `message ${n}`,
}))
const body = (length: number): object => ({ model: "gpt-5.4", messages: history.slice(0, length) })

async function wiresIn(store: Store): Promise<readonly unknown[]> {
  const entries = await createHoldfast({ store, format: "openai-chat" }).session("s").history({ limit: 10_000 })
  return entries.flatMap(({ message }) => (message?.wire === undefined ? [] : [JSON.parse(message.wire)]))
}

const faults: readonly (readonly [string, Fault])[] = [
  ["the second part is refused", { at: 2, code: "store-unavailable", when: "before", only: ["append"] }],
  ["the answer to the second part is lost", { at: 2, code: "store-unavailable", when: "after", only: ["append"] }],
  [
    "the store stays away from the second part on",
    { at: 2, code: "store-full", when: "before", only: ["append"], lasting: true },
  ],
]

test.each(faults)(
  "a long history is saved in parts: if %s, every message is in the log once in the end",
  async (_name, fault) => {
    const inner = createMemoryStore()
    const { store, set, calls, hasFailed } = createFailingStore(inner)
    const session = createHoldfast({ store, format: "openai-chat" }).session("s")
    set(fault)
    const first = await session.prepare({ format: "openai-chat", body: body(2599) })
    expect(hasFailed()).toBe(true)
    expect(first.receipt.durable).toBe(false)
    set(undefined)
    const next = await session.prepare({ format: "openai-chat", body: body(2600) })
    expect(next.receipt.durable).toBe(true)
    expect(calls().filter((name) => name === "append").length).toBeGreaterThan(0)
    expect(await wiresIn(inner)).toEqual(history)
  },
)

test("another process that writes between two parts of a long history causes no duplicates", async () => {
  const inner = createMemoryStore()
  let appends = 0
  const other = createHoldfast({ store: inner, format: "openai-chat" }).session("s")
  const append: Store["append"] = async (name, batch) => {
    if (name === "s" && ++appends === 2) await other.pin("Never push to main.")
    return inner.append(name, batch)
  }
  const session = createHoldfast({ store: { ...inner, append }, format: "openai-chat" }).session("s")
  const { receipt, rules } = await session.prepare({ format: "openai-chat", body: body(2600) })
  expect(receipt.durable).toBe(true)
  expect(rules).toContain("Never push to main.")
  expect(await wiresIn(inner)).toEqual(history)
})

test("a history with 400 rules, some of them changed later, is stored without blocking the event loop", async () => {
  const messages = Array.from({ length: 400 }, (_, n) => [
    {
      role: "user",
      content:
        n % 50 === 49
          ? "The report is due at 7 now."
          : `Look at src/${n}.ts in conversation 3; never change file ${n} without a test.`,
    },
    { role: "assistant", content: `Done with ${n}.` },
  ]).flat()
  const ask = { role: "user", content: "And now?" }
  const request = (count: number) => ({
    format: "openai-chat" as const,
    body: { model: "gpt-5.4", messages: [...messages.slice(0, count), ask] },
  })
  const open = () => createHoldfast({ store: createMemoryStore(), format: "openai-chat" }).session("s")
  await open().prepare(request(40))
  const session = open()
  const share = await longestPieceShare(() => session.prepare(request(800)))
  expect((await session.pins({ all: true })).length).toBeGreaterThan(250)
  expect(share).toBeLessThan(0.5)
})
