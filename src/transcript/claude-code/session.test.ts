import { describe, expect, test } from "vitest"
import { HoldfastError } from "../../message/errors.ts"
import type { Transcript } from "../../message/message.ts"
import { type Conversation, contextOf } from "../conversation.ts"
import { exportTranscript } from "../export.ts"
import { importTranscript } from "../import.ts"

type Fields = Readonly<Record<string, unknown>>

const envelope = { isSidechain: false, userType: "external", cwd: "/repo", sessionId: "s-1", version: "2.1.90" }

const user = (uuid: string, parentUuid: string | null, content: unknown, more: Fields = {}): Fields => {
  const message = { role: "user", content }
  return { parentUuid, ...envelope, type: "user", message, uuid, timestamp: "2026-03-01T10:00:00.000Z", ...more }
}

const answer = (uuid: string, parentUuid: string | null, id: string, block: Fields, more: Fields = {}): Fields => {
  const message = { model: "claude-sonnet-4-5", id, type: "message", role: "assistant", content: [block], usage: {} }
  return { parentUuid, ...envelope, message, requestId: `req_${id}`, type: "assistant", uuid, ...more }
}

const said = (text: string): Fields => ({ type: "text", text })
const use = (id: string): Fields => ({ type: "tool_use", id, name: "Bash", input: { command: `echo ${id}` } })
const result = (id: string): readonly Fields[] => [{ tool_use_id: id, type: "tool_result", content: `ran ${id}` }]

const file = (...lines: readonly Fields[]): string => lines.map((line) => `${JSON.stringify(line)}\n`).join("")
const main = (text: string): Conversation => importTranscript(text).conversations[0] as Conversation

/** Each message as its role and what its parts say, in a word. */
const told = (messages: Transcript): readonly string[] =>
  messages.map(({ role, parts }) => {
    const words = parts.map((part) => {
      if (part.type === "text") return part.text
      return part.type === "tool-call" || part.type === "tool-result" ? `${part.type} ${part.callId}` : part.type
    })
    return `${role}: ${words.join(", ")}`
  })

const short = file(
  user("u1", null, "list the files"),
  answer("a1", "u1", "msg_1", { type: "thinking", thinking: "ls will do", signature: "c2ln" }),
  answer("a2", "a1", "msg_1", said("Looking.")),
  answer("a3", "a2", "msg_1", use("t1")),
  user("u2", "a3", result("t1"), { toolUseResult: { stdout: "ran t1" }, sourceToolAssistantUUID: "a3" }),
  answer("a4", "u2", "msg_2", said("Done.")),
)

test("lines of one answer are one message, in the wire's own blocks", () => {
  const { id, format, model, messages, meta } = main(short)
  expect({ id, format, model }).toEqual({ id: "s-1", format: "anthropic-messages", model: "claude-sonnet-4-5" })
  expect(meta).toMatchObject({ cwd: "/repo", version: "2.1.90" })
  expect(told(messages)).toEqual([
    "user: list the files",
    "assistant: reasoning, Looking., tool-call t1",
    "user: tool-result t1",
    "assistant: Done.",
  ])
  expect(JSON.parse(messages[1]?.wire ?? "")).toEqual({
    role: "assistant",
    content: [{ type: "thinking", thinking: "ls will do", signature: "c2ln" }, said("Looking."), use("t1")],
  })
})

test("parallel calls that ran while the answer streamed keep all of their results", () => {
  const text = file(
    user("u1", null, "go"),
    answer("a1", "u1", "msg_1", use("t1")),
    user("r1", "a1", result("t1")),
    answer("a2", "a1", "msg_1", use("t2")),
    user("r2", "a2", result("t2")),
    answer("a3", "r2", "msg_2", said("Both ran.")),
  )
  const { messages, branches } = main(text)
  expect(told(messages)).toEqual([
    "user: go",
    "assistant: tool-call t1, tool-call t2",
    "user: tool-result t1",
    "user: tool-result t2",
    "assistant: Both ran.",
  ])
  expect(branches).toEqual([])
})

const rewound = file(
  user("u1", null, "first"),
  answer("a1", "u1", "msg_1", said("one")),
  user("u2", "a1", "wrong way"),
  answer("a2", "u2", "msg_2", said("two")),
  user("u3", "a1", "right way"),
  answer("a3", "u3", "msg_3", said("three")),
)

test("what the user went back from is a branch", () => {
  const { messages, branches } = main(rewound)
  expect(told(messages)).toEqual(["user: first", "assistant: one", "user: right way", "assistant: three"])
  expect(branches.map(({ reason, from, messages }) => ({ reason, from, told: told(messages) }))).toEqual([
    { reason: "abandoned", from: "m1", told: ["user: wrong way", "assistant: two"] },
  ])
})

test("a line that names another leaf chooses the branch; one that names an ancestor does not", () => {
  const back = main(rewound + file({ type: "last-prompt", lastPrompt: "x", sessionId: "s-1", leafUuid: "a2" }))
  expect(told(back.messages).at(-1)).toBe("assistant: two")
  const same = main(rewound + file({ type: "last-prompt", lastPrompt: "x", sessionId: "s-1", leafUuid: "a1" }))
  expect(told(same.messages).at(-1)).toBe("assistant: three")
})

