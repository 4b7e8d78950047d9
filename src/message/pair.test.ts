import { expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { call, message, result, text } from "../../test/support/transcripts.ts"
import { type Adjacency, findParted, pairCalls } from "./group.ts"
import type { Part, Transcript } from "./message.ts"

/** Few ids, so that many calls get their results, some of them late. */
const id = fc.constantFrom("1", "2", "3")
const part: fc.Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: id.map((of) => call(of)) },
  { weight: 6, arbitrary: id.map((of) => result(of)) },
  { weight: 1, arbitrary: fc.constant<Part>({ type: "reasoning", text: "hm" }) },
  { weight: 1, arbitrary: fc.constant(text("Go on.")) },
)
const messages: fc.Arbitrary<Transcript> = fc
  .array(fc.array(part, { maxLength: 2 }), { minLength: 2, maxLength: 8 })
  .map((all) => all.map((parts, n) => message(`m${n}`, "user", ...parts)))

type Pair = ReturnType<typeof pairCalls>["pairs"][number]

const hasOnly = (parts: readonly Part[], ...types: readonly Part["type"][]): boolean =>
  parts.every(({ type }) => types.includes(type))

/** The promise as one would check it by hand: walk from the call to its result, one message after the other. */
function isPartedByHand(all: Transcript, adjacent: Adjacency, { call: from, result: to }: Pair): boolean {
  if (from.message === to.message) return false
  let hasResults = false
  for (const { parts } of all.slice(from.message + 1, to.message)) {
    if (hasOnly(parts, "tool-result")) hasResults = true
    else if (adjacent === "own" || hasResults || !hasOnly(parts, "tool-call", "reasoning")) return true
  }
  return !hasOnly(all[to.message]?.parts.slice(0, to.part) ?? [], "tool-result")
}

test("a result answers the latest open call of its id, and a provider's call is not the client's of that id", () => {
  const all = [
    message("m0", "assistant", call("1"), call("1")),
    message("m1", "assistant", call("1", "provider"), call("2", "provider")),
    message("m2", "user", result("1", "found", "provider"), result("1")),
  ]
  const { pairs, open, orphans } = pairCalls(all)
  const placed = ({ message: at, part: n }: Pair["call"]): string => `${at}.${n}`
  expect(pairs.map((pair) => `${placed(pair.call)} ${placed(pair.result)}`)).toEqual(["1.0 2.0", "0.1 2.1"])
  expect([open.map(placed), orphans]).toEqual([["0.0", "1.1"], []])
})

test("for any transcript, a result is parted from its call just where a walk between them finds something else", () => {
  const seen = new Set<string>()
  fc.assert(
    fc.property(messages, fc.constantFrom<Adjacency>("own", "turn"), (all, adjacent) => {
      const isParted = findParted(all, adjacent)
      for (const pair of pairCalls(all).pairs) {
        const expected = isPartedByHand(all, adjacent, pair)
        expect({ pair, parted: isParted(pair) }).toEqual({ pair, parted: expected })
        seen.add(`${adjacent} ${expected} ${pair.result.message - pair.call.message > 1 ? "far" : "near"}`)
      }
    }),
    { numRuns: 1000 },
  )
  // Both answers came up, near and far, under both rules.
  expect(seen.size).toBe(8)
})
