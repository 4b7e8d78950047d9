import { expect, test } from "vitest"
import { hardTexts } from "../../test/contracts/store/example-rows.ts"
import { fc } from "../../test/support/property.ts"
import { fromStorable, toStorable } from "./packed-text.ts"

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom("\0", "\u0010", "0", "a", "\ud800", "\udc00", "1", "😀", "\ufffd") }),
  fc.string({ unit: "binary" }),
)

test("any text comes back verbatim from what every database can keep", () => {
  const property = fc.property(text, (before) => {
    const stored = toStorable(before)
    expect(stored.isWellFormed()).toBe(true)
    expect(stored).not.toContain("\0")
    expect(fromStorable(stored)).toBe(before)
  })
  fc.assert(property)
})

test("two texts that differ are kept as two", () => {
  const property = fc.property(text, text, (one, other) => {
    expect(toStorable(one) === toStorable(other)).toBe(one === other)
  })
  fc.assert(property)
})

test("common text is kept as it is", () => {
  expect(toStorable("Grüße\n\t\\u0000 😀")).toBe("Grüße\n\t\\u0000 😀")
  expect(toStorable("a\0b")).toBe("a\u00100000b")
})

test.each(hardTexts)("%j comes back", (before) => {
  expect(fromStorable(toStorable(before))).toBe(before)
})
