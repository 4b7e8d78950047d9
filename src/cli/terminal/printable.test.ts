import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { clip, jsonLine, printable, wrap } from "./output.ts"

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: codePoints }),
  fc.string({ unit: fc.constantFrom("a", " ", "\n", "\x1b", "[2J", "\ud83d", "👋") }),
)

describe("printable", () => {
  test("no text can move the cursor, set a title or turn the reading direction", () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(printable(text)).not.toMatch(/(?!\n)[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u)
      }),
    )
  })
  test("plain words, accents and other scripts stay as they are", () => {
    expect(printable("héllo 用户 👋 a\tb\r\nc")).toBe("héllo 用户 👋 a  b\nc")
  })
})

test("for any text, its JSON says the same and has nothing in it that acts on a terminal", () => {
  fc.assert(
    fc.property(texts, (text) => {
      const line = jsonLine({ [text]: [text] })
      expect(JSON.parse(line)).toEqual({ [text]: [text] })
      expect(line).toMatch(/^[^\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]*\n$/u)
    }),
  )
})

test("for any text and width, a clipped text is one line that is not wider", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 1, max: 40 }), (text, width) => {
      const line = clip(text, width)
      expect(line.length).toBeLessThanOrEqual(width)
      expect(line).not.toMatch(/\n/)
    }),
  )
})

test("for any text and width, wrapping loses nothing but spaces, and no line is wider", () => {
  fc.assert(
    fc.property(texts, fc.integer({ min: 2, max: 40 }), (text, width) => {
      const lines = wrap(text, width)
      expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width)
      expect(lines.join("").replace(/\s/g, "")).toBe(printable(text).replace(/\s/g, ""))
    }),
  )
})

test("a very long line is wrapped in one pass", () => {
  expect(wrap("x".repeat(5_000_000), 80)).toHaveLength(62_500)
})
