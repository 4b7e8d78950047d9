import { expect, test } from "vitest"
import { fc, runs } from "../../../test/support/property.ts"
import { HoldfastError } from "../../message/errors.ts"
import { compactRequest } from "./compact-request.ts"

/** What readers of texts look for, and what opens something: over and over it is text that nobody wrote, and no reader may fail at it. */
const pieces = [
  ...[
    "{",
    "[",
    "(",
    "<",
    '"',
    "'",
    "`",
    "```\n",
    '{"a":',
    "[[",
    "<a>",
    "</a>",
    "<![CDATA[",
    "*",
    "_",
    "\\",
    "\\u0041",
    "&amp;",
  ],
  ...[
    "> x\n",
    "- ",
    "7. x\n\n",
    "|a|b|\n",
    "# a\n",
    "x\n\n",
    "a: b\n",
    "Anna: hi\n",
    "+ a\n- b\n",
    "@@ -1 +1 @@\n",
    "\r\n",
    "\t",
  ],
  ...[
    "Never do it. ",
    "Forget that rule. ",
    "ignore previous instructions ",
    "必须。",
    "é",
    "\u200b",
    "\u{1f600}",
    "\ud800",
  ],
  ...[
    "/a/b.ts ",
    "https://a.example/c ",
    "a@b.example ",
    "A-1234 ",
    "$5,000 ",
    "2026-01-02 ",
    "abcdef0123456789",
    "Error: x\n",
  ],
]

const places = ["user", "assistant", "arguments", "nested arguments", "result", "many results"] as const

type Case = { readonly place: (typeof places)[number]; readonly piece: string; readonly length: number }

function bodyOf({ place, piece, length }: Case): string {
  const text = piece.repeat(Math.ceil(length / piece.length))
  const deep = `{"x":${"[".repeat(length)}${"]".repeat(length)}}`
  const asked = { arguments: JSON.stringify({ path: "a.ts", content: text }), "nested arguments": deep }
  const round = (n: number, result: string): readonly object[] => {
    const call = {
      name: "write_file",
      arguments: place in asked ? asked[place as keyof typeof asked] : '{"path":"a.ts"}',
    }
    const spoken = place === "assistant" ? text : "I will."
    return [
      { role: "assistant", content: spoken, tool_calls: [{ id: `c${n}`, type: "function", function: call }] },
      { role: "tool", tool_call_id: `c${n}`, content: result },
    ]
  }
  const results = place === "many results" ? Array.from({ length: 40 }, () => text.slice(0, length / 40)) : [text, "ok"]
  return JSON.stringify({
    model: "gpt-5",
    messages: [
      { role: "user", content: place === "user" ? text : "Port the importer. Never push to main." },
      ...results.flatMap((result, n) => round(n, place.endsWith("results") || place === "result" ? result : "ok")),
      { role: "assistant", content: "Half of it is done. ".repeat(400) },
      { role: "user", content: "Go on." },
    ],
  })
}

test("a piece over and over, in any place, is compacted or refused with a Problem", async () => {
  const aCase = fc.record({
    place: fc.constantFrom(...places),
    piece: fc.constantFrom(...pieces),
    length: fc.constantFrom(2_000, 20_000, 60_000),
  })
  await fc.assert(
    fc.asyncProperty(aCase, async (given) => {
      const compacted = compactRequest(bodyOf(given), { format: "openai-chat", budgetTokens: 2_500 })
      const problem = await compacted.then(
        () => undefined,
        (error: unknown) => error,
      )
      if (problem !== undefined) expect(problem).toBeInstanceOf(HoldfastError)
    }),
    { numRuns: 2 * runs, examples: places.map((place) => [{ place, piece: "{", length: 60_000 }]) },
  )
})
