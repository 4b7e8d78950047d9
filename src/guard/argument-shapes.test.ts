import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { type Format, formats } from "../message/message.ts"
import { decodeResponse } from "../wire/decode.ts"
import { tryParse } from "../wire/json.ts"
import { type SseEvent, sseEnd, sseStep, startSse, utf8Bytes } from "../wire/sse.ts"
import { createGuard, type Guard } from "./guard.ts"
import { guardResponse } from "./guard-response.ts"
import { guardSse } from "./guard-stream.ts"

/** Where a call of a format is written, and how its arguments travel there. */
type Shape = {
  readonly format: Format
  /** The client gets a text and parses it; otherwise it acts on the value as it stands. */
  readonly travels: "text" | "value" | "free-text"
  readonly whole: (value: unknown) => unknown
  readonly stream: (pieces: readonly unknown[], value: unknown) => readonly unknown[]
}

const chatChunk = (delta: object, finish: string | null = null) => ({
  id: "c1",
  object: "chat.completion.chunk",
  model: "m",
  choices: [{ index: 0, delta, finish_reason: finish }],
})

const chat = (name: "function" | "custom", field: string): Shape => ({
  format: "openai-chat",
  travels: name === "function" ? "text" : "free-text",
  whole: (value) => ({
    id: "c1",
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "call-1", type: name, [name]: { name: "act", [field]: value } }],
        },
      },
    ],
  }),
  stream: (pieces) => [
    chatChunk({ tool_calls: [{ index: 0, id: "call-1", type: name, [name]: { name: "act" } }] }),
    ...pieces.map((piece) => chatChunk({ tool_calls: [{ index: 0, [name]: { [field]: piece } }] })),
    chatChunk({}, "tool_calls"),
    "[DONE]",
  ],
})

const legacyChat: Shape = {
  format: "openai-chat",
  travels: "text",
  whole: (value) => ({
    id: "c1",
    model: "m",
    choices: [
      {
        index: 0,
        finish_reason: "function_call",
        message: { role: "assistant", content: null, function_call: { name: "act", arguments: value } },
      },
    ],
  }),
  stream: (pieces) => [
    chatChunk({ function_call: { name: "act" } }),
    ...pieces.map((piece) => chatChunk({ function_call: { arguments: piece } })),
    chatChunk({}, "function_call"),
    "[DONE]",
  ],
}

const responses = (type: "function_call" | "custom_tool_call", field: string): Shape => {
  const item = (value: unknown) => ({
    type,
    id: "i1",
    call_id: "call-1",
    name: "act",
    status: "completed",
    [field]: value,
  })
  const delta = type === "function_call" ? "response.function_call_arguments" : "response.custom_tool_call_input"
  return {
    format: "openai-responses",
    travels: type === "function_call" ? "text" : "free-text",
    whole: (value) => ({ id: "r1", object: "response", status: "completed", model: "m", output: [item(value)] }),
    stream: (pieces, value) => [
      { type: "response.created", response: { id: "r1", model: "m", output: [] } },
      { type: "response.output_item.added", output_index: 0, item: item("") },
      ...pieces.map((piece) => ({ type: `${delta}.delta`, output_index: 0, item_id: "i1", delta: piece })),
      { type: `${delta}.done`, output_index: 0, item_id: "i1", [field]: value },
      { type: "response.output_item.done", output_index: 0, item: item(value) },
      { type: "response.completed", response: { id: "r1", model: "m", status: "completed", output: [item(value)] } },
    ],
  }
}

const anthropic: Shape = {
  format: "anthropic-messages",
  travels: "value",
  whole: (value) => ({
    id: "a1",
    type: "message",
    role: "assistant",
    model: "m",
    stop_reason: "tool_use",
    content: [{ type: "tool_use", id: "call-1", name: "act", input: value }],
  }),
  stream: (pieces, value) => [
    { type: "message_start", message: { id: "a1", type: "message", role: "assistant", model: "m", content: [] } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "call-1", name: "act", input: pieces.length === 0 ? value : {} },
    },
    ...pieces.map((piece) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "input_json_delta", partial_json: piece },
    })),
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" } },
    { type: "message_stop" },
  ],
}

const geminiBody = (value: unknown) => ({
  candidates: [
    {
      index: 0,
      finishReason: "STOP",
      content: { role: "model", parts: [{ functionCall: { name: "act", args: value } }] },
    },
  ],
})

const gemini: Shape = {
  format: "gemini",
  travels: "value",
  whole: geminiBody,
  stream: (_pieces, value) => [geminiBody(value)],
}

const shapes: readonly Shape[] = [
  chat("function", "arguments"),
  chat("custom", "input"),
  legacyChat,
  responses("function_call", "arguments"),
  responses("custom_tool_call", "input"),
  anthropic,
  gemini,
]

/** Of each of the seven shapes, whole and streamed. */
const numRuns = runs

