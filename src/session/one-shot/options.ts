import type { Occasion } from "../../compact/plan/plan.ts"
import type { CompactionPolicy } from "../../compact/plan/policy.ts"
import type { Stack } from "../../compact/stack/stack.ts"
import {
  defaultStrategyOptions,
  type Strategy,
  type StrategyName,
  type StrategyOptions,
  strategies,
} from "../../compact/stages/strategies.ts"
import type { SchemaName } from "../../compact/summary/summary.ts"
import { refuseValue } from "../../message/errors.ts"
import { type CallId, type Format, formats } from "../../message/message.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import type { Meter } from "../../tokens/meter.ts"
import { checkStackOption, type StackOption } from "../stack/stack-options.ts"
import {
  isSessionSummarizer,
  type ModelSummarizer,
  type SessionSummarizer,
  type SummarizerOption,
} from "./summarizer.ts"

/** How to compact one request. Only `format` is required. */
export type CompactOptions = {
  readonly format: Format
  /** The model whose tokens are counted and whose window is used; by default the body's own model. */
  readonly model?: string
  /** Counts in place of the model's meter; all sizes are then in its unit. */
  readonly meter?: Meter
  /** The window, in place of the model's own. */
  readonly windowTokens?: number
  /** Limit on everything outside the prompt stack; the window is then ignored. */
  readonly budgetTokens?: number
  /** Tokens reserved for the response; by default what the request allows. */
  readonly reserveTokens?: number | undefined
  /** What stays verbatim: a strategy by name, or a function that chooses groups. */
  readonly strategy?: StrategyName | Strategy
  readonly strategyOptions?: Partial<StrategyOptions>
  /** What writes the summary: `extractive` (built in, no model), `none`, a function, or a model. */
  readonly summarizer?: SummarizerOption
  readonly schema?: SchemaName
  /** A topic to focus on; text about it is ranked higher. */
  readonly focus?: string
  /** The language of a model's summary; by default the conversation's. */
  readonly language?: string
  /** The prompt stack, which is added after the request's own system part. A stack that is already there is not added twice. */
  readonly stack?: StackOption | Stack
  /** Rules that the result must contain verbatim. */
  readonly pins?: readonly string[]
  /** How long a summarizer may take. */
  readonly maxWaitMs?: number
  /** Aborts the wait for a summarizer. */
  readonly signal?: AbortSignal
  readonly policy?: Partial<CompactionPolicy>
  /** Why to compact besides size: on request, because a phase ended, or because the provider refused the request. Only with a window. */
  readonly occasion?: Occasion | undefined
  /** Return memory entries even if nothing is compacted. */
  readonly flush?: boolean
  /** Token limits for a tool's older results, by tool name or kind. */
  readonly toolBudgets?: Readonly<Record<string, number>>
  /** A recall handle for a result. Only for callers that have stored the result. */
  readonly handleOf?: (callId: CallId) => string | undefined
}

const compactNames = optionNames<CompactOptions>()(
  "format model meter windowTokens budgetTokens reserveTokens strategy strategyOptions summarizer schema focus language stack pins maxWaitMs signal policy occasion flush toolBudgets handleOf",
)

const summarizerNames = optionNames<ModelSummarizer>()(
  "format baseUrl apiKey headers model maxOutputTokens inputTokens prompty",
)

const sessionNames = optionNames<SessionSummarizer>()("use model budgetTokens send")

const policyNames = optionNames<CompactionPolicy>()(
  "flushAt speculateAt compactAt lowWater compactAtTokens toolOutputTokens toolRounds pinShare expectedCalls",
)

type Nested = Pick<CompactOptions, "policy" | "strategyOptions" | "summarizer">

export function checkCompactNames(options: CompactOptions): void {
  checkOptionNames(options, compactNames, "compactRequest")
  checkNestedNames(options, "compactRequest")
}

