import { expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { createUtf8Writer, unitsBetween, writeByHand } from "./counter.ts"

const texts = fc.oneof(
  fc.string({ unit: codePoints, maxLength: 100 }),
  fc.array(fc.nat(0xffff), { maxLength: 100 }).map((units) => String.fromCharCode(...units)),
)

test("by hand or by the platform, the bytes are those of the standard, lone surrogates as U+FFFD", () => {
  const [byHand, fastest] = [createUtf8Writer(writeByHand), createUtf8Writer()]
  fc.assert(
    fc.property(texts, (text) => {
      const expected = [...new TextEncoder().encode(text)]
      for (const { bytes, length } of [byHand(text), fastest(text)])
        expect([...bytes.subarray(0, length)]).toEqual(expected)
    }),
    { seed: 20_261_115, numRuns: 1000 },
  )
})

test("bytes count as the units they came from", () => {
  const write = createUtf8Writer()
  fc.assert(
    fc.property(texts, (text) => {
      const { bytes, length } = write(text)
      expect(unitsBetween(bytes, 0, length)).toBe(text.length)
    }),
    { seed: 20_261_115, numRuns: 1000 },
  )
})

test("a text larger than what is kept is written whole", () => {
  const { bytes, length } = createUtf8Writer()("中".repeat(200_000))
  expect([length, bytes[0], bytes[length - 1]]).toEqual([600_000, 0xe4, 0xad])
})
