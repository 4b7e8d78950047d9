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

/** The model that a turn speaks with, and the limits on a call to it, which have defaults. */
export type TurnModel = Whereabouts &
  Partial<Omit<CallOptions, keyof Whereabouts>> & {
    readonly maxOutputTokens?: number
    /** Whatever else the body is to say, in the format's own words: `{ temperature: 0 }`, `{ thinking: { … } }`. */
    readonly parameters?: Readonly<Record<string, unknown>>
  }

export type TurnAgent = {
  readonly model: TurnModel
  /** The system part of every request, verbatim. */
  readonly instructions?: string
}

/** How large a whole request may be: system, tools and messages. Characters are UTF-16 code units. */
export type ContextBudget = number | { readonly tokens: number } | { readonly characters: number }

/** A summarizer of the user's own: of the messages that are left out, and of the same as text with everything else it may need. */
export type SummarizeDropped = (
  dropped: Transcript,
  input: SummarizeInput,
) => Promise<string | SummaryDraft> | string | SummaryDraft

/** Who writes the summary of what is left out: nobody but the built-in writer, no one at all, a function, a model, a `.prompty` file. */
export type TurnCompaction =
  | "extractive"
  | "none"
  | SummarizeDropped
  | ModelSummarizer
  /** The text of the file; asked of the turn's own model unless another is named. */
  | { readonly prompty: string; readonly model?: Omit<ModelSummarizer, "prompty"> }

export type TurnOptions = {
  readonly agent: TurnAgent
  /** The user's words, or messages. */
  readonly inputs: string | Transcript
  /** What was said before; a turn remembers nothing of another. */
  readonly messages?: Transcript
  readonly tools?: readonly TurnTool[]
  /** The prompt stack, read once: it stands behind the instructions in every call of the turn, byte for byte the same. */
  readonly stack?: StackOption
  /** The model's own window, less room for the answer, unless given. */
  readonly contextBudget?: ContextBudget
  readonly compaction?: TurnCompaction
  readonly compactionOptions?: Pick<
    CompactOptions,
    "strategy" | "strategyOptions" | "schema" | "focus" | "language" | "pins" | "maxWaitMs" | "policy" | "toolBudgets"
  >
  /** Remembers, and sees to the budget, in place of the turn. */
  readonly session?: TurnSession
  /**
   * Judges each call before its tool runs; a call that is refused is not run, and the model is told why. A session's own guard judges
   * with or without it, and a call has to pass both.
   */
  readonly guard?: Guarding
  /** Whether answers are streamed; they are if someone listens. */
  readonly stream?: boolean
  readonly onEvent?: (event: TurnEvent) => void
  /** Words put in while the turn is under way: they stand before the next model call, never between a call and its result. */
  readonly steer?: Steer
  /** Stops the model call and the tools. */
  readonly signal?: AbortSignal
  readonly maxIterations?: number
  readonly maxParallelTools?: number
  readonly toolTimeoutMs?: number
  /** The longest text of one tool result, in characters. */
  readonly maxResultLength?: number
}

/** The limits of a turn where nobody sets them. */
export const usualTurnLimits = {
  /** Long tasks take some dozens of calls; one that takes more is more often going round in circles, and each round costs. */
  maxIterations: 50,
  /** More at once gains little, and a model may ask for a hundred. */
  maxParallelTools: 8,
  /** A build or a test run may take minutes; a tool that takes longer hangs. */
  toolTimeoutMs: 600_000,
  /** About 25,000 tokens: more than that of one result is seldom read. */
  maxResultLength: 100_000,
  /** As long as the vendors' own clients wait. */
  timeoutMs: 600_000,
  /** Many times the longest answer that any model gives. */
  maxResponseBytes: 64_000_000,
  /** Where an API wants a limit on the answer and nobody gave one: some pages. */
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

/** Refuse names that are none of ours. */
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
