import { describe, expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { blocksInCacheOrder, blockTokens, createPromptCache, type RequestBlock } from "./model-wire.ts"

/** Pieces of ten tokens; a star marks a breakpoint. */
const pieces = (text: string): readonly RequestBlock[] =>
  text.split(" ").map((word) => ({ text: word.replace("*", ""), tokens: 10, marked: word.endsWith("*") }))

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

describe("a request after others", () => {
  test.each(cases)("%s", (_why, before, request, readTokens, writtenTokens) => {
    const cache = createPromptCache()
    for (const one of before) cache.use(pieces(one))
    const use = cache.use(pieces(request))
    expect(use).toMatchObject({ readTokens, writtenTokens })
  })

  test("a breakpoint looks back over twenty blocks and no more", () => {
    const grown = (more: number): string => `a* ${"x ".repeat(more)}z*`
    const read = (more: number): number => {
      const cache = createPromptCache()
      cache.use(pieces("a*"))
      return cache.use(pieces(grown(more).replace("a*", "a"))).readTokens
    }
    expect([read(19), read(20)]).toEqual([10, 0])
  })
})

test("for any requests in a row, what was read, written and neither is the whole", () => {
  const request = fc.array(
    fc.record({ text: fc.constantFrom("a", "b", "c"), tokens: fc.nat(50), marked: fc.boolean() }),
  )
  fc.assert(
    fc.property(fc.array(request, { maxLength: 6 }), (requests) => {
      const cache = createPromptCache()
      for (const one of requests) {
        const { readTokens, writtenTokens, freshTokens } = cache.use(one)
        expect(Math.min(readTokens, writtenTokens, freshTokens)).toBeGreaterThanOrEqual(0)
        expect(readTokens + writtenTokens + freshTokens).toBe(blockTokens(one))
        const again = cache.use(one)
        expect(again.readTokens).toBe(readTokens + writtenTokens)
      }
    }),
  )
})

test("pieces come in the order of the cache, and a breakpoint is no part of what it stands on", () => {
  const breakpoint = { cache_control: { type: "ephemeral" } }
  const body = {
    messages: [{ role: "user", content: "hello" }],
    system: [{ type: "text", text: "be kind", ...breakpoint }],
    tools: [{ name: "look" }],
  }
  const read = blocksInCacheOrder(body)
  expect(read.map(({ text, marked }) => [text.split(" ")[0], marked])).toEqual([
    ["tool", false],
    ["system", true],
    ["user", false],
  ])
  const bare = { ...body, system: "be kind" }
  expect(blocksInCacheOrder(bare).map(({ text }) => text)).toEqual(read.map(({ text }) => text))
})
