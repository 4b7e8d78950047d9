import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { textOfCodes } from "../language/letters.ts"
import { maskValues, masked as withoutDelimited, withoutValues } from "./masks.ts"
import { scratchCodes } from "./sign-kinds.ts"

function masked(text: string): string {
  const { signs, length } = maskValues(scratchCodes(text, 0, text.length), text.length)
  return textOfCodes(signs, 0, length)
}

test.each([
  ["ask Ann before 10 am", "ask qname before  qnum  am"],
  ["run fooBar() twice", "run  qcode  twice"],
  ["pay $1,000.50 or 5% of it", "pay  qnum  or  qnum  of it"],
  ["keep snake_case and v2", "keep  qcode  and  qcode "],
  ["what I said to X", "what I said to qname"],
  ["never push to main", "never push to main"],
  ["Never Push To Main Branch", "Never Push To Main Branch"],
])("%s", (text, expected) => {
  expect(masked(text)).toBe(expected)
})

test.each([
  '"x y"',
  "“x y”",
  "”x y”",
  "„x y“",
  "«x y»",
  "»x y«",
  "‹x y›",
  "›x y‹",
  "‚x y‘",
  "‘x y’",
  "＂x y＂",
  "″x y″",
  "「x y」",
])("a quotation in %s is put aside whole", (quotation) => {
  expect(withoutDelimited(`never write ${quotation} there`).replace(/ +/g, " ")).toBe("never write qquote there")
})

/** What the patterns for identifiers, numbers and names ask about, and what stands around it. */
const pieces = [
  ..."aBzIX190_.,:/$%€£'’-()[]\"; \n\té½²ЖяǅʰⅫ不😀\ud800",
  ..."fooBar |snake_case|v2|10|1,000|3.5kg|$5|50%|Ann|John's|O’Brien|McDonald|x|Never |the |I'm|()|12_|_1|a_|Foo-2".split(
    "|",
  ),
  "word".repeat(16),
  `A${"b".repeat(50)}`,
]

test("for any text, values are put aside sign by sign as the patterns do it", () => {
  const text = fc.array(fc.constantFrom(...pieces), { maxLength: 24 }).map((some) => some.join(""))
  fc.assert(
    fc.property(text, (own) => {
      expect(masked(own)).toBe(withoutValues(own))
    }),
    { numRuns: 3000 },
  )
})
