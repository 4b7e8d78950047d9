import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import {
  bareDigestShare,
  defaultShares,
  digestReserve,
  leastDigestTokens,
  leastRecordTokens,
  mostDigestTokens,
} from "./share.ts"

test.each([
  ["a hundred tokens: nearly all for the digest", 100, 1000, 90],
  ["a fiftieth of very much: three quarters", 20_000, 1_000_000, 15_000],
  ["a tenth of much: most for the digest", 20_000, 200_000, 14_000],
  ["a quarter of much: about half", 50_000, 200_000, 27_500],
  ["half of much: more than a third", 100_000, 200_000, 37_000],
  ["nine tenths of much: no more than at six tenths", 180_000, 200_000, 42_000],
])("%s", (_why, free, old, reserve) => {
  expect(Math.floor(digestReserve(free, old))).toBe(reserve)
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

test.each([
  ["a small context: a few lines, even of one that has not more", 300, 100],
  ["a usual one: a quarter", 2000, 500],
  ["a large one: a page", 20_000, 600],
])("beside a long message of the user, %s", (_why, limitTokens, recordTokens) => {
  expect(leastRecordTokens(limitTokens)).toBe(recordTokens)
})

test("every share is one, and every number of tokens is more than none", () => {
  const { easyShare, briefTokens } = defaultShares
  for (const share of [easyShare, bareDigestShare]) {
    expect(share).toBeGreaterThan(0)
    expect(share).toBeLessThan(1)
  }
  expect(briefTokens).toBeGreaterThan(0)
})

test("a larger budget leaves no less to messages and no less to the digest", () => {
  const tokens = fc.integer({ min: 1, max: 1_000_000 })
  fc.assert(
    fc.property(tokens, tokens, tokens, (free, more, old) => {
      const [smaller, larger] = [digestReserve(free, old), digestReserve(free + more, old)]
      expect(free + more - larger).toBeGreaterThanOrEqual(free - smaller - 1e-6)
      expect(larger).toBeGreaterThanOrEqual(smaller - 1e-6)
      const limits = [free, free + more]
      for (const least of [leastDigestTokens, leastRecordTokens]) {
        const [few = 0, many = 0] = limits.map(least)
        expect(many).toBeGreaterThanOrEqual(few)
        expect(free + more - many).toBeGreaterThanOrEqual(free - few - 1)
      }
      expect(mostDigestTokens(free + more)).toBeGreaterThanOrEqual(mostDigestTokens(free))
      expect(smaller).toBeLessThanOrEqual(free)
    }),
  )
})

test("what must be told takes its room of a digest, and more room never leaves messages less", () => {
  expect(digestReserve(3000, 12_000, 2400)).toBe(2400)
  expect(digestReserve(3000, 12_000, 20_000)).toBe(2550)
  expect(digestReserve(3000, 12_000, 0)).toBe(digestReserve(3000, 12_000))
  for (const essential of [0, 500, 3000, 20_000]) {
    let [before, left] = [0, 0]
    for (let free = 100; free < 12_000; free += 100) {
      const reserve = digestReserve(free, 12_000, essential)
      expect(reserve).toBeGreaterThanOrEqual(before)
      expect(free - reserve).toBeGreaterThanOrEqual(left - 1)
      ;[before, left] = [reserve, free - reserve]
    }
  }
})
