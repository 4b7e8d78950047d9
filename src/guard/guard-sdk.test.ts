import Anthropic from "@anthropic-ai/sdk"
import { GoogleGenAI } from "@google/genai"
import OpenAI from "openai"
import { expect, test } from "vitest"
import { parseJson } from "../../test/model-server/json.ts"
import type { Output } from "../../test/model-server/script.ts"
import { createScriptedModel } from "../../test/model-server/scripted-model.ts"
import { fc, runs } from "../../test/support/property.ts"
import { callId, type Format, formats, tokens } from "../message/message.ts"
import { type SseEvent, sseEnd, sseStep, startSse, utf8Bytes, utf8Text } from "../wire/sse.ts"
import type { StreamEvent } from "../wire/stream.ts"
import { encodeStream } from "../wire/stream-steps.ts"
import { createGuard, type Guard } from "./guard.ts"
import { guardSse } from "./guard-stream.ts"

/** For each of the four formats: every case is read by a vendor's client. */
const numRuns = Math.ceil(runs / 3)

const allowAll = createGuard([])
const denyAll = createGuard(["forbid(principal, action, resource);"])
/** Refuses every other call. */
const denySome = createGuard([`forbid(principal, action, resource) when { context.tool like "*odd*" };`])

/** What a vendor's own client makes of a stream. */
type Heard = { readonly text: string; readonly calls: readonly string[]; readonly stop: unknown }

const answering = (bytes: Uint8Array) => async (): Promise<Response> =>
  new Response(bytes.slice(), { headers: { "content-type": "text/event-stream" } })

const clients: Readonly<Record<Format, (bytes: Uint8Array) => Promise<Heard>>> = {
  "anthropic-messages": async (bytes) => {
    const client = new Anthropic({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.messages.stream({ model: "m", max_tokens: 9, messages: [{ role: "user", content: "go" }] })
    const { content, stop_reason } = await stream.finalMessage()
    const text = content.flatMap((block) => (block.type === "text" ? block.text : [])).join("")
    return { text, calls: content.flatMap((one) => (one.type === "tool_use" ? one.name : [])), stop: stop_reason }
  },
  "openai-chat": async (bytes) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.chat.completions.stream({ model: "m", messages: [{ role: "user", content: "go" }] })
    const [choice] = (await stream.finalChatCompletion()).choices
    const calls = choice?.message.tool_calls?.flatMap((call) => (call.type === "function" ? call.function.name : []))
    return { text: choice?.message.content ?? "", calls: calls ?? [], stop: choice?.finish_reason }
  },
  "openai-responses": async (bytes) => {
    const client = new OpenAI({ apiKey: "none", fetch: answering(bytes), maxRetries: 0 })
    const stream = client.responses.stream({ model: "m", input: "go" })
    const streamed: string[] = []
    stream.on("response.output_item.done", ({ item }) => {
      if (item.type === "function_call") streamed.push(item.name)
    })
    const { output, output_text, status } = await stream.finalResponse()
    const calls = output.flatMap((item) => (item.type === "function_call" ? item.name : []))
    expect(streamed.sort()).toEqual([...calls].sort())
    return { text: output_text, calls, stop: status }
  },
  gemini: async (bytes) => {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: "http://127.0.0.1:9" } })
    const heard: { text: string; calls: string[]; stop: unknown } = { text: "", calls: [], stop: undefined }
    const fetch = globalThis.fetch
    globalThis.fetch = answering(bytes)
    try {
      for await (const chunk of await client.models.generateContentStream({ model: "m", contents: "go" })) {
        const parts = chunk.candidates?.[0]?.content?.parts ?? []
        heard.text += parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("")
        for (const call of chunk.functionCalls ?? []) heard.calls.push(call.name ?? "")
        heard.stop = chunk.candidates?.[0]?.finishReason ?? heard.stop
      }
      return heard
    } finally {
      globalThis.fetch = fetch
    }
  },
}

/** The events of a stream that comes in chunks cut anywhere. */
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

async function through(format: Format, bytes: Uint8Array, cuts: readonly number[], guard: Guard): Promise<Uint8Array> {
  const out: Uint8Array[] = []
  for await (const { raw } of guardSse(format, chunked(bytes, cuts), guard)) out.push(raw)
  return Buffer.concat(out)
}

type Piece =
  | { readonly type: "text" | "reasoning"; readonly words: string }
  | { readonly type: "call"; readonly odd: boolean; readonly value: string; readonly split: number }

const word = fc.constantFrom("alpha", "beta", "γάμμα", "😀", 'quo"te', "line\nbreak")
const piece: fc.Arbitrary<Piece> = fc.oneof(
  fc.record({ type: fc.constantFrom("text" as const, "reasoning" as const), words: word }),
  fc.record({ type: fc.constant("call" as const), odd: fc.boolean(), value: word, split: fc.nat(12) }),
)

const usage = {
  inputTokens: tokens(7),
  outputTokens: tokens(9),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}
const nameOf = ({ odd }: { readonly odd: boolean }, index: number): string => `${odd ? "odd" : "even"}_${index}`

function eventsOf(one: Piece, index: number): readonly StreamEvent[] {
  if (one.type === "call") {
    const text = JSON.stringify({ value: one.value })
    const tool = nameOf(one, index)
    return [
      { type: "part-start", index, part: "tool-call", callId: callId(`c${index}`), tool, kind: "function" },
      { type: "input-delta", index, text: text.slice(0, one.split) },
      { type: "input-delta", index, text: text.slice(one.split) },
      { type: "part-end", index },
    ]
  }
  const type = one.type === "text" ? "text-delta" : "reasoning-delta"
  return [
    { type: "part-start", index, part: one.type },
    { type, index, text: one.words },
    { type: "part-end", index },
  ]
}

