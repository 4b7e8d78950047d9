import { describe, expect, test } from "vitest"
import { fc, runs } from "../../../test/support/property.ts"
import { couldHoldCall } from "../../guard/find-call.ts"
import { createGuard } from "../../guard/guard.ts"
import { guardSse } from "../../guard/guard-stream.ts"
import { callId, type Format, formats, tokens } from "../../message/message.ts"
import { readSse, utf8Bytes, utf8Text } from "../../wire/sse.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { encodeStream } from "../../wire/stream-steps.ts"
import { passPlainStart, plainEvents, surelyWithoutCalls } from "../deliver.ts"
import { eventsIn } from "../http/relay.ts"

const guard = createGuard([
  `forbid(principal, action, resource == Holdfast::Tool::"denied");`,
  "permit(principal, action, resource);",
])
const usage = {
  inputTokens: tokens(3),
  outputTokens: tokens(4),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}

type Piece = { readonly text: string } | { readonly tool: string; readonly split: number }

const pieces: fc.Arbitrary<readonly Piece[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        text: fc.constantFrom("hello", " a function call", 'the "name"', "é😀", "name", "\r\n\n", "x".repeat(300)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ tool: fc.constantFrom("denied", "allowed"), split: fc.nat(8) }) },
  ),
  { minLength: 1, maxLength: 6 },
)

function eventsOf(piece: Piece, index: number): readonly StreamEvent[] {
  if ("text" in piece)
    return [
      { type: "part-start", index, part: "text" },
      { type: "text-delta", index, text: piece.text },
      { type: "part-end", index },
    ]
  const input = '{"path":"/a"}'
  return [
    { type: "part-start", index, part: "tool-call", callId: callId(`c${index}`), tool: piece.tool, kind: "function" },
    { type: "input-delta", index, text: input.slice(0, piece.split) },
    { type: "input-delta", index, text: input.slice(piece.split) },
    { type: "part-end", index },
  ]
}

const framesOf = (format: Format, list: readonly Piece[]): readonly string[] =>
  encodeStream(format, [
    { type: "response-start", id: "r", model: "m", createdAt: 5 },
    ...list.flatMap(eventsOf),
    { type: "response-end", stop: list.some((one) => "tool" in one) ? "tool-calls" : "end", usage },
  ]).map(({ raw }) => utf8Text(raw))

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size))
}

async function textOf(written: AsyncIterable<{ readonly raw: Uint8Array }>): Promise<string> {
  const all: Uint8Array[] = []
  for await (const { raw } of written) all.push(raw)
  return Buffer.concat(all).toString()
}

/** Complete streams, and streams with frames lost, moved and cut off. */
const streams = (format: Format): fc.Arbitrary<string> =>
  fc
    .tuple(pieces, fc.option(fc.array(fc.nat(), { maxLength: 8 })), fc.nat(6_000), fc.boolean())
    .map(([list, picks, cut, crlf]) => {
      const frames = framesOf(format, list)
      const all = picks === null ? frames : picks.map((pick) => frames[pick % frames.length] ?? "")
      const text = crlf ? all.join("").replaceAll("\n", "\r\n") : all.join("")
      return cut > text.length || picks === null ? text : text.slice(0, cut)
    })

describe.each(formats)("%s", (format) => {
  test("relaying the plain start gives the same output as judging every event", async () => {
    const property = fc.asyncProperty(streams(format), fc.constantFrom(7, 60, 700, 20_000), async (stream, size) => {
      const bytes = utf8Bytes(stream)
      const judged = (events: Parameters<typeof plainEvents>[0]) => guardSse(format, plainEvents(events), guard)
      const whole = await textOf(judged(eventsIn(inChunks(bytes, 20_000), "events")))
      expect(await textOf(passPlainStart(inChunks(bytes, size), judged))).toBe(whole)
    })
    await fc.assert(property, { numRuns: runs })
  })

  test("plain text is never parsed", async () => {
    const list = [{ text: "Nothing to do here; I call the function tomorrow." }, { text: "bye" }]
    const stream = framesOf(format, list).join("")
    let read = 0
    const out = await textOf(
      passPlainStart(inChunks(utf8Bytes(stream), 50), (events) => {
        read++
        return guardSse(format, events, guard)
      }),
    )
    expect(out).toBe(stream)
    // Gemini and Responses have no end marker of their own, so they are parsed once, at the end.
    expect(read).toBe(format === "anthropic-messages" || format === "openai-chat" ? 0 : 1)
  })

  test("an event with a tool call is never treated as plain", () => {
    const property = fc.property(pieces, (list) => {
      for (const frame of framesOf(format, list)) {
        const [event] = readSse(utf8Bytes(frame))
        const data: unknown = event?.data.startsWith("{") ? JSON.parse(event.data) : undefined
        if (surelyWithoutCalls(Buffer.from(frame))) expect(couldHoldCall(data)).toBe(false)
      }
    })
    fc.assert(property, { numRuns: runs })
  })
})

test.each([
  'data: {"\\u0074ool_calls":[]}\n\n',
  'data: {"choices":[{"delta":{"tool_\ndata: calls":[]}}]}\n\n',
  "data: <tool_call>\n\n",
  'data: [{"a":1}]\n\n',
  '{"a":1}\n\n',
  'data: {"a":1}\r\rdata: {"b":1}\n\n',
  'event: response.function_call_arguments.delta\ndata: {"delta":"x"}\n\n',
])("text that may hide a call must be parsed: %j", (frame) => {
  expect(surelyWithoutCalls(Buffer.from(frame))).toBe(false)
})

test("a reader that stops releases the source", async () => {
  let closed = false
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (;;) yield Buffer.from('data: {"a":1}\n\n')
    } finally {
      closed = true
    }
  }
  for await (const _ of passPlainStart(source(), (events) => events)) break
  expect(closed).toBe(true)
})
