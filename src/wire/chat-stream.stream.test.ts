import { expect, test } from "vitest"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { indexOf, type StreamEvent, withoutWire } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

const format = "openai-chat"
const data = (value: object | string): string =>
  `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  data({
    id: "c1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  })
const done = data("[DONE]")
const call = (index: number, id: string, name: string, text: string): object => ({
  index,
  id,
  type: "function",
  function: { name, arguments: text },
})

const decode = (stream: string): readonly StreamEvent[] => decodeStream(format, readSse(utf8Bytes(stream)))
const relay = (events: readonly StreamEvent[]): string =>
  encodeStream(format, events)
    .map(({ raw }) => utf8Text(raw))
    .join("")
const messageOf = (stream: string): unknown => JSON.parse(collect(format, decode(stream)).messages[0]?.wire ?? "null")

test.each<[why: string, stream: string, message: object]>([
  [
    "reasoning under the other name",
    chunk({ reasoning: "a" }) + chunk({ reasoning: "b" }) + chunk({}, "stop") + done,
    { role: "assistant", content: null, reasoning: "ab" },
  ],
  [
    "a refusal",
    chunk({ refusal: "I " }) + chunk({ refusal: "won't" }) + chunk({}, "stop") + done,
    { role: "assistant", content: null, refusal: "I won't" },
  ],
  [
    "a custom tool",
    chunk({ tool_calls: [{ index: 0, id: "x", type: "custom", custom: { name: "run", input: "" } }] }) +
      chunk({ tool_calls: [{ index: 0, custom: { input: "ls" } }] }) +
      chunk({}, "tool_calls") +
      done,
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "x", type: "custom", custom: { name: "run", input: "ls" } }],
    },
  ],
  [
    "a call with a signature of its vendor's",
    chunk({ tool_calls: [{ ...call(0, "x", "run", "{}"), extra_content: { google: { thought_signature: "s" } } }] }) +
      chunk({}, "tool_calls") +
      done,
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "x",
          type: "function",
          function: { name: "run", arguments: "{}" },
          extra_content: { google: { thought_signature: "s" } },
        },
      ],
    },
  ],
  [
    "details of reasoning in pieces",
    chunk({ reasoning: "ab", reasoning_details: [{ type: "reasoning.text", index: 0, text: "a" }] }) +
      chunk({ reasoning_details: [{ type: "reasoning.text", index: 0, text: "b", signature: "s" }] }) +
      chunk({}, "stop") +
      done,
    {
      role: "assistant",
      content: null,
      reasoning: "ab",
      reasoning_details: [{ type: "reasoning.text", index: 0, text: "ab", signature: "s" }],
    },
  ],
  [
    "the function call of old",
    chunk({ function_call: { name: "run", arguments: "" } }) +
      chunk({ function_call: { arguments: "{}" } }) +
      chunk({}, "function_call") +
      done,
    { role: "assistant", content: null, function_call: { name: "run", arguments: "{}" } },
  ],
  [
    "calls without an index",
    chunk({ tool_calls: [{ ...call(0, "x", "a", "{}"), index: undefined }] }) +
      chunk({ tool_calls: [{ ...call(0, "y", "b", "{}"), index: undefined }] }) +
      chunk({}, "tool_calls") +
      done,
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: "x", type: "function", function: { name: "a", arguments: "{}" } },
        { id: "y", type: "function", function: { name: "b", arguments: "{}" } },
      ],
    },
  ],
  [
    "everything in one chunk",
    chunk({ role: "assistant", content: "hi", tool_calls: [call(0, "x", "a", "{}")] }, "tool_calls", {
      usage: { prompt_tokens: 1 },
    }) + done,
    {
      role: "assistant",
      content: "hi",
      tool_calls: [{ id: "x", type: "function", function: { name: "a", arguments: "{}" } }],
    },
  ],
  ["no [DONE] after the finish", chunk({ content: "hi" }) + chunk({}, "stop"), { role: "assistant", content: "hi" }],
  [
    "filter results first, and an empty finish_reason",
    data({ id: "", choices: [], prompt_filter_results: [] }) + chunk({ content: "hi" }, "") + chunk({}, "stop") + done,
    { role: "assistant", content: "hi" },
  ],
  [
    "a chunk without choices, and a second choice",
    data({ id: "c1" }) +
      chunk({ content: "hi" }) +
      data({ id: "c1", choices: [{ index: 1, delta: { content: "other" } }] }) +
      chunk({}, "stop") +
      done,
    { role: "assistant", content: "hi" },
  ],
])("%s", (_why, stream, message) => {
  const events = decode(stream)
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(messageOf(stream)).toEqual(message)
  expect(relay(events)).toBe(stream)
})

test.each<[why: string, stream: string, codes: readonly string[]]>([
  [
    "an error object",
    chunk({ content: "hi" }) + data({ error: { message: "Overloaded", type: "server_error", code: 503 } }),
    ["upstream-error"],
  ],
  ["a cut before the finish", chunk({ tool_calls: [call(0, "x", "a", "{}")] }), ["stream-cut"]],
  [
    "[DONE] without a finish",
    chunk({ tool_calls: [call(0, "x", "a", "{}")] }) + done,
    ["stream-invalid", "stream-cut"],
  ],
  [
    "a call that changes its name",
    chunk({ tool_calls: [call(0, "x", "safe", "{}")] }) +
      chunk({ tool_calls: [call(0, "x", "other", "")] }) +
      chunk({}, "tool_calls") +
      done,
    ["stream-invalid"],
  ],
  [
    "a call without a name",
    chunk({ tool_calls: [{ index: 0, id: "x", function: {} }] }) + chunk({}, "stop") + done,
    ["stream-invalid"],
  ],
  ["no JSON", chunk({ content: "hi" }) + data("{") + chunk({}, "stop") + done, ["json-invalid"]],
])("%s: is told as a problem, and relayed as it came", (_why, stream, codes) => {
  const events = decode(stream)
  expect(events.flatMap((event) => (event.type === "error" ? [event.problem.code] : []))).toEqual(codes)
  expect(relay(events)).toBe(stream)
})

test("of a chunk that speaks of two calls only the one that is left goes out, numbered anew", () => {
  const stream =
    chunk({ content: "hi", tool_calls: [call(0, "x", "a", '{"p":'), call(1, "y", "b", "{}")] }) +
    chunk({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }) +
    chunk({}, "tool_calls") +
    done
  const left = decode(stream).filter((event) => indexOf(event) !== 1)
  expect(relay(left)).toBe(
    chunk({ content: "hi", tool_calls: [call(0, "y", "b", "{}")] }) + chunk({}, "tool_calls") + done,
  )
})

test("calls that are let go one after the other instead of interleaved still read the same", () => {
  const stream =
    chunk({ tool_calls: [call(0, "x", "a", ""), call(1, "y", "b", "")] }) +
    chunk({
      tool_calls: [
        { index: 1, function: { arguments: "{}" } },
        { index: 0, function: { arguments: "[]" } },
      ],
    }) +
    chunk({}, "tool_calls") +
    done
  const events = decode(stream)
  const of = (index: number): readonly StreamEvent[] =>
    events.filter((event) => indexOf(event) === index && event.type !== "part-end")
  const rest = events.filter((event) => indexOf(event) === undefined || event.type === "part-end")
  const [start, ...end] = rest
  if (start === undefined) throw new Error("no start")
  const written = relay([start, ...of(1), ...of(0), ...end])
  expect(collect(format, decode(written)).messages[0]?.parts).toMatchObject([
    { tool: "b", input: {} },
    { tool: "a", input: [] },
  ])
})

test("a provider's call is not written as one that the client would run", () => {
  const events: readonly StreamEvent[] = [
    { type: "response-start", id: "c1" },
    { type: "part-start", index: 0, part: "tool-call", callId: "s" as never, tool: "web_search", kind: "provider" },
    { type: "part-end", index: 0 },
    { type: "response-end", stop: "end" },
  ]
  expect(decode(relay(events.map(withoutWire))).some(({ type }) => type === "part-start")).toBe(false)
})
