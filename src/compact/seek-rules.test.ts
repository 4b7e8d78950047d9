import { expect, test } from "vitest"
import { longestPieceShare } from "../../test/support/longest-piece.ts"
import { fc, runs } from "../../test/support/property.ts"
import { runSteps } from "../message/steps.ts"
import { runPaced } from "../store/pace.ts"
import { decodeRequest } from "../wire/decode.ts"
import { seekRules } from "./seek-rules.ts"

const sentence = fc.constantFrom(
  "Never push to main.",
  "Always run the tests before you commit.",
  "The build took a while, and then it was green.",
  "Ask me before you delete anything in /srv.",
  "What does this function do?",
  "",
)
const message = fc.record({
  role: fc.constantFrom("user", "assistant", "system"),
  content: fc.array(sentence, { minLength: 1, maxLength: 6 }).map((all) => all.join(" ")),
  times: fc.constantFrom(1, 1, 1, 60),
})

test("a search in slices finds the same rules as one at once, for any messages", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(message, { maxLength: 12 }), fc.nat(4), async (said, split) => {
      const body = JSON.stringify({
        model: "m",
        messages: said.map(({ role, content, times }) => ({ role, content: content.repeat(times) })),
      })
      const [one, other] = [decodeRequest("openai-chat", body), decodeRequest("openai-chat", body)]
      const around = { lifted: new Set<string>() }
      const plain = runSteps(seekRules(one.messages.slice(split), { ...around, before: one.messages.slice(0, split) }))
      const before = { ...around, before: other.messages.slice(0, split) }
      expect(await runPaced(seekRules(other.messages.slice(split), before))).toEqual(plain)
    }),
    { numRuns: runs },
  )
})

test("searching one long message yields to other work", async () => {
  const seek = (times: number) => {
    const content = "部署之前必须运行测试。请看看这个文件。".repeat(times)
    const { messages } = decodeRequest(
      "openai-chat",
      JSON.stringify({ model: "m", messages: [{ role: "user", content }] }),
    )
    return runPaced(seekRules(messages, { before: [], lifted: new Set() }))
  }
  await seek(100) // What is read once for the process is no piece of this.
  expect(await longestPieceShare(() => seek(4000))).toBeLessThan(0.5)
})

test("searching many new messages yields to other work", async () => {
  const text = "Never push to main. ".repeat(100)
  const body = {
    model: "m",
    messages: Array.from({ length: 160 }, (_, n) => ({ role: "user", content: `${n} ${text}` })),
  }
  const { messages } = decodeRequest("openai-chat", JSON.stringify(body))
  let rounds = 0
  let isDone = false
  const count = (): void => {
    rounds++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await runPaced(seekRules(messages, { before: [], lifted: new Set() }))
  isDone = true
  expect(rounds).toBeGreaterThanOrEqual(5)
})

const commands = fc.constantFrom(
  "ls -la",
  "strings dump.bin | grep flag",
  "cat notes.txt",
  "grep -rn never .",
  "make test",
)
const anything = fc.oneof(
  sentence.filter((text) => text !== ""),
  fc.constantFrom("Stand for your own, unwind your banner,", "Always be kind", "You must never open this door"),
)
const rulesOf = (said: readonly (readonly [role: string, content: string])[]) => {
  const messages = said.map(([role, content]) => ({ role, content }))
  const decoded = decodeRequest("openai-chat", JSON.stringify({ model: "m", messages }))
  return runSteps(seekRules(decoded.messages, { before: [], lifted: new Set() })).map((found) => found.length)
}
const fenced = (command: string, tag: string): string => `Let me look.\n\n\`\`\`${tag}\n${command}\n\`\`\``

test("what answers a command that the assistant wrote yields no rule, whatever it says", () => {
  const round = fc.tuple(commands, fc.constantFrom("", "bash", "sh"), anything)
  fc.assert(
    fc.property(fc.array(round, { minLength: 2, maxLength: 6 }), (rounds) => {
      const said = rounds.flatMap(([command, tag, output]) => [
        ["assistant", fenced(command, tag)] as const,
        ["user", output] as const,
      ])
      expect(rulesOf([["user", "Find the flag in the dump."], ...said]).every((count) => count === 0)).toBe(true)
    }),
    { numRuns: runs },
  )
})

test.each([
  ["answers that quote a command and go on", (command: string) => `${fenced(command, "bash")}\n\nThat lists them.`],
  ["answers that end with a program", (command: string) => fenced(`print("${command}")`, "python")],
  ["answers without a command", (command: string) => `Run ${command} for that.`],
])("behind %s the user's rule is found", (_why, answer) => {
  const said = ["ls", "make", "pwd"].flatMap((command) => [
    ["assistant", answer(command)] as const,
    ["user", "Never push to main."] as const,
  ])
  expect(rulesOf([["user", "How do I see all files?"], ...said])).toEqual([0, 0, 1, 0, 1, 0, 1])
})
