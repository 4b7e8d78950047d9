import type { Arbitrary } from "fast-check"
import { expect, test } from "vitest"
import { createFailingStore } from "../../test/support/failing-store.ts"
import { fc, runs } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import type { Store } from "../store/store.ts"
import { createHoldfast } from "./holdfast.ts"
import type { Session } from "./session.ts"

/** Two processes with one session, each with its own connection to the store, which may fail. */
type Step =
  | { readonly type: "say" | "prepare" | "pin" | "mend"; readonly who: 0 | 1 }
  | {
      readonly type: "fail"
      readonly who: 0 | 1
      readonly at: number
      readonly when: "before" | "after"
      readonly lasting: boolean
    }

const who = fc.constantFrom<0 | 1>(0, 1)
const step: Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: who.map((one): Step => ({ type: "say", who: one })) },
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constantFrom("prepare" as const, "pin" as const, "mend" as const), who }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("fail" as const),
      who,
      at: fc.integer({ min: 1, max: 6 }),
      when: fc.constantFrom("before" as const, "after" as const),
      lasting: fc.boolean(),
    }),
  },
)

const format = "openai-chat"
const open = (store: Store): Session => createHoldfast({ store, format, windowTokens: 100_000 }).session("s")

async function textsOf(session: Session): Promise<readonly string[]> {
  const { context } = await session.prepare()
  return context.messages.flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? part.text : [])))
}

async function run(steps: readonly Step[]): Promise<void> {
  const inner = createMemoryStore()
  const ways = [createFailingStore(inner), createFailingStore(inner)] as const
  const sessions = [open(ways[0].store), open(ways[1].store)] as const
  const said: string[] = []
  const rules: string[] = []
  for (const [n, taken] of steps.entries()) {
    const session = sessions[taken.who]
    if (taken.type === "say") {
      const content = `${taken.who} says ${n}`
      said.push(content)
      const { durable } = await session.append([{ role: "user", content }])
      if (durable) expect(JSON.stringify(await inner.read("s"))).toContain(content)
    } else if (taken.type === "pin") {
      rules.push(`Rule ${n} stands.`)
      await session.pin(`Rule ${n} stands.`)
    } else if (taken.type === "mend") ways[taken.who].set(undefined)
    else if (taken.type === "fail") ways[taken.who].set({ ...taken, code: "store-unavailable" })
    else await session.prepare().catch((error: unknown) => expect(error).toBeInstanceOf(HoldfastError))
  }
  for (const one of [0, 1] as const) {
    ways[one].set(undefined)
    said.push(`${one} ends`)
    expect((await sessions[one].append([{ role: "user", content: `${one} ends` }])).durable).toBe(true)
    const shown = (await textsOf(sessions[one])).filter((text) => text.startsWith(`${one} `))
    const own = said.filter((text) => text.startsWith(`${one} `))
    expect(shown).toEqual(own.filter((text) => shown.includes(text)))
    expect(shown.at(-1)).toBe(`${one} ends`)
  }
  const fresh = open(inner)
  await fresh.verify()
  const logged = (await fresh.history({ limit: 10_000 })).flatMap(({ message }) =>
    (message?.parts ?? []).flatMap((part) => (part.type === "text" ? part.text : [])),
  )
  expect([...logged].sort()).toEqual([...said].sort())
  expect((await fresh.pins()).map(({ text }) => text).sort()).toEqual([...rules].sort())
}

test("for any outages of two processes with one session, everything said or pinned is in the log once, and the log is intact", async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 30 }), run), { numRuns: Math.ceil(runs / 2) })
})
