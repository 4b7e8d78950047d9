import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import {
  arrayEnd,
  arrayStep,
  createSseEvent,
  replaceData,
  type SseEvent,
  startArray,
  utf8Bytes,
  utf8Text,
  writeArrayEvent,
} from "./sse.ts"

const numRuns = 3 * runs
const seeded = { seed: 20_261_115, numRuns }

function parse(chunks: readonly Uint8Array[]): readonly SseEvent[] {
  let state = startArray()
  const all: SseEvent[] = []
  for (const chunk of chunks) {
    const [next, events] = arrayStep(state, chunk)
    state = next
    all.push(...events)
  }
  return [...all, ...arrayEnd(state)]
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex")
const rawOf = (events: readonly SseEvent[]): string => events.map(({ raw }) => hex(raw)).join("")
const bytewise = (bytes: Uint8Array): readonly Uint8Array[] => [...bytes].map((byte) => new Uint8Array([byte]))
const elements = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), {
  minLength: 1,
  maxLength: 3,
})

test("every element of a streamed array is an event, in any chunking, and no byte is lost", () => {
  const property = fc.property(elements, fc.constantFrom(0, 2), (values, indent) => {
    const texts = values.map((value) => JSON.stringify(value, null, indent))
    const whole = utf8Bytes(`[${texts.join(",\r\n")}\n]\n`)
    const events = parse([whole])
    expect(events.filter(({ type }) => type === "event").map(({ data }) => data)).toEqual(texts)
    expect(rawOf(events)).toBe(hex(whole))
    expect(parse(bytewise(whole))).toEqual(events)
  })
  fc.assert(property, seeded)
})

test("any bytes at all come out again", () => {
  const property = fc.property(fc.uint8Array(), (whole) => {
    expect(rawOf(parse([whole]))).toBe(hex(whole))
    expect(parse(bytewise(whole))).toEqual(parse([whole]))
  })
  fc.assert(property, seeded)
})

test("an array that stops inside an element is a cut", () => {
  expect(parse([utf8Bytes('[{"a":1},{"b"')]).map(({ type }) => type)).toEqual(["event", "cut"])
})

test("leaving out, changing or adding an element still gives a JSON array", () => {
  const events = parse([utf8Bytes('[{"a":1},\r\n{"b":2},\r\n{"c":3}]')])
  const [, second, third, close] = events
  if (second === undefined || third === undefined || close === undefined) throw new Error("too few events")
  const left = [replaceData(second, '{"b":5}'), createSseEvent('{"own":true}'), third, close]
  const text = left.map((event, n) => utf8Text(writeArrayEvent(event, n))).join("")
  expect(JSON.parse(text)).toEqual([{ b: 5 }, { own: true }, { c: 3 }])
})
