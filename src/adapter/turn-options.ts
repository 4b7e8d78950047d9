import type { SummarizeInput, SummaryDraft } from "../compact/summary/summary.ts"
import { checkGuardNames, type Guarding } from "../guard/judge-call.ts"
import type { Transcript } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import type { Whereabouts } from "../model/address.ts"
import type { CallOptions } from "../model/call-model.ts"
import { type CompactOptions, checkNestedNames } from "../session/one-shot/options.ts"
import type { ModelSummarizer } from "../session/one-shot/summarizer.ts"
import type { StackOption } from "../session/stack/stack-options.ts"
import { isObject } from "../wire/json.ts"
import type { Steer } from "./steering.ts"
import type { TurnEvent } from "./turn-event.ts"
import type { TurnSession } from "./turn-session.ts"
import type { TurnTool } from "./turn-tool.ts"

/** The model that a turn calls, and the limits of a call, which have defaults. */
export type TurnModel = Whereabouts &
  Partial<Omit<CallOptions, keyof Whereabouts>> & {
    readonly maxOutputTokens?: number
    /** Further members of the request body, in the format's own names: `{ temperature: 0 }`, `{ thinking: { … } }`. */
    readonly parameters?: Readonly<Record<string, unknown>>
  }

export type TurnAgent = {
  readonly model: TurnModel
  /** The system part of every request, verbatim. */
  readonly instructions?: string
}

/** The largest size of a whole request: system, tools and messages. Characters are UTF-16 code units. */
export type ContextBudget = number | { readonly tokens: number } | { readonly characters: number }

/** A summarizer of your own: it gets the messages that are left out, and the same as text with everything else it may need. */
export type SummarizeDropped = (
  dropped: Transcript,
  input: SummarizeInput,
) => Promise<string | SummaryDraft> | string | SummaryDraft

/** Who writes the summary of the messages that are left out: the built-in writer, nobody, a function, a model, or a `.prompty` file. */
export type TurnCompaction =
  | "extractive"
  | "none"
  | SummarizeDropped
  | ModelSummarizer
  /** The text of a `.prompty` file; it is sent to the turn's own model unless another one is named. */
  | { readonly prompty: string; readonly model?: Omit<ModelSummarizer, "prompty"> }

export type TurnOptions = {
  readonly agent: TurnAgent
  /** The user's words as a text, or as messages. */
  readonly inputs: string | Transcript
  /** The conversation before this turn; a turn remembers nothing of earlier ones. */
  readonly messages?: Transcript
  readonly tools?: readonly TurnTool[]
  /** The prompt stack. It is read once and follows the instructions in every call of the turn, byte for byte the same. */
  readonly stack?: StackOption
  /** By default the model's window less room for the answer. */
  readonly contextBudget?: ContextBudget
  readonly compaction?: TurnCompaction
  readonly compactionOptions?: Pick<
    CompactOptions,
    "strategy" | "strategyOptions" | "schema" | "focus" | "language" | "pins" | "maxWaitMs" | "policy" | "toolBudgets"
  >
  /** A session that keeps the history and the budget instead of the turn. */
  readonly session?: TurnSession
  /**
   * Judges each call before its tool runs. A denied call is not run, and the model is told why. A session's own guard judges as well, and a
   * call must pass both.
   */
  readonly guard?: Guarding
  /** Whether answers are streamed; by default they are if `onEvent` is set. */
  readonly stream?: boolean
  readonly onEvent?: (event: TurnEvent) => void
  /** Messages that arrive during the turn: they are placed before the next model call, never between a call and its result. */
  readonly steer?: Steer
  /** Stops the model call and the running tools. */
  readonly signal?: AbortSignal
  readonly maxIterations?: number
  readonly maxParallelTools?: number
  readonly toolTimeoutMs?: number
  /** The longest text of one tool result, in characters. */
  readonly maxResultLength?: number
}

/** The default limits of a turn. */
export const usualTurnLimits = {
  /** Long tasks take some dozens of calls; a turn that takes more usually repeats itself, and each call costs. */
  maxIterations: 50,
  /** More parallel calls gain little, and a model may ask for a hundred. */
  maxParallelTools: 8,
  /** A build or a test run may take minutes; a tool that takes longer is considered hung. */
  toolTimeoutMs: 600_000,
  /** About 25,000 tokens: models seldom read more of one result. */
  maxResultLength: 100_000,
  /** The same time limit as the vendors' own clients. */
  timeoutMs: 600_000,
  /** Many times the longest answer of any model. */
  maxResponseBytes: 64_000_000,
  /** Used where an API requires an output limit and none is given: some pages of text. */
  maxOutputTokens: 8_192,
} as const

const turnNames = optionNames<TurnOptions>({
  agent: true,
  inputs: true,
  messages: true,
  tools: true,
  stack: true,
  contextBudget: true,
  compaction: true,
  compactionOptions: true,
  session: true,
  guard: true,
  stream: true,
  onEvent: true,
  steer: true,
  signal: true,
  maxIterations: true,
  maxParallelTools: true,
  toolTimeoutMs: true,
  maxResultLength: true,
})
const agentNames = optionNames<TurnAgent>({ model: true, instructions: true })
const modelNames = optionNames<TurnModel>({
  format: true,
  baseUrl: true,
  apiKey: true,
  headers: true,
  model: true,
  maxOutputTokens: true,
  parameters: true,
  timeoutMs: true,
  retries: true,
  maxRetryWaitMs: true,
  maxResponseBytes: true,
  now: true,
  random: true,
  wait: true,
})
const compactionNames = optionNames<NonNullable<TurnOptions["compactionOptions"]>>({
  strategy: true,
  strategyOptions: true,
  schema: true,
  focus: true,
  language: true,
  pins: true,
  maxWaitMs: true,
  policy: true,
  toolBudgets: true,
})

/** Refuses option names that do not exist. */
export function checkTurnNames(options: TurnOptions): void {
  const owner = "turn"
  checkOptionNames(options, turnNames, owner)
  const { agent, compactionOptions, guard } = options
  if (isObject(agent)) checkOptionNames(agent, agentNames, owner, "agent")
  if (isObject(agent?.model)) checkOptionNames(agent.model, modelNames, owner, "agent.model")
  if (isObject(guard)) checkGuardNames(guard, owner)
  if (compactionOptions === undefined) return
  checkOptionNames(compactionOptions, compactionNames, owner, "compactionOptions")
  checkNestedNames(compactionOptions, owner, "compactionOptions.")
}