/** Lets everything through, and notes what it was asked about. */
function notingGuard(): { readonly guard: Guard; readonly inputs: unknown[] } {
  const inputs: unknown[] = []
  const allow = createGuard([])
  const judge: Guard["judge"] = (call, circumstances) => {
    inputs.push(call.input)
    return allow.judge(call, circumstances)
  }
  return { guard: { ...allow, judge }, inputs }
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== ""

/** What a client acts upon when it gets this value as the arguments of a call. */
function actedUpon({ travels }: Shape, value: unknown): unknown {
  if (!isSet(value)) return undefined
  if (travels === "value" || typeof value !== "string") return value
  return travels === "free-text" ? value : tryParse(value)
}

/** The same value, whether it is one or the JSON text of one. */
const plain = (value: unknown): string | undefined => {
  const parsed = typeof value === "string" ? tryParse(value) : undefined
  const inner = parsed === undefined ? value : parsed
  return isSet(inner) ? JSON.stringify(inner) : undefined
}

const json = fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const command = fc.constantFrom<unknown>({ command: "rm -rf /" }, ["rm", "-rf", "/"], { input: { path: "/etc" } })
const value = fc.oneof(
  json,
  command,
  fc.oneof(json, command).map((inner) => JSON.stringify(inner)),
)

test.each(shapes.map((shape) => [shape.format, shape] as const))(
  "whole answers of %s: the guard judges what the client acts upon, whatever the arguments are",
  async (format, shape) => {
    const property = fc.asyncProperty(value, async (given) => {
      const { guard, inputs } = notingGuard()
      const response = decodeResponse(format, JSON.stringify(shape.whole(given)))
      const { judged, response: out } = await guardResponse(response, guard)
      expect(judged).toHaveLength(1)
      if (judged[0]?.result !== undefined) return
      expect(out).toBe(response)
      expect(inputs.map(plain)).toContain(plain(actedUpon(shape, given)))
    })
    await fc.assert(property, { numRuns })
  },
)

const sse = (events: readonly unknown[]): Uint8Array =>
  utf8Bytes(events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join(""))

async function* chunked(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<SseEvent> {
  let state = startSse()
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((one, other) => one - other)
  for (const [n, end] of [...places, bytes.length].entries()) {
    const [next, events] = sseStep(state, bytes.subarray(places[n - 1] ?? 0, end))
    state = next
    yield* events
  }
  yield* sseEnd(state)
}

/** The value in one piece, or its text in pieces cut anywhere; sometimes a piece more. */
const streamed = fc
  .tuple(value, fc.array(fc.nat(200), { maxLength: 4 }), fc.option(json, { freq: 6 }))
  .map(([given, cuts, more]) => {
    const text = typeof given === "string" ? given : undefined
    const places = [...new Set(cuts.map((cut) => cut % ((text ?? "").length + 1)))].sort((one, other) => one - other)
    const pieces: readonly unknown[] =
      text === undefined ? [given] : [...places, text.length].map((end, n) => text.slice(places[n - 1] ?? 0, end))
    return { given, pieces: more === null ? pieces : [...pieces, more], isMixed: more !== null }
  })

type Streamed = { readonly given: unknown; readonly pieces: readonly unknown[] }

/** What a client makes of the pieces of a call; clients differ about a value beside other pieces, so none may come through. */
function streamedValue(shape: Shape, { given, pieces }: Streamed, asValue: boolean): unknown {
  if (asValue || shape.format === "gemini") return given
  const told = pieces.filter(isSet)
  const isText = told.every((piece) => typeof piece === "string")
  expect(isText || told.length === 1).toBe(true)
  const joined = isText ? told.join("") : told[0]
  return shape.travels === "value" ? tryParse(String(joined)) : actedUpon(shape, joined)
}

test.each(shapes.map((shape) => [shape.format, shape] as const))(
  "streams of %s: the guard judges what the client acts upon, whatever the arguments and the cuts are",
  async (format, shape) => {
    const property = fc.asyncProperty(streamed, fc.array(fc.nat(4000), { maxLength: 5 }), async (call, cuts) => {
      const { guard, inputs } = notingGuard()
      const asValue = shape.travels === "value" && typeof call.given !== "string" && !call.isMixed
      const bytes = sse(shape.stream(asValue ? [] : call.pieces, call.given))
      const out: Uint8Array[] = []
      let withheld = 0
      const onJudged = ({ result }: { readonly result?: string }): void => {
        if (result !== undefined) withheld++
      }
      for await (const { raw } of guardSse(format, chunked(bytes, cuts), guard, { onJudged })) out.push(raw)
      const text = Buffer.concat(out).toString("utf8")
      if (withheld > 0 || !text.includes('"act"')) return
      // Nothing was refused: the client gets the very bytes, and what it makes of them was judged.
      expect(text).toBe(Buffer.from(bytes).toString("utf8"))
      expect(inputs.map(plain)).toContain(plain(streamedValue(shape, call, asValue)))
    })
    await fc.assert(property, { numRuns })
  },
)

test("a call that is written in two ways at once is refused", async () => {
  const { guard } = notingGuard()
  const call = { name: "act", args: {} }
  const parts = [{ functionCall: call, function_call: { name: "other", args: { command: "rm" } } }]
  const body = JSON.stringify({ candidates: [{ finishReason: "STOP", content: { role: "model", parts } }] })
  const { judged } = await guardResponse(decodeResponse("gemini", body), guard)
  expect(judged.map(({ verdict }) => verdict.decision)).toEqual(["deny"])
  const both = {
    id: "c",
    type: "function",
    function: { name: "a", arguments: "{}" },
    custom: { name: "b", input: "x" },
  }
  const message = { role: "assistant", content: null, tool_calls: [both] }
  const chatBody = JSON.stringify({ choices: [{ index: 0, finish_reason: "tool_calls", message }] })
  expect(() => decodeResponse("openai-chat", chatBody)).toThrow("either function or custom")
})

test("every format has a shape", () => {
  expect(new Set(shapes.map(({ format }) => format))).toEqual(new Set(formats))
})
