import { expect, test } from "vitest"
import { hardTexts } from "../../test/contracts/store/example-rows.ts"
import { codePoints, fc } from "../../test/support/property.ts"
import { fromStorable, toStorable } from "./packed-text.ts"

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("\0", "\u0010", "0", "a", "\ud800", "\udc00", "1", "😀", "\ufffd") }),
  fc.string({ unit: codePoints }),
)

test("any text is restored verbatim from its storable form", () => {
  const property = fc.property(text, (before) => {
    const stored = toStorable(before)
    expect(stored.isWellFormed()).toBe(true)
    expect(stored).not.toContain("\0")
    expect(fromStorable(stored)).toBe(before)
  })
  fc.assert(property)
})

test("two different texts are stored as different texts", () => {
  const property = fc.property(text, text, (one, other) => {
    expect(toStorable(one) === toStorable(other)).toBe(one === other)
  })
  fc.assert(property)
})

test("common text is stored unchanged", () => {
  expect(toStorable("Grüße\n\t\\u0000 😀")).toBe("Grüße\n\t\\u0000 😀")
  expect(toStorable("a\0b")).toBe("a\u00100000b")
})

test.each(hardTexts)("%j is restored", (before) => {
  expect(fromStorable(toStorable(before))).toBe(before)
})
