import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages"
import { pruneMessages } from "ai"
import { fakeModel, summarizationMiddleware } from "langchain"
import { countO200k } from "../../src/tokens/counter.ts"
import { fromModelMessages, toModelMessages } from "../ai-messages.ts"
import { type ChatMessage, countMessages } from "../chat.ts"
import { createListCounter, fromLangchain, toLangchain } from "../langchain-messages.ts"
import type { Summarizer } from "./agent.ts"
import type { Episode } from "./episode.ts"
import { type AgentView, type Harness, keepsAll, windowTokens } from "./harness.ts"

/** Frameworks that a user could use instead, each called as its documentation says, with the same summarizer. */

/** Returns what the model would be shown, which is at the end of the default prompt. */
const shownTo = (prompt: string): string => prompt.slice(prompt.lastIndexOf("Messages to summarize:") + 22).trim()

/** Returns the prompt as text; it is a text or a list of messages. */
function promptText(asked: unknown): string {
  if (typeof asked === "string") return asked
  const last: unknown = Array.isArray(asked) ? asked.at(-1) : undefined
  return HumanMessage.isInstance(last) ? last.text : String(last ?? "")
}

/** Runs the middleware with its defaults except for sizes: it acts from four fifths of the window and keeps the last turn. */
export async function langchainOnce(
  messages: readonly ChatMessage[],
  summarizer: Summarizer,
  budgetWords: number,
): Promise<readonly ChatMessage[]> {
  const invoke = async (asked: unknown) => new AIMessage(await summarizer(shownTo(promptText(asked)), budgetWords))
  const model = Object.assign(fakeModel(), { invoke })
  const tokenCounter = createListCounter(countO200k)
  const settings = { model, trigger: { tokens: windowTokens * 0.8 }, keep: { messages: 4 }, tokenCounter }
  // Its option type does not resolve under the installed zod; its schema still checks the values.
  const { beforeModel } = summarizationMiddleware(settings as never)
  if (typeof beforeModel !== "function") throw new Error("the summarization middleware has another shape")
  const state = toLangchain(messages)
  const update = await beforeModel({ messages: state } as never, { context: {} } as never)
  const left = (update?.messages ?? state).filter((message): message is BaseMessage => message.getType() !== "remove")
  return fromLangchain(left)
}

const shownWith = (episode: Episode, history: readonly ChatMessage[], compactions: number): AgentView => {
  const messages = [
    { role: "system", content: episode.system } as const,
    ...history,
    ...episode.recent.flat(),
    episode.trigger,
  ]
  return { messages, compactions, pinTokens: 0, contextTokens: countMessages(messages, countO200k) }
}

export const langchainHarness: Harness = async (episode, spec, summarizer) => {
  let history: readonly ChatMessage[] = []
  let compactions = 0
  for (const segment of episode.segments) {
    history = [...history, ...segment.flat()]
    if (keepsAll(spec)) continue
    const next = await langchainOnce(history, summarizer, spec.budgetWords)
    if (next.length < history.length) compactions++
    history = next
  }
  return { shown: shownWith(episode, history, compactions) }
}

/** Prunes tool calls and their results by position, and keeps what people said. */
export const pruneOnce = (history: readonly ChatMessage[]): readonly ChatMessage[] =>
  fromModelMessages(
    pruneMessages({
      messages: toModelMessages(history),
      reasoning: "all",
      toolCalls: "before-last-4-messages",
      emptyMessages: "remove",
    }),
  )

export const aiSdkHarness: Harness = async (episode, spec) => {
  const history = episode.segments.flat(2)
  if (keepsAll(spec)) return { shown: shownWith(episode, history, 0) }
  return { shown: shownWith(episode, pruneOnce(history), 1) }
}