const boundary = (more: Fields): Fields => ({
  parentUuid: null,
  logicalParentUuid: "a2",
  ...envelope,
  type: "system",
  subtype: "compact_boundary",
  content: "Conversation compacted",
  uuid: "b1",
  compactMetadata: { trigger: "auto", preTokens: 167000, ...more },
})

const compacted = (more: Fields = {}): string =>
  file(
    user("u1", null, "first"),
    answer("a1", "u1", "msg_1", said("one")),
    user("u2", "a1", "second"),
    answer("a2", "u2", "msg_2", said("two")),
    boundary(more),
    user("s1", "b1", "Earlier: first and second.", { isCompactSummary: true, isVisibleInTranscriptOnly: true }),
    user("u3", "s1", "third"),
  )

test("a compaction leaves the log whole and says what the model saw from then on", () => {
  const conversation = main(compacted())
  expect(told(conversation.messages)).toEqual([
    "user: first",
    "assistant: one",
    "user: second",
    "assistant: two",
    "user: third",
  ])
  expect(conversation.compactions).toMatchObject([{ at: 4, trigger: "auto", tokensBefore: 167000 }])
  expect(told(contextOf(conversation))).toEqual(["user: Earlier: first and second.", "user: third"])
})

test.each<[string, Fields]>([
  ["a range", { preservedSegment: { headUuid: "u2", anchorUuid: "s1", tailUuid: "a2" } }],
  ["a list", { preservedMessages: { anchorUuid: "s1", uuids: ["u2", "a2"], allUuids: ["u2", "a2"] } }],
])("messages that a compaction kept, named as %s, follow its summary", (_how, more) => {
  expect(told(contextOf(main(compacted(more))))).toEqual([
    "user: Earlier: first and second.",
    "user: second",
    "assistant: two",
    "user: third",
  ])
})

test("a compaction whose parent is in another file still follows what stands before it", () => {
  const text = compacted().replace('"logicalParentUuid":"a2"', '"logicalParentUuid":"elsewhere"')
  expect(main(text).messages).toHaveLength(5)
})

const side = { isSidechain: true }

test("subagents are conversations of their own, by id or by root", () => {
  const text = file(
    user("u1", null, "go"),
    user("x1", null, "look into a", side),
    answer("a1", "u1", "msg_1", use("t1")),
    user("y1", null, "look into b", side),
    answer("x2", "x1", "msg_x", said("a found"), side),
    user("z1", null, "look into c", { ...side, agentId: "agent7" }),
    answer("y2", "y1", "msg_y", said("b found"), side),
  )
  const { conversations } = importTranscript(text)
  expect(conversations.map(({ sidechain, messages, meta }) => [sidechain, told(messages), meta.agentId])).toEqual([
    [undefined, ["user: go", "assistant: tool-call t1"], undefined],
    [true, ["user: look into a", "assistant: a found"], undefined],
    [true, ["user: look into b", "assistant: b found"], undefined],
    [true, ["user: look into c"], "agent7"],
  ])
  expect(exportTranscript(conversations[0] as Conversation, "claude-code").text).toBe(text)
})

test("a subagent's own file is one conversation, and exports as that file", () => {
  const text = file(
    user("x1", null, "look", { ...side, agentId: "a7" }),
    answer("x2", "x1", "msg_x", said("found"), side),
  )
  const [only, ...more] = importTranscript(text).conversations
  expect(more).toHaveLength(0)
  expect(only?.sidechain).toBe(true)
})

test("what the client wrote is noted, and lines that say nothing are named", () => {
  const text = file(
    { type: "summary", summary: "Listing files", leafUuid: "a1" },
    { type: "file-history-snapshot", messageId: "u1", snapshot: {} },
    user("u0", null, "Caveat: the messages below were generated.", { isMeta: true }),
    user("u1", "u0", "list"),
    { parentUuid: "u1", ...envelope, type: "progress", data: { type: "hook_progress" }, uuid: "p1" },
    { parentUuid: "p1", ...envelope, type: "attachment", attachment: { type: "file" }, uuid: "p2" },
    { parentUuid: "p2", ...envelope, type: "hologram", uuid: "p3" },
    answer("a1", "p3", "msg_1", said("API Error"), { isApiErrorMessage: true }),
    user("u1", "u0", "list"),
  )
  const { conversations, skipped } = importTranscript(text)
  expect(conversations[0]?.title).toBe("Listing files")
  expect(told(conversations[0]?.messages ?? [])).toHaveLength(3)
  expect(conversations[0]?.notes).toEqual([
    { message: "m0", note: "client-written" },
    { message: "m2", note: "synthetic" },
  ])
  expect(skipped.map(({ line, reason, type }) => [line, reason, type])).toEqual([
    [1, "no-message", "summary"],
    [2, "no-message", "file-history-snapshot"],
    [5, "no-message", "progress"],
    [6, "no-message", "attachment"],
    [7, "unknown-type", "hologram"],
    [9, "repeated", "user"],
  ])
})

