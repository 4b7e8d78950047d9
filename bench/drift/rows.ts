import { createHoldfast, type StackDefinition } from "../../src/index.ts"
import { countO200k } from "../../src/tokens/counter.ts"
import { type ChatMessage, countMessages } from "../chat.ts"
import type { Summarizer } from "../constraintrot/agent.ts"
import { windowTokens } from "../constraintrot/harness.ts"
import { messagesIn } from "../constraintrot/harness-holdfast.ts"
import { langchainOnce, pruneOnce } from "../constraintrot/harness-peers.ts"
import { transcriptOf } from "../constraintrot/harness-plain.ts"
import { specification } from "./clauses.ts"

/** A harness that runs through many cycles: it receives the messages, and returns what the agent is shown. */
export type CycleHarness = {
  readonly append: (messages: readonly ChatMessage[]) => Promise<void>
  readonly show: () => Promise<{ readonly messages: readonly ChatMessage[]; readonly compacted: boolean }>
  readonly close: () => Promise<void>
}

export type DriftRow = {
  readonly name: string
  /** Where the specification is: among the messages, or in the prompt stack. */
  readonly holds: "conversation" | "stack"
  readonly open: (summarizer: Summarizer) => CycleHarness
}

const baseSystem = "You are the reporting assistant of a help desk. Work with the tools and write reports when asked."

/** Without a prompt stack, the closest equivalent is the system part that the framework sends along. */
const systemOf = (holds: DriftRow["holds"]): string =>
  holds === "stack" ? `${baseSystem}\n\n${specification}` : baseSystem

/** Word budget of every summary. */
const budgetWords = 75
/** Messages that a plain harness keeps unchanged: the last turn. */
const lastTurn = 4
const compactAt = 0.8

type Compact = (messages: readonly ChatMessage[], summarizer: Summarizer) => Promise<readonly ChatMessage[]>

const plainCompact: Compact = async (messages, summarizer) => {
  if (countMessages(messages, countO200k) < windowTokens * compactAt) return messages
  const summary = await summarizer(transcriptOf(messages.slice(0, -lastTurn)), budgetWords)
  return [{ role: "user", content: `Summary of the conversation so far:\n${summary}` }, ...messages.slice(-lastTurn)]
}

/**
 * Prunes tool calls and their results by position with the SDK's own function; if that is still too much for the window, drops the oldest
 * messages, as its documentation of long loops does.
 */
const aiSdkCompact: Compact = async (messages) => {
  if (countMessages(messages, countO200k) < windowTokens * compactAt) return messages
  let pruned = pruneOnce(messages)
  while (pruned.length > lastTurn && countMessages(pruned, countO200k) >= windowTokens * compactAt)
    pruned = pruned.slice(
      Math.max(
        1,
        pruned.findIndex(({ role }, n) => n > 0 && role === "user"),
      ),
    )
  return pruned
}

const langchainCompact: Compact = (messages, summarizer) => langchainOnce(messages, summarizer, budgetWords)

const list =
  (holds: DriftRow["holds"], compact: Compact): DriftRow["open"] =>
  (summarizer) => {
    let history: readonly ChatMessage[] = []
    return {
      append: async (messages) => {
        history = [...history, ...messages]
      },
      show: async () => {
        const next = await compact(history, summarizer)
        const compacted = next !== history && next.length < history.length
        history = next
        return { messages: [{ role: "system", content: systemOf(holds) }, ...history], compacted }
      },
      close: async () => {},
    }
  }

/** The specification as a prompt stack. */
const specificationStack: StackDefinition = [{ layer: "task", name: "specification", source: specification }]

const holdfast =
  (holds: DriftRow["holds"]): DriftRow["open"] =>
  (summarizer) => {
    const kept = createHoldfast({
      store: "memory",
      format: "openai-chat",
      model: "gpt-4o",
      windowTokens,
      summarizer: ({ text }) => summarizer(text, budgetWords),
      maxWaitMs: 30_000,
      now: () => 0,
      ...(holds === "stack" ? { stack: specificationStack } : {}),
    })
    const session = kept.session("drift")
    return {
      append: async (messages) => {
        await session.append(messages)
      },
      show: async () => {
        const { body, trace } = await session.prepare({ system: baseSystem, maxOutputTokens: 300 })
        return { messages: messagesIn(body), compacted: trace.some(({ type }) => type === "checkpoint-installed") }
      },
      close: () => kept.close(),
    }
  }

export const driftRows: readonly DriftRow[] = [
  {
    name: "plain summarizer, spec in the conversation",
    holds: "conversation",
    open: list("conversation", plainCompact),
  },
  { name: "plain summarizer, spec in the system part", holds: "stack", open: list("stack", plainCompact) },
  { name: "LangChain, spec in the conversation", holds: "conversation", open: list("conversation", langchainCompact) },
  { name: "LangChain, spec in the system part", holds: "stack", open: list("stack", langchainCompact) },
  { name: "AI SDK, spec in the conversation", holds: "conversation", open: list("conversation", aiSdkCompact) },
  { name: "AI SDK, spec in the system part", holds: "stack", open: list("stack", aiSdkCompact) },
  { name: "Holdfast, spec in the conversation", holds: "conversation", open: holdfast("conversation") },
  { name: "Holdfast, spec in the prompt stack", holds: "stack", open: holdfast("stack") },
]
