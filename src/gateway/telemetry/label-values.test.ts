import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { createLabelValues, maxLabelValues } from "./registry.ts"

test.each([
  ["a usual name stays as it is", "claude-opus-4.1:beta", "claude-opus-4.1:beta"],
  ["half a character is made whole", "a\ud800b", "a\ufffdb"],
  ["control characters are replaced", "a\0b\nc\r\u2028", "a_b_c__"],
  ["a long name is cut", "m".repeat(5_000_000), "m".repeat(128)],
  ["a pair that is cut in two is made whole", `${"m".repeat(127)}😀`, `${"m".repeat(127)}\ufffd`],
  ["nothing is nothing", "", ""],
])("%s", (_why, name, value) => {
  const values = createLabelValues()
  expect(values(name)).toBe(value)
  expect(values(name)).toBe(value)
})

test("a name that is not admitted gets its own value only if it is known", () => {
  const values = createLabelValues()
  expect(values("made-up", false)).toBe("other")
  expect(values("made-up")).toBe("made-up")
  expect(values("made-up", false)).toBe("made-up")
})

const halves = fc.array(fc.constantFrom("\ud800", "\udc00", "x", "\0"), { maxLength: 4 }).map((units) => units.join(""))

test("at most a hundred names are distinguished, and the first ones stay", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string({ unit: codePoints }), halves), { maxLength: 300 }), (names) => {
      const values = createLabelValues()
      values("first")
      const all = new Set(names.map((name) => values(name)))
      expect(all.size).toBeLessThanOrEqual(maxLabelValues + 1)
      expect(values("first")).toBe("first")
      for (const value of all) expect(value.isWellFormed() && !/[\0\n\r]/.test(value)).toBe(true)
    }),
  )
  const values = createLabelValues()
  const many = new Set(Array.from({ length: 5000 }, (_, at) => values(`model-${at}`)))
  expect(many.size).toBe(maxLabelValues + 1)
})
