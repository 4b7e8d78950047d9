import { expect, test } from "vitest"
import type { Transcript } from "../../message/message.ts"
import { type Conversation, contextOf } from "../conversation.ts"
import { exportTranscript } from "../export.ts"
import { importTranscript } from "../import.ts"

const header = { type: "session", version: 3, id: "pi-1", timestamp: "2026-01-05T08:00:00.000Z", cwd: "/repo" }
const timestamp = "2026-01-05T08:00:01.000Z"

const entry = (id: string, parentId: string | null, fields: object): object => ({ id, parentId, timestamp, ...fields })
const message = (id: string, parentId: string | null, inner: object): object =>
  entry(id, parentId, { type: "message", message: inner })
const user = (text: string): object => ({ role: "user", content: text, timestamp: 1 })
const assistant = (...content: readonly object[]): object => ({
  role: "assistant",
  content,
  api: "anthropic-messages",
  provider: "anthropic",
  model: "claude-sonnet-4-5",
  stopReason: "stop",
  timestamp: 2,
})
const text = (value: string): object => ({ type: "text", text: value })
const result = (id: string): object => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "bash",
  content: [text("out")],
  details: { exit: 1 },
  isError: true,
  timestamp: 3,
})

const file = (...lines: readonly object[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("")
const only = (value: string): Conversation => importTranscript(value).conversations[0] as Conversation
const told = (messages: Transcript): readonly string[] =>
  messages.map(
    ({ role, parts }) => `${role}: ${parts.map((part) => (part.type === "text" ? part.text : part.type)).join(", ")}`,
  )

const session = file(
  header,
  entry("00", null, { type: "model_change", provider: "anthropic", modelId: "claude-opus-4" }),
  message("01", "00", {
    role: "system",
    content: "",
    sections: { preamble: "You code.", cwd: "/repo" },
    toolsAdded: [
      { name: "bash", description: "Run it.", parameters: { type: "object" } },
      { name: "old", parameters: {} },
    ],
  }),
  message("02", "01", user("run it")),
  message(
    "03",
    "02",
    assistant({ type: "thinking", thinking: "hm", thinkingSignature: "c2ln" }, text("Running."), {
      type: "toolCall",
      id: "c1",
      name: "bash",
      arguments: { command: "make", seed: 1 },
    }),
  ),
  message("04", "03", result("c1")),
  message("05", "04", { role: "system", content: "", toolsRemoved: [{ name: "old" }] }),
  message("06", "05", assistant(text("It failed."))),
  entry("07", "06", { type: "session_info", name: "Make it" }),
  entry("08", "07", { type: "nebula", data: 1 }),
)

test("entries on the path are messages, in blocks that Anthropic would take", () => {
  const { conversations, skipped } = importTranscript(session)
  const [conversation] = conversations
  expect(conversation).toMatchObject({ id: "pi-1", title: "Make it", model: "claude-sonnet-4-5", meta: header })
  expect(told(conversation?.messages ?? [])).toEqual([
    "system: You code., /repo",
    "user: run it",
    "assistant: reasoning, Running., tool-call",
    "user: tool-result",
    "assistant: It failed.",
  ])
  expect(conversation?.messages[2]?.parts.map(({ wire }) => wire && JSON.parse(wire))).toEqual([
    { type: "thinking", thinking: "hm", signature: "c2ln" },
    undefined,
    { type: "tool_use", id: "c1", name: "bash", input: { command: "make", seed: 1 } },
  ])
  expect(conversation?.messages[3]?.parts).toMatchObject([{ callId: "c1", failed: true }])
  expect(conversation?.tools.map(({ wire }) => JSON.parse(wire))).toEqual([
    { name: "bash", description: "Run it.", input_schema: { type: "object" } },
  ])
  expect(skipped.map(({ line, reason, type }) => [line, reason, type])).toEqual([
    [2, "no-message", "model_change"],
    [7, "no-message", "message"],
    [9, "no-message", "session_info"],
    [10, "unknown-type", "nebula"],
  ])
})

test("a branch that was left, and the summary that came back from it", () => {
  const conversation = only(
    file(
      header,
      message("01", null, user("start")),
      message("02", "01", user("way a")),
      message("03", "02", assistant(text("a!"))),
      entry("04", "01", { type: "branch_summary", fromId: "03", summary: "Way a was tried." }),
      message("05", "04", user("way b")),
    ),
  )
  expect(told(conversation.messages)).toEqual(["user: start", "user: Way a was tried.", "user: way b"])
  expect(conversation.notes).toEqual([{ message: "m1", note: "branch-summary" }])
  expect(conversation.branches.map(({ from, messages }) => [from, told(messages)])).toEqual([
    ["m0", ["user: way a", "assistant: a!"]],
  ])
})

test("a compaction keeps the log, and the model sees its summary and what it kept", () => {
  const conversation = only(
    file(
      header,
      message("01", null, user("one")),
      message("02", "01", assistant(text("1"))),
      message("03", "02", user("two")),
      message("04", "03", assistant(text("2"))),
      entry("05", "04", { type: "compaction", summary: "One was done.", firstKeptEntryId: "03", tokensBefore: 50000 }),
      message("06", "05", user("three")),
    ),
  )
  expect(conversation.messages).toHaveLength(5)
  expect(conversation.compactions).toMatchObject([{ at: 4, tokensBefore: 50000 }])
  expect(told(contextOf(conversation))).toEqual(["user: One was done.", "user: two", "assistant: 2", "user: three"])
})

const first = file(
  { type: "session", id: "pi-0", timestamp, cwd: "/repo" },
  { type: "message", timestamp, message: user("one") },
  { type: "message", timestamp, message: assistant(text("1")) },
  { type: "compaction", timestamp, summary: "One.", firstKeptEntryIndex: 2, tokensBefore: 9 },
  { type: "message", timestamp, message: user("two") },
)

test("the first version had no ids: entries follow one another, and are named by place", () => {
  const conversation = only(first)
  expect(told(conversation.messages)).toEqual(["user: one", "assistant: 1", "user: two"])
  expect(told(contextOf(conversation))).toEqual(["user: One.", "assistant: 1", "user: two"])
  const { text: again } = exportTranscript({ ...conversation, messages: conversation.messages.slice(1) }, "pi")
  expect(JSON.parse(again.split("\n")[0] ?? "")).toMatchObject({ type: "session", version: 3, id: "pi-0" })
  expect(told(only(again).messages)).toEqual(["assistant: 1", "user: two"])
})

test("what the user or an extension put in is a message, and noted; what was kept from the model is not", () => {
  const ran = { role: "bashExecution", command: "ls", output: "a.txt", exitCode: 2, cancelled: false, truncated: false }
  const { conversations, skipped } = importTranscript(
    file(
      header,
      message("01", null, { ...ran, timestamp: 1 }),
      message("02", "01", { ...ran, excludeFromContext: true }),
      entry("03", "02", { type: "custom_message", customType: "note", content: "Mind the gap.", display: true }),
      message("04", "03", { role: "hookMessage", customType: "note", content: [text("Old gap.")] }),
      entry("05", "04", { type: "custom", customType: "state", data: {} }),
    ),
  )
  expect(told(conversations[0]?.messages ?? [])).toEqual([
    "user: $ ls\na.txt\n(exit code 2)",
    "user: Mind the gap.",
    "user: Old gap.",
  ])
  expect(conversations[0]?.notes.map(({ note }) => note)).toEqual(["user-command", "client-written"])
  expect(skipped.map(({ line }) => line)).toEqual([3, 6])
})

test("thinking that another provider signed is not taken for Anthropic's; pictures are", () => {
  const answer = {
    ...assistant({ type: "thinking", thinking: "hm", thinkingSignature: "{}" }),
    api: "openai-responses",
  }
  const picture = { role: "user", content: [{ type: "image", data: "aGk=", mimeType: "image/png" }], timestamp: 1 }
  const { messages } = only(file(header, message("01", null, picture), message("02", "01", answer)))
  expect(messages[1]?.parts).toEqual([{ type: "reasoning", text: "hm" }])
  expect(JSON.parse(messages[0]?.parts[0]?.wire ?? "")).toEqual({
    type: "image",
    source: { type: "base64", media_type: "image/png", data: "aGk=" },
  })
})

test("reasoning that Anthropic did not sign goes to pi and nowhere on Anthropic's wire, and that is said", () => {
  const answer = { ...assistant({ type: "thinking", thinking: "hm" }, text("yes")), api: "openai-completions" }
  const conversation = only(file(header, message("01", null, user("so?")), message("02", "01", answer)))
  const { text: list, lost } = exportTranscript(conversation, "messages")
  expect(JSON.parse(list)).toEqual([
    { role: "user", content: "so?" },
    { role: "assistant", content: "yes" },
  ])
  expect(lost).toMatchObject([{ messageId: "m1", part: "reasoning" }])
  const { origin: _, ...ours } = conversation
  expect(only(exportTranscript(ours, "pi").text).messages[1]?.parts).toEqual(conversation.messages[1]?.parts)
})

test.each([session, first, session.trimEnd(), session.slice(0, -5)])("unchanged, it is the same file", (value) => {
  expect(exportTranscript(only(value), "pi").text).toBe(value)
})

test("a file broken off in its last line is read up to there", () => {
  const { skipped, conversations } = importTranscript(session.slice(0, -5))
  expect(skipped.at(-1)).toMatchObject({ line: 10, reason: "cut-off" })
  expect(conversations[0]?.messages).toHaveLength(5)
})

test("a message added hangs on the newest entry, whatever that is", () => {
  const conversation = only(session)
  const ours = { ...conversation.messages[1], parts: [{ type: "text", text: "again" }] }
  const messages = [...conversation.messages, ours] as Transcript
  const { text: again } = exportTranscript({ ...conversation, messages }, "pi", { newId: (n) => `n${n}` })
  expect(again.startsWith(session)).toBe(true)
  expect(JSON.parse(again.slice(session.length))).toMatchObject({
    id: "n11",
    parentId: "08",
    message: { role: "user", content: [text("again")] },
  })
})
