import { describe, expect, test } from "vitest"
import { countO200k } from "../../tokens/counter.ts"
import { compactRequest } from "./compact-request.ts"

/** Room that is there is used: what does not fit whole is shown in part before it is left out. */

type ChatMessage = Readonly<Record<string, unknown>>

const openAiCall = (id: string, name: string, input: unknown): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name, arguments: JSON.stringify(input) } }],
})

const lines = (name: string, count: number): string =>
  Array.from({ length: count }, (_, n) => `${name} line ${n} of the listing holds key_${name}_${n}`).join("\n")

async function compacted(messages: readonly ChatMessage[], budgetTokens: number) {
  const { body, report } = await compactRequest({ model: "gpt-5", messages }, { format: "openai-chat", budgetTokens })
  const texts = body.messages.map(({ content }) => (typeof content === "string" ? content : ""))
  return { texts, text: texts.join("\n"), messages: body.messages, used: report.after.outsideTokens / budgetTokens }
}

describe("the only result that could be left out is a long one", () => {
  const history = [
    { role: "user", content: "Find out where the tax is computed." },
    openAiCall("call_1", "list_files", { path: "." }),
    { role: "tool", tool_call_id: "call_1", content: lines("tree", 1500) },
    openAiCall("call_2", "read_file", { path: "src/tax.ts" }),
    { role: "tool", tool_call_id: "call_2", content: "export const rate = 0.19" },
  ]

  test.each([3000, 8000, 14_000])("it is shown in part in %d tokens, with its call", async (budget) => {
    expect(countO200k(JSON.stringify(history))).toBeGreaterThan(20_000)
    const { messages, text, used } = await compacted(history, budget)
    expect(messages.filter(({ role }) => role === "tool")).toHaveLength(2)
    expect(text).toContain("key_tree_0")
    expect(used).toBeGreaterThan(0.75)
  })

  test("a handoff beside it says that it tells what results no longer show", async () => {
    const order = { order_id: "ORD-88123", card: "card_55217", status: "open" }
    const result = `${lines("log", 400)}\n${JSON.stringify(order)}\n${lines("tail", 400)}`
    const { texts } = await compacted(
      [...history.slice(0, 2), { role: "tool", tool_call_id: "call_1", content: result }, ...history.slice(3)],
      4000,
    )
    const digests = texts.filter((text) => text.startsWith('<summary by="holdfast"'))
    for (const digest of digests) {
      expect(digest).toContain('covered="0"')
      expect(digest).not.toContain("earlier messages that are no longer shown")
    }
    expect(texts.some((text) => text.includes("key_log_0"))).toBe(true)
  })
})

describe("a message of the user is longer than the room", () => {
  const asked = "Please keep the old endpoint working for the mobile app."
  const paste = `Here is what the server printed:\n\n\`\`\`\n${lines("server", 700)}\n\`\`\`\n\n${asked}\n\n\`\`\`\n${lines("client", 700)}\n\`\`\``
  const history = [
    { role: "user", content: "The deploy of the shop hangs." },
    { role: "assistant", content: "What does it print?" },
    { role: "user", content: paste },
    { role: "assistant", content: "The database migration waits for a lock." },
    { role: "user", content: "Which one?" },
    { role: "assistant", content: "The one on orders." },
    { role: "user", content: "Kill it." },
  ]

  test.each([2500, 6000, 12_000])("in %d tokens it is shown in part, and its own sentence is told", async (budget) => {
    const { text, texts, used } = await compacted(history, budget)
    expect(text).toContain(asked)
    expect(text).toContain("key_server_0")
    expect(used).toBeGreaterThan(0.7)
    expect(texts.at(-1)).toBe("Kill it.")
  })

  test("a picture in letters is not shown in part", async () => {
    const picture = "iVBORw0KGgoAAAANSUhEUg".repeat(2000)
    const { texts } = await compacted(
      [...history.slice(0, 2), { role: "user", content: `The screen:\n${picture}` }, ...history.slice(3)],
      6000,
    )
    expect(texts.filter((text) => !text.startsWith("<summary")).join()).not.toContain("iVBORw0KGgoAAAANSUhEUg")
  })

  test("what no handoff could tell whole keeps nothing else from being told", async () => {
    const changes = Array.from({ length: 8 }, (_, n) => [
      openAiCall(`call_${n}`, "write_file", { path: `src/part-${n}.ts`, content: `export const part = ${n}` }),
      { role: "tool", tool_call_id: `call_${n}`, content: `wrote src/part-${n}.ts` },
    ]).flat()
    const { text } = await compacted([{ role: "user", content: paste }, ...changes, ...history.slice(3)], 2000)
    for (let n = 0; n < 8; n++) expect(text).toContain(`src/part-${n}.ts`)
  })
})
