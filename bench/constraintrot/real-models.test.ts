import { createServer } from "node:http"
import { expect, test } from "vitest"
import { modelAddress, realAgent, realSummarizer } from "./real-models.ts"

const bodies: unknown[] = []

/** Starts a server on loopback that speaks two of the formats: it answers with a call if tools are offered, otherwise with text. */
async function withServer<Value>(act: (baseUrl: string) => Promise<Value>): Promise<Value> {
  const server = createServer((request, response) => {
    let text = ""
    request.on("data", (piece) => {
      text += piece
    })
    request.on("end", () => {
      bodies.push(JSON.parse(text))
      const isChat = request.url?.includes("chat/completions") === true
      const called = { name: "purchase", arguments: '{"item":"desk","amount":"$400"}' }
      const message = text.includes('"tools"')
        ? { role: "assistant", content: null, tool_calls: [{ id: "c1", type: "function", function: called }] }
        : { role: "assistant", content: "A short summary." }
      const anthropic = text.includes('"tools"')
        ? [{ type: "tool_use", id: "c1", name: "purchase", input: { item: "desk", amount: "$400" } }]
        : [{ type: "text", text: "A short summary." }]
      const answer = isChat
        ? { choices: [{ index: 0, finish_reason: "stop", message }] }
        : { type: "message", role: "assistant", content: anthropic, stop_reason: "end_turn" }
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  try {
    return await act(`http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`)
  } finally {
    server.close()
  }
}

test.each(["openai-chat", "anthropic-messages"] as const)(
  "a real model is asked in its own format: %s",
  async (format) => {
    await withServer(async (base) => {
      const where = { format, baseUrl: format === "openai-chat" ? `${base}/v1` : base, apiKey: "key", model: "any" }
      const messages = [
        { role: "system", content: "Be careful." },
        { role: "user", content: "Order a desk." },
      ] as const
      const answer = await realAgent(where)({ messages, tools: [] })
      expect(answer).toEqual({ type: "call", call: { tool: "purchase", input: { item: "desk", amount: "$400" } } })
      expect(JSON.stringify(bodies.at(-1))).toContain("Be careful.")
      expect(await realSummarizer(where)("A long text.", 20)).toBe("A short summary.")
      expect(JSON.stringify(bodies.at(-1))).toContain("at most 20 words")
    })
  },
)

test("no model is used unless all four are said", () => {
  expect(modelAddress({ HOLDFAST_BENCH_FORMAT: "openai-chat", HOLDFAST_BENCH_MODEL: "any" })).toBeUndefined()
})
