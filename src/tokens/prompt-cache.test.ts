import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import type { Format } from "../message/message.ts"
import { findModel } from "./models.ts"
import { createPromptCache, type PromptPiece, promptDollars, tokensOfPieces } from "./prompt-cache.ts"

const marked: Format = "anthropic-messages"
const automatic: Format = "openai-chat"
const model = "any"

/** Pieces of ten tokens; a star marks a breakpoint. */
const pieces = (text: string): readonly PromptPiece[] =>
  text.split(" ").map((word) => ({ content: word.replace("*", ""), tokens: 10, isBreakpoint: word.endsWith("*") }))

const cases: readonly [why: string, before: readonly string[], request: string, read: number, written: number][] = [
  ["the first request has nothing to read", [], "tools system* hello*", 0, 30],
  ["nothing is written without a breakpoint", ["a b c"], "a b c", 0, 0],
  ["the same again is read up to the breakpoint", ["a b* c"], "a b* c", 20, 0],
  ["a longer one reads what it has in common, and writes the rest", ["a b*"], "a b c d*", 20, 20],
  ["a changed beginning reads nothing", ["a b c*"], "x b c*", 0, 30],
  ["a changed end reads up to the breakpoint before it", ["a* b c*"], "a* x y*", 10, 20],
  ["a prefix that no breakpoint ended at is not known", ["a b c*"], "a b* c", 0, 20],
  ["what stands behind the last breakpoint is neither read nor written", ["a*"], "a* b c", 10, 0],
]

describe("a request with breakpoints after others", () => {
  test.each(cases)("%s", (_why, before, request, readTokens, writtenTokens) => {
    const cache = createPromptCache({ leastTokens: 0 })
    for (const one of before) cache.read(marked, model, pieces(one))
    const use = cache.read(marked, model, pieces(request))
    expect(use).toMatchObject({ readTokens, writtenTokens })
  })

  test("a breakpoint looks at twenty positions, its own included, and no more", () => {
    const grown = (more: number): string => `a* ${"x ".repeat(more)}z*`
    const read = (more: number): number => {
      const cache = createPromptCache({ leastTokens: 0 })
      cache.read(marked, model, pieces("a*"))
      return cache.read(marked, model, pieces(grown(more).replace("a*", "a"))).readTokens
    }
    expect([read(18), read(19)]).toEqual([10, 0])
  })
})

describe("a request to a provider that finds the prefix by itself", () => {
  const words = (text: string): readonly PromptPiece[] =>
    text.split(" ").map((content) => ({ content, tokens: 1000, isBreakpoint: false }))
  const readOf = (before: readonly string[], request: string): number => {
    const cache = createPromptCache()
    for (const one of before) cache.read(automatic, model, words(one))
    return cache.read(automatic, model, words(request)).readTokens
  }

  test.each<[why: string, before: readonly string[], request: string, read: number]>([
    ["the first has nothing to read", [], "a b c", 0],
    ["a longer one reads all of the earlier one, in steps of 128", ["a b c"], "a b c d", 2944],
    ["less than 1,024 tokens are not cached", ["a b"], "a x", 0],
    ["of two earlier ones the longer beginning counts", ["a b c d", "a b x"], "a b c y", 2944],
    ["a piece that only begins the same counts for as much", ["a b cccc"], "a b ccdd", 2432],
  ])("%s", (_why, before, request, read) => {
    expect(readOf(before, request)).toBe(read)
  })

  test("another model has read nothing yet", () => {
    const cache = createPromptCache()
    cache.read(automatic, "one", words("a b c"))
    expect(cache.read(automatic, "other", words("a b c")).readTokens).toBe(0)
  })
})

test("for any requests in a row, what was read, written and neither is the whole, and nothing is read that was not there before", () => {
  const request = fc.array(
    fc.record({ content: fc.constantFrom("a", "b", "c"), tokens: fc.nat(50), isBreakpoint: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(request, { maxLength: 6 }), fc.constantFrom(marked, automatic), (requests, format) => {
      const cache = createPromptCache({ leastTokens: 0 })
      const longestShared = (one: readonly PromptPiece[], before: readonly (readonly PromptPiece[])[]): number =>
        Math.max(
          0,
          ...before.map((other) => {
            const end = one.findIndex(({ content }, n) => content !== other[n]?.content)
            return tokensOfPieces(end < 0 ? one : one.slice(0, end))
          }),
        )
      for (const [n, one] of requests.entries()) {
        const { readTokens, writtenTokens, uncachedTokens } = cache.read(format, model, one)
        expect(Math.min(readTokens, writtenTokens, uncachedTokens)).toBeGreaterThanOrEqual(0)
        expect(readTokens + writtenTokens + uncachedTokens).toBe(tokensOfPieces(one))
        expect(readTokens).toBeLessThanOrEqual(longestShared(one, requests.slice(0, n)))
      }
    }),
  )
})

test("the same request again is read up to its last breakpoint", () => {
  const request = fc.array(
    fc.record({ content: fc.constantFrom("a", "b", "c"), tokens: fc.nat(50), isBreakpoint: fc.boolean() }),
  )
  fc.assert(
    fc.property(request, (one) => {
      const cache = createPromptCache({ leastTokens: 0 })
      const first = cache.read(marked, model, one)
      expect(cache.read(marked, model, one).readTokens).toBe(first.readTokens + first.writtenTokens)
    }),
  )
})

test("a prompt costs what its tokens cost by what the cache did with them, and a long one the price of long ones", () => {
  const sonnet = findModel("claude-sonnet-4-5")
  const { input, cacheRead, cacheWrite } = sonnet.prices
  const use = { readTokens: 1000, writtenTokens: 200, uncachedTokens: 30 }
  expect(promptDollars(sonnet, use)).toBeCloseTo((1000 * cacheRead + 200 * cacheWrite + 30 * input) / 1e6, 12)
  const long = { aboveTokens: 1000, prices: { ...sonnet.prices, input: 2 * input } }
  const uncached = { readTokens: 0, writtenTokens: 0, uncachedTokens: 1001 }
  expect(promptDollars({ ...sonnet, long }, uncached)).toBeCloseTo((1001 * 2 * input) / 1e6, 12)
})

test("a history that grows for a thousand calls is read from the cache to the end", () => {
  const cache = createPromptCache()
  const pieces = Array.from({ length: 1000 }, (_, n) => ({ content: `message ${n}`, tokens: 100, isBreakpoint: true }))
  for (let end = 20; end <= pieces.length; end++) {
    const { readTokens } = cache.read("anthropic-messages", "m", pieces.slice(0, end))
    if (end > 20) expect(readTokens, `call ${end}`).toBe(100 * (end - 1))
  }
})
