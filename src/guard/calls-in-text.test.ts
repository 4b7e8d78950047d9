import { expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { readSse, utf8Bytes, utf8Text } from "../wire/sse.ts"
import { callsInText } from "./calls-in-text.ts"
import { createGuard } from "./guard.ts"
import { guardSse } from "./guard-stream.ts"

const guard = createGuard([{ template: "protected-paths", paths: ["/srv/vault"], access: "any" }])

/** Ways in which models write a call of `bash` in their words, each as clients or chat templates define it. */
const spellings: readonly (readonly [name: string, write: (command: string) => string])[] = [
  ["elements", (command) => `<execute_command>\n<command>${command}</command>\n</execute_command>`],
  ["an element of the tool's name", (command) => `<bash>\n${command}\n</bash>`],
  [
    "JSON in an element",
    (command) => `<tool_call>\n${JSON.stringify({ name: "bash", arguments: { command } })}\n</tool_call>`,
  ],
  ["a function and parameters", (command) => `<function=bash>\n<parameter=command>${command}</parameter>\n</function>`],
  [
    "an invocation",
    (command) =>
      `<function_calls><invoke name="bash"><parameter name="command">${command}</parameter></invoke></function_calls>`,
  ],
  [
    "an MCP tool",
    (command) =>
      `<use_mcp_tool><server_name>s</server_name><tool_name>bash</tool_name><arguments>${JSON.stringify({ command })}</arguments></use_mcp_tool>`,
  ],
  [
    "marks of a template and a list",
    (command) => `[TOOL_CALLS][${JSON.stringify({ name: "bash", arguments: { command } })}]`,
  ],
  ["marks and a name", (command) => `[TOOL_CALLS]bash[ARGS]${JSON.stringify({ command })}`],
  [
    "numbered marks",
    (command) =>
      `<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>${JSON.stringify({ command })}<|tool_call_end|>`,
  ],
  [
    "a channel",
    (command) =>
      `<|channel|>commentary to=functions.bash <|constrain|>json<|message|>${JSON.stringify({ command })}<|call|>`,
  ],
  [
    "wide marks",
    (command) =>
      `<｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n\`\`\`json\n${JSON.stringify({ command })}\n\`\`\`<｜tool▁call▁end｜>`,
  ],
  ["an action", (command) => `Thought: look\nAction: bash\nAction Input: ${command}`],
  [
    "an action in JSON",
    (command) => `Action:\n\`\`\`json\n${JSON.stringify({ action: "bash", action_input: command })}\n\`\`\``,
  ],
  ["plain JSON", (command) => JSON.stringify([{ name: "bash", arguments: JSON.stringify({ command }) }])],
  ["tool code", (command) => `\`\`\`tool_code\nbash(command=${JSON.stringify(command)})\n\`\`\``],
]

test.each(spellings)("a call written as %s is found, and refused where its rule says so", (_name, write) => {
  const isRefused = (command: string): boolean =>
    callsInText(`I will look.\n\n${write(command)}`).some((call) => guard.judge(call).decision !== "allow")
  expect(callsInText(write("ls src")).map(({ tool }) => tool)).toContain(
    write("x").includes("execute_command") ? "execute_command" : "bash",
  )
  expect(isRefused("cat /srv/vault/a")).toBe(true)
  expect(isRefused("cat src/a.ts")).toBe(false)
})

test.each([
  "I fixed the parser; see `Array<string>` and <b>this</b>.",
  "<ul><li>one</li></ul>",
  "<user_profile><name>Jo</name></user_profile>",
  "<final_answer>42</final_answer>",
  '{"name": "Jo", "age": 3}',
  '{"name": "ci", "input": {"a": 1}}',
  "The action: we wait.",
])("no call is found in %s", (text) => {
  expect(callsInText(text)).toEqual([])
})

const chunkOf = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`

async function streamed(
  text: string,
  cuts: readonly number[],
): Promise<{ readonly sent: string; readonly got: string }> {
  const at = [
    0,
    ...[...new Set(cuts)].filter((cut) => cut < text.length).sort((one, other) => one - other),
    text.length,
  ]
  const pieces = at.slice(1).map((end, n) => text.slice(at[n], end))
  const sent = `${chunkOf({ role: "assistant", content: "" })}${pieces.map((content) => chunkOf({ content })).join("")}${chunkOf({}, "stop")}data: [DONE]\n\n`
  let got = ""
  for await (const { raw } of guardSse("openai-chat", readSse(utf8Bytes(sent)), guard)) got += utf8Text(raw)
  return { sent, got }
}

test("of a streamed text, however it is cut, a refused call never goes out, and any other text is the same bytes", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...spellings.map(([, write]) => write)),
    fc.array(fc.nat(200), { maxLength: 8 }),
    fc.constantFrom("Now.\n\n", "", "Some <b>words</b> first: {}\n"),
    async (write, cuts, before) => {
      const refused = await streamed(before + write("cat /srv/vault/a"), cuts)
      expect(refused.got).not.toContain("cat /srv/vault")
      expect(refused.got).toContain("may not be read or changed")
      const harmless = await streamed(before + write("cat src/a.ts"), cuts)
      expect(harmless.got).toBe(harmless.sent)
    },
  )
  await fc.assert(property, { numRuns: 2 * runs })
})

const openings = [
  "",
  "Action:",
  "Action: a\nAction Input:",
  "```tool_code\n",
  "<|python_tag|>",
  "[TOOL_CALLS]",
  '{"arguments":',
  "<tool_call>",
]
const pieces = [
  ..."\n [({<x'\"=",
  "<tool_call>",
  '{"arguments":',
  "Action: a\n",
  "Action:",
  "[a(",
  "a(",
  "a=",
  "<a b=",
  "```",
]

test.each(openings)("behind %j anything over and over takes linear time", (opening) => {
  const costMs = (piece: string, length: number): number => {
    const text = opening + piece.repeat(length / piece.length)
    const before = process.threadCpuUsage()
    callsInText(text)
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1000
  }
  for (const piece of pieces) {
    costMs(piece, 4_000)
    // Eight times the text: quadratic work would take sixty-four times as long.
    expect(costMs(piece, 32_000), piece).toBeLessThan(24 * costMs(piece, 4_000) + 100)
  }
})

test.each([
  "Thought: look.\nAction: run_command\nAction Input: cat /srv/vault/a\nObservation: none",
  "**Action:** `run_command`\r\n\r\nAction Input : cat /srv/vault/a",
  "> Action:\n  run_command\n> Action Input:\n```sh\ncat /srv/vault/a\n```",
])("an action is found in %j", (text) => {
  expect(callsInText(text)).toMatchObject([{ tool: "run_command", input: "cat /srv/vault/a" }])
})
