import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { callId, type Format, formats, tokens } from "../message/message.ts"
import { readSse, utf8Bytes, utf8Text } from "./sse.ts"
import { type StreamEvent, withoutWire } from "./stream.ts"
import { collect, decodeStream, encodeStream } from "./stream-steps.ts"

/** For each of the four formats. */
const numRuns = runs
const seeded = { seed: 20_261_115, numRuns }

const usage = {
  inputTokens: tokens(3),
  outputTokens: tokens(4),
  cacheReadTokens: tokens(0),
  cacheWriteTokens: tokens(0),
}
const ours: readonly StreamEvent[] = [
  { type: "response-start", id: "resp_1", model: "m" },
  { type: "part-start", index: 0, part: "reasoning" },
  { type: "reasoning-delta", index: 0, text: "hm" },
  { type: "signature-delta", index: 0, signature: "c2ln" },
  { type: "part-end", index: 0 },
  { type: "part-start", index: 1, part: "text" },
  { type: "text-delta", index: 1, text: "hi\u2028" },
  { type: "part-end", index: 1 },
  { type: "part-start", index: 2, part: "tool-call", callId: callId("a"), tool: "read", kind: "function" },
  { type: "input-delta", index: 2, text: '{"n":' },
  { type: "input-delta", index: 2, text: "1.0}" },
  { type: "part-end", index: 2 },
  { type: "part-start", index: 3, part: "tool-call", callId: callId("b"), tool: "write", kind: "function" },
  { type: "part-end", index: 3 },
  { type: "response-end", stop: "tool-calls", usage },
]

/** Put something else in the place of one value in a frame's JSON. */
function damage(frame: string, where: number, value: unknown): string {
  let seen = 0
  return frame.replace(/\{[^\n\r]*\}/, (text) => {
    const values = [...text.matchAll(/[:,]/g)].length
    const changed = JSON.parse(text, (_, inner) => (seen++ === where % (values + 1) ? value : inner))
    return JSON.stringify(changed) ?? "null"
  })
}

const junk = fc.constantFrom<unknown>(null, 7, "x", "", [], {}, [7], [{}], { type: "text" }, { index: 0 }, undefined)

/** A stream with damaged values, in part out of order, and followed by noise. */
function streams(format: Format): fc.Arbitrary<string> {
  const frames = encodeStream(format, ours).map(({ raw }) => utf8Text(raw))
  const damages = fc.array(fc.tuple(fc.nat(), fc.nat(), junk), { maxLength: 2 })
  const noise = fc.array(
    fc.string().map((data) => `data: ${data}\n\n`),
    { maxLength: 2 },
  )
  return fc.tuple(damages, fc.array(fc.nat(), { maxLength: 6 }), noise).map(([places, picks, more]) => {
    const all = [...frames]
    for (const [which, where, value] of places) {
      const at = which % all.length
      all[at] = damage(all[at] ?? "", where, value)
    }
    const moved = picks.length === 0 ? all : [...all.slice(0, 5), ...picks.map((pick) => all[pick % all.length] ?? "")]
    return [...moved, ...more].join("")
  })
}

test.each(formats)(
  "%s: whatever an upstream sends is relayed byte for byte, and nothing else is ever thrown",
  (format) => {
    const decode = (stream: string) => decodeStream(format, readSse(utf8Bytes(stream)))
    const encode = (events: readonly StreamEvent[]) =>
      utf8Text(Buffer.concat(encodeStream(format, events).map(({ raw }) => raw)))
    const property = fc.property(streams(format), fc.array(fc.boolean(), { minLength: 1 }), (stream, mask) => {
      const events = decode(stream)
      expect(encode(events)).toBe(stream)
      const some = events.filter((_, n) => mask[n % mask.length])
      const mixed = events.map((event, n) => (mask[n % mask.length] ? event : withoutWire(event)))
      for (const list of [events, some, mixed]) {
        decode(encode(list))
        collect(format, list)
      }
    })
    fc.assert(property, seeded)
  },
)
