import type { StrategyName } from "../../compact/stages/strategies.ts"
import { describe, HoldfastError } from "../../message/errors.ts"
import { groupTurns } from "../../message/group.ts"
import type { Format, Message, Part, Tool, Transcript } from "../../message/message.ts"
import { present, sumOf } from "../../message/present.ts"
import type { Prepared } from "../../session/history/prepared.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import type { Session } from "../../session/session.ts"
import { createMemoryStore } from "../../store/memory-store.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import type { ModelInfo } from "../../tokens/model-table.ts"
import { type CacheUse, createPromptCache, type PromptCache, promptDollars } from "../../tokens/prompt-cache.ts"
import { createTally, extendTally, type Tally, tokensBetween } from "../../tokens/tally.ts"
import type { Conversation } from "../../transcript/conversation.ts"
import { collapseSpace, saidIn, shareKept, userSentences, valuesPassed } from "./kept.ts"

type ReplayOptions = {
  readonly model: string
  /** The model's own window by default. */
  readonly windowTokens?: number
  readonly strategy?: StrategyName
  readonly onTurn?: () => void | Promise<void>
}

/** The compared ways to send a history: whole, truncated at its beginning, and through a session. */
export const arms = ["none", "truncate", "holdfast"] as const
export type Arm = (typeof arms)[number]

export const byArm = <Value>(of: (arm: Arm) => Value): Record<Arm, Value> => ({
  none: of("none"),
  truncate: of("truncate"),
  holdfast: of("holdfast"),
})

/** One model call in one arm. Costs are estimates: by the model table's prices and a simulated prompt cache. */
type ArmTurn = CacheUse & {
  readonly contextTokens: number
  readonly dollars: number
  /** The provider would have refused it, because it exceeds the window. */
  readonly refused?: true
}

export type ReplayTurn = {
  /** Counted from 1. */
  readonly turn: number
  /** Number of messages of the conversation before it. */
  readonly messages: number
  readonly arms: Readonly<Record<Arm, ArmTurn>>
}

/** A message that a compaction removed from the context. */
type DroppedMessage = { readonly message: number; readonly role: string; readonly words: string }

export type ReplayCompaction = {
  readonly turn: number
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  /** Messages that are no longer shown, oldest first; the digest replaces them. */
  readonly dropped: readonly DroppedMessage[]
  /** Number of shortened tool results, by reason. */
  readonly shortened: Readonly<Record<string, number>>
  /** The message that replaces what was left out, as the model reads it. */
  readonly digest?: string
}

/** How much of the conversation the last context of an arm contains. */
type KeptFigures = {
  /** Share of the user's own sentences, by their length; missing if there are none. */
  readonly words?: number
  readonly rules: number
  /** Number of the exact values from before the compaction in force that later calls needed. */
  readonly values: number
}

type ArmTotals = CacheUse & {
  readonly dollars: number
  readonly refusedTurns: number
  readonly firstRefused?: number
  readonly mostTokens: number
  readonly kept: KeptFigures
}

export type Replay = {
  readonly model: string
  readonly modelKnown: boolean
  /** The source and date of prices and window. */
  readonly pricesFrom: string
  readonly windowTokens: number
  readonly turns: readonly ReplayTurn[]
  readonly compactions: readonly ReplayCompaction[]
  readonly rules: readonly { readonly text: string; readonly channel: string; readonly state: string }[]
  /** Number of values from before the compaction in force that later calls needed. */
  readonly neededValues: number
  /** Tokens and cost of the responses, which are the same in every arm. */
  readonly answerTokens: number
  readonly answerDollars: number
  readonly totals: Readonly<Record<Arm, ArmTotals>>
  /** Why the session refused a call for the first time, in a sentence. */
  readonly refusal?: string
}

/** A model call of the conversation: the new messages before it, and the response. */
type Call = { readonly from: number; readonly at: number; readonly answerEnd: number }

/** The model calls of a conversation: before each response, and after the last message if that is not one. */
export function callsOf(messages: Transcript): readonly Call[] {
  const calls: Call[] = []
  let from = 0
  for (let n = 0; n <= messages.length; n++) {
    const isAnswer = messages[n]?.role === "assistant"
    const isCall = n > from && (isAnswer || n === messages.length)
    if (!isCall) continue
    let answerEnd = n
    while (messages[answerEnd]?.role === "assistant") answerEnd++
    calls.push({ from, at: n, answerEnd })
    from = answerEnd
    n = Math.max(n, answerEnd - 1)
  }
  return calls
}

