import { expect, test } from "vitest"
import { codePoints, fc, isLongRun, runs } from "../../test/support/property.ts"
import { HoldfastError } from "../message/errors.ts"
import { createSseEvent, replaceData, type SseEvent, sseEnd, sseStep, startSse, utf8Bytes, utf8Text } from "./sse.ts"

const numRuns = 3 * runs
const seeded = { seed: 20_261_115, numRuns }

function parse(chunks: readonly Uint8Array[], limit?: number): readonly SseEvent[] {
  let state = startSse(limit)
  const all: SseEvent[] = []
  for (const chunk of chunks) {
    const [next, events] = sseStep(state, chunk)
    state = next
    all.push(...events)
  }
  return [...all, ...sseEnd(state)]
}

/** Cut bytes at these places, in any order and with repeats. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((one, other) => one - other)
  return ends.map((end, n) => bytes.slice(ends[n - 1] ?? 0, end))
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")
const rawOf = (events: readonly SseEvent[]): string => events.map(({ raw }) => hex(raw)).join("")
const said = (text: string): readonly Omit<SseEvent, "raw">[] =>
  parse([utf8Bytes(text)]).map(({ raw: _, ...event }) => event)

test.each<[why: string, text: string, events: readonly Omit<SseEvent, "raw">[]]>([
  ["one event", "data: a\n\n", [{ type: "event", data: "a" }]],
  [
    "a name, an id and a retry",
    "event: e\nid: 7\nretry: 10\ndata: a\n\n",
    [{ type: "event", name: "e", id: "7", retryMs: 10, data: "a" }],
  ],
  [
    "no space after the colon, or two",
    "data:a\n\ndata:  a\n\n",
    [
      { type: "event", data: "a" },
      { type: "event", data: " a" },
    ],
  ],
  ["several data lines, one without a colon", "data: a\ndata\ndata: b\n\n", [{ type: "event", data: "a\n\nb" }]],
  [
    "CRLF, and lone CR",
    "data: a\r\n\r\ndata: b\r\rdata: c\n\n",
    [
      { type: "event", data: "a" },
      { type: "event", data: "b" },
      { type: "event", data: "c" },
    ],
  ],
  ["a byte order mark", "\uFEFFdata: a\n\n", [{ type: "event", data: "a" }]],
  [
    "a comment is told when its line ends",
    ": keep-alive\n\ndata: a\n\n",
    [
      { type: "comment", data: "keep-alive" },
      { type: "event", data: "a" },
    ],
  ],
  ["a comment inside an event belongs to it", "data: a\n: note\n\n", [{ type: "event", data: "a" }]],
  ["an event with no data", "event: ping\n\n", [{ type: "event", name: "ping", data: "" }]],
  [
    "the stream ends before the blank line",
    "data: a\n\ndata: b\n",
    [
      { type: "event", data: "a" },
      { type: "cut", data: "b" },
    ],
  ],
  ["the stream ends after the CR of a blank line", "data: a\r\r", [{ type: "event", data: "a" }]],
  [
    "blank lines at the end are no cut",
    "data: a\n\n\n\n",
    [
      { type: "event", data: "a" },
      { type: "comment", data: "" },
    ],
  ],
])("%s", (_why, text, events) => {
  expect(said(text)).toEqual(events)
})

const line = fc.oneof(
  fc.string({ unit: codePoints, maxLength: 12 }).map((text) => `data: ${text}`),
  fc.constantFrom(
    "",
    "",
    ": keep-alive",
    ":",
    "event: delta",
    "id: 3",
    "retry: x",
    "data",
    "\uFEFF",
    "data:😀é",
    "nonsense",
  ),
)
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc
    .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 20 })
    .map((lines) => utf8Bytes(lines.flat().join(""))),
)

test("the same events come out of any chunking, and their raw bytes are the bytes that came in", () => {
  const property = fc.property(bytes, fc.array(fc.nat(), { maxLength: 30 }), (whole, places) => {
    const events = parse([whole])
    expect(rawOf(events)).toBe(hex(whole))
    expect(parse(cut(whole, places))).toEqual(events)
    expect(parse([...whole].map((byte) => new Uint8Array([byte])))).toEqual(events)
  })
  fc.assert(property, seeded)
})

test("with a limit, any bytes in any chunking give the same events up to the one that is too large", () => {
  const until = (chunks: readonly Uint8Array[], limit: number): readonly SseEvent[] => {
    let state = startSse(limit)
    const all: SseEvent[] = []
    try {
      for (const chunk of chunks) {
        const [next, events] = sseStep(state, chunk)
        state = next
        all.push(...events)
      }
      return [...all, ...sseEnd(state)]
    } catch (error) {
      expect(error instanceof HoldfastError && error.problem).toEqual({ code: "stream-event-too-large", limit })
      return all
    }
  }
  const property = fc.property(bytes, fc.array(fc.nat(), { maxLength: 30 }), fc.nat(40), (whole, places, limit) => {
    expect(until(cut(whole, places), limit)).toEqual(until([whole], limit))
  })
  fc.assert(property, seeded)
})

test("a value written as an event is read back, and replacing data keeps the rest of the event", () => {
  const property = fc.property(fc.string({ unit: "grapheme" }), fc.constantFrom("\n", "\r\n"), (text, end) => {
    const data = text.replaceAll(/\r\n?/g, "\n")
    expect(parse([createSseEvent(data, "x").raw])).toEqual([createSseEvent(data, "x")])
    const [event] = parse([utf8Bytes(`id: 5${end}event: x${end}: note${end}data: 1${end}data: 2${end}${end}`)])
    if (event === undefined) throw new Error("no event")
    const replaced = replaceData(event, data)
    expect(parse([replaced.raw])).toEqual([replaced])
    expect(utf8Text(replaced.raw)).toContain(`id: 5${end}event: x${end}: note${end}data: `)
    expect(replaceData(event, "1\n2")).toBe(event)
  })
  fc.assert(property, seeded)
})

test.each([
  [isLongRun ? 1_000_000 : 300_000, 1],
  [10_000_000, 1024],
])("an event of %s bytes in chunks of %s takes time in proportion, not its square", (length, size) => {
  const whole = utf8Bytes(`data: ${"x".repeat(length)}\n\n`)
  const chunks: Uint8Array[] = []
  for (let at = 0; at < whole.length; at += size) chunks.push(whole.subarray(at, at + size))
  const began = process.cpuUsage()
  const events = parse(chunks)
  expect(events.map(({ data }) => data.length)).toEqual([length])
  // In CPU time, which nobody else's work can lengthen: in proportion it takes a second, by its square an hour, or some minutes.
  expect(process.cpuUsage(began).user).toBeLessThan(10_000_000)
})
