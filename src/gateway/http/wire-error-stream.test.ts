import { expect, test } from "vitest"
import type { Problem } from "../../message/errors.ts"
import { type Format, formats } from "../../message/message.ts"
import { readSse } from "../../wire/sse.ts"
import { decodeStream } from "../../wire/stream-steps.ts"
import { streamError } from "./wire-error.ts"

const cut: Problem = { code: "stream-cut", after: "message_start" }
const textOf = (pieces: readonly Uint8Array[]): string => Buffer.concat(pieces).toString("utf8")

test.each<[format: Format, start: string]>([
  ["anthropic-messages", 'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"The stream ended'],
  ["openai-chat", 'data: {"error":{"message":"The stream ended'],
  ["openai-responses", 'event: error\ndata: {"type":"error","code":"server_error","message":"The stream ended'],
  ["gemini", 'data: {"error":{"code":502,"message":"The stream ended'],
])("a stream in %s ends with an error of its format", (format, start) => {
  const text = textOf(streamError(format, cut))
  expect(text.startsWith(start)).toBe(true)
  expect(text.endsWith("\n\n")).toBe(true)
})

test("a failed response keeps its id and its event numbering", () => {
  const events = textOf(streamError("openai-responses", cut, { responseId: "resp_1", sequence: 7 }))
    .match(/(?<=data: ).*/g)
    ?.map((data) => JSON.parse(data))
  expect(events).toMatchObject([
    { type: "error", sequence_number: 7 },
    { type: "response.failed", sequence_number: 8, response: { id: "resp_1", status: "failed" } },
  ])
})

test("a context error has its code in a response too", () => {
  const problem: Problem = { code: "floor-exceeds-window", floorTokens: 9, windowTokens: 5, largest: "tools" }
  expect(textOf(streamError("openai-responses", problem))).toContain('"error":{"code":"context_length_exceeded"')
})

test.each(formats)("our own decoder reads it as an error in %s", (format) => {
  const [first] = decodeStream(format, readSse(Buffer.concat(streamError(format, cut)))).filter(
    ({ type }) => type === "error",
  )
  expect(first).toMatchObject({
    problem: { code: "upstream-error", message: expect.stringContaining("The stream ended") },
  })
})