test("reminders that the model was told, and the prompt and tools it was asked with, where a version keeps them", () => {
  const rendered = [{ content: "<system-reminder>\nMind the tests.\n</system-reminder>" }]
  const reminder = {
    ...envelope,
    parentUuid: "u1",
    type: "attachment",
    attachment: { type: "date" },
    rendered,
    uuid: "t1",
  }
  const shape = (hash: string, text: string): Fields => {
    const shape = { system: [said(text)], tools: [{ name: "Bash", input_schema: { type: "object" } }] }
    return { type: "api-request-shape", sessionId: "s-1", shapeHash: hash, shape }
  }
  const asked = (source: string, shapeHash: string): Fields => {
    return { type: "api-request", sessionId: "s-1", id: source, querySource: source, shapeHash }
  }
  const text = file(
    user("u1", null, "go"),
    reminder,
    shape("h1", "You are the main one."),
    asked("sdk", "h1"),
    answer("a1", "t1", "msg_1", said("Going.")),
    shape("h2", "You are a helper."),
    asked("agent", "h2"),
  )
  const conversation = main(text)
  expect(told(conversation.messages)).toEqual(["user: go", `user: ${rendered[0]?.content}`, "assistant: Going."])
  expect(conversation.notes).toEqual([{ message: "m1", note: "client-written" }])
  expect(conversation.system).toMatchObject([{ type: "text", text: "You are the main one." }])
  expect(conversation.tools.map(({ name }) => name)).toEqual(["Bash"])
  expect(exportTranscript(conversation, "claude-code").text).toBe(text)
  const fewer = { ...conversation, messages: conversation.messages.slice(1) }
  const again = main(exportTranscript(fewer, "claude-code").text)
  expect(again.system).toEqual(conversation.system)
  expect(told(again.messages)).toEqual(told(fewer.messages))
})

describe("a damaged file", () => {
  test("broken off in its last line is read up to there, and says so", () => {
    const { conversations, skipped } = importTranscript(short.slice(0, -20))
    expect(conversations[0]?.messages).toHaveLength(3)
    expect(skipped).toMatchObject([{ line: 6, reason: "cut-off" }])
    expect(exportTranscript(conversations[0] as Conversation, "claude-code").text).toBe(short.slice(0, -20))
  })

  test("with a broken line in the middle is refused at that line", () => {
    const lines = short.split("\n")
    const broken = lines.with(2, (lines[2] ?? "").slice(0, 40)).join("\n")
    expect(problemOf(broken)).toEqual({
      code: "file-invalid",
      line: 3,
      expected: "a JSON object",
      found: "text that is not JSON",
    })
  })

  test("with a message of the wrong shape is refused at that line, and says what is wrong", () => {
    const text = short + file(user("u9", "a4", 7))
    expect(problemOf(text)).toMatchObject({ code: "file-invalid", line: 7, found: "a number" })
  })
})

function problemOf(text: string): unknown {
  try {
    importTranscript(text)
  } catch (error) {
    if (error instanceof HoldfastError) return error.problem
    throw error
  }
  return undefined
}

describe("writing it again", () => {
  const wild = `\uFEFF${compacted().replaceAll("\n", "\r\n")}\n  \n${rewound.replaceAll('"s-1"', '"s-2"').trimEnd()}`

  test.each([short, rewound, compacted(), wild])("unchanged, it is the same file", (text) => {
    expect(exportTranscript(main(text), "claude-code").text).toBe(text)
  })

  test("with a message gone, the others keep their lines but for the one link that it held", () => {
    const conversation = main(short)
    const { text } = exportTranscript(
      { ...conversation, messages: conversation.messages.toSpliced(0, 1) },
      "claude-code",
    )
    const [, first, ...rest] = short.split("\n")
    expect(text.split("\n")).toEqual([first?.replace('"parentUuid":"u1"', '"parentUuid":null'), ...rest])
  })

  test("a message added hangs on the leaf, with the clock and id that were given", () => {
    const ours = { id: conversationId, role: "user", parts: [{ type: "text", text: "thanks" }] } as const
    const conversation = main(short)
    const { text } = exportTranscript({ ...conversation, messages: [...conversation.messages, ours] }, "claude-code", {
      now: { iso: "2026-03-02T00:00:00.000Z", ms: 1772409600000 },
      newId: (n) => `new-${n}`,
    })
    expect(text.startsWith(short)).toBe(true)
    expect(JSON.parse(text.slice(short.length))).toEqual({
      parentUuid: "a4",
      isSidechain: false,
      userType: "external",
      cwd: "/repo",
      sessionId: "s-1",
      version: "2.1.90",
      type: "user",
      message: { role: "user", content: "thanks" },
      uuid: "new-7",
      timestamp: "2026-03-02T00:00:00.000Z",
    })
  })
})

const conversationId = main(short).messages[0]?.id ?? ("" as never)
