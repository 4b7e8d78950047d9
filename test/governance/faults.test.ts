import { describe, expect, test } from "vitest"
import { createGuard } from "../../src/guard/guard.ts"
import { HoldfastError } from "../../src/message/errors.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import type { PinOptions } from "../../src/session/rules/pins.ts"
import type { Session } from "../../src/session/session.ts"
import { createMemoryStore } from "../../src/store/memory-store.ts"
import type { Store } from "../../src/store/store.ts"
import { createFailingStore, type Fault } from "../support/failing-store.ts"
import { completion } from "../support/scripted-session.ts"

const mailRule = { template: "email-domains", domains: ["corp.example"] } as const
const spending = createGuard([mailRule, { template: "spend-limit", amount: 100 }])
const mailing = createGuard([mailRule])

/** Moves on with every look, so that what is known of others is never fresh. */
const createClock = () => {
  let nowMs = Date.UTC(2026, 10, 15)
  return () => {
    nowMs += 2000
    return nowMs
  }
}

const open = (store: Store, guard = spending): Holdfast =>
  createHoldfast({ store, guard: { guard }, format: "openai-chat", now: createClock() })

const answer = (...calls: readonly (readonly [name: string, input: object])[]) =>
  completion(
    {
      role: "assistant",
      content: null,
      tool_calls: calls.map(([name, input], n) => ({
        id: `call_${n}`,
        type: "function",
        function: { name, arguments: JSON.stringify(input) },
      })),
    },
    10,
  )
const toEve = ["send_email", { to: "eve@evil.example", body: "hello" }] as const
const buy = ["buy", { item: "desk", amount: 60, currency: "USD" }] as const

/** The tools whose calls were let through, or the problem. */
async function judged(session: Session, response: object): Promise<readonly string[] | string> {
  try {
    const { response: left } = await session.judge(response)
    return left.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "tool-call" ? part.tool : [])))
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return error.problem.code
  }
}

/** Every place at which a store can fail, in every way: once, and from then on. */
const faults = (places: number): readonly Fault[] =>
  Array.from({ length: places }, (_, n) => n + 1).flatMap((at) =>
    (["before", "after"] as const).flatMap((when) =>
      [false, true].map(
        (lasting): Fault => ({ at, code: at % 2 === 0 ? "store-full" : "store-unavailable", when, lasting }),
      ),
    ),
  )

