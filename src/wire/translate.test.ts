import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { saidIn } from "../../test/support/said.ts"
import { call, result, text, transcript } from "../../test/support/transcripts.ts"
import { type Format, formats, type Message, wireText } from "../message/message.ts"
import { codecs } from "./codecs.ts"
import { decodeRequest } from "./decode.ts"
import { readJson } from "./json.ts"
import { translate } from "./translate.ts"

const read = (format: Format, ...messages: readonly unknown[]): readonly Message[] => {
  const name = codecs[format].names.messages[0]
  return decodeRequest(format, JSON.stringify({ [String(name)]: messages })).messages
}
const wires = (messages: readonly Message[]): readonly unknown[] =>
  messages.map(({ wire }) => JSON.parse(wire ?? "null"))

describe.each(formats)("any request, told in %s", (to) => {
  const from = fc
    .constantFrom(...formats.filter((format) => format !== to))
    .chain((format) => requestText(format).map((body) => decodeRequest(format, body).messages))

  test("keeps every text, call and result, with its role and id", () => {
    fc.assert(
      fc.property(from, (messages) => {
        expect(saidIn(translate(messages, to).messages, to)).toEqual(saidIn(messages, to))
      }),
    )
  })

  test("is what the codec of that format writes and reads back", () => {
    fc.assert(
      fc.property(from, (messages) => {
        const earlier: Message[] = []
        for (const message of translate(messages, to).messages) {
          expect(message.format).toBe(to)
          const written = codecs[to].writeMessage(message)
          expect(written).toEqual([message.wire])
          const again = codecs[to].readMessage(readJson(wireText(written[0] ?? ""), "request"), earlier)
          expect({ ...again, id: message.id }).toEqual(message)
          earlier.push(again)
        }
      }),
    )
  })

  test("loses nothing silently: each part is there, or named", () => {
    fc.assert(
      fc.property(from, (messages) => {
        const { lost } = translate(messages, to)
        const ids = new Set(messages.map(({ id }) => id))
        expect(lost.every(({ messageId }) => ids.has(messageId))).toBe(true)
        for (const { id, parts } of messages) {
          const gone = parts.filter(({ type }) => type === "opaque" || type === "unknown").length
          const named = lost.filter(
            ({ messageId, part }) => messageId === id && (part === "opaque" || part === "unknown"),
          )
          expect(named.length).toBeGreaterThanOrEqual(gone)
        }
      }),
    )
  })
})

test("messages that are in the format already stay the objects that they were", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...formats).chain((format) => requestText(format).map((body) => decodeRequest(format, body))),
      ({ format, messages }) => {
        const { messages: same, lost } = translate(messages, format)
        expect(lost).toEqual([])
        expect(same.every((message, n) => message === messages[n])).toBe(true)
      },
    ),
  )
})

test("parallel results come together for Anthropic, and apart for chat", () => {
  const chat = read(
    "openai-chat",
    {
      role: "assistant",
      content: null,
      tool_calls: ["a", "b"].map((id) => ({ id, type: "function", function: { name: "ls", arguments: "{}" } })),
    },
    { role: "tool", tool_call_id: "a", content: "one" },
    { role: "tool", tool_call_id: "b", content: "two" },
  )
  const anthropic = translate(chat, "anthropic-messages").messages
  expect(wires(anthropic)).toEqual([
    { role: "assistant", content: ["a", "b"].map((id) => ({ type: "tool_use", id, name: "ls", input: {} })) },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: "one" },
        { type: "tool_result", tool_use_id: "b", content: "two" },
      ],
    },
  ])
  expect(translate(anthropic, "openai-chat").messages.map(({ role, parts }) => [role, parts.length])).toEqual([
    ["assistant", 2],
    ["user", 1],
    ["user", 1],
  ])
})

test("the items of one answer become one message", () => {
  const items = read(
    "openai-responses",
    { role: "assistant", content: "on it" },
    { type: "function_call", call_id: "a", name: "ls", arguments: "{}" },
    { type: "function_call", call_id: "b", name: "ls", arguments: "{}" },
    { type: "function_call_output", call_id: "a", output: "one" },
  )
  const { messages } = translate(items, "openai-chat")
  expect(messages.map(({ id, role, parts }) => [id, role, parts.map(({ type }) => type)])).toEqual([
    ["m0", "assistant", ["text", "tool-call", "tool-call"]],
    ["m3", "user", ["tool-result"]],
  ])
})

