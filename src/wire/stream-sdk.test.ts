import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import OpenAI from "openai"
import { expect, test } from "vitest"
import { callId, type Format, formats, tokens } from "../message/message.ts"
import { readSse } from "./sse.ts"
import { indexOf, type StreamEvent, withoutWire } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

/** What a vendor's own client makes of a stream. */
type Heard = {
  readonly text: string
  readonly calls: readonly (readonly [name: string, input: unknown])[]
  readonly stop: unknown
}

const encode = (format: Format, events: readonly StreamEvent[]): Uint8Array =>
  Buffer.concat(encodeStream(format, events).map(({ raw }) => raw))

const decode = (format: Format, bytes: Uint8Array): readonly StreamEvent[] => decodeStream(format, readSse(bytes))

const answering = (bytes: Uint8Array) => async (): Promise<Response> =>
  new Response(bytes.slice(), { headers: { "content-type": "text/event-stream" } })

const clients: Readonly<Record<Format, (bytes: Uint8Array) => Promise<Heard>>> = {
  "anthropic-messages": async (bytes) => {
    const client = new Anthropic({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "go" }] })
    const message = await stream.finalMessage()
    const text = message.content.flatMap((block) => (block.type === "text" ? block.text : [])).join("")
    const calls = message.content.flatMap((block) =>
      block.type === "tool_use" ? [[block.name, block.input] as const] : [],
    )
    return { text, calls, stop: message.stop_reason }
  },
  "openai-chat": async (bytes) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "go" }] })
    const { choices } = await stream.finalChatCompletion()
    const message = choices[0]?.message
    const calls = message?.tool_calls?.flatMap((call) =>
      call.type === "function" ? [[call.function.name, JSON.parse(call.function.arguments)] as const] : [],
    )
    return { text: message?.content ?? "", calls: calls ?? [], stop: choices[0]?.finish_reason }
  },
  "openai-responses": async (bytes) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.responses.stream({ model: "m", input: "go" })
    const response = await stream.finalResponse()
    const calls = response.output.flatMap((item) =>
      item.type === "function_call" ? [[item.name, JSON.parse(item.arguments)] as const] : [],
    )
    return { text: response.output_text, calls, stop: response.status }
  },
  gemini: async (bytes) => {
    const fetch = globalThis.fetch
    globalThis.fetch = answering(bytes)
    try {
      const client = new GoogleGenAI({ apiKey: "none" })
      const heard = { text: "", calls: [] as (readonly [string, unknown])[], stop: undefined as unknown }
      for await (const chunk of await client.models.generateContentStream({ model: "m", contents: "go" })) {
        const parts = chunk.candidates?.[0]?.content?.parts ?? []
        heard.text += parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("")
        for (const call of chunk.functionCalls ?? []) heard.calls.push([call.name ?? "", call.args])
        heard.stop = chunk.candidates?.[0]?.finishReason ?? heard.stop
      }
      return heard
    } finally {
      globalThis.fetch = fetch
    }
  },
}

const usage = {
  inputTokens: tokens(7),
  outputTokens: tokens(9),
  cacheReadTokens: tokens(2),
  cacheWriteTokens: tokens(0),
}
const call = (index: number, id: string, value: number): readonly StreamEvent[] => [
  { type: "part-start", index, part: "tool-call", callId: callId(id), tool: `tool_${id}`, kind: "function" },
  { type: "input-delta", index, text: `{"n":` },
  { type: "input-delta", index, text: `${value}}` },
  { type: "part-end", index },
]
const ours: readonly StreamEvent[] = [
  { type: "response-start", id: "resp_1", model: "m", createdAt: 5 },
  { type: "part-start", index: 0, part: "reasoning" },
  { type: "reasoning-delta", index: 0, text: "hm" },
  { type: "signature-delta", index: 0, signature: "c2ln" },
  { type: "part-end", index: 0 },
  { type: "part-start", index: 1, part: "text" },
  { type: "text-delta", index: 1, text: "Hel" },
  { type: "text-delta", index: 1, text: "lo" },
  { type: "part-end", index: 1 },
  ...call(2, "a", 1),
  ...call(3, "b", 2),
  { type: "response-end", stop: "tool-calls", usage },
]

const stops: Readonly<Record<Format, readonly [calls: string, end: string]>> = {
  "anthropic-messages": ["tool_use", "end_turn"],
  "openai-chat": ["tool_calls", "stop"],
  "openai-responses": ["completed", "completed"],
  gemini: ["STOP", "STOP"],
}

test.each(formats)("%s: the vendor's client hears what we write", async (format) => {
  const heard = await clients[format](encode(format, ours))
  expect(heard).toEqual({
    text: "Hello",
    calls: [
      ["tool_a", { n: 1 }],
      ["tool_b", { n: 2 }],
    ],
    stop: stops[format][0],
  })
})

const pairs = formats.flatMap((from) => formats.map((to) => [from, to] as const))

test.each(pairs)("%s, written anew as %s: the other vendor's client hears the same", async (from, to) => {
  const heard = await clients[to](encode(to, decode(from, encode(from, ours)).map(withoutWire)))
  expect(heard).toMatchObject({ text: "Hello", stop: stops[to][0] })
  expect(heard.calls).toEqual([
    ["tool_a", { n: 1 }],
    ["tool_b", { n: 2 }],
  ])
})

test.each(formats)("%s: the vendor's client hears the answer without the call that was denied", async (format) => {
  const events = decode(format, encode(format, ours))
  const heard = await clients[format](
    encode(
      format,
      events.filter((event) => indexOf(event) !== 2),
    ),
  )
  expect(heard).toEqual({ text: "Hello", calls: [["tool_b", { n: 2 }]], stop: stops[format][0] })
})

test.each(formats)(
  "%s: the vendor's client hears a text in place of the only call, and the stop that fits",
  async (format) => {
    const events = decode(
      format,
      encode(
        format,
        ours.filter((event) => indexOf(event) !== 3),
      ),
    )
    const instead: readonly StreamEvent[] = [
      { type: "part-start", index: 9, part: "text" },
      { type: "text-delta", index: 9, text: ", denied" },
      { type: "part-end", index: 9 },
    ]
    const said = events.flatMap((event): readonly StreamEvent[] => {
      if (event.type === "part-start" && event.index === 2) return instead
      if (indexOf(event) === 2) return []
      return event.type === "response-stop" ? [{ ...event, stop: "end" }] : [event]
    })
    const bytes = encode(format, said)
    expect(await clients[format](bytes)).toEqual({ text: "Hello, denied", calls: [], stop: stops[format][1] })
    expect(collect(format, said).messages.at(-1)?.parts.at(-1)).toMatchObject({ type: "text" })
    expect(collect(format, decode(format, bytes)).stop).toBe("end")
  },
)

test.each(formats)("%s: the vendor's client hears two streams joined as one answer", async (format) => {
  const events = decode(format, encode(format, ours))
  const first = events.filter((event) => indexOf(event) !== 2 && indexOf(event) !== 3 && event.type !== "response-stop")
  const second = decode(
    format,
    encode(
      format,
      ours.map((event) => (event.type === "response-start" ? { ...event, id: "resp_2" } : event)),
    ),
  )
  const joined = [...first.filter(({ type }) => type !== "response-end"), ...second]
  const heard = await clients[format](encode(format, joined))
  expect(heard).toEqual({
    text: "HelloHello",
    calls: [
      ["tool_a", { n: 1 }],
      ["tool_b", { n: 2 }],
    ],
    stop: stops[format][0],
  })
})
