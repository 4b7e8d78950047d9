import { expect, test } from "vitest"
import { createFailingStore } from "../../../test/support/failing-store.ts"
import { answerTo, completion, toolRound, userSays } from "../../../test/support/scripted-session.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { createHoldfast } from "../holdfast.ts"
import type { SessionEvent } from "./events.ts"

const options = { format: "openai-chat", windowTokens: 6000, reserveTokens: 200 } as const

test("a listener gets each event once, and only of its session", async () => {
  const failing = createFailingStore(createMemoryStore())
  const holdfast = createHoldfast({
    store: failing.store,
    ...options,
    summarizer: async () => "## Status\n- Order A-1 is done.",
  })
  const all: SessionEvent[] = []
  const other: SessionEvent[] = []
  holdfast.subscribe((event) => all.push(event))
  holdfast.session("other").subscribe((event) => other.push(event))
  const session = holdfast.session("s")
  const heard = (type: SessionEvent["type"]): number => all.filter((event) => event.type === type).length
  await session.append([userSays(1)])
  expect([heard("entries-appended"), heard("context-prepared")]).toEqual([1, 0])
  for (let n = 2; heard("compaction-installed") === 0; n++) {
    await session.append([userSays(n), ...toolRound(n, 40)])
    const { receipt } = await session.prepare()
    if (n === 2) expect(heard("context-prepared")).toBe(1)
    await session.record(completion(answerTo(n), receipt.contextTokens))
    await holdfast.idle()
  }
  expect([heard("summary-ready"), heard("compaction-installed")]).toEqual([1, 1])
  expect(heard("memory-flushed")).toBeGreaterThan(0)
  await session.undo()
  expect(heard("compaction-undone")).toBe(1)
  failing.set({ at: 1, code: "store-full", when: "before", only: ["append"] })
  await session.append([userSays(90)])
  await session.append([userSays(91)])
  expect([heard("durability-degraded"), heard("durability-restored")]).toEqual([1, 1])
  expect(other).toEqual([])
  await holdfast.close()
})

test("a diverging client history is reported", async () => {
  const holdfast = createHoldfast({ store: createMemoryStore(), ...options })
  const heard: SessionEvent[] = []
  const session = holdfast.session("s")
  session.subscribe((event) => heard.push(event))
  const bodyOf = (...messages: readonly object[]) => ({ body: { model: "any", messages } })
  await session.prepare(bodyOf(userSays(1), answerTo(1), userSays(2)))
  await session.prepare(bodyOf(userSays(1), answerTo(9), userSays(3)))
  expect(heard.filter(({ type }) => type === "branch-opened")).toMatchObject([{ left: 2, from: "e3" }])
})

test("a listener that throws is removed, and breaks nothing", async () => {
  const holdfast = createHoldfast({ store: createMemoryStore(), ...options })
  let asked = 0
  holdfast.subscribe(() => {
    asked += 1
    throw new Error("no")
  })
  const after: string[] = []
  const end = holdfast.subscribe(({ type }) => after.push(type))
  await holdfast.session("s").append([userSays(1)])
  await holdfast.session("s").append([userSays(2)])
  expect([asked, after.length]).toEqual([1, 2])
  end()
  await holdfast.session("s").append([userSays(3)])
  expect(after.length).toBe(2)
})
