import { expect, test } from "vitest"
import { codePoints, fc } from "../../../test/support/property.ts"
import { normalize, survey } from "../../language/normalize.ts"
import { addToSum, knownWord, lexiconWords } from "./lexicon.ts"
import { gateSentences } from "./sentence.ts"

const word = fc.oneof(fc.constantFrom(...lexiconWords()), fc.string({ unit: codePoints, maxLength: 8 }))
const joint = fc.constantFrom(" ", ". ", "\n", "\n\n", ", ", '", "', " | ", ": ", "\t", "_", "\u200b", "&", "*")
const text = fc
  .array(fc.tuple(word, joint), { maxLength: 30 })
  .map((pieces) => pieces.map(([piece, between]) => piece + between).join(""))

test("for any text, the sentences that tell something are those of all that have a word", () => {
  fc.assert(
    fc.property(text, (drawn) => {
      const all = gateSentences(drawn)
      expect(gateSentences(drawn, ({ size }) => size > 0)).toEqual(all.filter(({ words }) => words.length > 0))
    }),
  )
})

test("for any text, the steps that a glance spares would have changed nothing", () => {
  const careful = { foreign: true, escaped: true, dressed: true, spaced: true, respelt: true, runs: [] }
  fc.assert(
    fc.property(text, (drawn) => {
      expect(normalize(drawn, survey(drawn)).text).toBe(normalize(drawn, careful).text)
    }),
  )
})

test("no word that means something is passed over", () => {
  const found = lexiconWords().map((word) => {
    const codes = Uint16Array.from({ length: word.length }, (_, at) => word.charCodeAt(at))
    return knownWord(codes, 0, codes.length, codes.reduce(addToSum, 0))?.word
  })
  expect(found).toEqual(lexiconWords())
})
