import { afterEach, describe, expect, test } from "vitest"
import { formats } from "../../src/message/message.ts"
import { answer, ask, type Event, eventsIn, post, server, start, stop, text } from "./asking.ts"
import { field, listAt, numberLiteral, parseJson, textAt } from "./json.ts"
import { byRound, type Output } from "./script.ts"

afterEach(stop)

/** Returns the kind of each event, repetitions collapsed. */
function kindsOf(events: readonly Event[]): readonly string[] {
  const kinds = events.map(({ name, data }) => {
    if (data === "[DONE]") return data
    const json = parseJson(data)
    return textAt(field(json, "delta"), "type") ?? name ?? textAt(json, "object") ?? "chunk"
  })
  return kinds.filter((kind, n) => kind !== kinds[n - 1])
}

describe("streams are complete and in the provider's order", () => {
  test("Anthropic Messages", async () => {
    const response = await ask("anthropic-messages", true)
    expect(response.headers.get("content-type")).toContain("text/event-stream")
    const events = eventsIn(await response.text())
    expect(events.every(({ name, data }) => textAt(parseJson(data), "type") === name)).toBe(true)
    const tool = ["content_block_start", "input_json_delta", "content_block_stop"]
    expect(kindsOf(events)).toEqual([
      ...["message_start", "content_block_start", "ping", "thinking_delta", "signature_delta", "content_block_stop"],
      ...["content_block_start", "text_delta", "content_block_stop", ...tool, ...tool, "message_delta", "message_stop"],
    ])
  })

  test("OpenAI Chat Completions", async () => {
    const events = eventsIn(await (await ask("openai-chat", true)).text())
    expect(events.at(-1)?.data).toBe("[DONE]")
    const chunks = events.slice(0, -1).map(({ data }) => parseJson(data))
    const usage = chunks.at(-1) ?? null
    expect(listAt(usage, "choices")).toEqual([])
    expect(field(field(usage, "usage"), "total_tokens")).toBeGreaterThan(0)
    const choices = chunks.flatMap((chunk) => listAt(chunk, "choices"))
    expect(choices.map((choice) => textAt(choice, "finish_reason")).filter(Boolean)).toEqual(["tool_calls"])
    const calls = choices.flatMap((choice) => listAt(field(choice, "delta"), "tool_calls"))
    const argumentsOf = (index: number) =>
      calls
        .filter((call) => field(call, "index") === index)
        .map((call) => textAt(field(call, "function"), "arguments") ?? "")
        .join("")
    expect(argumentsOf(0)).toBe('{"path": "日本.md", "size": 1.0}')
    expect(argumentsOf(1)).toBe('{"city": "Zürich", "station": 12345678901234567890}')
  })

  test("OpenAI Responses", async () => {
    const events = eventsIn(await (await ask("openai-responses", true)).text())
    const numbers = events.map(({ data }) => field(parseJson(data), "sequence_number"))
    expect(numbers).toEqual(events.map((_, n) => n))
    const [added, done] = ["response.output_item.added", "response.output_item.done"]
    const call = [added, "response.function_call_arguments.delta", "response.function_call_arguments.done", done]
    expect(kindsOf(events)).toEqual([
      ...["response.created", "response.in_progress", added, "response.reasoning_summary_part.added"],
      ...["response.reasoning_summary_text.delta", "response.reasoning_summary_text.done"],
      ...["response.reasoning_summary_part.done", done, added, "response.content_part.added"],
      ...["response.output_text.delta", "response.output_text.done", "response.content_part.done", done],
      ...[...call, ...call, "response.completed"],
    ])
  })

  test("Gemini", async () => {
    const body = await (await ask("gemini", true)).text()
    expect(body).toContain("\r\n\r\n")
    const chunks = eventsIn(body).map(({ data }) => parseJson(data))
    const candidates = chunks.flatMap((chunk) => listAt(chunk, "candidates"))
    expect(candidates.map((candidate) => textAt(candidate, "finishReason")).filter(Boolean)).toEqual(["STOP"])
    const parts = candidates.flatMap((candidate) => listAt(field(candidate, "content"), "parts"))
    expect(parts.filter((part) => field(part, "functionCall") !== null)).toHaveLength(2)
    expect(parts.filter((part) => field(part, "thoughtSignature") !== null)).toHaveLength(1)
    expect(body).toContain('"station":12345678901234567890')
  })
})

