import { expect, test } from "vitest"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { indexOf, type StreamEvent } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

const format = "openai-responses"
type Draft = readonly [type: string, fields: object]
const frames = (...drafts: readonly Draft[]): string =>
  drafts
    .map(
      ([type, fields], n) => `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: n + 1, ...fields })}\n\n`,
    )
    .join("")
const created: Draft = [
  "response.created",
  { response: { id: "resp_1", model: "m", status: "in_progress", output: [] } },
]
const completed = (...output: readonly object[]): Draft => [
  "response.completed",
  { response: { id: "resp_1", model: "m", status: "completed", output } },
]
const added = (output_index: number, item: object): Draft => ["response.output_item.added", { output_index, item }]
const finished = (output_index: number, item: object): Draft => ["response.output_item.done", { output_index, item }]

const decode = (stream: string): readonly StreamEvent[] => decodeStream(format, readSse(utf8Bytes(stream)))
const relay = (events: readonly StreamEvent[]): string =>
  encodeStream(format, events)
    .map(({ raw }) => utf8Text(raw))
    .join("")
const partsOf = (events: readonly StreamEvent[]) =>
  collect(format, events).messages.flatMap(({ parts }) => parts.map(({ wire: _, ...part }) => part))

const message = { id: "msg_1", type: "message", role: "assistant", content: [{ type: "refusal", refusal: "no" }] }
const custom = { id: "ctc_1", type: "custom_tool_call", call_id: "c", name: "exec", input: "ls -l" }
const shell = { id: "sh_1", type: "local_shell_call", call_id: "s", status: "completed", action: { command: ["ls"] } }
const reasoning = {
  id: "rs_1",
  type: "reasoning",
  summary: [
    { type: "summary_text", text: "one" },
    { type: "summary_text", text: "two" },
  ],
  encrypted_content: "xx",
}

test.each<[why: string, drafts: readonly Draft[], parts: readonly object[]]>([
  [
    "a refusal",
    [
      added(0, { ...message, content: [] }),
      ["response.refusal.delta", { output_index: 0, content_index: 0, delta: "no" }],
      finished(0, message),
      completed(message),
    ],
    [{ type: "text", text: "no" }],
  ],
  [
    "a custom tool's input",
    [
      added(0, { ...custom, input: "" }),
      ["response.custom_tool_call_input.delta", { output_index: 0, delta: "ls -l" }],
      finished(0, custom),
      completed(custom),
    ],
    [{ type: "tool-call", kind: "custom", callId: "c", tool: "exec", input: "ls -l" }],
  ],
  [
    "a call that is only told when done",
    [added(0, { ...shell, action: {} }), finished(0, shell), completed(shell)],
    [{ type: "tool-call", kind: "other", callId: "s", tool: "local_shell", input: { command: ["ls"] } }],
  ],
  [
    "two summaries and a seal",
    [
      added(0, { ...reasoning, summary: [] }),
      ["response.reasoning_summary_text.delta", { output_index: 0, summary_index: 0, delta: "one" }],
      ["response.reasoning_summary_text.delta", { output_index: 0, summary_index: 1, delta: "two" }],
      finished(0, reasoning),
      completed(reasoning),
    ],
    [{ type: "reasoning", text: "one\ntwo", sealed: true }],
  ],
  [
    "a compaction and nothing else",
    [
      added(0, { id: "c", type: "compaction" }),
      finished(0, { id: "c", type: "compaction", encrypted_content: "x" }),
      completed({ id: "c", type: "compaction", encrypted_content: "x" }),
    ],
    [{ type: "opaque", kind: "compaction" }],
  ],
  [
    "an item that was never added, and an output that is left out at the end",
    [finished(0, custom), completed()],
    [{ type: "tool-call", kind: "custom", callId: "c", tool: "exec", input: "ls -l" }],
  ],
  [
    "events and items that nobody has heard of",
    [
      ["response.unheard.of", { x: 1 }],
      added(0, { type: "hologram" }),
      ["response.hologram.delta", { output_index: 0, delta: {} }],
      finished(0, { type: "hologram" }),
      completed({ type: "hologram" }),
    ],
    [{ type: "unknown" }],
  ],
])("%s", (_why, drafts, parts) => {
  const stream = frames(created, ...drafts)
  const events = decode(stream)
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(partsOf(events)).toEqual(parts)
  expect(relay(events)).toBe(stream)
})

test("a call counts as the reason to stop even where the end lists no output", () => {
  expect(collect(format, decode(frames(created, finished(0, custom), completed()))).stop).toBe("tool-calls")
})

test("an incomplete answer is one that stopped for its length", () => {
  const incomplete: Draft = [
    "response.incomplete",
    {
      response: {
        id: "resp_1",
        status: "incomplete",
        incomplete_details: { reason: "max_output_tokens" },
        output: [message],
        usage: { input_tokens: 1, output_tokens: 2 },
      },
    },
  ]
  expect(collect(format, decode(frames(created, finished(0, message), incomplete)))).toMatchObject({
    stop: "length",
    usage: { inputTokens: 1, outputTokens: 2 },
  })
})

test.each<[why: string, drafts: readonly Draft[], codes: readonly string[]]>([
  [
    "a failed answer",
    [created, ["response.failed", { response: { error: { code: "server_error", message: "sorry" } } }]],
    ["upstream-error"],
  ],
  ["an error", [created, ["error", { code: "rate_limit", message: "slow down", param: null }]], ["upstream-error"]],
  ["a cut", [created, added(0, { ...custom, input: "" })], ["stream-cut"]],
  [
    "a delta for no item",
    [created, ["response.output_text.delta", { output_index: 0, delta: "x" }], completed()],
    ["stream-invalid"],
  ],
  [
    "a call that is done under another name",
    [created, added(0, { ...custom, input: "" }), finished(0, { ...custom, name: "other" }), completed()],
    ["stream-invalid"],
  ],
  ["an end without its answer", [created, ["response.completed", {}]], ["stream-invalid", "stream-cut"]],
])("%s: is told as a problem, and relayed as it came", (_why, drafts, codes) => {
  const stream = frames(...drafts)
  const events = decode(stream)
  expect(events.flatMap((event) => (event.type === "error" ? [event.problem.code] : []))).toEqual(codes)
  expect(relay(events)).toBe(stream)
})

test("without one item, the others are numbered on and the end lists what is left", () => {
  const stream = frames(
    created,
    added(0, custom),
    finished(0, custom),
    added(1, shell),
    finished(1, shell),
    completed(custom, shell),
  )
  const left = decode(stream).filter((event) => indexOf(event) !== 0)
  expect(relay(left)).toBe(frames(created, added(0, shell), finished(0, shell), completed(shell)))
})

test("a stop of another kind changes the closing event's name and status", () => {
  const stream = frames(created, finished(0, message), completed(message))
  const cut = decode(stream).map(
    (event): StreamEvent => (event.type === "response-stop" ? { ...event, stop: "length" } : event),
  )
  expect(relay(cut)).toContain('event: response.incomplete\ndata: {"type":"response.incomplete","sequence_number":3,')
  expect(collect(format, decode(relay(cut))).stop).toBe("length")
})

test("a [DONE] that a proxy adds is relayed and says nothing, also behind a changed stream", () => {
  const stream = `${frames(created, added(0, custom), finished(0, custom), finished(1, message), completed(custom, message))}data: [DONE]\n\n`
  const events = decode(stream)
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(relay(events)).toBe(stream)
  expect(relay(events.filter((event) => indexOf(event) !== 0))).toMatch(/data: \[DONE\]\n\n$/)
})
