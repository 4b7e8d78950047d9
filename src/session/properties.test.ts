import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { objectionTo } from "../../test/support/objection.ts"
import { fc, runs } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast, type Holdfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

type Wire = Readonly<Record<string, unknown>>

const words = "order file total region invoice parser limit account report module draft table north refund".split(" ")
const say = (seed: number, length: number): string =>
  Array.from({ length }, (_, n) => words[(seed * 7 + n * n + n) % words.length]).join(" ")

type Turn = (n: number) => readonly Wire[]

const turn: Arbitrary<Turn> = fc.oneof(
  fc.tuple(fc.nat(99), fc.integer({ min: 1, max: 120 })).map(([seed, length]): Turn => {
    return (n) => [{ role: "user", content: `request ${n}: ${say(seed, length)}` }]
  }),
  fc.tuple(fc.nat(99), fc.integer({ min: 1, max: 60 })).map(([seed, length]): Turn => {
    return (n) => [{ role: "assistant", content: `answer ${n}: ${say(seed, length)}` }]
  }),
  fc
    .array(fc.tuple(fc.nat(99), fc.integer({ min: 1, max: 200 })), { minLength: 1, maxLength: 3 })
    .map((calls): Turn => {
      return (n) => [
        {
          role: "assistant",
          content: null,
          tool_calls: calls.map(([seed], at) => ({
            id: `call_${n}_${at}`,
            type: "function",
            function: { name: "read_file", arguments: JSON.stringify({ path: `src/${seed}.ts` }) },
          })),
        },
        ...calls.map(([seed, length], at) => ({
          role: "tool",
          tool_call_id: `call_${n}_${at}`,
          content: say(seed, length).replaceAll(" ", "\n"),
        })),
      ]
    }),
)

type Step =
  | { readonly type: "say"; readonly turn: Turn }
  | { readonly type: "prepare" | "compact" | "undo" | "restart" | "fork" | "evict" }

const step: Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: turn.map((made): Step => ({ type: "say", turn: made })) },
  {
    weight: 7,
    arbitrary: fc
      .constantFrom(
        "prepare" as const,
        "prepare" as const,
        "compact" as const,
        "undo" as const,
        "restart" as const,
        "fork" as const,
      )
      .map((type): Step => ({ type })),
  },
)

const rule = "Never write to the north table."
const format = "openai-chat"
const system = "You are careful."

const open = (store: Store, windowTokens: number): Holdfast =>
  createHoldfast({ store, format, windowTokens, reserveTokens: 100, pins: [rule], recall: true })

/** The model of a session: all messages, what is shown, and what undoing the compactions in force would show. */
type Reference = {
  said: Wire[]
  shown: Wire[]
  readonly compactions: { readonly before: readonly Wire[]; readonly said: number }[]
}

const messagesOf = (body: string): readonly Wire[] => JSON.parse(body).messages.slice(2)

async function prepareAndCompare(
  session: Session,
  reference: Reference,
  windowTokens: number,
  compact: boolean,
): Promise<void> {
  const act = async () => {
    if (!compact) return session.prepare({ system })
    const { trace } = await session.compact({ system })
    const next = await session.prepare({ system })
    return { ...next, trace: [...trace, ...next.trace] }
  }
  let prepared: Awaited<ReturnType<typeof act>>
  try {
    prepared = await act()
  } catch (error) {
    expect(error).toBeInstanceOf(HoldfastError)
    expect(["budget-impossible", "floor-exceeds-window"]).toContain((error as HoldfastError).problem.code)
    return
  }
  const shown = messagesOf(prepared.wire)
  const installed = prepared.trace.filter(({ type }) => type === "checkpoint-installed").length
  expect(installed).toBeLessThanOrEqual(1)
  if (installed > 0) {
    reference.compactions.push({ before: reference.shown, said: reference.said.length })
    reference.shown = [...shown]
  }
  expect(shown).toEqual(reference.shown)
  expect(objectionTo(format, prepared.wire)).toBe(
    reference.said.some(({ role }) => role === "user") ? undefined : objectionTo(format, prepared.wire),
  )
  const latest = reference.said.findLast(({ role }) => role === "user")
  if (latest !== undefined) expect(shown).toContainEqual(latest)
  expect(prepared.wire).toContain(rule)
  expect(prepared.receipt.contextTokens).toBeLessThanOrEqual(windowTokens - 100)
}

async function run(steps: readonly Step[], windowTokens: number): Promise<void> {
  const store = createMemoryStore()
  let holdfast = open(store, windowTokens)
  let session = holdfast.session("s0")
  let reference: Reference = { said: [], shown: [], compactions: [] }
  for (const [n, taken] of steps.entries()) {
    if (taken.type === "say") {
      const messages = taken.turn(n)
      const { durable, entries } = await session.append(messages)
      expect([durable, entries.length]).toEqual([true, messages.length])
      reference.said = [...reference.said, ...messages]
      reference.shown = [...reference.shown, ...messages]
    } else if (taken.type === "undo") {
      const last = reference.compactions.pop()
      if (last === undefined) {
        await expect(session.undo()).rejects.toMatchObject({ problem: { code: "nothing-to-undo" } })
      } else {
        await session.undo()
        reference.shown = [...last.before, ...reference.said.slice(last.said)]
      }
    } else if (taken.type === "restart") {
      await holdfast.close()
      holdfast = open(store, windowTokens)
      session = holdfast.session(session.id)
    } else if (taken.type === "fork") {
      if (reference.said.length === 0) continue
      session = await session.fork(`s${n + 1}`)
      reference = { ...reference, compactions: [...reference.compactions] }
    } else if (reference.said.length > 0) {
      await prepareAndCompare(session, reference, windowTokens, taken.type === "compact")
    }
  }
  const told = (await session.history({ limit: 10_000 })).filter(({ onBranch }) => onBranch === true)
  expect(told.map(({ message }) => JSON.parse(message?.wire ?? "null"))).toEqual(reference.said)
  if (reference.said.length > 0) await session.verify()
  await holdfast.close()
}

test("for any interleaving of appending, preparing, compacting, undoing, forking and restarting, a session equals a list of messages", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 500, max: 4000 }), run), {
    numRuns: Math.ceil(runs / 4),
  })
})
