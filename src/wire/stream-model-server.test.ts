import { expect, test } from "vitest"
import { parseJson } from "../../test/model-server/json.ts"
import type { Output } from "../../test/model-server/script.ts"
import { createScriptedModel } from "../../test/model-server/scripted-model.ts"
import { type Format, formats } from "../message/message.ts"
import { decodeResponse } from "./decode.ts"
import { arrayEnd, arrayStep, readSse, type SseEvent, startArray, utf8Bytes, utf8Text, writeArrayEvent } from "./sse.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

const requests: Readonly<Record<Format, (stream: boolean) => readonly [path: string, body: object]>> = {
  "anthropic-messages": (stream) => ["/v1/messages", { model: "m", stream, messages: [] }],
  "openai-chat": (stream) => [
    "/v1/chat/completions",
    { model: "m", stream, messages: [], ...(stream ? { stream_options: { include_usage: true } } : {}) },
  ],
  "openai-responses": (stream) => [
    "/v1/responses",
    { model: "m", stream, input: [], include: ["reasoning.encrypted_content"] },
  ],
  gemini: (stream) => [
    `/v1beta/models/m:${stream ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    { contents: [] },
  ],
}

/** The bytes that the scripted model answers with. */
function ask(output: Output | readonly Output[], path: string, request: object): Uint8Array {
  const body = utf8Bytes(JSON.stringify(request))
  const answer = createScriptedModel({ script: () => output })({
    path,
    headers: {},
    body,
    json: parseJson(utf8Text(body)),
  })
  return Buffer.concat(answer.steps.flatMap((step) => (step.type === "bytes" ? [step.bytes] : [])))
}

const text = (events: readonly SseEvent[]): string => events.map(({ raw }) => utf8Text(raw)).join("")

const outputs: readonly Output[] = [
  {
    reasoning: "Let me think about that for a while.",
    text: "Hello there, 😀 world",
    calls: [
      { tool: "read", input: { path: "/a", n: 1 } },
      { tool: "write", input: {} },
    ],
  },
  { text: "only text" },
  { calls: [{ tool: "read", input: { deep: [1, { x: "y" }] } }] },
  { text: "cut short", stop: "length" },
]
const cases = formats.flatMap((format) => outputs.map((output, n) => [format, n, output] as const))

test.each(cases)("%s, scripted answer %s: read, relayed and collected as the whole answer", (format, _n, output) => {
  const counted = { ...output, usage: { inputTokens: 9 } }
  const stream = ask(counted, ...requests[format](true))
  const events = decodeStream(format, readSse(stream))
  expect(events.filter(({ type }) => type === "error")).toEqual([])
  expect(text(encodeStream(format, events))).toBe(utf8Text(stream))
  const whole = decodeResponse(format, utf8Text(ask(counted, ...requests[format](false))))
  const collected = collect(format, events)
  const bare = ({ messages, stop, usage }: typeof whole) => ({
    stop,
    usage,
    parts: messages.map(({ role, parts }) => ({ role, parts: parts.map(({ wire: _wire, ...part }) => part) })),
  })
  expect(bare(collected)).toEqual(bare(whole))
})

test.each(formats)("%s: faults of a scripted model are told as what they are, and relayed as they came", (format) => {
  const [output] = outputs
  if (output === undefined) throw new Error("no output")
  for (const [type, code] of [
    ["cut-mid", "stream-cut"],
    ["in-stream-error", "upstream-error"],
    ["comment", undefined],
  ] as const) {
    const stream = ask({ ...output, fault: { type } }, ...requests[format](true))
    const events = decodeStream(format, readSse(stream))
    const problems = events.flatMap((event) => (event.type === "error" ? event.problem.code : []))
    expect(problems[0]).toBe(code)
    expect(text(encodeStream(format, events))).toBe(utf8Text(stream))
    if (code === "stream-cut")
      expect(
        collect(format, events).messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-call"))
          .length,
      ).toBeLessThan(2)
  }
})

test("gemini without alt=sse: the array is read and relayed like the events", () => {
  const [output] = outputs
  if (output === undefined) throw new Error("no output")
  const stream = ask(output, "/v1beta/models/m:streamGenerateContent", { contents: [] })
  const [state, elements] = arrayStep(startArray(), stream)
  const wire = [...elements, ...arrayEnd(state)]
  const events = decodeStream("gemini", wire)
  const written = encodeStream("gemini", events).map((event, n) => utf8Text(writeArrayEvent(event, n)))
  expect(written.join("")).toBe(utf8Text(stream))
  const whole = decodeResponse("gemini", utf8Text(ask(output, ...requests.gemini(false))))
  expect(collect("gemini", events)).toMatchObject({ stop: whole.stop, usage: whole.usage })
})
