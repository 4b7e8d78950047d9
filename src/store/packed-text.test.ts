import { expect, test } from "vitest"
import { hardTexts } from "../../test/contracts/store/example-rows.ts"
import { codePoints, fc, runs } from "../../test/support/property.ts"
import { packText, unpackText } from "./packed-text.ts"

test("any text, short or long, is restored verbatim", async () => {
  const text = fc.tuple(fc.string({ unit: codePoints }), fc.nat(3000)).map(([piece, times]) => piece.repeat(times))
  const property = fc.asyncProperty(text, async (before) => {
    expect(await unpackText(await packText(before))).toBe(before)
  })
  await fc.assert(property, { numRuns: Math.ceil(runs / 10) })
  for (const hard of hardTexts) {
    const before = hard.repeat(2000)
    expect(await unpackText(await packText(before))).toBe(before)
  }
})

test("repetitive text becomes smaller bytes; short or random text stays text", async () => {
  const packed = await packText("again and again ".repeat(1000))
  expect(packed).toBeInstanceOf(Uint8Array)
  expect(packed.length).toBeLessThan(1000)
  expect(await packText("short")).toBe("short")
})

test("damaged bytes are not read as text", async () => {
  const packed = await packText("again and again ".repeat(1000))
  await expect(unpackText(new Uint8Array(packed.length).fill(255))).rejects.toThrow()
})
