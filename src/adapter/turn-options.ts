import type { SummarizeInput, SummaryDraft } from "../compact/summary/summary.ts"
import { checkGuardNames, type Guarding, type JudgedCall } from "../guard/judge-call.ts"
import type { Problem } from "../message/errors.ts"
import type { CallId, Format, Message, Part, StopReason, Transcript, Usage } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import type { ModelAddress } from "../model/address.ts"
import type { CallOptions } from "../model/call-model.ts"
import type { Trace } from "../session/log/event.ts"
import { type CompactOptions, checkNestedNames } from "../session/one-shot/options.ts"
import type { Report } from "../session/one-shot/report.ts"
import type { ModelSummarizer } from "../session/one-shot/summarizer.ts"
import type { StackOption } from "../session/stack/stack-options.ts"
import { isObject } from "../wire/json.ts"
import type { TurnSession } from "./turn-session.ts"

/** The model that a turn calls, and the limits of a call, which have defaults. */
export type TurnModel = ModelAddress &
  Partial<Omit<CallOptions, keyof ModelAddress>> & {
    readonly maxOutputTokens?: number
    /** Further members of the request body, in the format's own names: `{ temperature: 0 }`, `{ thinking: { … } }`. */
    readonly parameters?: Readonly<Record<string, unknown>>
  }

export type TurnAgent = {
  readonly model: TurnModel
  /** The system part of every request, verbatim. */
  readonly instructions?: string
}

/** Maximum size of a request: system, tools and messages. Characters are UTF-16 code units. */
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
  /** Maximum length of one tool result in characters. */
  readonly maxResultLength?: number
}

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

const turnNames = optionNames<TurnOptions>()(
  "agent inputs messages tools stack contextBudget compaction compactionOptions session guard stream onEvent steer signal maxIterations maxParallelTools toolTimeoutMs maxResultLength",
)
const agentNames = optionNames<TurnAgent>()("model instructions")
const modelNames = optionNames<TurnModel>()(
  "format baseUrl apiKey headers model maxOutputTokens parameters timeoutMs retries maxRetryWaitMs maxResponseBytes now random wait",
)
const compactionNames = optionNames<NonNullable<TurnOptions["compactionOptions"]>>()(
  "strategy strategyOptions schema focus language pins maxWaitMs policy toolBudgets",
)

export function checkTurnNames(options: TurnOptions): void {
  const owner = "turn"
  checkOptionNames(options, turnNames, owner)
  const { agent, compactionOptions, guard } = options
  if (isObject(agent)) checkOptionNames(agent, agentNames, owner, "agent")
  if (isObject(agent?.model)) checkOptionNames(agent.model, modelNames, owner, "agent.model")
  if (isObject(guard)) checkGuardNames(guard, owner, "guard")
  if (compactionOptions === undefined) return
  checkOptionNames(compactionOptions, compactionNames, owner, "compactionOptions")
  checkNestedNames(compactionOptions, owner, "compactionOptions.")
}

/**
 * The events of a turn, in the order in which they happen. An answer that is not streamed gives the same events, each text as one delta.
 * Model calls are numbered from 1.
 */
export type TurnEvent =
  /** `report` is set if the turn itself compacted, not a session. */
  | { readonly type: "context-compacted"; readonly call: number; readonly trace: Trace; readonly report?: Report }
  | { readonly type: "steering-taken"; readonly messages: Transcript }
  | { readonly type: "model-call-begun"; readonly call: number }
  | {
      readonly type: "model-call-retried"
      readonly call: number
      readonly attempt: number
      readonly waitMs: number
      readonly problem: Problem
    }
  | { readonly type: "reasoning-delta"; readonly text: string }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "tool-call-begun"; readonly callId: CallId; readonly tool: string }
  | { readonly type: "tool-call-complete"; readonly callId: CallId; readonly tool: string; readonly input: unknown }
  | {
      readonly type: "model-call-ended"
      readonly call: number
      readonly stop: StopReason
      readonly usage?: Usage
    }
  /** With a guard: the decision on a call before it runs, or on one that the provider has run. */
  | { readonly type: "call-judged"; readonly callId: CallId; readonly tool: string; readonly judged: JudgedCall }
  | {
      readonly type: "tool-result"
      readonly callId: CallId
      readonly tool: string
      readonly output: string
      readonly failed: boolean
    }

