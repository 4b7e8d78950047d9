import { expect, test } from "vitest"
import type { Transcript } from "../../message/message.ts"
import { type Conversation, contextOf } from "../conversation.ts"
import { exportTranscript } from "../export.ts"
import { importTranscript } from "../import.ts"

const line = (type: string, payload: object): object => ({ timestamp: "2026-02-01T09:00:00.000Z", type, payload })
const item = (payload: object): object => line("response_item", payload)
const message = (role: string, text: string): object => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
})
const call = (id: string): object => ({ type: "function_call", name: "shell", arguments: '{"cmd":"ls"}', call_id: id })
const output = (id: string): object => ({ type: "function_call_output", call_id: id, output: "a.txt" })
const rolledBack = (turns: number): object => line("event_msg", { type: "thread_rolled_back", num_turns: turns })

const meta = line("session_meta", {
  id: "0199-a",
  timestamp: "2026-02-01T09:00:00.000Z",
  cwd: "/repo",
  originator: "codex_exec",
  cli_version: "0.120.0",
  base_instructions: { text: "You are a coding agent." },
})

const file = (...lines: readonly object[]): string => lines.map((entry) => `${JSON.stringify(entry)}\n`).join("")
const only = (text: string): Conversation => importTranscript(text).conversations[0] as Conversation
const told = (messages: Transcript): readonly string[] =>
  messages.map(({ role, parts: [part] }) => `${role}: ${part?.type === "text" ? part.text : part?.type}`)

const session = file(
  meta,
  line("event_msg", { type: "task_started", turn_id: "1" }),
  line("turn_context", { cwd: "/repo", model: "gpt-5.5" }),
  item(message("developer", "Sandbox is on.")),
  item(message("user", "<environment_context>\n  <cwd>/repo</cwd>\n</environment_context>")),
  item(message("user", "list the files")),
  line("event_msg", { type: "user_message", message: "list the files" }),
  item({ type: "reasoning", summary: [], encrypted_content: "gAAA" }),
  item(call("call_1")),
  item(output("call_1")),
  item({ type: "ghost_snapshot", ghost_commit: { id: "x" } }),
  item(message("assistant", "One file.")),
  line("aurora", { bright: true }),
)

test("items are messages; the rest is named", () => {
  const { conversations, skipped } = importTranscript(session)
  const [conversation] = conversations
  expect(conversation).toMatchObject({ id: "0199-a", format: "openai-responses", model: "gpt-5.5" })
  expect(conversation?.system).toEqual([{ type: "text", text: "You are a coding agent." }])
  expect(conversation?.meta).toMatchObject({ cwd: "/repo", cli_version: "0.120.0" })
  expect(told(conversation?.messages ?? [])).toEqual([
    "system: Sandbox is on.",
    "user: <environment_context>\n  <cwd>/repo</cwd>\n</environment_context>",
    "user: list the files",
    "assistant: reasoning",
    "assistant: tool-call",
    "user: tool-result",
    "assistant: One file.",
  ])
  expect(conversation?.notes).toEqual([{ message: "m1", note: "client-written" }])
  expect(skipped.map(({ line, reason, type }) => [line, reason, type])).toEqual([
    [2, "no-message", "event_msg task_started"],
    [3, "no-message", "turn_context"],
    [7, "no-message", "event_msg user_message"],
    [11, "no-message", "response_item ghost_snapshot"],
    [13, "unknown-type", "aurora"],
  ])
  expect(conversation?.messages[4]?.wire).toBe(JSON.stringify(call("call_1")))
})

const bare = file(
  { id: "0198-b", timestamp: "2025-08-01T00:00:00.000Z", instructions: "Be brief.", git: { branch: "main" } },
  { record_type: "state" },
  message("user", "hi"),
  message("assistant", "hello"),
  { record_type: "state" },
)

