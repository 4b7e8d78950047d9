import { describe, expect, test } from "vitest"
import { createFailingStore } from "../../test/support/failing-store.ts"
import { answerTo, completion, toolRound, userSays } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"
import type { HoldfastOptions } from "./state/options.ts"

const format = "openai-chat"

describe("invalid options are refused by name", () => {
  const wrong: readonly (readonly [string, object])[] = [
    ["maxWaitMs", { maxWaitMs: -1 }],
    ["maxWaitMs", { maxWaitMs: Number.NaN }],
    ["summarizerMs", { summarizerMs: 1.5 }],
    ["speculations", { speculations: "2" }],
    ["openSessions", { openSessions: -3 }],
    ["unsavedEntries", { unsavedEntries: Number.POSITIVE_INFINITY }],
    ["agent", { agent: "" }],
    ["agent", { agent: 7 }],
    ["redact", { redact: ["password"] }],
    ["redact", { redact: [{ pattern: "password" }] }],
  ]
  test.each(wrong)("%s in %j", (option, options) => {
    expect(() => createHoldfast(options)).toThrow(
      expect.objectContaining({ problem: expect.objectContaining({ code: "option-invalid", option }) }),
    )
  })

  const later: readonly (readonly [string, object])[] = [
    ["windowTokens", { windowTokens: 0 }],
    ["reserveTokens", { reserveTokens: -1 }],
    ["schema", { schema: "poem" }],
    ["strategy", { strategy: "hope" }],
    ["policy.compactAt", { policy: { compactAt: "high" } }],
    ["pins", { pins: [""] }],
    ["summarizer", { summarizer: 5 }],
  ]
  test.each(later)("%s in %j, at the latest when it is used", async (option, options: HoldfastOptions) => {
    const act = async () => {
      const session = createHoldfast({ store: createMemoryStore(), format, ...options }).session("s")
      await session.append([userSays(1)])
      await session.prepare()
      await session.compact()
    }
    await expect(act()).rejects.toMatchObject({ problem: { code: "option-invalid", option } })
  })

  test.each(["", "a b", "x".repeat(201), "a\nb", JSON.parse("5")])("%j is not a valid session id", (id) => {
    expect(() => createHoldfast({ store: createMemoryStore() }).session(id)).toThrow(/session/)
  })
})

test.each([
  ["windowTokens", { windowTokens: -1 }],
  ["windowTokens", { windowTokens: 0.5 }],
  ["reserveTokens", { reserveTokens: -1 }],
  ["maxOutputTokens", { maxOutputTokens: 0 }],
  ["maxWaitMs", { maxWaitMs: Number.NaN }],
])("a call with an invalid %s is refused by name, and nothing is written", async (option, options) => {
  const holdfast = createHoldfast({ store: createMemoryStore(), format })
  const session = holdfast.session("refused")
  const body = { model: "gpt-5", messages: [{ role: "user", content: "Hello." }] }
  await expect(session.prepare({ body, ...options })).rejects.toMatchObject({
    problem: { code: "option-invalid", option },
  })
  expect(await session.history()).toEqual([])
  await holdfast.close()
})

test("the least recently used session is closed and reopens unchanged, unless it has unsaved entries", async () => {
  const failing = createFailingStore(createMemoryStore())
  const holdfast = createHoldfast({ store: failing.store, format, openSessions: 2 })
  await holdfast.session("kept").append([userSays(1)])
  failing.set({ at: 1, code: "store-full", when: "before", lasting: true, only: ["append"] })
  expect((await holdfast.session("kept").append([userSays(2)])).durable).toBe(false)
  for (let n = 0; n < 6; n++)
    await holdfast
      .session(`s${n}`)
      .history()
      .catch(() => undefined)
  failing.set(undefined)
  expect((await holdfast.session("kept").append([userSays(3)])).durable).toBe(true)
  const told = (await holdfast.session("kept").history()).flatMap(({ message }) => message?.wire ?? [])
  expect(told).toEqual([1, 2, 3].map((n) => JSON.stringify(userSays(n))))
  for (let n = 0; n < 6; n++) await holdfast.session(`s${n}`).append([userSays(n)])
  for (let n = 0; n < 6; n++) expect((await holdfast.session(`s${n}`).history()).length).toBe(2)
})

test("a provider that counts twice as many tokens gives half the window, also after a restart", async () => {
  const store = createMemoryStore()
  const open = () =>
    createHoldfast({ store, format, model: "any", windowTokens: 100_000, reserveTokens: 100 }).session("s")
  const session = open()
  let estimated = 0
  for (let n = 1; n <= 8; n++) {
    await session.append([userSays(n), ...toolRound(n, 40)])
    const { trace } = await session.prepare()
    const plan = trace.find((event) => event.type === "plan-made")
    estimated = plan?.type === "plan-made" ? plan.sizes.contextTokens : 0
    await session.record(completion(answerTo(n), estimated * 2))
  }
  for (const one of [session, open()]) {
    const { trace, receipt } = await one.prepare()
    const plan = trace.find((event) => event.type === "plan-made")
    const sizes = plan?.type === "plan-made" ? plan.sizes : undefined
    expect(sizes?.windowTokens).toBeGreaterThan(45_000)
    expect(sizes?.windowTokens).toBeLessThan(60_000)
    expect(receipt.windowTokens).toBe(100_000)
    expect(receipt.contextTokens).toBeGreaterThan(1.7 * (sizes?.contextTokens ?? 0))
  }
})

test("a deleted session is gone, including pending background writes", async () => {
  const store = createMemoryStore()
  const holdfast = createHoldfast({
    store,
    format,
    windowTokens: 6000,
    reserveTokens: 200,
    summarizer: async () => "## Status\n- Order A-1 is done.",
  })
  const session = holdfast.session("s")
  for (let n = 1; n <= 9; n++) {
    await session.append([userSays(n), ...toolRound(n, 40)])
    await session.prepare()
  }
  await session.remove()
  await holdfast.idle()
  expect(await holdfast.sessions()).toEqual([])
  expect(await store.holdings("s")).toEqual({ payloads: [], summaries: [], memory: [] })
  expect(await store.jobs.list()).toEqual([])
  await expect(session.remove()).rejects.toMatchObject({ problem: { code: "session-unknown" } })
  await holdfast.close()
})
