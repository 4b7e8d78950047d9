import { describe, expect, test } from "vitest"
import { fc, runs } from "../../../test/support/property.ts"
import { createGuard } from "../../guard/guard.ts"
import { HoldfastError } from "../../message/errors.ts"
import { callId, type Format, formats, tokens } from "../../message/message.ts"
import { type SseEvent, utf8Text } from "../../wire/sse.ts"
import type { StreamEvent } from "../../wire/stream.ts"
import { decodeStream, encodeStream } from "../../wire/stream-steps.ts"
import { eventsIn } from "../http/relay.ts"
import { recallName } from "./recall-tool.ts"
import { besideText } from "./round.ts"
import { type StreamRoundsOptions, streamRounds } from "./stream-rounds.ts"

/** Runs for each of the four formats; every case has one or two streams. */
const numRuns = Math.ceil(runs / 3)

type Piece =
  | { readonly type: "text" | "reasoning"; readonly words: string }
  | { readonly type: "call"; readonly recall: boolean; readonly value: string; readonly split: number }

const word = fc.constantFrom("alpha", "beta", "γάμμα", "😀", 'quo"te', "line\nbreak", "\ud800")
const pieceOf = (recall: fc.Arbitrary<boolean>): fc.Arbitrary<Piece> =>
  fc.oneof(
    fc.record({ type: fc.constantFrom("text" as const, "reasoning" as const), words: word }),
    fc.record({ type: fc.constant("call" as const), recall, value: word, split: fc.nat(12) }),
  )

const usage = {
  inputTokens: tokens(7),
  outputTokens: tokens(9),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}