/** One request, split as it is cached, with its size. */
type Prompt = {
  readonly stack: string
  readonly messages: Transcript
  readonly contextTokens: number
}

/** The inputs and the state of a replay. */
type Run = {
  readonly conversation: Conversation
  readonly model: ModelInfo
  readonly windowTokens: number
  readonly meter: Meter
  readonly session: Session
  readonly caches: Readonly<Record<Arm, PromptCache>>
  readonly contents: WeakMap<Message, string>
  readonly truncation: Truncation
  readonly turns: ReplayTurn[]
  readonly compactions: ReplayCompaction[]
  /** The index in the conversation of each log entry. */
  readonly places: Map<string, number>
  readonly needed: { count: number; readonly kept: Record<Arm, number>; readonly seen: Set<string>; cut: number }
  tally: Tally
  refusal?: string
}

/** Replays a conversation turn by turn through a session in memory, and compares it with the whole and the truncated history. */
export async function replayConversation(
  conversation: Conversation,
  model: ModelInfo,
  options: ReplayOptions,
): Promise<Replay> {
  const windowTokens = options.windowTokens ?? model.windowTokens
  const { format, messages } = conversation
  const holdfast = createHoldfast({
    store: createMemoryStore(),
    ...{ format, model: options.model, windowTokens, speculations: 0, memory: { flush: false } },
    ...present({ strategy: options.strategy }),
  })
  const meter = createMeter({ model })
  const run: Run = {
    ...{ conversation, model, windowTokens, meter, contents: new WeakMap() },
    session: holdfast.session("replay"),
    caches: byArm(() => createPromptCache({ leastTokens: model.caching.leastTokens })),
    truncation: createTruncation(messages),
    ...{ turns: [], compactions: [], places: new Map() },
    needed: { count: 0, kept: byArm(() => 0), seen: new Set(), cut: 0 },
    tally: createTally(meter),
  }
  try {
    let contexts: Contexts = byArm(() => messages)
    for (const call of callsOf(messages)) {
      contexts = await takeTurn(run, call)
      await options.onTurn?.()
    }
    return await summary(run, contexts)
  } finally {
    await holdfast.close()
  }
}

type Contexts = Record<Arm, Transcript>

/** Replays one call: the session stores the history before it, each arm makes its request, and the response is recorded. */
async function takeTurn(run: Run, call: Call): Promise<Contexts> {
  const { conversation, session, meter } = run
  const { messages } = conversation
  const { from, at, answerEnd } = call
  const { entries } = await session.append(messages.slice(from, at))
  for (const [n, entry] of entries.entries()) run.places.set(entry, from + n)
  run.tally = extendTally(run.tally, messages.slice(run.tally.length, at))
  const prepared = await prepare(run)
  const stack = stackOf(conversation)
  const overhead = meter.overhead(conversation)
  const shown = run.truncation.shown(run.tally, overhead, roomOf(run, prepared))
  const contexts: Contexts = {
    none: messages.slice(0, at),
    truncate: shown.messages,
    holdfast: prepared?.context.messages ?? messages.slice(0, at),
  }
  const prompts: Record<Arm, Prompt> = {
    none: { stack, messages: contexts.none, contextTokens: overhead + run.tally.total },
    truncate: { stack, messages: contexts.truncate, contextTokens: overhead + shown.tokens },
    holdfast: {
      stack: prepared === undefined ? stack : stackOf(prepared.context),
      messages: contexts.holdfast,
      contextTokens: prepared?.receipt.contextTokens ?? overhead + run.tally.total,
    },
  }
  const turn = run.turns.length + 1
  run.turns.push({
    turn,
    messages: at,
    arms: byArm((arm) => armTurn(run, arm, prompts[arm], arm === "holdfast" && prepared === undefined)),
  })
  if (prepared !== undefined) noteCompaction(run, prepared, turn, at)
  noteValues(run, call, contexts)
  await record(run, messages.slice(at, answerEnd), at, prepared !== undefined)
  return contexts
}

async function record({ session, places }: Run, answer: Transcript, at: number, isOpen: boolean): Promise<void> {
  if (answer.length === 0) return
  const { entries } = isOpen ? await session.record({ messages: answer }) : await session.append(answer)
  for (const [n, entry] of entries.entries()) places.set(entry, at + n)
}

/** The session's own request; undefined if it refuses the call, because required content does not fit. */
async function prepare(run: Run): Promise<Prepared | undefined> {
  const { session, conversation } = run
  try {
    return await session.prepare({ system: conversation.system, tools: conversation.tools })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    run.refusal ??= describe(error.problem).sentence
    return undefined
  }
}

