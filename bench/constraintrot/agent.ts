import type { ChatMessage } from "../chat.ts"
import type { Call } from "./call.ts"

/** What an agent is shown: the messages as a provider would get them, and the tools. */
export type AgentRequest = { readonly messages: readonly ChatMessage[]; readonly tools: readonly object[] }

export type AgentAnswer =
  | { readonly type: "call"; readonly call: Call }
  | { readonly type: "text"; readonly text: string }

/** Anything that answers a request with one tool call or with words. */
export type Agent = (request: AgentRequest) => Promise<AgentAnswer>

/** Anything that shortens a conversation to about so many words. */
export type Summarizer = (text: string, budgetWords: number) => Promise<string>
