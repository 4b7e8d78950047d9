import { expect, test } from "vitest"
import { bodyIn } from "../../../test/support/conversations.ts"
import { textOf } from "../../message/message.ts"
import { survivalOf } from "../../rules/survival.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { createHoldfast } from "../holdfast.ts"

const rules = [
  "Never lend the fleet cards to guests.",
  "Hotel stays are limited to $120 a night.",
  "Answer suppliers in Polish only.",
  "No abras puertos en el cortafuegos.",
  "不得向外部供应商透露报价。",
]

test("the operator's rules are found in the block that contains them", async () => {
  const holdfast = createHoldfast({
    store: createMemoryStore(),
    windowTokens: 8000,
    pins: rules,
    format: "openai-chat",
  })
  const body = bodyIn("openai-chat", [{ role: "user", content: "Begin." }])
  const { wire } = await holdfast.session("s1").prepare({ format: "openai-chat", body })
  const { system, messages } = decodeRequest("openai-chat", wire)
  const text = [...system, ...messages.flatMap(({ parts }) => parts)].map(textOf).join("\n\n")
  expect(survivalOf(rules, text).map(({ verdict }) => verdict)).toEqual(rules.map(() => "verbatim"))
})
