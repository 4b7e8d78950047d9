import { describe, expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { type Format, formats, type Part, type StopReason } from "../message/message.ts"
import { decodeResponse } from "./decode.ts"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { indexOf, type StreamEvent, withoutWire } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

/** For each of the four formats. */
const numRuns = runs
const seeded = { seed: 20_261_115, numRuns }

// Driving the codecs

const decode = (format: Format, stream: string | Uint8Array): readonly StreamEvent[] =>
  decodeStream(format, readSse(typeof stream === "string" ? utf8Bytes(stream) : stream))

const encodeBytes = (format: Format, events: readonly StreamEvent[]): Uint8Array =>
  Buffer.concat(encodeStream(format, events).map(({ raw }) => raw))

const encode = (format: Format, events: readonly StreamEvent[]): string => utf8Text(encodeBytes(format, events))

// Answers, and how each vendor streams and sends them

type Call = { readonly id: string; readonly tool: string; readonly input: string }
type Answer = {
  readonly reasoning?: string
  readonly text?: string
  readonly calls: readonly Call[]
  readonly pieces: number
}

const text = fc.string({
  unit: fc.constantFrom("a", " ", "é", "😀", '"', "\n", "\\", "\u2028", "ß"),
  minLength: 1,
  maxLength: 24,
})
/** Numbers that a JavaScript number would not keep, and white space that nobody should touch. */
const input = fc
  .tuple(text, fc.constantFrom("1.0", "12345678901234567890", "-0", "1e3", "[ 1 ]"))
  .map(([value, number]) => `{"a": ${JSON.stringify(value)},"n":${number}}`)
const answers: fc.Arbitrary<Answer> = fc
  .record(
    {
      reasoning: text,
      text,
      calls: fc.array(fc.record({ tool: fc.constantFrom("read", "write"), input }), { maxLength: 3 }),
      pieces: fc.integer({ min: 1, max: 9 }),
    },
    { requiredKeys: ["calls", "pieces"] },
  )
  .map(({ calls, ...rest }) => ({ ...rest, calls: calls.map((call, n) => ({ ...call, id: `call_${n}` })) }))

const some = <Made>(text: string | undefined, make: (text: string) => Made): readonly Made[] =>
  text === undefined ? [] : [make(text)]
const cutUp = (whole: string, length: number): readonly string[] =>
  Array.from({ length: Math.ceil(whole.length / length) }, (_, n) => whole.slice(n * length, (n + 1) * length))

const frame = (data: object | string, name?: string): string =>
  `${name === undefined ? "" : `event: ${name}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`
const typed = (data: { readonly type: string }): string => frame(data, data.type)

type Vendor = { readonly whole: (answer: Answer) => string; readonly frames: (answer: Answer) => readonly string[] }

const anthropicBlocks = ({ reasoning, text, calls, pieces }: Answer) => [
  ...some(reasoning, (thought) => ({
    start: { type: "thinking", thinking: "", signature: "" },
    deltas: [
      ...cutUp(thought, pieces).map((thinking) => ({ type: "thinking_delta", thinking })),
      { type: "signature_delta", signature: "sig" },
    ],
    whole: JSON.stringify({ type: "thinking", thinking: thought, signature: "sig" }),
  })),
  ...some(text, (said) => ({
    start: { type: "text", text: "", citations: null },
    deltas: cutUp(said, pieces).map((piece) => ({ type: "text_delta", text: piece })),
    whole: JSON.stringify({ type: "text", text: said, citations: null }),
  })),
  ...calls.map(({ id, tool, input }) => ({
    start: { type: "tool_use", id, name: tool, input: {} },
    deltas: ["", ...cutUp(input, pieces)].map((partial_json) => ({ type: "input_json_delta", partial_json })),
    whole: `{"type":"tool_use","id":"${id}","name":"${tool}","input":${input}}`,
  })),
]

const anthropic: Vendor = {
  whole: (answer) =>
    `{"id":"msg_1","model":"m","role":"assistant","content":[${anthropicBlocks(answer)
      .map(({ whole }) => whole)
      .join()}],"stop_reason":"${answer.calls.length > 0 ? "tool_use" : "end_turn"}","usage":{"input_tokens":5,"cache_read_input_tokens":2,"output_tokens":9}}`,
  frames: (answer) => [
    typed({
      type: "message_start",
      ...{
        message: {
          id: "msg_1",
          model: "m",
          content: [],
          usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 },
        },
      },
    }),
    typed({ type: "ping" }),
    ...anthropicBlocks(answer).flatMap(({ start, deltas }, index) => [
      typed({ type: "content_block_start", ...{ index, content_block: start } }),
      ...deltas.map((delta) => typed({ type: "content_block_delta", ...{ index, delta } })),
      typed({ type: "content_block_stop", ...{ index } }),
    ]),
    typed({
      type: "message_delta",
      ...{
        delta: { stop_reason: answer.calls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 9 },
      },
    }),
    typed({ type: "message_stop" }),
  ],
}

const chatUsage = { prompt_tokens: 7, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 2 } }
const chatChunk = (delta: object, finish_reason: string | null = null): string =>
  frame({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
    obfuscation: "xx",
  })

const chat: Vendor = {
  whole: ({ reasoning, text, calls }) =>
    JSON.stringify({
      id: "chatcmpl-1",
      model: "m",
      choices: [
        {
          message: {
            role: "assistant",
            content: text ?? null,
            ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map(({ id, tool, input }) => ({
                    id,
                    type: "function",
                    function: { name: tool, arguments: input },
                  })),
                }),
          },
          finish_reason: calls.length > 0 ? "tool_calls" : "stop",
        },
      ],
      usage: chatUsage,
    }),
  frames: ({ reasoning = "", text = "", calls, pieces }) => [
    chatChunk({ role: "assistant", content: "", refusal: null }),
    ...cutUp(reasoning, pieces).map((piece) => chatChunk({ reasoning_content: piece })),
    ...cutUp(text, pieces).map((content) => chatChunk({ content })),
    ...(calls.length === 0
      ? []
      : [
          chatChunk({
            tool_calls: calls.map(({ id, tool }, index) => ({
              index,
              id,
              type: "function",
              function: { name: tool, arguments: "" },
            })),
          }),
        ]),
    // One piece of every call in turn, as a server that runs them in parallel would.
    ...Array.from({ length: 40 }, (_, n) => n).flatMap((n) =>
      calls.flatMap(({ input }, index) => {
        const piece = cutUp(input, pieces + 1)[n]
        return piece === undefined ? [] : [chatChunk({ tool_calls: [{ index, function: { arguments: piece } }] })]
      }),
    ),
    chatChunk({}, calls.length > 0 ? "tool_calls" : "stop"),
    frame({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage: chatUsage }),
    frame("[DONE]"),
  ],
}

type Item = { readonly added: object; readonly between: readonly { readonly type: string }[]; readonly done: object }

function responsesItems({ reasoning, text, calls, pieces }: Answer): readonly Item[] {
  const deltas = (type: string, whole: string, at: object) =>
    cutUp(whole, pieces).map((delta) => ({ type: `response.${type}.delta`, ...at, delta }))
  return [
    ...some(reasoning, (thought) => ({
      added: { id: "rs_0", type: "reasoning", summary: [] },
      between: [
        ...deltas("reasoning_summary_text", thought, { item_id: "rs_0", summary_index: 0 }),
        { type: "response.reasoning_summary_text.done", ...{ item_id: "rs_0", summary_index: 0, text: thought } },
      ],
      done: {
        id: "rs_0",
        type: "reasoning",
        summary: [{ type: "summary_text", text: thought }],
        encrypted_content: "sig",
      },
    })),
    ...some(text, (said) => ({
      added: { id: "msg_0", type: "message", status: "in_progress", role: "assistant", content: [] },
      between: deltas("output_text", said, { item_id: "msg_0", content_index: 0 }),
      done: {
        id: "msg_0",
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: said, annotations: [] }],
      },
    })),
    ...calls.map(({ id, tool, input }) => ({
      added: { id: `fc_${id}`, type: "function_call", call_id: id, name: tool, arguments: "" },
      between: deltas("function_call_arguments", input, { item_id: `fc_${id}` }),
      done: { id: `fc_${id}`, type: "function_call", call_id: id, name: tool, arguments: input },
    })),
  ]
}

const responsesBody = (answer: Answer, status: string) => ({
  id: "resp_1",
  created_at: 1,
  model: "m",
  status,
  output: status === "completed" ? responsesItems(answer).map(({ done }) => done) : [],
  usage:
    status === "completed" ? { input_tokens: 7, output_tokens: 9, input_tokens_details: { cached_tokens: 2 } } : null,
})

const responses: Vendor = {
  whole: (answer) => JSON.stringify(responsesBody(answer, "completed")),
  frames: (answer) =>
    [
      { type: "response.created", ...{ response: responsesBody(answer, "in_progress") } },
      { type: "response.in_progress", ...{ response: responsesBody(answer, "in_progress") } },
      ...responsesItems(answer).flatMap(({ added, between, done }, output_index) => [
        { type: "response.output_item.added", ...{ output_index, item: added } },
        ...between.map((event) => ({ ...event, output_index })),
        { type: "response.output_item.done", ...{ output_index, item: done } },
      ]),
      { type: "response.completed", ...{ response: responsesBody(answer, "completed") } },
    ].map((event, sequence_number) => typed({ ...event, ...{ sequence_number } })),
}

function geminiChunk(parts: string, last = false): string {
  const counts = `"usageMetadata":{"promptTokenCount":7,"cachedContentTokenCount":2,"candidatesTokenCount":${last ? 9 : 1}}`
  return `{"candidates":[{"content":{"parts":[${parts}],"role":"model"}${last ? ',"finishReason":"STOP"' : ""},"index":0}],${counts},"modelVersion":"m","responseId":"r1"}`
}

const geminiCall = ({ id, tool, input }: Call, n: number): string =>
  `{"functionCall":{${n === 0 ? "" : `"id":"${id}",`}"name":"${tool}","args":${input}}${n === 0 ? ',"thoughtSignature":"sig"' : ""}}`

const gemini: Vendor = {
  whole: ({ reasoning, text, calls }) =>
    geminiChunk(
      [
        ...(reasoning === undefined ? [] : [JSON.stringify({ text: reasoning, thought: true })]),
        ...(text === undefined ? [] : [JSON.stringify({ text })]),
        ...calls.map(geminiCall),
      ].join(),
      true,
    ),
  frames: ({ reasoning = "", text = "", calls, pieces }) =>
    [
      ...cutUp(reasoning, pieces).map((piece) => geminiChunk(JSON.stringify({ text: piece, thought: true }))),
      // The last piece of text and the calls share a chunk.
      ...cutUp(text, pieces)
        .slice(0, -1)
        .map((piece) => geminiChunk(JSON.stringify({ text: piece }))),
      geminiChunk(
        [
          ...cutUp(text, pieces)
            .slice(-1)
            .map((piece) => JSON.stringify({ text: piece })),
          ...calls.map(geminiCall),
        ].join(),
      ),
      geminiChunk('{"text":""}', true),
    ].map((chunk) => `data: ${chunk}\r\n\r\n`),
}

const vendors: Readonly<Record<Format, Vendor>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}

// What the properties look at

/** What each part said, without regard to how it was cut up. */
function partsSaid(events: readonly StreamEvent[]): readonly unknown[] {
  return events
    .filter((event) => event.type === "part-start")
    .map(({ wire: _, ...start }) => {
      const own = events.filter((event) => indexOf(event) === start.index)
      const join = (type: StreamEvent["type"]) =>
        own.map((event) => (event.type === type && "text" in event ? event.text : "")).join("")
      const signature = own.findLast((event) => event.type === "signature-delta")?.signature
      const ended = own.some((event) => event.type === "part-end")
      return {
        start,
        text: join("text-delta"),
        reasoning: join("reasoning-delta"),
        input: join("input-delta"),
        signature,
        ended,
      }
    })
}

const endsOf = (events: readonly StreamEvent[]) => events.filter(({ type }) => type === "response-end").map(withoutWire)
const errorsOf = (events: readonly StreamEvent[]) => events.filter(({ type }) => type === "error").map(withoutWire)
const callsOf = (parts: readonly Part[]) => parts.filter((part) => part.type === "tool-call")
const counting = (from: number, length: number) => Array.from({ length }, (_, n) => from + n)
const matches = (stream: string, pattern: RegExp) => [...stream.matchAll(pattern)].map(([, digits]) => Number(digits))

/** The numbers on the wire itself: blocks and items begin one after the other, Responses numbers every event. */
function expectNumbered(format: Format, stream: string, parts: number): void {
  if (format === "anthropic-messages")
    expect(matches(stream, /"content_block_start","index":(\d+)/g)).toEqual(counting(0, parts))
  if (format !== "openai-responses") return
  expect(matches(stream, /"response.output_item.added"[^\n]*?"output_index":(\d+)/g)).toEqual(counting(0, parts))
  const sequence = matches(stream, /"sequence_number":(\d+)/g)
  expect(sequence).toEqual(counting(sequence[0] ?? 0, sequence.length))
}

describe.each(formats)("%s", (format) => {
  const { frames, whole } = vendors[format]
  const noise = fc.constantFrom(
    ": keep-alive\n\n",
    `event: ping\ndata: {"type": "ping"}\n\n`,
    `data: {"type":"unheard.of","x":1.0}\n\n`,
    "\n",
  )
  const noisy = fc.tuple(answers, fc.array(fc.tuple(fc.nat(), noise), { maxLength: 3 })).map(([answer, extra]) => {
    const all = [...frames(answer)]
    for (const [at, text] of extra) all.splice(at % all.length, 0, text)
    return { answer, stream: all.join("") }
  })

  test("a stream that nobody changes is relayed byte for byte", () => {
    const property = fc.property(noisy, ({ stream }) => {
      const events = decode(format, stream)
      expect(errorsOf(events)).toEqual([])
      expect(encode(format, events)).toBe(stream)
    })
    fc.assert(property, seeded)
  })

  test("a collected stream is the answer that was not streamed", () => {
    const property = fc.property(noisy, ({ answer, stream }) => {
      const collected = collect(format, decode(format, stream))
      const { wire: _, ...expected } = decodeResponse(format, whole(answer))
      const { wire: __, ...found } = collected
      const bare = format === "openai-chat" ? withoutOrder : (value: unknown) => value
      expect(bare(found)).toEqual(bare(expected))
    })
    fc.assert(property, seeded)
  })

  test("the events of one part, collected alone, are that part of the answer", () => {
    const property = fc.property(answers, (answer) => {
      const events = decode(format, frames(answer).join(""))
      const whole = collect(format, events).messages.flatMap(({ parts }) => parts)
      const alone = whole.map((_, n) =>
        collect(
          format,
          events.filter((event) => indexOf(event) === n),
        ),
      )
      expect(alone.flatMap(({ messages }) => messages.flatMap(({ parts }) => parts))).toEqual(whole)
    })
    fc.assert(property, seeded)
  })

  test("an answer written from our own events is read as the same answer", () => {
    const property = fc.property(answers, (answer) => {
      const before = decode(format, frames(answer).join("")).map(withoutWire)
      const written = encode(format, before)
      const after = decode(format, written)
      expect(errorsOf(after)).toEqual([])
      expect(partsSaid(after)).toEqual(
        partsSaid(before).map((part) =>
          format === "openai-chat" ? { ...(part as object), signature: undefined } : part,
        ),
      )
      expect(endsOf(after)).toEqual(endsOf(before))
      expectNumbered(format, written, partsSaid(before).length)
      const parts = collect(format, before).messages.flatMap((message) =>
        message.parts.map(({ wire: _, ...part }) => part),
      )
      expect(
        collect(format, after).messages.flatMap((message) => message.parts.map(({ wire: _, ...part }) => part)),
      ).toEqual(parts)
    })
    fc.assert(property, seeded)
  })

  test("a part that is left out leaves a stream that reads cleanly, numbered without a gap", () => {
    const property = fc.property(noisy, fc.nat(), ({ stream }, pick) => {
      const events = decode(format, stream)
      const parts = partsSaid(events)
      fc.pre(parts.length > 0)
      const gone = pick % parts.length
      const left = events.filter((event) => indexOf(event) !== gone)
      const stop: StopReason = left.some((event) => event.type === "part-start" && event.part === "tool-call")
        ? "tool-calls"
        : "end"
      const said = left.map((event) => (event.type === "response-stop" ? { ...event, stop } : event))
      const written = encode(format, said)
      const after = decode(format, written)
      expect(errorsOf(after)).toEqual([])
      expect(content(partsSaid(after))).toEqual(content(parts.filter((_, n) => n !== gone)))
      expect(after.find((event) => event.type === "response-end")).toMatchObject({ stop })
      expectNumbered(format, written, parts.length - 1)
      expect(collect(format, after).messages.flatMap((message) => message.parts)).toHaveLength(parts.length - 1)
    })
    fc.assert(property, seeded)
  })

  test("a call that is replaced by a text of ours, and a second stream joined on, read as one answer", () => {
    const property = fc.property(answers, answers, (one, other) => {
      fc.pre(one.calls.length > 0)
      const first = decode(format, frames(one).join("")).filter(
        ({ type }) => !["response-stop", "response-end"].includes(type),
      )
      const call = first.find((event) => event.type === "part-start" && event.part === "tool-call")
      const gone = call === undefined ? -1 : indexOf(call)
      const index = 100
      const ours: readonly StreamEvent[] = [
        { type: "part-start", index, part: "text" },
        { type: "text-delta", index, text: "no" },
        { type: "part-end", index },
      ]
      const second = decode(format, frames(other).join(""))
      const joined = [...first.filter((event) => indexOf(event) !== gone), ...ours, ...second]
      const written = encode(format, joined)
      const after = decode(format, written)
      expect(errorsOf(after)).toEqual([])
      expect(after.filter(({ type }) => type === "response-start")).toHaveLength(1)
      expect(endsOf(after)).toEqual(
        endsOf(second).map((end) =>
          format === "openai-responses" || format === "gemini"
            ? expect.objectContaining({ type: "response-end" })
            : end,
        ),
      )
      const tools = callsOf(collect(format, after).messages.flatMap(({ parts }) => parts)).map(({ input }) => input)
      expect(tools).toEqual([...one.calls.slice(1), ...other.calls].map(({ input }) => JSON.parse(input)))
      if (format !== "openai-chat" && format !== "gemini")
        expectNumbered(format, written, partsSaid(first).length + partsSaid(second).length)
    })
    fc.assert(property, seeded)
  })

  test("a stream that is cut anywhere never yields a call that was not complete", () => {
    const property = fc.property(answers, fc.nat(), (answer, place) => {
      const stream = utf8Bytes(frames(answer).join(""))
      const cut = stream.slice(0, place % stream.length)
      const events = decode(format, cut)
      const complete = callsOf(decodeResponse(format, whole(answer)).messages.flatMap(({ parts }) => parts))
      const found = callsOf(collect(format, events).messages.flatMap(({ parts }) => parts))
      expect(found.map(({ input }) => input)).toEqual(complete.slice(0, found.length).map(({ input }) => input))
      if (!events.some(({ type }) => type === "response-stop")) {
        expect(errorsOf(events)).toMatchObject([{ problem: { code: "stream-cut" } }])
      }
      expect(Buffer.compare(encodeBytes(format, events), cut)).toBe(0)
    })
    fc.assert(property, seeded)
  })
})

/** Chat's deltas do not say in which order the message's fields would stand: compare them as values. */
function withoutOrder(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner) =>
    key === "wire" && typeof inner === "string" ? JSON.parse(inner) : inner,
  )
}

/** The parts without their numbers and signatures. */
function content(parts: readonly unknown[]): readonly unknown[] {
  return parts.map((part) => {
    const { start, ...rest } = part as { readonly start: object }
    const { index: _, callId: __, ...named } = start as { readonly index: number; readonly callId?: string }
    return { ...named, ...rest }
  })
}
