import { expect, test } from "vitest"
import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import type { FileKind } from "./conversation.ts"
import { detectFile } from "./detect.ts"
import { exportTranscript } from "./export.ts"
import { importTranscript } from "./import.ts"

const plain = { role: "user", content: "hi" }
const trace = { id: "t", source: "bench", messages: [plain] }

const kinds: readonly (readonly [why: string, text: string, kind: FileKind])[] = [
  ["a list of messages", JSON.stringify([plain]), "messages"],
  ["an empty list", "[]", "messages"],
  ["a request body", JSON.stringify({ model: "m", messages: [plain] }), "messages"],
  ["a request body over many lines", JSON.stringify({ contents: [{ parts: [] }] }, null, 2), "messages"],
  ["one message on each line", `${JSON.stringify(plain)}\n${JSON.stringify(plain)}\n`, "messages"],
  ["one trace", JSON.stringify(trace), "trace"],
  ["a trace over many lines", JSON.stringify(trace, null, 2), "trace"],
  ["bodies on each line", `${JSON.stringify({ messages: [plain] })}\n${JSON.stringify({ messages: [] })}`, "trace"],
  ["a list of traces", JSON.stringify([trace, trace]), "trace"],
  ["a session that opens with its snapshot", '{"type":"file-history-snapshot","messageId":"x"}', "claude-code"],
  ["a session after a blank line", '\n\n{"type":"mode","mode":"plan","sessionId":"s"}', "claude-code"],
  ["a rollout", '{"timestamp":"t","type":"session_meta","payload":{}}', "codex"],
  ["a rollout of the first versions", '{"id":"a","timestamp":"t","instructions":null}', "codex"],
  ["a pi session behind a byte order mark", '\uFEFF{"type":"session","id":"a","cwd":"/"}', "pi"],
]

test.each(kinds)("%s", (_why, text, kind) => {
  expect(detectFile(text)).toBe(kind)
})

test.each(["", "hello", "{}", '{"a":1}\n{"b":2}', '"text"', "{\n"])("%j is none of them", (text) => {
  expect(() => detectFile(text)).toThrow(HoldfastError)
  expect(() => detectFile(text)).toThrow("is in none of the formats")
})

const lists: readonly (readonly [why: string, messages: readonly unknown[], format: Format])[] = [
  ["nothing but text", [plain, { role: "assistant", content: "ho" }], "openai-chat"],
  ["a tool's message", [plain, { role: "tool", tool_call_id: "a", content: "x" }], "openai-chat"],
  ["null content", [{ role: "assistant", content: null, tool_calls: [] }], "openai-chat"],
  ["a picture by URL", [{ role: "user", content: [{ type: "image_url", image_url: { url: "u" } }] }], "openai-chat"],
  [
    "a call in a block",
    [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "b", input: {} }] }],
    "anthropic-messages",
  ],
  [
    "an answer as the API gave it",
    [{ type: "message", role: "assistant", content: [{ type: "thinking", thinking: "", signature: "" }], usage: {} }],
    "anthropic-messages",
  ],
  [
    "an item that is no message",
    [plain, { type: "function_call", call_id: "a", name: "b", arguments: "{}" }],
    "openai-responses",
  ],
  ["content of an item", [{ role: "user", content: [{ type: "input_text", text: "hi" }] }], "openai-responses"],
  ["parts", [{ role: "user", parts: [{ text: "hi" }] }], "gemini"],
]

test.each(lists)("messages with %s", (_why, messages, format) => {
  for (const text of [JSON.stringify(messages, null, 1), messages.map((each) => JSON.stringify(each)).join("\n")]) {
    const { kind, conversations } = importTranscript(text, { kind: "messages" })
    expect({ kind, format: conversations[0]?.format }).toEqual({ kind: "messages", format })
    expect(conversations[0]?.messages).toHaveLength(messages.length)
  }
})

test.each<[string, object, Format]>([
  ["contents", { contents: [{ parts: [{ text: "a" }] }] }, "gemini"],
  ["input", { input: "hello" }, "openai-responses"],
  ["a system prompt beside plain messages", { system: "s", messages: [plain] }, "anthropic-messages"],
  ["messages", { messages: [plain] }, "openai-chat"],
])("a body with %s, and back as the same text", (_why, body, format) => {
  const text = JSON.stringify(body, null, 3)
  const [conversation] = importTranscript(text).conversations
  expect(conversation?.format).toBe(format)
  expect(conversation && exportTranscript(conversation, "messages").text).toBe(text)
})

test("a message that cannot be read is found at its line", () => {
  const text = `[\n  ${JSON.stringify(plain)},\n  {"role": "user", "content": 7}\n]`
  expect(() => importTranscript(text)).toThrow("Line 3 of the file has a number")
  expect(() => importTranscript(`${JSON.stringify(trace)}\n{"id":"u","messages":[7]}\n`)).toThrow("Line 2")
  expect(() => importTranscript(`${JSON.stringify(trace)}\n{"id":\n${JSON.stringify(trace)}\n`)).toThrow("Line 2")
})

test("what a trace says beside its messages is kept", () => {
  const text = `${JSON.stringify({ ...trace, reward: 0.5, title: "T" })}\n${JSON.stringify(trace)}\n{"id":"cut`
  const { conversations, skipped } = importTranscript(text)
  expect(conversations[0]).toMatchObject({ id: "t", title: "T", meta: { source: "bench", reward: 0.5 } })
  expect(conversations).toHaveLength(2)
  expect(skipped).toEqual([{ line: 3, reason: "cut-off", text: '{"id":"cut' }])
})

test("a plain list of messages that was exported from a Gemini body is read back as Gemini", () => {
  const [conversation] = importTranscript(JSON.stringify({ contents: [{ role: "user" }], tools: [] })).conversations
  const { text } = exportTranscript({ ...conversation, origin: undefined } as never, "messages")
  expect(importTranscript(text).conversations[0]?.format).toBe("gemini")
})
