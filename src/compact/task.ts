import type { CallId, Format, ModelRequest, Transcript } from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import type { StackDocument } from "./stack/place-stack.ts"
import type { Separation } from "./stack/separate.ts"
import type { StrategyEntry, StrategyName, StrategyOptions } from "./stages/strategies.ts"
import type { WrittenSummary } from "./summary/model-write.ts"
import type { SchemaName, Summary } from "./summary/summary.ts"

/** What a summarizer is asked: the messages that will no longer be shown, without any infrastructure. */
export type SummaryQuestion = {
  readonly messages: Transcript
  readonly previous?: Summary
  readonly schema: SchemaName
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
}

/** Writes a summary, or says why there is none. It never throws and always ends: whoever makes one sees to that. */
export type Summarizer = {
  readonly writer: "model" | "custom"
  /** Its lines stand beside what was extracted, not in its place. */
  readonly adds?: true
  readonly write: (question: SummaryQuestion) => Promise<WrittenSummary>
}

/** How large what is not the prompt stack may become: `targetTokens` is aimed at, `hardTokens` never exceeded. */
export type SizeLimits = { readonly targetTokens: number; readonly hardTokens: number }

export type CompactChoices = {
  readonly strategy: StrategyName | "custom"
  readonly entry: StrategyEntry
  readonly strategyOptions: StrategyOptions
  readonly schema: SchemaName
  /** `none`: what goes leaves only a notice and the goal behind. */
  readonly digest: "full" | "none"
  /** Rules that stand beside the conversation. */
  readonly pins: readonly PinnedRule[]
  /** Those are all of them: a message of ours that says others is void. */
  readonly ownPins?: boolean
  /** All rules that stand, those elsewhere included: no summary may speak against one. */
  readonly rules?: readonly string[]
  readonly focus?: string
  readonly language?: string
  readonly summarizer?: Summarizer
  readonly toolBudgets?: Readonly<Record<string, number>>
  /** The documents of the prompt stack. */
  readonly documents?: readonly StackDocument[]
  readonly handleOf?: (callId: CallId) => string | undefined
  /** The recall handle of the messages that a digest stands for. */
  readonly rangeHandleOf?: (covered: Transcript) => string | undefined
  /** Calls whose results had to be looked up again after an earlier compaction: they are kept whole within their share. */
  readonly favored?: ReadonlySet<CallId>
  /** What is known of messages that are no longer there to be read: it is carried on. */
  readonly earlier?: Summary
}

/** Everything a compaction works on. `request` is as it came in; `messages` are its messages, repaired. */
export type CompactTask = {
  readonly format: Format
  readonly request: ModelRequest
  readonly messages: Transcript
  readonly meter: Meter
  readonly limits: SizeLimits
  readonly choices: CompactChoices
  /** What these messages were separated into. */
  readonly separation: Separation
  /** Lets others be served between two pieces of work, where there is much of it. */
  readonly pause?: () => Promise<void> | undefined
}
