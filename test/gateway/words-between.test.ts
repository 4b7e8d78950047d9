import { afterEach, expect, test } from "vitest"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import { startModelServer } from "../model-server/model-server.ts"
import { startTestGateway } from "../support/gateway.ts"

let open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.reverse()) await close()
  open = []
})

const tools = [{ type: "function", function: { name: "read_part", parameters: { type: "object", properties: {} } } }]
const page = (n: number): string => `part ${n}: ${`line ${n} of the ledger is in order, `.repeat(60)}end`

async function ask(url: string, messages: readonly unknown[]): Promise<Json> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k", session_id: "01a1dcd3-3b6d-7691" },
    body: JSON.stringify({ model: "gpt-5", tools, messages }),
  })
  expect(response.status).toBe(200)
  return field(listAt(parseJson(await response.text()), "choices")[0] ?? null, "message")
}

test("a client that writes the model's words between its calls and their results: what it ends with stays last", async () => {
  const upstream = await startModelServer({
    script: ({ index }) => ({
      text: `Now part ${index}.`,
      calls: [
        { tool: "read_part", input: { part: index } },
        { tool: "read_part", input: { part: -index } },
      ],
    }),
  })
  const gateway = await startTestGateway(upstream.url, { windowTokens: 9000 })
  open.push(upstream.close, gateway.close)
  const messages: unknown[] = [{ role: "user", content: "Never write to vendor/. Read the parts of the ledger." }]
  const asked: unknown[] = []
  for (let round = 0; round < 16; round++) {
    asked.push(messages.at(-1))
    const answer = await ask(gateway.url, messages)
    const calls = listAt(answer, "tool_calls")
    messages.push({ role: "assistant", content: null, tool_calls: calls })
    messages.push({ role: "assistant", content: textAt(answer, "content") ?? "" })
    for (const call of calls) messages.push({ role: "tool", tool_call_id: textAt(call, "id"), content: page(round) })
    if (round % 5 === 4) messages.push({ role: "user", content: `Go on after part ${round}.` })
  }
  const bodies = upstream.requests.map(({ json }) => listAt(json, "messages"))
  const compacted = bodies.filter((all) => JSON.stringify(all).includes("holdfast"))
  expect(compacted.length).toBeGreaterThan(2)
  expect(bodies.map((all) => all.at(-1)).map((last) => textAt(last ?? null, "role"))).toEqual(
    asked.map((last) => textAt(parseJson(JSON.stringify(last)), "role")),
  )
  expect(bodies.map((all) => textAt(all.at(-1) ?? null, "tool_call_id"))).toEqual(
    asked.map((last) => textAt(parseJson(JSON.stringify(last)), "tool_call_id")),
  )
  expect(gateway.faults).toEqual([])
})
