import type { CallId, Format, ModelRequest, Transcript } from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import type { StackDocument } from "./stack/place-stack.ts"
import type { Separation } from "./stack/separate.ts"
import type { StrategyEntry, StrategyName, StrategyOptions } from "./stages/strategies.ts"
import type { WrittenSummary } from "./summary/model-write.ts"
import type { SchemaName, Summary } from "./summary/summary.ts"

/** Input of a summarizer: the messages that will no longer be shown, without any infrastructure. */
export type SummaryQuestion = {
  readonly messages: Transcript
  readonly previous?: Summary
  readonly schema: SchemaName
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
}

/** Writes a summary or says why there is none. Implementations must never throw and must always end. */
export type Summarizer = {
  readonly writer: "model" | "custom"
  /** True if its lines are added to the extracted ones instead of replacing them. */
  readonly adds?: true
  readonly write: (question: SummaryQuestion) => Promise<WrittenSummary>
}

/** Size limits for everything outside the prompt stack: `targetTokens` is the goal, `hardTokens` must not be exceeded. */
export type SizeLimits = { readonly targetTokens: number; readonly hardTokens: number }

export type CompactChoices = {
  readonly strategy: StrategyName | "custom"
  readonly entry: StrategyEntry
  readonly strategyOptions: StrategyOptions
  readonly schema: SchemaName
  /** `none`: dropped messages leave only a notice and the user's goal. */
  readonly digest: "full" | "none"
  /** Rules that are placed next to the conversation. */
  readonly pins: readonly PinnedRule[]
  /** True if `pins` are all such rules: an older pins message of ours is removed even if no rule is left. */
  readonly ownPins?: boolean
  /** All rules in force, including those elsewhere: no summary line may contradict one. */
  readonly rules?: readonly string[]
  readonly focus?: string
  readonly language?: string
  readonly summarizer?: Summarizer
  readonly toolBudgets?: Readonly<Record<string, number>>
  /** The documents of the prompt stack. */
  readonly documents?: readonly StackDocument[]
  readonly handleOf?: (callId: CallId) => string | undefined
  /** Returns the recall handle for the messages that a digest replaces. */
  readonly rangeHandleOf?: (covered: Transcript) => string | undefined
  /** Calls whose results had to be looked up again after an earlier compaction: they stay whole, up to a share of the target. */
  readonly favored?: ReadonlySet<CallId>
  /** Summary of messages that are not in the request any more: it is carried over. */
  readonly earlier?: Summary
}

/** The input of a compaction. `request` is as it came in; `messages` are its messages, repaired. */
export type CompactTask = {
  readonly format: Format
  readonly request: ModelRequest
  readonly messages: Transcript
  readonly meter: Meter
  readonly limits: SizeLimits
  readonly choices: CompactChoices
  /** The result of separating these messages into infrastructure and conversation. */
  readonly separation: Separation
  /** Yields to other work between two long steps. */
  readonly pause?: () => Promise<void> | undefined
}
