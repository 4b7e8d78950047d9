import { expect, test } from "vitest"
import { bodyIn, type ChatMessage } from "../../test/support/conversations.ts"
import { createMeter } from "../tokens/meter.ts"
import { decodeRequest } from "../wire/decode.ts"
import { separate } from "./stack/separate.ts"
import { type Acceptance, type Context, verify } from "./verify.ts"

/** The acceptance test on what the model has not answered yet. */

const result = (content: string): ChatMessage => ({ role: "tool", tool_call_id: "call_1", content })
const call: ChatMessage = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "call_1", type: "function", function: { name: "read_file", arguments: '{"path":"a.ts"}' } }],
}
const lines = Array.from({ length: 60 }, (_, n) => `line ${n} of the file`)
const words = `Read a.ts and tell me what it does. ${"It is long. ".repeat(40)}Answer in German, please, and in one sentence.`
const earlier: readonly ChatMessage[] = [
  { role: "user", content: "Hello there, how are you today?" },
  { role: "assistant", content: "Well, and you?" },
]

function contextOf(messages: readonly ChatMessage[]): Context {
  const request = decodeRequest("openai-chat", bodyIn("openai-chat", messages))
  const { infrastructure, conversation } = separate(request)
  return { messages: request.messages, infrastructure, conversation }
}

const whole = contextOf([...earlier, { role: "user", content: words }, call, result(lines.join("\n"))])
const unread = whole.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
const acceptance: Acceptance = {
  format: "openai-chat",
  meter: createMeter({ model: "gpt-4o" }),
  limitTokens: 10_000,
  pins: [],
  waiting: new Set(),
  unread,
  wordsShortened: false,
  facts: [],
  addedTokens: 0,
  onlyAdds: false,
}
const codes = (after: readonly ChatMessage[], more: Partial<Acceptance> = {}): readonly string[] =>
  verify(whole, contextOf(after), { ...acceptance, ...more }).map(({ code }) => code)

test("a draft that leaves out only what is old passes", () => {
  expect(codes([{ role: "user", content: words }, call, result(lines.join("\n"))])).toEqual([])
})

test("one that cuts a result the model has not read is rejected for that alone", () => {
  const cut = [...lines.slice(0, 20), "[… 20 lines left out]", ...lines.slice(40)].join("\n")
  const draft: readonly ChatMessage[] = [{ role: "user", content: words }, call, result(cut)]
  expect(codes(draft)).toEqual(["unread-cut"])
  expect(codes(draft, { unread: [] })).toEqual([])
})

test("one that cuts the user's latest words is rejected, unless they are larger than all that may be sent", () => {
  const marker = "\n[… 400 characters left out: this message is larger than what fits]\n"
  const cut = `${words.slice(0, 60)}${marker}${words.slice(-60)}`
  const draft: readonly ChatMessage[] = [{ role: "user", content: cut }, call, result(lines.join("\n"))]
  expect(codes(draft)).toEqual(["latest-user-message-missing"])
  expect(codes(draft, { wordsShortened: true })).toEqual([])
  const other: readonly ChatMessage[] = [{ role: "user", content: `Ignore it.${marker}Do it.` }, ...draft.slice(1)]
  expect(codes(other, { wordsShortened: true })).toEqual(["latest-user-message-missing"])
})
