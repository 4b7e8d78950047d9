import { expect, test } from "vitest"
import { compactRequest } from "./compact-request.ts"

type Said = { readonly role: "user" | "assistant"; readonly content: string }

const framings: readonly (readonly [why: string, said: string, rule: string])[] = [
  ["said alone", "Never open the sluice at night.", "Never open the sluice at night."],
  ["announced", "This is an important constraint: never include my name.", "never include my name"],
  [
    "at the end of a task",
    "Please make a table of the boats in the harbour with their length. From now on, always give lengths in metres.",
    "From now on, always give lengths in metres.",
  ],
  [
    "as a correction",
    "No, that is wrong. We always answer customers in German.",
    "We always answer customers in German.",
  ],
  ["asking first", "Looks good. Ask me before you delete anything.", "Ask me before you delete anything."],
]

const round = (n: number): readonly Said[] => [
  { role: "user", content: `Tell me about boat ${n}.` },
  {
    role: "assistant",
    content: `Boat ${n} is painted in colour ${n}. ${"It lies at the quay and waits. ".repeat(60)}`,
  },
]

/** Ten compactions of one request, each of the previous result and new messages. */
async function afterTen(first: string): Promise<string> {
  let messages: readonly unknown[] = [
    { role: "user", content: first },
    { role: "assistant", content: "Understood." },
  ]
  for (let n = 0; n < 10; n++) {
    const grown = [
      ...messages,
      ...[1, 2, 3, 4].flatMap((k) => round(4 * n + k)),
      { role: "user", content: `Go on with ${n}.` },
    ]
    const { body } = await compactRequest(
      { model: "gpt-5", messages: grown },
      { format: "openai-chat", budgetTokens: 900 },
    )
    messages = [...body.messages, { role: "assistant", content: "Done." }]
  }
  return JSON.stringify(messages)
}

test.each(framings)(
  "a rule %s is present verbatim after ten compactions of a single request",
  async (_why, said, rule) => {
    expect(await afterTen(said)).toContain(JSON.stringify(rule).slice(1, -1))
  },
)

test("a withdrawn rule is not carried on", async () => {
  const messages = [
    { role: "user", content: "Never open the sluice at night." },
    { role: "assistant", content: "Understood." },
    { role: "user", content: "Forget what I said about the sluice." },
    ...[1, 2, 3, 4, 5, 6].flatMap(round),
    { role: "user", content: "Go on." },
  ]
  const { body } = await compactRequest({ model: "gpt-5", messages }, { format: "openai-chat", budgetTokens: 500 })
  expect(JSON.stringify(body)).not.toContain("- Never open the sluice at night.")
})

test("the rules of an instruction file that was read, or that opens the conversation, are carried with their source", async () => {
  const file = "# quay\n- Never edit db/schema.sql by hand; run `make dump` after a migration.\n- Python 3.12.\n"
  const reminder = `<system-reminder>\nContents of /srv/quay/CLAUDE.md (project instructions):\n\n${file}\n</system-reminder>\n<system-reminder>\nPlan mode is on: you MUST NOT make any edits.\n</system-reminder>\n\nList the boats, please.`
  const read = [
    { role: "user", content: "List the boats, please." },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ id: "c1", type: "function", function: { name: "read_file", arguments: '{"path":"AGENTS.md"}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: file },
  ]
  for (const first of [[{ role: "user", content: reminder }], read]) {
    const messages = [
      ...first,
      { role: "assistant", content: "Fine." },
      ...[1, 2, 3, 4, 5, 6].flatMap(round),
      { role: "user", content: "Go on." },
    ]
    const once = await compactRequest({ model: "gpt-5", messages }, { format: "openai-chat", budgetTokens: 900 })
    const grown = [
      ...once.body.messages,
      { role: "assistant", content: "Done." },
      ...[7, 8, 9, 10, 11, 12].flatMap(round),
      { role: "user", content: "Go on." },
    ]
    const twice = await compactRequest(
      { model: "gpt-5", messages: grown },
      { format: "openai-chat", budgetTokens: 900 },
    )
    const pins = JSON.stringify(twice.body.messages.find((one) => JSON.stringify(one).includes("<pins")))
    expect(pins).toContain("Never edit db/schema.sql by hand; run `make dump` after a migration.")
    expect(pins).toMatch(/CLAUDE\.md|AGENTS\.md/)
    expect(pins).not.toMatch(/Python 3\.12|MUST NOT make/)
  }
})
