import { AIMessage, type BaseMessage, HumanMessage, trimMessages } from "@langchain/core/messages"
import { type ModelMessage, pruneMessages } from "ai"
import { ClearToolUsesEdit, countTokensApproximately, fakeModel, summarizationMiddleware } from "langchain"
import { tokens } from "../src/message/message.ts"
import { truncateO200k } from "../src/tokens/counter.ts"
import { fromModelMessages, toModelMessages } from "./ai-messages.ts"
import { keepHeadAndTail, keepNewest } from "./baselines.ts"
import { type ChatMessage, type Count, countMessages } from "./chat.ts"
import { createListCounter, createRememberingCounter, fromLangchain, toLangchain } from "./langchain-messages.ts"

/** What a user could install instead, each called as its documentation says, behind one interface. */
export type Peer = {
  readonly name: string
  /** How it measures sizes: with the counter that it is given, by an estimate of its own (characters / 4), or not at all. */
  readonly counting: "exact" | "approximate" | "none"
  /** True if it has a setting that aims at a budget; otherwise its tightest documented setting runs. */
  readonly budgeted: boolean
  /** True if a simulated model is used that answers at once and repeats what it was shown: the best that any model could do. */
  readonly simulatedModel?: true
  readonly compact: (
    messages: readonly ChatMessage[],
    budgetTokens: number,
    count: Count,
  ) => Promise<readonly ChatMessage[]>
  /** The same in three steps, so that only the middle one is timed: messages in, work, messages out. */
  readonly prepare: (messages: readonly ChatMessage[]) => Work
}

export type Work = (budgetTokens: number, count: Count) => Promise<() => readonly ChatMessage[]>

export type Compacted = {
  readonly messages: readonly ChatMessage[]
  readonly tokens: number
  readonly meetsBudget: boolean
}

/** Lets a peer compact, and counts the result. */
export async function compactWith(
  peer: Peer,
  messages: readonly ChatMessage[],
  budgetTokens: number,
  count: Count,
): Promise<Compacted> {
  const compacted = await peer.compact(messages, budgetTokens, count)
  const size = countMessages(compacted, count)
  return { messages: compacted, tokens: size, meetsBudget: size <= budgetTokens }
}

type Recipe<Native> = Pick<Peer, "name" | "counting" | "budgeted" | "simulatedModel"> & {
  readonly read: (messages: readonly ChatMessage[]) => Native
  readonly work: (native: Native, budgetTokens: number, count: Count) => Native | Promise<Native>
  readonly write: (native: Native) => readonly ChatMessage[]
}

function makePeer<Native>({ read, work, write, ...named }: Recipe<Native>): Peer {
  const prepare: Peer["prepare"] = (messages) => {
    const native = read(messages)
    return async (budgetTokens, count) => {
      const done = await work(native, budgetTokens, count)
      return () => write(done)
    }
  }
  return {
    ...named,
    prepare,
    compact: async (messages, budgetTokens, count) => (await prepare(messages)(budgetTokens, count))(),
  }
}

type CountList = (messages: BaseMessage[]) => number
type LangchainWork = Recipe<BaseMessage[]>["work"]

const langchain = (
  name: string,
  counting: Peer["counting"],
  work: LangchainWork,
  more: Partial<Pick<Peer, "budgeted" | "simulatedModel">> = {},
): Peer =>
  makePeer({
    name: `langchain ${name}`,
    counting,
    budgeted: true,
    ...more,
    read: toLangchain,
    work,
    write: fromLangchain,
  })

/**
 * The options that the guide recommends for a chat history, except that it may also begin with the assistant: an agent's session has few
 * messages of a person, and with "human" alone nothing at all is left of most. Where nothing fits, `trimMessages` returns a list with one
 * undefined element.
 */
const trim = async (messages: BaseMessage[], maxTokens: number, tokenCounter: CountList): Promise<BaseMessage[]> => {
  const trimmed: readonly (BaseMessage | undefined)[] = await trimMessages(messages, {
    maxTokens,
    tokenCounter,
    strategy: "last",
    includeSystem: true,
    startOn: ["human", "ai"],
    endOn: ["human", "tool"],
  })
  return trimmed.filter((message) => message !== undefined)
}

/** Does what `contextEditingMiddleware` does to the messages of each model call; it edits the list in place. */
async function clearTools(
  messages: BaseMessage[],
  settings: ConstructorParameters<typeof ClearToolUsesEdit>[0],
  countTokens: CountList,
): Promise<BaseMessage[]> {
  const edited = [...messages]
  await new ClearToolUsesEdit(settings).apply({ messages: edited, model: fakeModel(), countTokens })
  return edited
}

