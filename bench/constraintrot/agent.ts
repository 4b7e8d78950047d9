import type { ChatMessage } from "../chat.ts"
import type { Call } from "./call.ts"

/** An agent's request: the messages as a provider would get them, and the tools. */
export type AgentRequest = { readonly messages: readonly ChatMessage[]; readonly tools: readonly object[] }

export type AgentAnswer =
  | { readonly type: "call"; readonly call: Call }
  | { readonly type: "text"; readonly text: string }

/** Answers a request with one tool call or with text. */
export type Agent = (request: AgentRequest) => Promise<AgentAnswer>

/** Shortens a conversation to about `budgetWords` words. */
export type Summarizer = (text: string, budgetWords: number) => Promise<string>
