import { expect, test } from "vitest"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"

const chat = (...said: readonly string[]) => ({
  model: "gpt-5",
  messages: said.map((content, n) => ({ role: n % 2 === 0 ? "user" : "assistant", content })),
})
const open = () =>
  createHoldfast({ store: createMemoryStore(), format: "openai-chat", windowTokens: 3000, reserveTokens: 100 }).session(
    "s",
  )

test("an empty session has no entries, and reading it writes none", async () => {
  const session = open()
  const shown = { whole: 0, shortened: 0, leftOut: 0, standing: 0, made: { digest: 0, pins: 0, memory: 0, other: 0 } }
  const nothing = { entries: 0, types: {}, branches: [], checkpoints: [], shown, durable: true }
  expect([await session.overview(), await session.overview()]).toEqual([nothing, nothing])
})

test("a diverging history is a branch of its own; the current one comes first", async () => {
  const session = open()
  await session.prepare({ body: chat("one", "two", "three") })
  await session.prepare({ body: chat("one", "two", "other", "way", "five") })
  const { branches, types, shown } = await session.overview()
  expect(branches.map(({ messages, current }) => [messages, current])).toEqual([
    [5, true],
    [3, false],
  ])
  expect(types).toMatchObject({ "message-appended": 6 })
  expect(shown).toMatchObject({ whole: 5, leftOut: 0 })
})

test("messages left out by a compaction are counted; undoing it shows all of them again", async () => {
  const session = open()
  await session.append(
    Array.from({ length: 12 }, (_, n) => ({
      role: n % 2 === 0 ? "user" : "assistant",
      content: `Number ${n}. ${"The mill stands still at noon. ".repeat(30)}`,
    })),
  )
  await session.compact({ focus: "noon" })
  const { shown, checkpoints, branches } = await session.overview()
  expect(shown.made.digest).toBe(1)
  expect(shown.leftOut).toBeGreaterThan(0)
  expect(shown.whole + shown.shortened + shown.leftOut).toBe(12)
  expect(checkpoints).toMatchObject([
    { remedy: expect.any(String), upTo: branches[0]?.tip, inForce: true, undone: false, focus: "noon" },
  ])
  expect(checkpoints[0]?.afterTokens).toBeLessThan(checkpoints[0]?.beforeTokens ?? 0)
  await session.undo()
  const after = await session.overview()
  expect(after.shown).toMatchObject({ whole: 12, leftOut: 0 })
  expect(after.checkpoints).toMatchObject([{ inForce: false, undone: true }])
})