/** The size above which a truncated history is cut, and the size that it is cut to. */
type Room = { readonly atTokens: number; readonly toTokens: number }

/** Cuts the history at its beginning once it is too long, like an agent without a context layer. */
type Truncation = {
  readonly shown: (
    tally: Tally,
    overheadTokens: number,
    room: Room,
  ) => { readonly messages: Transcript; readonly tokens: number }
}

/** Leading system messages stay, and no tool call is separated from its results. Messages that were cut do not come back. */
function createTruncation(messages: Transcript): Truncation {
  const starts = groupTurns(messages).map(({ start }) => start)
  const firstTurn = messages.findIndex(({ role }) => role !== "system")
  const lead = firstTurn < 0 ? messages.length : firstTurn
  let from = lead
  return {
    shown: (tally, overheadTokens, { atTokens, toTokens }) => {
      const leadTokens = tokensBetween(tally, 0, lead)
      const tokensFrom = (at: number): number => leadTokens + tokensBetween(tally, at, tally.length)
      if (overheadTokens + tokensFrom(from) > atTokens) {
        const later = starts.filter((start) => start > from && start < tally.length)
        from = later.find((start) => overheadTokens + tokensFrom(start) <= toTokens) ?? later.at(-1) ?? from
      }
      return { messages: [...messages.slice(0, lead), ...messages.slice(from, tally.length)], tokens: tokensFrom(from) }
    },
  }
}

/**
 * Truncation cuts in the turn in which the session compacts, to the same size, so that both have the same room and the same number of cache
 * resets. If the session does not compact, it cuts only what exceeds the window.
 */
const roomOf = ({ windowTokens }: Run, prepared: Prepared | undefined): Room => {
  const isCompacted = prepared?.trace.some(({ type }) => type === "checkpoint-installed") ?? false
  if (!isCompacted || prepared === undefined) return { atTokens: windowTokens, toTokens: Math.floor(windowTokens / 2) }
  const { contextTokens } = prepared.receipt
  return { atTokens: contextTokens, toTokens: contextTokens }
}

const stackOf = ({ system, tools }: { readonly system: readonly Part[]; readonly tools: readonly Tool[] }): string =>
  system.map((part) => JSON.stringify(part)).join() + tools.map(({ wire }) => wire).join()

function armTurn(run: Run, arm: Arm, prompt: Prompt, isRefused: boolean): ArmTurn {
  const { contextTokens } = prompt
  const use = run.caches[arm].read(cacheFormat(run.model), run.model.id, piecesOf(run, prompt))
  const refused = isRefused || contextTokens > run.windowTokens
  return { contextTokens, ...use, dollars: promptDollars(run.model, use), ...(refused ? { refused } : {}) }
}

/** The format whose caching matches the model's provider, whatever format the file has. */
const cacheFormat = ({ caching }: ModelInfo): Format => (caching.breakpoints > 0 ? "anthropic-messages" : "openai-chat")

/** System and tools as one piece, then each message. Breakpoints as coding agents set them: after the stack, and at the end. */
function piecesOf({ meter, contents }: Run, { stack, messages, contextTokens }: Prompt) {
  const said = messages.map((message, n) => ({
    content: contentOf(message, contents),
    tokens: meter.message(message),
    isBreakpoint: n === messages.length - 1,
  }))
  const rest = said.reduce((left: number, { tokens }) => left - tokens, contextTokens)
  return [{ content: stack, tokens: Math.max(0, rest), isBreakpoint: true }, ...said]
}

function contentOf(message: Message, contents: WeakMap<Message, string>): string {
  const known = contents.get(message)
  if (known !== undefined) return known
  const content = `${message.role}\n${saidIn(message)}`
  contents.set(message, content)
  return content
}

/** Limit on the characters shown of a message that was left out. */
const wordsLength = 120