/** Refuses unknown names inside nested options, which other functions share. */
export function checkNestedNames({ policy, strategyOptions, summarizer }: Nested, owner: string, within = ""): void {
  if (policy !== undefined) checkOptionNames(policy, policyNames, owner, `${within}policy`)
  if (strategyOptions !== undefined) {
    const { weights } = strategyOptions
    const place = `${within}strategyOptions`
    checkOptionNames(strategyOptions, Object.keys(defaultStrategyOptions), owner, place)
    if (weights !== undefined)
      checkOptionNames(weights, Object.keys(defaultStrategyOptions.weights), owner, `${place}.weights`)
  }
  if (typeof summarizer === "object" && summarizer !== null)
    checkOptionNames(
      summarizer,
      isSessionSummarizer(summarizer) ? sessionNames : summarizerNames,
      owner,
      `${within}summarizer`,
    )
}

const schemaNames: readonly string[] = ["handoff", "snapshot"]

/** Refuses invalid options, before anything is read. */
export function checkOptions(options: CompactOptions): void {
  const { format, strategy, schema, pins, focus, language, maxWaitMs } = options
  if (!formats.includes(format)) refuseValue("format", `one of ${formats.join(", ")}`, format)
  for (const name of ["budgetTokens", "windowTokens"] as const) checkTokens(name, options[name], 1)
  checkTokens("reserveTokens", options.reserveTokens, 0)
  if (strategy !== undefined && typeof strategy !== "function" && !Object.hasOwn(strategies, strategy))
    refuseValue("strategy", `a function or one of ${Object.keys(strategies).join(", ")}`, strategy)
  if (schema !== undefined && !schemaNames.includes(schema)) refuseValue("schema", "handoff or snapshot", schema)
  if (pins !== undefined && !(Array.isArray(pins) && pins.every((pin) => typeof pin === "string" && pin !== "")))
    refuseValue("pins", "a list of rules as text, none empty", pins)
  if (options.stack !== undefined && !("layers" in options.stack)) checkStackOption(options.stack, "compactRequest")
  if (focus !== undefined && typeof focus !== "string") refuseValue("focus", "text", focus)
  if (language !== undefined && typeof language !== "string") refuseValue("language", "text", language)
  if (maxWaitMs !== undefined && !(Number.isFinite(maxWaitMs) && maxWaitMs >= 0))
    refuseValue("maxWaitMs", "milliseconds", maxWaitMs)
  checkSummarizer(options.summarizer)
  checkNumbers("policy", options.policy)
  checkNumbers("toolBudgets", options.toolBudgets)
  const { weights, ...others } = options.strategyOptions ?? {}
  checkNumbers("strategyOptions", others)
  checkNumbers("strategyOptions.weights", weights)
}

function checkSummarizer(summarizer: SummarizerOption | undefined): void {
  if (summarizer === undefined || summarizer === "extractive" || summarizer === "none") return
  if (typeof summarizer !== "function" && (typeof summarizer !== "object" || summarizer === null))
    refuseValue("summarizer", "extractive, none, a function or a model", summarizer)
  if (!isSessionSummarizer(summarizer)) return
  if (summarizer.use !== "session") refuseValue("summarizer.use", "session", summarizer.use)
  checkTokens("summarizer.budgetTokens", summarizer.budgetTokens, 0)
  if (summarizer.send !== undefined && typeof summarizer.send !== "function")
    refuseValue("summarizer.send", "a function", summarizer.send)
}

/** Refuses values that are not numbers of at least 0: they would disable the comparison they are used in. */
function checkNumbers(option: string, values: object | undefined): void {
  for (const [name, value] of Object.entries(values ?? {}))
    if (value !== undefined && !(typeof value === "number" && value >= 0))
      refuseValue(`${option}.${name}`, "a number, at least 0", value)
}

function checkTokens(option: string, value: number | undefined, least: number): void {
  if (value === undefined) return
  if (!Number.isSafeInteger(value) || value < least)
    refuseValue(option, `a whole number of tokens, at least ${least}`, value)
}