/** Parts in a row; those that follow one another directly may alternate, where the wire allows for it. */
function interleave(
  lists: readonly (readonly StreamEvent[])[],
  picks: readonly number[],
  format: Format,
): readonly StreamEvent[] {
  if (format === "gemini" || format === "anthropic-messages") return lists.flat()
  const waiting = lists.map((list) => [...list])
  const all: StreamEvent[] = []
  for (let n = 0; waiting.some((list) => list.length > 0); n++) {
    const open = waiting.filter((list) => list.length > 0)
    const next = open[(picks[n % picks.length] ?? 0) % Math.min(2, open.length)]?.shift()
    if (next !== undefined) all.push(next)
  }
  return all
}

const streams = (format: Format) =>
  fc
    .tuple(
      fc.array(piece, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 9 }),
      fc.array(fc.nat(9_000), { maxLength: 9 }),
    )
    .map(([pieces, picks, cuts]) => {
      const parts = interleave(pieces.map(eventsOf), picks, format)
      const calls = pieces.flatMap((one, index) => (one.type === "call" ? nameOf(one, index) : []))
      const events: readonly StreamEvent[] = [
        { type: "response-start", id: "resp_1", model: "m", createdAt: 5 },
        ...parts,
        { type: "response-end", stop: calls.length > 0 ? "tool-calls" : "end", usage },
      ]
      return { bytes: Buffer.concat(encodeStream(format, events).map(({ raw }) => raw)), cuts, calls }
    })

const ends: Readonly<Record<Format, readonly [calls: string, end: string]>> = {
  "anthropic-messages": ["tool_use", "end_turn"],
  "openai-chat": ["tool_calls", "stop"],
  "openai-responses": ["completed", "completed"],
  gemini: ["STOP", "STOP"],
}

const ours = /\[Withheld by policy[^\]]*\]/g

test.each(formats)(
  "%s: whatever a stream says and however it is cut, the vendor's client hears what was let through",
  async (format) => {
    const property = fc.asyncProperty(streams(format), async ({ bytes, cuts, calls }) => {
      expect(utf8Text(await through(format, bytes, cuts, allowAll))).toBe(utf8Text(bytes))
      const before = await clients[format](bytes)
      for (const guard of [denyAll, denySome]) {
        const left = guard === denyAll ? [] : calls.filter((name) => name.startsWith("even"))
        const heard = await clients[format](await through(format, bytes, cuts, guard))
        expect([...heard.calls].sort()).toEqual([...left].sort())
        expect(heard.text.replace(ours, "")).toBe(before.text)
        expect(heard.text.match(ours) ?? []).toHaveLength(calls.length - left.length)
        expect(heard.stop).toBe(ends[format][left.length > 0 ? 0 : 1])
      }
    })
    await fc.assert(property, { numRuns })
  },
)

const requests: Readonly<Record<Format, readonly [path: string, body: object]>> = {
  "anthropic-messages": ["/v1/messages", { model: "m", stream: true, messages: [] }],
  "openai-chat": ["/v1/chat/completions", { model: "m", stream: true, messages: [] }],
  "openai-responses": ["/v1/responses", { model: "m", stream: true, input: [] }],
  gemini: ["/v1beta/models/m:streamGenerateContent?alt=sse", { contents: [] }],
}

function scripted(format: Format, output: Output): Uint8Array {
  const [path, request] = requests[format]
  const body = utf8Bytes(JSON.stringify(request))
  const asked = { path, headers: {}, body, json: parseJson(utf8Text(body)) }
  const { steps } = createScriptedModel({ script: () => output })(asked)
  return Buffer.concat(steps.flatMap((step) => (step.type === "bytes" ? [step.bytes] : [])))
}

test.each(formats)("%s: as a server streams it, every call refused, the client hears only words", async (format) => {
  const calls = [
    { tool: "odd_one", input: { path: "/a" } },
    { tool: "even_one", input: {} },
  ]
  const bytes = scripted(format, { reasoning: "Let me think.", text: "Here goes.", calls })
  expect(utf8Text(await through(format, bytes, [], allowAll))).toBe(utf8Text(bytes))
  const none = await clients[format](await through(format, bytes, [], denyAll))
  expect([none.calls, none.stop, none.text.replace(ours, "")]).toEqual([[], ends[format][1], "Here goes."])
  const one = await clients[format](await through(format, bytes, [], denySome))
  expect([one.calls, one.stop]).toEqual([["even_one"], ends[format][0]])
})

test.each(formats)(
  "%s: of a stream that is cut in a call or breaks off in an error, no call goes out",
  async (format) => {
    for (const fault of ["cut-mid", "in-stream-error"] as const) {
      const bytes = scripted(format, {
        text: "Here goes.",
        calls: [{ tool: "even_one", input: { path: "/abc" } }],
        fault: { type: fault },
      })
      const whole = format === "gemini" || fault === "in-stream-error"
      const out = utf8Text(await through(format, bytes, [], whole ? denyAll : allowAll)).replace(ours, "")
      expect(out).not.toContain("even_one")
      expect(out).toContain("Here")
    }
  },
)
