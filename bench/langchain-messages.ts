import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages"
import { type ChatMessage, type Count, countMessage } from "./chat.ts"

/** Converts to LangChain's own messages. A call's arguments that are not a JSON object are kept as text. */
export function toLangchain(messages: readonly ChatMessage[]): BaseMessage[] {
  return messages.map((message, n) => {
    const id = `m${n}`
    if (message.role === "system") return new SystemMessage({ id, content: message.content })
    if (message.role === "tool") {
      return new ToolMessage({ id, content: message.content, tool_call_id: message.tool_call_id })
    }
    if (message.role !== "assistant") return new HumanMessage({ id, content: message.content })
    const calls = (message.tool_calls ?? []).map(({ id: callId, function: called }) => {
      return { id: callId, name: called.name, args: readArguments(called.arguments), type: "tool_call" as const }
    })
    return new AIMessage({ id, content: message.content ?? "", tool_calls: calls })
  })
}

export const fromLangchain = (messages: readonly BaseMessage[]): readonly ChatMessage[] => messages.map(fromOne)

function fromOne(message: BaseMessage): ChatMessage {
  if (ToolMessage.isInstance(message)) {
    return { role: "tool", content: message.text, tool_call_id: message.tool_call_id }
  }
  if (!AIMessage.isInstance(message)) {
    return { role: message.getType() === "system" ? "system" : "user", content: message.text }
  }
  const calls = (message.tool_calls ?? []).map(({ id, name, args }) => {
    return { id: id ?? "", type: "function" as const, function: { name, arguments: writeArguments(args) } }
  })
  return { role: "assistant", content: message.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
}

export function readArguments(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON: the text itself is returned below.
  }
  return { text }
}

const written = new WeakMap<object, string>()

/** Returns the arguments as text, serialized only once, so that a peer that counts them repeatedly does not pay for our serialization. */
function writeArguments(args: object): string {
  const known = written.get(args)
  if (known !== undefined) return known
  const text = JSON.stringify(args)
  written.set(args, text)
  return text
}

/** Returns a counter of message lists as LangChain expects it, based on the same count that all others use. */
export const createListCounter =
  (count: Count): ((messages: readonly BaseMessage[]) => number) =>
  (messages) => {
    let total = 0
    for (const message of messages) total += countMessage(fromOne(message), count)
    return total
  }

/** The best that a user can do: each message is counted once, and its count is cached by its id. */
export function createRememberingCounter(count: Count): (messages: readonly BaseMessage[]) => number {
  const known = new Map<string, number>()
  const countOne = (message: BaseMessage): number => {
    const tokens = countMessage(fromOne(message), count)
    if (message.id !== undefined) known.set(message.id, tokens)
    return tokens
  }
  return (messages) => {
    let total = 0
    for (const message of messages) total += known.get(message.id ?? "") ?? countOne(message)
    return total
  }
}
