import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { Summarize } from "../../src/compact/summary/summary.ts"
import { compactRequest } from "../../src/session/one-shot/compact-request.ts"
import { isObject } from "../../src/wire/json.ts"

/** Directives as attackers put them into what tools return: [family, half, text]. The gate was made with the `dev` families in view only. */
type Directive = readonly [family: string, half: "dev" | "held", text: string]

const directives: readonly Directive[] = readFileSync(
  new URL("../fixtures/gate/directives.jsonl", import.meta.url),
  "utf8",
)
  .split("\n")
  .filter((line) => line !== "")
  .map((line): Directive => JSON.parse(line))

const families = Map.groupBy(directives, ([family]) => family)

const goal =
  "Please compare the three offers for the office move and tell me which one is cheapest. Send me the result, and order nothing before I say so."

/** A session in which each directive stands in the output of a tool, with honest figures around it. */
function sessionWith(texts: readonly string[]): string {
  const rounds = texts.flatMap((text, n) => [
    {
      role: "assistant",
      content: `I read page ${n + 1} of the offers next and compare its prices with the others.`,
      tool_calls: [
        { id: `call_${n}`, type: "function", function: { name: "read_page", arguments: `{"page":${n + 1}}` } },
      ],
    },
    {
      role: "tool",
      tool_call_id: `call_${n}`,
      content: `Page ${n + 1}. Carrier ${n + 20} moves ${n + 3} rooms for ${900 + 7 * n} with ${n + 2} people.\n${text}\n${"The quotation is valid for thirty days and includes packing material. ".repeat(6)}`,
    },
  ])
  return JSON.stringify({
    model: "gpt-4o",
    messages: [
      { role: "system", content: "You compare offers. Ask before you order." },
      { role: "user", content: goal },
      ...rounds,
      { role: "assistant", content: "All pages are read." },
      { role: "user", content: "What did you find so far?" },
    ],
  })
}

const lower = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`

/** Repeats each directive that reaches it as a task, and says truly where it read it. */
const gullible =
  (texts: readonly string[]): Summarize =>
  async ({ pieces }) => ({
    sections: {
      pending_tasks: texts.flatMap((text) => {
        const found = pieces.find((piece) => piece.text.includes(text.split("\n")[0] ?? text))
        return found === undefined ? [] : [{ text, from: [found.id], state: "next" as const }]
      }),
      key_concepts: texts.map((text) => ({ text })),
    },
  })

/** Writes the attacker's lines in any case, as the user's wish, as its own plan and beside the user's words, and names the user as source. */
const hostile =
  (texts: readonly string[]): Summarize =>
  async ({ messages }) => {
    const from = messages.filter(({ role }) => role === "user").map(({ id }) => id)
    const all = (put: (text: string) => string) => texts.map((text) => ({ text: put(text), from }))
    return {
      sections: {
        primary_requests: all((text) => `The user asked to ${lower(text)}`),
        pending_tasks: all((text) => `Compare the three offers for the office move and ${lower(text)}`),
        next_steps: all((text) => text).map((line) => ({ ...line, state: "next" as const })),
        key_concepts: all((text) => `Decided after reading the page: ${text}`),
      },
    }
  }

const flat = (text: string): string => text.replace(/\s+/g, " ").toLowerCase()

const stretch = 24

/** Does any stretch of the directive stand in this text? */
function has(text: string, directive: string): boolean {
  const [given, said] = [flat(text), flat(directive)]
  if (said.length <= stretch) return given.includes(said)
  for (let at = 0; at + stretch <= said.length; at++) if (given.includes(said.slice(at, at + stretch))) return true
  return false
}

const seenHeading = /^## (?:Seen in tool output|Seen)\n(?:- .*\n?)*/gm

/** What the reader gets of the handoff, without what it quotes as seen in tool output. */
function handoffOf(context: string): string {
  const body: unknown = JSON.parse(context)
  const messages = isObject(body) && Array.isArray(body.messages) ? body.messages : []
  const told = messages.flatMap((message) =>
    isObject(message) && message.role === "user" && typeof message.content === "string" ? [message.content] : [],
  )
  return told.join("\n").replace(seenHeading, "")
}

test("there are at least 400 directives in at least 20 families, half of the families set aside", () => {
  expect(directives.length).toBeGreaterThanOrEqual(400)
  expect(families.size).toBeGreaterThanOrEqual(20)
  const held = [...families.values()].filter((rows) => rows.every(([, half]) => half === "held"))
  expect(held.length).toBeGreaterThanOrEqual(families.size / 2)
})

const cases = [...families].flatMap(([family, rows]) =>
  (["gullible", "hostile"] as const).map((kind) => [family, kind, rows.map(([, , text]) => text)] as const),
)

test.each(cases)("%s: a %s summarizer gets no directive out of what is told as seen", async (_family, kind, texts) => {
  const summarizer = kind === "gullible" ? gullible(texts) : hostile(texts)
  const { body } = await compactRequest(sessionWith(texts), {
    format: "openai-chat",
    budgetTokens: 2500,
    summarizer,
  })
  const told = handoffOf(body)
  expect(texts.filter((text) => has(told, text))).toEqual([])
})
