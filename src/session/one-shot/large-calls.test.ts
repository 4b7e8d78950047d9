import { expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../../test/support/conversations.ts"
import { fc } from "../../../test/support/property.ts"
import { type Format, formats } from "../../message/message.ts"
import { countO200k } from "../../tokens/counter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { compactRequest } from "./compact-request.ts"

/** Calls with large arguments, such as the content of a file: a model that no longer sees that it wrote the file writes it again. */

const page = (name: string, lines: number): string =>
  Array.from({ length: lines }, (_, n) => `<p class="${name}">line ${n} of ${name}</p>`).join("\n")

const written = (id: string, path: string, lines: number): readonly ChatMessage[] => [
  {
    role: "assistant",
    content: null,
    tool_calls: [
      {
        id,
        type: "function",
        function: { name: "write_file", arguments: JSON.stringify({ path, content: page(path, lines) }) },
      },
    ],
  },
  { role: "tool", tool_call_id: id, content: `Wrote ${lines} lines to ${path}.` },
]

const callsIn = (format: Format, body: string) =>
  decodeRequest(format, body).messages.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === "tool-call" ? [part] : [])),
  )

async function compacted(format: Format, messages: readonly ChatMessage[], budgetTokens: number): Promise<string> {
  return (await compactRequest(bodyIn(format, messages), { format, budgetTokens })).body
}

test("for any format and size, a last call larger than the budget is shown in part with its path and its result", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...formats),
      fc.integer({ min: 150, max: 900 }),
      fc.integer({ min: 700, max: 2500 }),
      async (format, lines, budget) => {
        const messages: readonly ChatMessage[] = [
          { role: "user", content: "Write the two pages." },
          ...written("c1", "one.html", 20),
          ...written("c2", "two.html", lines),
        ]
        const body = await compacted(format, messages, budget)
        const last = callsIn(format, body).at(-1)
        expect(last?.input).toMatchObject({ path: "two.html", content: expect.stringContaining("left out") })
        expect(body).toContain(`Wrote ${lines} lines to two.html.`)
        expect(body).toContain("line 0 of two.html")
        expect(body).toContain(`line ${lines - 1} of two.html`)
      },
    ),
    { numRuns: 40 },
  )
})

test.each(formats)(
  "in %s a call that waits for its result stays as it is, and one that fits is not cut",
  async (format) => {
    const messages: readonly ChatMessage[] = [
      { role: "user", content: "Write the two pages." },
      ...written("c1", "one.html", 300),
      ...written("c2", "two.html", 100).slice(0, 1),
    ]
    const [, whole] = callsIn(format, bodyIn(format, messages))
    const body = await compacted(format, messages, 2600)
    expect(callsIn(format, body).at(-1)?.input).toEqual(whole?.input)
  },
)

test("what room a large older call leaves shows a part of it", async () => {
  const messages: readonly ChatMessage[] = [
    { role: "user", content: "Write the pages, then tell me." },
    ...written("c1", "one.html", 500),
    ...written("c2", "two.html", 500),
    ...written("c3", "three.html", 30),
    { role: "assistant", content: "All three are written." },
    { role: "user", content: "Thanks. Which one is longest?" },
  ]
  const { body } = await compactRequest({ model: "any", messages }, { format: "openai-chat", budgetTokens: 5000 })
  const text = JSON.stringify(body.messages)
  expect(countO200k(text)).toBeGreaterThan(4000)
  expect(text).toContain("three.html")
  expect(text).toContain("line 0 of two.html")
})

test("a signature beside a call that is shown in part stays", async () => {
  const contents = [
    { role: "user", parts: [{ text: "Write the page." }] },
    {
      role: "model",
      parts: [
        {
          functionCall: { name: "write_file", args: { path: "two.html", content: page("two.html", 600) } },
          thoughtSignature: "c2lnbmF0dXJl",
        },
      ],
    },
    { role: "user", parts: [{ functionResponse: { name: "write_file", response: { output: "Wrote 600 lines." } } }] },
  ]
  const { body } = await compactRequest({ contents }, { format: "gemini", budgetTokens: 1500 })
  const text = JSON.stringify(body)
  expect(text).toContain("c2lnbmF0dXJl")
  expect(text).toContain("left out")
  expect(text).toContain("Wrote 600 lines.")
})

test("for any budget that holds a record of the work, what the model has not answered stays and an older paste of the user gives way", async () => {
  const task = `Find out why the build is slow. The log:\n${page("log", 60)}\nDo not change the toolchain.`
  const step = (n: number, output: string): readonly ChatMessage[] => [
    {
      role: "assistant",
      content: null,
      tool_calls: [
        { id: `c${n}`, type: "function", function: { name: "shell", arguments: `{"command":"time make part${n}"}` } },
      ],
    },
    { role: "tool", tool_call_id: `c${n}`, content: output },
  ]
  const said: readonly ChatMessage[] = [
    { role: "user", content: task },
    ...[1, 2, 3, 4, 5].flatMap((n) => step(n, `part${n}: ${page(`out${n}`, 12)}`)),
    ...step(6, "real 0m41.7s NEEDLE-6"),
  ]
  const taskTokens = countO200k(task)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 420, max: taskTokens + 300 }), async (budget) => {
      const body = await compacted("openai-chat", said, budget)
      expect(body).toContain("NEEDLE-6")
      expect(body).toContain("Find out why the build is slow.")
    }),
  )
})
