import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { bareDigestShare, defaultShares, digestShare, leastDigestTokens, mostDigestTokens } from "./share.ts"

test.each([
  ["a hundred tokens: all for the digest", 100, 1000, 1],
  ["a tenth of much: most for the digest", 20_000, 200_000, 0.7],
  ["a quarter of much: about half", 50_000, 200_000, 0.55],
  ["half of much: a third", 100_000, 200_000, 0.35],
  ["nine tenths of much: little has to be said of what little goes", 180_000, 200_000, 0.06],
])("%s", (_why, limit, old, share) => {
  expect(digestShare(limit, limit, old)).toBeCloseTo(share, 2)
})

test.each([
  ["a small context: two pages, if it has that much", 8_000, 3230],
  ["a long session at a quarter of its size: not much more", 40_000, 3550],
  ["a very large one: no more than a short document", 2_000_000, 20_000],
])("the most that a digest takes of %s", (_why, limitTokens, most) => {
  expect(mostDigestTokens(limitTokens)).toBe(most)
})

test.each([
  ["a very small context: most of it", 100, 75],
  ["a small one: a few lines", 1000, 350],
  ["a usual one: a few lines still", 8750, 350],
  ["a large one: a twenty-fifth", 20_000, 800],
  ["a very large one: a page at most", 200_000, 1200],
])("beside results that do not fit whole, %s", (_why, limitTokens, digestTokens) => {
  expect(leastDigestTokens(limitTokens)).toBe(digestTokens)
})

test("every share is one, and every number of tokens is more than none", () => {
  const { easyShare, largestShare, briefTokens } = defaultShares
  for (const share of [easyShare, largestShare, bareDigestShare]) {
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(1)
  }
  expect(briefTokens).toBeGreaterThan(0)
})

test("a larger budget never gives the digest a larger share, and both stay shares", () => {
  const tokens = fc.integer({ min: 1, max: 1_000_000 })
  fc.assert(
    fc.property(tokens, tokens, tokens, (limit, more, old) => {
      expect(digestShare(limit + more, limit + more, old)).toBeLessThanOrEqual(digestShare(limit, limit, old))
      expect(mostDigestTokens(limit + more)).toBeGreaterThanOrEqual(mostDigestTokens(limit))
      const share = digestShare(limit, limit, old)
      expect(share).toBeGreaterThanOrEqual(0)
      expect(share).toBeLessThanOrEqual(1)
    }),
  )
})
