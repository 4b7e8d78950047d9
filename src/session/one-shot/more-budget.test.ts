import { expect, test } from "vitest"
import { bodyIn, type ChatMessage, conversation } from "../../../test/support/conversations.ts"
import { fc, isLongRun, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { formats } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { compactRequest } from "./compact-request.ts"

/** More budget never keeps less. */

/** What one could look for later: marks of results, ids in them, and what closes each thing that was said. */
const marks = /TOOLWORDS[-\w]*|item \d+-\d+|call_\d+_\d+|ORD-[-\w]+/g

const shares = [0.1, 0.15, 0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]

/** Each case is nine compactions. */
const numRuns = isLongRun ? runs : 20

/** Lines are of different lengths: the digest of a larger budget may end one value earlier, never more. */
const mostLost = 1

test("for any conversation and format, no budget keeps fewer values than a smaller one", async () => {
  const keptAt = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(conversation, fc.constantFrom(...formats), async (messages, format) => {
      const body = bodyIn(format, messages)
      const values = [...new Set(body.match(marks) ?? [])]
      let before = 0
      for (const share of shares) {
        const text = await compactedTo(body, format, Math.floor(countO200k(body) * share))
        const kept = values.filter((value) => text?.includes(value) === true).length
        expect(kept, `at ${share}`).toBeGreaterThanOrEqual(before - mostLost)
        before = kept
        keptAt.set(share, (keptAt.get(share) ?? 0) + kept)
      }
    }),
    { endOnFailure: true, numRuns },
  )
  const kept = shares.map((share) => keptAt.get(share) ?? 0)
  expect(kept).toEqual(kept.toSorted((one, other) => one - other))
  expect(kept[0]).toBeGreaterThan(numRuns)
})

async function compactedTo(
  body: string,
  format: (typeof formats)[number],
  budgetTokens: number,
): Promise<string | undefined> {
  try {
    return (await compactRequest(body, { format, budgetTokens })).body
  } catch (error) {
    if (error instanceof HoldfastError && error.problem.code === "budget-impossible") return undefined
    throw error
  }
}

const callOf = (id: string, path: string, more = ""): ChatMessage => ({
  role: "assistant",
  content: null,
  tool_calls: [{ id, type: "function", function: { name: "read_file", arguments: JSON.stringify({ path, more }) } }],
})
const lines = (name: string, count: number): string =>
  Array.from({ length: count }, (_, n) => `${name} line ${n} holds key_${name}_${n}`).join("\n")

test.each([
  [
    "a long result that was read, before a round that takes all the room",
    [
      callOf("a", "src/first.ts"),
      { role: "tool", tool_call_id: "a", content: lines("first", 150) },
      callOf("b", "src/second.ts", "x y ".repeat(1500)),
      { role: "tool", tool_call_id: "b", content: "done" },
      callOf("c", "src/third.ts"),
      { role: "tool", tool_call_id: "c", content: lines("third", 150) },
      { role: "assistant", content: "Both files are read." },
      { role: "user", content: "Go on." },
    ],
  ],
  [
    "an unread result that does not fit beside a digest",
    [
      callOf("a", "src/first.ts"),
      {
        role: "tool",
        tool_call_id: "a",
        content: JSON.stringify({ user_id: "u_7781", card: "card_5521", plan: "gold" }),
      },
      callOf("b", "src/second.ts"),
      { role: "tool", tool_call_id: "b", content: lines("second", 60) },
    ],
  ],
] satisfies readonly (readonly [string, readonly ChatMessage[]])[])("%s: no key is lost again", async (_case, work) => {
  const body = bodyIn("openai-chat", [{ role: "user", content: "Compare the files, and keep the plan." }, ...work])
  const values = [...new Set(body.match(/key_\w+|u_7781|card_5521/g) ?? [])]
  const total = countO200k(body)
  let before = 0
  for (let budgetTokens = 150; budgetTokens < total; budgetTokens += Math.ceil(total / 60)) {
    const text = await compactedTo(body, "openai-chat", budgetTokens)
    const kept = values.filter((value) => text?.includes(value) === true).length
    expect(kept, `at ${budgetTokens} of ${total} tokens`).toBeGreaterThanOrEqual(before)
    before = kept
  }
  expect(before).toBeGreaterThan(1)
})
