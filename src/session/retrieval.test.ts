import { expect, test } from "vitest"
import { createMemoryStore } from "../store/memory-store.ts"
import { createHoldfast } from "./holdfast.ts"

const format = "openai-chat"
const start = "[RETRIEVED MEMORY START]"

/** An agent with a memory from an earlier session. */
async function withMemory() {
  const retrieve = { budgetTokens: 200 }
  const holdfast = createHoldfast({
    store: createMemoryStore(),
    format,
    windowTokens: 3000,
    reserveTokens: 300,
    memory: { retrieve },
  })
  const earlier = holdfast.session("earlier")
  const filler = "Please keep working on the quarterly report. ".repeat(200)
  await earlier.append([{ role: "user", content: `The warehouse code of customer Lindqvist is WH-7731. ${filler}` }])
  await earlier.append([
    { role: "assistant", content: "Noted." },
    { role: "user", content: "Go on." },
  ])
  await earlier.prepare({ system: "You are careful." })
  await holdfast.idle()
  return holdfast
}

const countIn = (text: string): number => text.split(start).length - 1

test("memory for the user's message is inserted once before it, and stays there", async () => {
  const holdfast = await withMemory()
  const session = holdfast.session("later")
  await session.append([{ role: "user", content: "What was the warehouse code of Lindqvist?" }])
  const first = await session.prepare({ system: "You are careful." })
  expect(countIn(first.wire)).toBe(1)
  expect(first.wire).toContain("WH-7731")
  expect(first.wire.indexOf(start)).toBeLessThan(first.wire.indexOf("What was the warehouse"))
  expect((await session.prepare({ system: "You are careful." })).wire).toBe(first.wire)
  await session.append([
    { role: "assistant", content: "WH-7731." },
    { role: "user", content: "Thanks." },
  ])
  const next = await session.prepare({ system: "You are careful." })
  expect(next.wire.startsWith(first.wire.slice(0, first.wire.lastIndexOf("]")))).toBe(true)
  expect(countIn(next.wire)).toBe(1)
  await holdfast.close()
})

test("messages compacted before a flush was due are still written to memory", async () => {
  const holdfast = createHoldfast({ store: createMemoryStore(), format, windowTokens: 2000, reserveTokens: 300 })
  const session = holdfast.session("at-once")
  const filler = "Please keep working on the quarterly report. ".repeat(200)
  await session.append([
    { role: "user", content: `The warehouse code of customer Lindqvist is WH-7731. ${filler}` },
    { role: "assistant", content: "Noted." },
    { role: "user", content: "Go on." },
  ])
  const { trace } = await session.prepare({ system: "You are careful." })
  expect(trace.map(({ type }) => type)).toContain("checkpoint-installed")
  await holdfast.idle()
  expect((await session.search({ text: "WH-7731" })).length).toBeGreaterThan(0)
  await holdfast.close()
})

test("a client that sends its whole history gets the same, repeatedly", async () => {
  const holdfast = await withMemory()
  const session = holdfast.session("client")
  const asked = { role: "user", content: "The warehouse code of Lindqvist, please." }
  const body = JSON.stringify({ model: "gpt-5", messages: [{ role: "system", content: "s" }, asked] })
  const first = await session.prepare({ format, body })
  expect(countIn(first.wire)).toBe(1)
  const longer = JSON.stringify({
    model: "gpt-5",
    messages: [
      { role: "system", content: "s" },
      asked,
      { role: "assistant", content: "WH-7731." },
      { role: "user", content: "Thanks." },
    ],
  })
  const next = await session.prepare({ format, body: longer })
  expect(next.wire.startsWith(first.wire.slice(0, first.wire.lastIndexOf("]")))).toBe(true)
  expect(countIn(next.wire)).toBe(1)
  await holdfast.close()
})

test("opening documents occur once after a translation into another format", async () => {
  const holdfast = createHoldfast({ store: createMemoryStore(), windowTokens: 20_000 })
  const session = holdfast.session("switch")
  const document = "<system-reminder>\nThe project uses tabs.\n</system-reminder>"
  await session.append(
    [
      {
        role: "user",
        content: [
          { type: "text", text: document },
          { type: "text", text: "Format the file." },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "Done." }] },
      { role: "user", content: "And the next one." },
    ],
    { format: "anthropic-messages" },
  )
  for (const to of ["openai-chat", "gemini", "anthropic-messages"] as const) {
    const { wire } = await session.prepare({ format: to, system: "You are careful." })
    expect([to, wire.split("The project uses tabs.").length - 1]).toEqual([to, 1])
    expect(wire).toContain("And the next one.")
  }
  await holdfast.close()
})
