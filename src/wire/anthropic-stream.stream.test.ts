import { expect, test } from "vitest"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { type StreamEvent, withoutWire } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

const format = "anthropic-messages"
const frame = (type: string, fields: object | string = {}): string => {
  const data = typeof fields === "string" ? fields : JSON.stringify({ type, ...fields })
  return `event: ${type}\ndata: ${data}\n\n`
}
const start = frame("message_start", { message: { id: "msg_1", model: "m", usage: { input_tokens: 1 } } })
const end =
  frame("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) + frame("message_stop")
const block = (index: number, content_block: object, ...deltas: readonly object[]): string =>
  [
    frame("content_block_start", { index, content_block }),
    ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
    frame("content_block_stop", { index }),
  ].join("")

const decode = (stream: string): readonly StreamEvent[] => decodeStream(format, readSse(utf8Bytes(stream)))
const relay = (events: readonly StreamEvent[]): string =>
  encodeStream(format, events)
    .map(({ raw }) => utf8Text(raw))
    .join("")
const wiresOf = (stream: string): readonly unknown[] =>
  collect(format, decode(stream)).messages.flatMap(({ parts }) => parts.map(({ wire }) => JSON.parse(wire ?? "null")))

test.each<[why: string, begun: object, deltas: readonly object[], collected: object]>([
  [
    "citations gather in their list",
    { type: "text", text: "", citations: [] },
    [
      { type: "text_delta", text: "so" },
      { type: "citations_delta", citation: { cited_text: "a" } },
      { type: "citations_delta", citation: { cited_text: "b" } },
    ],
    { type: "text", text: "so", citations: [{ cited_text: "a" }, { cited_text: "b" }] },
  ],
  [
    "thinking keeps its signature",
    { type: "thinking", thinking: "", signature: "" },
    [
      { type: "thinking_delta", thinking: "hm" },
      { type: "signature_delta", signature: "EqQ=" },
    ],
    { type: "thinking", thinking: "hm", signature: "EqQ=" },
  ],
  [
    "redacted thinking comes whole",
    { type: "redacted_thinking", data: "xx" },
    [],
    { type: "redacted_thinking", data: "xx" },
  ],
  [
    "a compaction says its fields whole",
    { type: "compaction", content: null },
    [{ type: "compaction_delta", content: "summary", encrypted_content: "e" }],
    { type: "compaction", content: "summary", encrypted_content: "e" },
  ],
  [
    "a provider's call streams its input",
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} },
    [
      { type: "input_json_delta", partial_json: '{"q":' },
      { type: "input_json_delta", partial_json: '"x"}' },
    ],
    { type: "server_tool_use", id: "srv_1", name: "web_search", input: { q: "x" } },
  ],
  [
    "a provider's result comes whole",
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result", url: "u" }] },
    [],
    { type: "web_search_tool_result", tool_use_id: "srv_1", content: [{ type: "web_search_result", url: "u" }] },
  ],
  [
    "input that stands in the beginning counts if none is streamed",
    { type: "tool_use", id: "t", name: "n", input: { a: 1 } },
    [],
    { type: "tool_use", id: "t", name: "n", input: { a: 1 } },
  ],
  [
    "a block and a delta that nobody has heard of",
    { type: "hologram", size: 3 },
    [{ type: "hologram_delta", rays: [1] }],
    { type: "hologram", size: 3, rays: [1] },
  ],
])("%s", (_why, begun, deltas, collected) => {
  const stream = start + frame("ping") + block(0, begun, ...deltas) + frame("unheard_of", { x: 1 }) + end
  const events = decode(stream)
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(wiresOf(stream)).toEqual([collected])
  expect(relay(events)).toBe(stream)
})

test("numbers in the input of a call stay as the model wrote them", () => {
  const text = '{"id": 12345678901234567890, "x":1.0}'
  const call = block(
    0,
    { type: "tool_use", id: "t", name: "n", input: {} },
    { type: "input_json_delta", partial_json: text },
  )
  const [message] = collect(format, decode(start + call + end)).messages
  expect(message?.wire).toBe(`{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":${text}}]}`)
})

test("usage in the middle replaces what the beginning said, and keeps the rest", () => {
  const late = frame("message_delta", {
    delta: { stop_reason: "max_tokens" },
    usage: { input_tokens: null, output_tokens: 7, cache_read_input_tokens: 3 },
  })
  const { usage, stop } = collect(format, decode(start + late + frame("message_stop")))
  expect({ usage, stop }).toEqual({
    stop: "length",
    usage: { inputTokens: 4, outputTokens: 7, cacheReadTokens: 3, cacheWriteTokens: 0 },
  })
})

const overloaded = frame("error", { error: { type: "overloaded_error", message: "Overloaded" } })

test.each<[why: string, stream: string, problem: object]>([
  [
    "an error in the middle",
    start + overloaded,
    { code: "upstream-error", type: "overloaded_error", message: "Overloaded" },
  ],
  [
    "the end is missing",
    start + block(0, { type: "text", text: "" }),
    { code: "stream-cut", after: "content_block_stop" },
  ],
  ["nothing came at all", "", { code: "stream-cut", after: "nothing" }],
  ["no JSON", start + frame("content_block_start", "{oh") + end, { code: "json-invalid" }],
  [
    "JSON that is no object",
    start + frame("ping", "7") + end,
    { code: "stream-invalid", event: "ping (the body)", expected: "an object", found: "a number" },
  ],
  [
    "a delta before its block",
    start + frame("content_block_delta", { index: 0, delta: {} }) + end,
    { code: "stream-invalid", expected: "a part that has begun" },
  ],
  [
    "a block that begins twice",
    start + frame("content_block_start", { index: 0, content_block: { type: "text", text: "" } }).repeat(2) + end,
    { code: "stream-invalid", found: "one that has" },
  ],
  [
    "a call without a name",
    start + frame("content_block_start", { index: 0, content_block: { type: "tool_use", id: "t" } }) + end,
    { code: "stream-invalid", event: "content_block_start (content_block.name)" },
  ],
])("%s: is told as a problem, and relayed as it came", (_why, stream, problem) => {
  const events = decode(stream)
  expect(events.flatMap((event) => (event.type === "error" ? [event.problem] : []))).toMatchObject([problem])
  expect(relay(events)).toBe(stream)
})

test("a stop that is laid over leaves the rest of the event alone", () => {
  const stream = `${start}event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use","x":1.0},"usage":{"output_tokens":2}}\n\n${frame("message_stop")}`
  const changed = decode(stream).map(
    (event): StreamEvent => (event.type === "response-stop" ? { ...event, stop: "end" } : event),
  )
  expect(relay(changed)).toBe(stream.replace('"tool_use"', '"end_turn"'))
})

test("without wires, what this API has no words for is not written", () => {
  const stream =
    start +
    block(0, { type: "hologram" }) +
    block(1, { type: "text", text: "" }, { type: "text_delta", text: "hi" }) +
    end
  const written = relay(decode(stream).map(withoutWire))
  expect(decode(written).flatMap((event) => (event.type === "part-start" ? [event.part] : []))).toEqual(["text"])
})
