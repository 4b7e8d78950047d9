/** The root door: what users call, and the types of it. What these are made of is behind the other doors of package.json. */
export type {
  ContextBudget,
  Steer,
  Steering,
  SteeringMessage,
  SummarizeDropped,
  ToolOutput,
  ToolRun,
  TurnAgent,
  TurnCompaction,
  TurnEvent,
  TurnModel,
  TurnOptions,
  TurnRequest,
  TurnResult,
  TurnSession,
  TurnSoFar,
  TurnStream,
  TurnTool,
} from "./adapter/index.ts"
export { createSteering, streamTurn, turn, turnSoFar } from "./adapter/index.ts"
export type { Finding, FindingKind } from "./compact/gate/finding.ts"
export type { Scanned } from "./compact/gate/scan.ts"
export { scan } from "./compact/gate/scan.ts"
export type { Weighing } from "./compact/plan/economics.ts"
export type { Plan, PlanReason, Sizes, Trigger } from "./compact/plan/plan.ts"
export type { CompactionPolicy } from "./compact/plan/policy.ts"
export { defaultPolicy } from "./compact/plan/policy.ts"
export type { Layer, SectionDefinition, Stack, StackDefinition } from "./compact/stack/stack.ts"
export type { Edit } from "./compact/stages/edit.ts"
export type { Choice, SizedGroup, Strategy, StrategyName, StrategyOptions } from "./compact/stages/strategies.ts"
export type { MemoryEntry } from "./compact/state/flush.ts"
export type {
  Digest,
  SchemaName,
  Summarize,
  SummarizeInput,
  Summary,
  SummaryDraft,
  SummaryLine,
} from "./compact/summary/summary.ts"
export type {
  Approve,
  CallFacts,
  Circumstances,
  Decision,
  Guard,
  GuardedResponse,
  Guarding,
  GuardOptions,
  GuardUse,
  JudgedCall,
  PolicyInput,
  StreamGuardUse,
  TemplateName,
  TemplateUse,
  ToolCall,
  Verdict,
} from "./guard/index.ts"
export { createGuard, guardEvents, guardResponse, guardSse } from "./guard/index.ts"
export type { Accepted, Operator, OperatorOptions } from "./guard/operator/index.ts"
export { openOperator } from "./guard/operator/index.ts"
export type { Advice, Problem } from "./message/errors.ts"
export { describe, HoldfastError } from "./message/errors.ts"
export type {
  CallId,
  Channel,
  Format,
  Message,
  MessageId,
  ModelRequest,
  ModelResponse,
  Part,
  Role,
  Tokens,
  Tool,
  Transcript,
  Usage,
} from "./message/index.ts"
export { formats } from "./message/index.ts"
export type {
  Explicitness,
  FindOptions,
  FoundRule,
  Pin,
  PinPlace,
  PinScope,
  RuleFinder,
  RuleKind,
} from "./rules/index.ts"
export { findRules } from "./rules/index.ts"
export type {
  Acknowledged,
  BeforeCompact,
  BeforeInstall,
  Change,
  CompactionAhead,
  CompactionDone,
  CompactionReady,
  CompactionResult,
  Explanation,
  HistoryEntry,
  Holdfast,
  HoldfastOptions,
  Hooks,
  JudgedResponse,
  MessageLike,
  NewEvent,
  Overview,
  PinOptions,
  Prepare,
  Prepared,
  PrepareOptions,
  Recalled,
  Receipt,
  Recorded,
  Session,
  SessionEvent,
  SessionGuarding,
  SessionPin,
  SessionStack,
  StackOption,
  StackOptions,
  StackReceipt,
} from "./session/index.ts"
export { createHoldfast } from "./session/index.ts"
export type { Trace, TraceEvent } from "./session/log/event.ts"
export type { Redaction } from "./session/log/redact.ts"
export type { Memory, Remembered } from "./session/memory/memory.ts"
export type { CompactResult } from "./session/one-shot/compact-request.ts"
export { compactRequest, replayTrace } from "./session/one-shot/compact-request.ts"
export type { CompactOptions } from "./session/one-shot/options.ts"
export type { Measure, Report } from "./session/one-shot/report.ts"
export type { ModelFinder, ModelSummarizer, SummarizerOption } from "./session/one-shot/summarizer.ts"
export { createModelFinder } from "./session/one-shot/summarizer.ts"
export type { MemoryStore, Queue, Store } from "./store/index.ts"
export { openStore } from "./store/index.ts"
export type { RequestBody, SseEvent } from "./wire/index.ts"