function noteCompaction(run: Run, { trace, receipt }: Prepared, turn: number, at: number): void {
  const installed = trace.findLast((event) => event.type === "remedy-installed")
  if (installed === undefined || !trace.some(({ type }) => type === "checkpoint-installed")) return
  const { messages } = run.conversation
  const shortened: Record<string, number> = {}
  const dropped: DroppedMessage[] = []
  let digest: string | undefined
  for (const event of trace) {
    if (event.type === "result-shortened") shortened[event.reason] = (shortened[event.reason] ?? 0) + 1
    if (event.type === "message-installed" && event.role === "digest") digest = saidIn(event.message)
    if (event.type !== "messages-dropped") continue
    for (const id of event.messageIds) {
      const place = run.places.get(id)
      const message = place === undefined ? undefined : messages[place]
      if (place === undefined || message === undefined) continue
      dropped.push({
        message: place + 1,
        role: message.role,
        words: collapseSpace(saidIn(message)).slice(0, wordsLength),
      })
    }
  }
  const { remedy, beforeTokens } = installed
  const { contextTokens: afterTokens } = receipt
  run.compactions.push({ turn, remedy, beforeTokens, afterTokens, dropped, shortened, ...present({ digest }) })
  run.needed.cut = at
  run.needed.seen.clear()
}

/** Counts the values that the response's calls need and that occur only before the compaction in force, and the arms that have them. */
function noteValues({ conversation: { messages }, needed, contents }: Run, call: Call, contexts: Contexts): void {
  if (needed.cut === 0) return
  const asked = new Set(messages.slice(call.at, call.answerEnd).flatMap((answer) => [...valuesPassed(answer).keys()]))
  const isIn = (value: string, part: Transcript): boolean =>
    part.some((message) => message.role !== "system" && contentOf(message, contents).includes(value))
  for (const value of asked) {
    if (needed.seen.has(value)) continue
    needed.seen.add(value)
    if (isIn(value, messages.slice(needed.cut, call.at)) || !isIn(value, messages.slice(0, needed.cut))) continue
    needed.count++
    for (const arm of arms) if (isIn(value, contexts[arm])) needed.kept[arm]++
  }
}

const noUse: CacheUse = { readTokens: 0, writtenTokens: 0, uncachedTokens: 0 }

async function summary(run: Run, contexts: Contexts): Promise<Replay> {
  const { conversation, model, windowTokens, meter, turns, compactions, session, needed, refusal } = run
  const pins = turns.length === 0 ? [] : await session.pins()
  const rules = pins.map(({ text, channel, state }) => ({ text, channel, state }))
  const answers = conversation.messages.filter(({ role }) => role === "assistant")
  const answerTokens = sumOf(answers, (message) => meter.message(message))
  const notTyped = new Set(conversation.notes.map(({ message }) => message))
  const sentences = userSentences(conversation.messages, ({ id }) => !notTyped.has(id))
  const stack = conversation.system.map(textOfPart).join("\n")
  const totalsOf = (arm: Arm): ArmTotals => {
    const text = collapseSpace([stack, ...contexts[arm].map(saidIn)].join("\n"))
    const standing = rules.filter(({ text: rule }) => text.includes(collapseSpace(rule))).length
    const kept: KeptFigures = {
      rules: standing,
      values: needed.kept[arm],
      ...present({ words: shareKept(sentences, text) }),
    }
    return { ...armSums(turns.map((turn) => turn.arms[arm])), kept }
  }
  return {
    model: model.id,
    modelKnown: model.known,
    pricesFrom: model.source,
    ...{ windowTokens, turns, compactions, rules, neededValues: needed.count, answerTokens },
    answerDollars: (answerTokens * model.prices.output) / 1_000_000,
    totals: byArm(totalsOf),
    ...present({ refusal }),
  }
}

const textOfPart = (part: Part): string => (part.type === "text" ? part.text : "")

function armSums(turns: readonly ArmTurn[]): Omit<ArmTotals, "kept"> {
  const first = turns.findIndex(({ refused }) => refused === true)
  const sums = turns.reduce(
    (sum, { readTokens, writtenTokens, uncachedTokens, dollars }) => ({
      readTokens: sum.readTokens + readTokens,
      writtenTokens: sum.writtenTokens + writtenTokens,
      uncachedTokens: sum.uncachedTokens + uncachedTokens,
      dollars: sum.dollars + dollars,
    }),
    { ...noUse, dollars: 0 },
  )
  return {
    ...sums,
    refusedTurns: turns.filter(({ refused }) => refused === true).length,
    mostTokens: turns.reduce((most, { contextTokens }) => Math.max(most, contextTokens), 0),
    ...(first < 0 ? {} : { firstRefused: first + 1 }),
  }
}

/** The model to replay with if a file names none: one that agents of its format use. */
export const usualModels: Readonly<Record<Format, string>> = {
  "anthropic-messages": "claude-sonnet-4-5",
  "openai-chat": "gpt-5.4",
  "openai-responses": "gpt-5.4",
  gemini: "gemini-2.5-pro",
}