test("a result for Gemini names the function that it answers", () => {
  const { messages } = translate(transcript(["assistant", call("c1")], ["user", result("c1", "done")]), "gemini")
  expect(wires(messages)[1]).toEqual({
    role: "user",
    parts: [{ functionResponse: { id: "c1", name: "read", response: { output: "done" } } }],
  })
})

test("where an id is used twice, each result names the call before it", () => {
  const other = { ...call("c1"), tool: "write" }
  const turns = transcript(
    ["assistant", call("c1")],
    ["user", result("c1")],
    ["assistant", other],
    ["user", result("c1")],
  )
  const names = wires(translate(turns, "gemini").messages).flatMap((wire) =>
    JSON.stringify(wire).match(/"name":"\w+"/g),
  )
  expect(names).toEqual(['"name":"read"', '"name":"read"', '"name":"write"', '"name":"write"'])
})

test("a number that no computer's number can hold keeps its digits through every format", () => {
  const input = '{"order": 12345678901234567890, "rate": 1.10}'
  const chat = { id: "c", type: "function", function: { name: "pay", arguments: input } }
  let messages = read("openai-chat", { role: "assistant", content: null, tool_calls: [chat] })
  for (const to of [...formats, ...formats.toReversed()]) messages = translate(messages, to).messages
  messages = translate(messages, "openai-chat").messages
  expect(wires(messages)).toEqual([{ role: "assistant", content: null, tool_calls: [chat] }])
})

const png = { type: "base64", media_type: "image/png", data: "aGk=" }

test.each<[Format, unknown]>([
  ["openai-chat", { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }],
  ["openai-responses", { type: "input_image", image_url: "data:image/png;base64,aGk=" }],
  ["gemini", { inlineData: { mimeType: "image/png", data: "aGk=" } }],
])("a picture travels to %s", (to, block) => {
  const message = read("anthropic-messages", { role: "user", content: [{ type: "image", source: png }] })
  const { messages, lost } = translate(message, to)
  expect(lost).toEqual([])
  expect(JSON.parse(messages[0]?.parts[0]?.wire ?? "null")).toEqual(block)
  const back = translate(messages, "anthropic-messages").messages[0]?.parts[0]
  expect(JSON.parse(back?.wire ?? "null")).toEqual({ type: "image", source: png })
})

test.each<[why: string, block: object, told: string, part: string]>([
  [
    "a file that the provider holds",
    { type: "document", title: "plan\nb", source: { type: "file", file_id: "f" } },
    "[document plan b: left out]",
    "document",
  ],
  [
    "a text document",
    { type: "document", source: { type: "text", media_type: "text/plain", data: "hello" } },
    "[document text/plain]\nhello",
    "document",
  ],
  [
    "a call that the provider ran",
    { type: "server_tool_use", id: "s", name: "web_search", input: { query: "x" } },
    '<tool-call call="s" tool="web_search">\n{"query":"x"}\n</tool-call>',
    "tool-call",
  ],
])("%s is told as text, and named", (_why, block, told, part) => {
  const { messages, lost } = translate(read("anthropic-messages", { role: "user", content: [block] }), "openai-chat")
  expect(messages[0]?.parts).toMatchObject([{ type: "text", text: told }])
  expect(lost).toMatchObject([{ messageId: "m0", part }])
})

test("reasoning goes to chat unsigned, and nowhere signed", () => {
  const signed = read("anthropic-messages", {
    role: "assistant",
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "text", text: "yes" },
    ],
  })
  const unsigned = read("gemini", { role: "model", parts: [{ text: "hm", thought: true }, { text: "yes" }] })
  expect(translate(signed, "openai-chat").lost).toMatchObject([{ part: "reasoning" }])
  expect(wires(translate(signed, "openai-chat").messages)).toEqual([{ role: "assistant", content: "yes" }])
  expect(wires(translate(unsigned, "openai-chat").messages)).toEqual([
    { role: "assistant", content: "yes", reasoning_content: "hm" },
  ])
  expect(translate(unsigned, "anthropic-messages").lost).toMatchObject([{ part: "reasoning" }])
})

test("what says nothing is no message", () => {
  expect(translate(transcript(["user", text("")]), "openai-chat")).toEqual({ messages: [], lost: [] })
})
