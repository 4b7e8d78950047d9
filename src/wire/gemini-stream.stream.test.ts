import { expect, test } from "vitest"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { indexOf, type StreamEvent } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

const format = "gemini"
const data = (value: object): string => `data: ${JSON.stringify(value)}\r\n\r\n`
const chunk = (parts: readonly object[], finishReason?: string): string =>
  data({
    candidates: [
      { content: { parts, role: "model" }, ...(finishReason === undefined ? {} : { finishReason }), index: 0 },
    ],
    modelVersion: "m",
    responseId: "r1",
  })
const call = (name: string, more: object = {}): object => ({ functionCall: { name, args: { a: 1 } }, ...more })

const decode = (stream: string): readonly StreamEvent[] => decodeStream(format, readSse(utf8Bytes(stream)))
const relay = (events: readonly StreamEvent[]): string =>
  encodeStream(format, events)
    .map(({ raw }) => utf8Text(raw))
    .join("")

test.each<[why: string, stream: string, parts: readonly object[]]>([
  [
    "texts in a row are one part",
    chunk([{ text: "a" }]) + chunk([{ text: "b" }]) + chunk([{ text: "" }], "STOP"),
    [{ text: "ab" }],
  ],
  [
    "thoughts and text are two",
    chunk([{ text: "a", thought: true }, { text: "b" }], "STOP"),
    [{ text: "a", thought: true }, { text: "b" }],
  ],
  [
    "a signature after the text seals it",
    chunk([{ text: "a" }]) + chunk([{ text: "", thoughtSignature: "s" }]) + chunk([{ text: "b" }], "STOP"),
    [{ text: "a", thoughtSignature: "s" }, { text: "b" }],
  ],
  [
    "several calls in one chunk, the first signed",
    chunk([call("x", { thoughtSignature: "s" }), call("x")], "STOP"),
    [call("x", { thoughtSignature: "s" }), call("x")],
  ],
  [
    "code that the provider runs",
    chunk(
      [{ executableCode: { language: "PYTHON", code: "1" } }, { codeExecutionResult: { outcome: "OK", output: "1" } }],
      "STOP",
    ),
    [{ executableCode: { language: "PYTHON", code: "1" } }, { codeExecutionResult: { outcome: "OK", output: "1" } }],
  ],
  ["a part that nobody has heard of", chunk([{ hologram: 1 }]) + chunk([], "STOP"), [{ hologram: 1 }]],
  [
    "a reason that is none yet",
    chunk([{ text: "a" }], "FINISH_REASON_UNSPECIFIED") + chunk([{ text: "b" }], "STOP"),
    [{ text: "ab" }],
  ],
])("%s", (_why, stream, parts) => {
  const events = decode(stream)
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(JSON.parse(collect(format, events).messages[0]?.wire ?? "null")).toEqual({ parts, role: "model" })
  expect(relay(events)).toBe(stream)
})

test("calls without an id are named by their place, as in an answer read whole", () => {
  const { messages, stop } = collect(format, decode(chunk([{ text: "a" }]) + chunk([call("x"), call("y")], "STOP")))
  expect(messages[0]?.parts).toMatchObject([{ type: "text" }, { callId: "m0.1" }, { callId: "m0.2" }])
  expect(stop).toBe("tool-calls")
})

test("a refused prompt has no message", () => {
  const stream = data({ promptFeedback: { blockReason: "SAFETY" }, usageMetadata: { promptTokenCount: 3 } })
  expect(collect(format, decode(stream))).toMatchObject({ messages: [], stop: "refusal", usage: { inputTokens: 3 } })
})

test("usage counts up: the last one holds", () => {
  const counted = (n: number, last: boolean): string =>
    data({
      candidates: [{ content: { parts: [{ text: "a" }] }, ...(last ? { finishReason: "MAX_TOKENS" } : {}) }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: n },
    })
  expect(collect(format, decode(counted(1, false) + counted(5, true)))).toMatchObject({
    stop: "length",
    usage: { outputTokens: 5 },
  })
})

test.each<[why: string, stream: string, codes: readonly string[]]>([
  [
    "an error object",
    chunk([{ text: "a" }]) + data({ error: { code: 503, status: "UNAVAILABLE", message: "busy" } }),
    ["upstream-error"],
  ],
  ["a cut before the finish reason", chunk([call("x")]), ["stream-cut"]],
  [
    "a call in pieces",
    chunk([{ functionCall: { name: "x", willContinue: true } }], "STOP"),
    ["stream-invalid", "stream-cut"],
  ],
  ["a call without a name", chunk([{ functionCall: {} }]) + chunk([], "STOP"), ["stream-invalid"]],
])("%s: is told as a problem, and relayed as it came", (_why, stream, codes) => {
  const events = decode(stream)
  expect(events.flatMap((event) => (event.type === "error" ? [event.problem.code] : []))).toEqual(codes)
  expect(relay(events)).toBe(stream)
})

test("of a chunk with a text and two calls, what is left goes out in the same chunk", () => {
  const stream = chunk([{ text: "a" }, call("x"), call("y")], "STOP")
  const left = decode(stream).filter((event) => indexOf(event) !== 1)
  expect(relay(left)).toBe(chunk([{ text: "a" }, call("y")], "STOP"))
})