test.each(formats)("%s: a whole answer carries numbers and letters as the script has them", async (format) => {
  const body = await (await ask(format, false)).text()
  expect(body).toContain(text)
  expect(body).toMatch(/\\?"station\\?": ?12345678901234567890/)
  expect(body).toMatch(/\\?"size\\?": ?1\.0/)
})

test.each(formats)("%s: the same requests give the same bytes", async (format) => {
  const first = await (await ask(format, true)).text()
  await stop()
  expect(await (await ask(format, true)).text()).toBe(first)
})

test.each(formats)("%s: chunks may end inside a character, and the bytes are the same", async (format) => {
  const expected = await (await ask(format, true)).text()
  await stop()
  const response = await ask(format, true, { chunkBytes: 5 })
  const chunks: Uint8Array[] = []
  for await (const chunk of response.body ?? []) chunks.push(chunk)
  expect(chunks.some((chunk) => new TextDecoder().decode(chunk).startsWith("\ufffd"))).toBe(true)
  expect(Buffer.concat(chunks).toString()).toBe(expected)
  expect(server()?.requests.at(-1)?.response.bytes).toEqual(Buffer.concat(chunks))
})

test("Gemini streams a JSON array to a client that does not ask for events", async () => {
  const server = await start({ script: () => answer })
  const response = await post(server, "/v1beta/models/gemini-3-pro:streamGenerateContent", {})
  const chunks = parseJson(await response.text())
  expect(Array.isArray(chunks) && chunks.length).toBeGreaterThan(3)
})

const countPaths: readonly [path: string, key: string][] = [
  ["/v1/messages/count_tokens", "input_tokens"],
  ["/v1beta/models/gemini-3-pro:countTokens", "totalTokens"],
]
test.each(countPaths)("%s counts, and is no model call", async (path, key) => {
  const server = await start({ script: ({ index }) => ({ text: `call ${index}` }) })
  expect(field(parseJson(await (await post(server, path, { messages: [] })).text()), key)).toBe(4)
  expect(await (await post(server, "/v1/messages", {})).text()).toContain("call 0")
})

test("requests are recorded as the bytes that came", async () => {
  const server = await start({ script: () => ({ text }) })
  const body = '{ "model":"x",  "n": 1.0, "messages": [] }'
  await (
    await fetch(`${server.url}/v1/messages?beta=true`, { method: "POST", body, headers: { "x-mark": "1" } })
  ).text()
  const [exchange] = server.requests
  expect(new TextDecoder().decode(exchange?.body)).toBe(body)
  expect(exchange).toMatchObject({ method: "POST", path: "/v1/messages?beta=true", headers: { "x-mark": "1" } })
  expect(exchange?.response).toMatchObject({ status: 200, complete: true })
})

test("a script goes by the tool rounds in the history", async () => {
  const server = await start({ script: byRound([{ text: "none yet" }, { text: "one" }]) })
  const call = { role: "assistant", tool_calls: [{ id: "a" }, { id: "b" }] }
  const messages = [call, { role: "tool", tool_call_id: "a" }, { role: "tool", tool_call_id: "b" }]
  expect(await (await post(server, "/v1/chat/completions", { messages: [] })).text()).toContain("none yet")
  expect(await (await post(server, "/v1/chat/completions", { messages })).text()).toContain("one")
})

test("several outputs are one answer", async () => {
  const outputs: readonly Output[] = [
    { reasoning: "first", calls: [{ tool: "a", input: {} }] },
    { reasoning: "second", calls: [{ tool: "b", input: {} }] },
  ]
  const response = await ask("anthropic-messages", false, { script: () => outputs })
  const content = listAt(parseJson(await response.text()), "content")
  expect(content.map((block) => textAt(block, "type"))).toEqual(["thinking", "tool_use", "thinking", "tool_use"])
})

test.each(formats.flatMap((format) => [false, true].map((stream) => [format, stream] as const)))(
  "%s carries what only it knows as it is, stream %s",
  async (format, stream) => {
    const block = { type: "compaction", summary: "要約 📦", own: { n: numberLiteral("2.50") } }
    const response = await ask(format, stream, { script: () => ({ blocks: [block], text }) })
    expect((await response.text()).replaceAll(/\s*\n\s*|(?<=":) /g, "")).toContain(JSON.stringify(block).slice(1, -1))
  },
)