describe("judging", () => {
  test.each(faults(8))(
    "a store that fails lets no refused call through, and no limit be had twice: %j",
    async (fault) => {
      const inner = createMemoryStore()
      const first = open(inner)
      await first.session("s").append([{ role: "user", content: "Buy a desk." }])
      await first.close()
      const failing = createFailingStore(inner)
      const holdfast = open(failing.store)
      const session = holdfast.session("s")
      failing.set(fault)
      const said = await judged(session, answer(toEve, buy))
      failing.set(undefined)
      if (Array.isArray(said)) {
        expect(said).toEqual(["buy"])
        expect(await judged(session, answer(buy))).toEqual([])
        await holdfast.close()
        const again = open(inner)
        expect(await judged(again.session("s"), answer(buy))).toEqual([])
        expect((await again.session("s").history()).filter(({ type }) => type === "calls-judged")).toHaveLength(3)
      } else {
        expect(said).toMatch(/^store-/)
        expect(await judged(session, answer(buy))).toEqual(["buy"])
      }
    },
  )

  test("a program that never reached the store spends nothing where a limit rests on what was spent, and judges all else", async () => {
    const inner = createMemoryStore()
    expect(await judged(open(inner).session("s"), answer(buy))).toEqual(["buy"])
    const failing = createFailingStore(inner)
    failing.set({ at: 1, code: "store-unavailable", when: "before", lasting: true })
    expect(await judged(open(failing.store).session("s"), answer(buy))).toBe("store-unavailable")
    expect(await judged(open(failing.store, mailing).session("s"), answer(toEve, buy))).toEqual(["buy"])
    await expect(open(failing.store).session("s").guarding()).rejects.toThrow(HoldfastError)
  })

  test("while the store is away what is spent counts, and it is written once the store is back", async () => {
    const inner = createMemoryStore()
    const failing = createFailingStore(inner)
    const holdfast = open(failing.store)
    const session = holdfast.session("s")
    await session.append([{ role: "user", content: "Buy a desk." }])
    failing.set({ at: 1, code: "store-full", when: "before", lasting: true })
    expect(await judged(session, answer(buy))).toEqual(["buy"])
    expect(await judged(session, answer(buy))).toEqual([])
    failing.set(undefined)
    await holdfast.close()
    expect(await judged(open(inner).session("s"), answer(buy))).toEqual([])
  })

  test("with no room left to write down what is decided, nothing is let through", async () => {
    const failing = createFailingStore(createMemoryStore())
    const guard = { guard: mailing }
    const session = createHoldfast({ store: failing.store, guard, format: "openai-chat", unsavedEntries: 0 }).session(
      "s",
    )
    await session.append([{ role: "user", content: "Buy a desk." }])
    failing.set({ at: 1, code: "store-full", when: "before", lasting: true })
    // That the store is away is known from the first on.
    await judged(session, answer(buy))
    expect(await judged(session, answer(buy))).toBe("store-full")
  })

  test("what two programs spend while neither sees the other is added up once they do", async () => {
    const inner = createMemoryStore()
    const away = createFailingStore(inner)
    const [cut, free] = [open(away.store), open(inner)]
    await cut.session("s").append([{ role: "user", content: "Buy a desk." }])
    away.set({ at: 1, code: "store-unavailable", when: "before", lasting: true })
    const small = ["buy", { item: "lamp", amount: 45, currency: "USD" }] as const
    const pen = ["buy", { item: "pen", amount: 15, currency: "USD" }] as const
    expect(await judged(cut.session("s"), answer(small))).toEqual(["buy"])
    expect(await judged(free.session("s"), answer(small))).toEqual(["buy"])
    away.set(undefined)
    await cut.session("s").append([{ role: "user", content: "And now?" }])
    expect(await judged(free.session("s"), answer(pen))).toEqual([])
    expect(await judged(cut.session("s"), answer(pen))).toEqual([])
  })
})

const rule = "Never paint the old quay."
const standing = async (store: Store, session: string): Promise<number> =>
  (await open(store).session(session).pins()).filter(({ text }) => text === rule).length

const scopes: readonly PinOptions[] = [{}, { scope: "agent" }, { scope: "project" }]
const pinCases = scopes.flatMap((options) => faults(5).map((fault) => ({ options, fault })))

describe("pinning", () => {
  test.each(pinCases)("what was acknowledged stands in the end, once: %j", async ({ options, fault }) => {
    const failing = createFailingStore(createMemoryStore())
    const holdfast = open(failing.store)
    const session = holdfast.session("s")
    await session.append([{ role: "user", content: "Hello." }])
    failing.set(fault)
    const pin = await session.pin(rule, options).catch((error: unknown) => {
      if (!(error instanceof HoldfastError)) throw error
    })
    failing.set(undefined)
    await session.prepare()
    await holdfast.close()
    const other = options.scope === undefined ? "s" : "another"
    expect(await standing(failing.store, other)).toBe(pin === undefined ? 0 : 1)
  })

  test.each(pinCases)("what was taken back stays so: %j", async ({ options, fault }) => {
    const failing = createFailingStore(createMemoryStore())
    const holdfast = open(failing.store)
    const session = holdfast.session("s")
    const { id } = await session.pin(rule, options)
    failing.set(fault)
    const done = await session.unpin(id).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof HoldfastError)) throw error
        return false
      },
    )
    failing.set(undefined)
    await session.prepare({ model: "m" }).catch(() => undefined)
    await holdfast.close()
    expect(await standing(failing.store, "s")).toBe(done ? 0 : 1)
  })

  test("many sessions pin for all at the same moment, and every rule stands", async () => {
    const holdfast = open(createMemoryStore())
    const texts = Array.from({ length: 12 }, (_, n) => `Never open door ${n}.`)
    await Promise.all(texts.map((text, n) => holdfast.session(`s${n}`).pin(text, { scope: "project" })))
    const pins = await holdfast.session("last").pins()
    expect(pins.map(({ text }) => text).sort()).toEqual([...texts].sort())
  })
})