test("lines of the first versions are bare items after a line about the session", () => {
  const { conversations, skipped } = importTranscript(bare)
  expect(conversations[0]).toMatchObject({ id: "0198-b", system: [{ text: "Be brief." }] })
  expect(told(conversations[0]?.messages ?? [])).toEqual(["user: hi", "assistant: hello"])
  expect(skipped.map(({ line, reason }) => [line, reason])).toEqual([
    [2, "no-message"],
    [5, "no-message"],
  ])
})

test("a compaction with the history that took the old one's place", () => {
  const history = [message("user", "do it"), { type: "compaction", encrypted_content: "gBBB" }]
  const conversation = only(
    file(
      meta,
      item(message("user", "do it")),
      item(message("assistant", "did half")),
      line("compacted", { message: "", replacement_history: history }),
      item(message("user", "and the rest?")),
    ),
  )
  expect(told(conversation.messages)).toEqual(["user: do it", "assistant: did half", "user: and the rest?"])
  expect(conversation.compactions.map(({ at }) => at)).toEqual([2])
  expect(told(contextOf(conversation))).toEqual(["user: do it", "assistant: opaque", "user: and the rest?"])
})

test("a compaction of older versions keeps what the user said, and its summary", () => {
  const conversation = only(
    file(
      meta,
      item(message("user", "<environment_context></environment_context>")),
      item(message("user", "do it")),
      item(message("assistant", "did half")),
      line("compacted", { message: "Half is done." }),
    ),
  )
  expect(told(contextOf(conversation))).toEqual(["user: do it", "user: Half is done."])
})

test("turns that were taken back are a branch, and a compaction among them never was", () => {
  const conversation = only(
    file(
      meta,
      item(message("user", "one")),
      item(message("assistant", "1")),
      item(message("user", "two")),
      item(message("assistant", "2")),
      line("compacted", { message: "s" }),
      item(message("user", "three")),
      rolledBack(2),
      item(message("user", "other two")),
    ),
  )
  expect(told(conversation.messages)).toEqual(["user: one", "assistant: 1", "user: other two"])
  expect(conversation.compactions).toEqual([])
  expect(conversation.branches.map(({ reason, from, messages }) => [reason, from, told(messages)])).toEqual([
    ["rolled-back", "m1", ["user: two", "assistant: 2", "user: three"]],
  ])
  expect(new Set(conversation.branches.flatMap(({ messages }) => messages.map(({ id }) => id))).size).toBe(3)
})

test("a rollback past the start leaves what came before the first turn", () => {
  const text = file(meta, item(message("developer", "rules")), item(message("user", "one")), rolledBack(9))
  expect(told(only(text).messages)).toEqual(["system: rules"])
})

test.each([session, bare, session.trimEnd(), session.slice(0, -9)])("unchanged, it is the same file", (text) => {
  expect(exportTranscript(only(text), "codex").text).toBe(text)
})

test("a file broken off in its last line is read up to there", () => {
  expect(importTranscript(session.slice(0, -9)).skipped.at(-1)).toMatchObject({ line: 13, reason: "cut-off" })
})

test("added messages continue a file in its own manner", () => {
  const add = (text: string): string => {
    const conversation = only(text)
    const messages = [
      ...conversation.messages,
      { id: conversation.messages[0]?.id, role: "user", parts: [{ type: "text", text: "more" }] },
    ]
    return exportTranscript({ ...conversation, messages: messages as Transcript }, "codex").text.slice(text.length)
  }
  expect(JSON.parse(add(bare))).toEqual(message("user", "more"))
  expect(JSON.parse(add(session))).toMatchObject({ type: "response_item", payload: message("user", "more") })
})

test("without its first message it keeps its head and every other item's line", () => {
  const conversation = only(session)
  const { text } = exportTranscript({ ...conversation, messages: conversation.messages.slice(1) }, "codex")
  const lines = session.split("\n")
  expect(text).toBe([0, 4, 5, 7, 8, 9, 11].map((index) => `${lines[index]}\n`).join(""))
})
