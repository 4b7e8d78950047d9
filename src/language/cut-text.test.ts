import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { clipText, cutMiddle, startOfText } from "./cut-text.ts"

const text = fc.string({ unit: codePoints, maxLength: 60 })
const max = fc.integer({ min: 0, max: 70 })

describe("for any text and length", () => {
  test("a cut text is no longer, starts as the text does, and splits no character", () => {
    const property = fc.property(text, max, (whole, most) => {
      const start = startOfText(whole, most)
      const clipped = clipText(whole, most)
      expect(start.length).toBeLessThanOrEqual(most)
      expect(whole.startsWith(start)).toBe(true)
      expect([start, clipped].map((cut) => cut.isWellFormed())).toEqual([true, true])
      expect(clipped === whole).toBe(whole.length <= most)
      if (most > 0) expect(clipped.length).toBeLessThanOrEqual(most)
    })
    fc.assert(property)
  })

  test("head and tail are the text's own, and the note counts what is between them", () => {
    const property = fc.property(text, max, fc.double({ min: 0, max: 1, noNaN: true }), (whole, keep, share) => {
      const cut = cutMiddle(whole, keep, (leftOut) => `\u0000${leftOut}\u0000`, share)
      if (whole.length <= keep) {
        expect(cut).toBe(whole)
        return
      }
      const [, head = "", leftOut = "", tail = ""] = /^([\s\S]*)\0(\d+)\0([\s\S]*)$/.exec(cut) ?? []
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true)
      expect(head.length + Number(leftOut) + tail.length).toBe(whole.length)
      expect(head.length + tail.length).toBeLessThanOrEqual(keep)
      expect([head, tail].every((part) => part.isWellFormed())).toBe(true)
    })
    fc.assert(property)
  })
})

test("the note stands between the kept ends", () => {
  expect(cutMiddle("abcdefghij", 6, (leftOut) => `[${leftOut}]`)).toBe("abcd[4]ij")
  expect(cutMiddle("abcdefghij", 6, (leftOut) => `[${leftOut}]`, 0.5)).toBe("abc[4]hij")
  expect(clipText("a long line", 7)).toBe("a long…")
})
