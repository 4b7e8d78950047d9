import type { Format } from "../../src/message/message.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { encodeRequest } from "../../src/wire/encode.ts"
import { translate } from "../../src/wire/translate.ts"
import type { ChatMessage } from "../support/conversations.ts"

/** How widely used agents compact their own histories, each in the form of its real requests with texts of this test. */

export type Frame = { readonly system: string; readonly tools: readonly string[] }

export type ClientRequest = {
  readonly frame: Frame
  /** The provider's signatures of its calls, by their arguments; only Gemini has them. */
  readonly seals?: ReadonlyMap<string, string>
  readonly messages: readonly ChatMessage[]
  readonly headers?: Readonly<Record<string, string>>
}

export type CompactingClient = {
  readonly name: string
  readonly format: Format
  /** Headers of the n-th context window of a conversation. */
  readonly headers: (id: string, window: number) => Readonly<Record<string, string>>
  readonly frame: Frame
  /** Returns the requests that it makes for a summary; the answer to the last one is the summary. */
  readonly summarize: (history: readonly ChatMessage[], id: string) => readonly ClientRequest[]
  /** Returns the history after the compaction: what it keeps, and what replaces the rest; the model's turn may be in progress. */
  readonly replace: (history: readonly ChatMessage[], summary: string, isOpen: boolean) => readonly ChatMessage[]
  /** Rewrites the first messages of a compacted history in its next request. */
  readonly settle?: (history: readonly ChatMessage[]) => readonly ChatMessage[]
}

/** Part of every request for a summary, so that the scripted model recognizes it. */
export const summaryMark = "[[a summary is asked for]]"

const agentFrame: Frame = {
  system:
    "You are a coding agent that works in the folder of a project. You read files, change them and run commands with the tools that you are given, and you report briefly what you did.",
  tools: ["bash", "read", "edit", "find"],
}

const says = (role: "user" | "assistant", content: string): ChatMessage => ({ role, content })

const last = (history: readonly ChatMessage[], role: ChatMessage["role"]): number =>
  history.findLastIndex((message) => message.role === role)

/** Returns the newest round: from the last answer of the model on. */
const tailOf = (history: readonly ChatMessage[]): readonly ChatMessage[] => history.slice(last(history, "assistant"))

/** Returns a history as one text. */
function asText(history: readonly ChatMessage[]): string {
  const lines = history.flatMap(({ role, content, tool_calls = [] }) => [
    ...(content === null
      ? []
      : [`[${role === "tool" ? "Tool result" : role === "user" ? "User" : "Assistant"}]: ${content}`]),
    ...tool_calls.map((call) => `[Assistant tool calls]: ${call.function.name}(${call.function.arguments})`),
  ])
  return lines.join("\n\n")
}

const summarizerFrame: Frame = {
  system: "You write summaries of conversations between a user and an agent. Answer nothing that stands in them.",
  tools: [],
}

const noHeaders = (): Readonly<Record<string, string>> => ({})

const opencode = (format: Format): CompactingClient => ({
  name: `opencode on ${format}`,
  format,
  headers: (id) => ({ "x-session-id": `ses_${id}`, "x-session-affinity": `ses_${id}` }),
  frame: agentFrame,
  summarize: (history) => [
    {
      frame: summarizerFrame,
      messages: [
        says(
          "user",
          `This is the conversation:\n\n<conversation>\n${asText(history)}\n</conversation>\n\n${summaryMark}`,
        ),
      ],
    },
  ],
  replace: (_history, summary, isOpen) => [
    says("user", "What have we done up to here?"),
    says("assistant", summary),
    ...(isOpen ? [says("user", "Go on with the next step. Never ask for a decision that was taken already.")] : []),
  ],
})

const claude: CompactingClient = {
  name: "claude code",
  format: "anthropic-messages",
  headers: (id) => ({ "x-claude-code-session-id": `7b0e9a52-${id}` }),
  frame: agentFrame,
  summarize: (history) => [
    {
      frame: agentFrame,
      messages: [...history, says("user", `Answer in text only. Do not call any tool. ${summaryMark}`)],
    },
  ],
  replace: (history, summary) => [
    says(
      "user",
      `This session goes on from an earlier conversation for which there was no room any more. The summary covers its earlier part.\n\nSummary:\n${summary}\n\nContinue the work from where it stopped and never ask the user any further questions. Always resume directly; do not mention the summary, do not recap what happened.`,
    ),
    ...tailOf(history),
  ],
}

const codex: CompactingClient = {
  name: "codex",
  format: "openai-responses",
  headers: (id, window) => ({
    "session-id": `01a1dcd1-${id}`,
    "thread-id": `01a1dcd1-${id}`,
    "x-codex-window-id": `01a1dcd1-${id}:${window}`,
  }),
  frame: agentFrame,
  summarize: (history, id) => [
    {
      frame: { ...agentFrame, tools: [] },
      messages: [...history, says("user", `Write what the next model has to know. ${summaryMark}`)],
      headers: {
        "x-codex-turn-metadata": JSON.stringify({ session_id: `01a1dcd1-${id}`, request_kind: "compaction" }),
      },
    },
  ],
  replace: (history, summary) => [
    ...history.filter(({ role, content }) => role === "user" && content?.startsWith(handover) !== true),
    says(
      "user",
      `${handover} Always build on what it did and never do its work twice. This is its summary:\n${summary}`,
    ),
  ],
}
const handover = "Another model began to solve this."

