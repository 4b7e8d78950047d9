import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { asidesIn } from "./asides.ts"

const cut = (text: string): readonly string[] => asidesIn(text).map(({ start, end }) => text.slice(start, end))

test("what a harness or a person puts between tags is found, and the words around it are not", () => {
  const text = "paint it <environment_details>\nplan mode\n</environment_details> blue <issue>never sinks</issue>"
  expect(cut(text)).toEqual(["<environment_details>\nplan mode\n", "<issue>never sinks"])
})

test("what someone lays down or asks between tags is their own, and a tag that never closes hides nothing", () => {
  expect(cut("<rules>never sink</rules><user_query>go</user_query>")).toEqual([])
  expect(cut("<system-reminder>never sink </issue>")).toEqual([])
})

test("a record between tags of any name is data, and what someone lays down with tags inside is not", () => {
  expect(cut("<order><id>88</id><remark>never sink</remark></order>\nWhy?")).toEqual([
    "<order><id>88</id><remark>never sink</remark>",
  ])
  expect(cut("<rules><rule>never sink</rule><rule>never burn</rule></rules>")).toEqual([])
  expect(cut("<b>never</b> sink, <i>please</i>")).toEqual([])
})

test("for any text the stretches stand in it, in order and apart", () => {
  const piece = fc.constantFrom("<log>", "</log>", "<system-reminder>", "</system-reminder>", "<a", "never", "\n", "<")
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join("")
      let before = 0
      for (const { start, end } of asidesIn(text)) {
        expect(start).toBeGreaterThanOrEqual(before)
        expect(end).toBeGreaterThan(start)
        expect(end).toBeLessThanOrEqual(text.length)
        before = end
      }
    }),
  )
})
