import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { nearest } from "./nearest.ts"

const known = ["compact", "serve", "replay", "doctor"]

const cases: readonly (readonly [why: string, name: string, meant: string | undefined])[] = [
  ["two letters swapped", "compcat", "compact"],
  ["a letter missing", "serv", "serve"],
  ["a letter too many", "replayy", "replay"],
  ["only its beginning", "doc", "doctor"],
  ["another word", "launch", undefined],
  ["nothing", "", undefined],
  ["a sentence", "compact ".repeat(20), undefined],
]
test.each(cases)("%s", (_why, name, meant) => {
  expect(nearest(name, known)).toBe(meant)
})

test("one change to a known name is always found", () => {
  const changed = fc
    .tuple(fc.constantFrom(...known), fc.nat(20), fc.constantFrom("", "x"))
    .map(([name, at, letter]) => {
      const place = at % name.length
      return [name, name.slice(0, place) + letter + name.slice(place + 1)] as const
    })
  fc.assert(
    fc.property(changed, ([name, written]) => {
      expect(nearest(written, known)).toBe(name)
    }),
  )
})
