import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from "ai"
import type { ChatMessage, ToolCall } from "./chat.ts"
import { readArguments } from "./langchain-messages.ts"

/** Converts to the AI SDK's own messages. The results of one round go into one message, as the SDK itself puts them. */
export function toModelMessages(messages: readonly ChatMessage[]): ModelMessage[] {
  const names = new Map<string, string>()
  const made: ModelMessage[] = []
  for (const message of messages) {
    if (message.role === "tool") {
      const { tool_call_id: toolCallId, content: value } = message
      const toolName = names.get(toolCallId) ?? "unknown"
      const result = { type: "tool-result" as const, toolCallId, toolName, output: { type: "text" as const, value } }
      const last = made.at(-1)
      if (last?.role === "tool") last.content.push(result)
      else made.push({ role: "tool", content: [result] })
    } else if (message.role === "assistant") {
      for (const { id, function: called } of message.tool_calls ?? []) names.set(id, called.name)
      made.push(toAssistant(message.content, message.tool_calls ?? []))
    } else made.push({ role: message.role, content: message.content })
  }
  return made
}

function toAssistant(content: string | null, calls: readonly ToolCall[]): AssistantModelMessage {
  if (calls.length === 0) return { role: "assistant", content: content ?? "" }
  const parts = calls.map(({ id, function: called }) => ({
    type: "tool-call" as const,
    toolCallId: id,
    toolName: called.name,
    input: readArguments(called.arguments),
  }))
  const text = content === null || content === "" ? [] : [{ type: "text" as const, text: content }]
  return { role: "assistant", content: [...text, ...parts] }
}

export const fromModelMessages = (messages: readonly ModelMessage[]): readonly ChatMessage[] =>
  messages.flatMap((message): readonly ChatMessage[] => {
    if (message.role === "tool") return fromResults(message)
    if (message.role === "assistant") return [fromAssistant(message)]
    return [{ role: message.role, content: typeof message.content === "string" ? message.content : "" }]
  })

const fromResults = ({ content }: ToolModelMessage): readonly ChatMessage[] =>
  content.flatMap((part): readonly ChatMessage[] => {
    if (part.type !== "tool-result") return []
    const text = part.output.type === "text" ? part.output.value : JSON.stringify(part.output)
    return [{ role: "tool", content: text, tool_call_id: part.toolCallId }]
  })

function fromAssistant({ content }: AssistantModelMessage): ChatMessage {
  if (typeof content === "string") return { role: "assistant", content }
  const text = content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  const calls = content.flatMap((part): readonly ToolCall[] => {
    if (part.type !== "tool-call") return []
    const called = { name: part.toolName, arguments: JSON.stringify(part.input) }
    return [{ id: part.toolCallId, type: "function", function: called }]
  })
  return {
    role: "assistant",
    content: text === "" ? null : text,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
}
