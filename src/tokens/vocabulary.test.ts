import { expect, test } from "vitest"
import { mergePairs, singleBytes } from "./generated/o200k.ts"
import { mergeRank, noMerge, readVocabulary } from "./vocabulary.ts"

const vocabulary = readVocabulary(singleBytes, mergePairs)
const singles = 256

test("o200k has 199,998 tokens, and each byte is one of the first 256", () => {
  expect(vocabulary.size).toBe(199_998)
  expect([...vocabulary.byteTokens].sort((one, other) => one - other)).toEqual(
    Array.from({ length: singles }, (_, n) => n),
  )
})

test("every token rests on two earlier ones, so that ranks can be swept once, and is found by them", () => {
  const lost: number[] = []
  for (let rank = singles; rank < vocabulary.size; rank++) {
    const [left = -1, right = -1] = [vocabulary.lefts[rank], vocabulary.rights[rank]]
    const earlier = left >= 0 && right >= 0 && Math.max(left, right) < rank
    if (!earlier || mergeRank(vocabulary, left, right) !== rank) lost.push(rank)
  }
  expect(lost).toEqual([])
})

test("a pair that is no token does not merge", () => {
  const byte = (text: string): number => vocabulary.byteTokens[text.charCodeAt(0)] ?? -1
  expect(mergeRank(vocabulary, byte("q"), byte("\u0000"))).toBe(noMerge)
  expect(mergeRank(vocabulary, vocabulary.size - 1, vocabulary.size - 1)).toBe(noMerge)
})

test.each([
  ["no bytes", "", ""],
  ["half a pair", singleBytes, "AAAA"],
])("a file with %s is refused", (_why, bytes, pairs) => {
  expect(() => readVocabulary(bytes, pairs)).toThrow("holdfast bug")
})
