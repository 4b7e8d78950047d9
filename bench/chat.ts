import { framings } from "../src/tokens/model-table.ts"

/** OpenAI chat messages: the form of the sessions, and of what every peer receives and returns. */
export type ToolCall = {
  readonly id: string
  readonly type: "function"
  readonly function: { readonly name: string; readonly arguments: string }
}

export type ChatMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string | null; readonly tool_calls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly content: string; readonly tool_call_id: string }

export type Count = (text: string) => number

const { message: perMessage, call: perCall } = framings.openai

/** Returns the tokens of a message with its framing, as our meter counts it, so that every budget means the same. */
export function countMessage(message: ChatMessage, count: Count): number {
  const text = perMessage + (message.content === null ? 0 : count(message.content))
  if (message.role === "tool") return text + perCall
  if (message.role !== "assistant") return text
  return (message.tool_calls ?? []).reduce(
    (total, { function: called }) => total + perCall + count(called.name) + count(called.arguments),
    text,
  )
}

export const countMessages = (messages: readonly ChatMessage[], count: Count): number =>
  messages.reduce((total, message) => total + countMessage(message, count), 0)

/** Returns the start of the first whole round at or after `from`: providers refuse a list that starts with a tool result. */
export function roundStart(messages: readonly ChatMessage[], from: number): number {
  let start = from
  while (messages[start]?.role === "tool") start++
  return start
}
