import OpenAI from "openai"
import { afterAll, beforeAll, expect, test } from "vitest"
import { type ModelServer, startModelServer } from "../model-server/model-server.ts"
import { startTestGateway } from "../support/gateway.ts"

/** Maximum body size that the scripted model accepts; it refuses in the stream, as OpenAI's does. */
const maxBytes = 90_000
let model: ModelServer
beforeAll(async () => {
  model = await startModelServer({
    script: ({ body }) =>
      JSON.stringify(body).length > maxBytes
        ? { fault: { type: "in-stream-error", kind: "context-length", early: true }, text: "No." }
        : { text: "All of it is done." },
  })
})
afterAll(() => model.close())

const words = (count: number, from: number): string =>
  Array.from({ length: count }, (_, n) => `item${(n * 7 + from) % 997}`).join(" ")
const round = (n: number): readonly OpenAI.Responses.ResponseInputItem[] => [
  { type: "function_call", call_id: `call_k3m9x${n}`, name: "read", arguments: `{"n":${n}}` },
  { type: "function_call_output", call_id: `call_k3m9x${n}`, output: words(700, n) },
]
const input: OpenAI.Responses.ResponseInputItem[] = [
  { role: "user", content: "Never push to main. Read all of them." },
  ...Array.from({ length: 22 }, (_, n) => round(n)).flat(),
]

test("a request that is refused in its stream as too long is made smaller, and the client sees only the answer", async () => {
  expect(JSON.stringify(input).length).toBeGreaterThan(maxBytes)
  const gateway = await startTestGateway(model.url)
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const types: string[] = []
  let text = ""
  for await (const event of await client.responses.create({ model: "gpt-5.4", input, stream: true, store: false })) {
    types.push(event.type)
    if (event.type === "response.output_text.delta") text += event.delta
  }
  await gateway.close()
  expect(gateway.faults).toEqual([])
  expect(text).toBe("All of it is done.")
  expect(types.filter((type) => type === "response.created").length).toBe(1)
  expect(types).not.toContain("response.failed")
  expect(gateway.records.map(({ attempts, changed }) => [attempts > 1, changed])).toEqual([[true, true]])
  expect(Buffer.from(model.requests.at(-1)?.body ?? "").toString()).toContain("Never push to main.")
})

test("where it cannot be made small enough the client gets the error as it came", async () => {
  const gateway = await startTestGateway(model.url)
  const client = new OpenAI({ apiKey: "k", baseURL: `${gateway.url}/v1`, maxRetries: 0 })
  const long: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: words(20_000, 0) }]
  const read = async (): Promise<void> => {
    const stream = await client.responses.create({ model: "gpt-5.4", input: long, stream: true, store: false })
    for await (const event of stream) expect(event.type).not.toBe("response.completed")
  }
  await expect(read()).rejects.toThrow("exceeds the context window")
  await gateway.close()
})
