import { expect, test } from "vitest"
import { createFailingStore } from "../../test/support/failing-store.ts"
import { objectionTo } from "../../test/support/objection.ts"
import { answerTo, toolRound, userSays } from "../../test/support/scripted-session.ts"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"
import type { SessionEvent } from "./state/events.ts"

const format = "openai-chat"

test("a memory that cannot be searched or written does not stop a turn, and is reported", async () => {
  const failing = createFailingStore(createMemoryStore())
  const holdfast = createHoldfast({
    store: failing.store,
    format,
    windowTokens: 5000,
    reserveTokens: 200,
    memory: { retrieve: { budgetTokens: 300 } },
  })
  const heard: SessionEvent[] = []
  holdfast.subscribe((event) => heard.push(event))
  const session = holdfast.session("s")
  const only = ["memory.search", "memory.write", "memory.get"]
  failing.set({ at: 1, code: "store-unavailable", when: "before", lasting: true, only })
  for (let n = 1; n <= 6; n++) {
    await session.append([userSays(n)])
    const asked = await session.prepare()
    expect(objectionTo(format, asked.wire)).toBeUndefined()
    expect(asked.wire).toContain(String(userSays(n).content))
    await session.append([...toolRound(n, 60), answerTo(n)])
    await session.prepare()
    await holdfast.idle()
  }
  expect(heard).toContainEqual(expect.objectContaining({ type: "background-failed", work: "memory" }))
  failing.set(undefined)
  await session.append([userSays(7), ...toolRound(7, 60)])
  await session.prepare()
  await holdfast.idle()
  expect(heard.filter(({ type }) => type === "memory-flushed").length).toBeGreaterThan(0)
  await holdfast.close()
})
