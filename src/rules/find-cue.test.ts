import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { atomsOf, cue } from "./find-cue.ts"

const patterns: readonly RegExp[] = [
  /\bnever (?:ever )?(?:push|merge)\b/,
  /(?<![\w-])(?:always|no (?:more|less) than|at (?:most|least))(?![\w-])/,
  /^(?:please |and )*(?:do not|don't|stop)\b(?! (?:worry|mind))/,
  /\b(?:must|should)(?:n't| not)\b|\bcannot\b|不要|禁止/,
  /(?:^|[,:;(] ?)(?:all|every|no)\b/,
  /\bask\b.{0,20}?\b(?:before|first)\b/,
  /[a-z]+s (?:go|belong) (?:to|in)\b/,
  /^[a-z]{3,}(?<!s|ed) (?:the|an?) [a-z]/,
  /(?:a|b)?c+d{2,3}e*\d\d [x-z]/i,
  /\(\w+\)|\[x\]|\/\/|=>/,
  /é(?:t|l)é|naïve text/,
]

const words =
  "never ever push merge always no more less than at most least please and do not don't stop worry must shouldn't cannot all every ask before first files go to in the an bccdd12 x (me) => // [x] 不要 été NEVER non-stop , ; : ( . \n - _".split(
    " ",
  )
const texts = fc.oneof(
  fc
    .array(fc.constantFrom(...words), { maxLength: 9 })
    .chain((said) => fc.constantFrom(" ", "", "  ", "-").map((between) => said.join(between))),
  fc.string(),
)

test("for any text a cue answers as its pattern does", () => {
  const cues = patterns.map(cue)
  fc.assert(
    fc.property(fc.array(texts, { minLength: 1, maxLength: 6 }), (said) => {
      for (const text of [...said, ...said])
        expect(cues.map((one) => one.test(text))).toEqual(patterns.map((pattern) => pattern.test(text)))
    }),
  )
})

test("a text longer than a sentence is asked about in full", () => {
  const long = `${"and so on ".repeat(400)}never push`
  expect(cue(/\bnever push\b/).test(long)).toBe(true)
  expect(cue(/\bnever merge\b/).test(long)).toBe(false)
})

test("a cue that is made behind others knows the text that they were asked about", () => {
  const text = "always ask, and never guess"
  expect(cue(/\bnever guess\b/).test(text)).toBe(true)
  expect(cue(/\balways ask\b/).test(text)).toBe(true)
})

describe("what every match has", () => {
  test.each([
    ["its words, with a gap where they end", /\bnever\b/, ["\0never\0"]],
    ["each branch for itself", /stop|ceases?/, ["stop", "cease", "ceases"]],
    ["the longest of several stretches", /\bno\b.{1,5}exception/, ["exception"]],
    ["no branch that ASCII cannot be", /never|从不/, ["never"]],
    ["a sign for whatever is no word", /do not|don't/, ["do\0not", "don\0t"]],
    ["one of few signs", /gr[ae]y/, ["gray", "grey"]],
    ["what is there once at least", /(?:again )+/, ["again\0"]],
  ])("%s", (_, pattern, atoms) => {
    expect(atomsOf(pattern)).toEqual(atoms)
  })
  test.each([
    ["nothing has to be there", /(?:never)?/],
    ["it is too short to tell", /no/],
    ["any sign will do", /[a-z]+ \d*/],
    ["one branch is open", /never|.*/],
  ])("nothing is known where %s", (_, pattern) => {
    expect(atomsOf(pattern)).toBeUndefined()
  })
})