/** What a tool learns about the call that it runs for. */
export type ToolRun = {
  /** Aborts when the turn is stopped or the tool's time limit is reached; output after that is ignored. */
  readonly signal: AbortSignal
  readonly callId: CallId
}

/** The output of a tool: a text, or parts in the shape of the model's format. */
export type ToolOutput = string | readonly Part[]

export type TurnTool = {
  readonly name: string
  readonly description: string
  /** A JSON Schema of an object. Required members and the types of members are checked before a call runs. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** An error that it throws is shown to the model as a failed result. */
  run(input: unknown, call: ToolRun): Promise<ToolOutput> | ToolOutput
}

type Declared = Pick<TurnTool, "name" | "description" | "inputSchema">

const shapes: Readonly<Record<Format, (tool: Declared) => unknown>> = {
  "anthropic-messages": ({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }),
  "openai-chat": ({ name, description, inputSchema }) => ({
    type: "function",
    function: { name, description, parameters: inputSchema },
  }),
  // Strict mode is the API's default, and it refuses most schemas that were not written for it.
  "openai-responses": ({ name, description, inputSchema }) => ({
    type: "function",
    name,
    description,
    parameters: inputSchema,
    strict: false,
  }),
  gemini: ({ name, description, inputSchema }) => ({ name, description, parametersJsonSchema: inputSchema }),
}

/** Builds the tool list in the format's shape, after the tools that the caller declares in the format's own words. */
export function declareTools(
  { format, parameters = {} }: { readonly format: Format; readonly parameters?: Readonly<Record<string, unknown>> },
  tools: readonly Declared[],
): readonly unknown[] {
  const listed: readonly unknown[] = Array.isArray(parameters.tools) ? parameters.tools : []
  const declared = tools.map(shapes[format])
  const own = format === "gemini" && declared.length > 0 ? [{ functionDeclarations: declared }] : declared
  return [...listed, ...own]
}

/** The state of a turn at some moment. */
export type TurnSoFar = {
  /** The model's latest text; after an error, as much of its last answer as arrived. */
  readonly text: string
  /** All messages since the turn began, every call with its result: another turn can start from them. */
  readonly messages: Transcript
  /** The sum over all model calls. */
  readonly usage: Usage
  /** Number of model calls that were answered. */
  readonly iterations: number
  /** What was done to the context and why, for each call; ids are those of the request that was compacted. */
  readonly trace: Trace
  /** With a guard: hundredths spent by purchases that ran, and before the turn. Pass it to the next turn. */
  readonly spentMinor?: number
}

const known = new WeakMap<object, TurnSoFar>()

const isKey = (error: unknown): error is object => typeof error === "object" && error !== null

/** Attaches the state of the turn to the error that ended it. */
export function keepSoFar(error: unknown, soFar: TurnSoFar): void {
  if (isKey(error)) known.set(error, soFar)
}

/** The state of the turn that threw this error; undefined for any other error. */
export function turnSoFar(error: unknown): TurnSoFar | undefined {
  return isKey(error) ? known.get(error) : undefined
}

/** A user message that arrives while a turn is running. */
export type SteeringMessage = string | Message

/** The source of such messages: all that arrived since the last call, oldest first. */
export type Steer = (() => readonly SteeringMessage[]) | { readonly take: () => readonly SteeringMessage[] }

export type Steering = {
  readonly push: (said: SteeringMessage) => void
  readonly take: () => readonly SteeringMessage[]
}

/** Maximum number of messages kept for the next model call. */
const maxHeld = 1_000

/** Keeps pushed messages until the turn takes them; at most the newest thousand. */
export function createSteering(): Steering {
  let held: readonly SteeringMessage[] = []
  return {
    push: (said) => {
      held = [...held.slice(1 - maxHeld), said]
    },
    take: () => {
      const taken = held
      held = []
      return taken
    },
  }
}

export const takeSteering = (steer: Steer | undefined): readonly SteeringMessage[] =>
  steer === undefined ? [] : typeof steer === "function" ? steer() : steer.take()
