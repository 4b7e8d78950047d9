import { describe, expect, test } from "vitest"
import { codePoints, fc, runs } from "../../test/support/property.ts"
import { tokens } from "../message/message.ts"
import { countO200k, truncateO200k } from "./counter.ts"

const numRuns = 3 * runs
const settings = { seed: 20_261_115, numRuns }

const fragments = [
  "a",
  "the ",
  "Word's",
  "中文",
  "😀",
  "e\u0301",
  "  ",
  "\n",
  " \n  ",
  "1234",
  "((",
  "hello",
  "    x",
  "'ll",
  "\uD800",
]
const texts = fc.array(fc.constantFrom(...fragments), { maxLength: 16 }).map((parts) => parts.join(""))

/** Every place where a cut does not tear a surrogate pair. */
function cutsOf(text: string): readonly number[] {
  const cuts = [0]
  for (const character of text) cuts.push((cuts.at(-1) ?? 0) + character.length)
  return cuts
}

describe("the longest beginning that fits", () => {
  test("is what trying every cut finds", () => {
    fc.assert(
      fc.property(texts, fc.nat(20), (text, budget) => {
        const best = cutsOf(text).findLast((cut) => countO200k(text.slice(0, cut)) <= budget) ?? 0
        expect(truncateO200k(text, tokens(budget))).toBe(text.slice(0, best))
      }),
      settings,
    )
  })

  test("is the text itself when that fits", () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoints }), (text) => {
        expect(truncateO200k(text, countO200k(text))).toBe(text)
      }),
      settings,
    )
  })

  test("is never over budget, and never shorter for a larger budget", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 80 }), fc.nat(30), (text, budget) => {
        const [less, more] = [truncateO200k(text, tokens(budget)), truncateO200k(text, tokens(budget + 1))]
        expect(countO200k(less)).toBeLessThanOrEqual(budget)
        expect(more.startsWith(less)).toBe(true)
      }),
      settings,
    )
  })

  test.each([
    ["unbroken letters", "abcdefgh".repeat(2000)],
    ["spaces", " ".repeat(20_000)],
    ["Chinese without a break", "中文字符测试数据处理".repeat(1000)],
    ["emoji", "😀🚀👍🏽".repeat(2000)],
    ["capitals that end in a small letter", `中${"A".repeat(3000)}b`],
  ])("uses the budget up in a long piece of %s", (_name, text) => {
    const budget = 100
    const cut = truncateO200k(text, tokens(budget))
    expect(text.startsWith(cut)).toBe(true)
    expect(countO200k(cut)).toBeLessThanOrEqual(budget)
    expect(countO200k(cut)).toBeGreaterThan(budget * 0.9)
  })
})
