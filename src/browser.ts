export * from "./adapter/index.ts"
export type { Finding, FindingKind } from "./compact/gate/finding.ts"
export type { Scanned } from "./compact/gate/scan.ts"
export { scan } from "./compact/gate/scan.ts"
export type { Weighing } from "./compact/plan/economics.ts"
export type { Plan, Reason, Sizes, Trigger } from "./compact/plan/plan.ts"
export type { Policy } from "./compact/plan/policy.ts"
export { defaultPolicy } from "./compact/plan/policy.ts"
export * from "./compact/stack/index.ts"
export type { Edit } from "./compact/stages/edit.ts"
export type { MemoryEntry } from "./compact/stages/flush.ts"
export type { Choice, SizedGroup, Strategy, StrategyName, StrategyOptions } from "./compact/stages/strategies.ts"
export type {
  Digest,
  SchemaName,
  Summarize,
  SummarizeInput,
  Summary,
  SummaryDraft,
  SummaryLine,
} from "./compact/summary/summary.ts"
export type { Advice, Problem } from "./message/errors.ts"
export { describe, HoldfastError } from "./message/errors.ts"
export * from "./message/index.ts"
export type { FindOptions, RuleFinder } from "./rules/find-rules.ts"
export { findRules } from "./rules/find-rules.ts"
export type { Explicitness, FoundRule, Pin, PinPlace, PinScope, RuleKind } from "./rules/pin.ts"
export type { Trace, TraceEvent } from "./session/log/trace.ts"
export type { CompactResult } from "./session/one-shot/compact-request.ts"
export { compactRequest } from "./session/one-shot/compact-request.ts"
export type { ModelFinder } from "./session/one-shot/model-finder.ts"
export { createModelFinder } from "./session/one-shot/model-finder.ts"
export type { CompactOptions } from "./session/one-shot/options.ts"
export { replayTrace } from "./session/one-shot/replay-trace.ts"
export type { Measure, Report } from "./session/one-shot/report.ts"
export type { ModelSummarizer, SummarizerOption } from "./session/one-shot/summarizer.ts"
export * from "./tokens/index.ts"
export * from "./transcript/index.ts"
export * from "./wire/index.ts"
