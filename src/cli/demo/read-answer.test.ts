import { expect, test } from "vitest"
import { HoldfastError } from "../../message/errors.ts"
import { tokens } from "../../message/message.ts"
import { readSse } from "../../wire/sse.ts"
import { readStreamedAnswer } from "./ask-gateway.ts"
import { streamedAnswer } from "./demo-model.ts"

const usage = {
  inputTokens: tokens(10),
  cacheReadTokens: tokens(5),
  cacheWriteTokens: tokens(3),
  outputTokens: tokens(4),
}
const calls = [{ tool: "look", input: { at: "naïve ✓ 😀", deep: { list: [1, null] } } }]
const events = streamedAnswer({ step: "s1", text: "Half a moment, 😀 please.", calls }, usage, "msg_1")
const bytes = Buffer.concat(events.map(({ raw }) => raw))

test("an answer is put together from its stream as it was said", () => {
  expect(readStreamedAnswer(readSse(bytes))).toEqual({
    content: [
      { type: "text", text: "Half a moment, 😀 please." },
      { type: "tool_use", id: "toolu_demo_s1_0", name: "look", input: calls[0]?.input },
    ],
    text: "Half a moment, 😀 please.",
    calls: [{ id: "toolu_demo_s1_0", tool: "look", input: calls[0]?.input }],
    usage,
  })
})

test("wherever a stream is cut, what arrived of it is not acted on", () => {
  for (let end = 0; end < bytes.length; end += 37)
    expect(() => readStreamedAnswer(readSse(bytes.subarray(0, end)).filter(({ type }) => type === "event"))).toThrow(
      HoldfastError,
    )
})

test("an error in the stream is told as one", () => {
  const error = Buffer.from(
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  )
  expect(() => readStreamedAnswer(readSse(error))).toThrow(/Overloaded/)
})