function eventsOf(one: Piece, index: number): readonly StreamEvent[] {
  if (one.type === "call") {
    const text = JSON.stringify({ handle: one.value })
    const tool = one.recall ? recallName : `tool_${index}`
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

/** A sequence of parts; in formats that allow it, neighbouring parts may alternate. */
function interleave(lists: readonly (readonly StreamEvent[])[], picks: readonly number[], format: Format) {
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

type Stream = { readonly pieces: readonly Piece[]; readonly bytes: Uint8Array; readonly size: number }

const streams = (format: Format, recall: fc.Arbitrary<boolean>): fc.Arbitrary<Stream> =>
  fc
    .tuple(
      fc.array(pieceOf(recall), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(3), { minLength: 1, maxLength: 9 }),
      fc.constantFrom(7, 37, 5_000),
    )
    .map(([pieces, picks, size]) => {
      const parts = interleave(pieces.map(eventsOf), picks, format)
      const calls = pieces.some(({ type }) => type === "call")
      const events: readonly StreamEvent[] = [
        { type: "response-start", id: "resp_1", model: "m", createdAt: 5 },
        ...parts,
        { type: "response-end", stop: calls ? "tool-calls" : "end", usage },
      ]
      return { pieces, bytes: Buffer.concat(encodeStream(format, events).map(({ raw }) => raw)), size }
    })

function* chunks({ bytes, size }: Pick<Stream, "bytes" | "size">): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const bodies: Readonly<Record<Format, string>> = {
  "anthropic-messages": `{"model":"m","messages":[{"role":"user","content":"go"}]}`,
  "openai-chat": `{"model":"m","messages":[{"role":"user","content":"go"}]}`,
  "openai-responses": `{"model":"m","input":"go"}`,
  gemini: `{"contents":[{"parts":[{"text":"go"}]}]}`,
}

const optionsFor = (format: Format, first: Stream, second?: Stream): StreamRoundsOptions => ({
  format,
  framing: "events",
  sent: bodies[format],
  events: eventsIn(chunks(first), "events"),
  recall: async () => ({ text: "back", failed: false }),
  send: async () =>
    second === undefined
      ? { status: 500, text: "no" }
      : { status: 200, framing: "events", events: eventsIn(chunks(second), "events") },
})

async function outOf(options: StreamRoundsOptions): Promise<readonly SseEvent[]> {
  const out: SseEvent[] = []
  for await (const event of streamRounds(options)) out.push(event)
  return out
}

const joined = (events: readonly SseEvent[]): string => utf8Text(Buffer.concat(events.map(({ raw }) => raw)))

async function readStream(format: Format, bytes: Uint8Array): Promise<readonly StreamEvent[]> {
  const wire: SseEvent[] = []
  for await (const event of eventsIn([bytes], "events")) wire.push(event)
  return decodeStream(format, wire)
}

const textIn = (events: readonly StreamEvent[]): string =>
  events.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("")

const never = fc.constant(false)
const guarding = { guard: createGuard([]), onJudged: async () => {} }

describe.each(formats)("%s", (format) => {
  test("a stream without recalls is relayed byte for byte, in any chunking", async () => {
    const property = fc.asyncProperty(streams(format, never), async (stream) => {
      expect(joined(await outOf(optionsFor(format, stream)))).toBe(utf8Text(stream.bytes))
      expect(joined(await outOf({ ...optionsFor(format, stream), guarding }))).toBe(utf8Text(stream.bytes))
    })
    await fc.assert(property, { numRuns })
  })

  test("for any mix of recalls, text and calls, the output is one response with each item once", async () => {
    const property = fc.asyncProperty(
      streams(format, fc.boolean()),
      streams(format, never),
      fc.boolean(),
      async (first, second, guarded) => {
        const options = { ...optionsFor(format, first, second), ...(guarded ? { guarding } : {}) }
        const said = await readStream(format, Buffer.from(joined(await outOf(options))))
        expect(said.filter(({ type }) => type === "error")).toEqual([])
        expect(said.filter(({ type }) => type === "response-start")).toHaveLength(1)
        expect(said.filter(({ type }) => type === "response-stop")).toHaveLength(1)
        const recalls = first.pieces.filter((one) => one.type === "call" && one.recall).length
        const own = first.pieces.filter((one) => one.type === "call" && !one.recall).length
        const continues = recalls > 0 && own === 0
        const shown = continues ? [...first.pieces, ...second.pieces] : first.pieces
        const heard = textIn(said)
        const came = await Promise.all(
          (continues ? [first, second] : [first]).map((one) => readStream(format, one.bytes)),
        )
        expect(plain(heard)).toBe(plain(came.map(textIn).join("")))
        expect(heard.split(besideText)).toHaveLength(1 + (own > 0 ? recalls : 0))
        const calls = said.flatMap((event) =>
          event.type === "part-start" && event.part === "tool-call" ? event.tool : [],
        )
        expect(calls.filter((tool) => tool === recallName)).toEqual([])
        expect(calls).toHaveLength(shown.filter((one) => one.type === "call" && !one.recall).length)
        const stop = said.find((event) => event.type === "response-stop")
        expect(stop?.type === "response-stop" && stop.stop).toBe(calls.length > 0 ? "tool-calls" : "end")
      },
    )
    await fc.assert(property, { numRuns })
  })

  test("text is relayed before the next round is requested", async () => {
    const [first, second] = [said(format, "Wait.", true), said(format, "Done.", false)]
    const order: string[] = []
    const options = optionsFor(format, first, second)
    const send: StreamRoundsOptions["send"] = async (body) => {
      order.push("asked")
      return options.send(body)
    }
    for await (const { raw } of streamRounds({ ...options, send })) {
      if (utf8Text(raw).includes("Wait.")) order.push("told")
    }
    expect(order.slice(0, order.indexOf("asked"))).toContain("told")
  })

  test("an unreadable request has no next round: the response ends with a note", async () => {
    const options = { ...optionsFor(format, said(format, "Wait.", true)), sent: "no json" }
    expect(joined(await outOf(options))).toContain(recallName)
  })

  test("a later round that cannot be sent, or is refused as text, is an error in the stream", async () => {
    const options = optionsFor(format, said(format, "Wait.", true))
    const unreachable = new HoldfastError({ code: "upstream-unreachable", host: "h", reason: "gone" })
    const sends: readonly StreamRoundsOptions["send"][] = [
      () => Promise.reject(unreachable),
      async () => ({ status: 429, text: `{"error":{"type":"rate_limit_error","message":"slower"}}` }),
      async () => ({ status: 200, text: "a page of a proxy" }),
    ]
    for (const send of sends) {
      const events = eventsIn(chunks(said(format, "Wait.", true)), "events")
      const wire = await outOf({ ...options, events, send })
      expect(decodeStream(format, wire).some(({ type }) => type === "error")).toBe(true)
    }
  })
})

/** Text without our own notes and the gaps between rounds; characters that a format cannot express are replaced. */
const plain = (text: string): string => text.replaceAll(besideText, "").replace(/\n\n/g, "").toWellFormed()

function said(format: Format, text: string, recalls: boolean): Stream {
  const pieces: readonly Piece[] = [
    { type: "text", words: text },
    ...(recalls ? [{ type: "call", recall: true, value: "hf-1", split: 3 } as const] : []),
  ]
  const events: readonly StreamEvent[] = [
    { type: "response-start", id: "resp_1", model: "m", createdAt: 5 },
    ...pieces.flatMap(eventsOf),
    { type: "response-end", stop: recalls ? "tool-calls" : "end", usage },
  ]
  return { pieces, bytes: Buffer.concat(encodeStream(format, events).map(({ raw }) => raw)), size: 37 }
}
