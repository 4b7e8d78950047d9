import { expect, test } from "vitest"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import type { Failure } from "../model-server/wire.ts"
import { startTestGateway } from "../support/gateway.ts"
import { startHeldUpstream } from "./held-upstream.ts"

/** Some providers refuse a request if it and the longest answer it allows do not fit the window together. */

const windowTokens = 30_000
const maxTokens = 12_000

const page = (n: number): string =>
  Array.from(
    { length: 120 },
    (_, line) => `row ${n * 1000 + line}: account ${(n * 7919 + line * 104_729) % 99_991}`,
  ).join("\n")

function refusalOf(inputTokens: number): Failure | undefined {
  if (inputTokens + maxTokens <= windowTokens) return undefined
  const message = `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${maxTokens} > ${windowTokens}, decrease input length or \`max_tokens\` and try again`
  return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message } } }
}

async function post(
  url: string,
  messages: readonly unknown[],
): Promise<{ readonly status: number; readonly json: Json }> {
  const tools = [{ name: "read_part", description: "Read one part.", input_schema: { type: "object" } }]
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "key-of-this-test", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "claude-opus-5-5", max_tokens: maxTokens, tools, messages }),
  })
  return { status: response.status, json: parseJson(await response.text()) }
}

test("the client never hears of it, the newest result is whole, and it is refused once", async () => {
  const upstream = await startHeldUpstream({
    say: (call) => ({ calls: [{ tool: "read_part", input: { part: call } }] }),
    refuse: ({ tokens }) => refusalOf(tokens),
  })
  const gateway = await startTestGateway(upstream.url, { windowTokens })
  const messages: unknown[] = [{ role: "user", content: "Read every part of the ledger, one after the other." }]
  for (let round = 0; round < 40; round++) {
    const { status, json } = await post(gateway.url, messages)
    expect(status).toBe(200)
    const sent = upstream.requests.at(-1)?.text ?? ""
    if (round > 0) expect(sent).toContain(JSON.stringify(page(round)).slice(1, -1))
    const content = listAt(json, "content")
    const call = content.find((block) => textAt(block, "type") === "tool_use")
    expect(field(field(call ?? null, "input"), "part")).toBeDefined()
    const result = { type: "tool_result", tool_use_id: textAt(call ?? null, "id"), content: page(round + 1) }
    messages.push({ role: "assistant", content }, { role: "user", content: [result] })
  }
  expect(upstream.requests.filter(({ status }) => status === 400)).toHaveLength(1)
  expect(gateway.faults).toEqual([])
  await gateway.close()
  await upstream.close()
})
