import { describe, expect, test } from "vitest"
import { fc, runs } from "../../test/support/property.ts"
import { writeIn } from "../../test/support/raw-json.ts"
import type { Format } from "../message/message.ts"
import { decodeRequest } from "../wire/decode.ts"
import { o200k } from "./counter.ts"
import { createMeter } from "./meter.ts"

/** Arguments as agents have them, in several scripts, long enough that framing does not hide a wrong count. */
const sentence = fc.constantFrom(
  "Der Größenvergleich der Häuser in Köln läuft über fünf Straßen.",
  "请把第三季度的发票发送给财务部门，并抄送经理。",
  "В отчёте указаны суммы, даты и номера договоров.",
  "يرجى إرسال الفاتورة إلى العميل قبل نهاية اليوم.",
  "The invoice of order 4711 was sent to the customer.",
  "🚆 von Zürich nach Genève — 3 h",
  'const text = "a\\tb\\n"',
)
const argumentsValue = fc.dictionary(
  fc.constantFrom("path", "content", "größe", "查询", "note"),
  fc.oneof(sentence, fc.array(sentence, { maxLength: 6 }), fc.record({ text: sentence, n: fc.integer() })),
  { minKeys: 1, maxKeys: 5 },
)
/** How a client writes JSON: any white space, any escapes. */
const manner = fc.array(fc.nat(15), { minLength: 1, maxLength: 30 })

type Given = { readonly body: string; readonly shown: string }
type Wire = readonly [
  name: string,
  format: Format,
  of: (text: string, value: unknown, outer: readonly number[]) => Given,
]

/** `text` is the arguments' JSON as the client wrote it; `shown` is what the model reads of it. */
const wires: readonly Wire[] = [
  [
    "Chat",
    "openai-chat",
    (text, _value, outer) => {
      const call = { id: "c1", type: "function", function: { name: "run", arguments: text } }
      const messages = [
        { role: "user", content: "go" },
        { role: "assistant", content: null, tool_calls: [call] },
      ]
      return { body: writeIn(outer, { messages }), shown: text }
    },
  ],
  [
    "Chat's old function_call",
    "openai-chat",
    (text, _value, outer) => {
      const call = { role: "assistant", content: null, function_call: { name: "run", arguments: text } }
      return { body: writeIn(outer, { messages: [{ role: "user", content: "go" }, call] }), shown: text }
    },
  ],
  [
    "Responses",
    "openai-responses",
    (text, _value, outer) => {
      const call = { type: "function_call", call_id: "c1", name: "run", arguments: text }
      return { body: writeIn(outer, { input: [{ role: "user", content: "go" }, call] }), shown: text }
    },
  ],
  [
    "Responses' custom tools",
    "openai-responses",
    (text, _value, outer) => {
      const call = { type: "custom_tool_call", call_id: "c1", name: "run", input: text }
      return { body: writeIn(outer, { input: [{ role: "user", content: "go" }, call] }), shown: text }
    },
  ],
  [
    "Anthropic",
    "anthropic-messages",
    (_text, value, outer) => {
      const content = [{ type: "tool_use", id: "c1", name: "run", input: value }]
      const messages = [
        { role: "user", content: "go" },
        { role: "assistant", content },
      ]
      return { body: writeIn(outer, { messages }), shown: JSON.stringify(value) }
    },
  ],
  [
    "Gemini",
    "gemini",
    (_text, value, outer) => {
      const contents = [
        { role: "user", parts: [{ text: "go" }] },
        { role: "model", parts: [{ functionCall: { name: "run", args: value } }] },
      ]
      return { body: writeIn(outer, { contents }), shown: JSON.stringify(value) }
    },
  ],
]

const meter = createMeter({ model: "gpt-5" })

function lastMessageTokens(format: Format, body: string): number {
  const message = decodeRequest(format, body).messages.at(-1)
  if (message === undefined) throw new Error("no message was read")
  return meter.message(message)
}

describe("a call counts for at least nine tenths of the arguments that the model reads, however they are written", () => {
  test.each(wires)("%s", (_name, format, of) => {
    fc.assert(
      fc.property(argumentsValue, manner, manner, (value, inner, outer) => {
        const { body, shown } = of(writeIn(inner, value).trim(), value, outer)
        const counted = lastMessageTokens(format, body)
        expect(counted).toBeGreaterThanOrEqual(0.9 * o200k().count(shown))
        // And it is no guess on the safe side: what is not shown is not counted.
        expect(counted).toBeLessThanOrEqual(o200k().count(shown) + 20)
      }),
      { numRuns: Math.ceil(runs / 4) },
    )
  })
})

test("arguments that were changed since count as what is written in their place", () => {
  const text = JSON.stringify({ q: "Größe" }).replace(/ö/g, "\\u00f6").replace(/ß/g, "\\u00df")
  const call = { id: "c1", type: "function", function: { name: "run", arguments: text } }
  const body = JSON.stringify({ messages: [{ role: "assistant", content: null, tool_calls: [call] }] })
  const [part] = decodeRequest("openai-chat", body).messages[0]?.parts ?? []
  if (part?.type !== "tool-call") throw new Error("no call was read")
  const changed = { ...part, input: { q: "x" } }
  expect(meter.part(part) - meter.part(changed)).toBe(o200k().count(text) - o200k().count('{"q":"x"}'))
})

const lorem = "The quick brown fox jumps over the lazy dog near the river bank. ".repeat(40)
const many = o200k().count(lorem)
const base64 = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo".repeat(100)

/** Other places in which a provider takes text that the model reads, or hidden text by which it counts. */
const others: readonly (readonly [name: string, format: Format, message: object, leastTokens: number])[] = [
  [
    "a redacted thought",
    "anthropic-messages",
    { role: "assistant", content: [{ type: "redacted_thinking", data: base64 }] },
    base64.length / 6,
  ],
  [
    "a sealed thought with its summary",
    "openai-responses",
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Looked." }], encrypted_content: base64 },
    base64.length / 6,
  ],
  [
    "a summary beside a short seal",
    "openai-responses",
    { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: lorem }], encrypted_content: "QUJD" },
    many,
  ],
  [
    "results in parts",
    "openai-responses",
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: lorem }] },
    many,
  ],
  [
    "tools that a search found",
    "openai-responses",
    { type: "tool_search_output", call_id: "c1", tools: [{ type: "function", name: "run", description: lorem }] },
    many,
  ],
  [
    "a call with its input in a new member",
    "openai-responses",
    { type: "computer_call", call_id: "c1", actions: [{ type: "type", text: lorem }] },
    many,
  ],
  [
    "a structured result",
    "gemini",
    { role: "user", parts: [{ functionResponse: { name: "run", response: { rows: [{ note: lorem }] } } }] },
    many,
  ],
  [
    "a result in blocks",
    "anthropic-messages",
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: [{ type: "text", text: lorem }] }] },
    many,
  ],
  [
    "arguments as an object",
    "openai-chat",
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "run", arguments: { text: lorem } } }],
    },
    many,
  ],
  ["a thought of an open model", "openai-chat", { role: "assistant", content: "", reasoning_content: lorem }, many],
]

const listName = {
  "anthropic-messages": "messages",
  "openai-chat": "messages",
  "openai-responses": "input",
  gemini: "contents",
}

test.each(others)("%s (%s) counts for what is in it", (_name, format, message, leastTokens) => {
  const body = JSON.stringify({ [listName[format]]: [message] })
  expect(lastMessageTokens(format, body)).toBeGreaterThanOrEqual(0.9 * leastTokens)
})