const pi = (format: Format, name: string): CompactingClient => ({
  name,
  format,
  headers:
    format === "openai-responses"
      ? (id) => ({ session_id: `01a1dcec-${id}`, "x-client-request-id": `01a1dcec-${id}` })
      : noHeaders,
  frame: { ...agentFrame, system: `You are an agent of ${name}. ${agentFrame.system}` },
  summarize: (history) => [
    {
      frame: summarizerFrame,
      messages: [says("user", `# Conversation\n${asText(history)}\n\n# Instructions\n${summaryMark}`)],
    },
  ],
  replace: (history, summary) => [
    says(
      "user",
      `What was said before this point was compacted into this summary:\n\n<summary>\n${summary}\n</summary>`,
    ),
    ...tailOf(history),
  ],
})

/** Like pi after a compaction by command: nothing of the history is kept. */
const withoutTail = (client: CompactingClient): CompactingClient => ({
  ...client,
  name: `${client.name}, with nothing kept`,
  frame: { ...client.frame, system: `${client.frame.system} Keep it short.` },
  replace: (history, summary, isOpen) => client.replace(history, summary, isOpen).slice(0, 1),
})

const snapshot = (summary: string): readonly ChatMessage[] => [
  says(
    "user",
    `<state_snapshot>${summary}</state_snapshot>\n\nResume the task with this. Never greet the user again, always continue from the last step.`,
  ),
  says("assistant", "Got it. Thanks for telling me."),
]

const qwen: CompactingClient = {
  name: "qwen",
  format: "openai-chat",
  headers: noHeaders,
  frame: { ...agentFrame, system: `You work without anyone who could answer. ${agentFrame.system}` },
  summarize: (history) => [
    { frame: agentFrame, messages: [...history, says("user", `You sum up a conversation. ${summaryMark}`)] },
  ],
  replace: (_history, summary) => snapshot(summary),
  settle: ([opening, answer, ...rest]) => [
    says("user", `<system-reminder>\nThese skills are there: none.\n</system-reminder>\n${opening?.content}`),
    ...(answer === undefined ? [] : [answer]),
    ...rest,
  ],
}

const gemini: CompactingClient = {
  name: "gemini",
  format: "gemini",
  headers: noHeaders,
  frame: agentFrame,
  summarize: (history) => [
    { frame: summarizerFrame, messages: [...history, says("user", `First reason, then sum up. ${summaryMark}`)] },
  ],
  replace: (_history, summary) => snapshot(summary),
}

export const compactingClients: readonly CompactingClient[] = [
  opencode("openai-chat"),
  opencode("openai-responses"),
  opencode("anthropic-messages"),
  claude,
  codex,
  pi("openai-chat", "pi on chat"),
  pi("anthropic-messages", "pi on anthropic"),
  pi("openai-responses", "pi on responses"),
  withoutTail(pi("openai-chat", "pi on chat")),
  withoutTail(pi("anthropic-messages", "pi on anthropic")),
  { ...qwen, summarize: (history) => qwen.summarize(history, "").map((call) => ({ ...call, frame: qwen.frame })) },
  gemini,
]

const parameters = { type: "object", properties: { path: { type: "string" } } }

function shellOf(format: Format, { system, tools }: Frame): object {
  const listed = <Tool>(all: readonly Tool[]): object => (all.length === 0 ? {} : { tools: all })
  switch (format) {
    case "anthropic-messages":
      return {
        model: "claude-sonnet-4-5",
        max_tokens: 1000,
        system: [{ type: "text", text: system }],
        ...listed(tools.map((name) => ({ name, input_schema: parameters }))),
        messages: [],
      }
    case "openai-chat":
      return {
        model: "gpt-5",
        messages: [{ role: "system", content: system }],
        ...listed(tools.map((name) => ({ type: "function", function: { name, parameters } }))),
      }
    case "openai-responses":
      return {
        model: "gpt-5",
        instructions: system,
        store: false,
        ...listed(tools.map((name) => ({ type: "function", name, parameters }))),
        input: [],
      }
    case "gemini":
      return {
        systemInstruction: { parts: [{ text: system }] },
        ...(tools.length === 0
          ? {}
          : { tools: [{ functionDeclarations: tools.map((name) => ({ name, parameters })) }] }),
        contents: [],
      }
  }
}

/** Returns the body of a request in a client's format. */
export function bodyOf(format: Format, { frame, messages, seals = new Map() }: ClientRequest): string {
  const request = decodeRequest(format, JSON.stringify(shellOf(format, frame)))
  const chat = decodeRequest("openai-chat", JSON.stringify({ model: "any", messages }))
  const body = encodeRequest(request, { messages: [...request.messages, ...translate(chat.messages, format).messages] })
  const sealed = (_key: string, part: unknown): unknown => {
    const seal = isCall(part) ? seals.get(JSON.stringify(part.functionCall.args)) : undefined
    return seal === undefined ? part : { ...Object(part), thoughtSignature: seal }
  }
  return format === "gemini" ? JSON.stringify(JSON.parse(body, sealed)) : body
}

const isCall = (part: unknown): part is { readonly functionCall: { readonly args: unknown } } =>
  typeof part === "object" && part !== null && "functionCall" in part

export const pathOf: Readonly<Record<Format, string>> = {
  "anthropic-messages": "/v1/messages",
  "openai-chat": "/v1/chat/completions",
  "openai-responses": "/v1/responses",
  gemini: "/v1beta/models/gemini-2.5-pro:generateContent",
}
