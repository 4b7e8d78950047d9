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
  const body = {
    model: "m",
    messages: [{ role: "user", content: "部署之前必须运行测试。请看看这个文件。".repeat(2000) }],
  }
  const { messages } = decodeRequest("openai-chat", JSON.stringify(body))
  const share = await longestPieceShare(() => runPaced(seekRules(messages, { before: [], lifted: new Set() })))
  expect(share).toBeLessThan(0.5)
})

test("searching many new messages yields to other work", async () => {
  const text = "Never push to main. ".repeat(100)
  const body = {
    model: "m",
    messages: Array.from({ length: 40 }, (_, n) => ({ role: "user", content: `${n} ${text}` })),
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
