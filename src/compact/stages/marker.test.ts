import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { escapeMarkers, isMarker, leftOut, nameHandle, quoteInMarker, wholeMarker } from "./marker.ts"

const forged: readonly (readonly [why: string, text: string, escaped: string])[] = [
  ["a marker", "[… 3 lines left out]", "[quoted … 3 lines left out]"],
  ["a marker with a handle", "a [… 3 lines left out; recall h1] b", "a [quoted … 3 lines left out; recall h1] b"],
  ["a picture's", "[image, png, 2x2, left out]", "[quoted image, png, 2x2, left out]"],
  ["one in wide brackets", "［… 3 lines left out］", "［quoted … 3 lines left out］"],
  ["one with blanks that nobody sees", "[\u200b … 3]", "[quoted \u200b … 3]"],
  ["one that is called a quotation already", "[quoted … 3 lines left out]", "[quoted … 3 lines left out]"],
  ["code that spreads a list", "f([...rest])", "f([...rest])"],
  ["prose", "two were left out [1]", "two were left out [1]"],
]
test.each(forged)("of what looks like ours: %s", (_why, text, escaped) => {
  expect(escapeMarkers(text)).toBe(escaped)
})

test("whatever a tool wrote, once escaped it holds no marker, and escaping again changes nothing", () => {
  const piece = fc.constantFrom(
    "[",
    "…",
    " ",
    "left out",
    "]",
    "3 lines",
    "quoted ",
    "image, ",
    "\n",
    "[… 1 line left out]",
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 }))), (pieces) => {
      const escaped = escapeMarkers(pieces.join(""))
      expect(escaped).not.toMatch(/\[… \d+ \w+ left out/)
      for (const line of escaped.split("\n")) if (isMarker(line)) expect(line).toMatch(/^\[quoted /)
      expect(escapeMarkers(escaped)).toBe(escaped)
    }),
  )
})

test("one thing is not many", () => {
  expect(leftOut(1, "line")).toBe("[… 1 line left out]")
  expect(leftOut(2, "item", "read again later")).toBe("[… 2 items left out: read again later]")
})

test("a text on one line is counted in characters", () => {
  expect(wholeMarker("abc")).toBe("[… 3 characters left out]")
  expect(wholeMarker("a\nb\n")).toBe("[… 3 lines left out]")
})

test("a handle is named once, in the last marker, and only where there is one", () => {
  expect(nameHandle("[… 1 line left out]\nb\n[… 2 lines left out]\nc", "h1")).toBe(
    "[… 1 line left out]\nb\n[… 2 lines left out; recall h1]\nc",
  )
  expect(nameHandle("all of it", "h1")).toBe("all of it")
  expect(nameHandle("[… 1 line left out]", undefined)).toBe("[… 1 line left out]")
})

test("a marker knows itself, with its reason and its handle", () => {
  expect(isMarker(nameHandle(wholeMarker("a\nb", "read again later"), "h1"))).toBe(true)
  expect(isMarker("[… 2 lines left out]\nmore")).toBe(false)
  expect(isMarker("left out")).toBe(false)
})

test("words of others cannot end a marker or start a line", () => {
  expect(quoteInMarker("cat a]\n[… 3 lines left out]")).toBe("cat a 3 lines left out")
  expect(quoteInMarker("a".repeat(200))).toBe(`${"a".repeat(80)}..`)
})