/** Maximum length of a summary, and its maximum share of the budget. */
const summaryTokens = 4000
const summaryShare = 0.25
/** Tokens that the middleware puts before the answer, its framing included. */
const summaryPrefixTokens = 40

/** Returns what the model would be shown, which is at the end of the default prompt. */
const shownTo = (prompt: string): string => prompt.slice(prompt.lastIndexOf("Messages to summarize:") + 22).trim()

/** Runs the middleware's hook on a state without the system prompt, which an agent keeps apart; the newest messages fill the budget. */
async function summarize(
  messages: BaseMessage[],
  budgetTokens: number,
  tokenCounter: CountList,
): Promise<BaseMessage[]> {
  const system = messages.filter((message) => message.getType() === "system")
  const state = messages.filter((message) => message.getType() !== "system")
  const room = Math.floor(Math.min(summaryTokens, budgetTokens * summaryShare))
  const model = fakeModel().respond(
    (asked) => new AIMessage(truncateO200k(shownTo(asked.at(-1)?.text ?? ""), tokens(room))),
  )
  const keep = { tokens: Math.max(0, budgetTokens - room - summaryPrefixTokens - tokenCounter(system)) }
  const settings = { model, trigger: { tokens: budgetTokens }, keep, tokenCounter }
  // Its option type does not resolve under the installed zod; its schema still checks the values.
  const { beforeModel } = summarizationMiddleware(settings as never)
  if (typeof beforeModel !== "function") throw new Error("the summarization middleware has another shape")
  const update = await beforeModel({ messages: state } as never, { context: {} } as never)
  const left = (update?.messages ?? state).filter((message): message is BaseMessage => {
    return HumanMessage.isInstance(message) || message.getType() !== "remove"
  })
  return [...system, ...left]
}

type Prune = NonNullable<Parameters<typeof pruneMessages>[0]["toolCalls"]>

const prune = (toolCalls: Prune & string): Peer =>
  makePeer<ModelMessage[]>({
    name: `ai-sdk pruneMessages, ${toolCalls}`,
    counting: "none",
    budgeted: false,
    read: toModelMessages,
    work: (messages) => pruneMessages({ messages, reasoning: "all", toolCalls, emptyMessages: "remove" }),
    write: fromModelMessages,
  })

const baseline = (name: string, keep: typeof keepNewest): Peer =>
  makePeer<readonly ChatMessage[]>({
    name,
    counting: "exact",
    budgeted: true,
    read: (messages) => messages,
    work: keep,
    write: (messages) => messages,
  })

/** The same from text to text, as ours is called: parsing and serializing are included. */
const textToText: Peer = makePeer<string>({
  name: "keep-newest, text to text",
  counting: "exact",
  budgeted: true,
  read: (messages) => JSON.stringify({ messages }),
  work: (text, budget, count) => JSON.stringify({ messages: keepNewest(JSON.parse(text).messages, budget, count) }),
  write: (text) => JSON.parse(text).messages,
})

const approximately: CountList = (messages) => countTokensApproximately(messages)

export const peers: readonly Peer[] = [
  baseline("keep-newest", keepNewest),
  textToText,
  baseline("head-and-tail", keepHeadAndTail),
  langchain("trimMessages", "exact", (messages, budget, count) => trim(messages, budget, createListCounter(count))),
  langchain("trimMessages, counts remembered", "exact", (messages, budget, count) =>
    trim(messages, budget, createRememberingCounter(count)),
  ),
  langchain("trimMessages, approximate", "approximate", (messages, budget) => trim(messages, budget, approximately)),
  langchain(
    "context editing, keep 3",
    "exact",
    (messages, budget, count) =>
      clearTools(messages, { trigger: { tokens: budget }, keep: { messages: 3 } }, createListCounter(count)),
    { budgeted: false },
  ),
  langchain(
    "context editing, keep 3, approximate",
    "approximate",
    (messages, budget) => clearTools(messages, { trigger: { tokens: budget }, keep: { messages: 3 } }, approximately),
    { budgeted: false },
  ),
  langchain(
    "context editing, keep 0 and no inputs",
    "exact",
    (messages, budget, count) =>
      clearTools(
        messages,
        { trigger: { tokens: budget }, keep: { messages: 0 }, clearToolInputs: true },
        createListCounter(count),
      ),
    { budgeted: false },
  ),
  langchain(
    "summarization, simulated model",
    "exact",
    (messages, budget, count) => summarize(messages, budget, createListCounter(count)),
    { simulatedModel: true },
  ),
  langchain(
    "summarization, approximate, simulated model",
    "approximate",
    (messages, budget) => summarize(messages, budget, approximately),
    { simulatedModel: true },
  ),
  prune("before-last-20-messages"),
  prune("before-last-message"),
  prune("all"),
]
