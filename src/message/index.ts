export type { Advice, CommandRefusal, Problem, StoreCause } from "./errors.ts"
export { describe, HoldfastError } from "./errors.ts"
export { channelOf, fence, unfence } from "./fence.ts"
export type { CheckOptions, Group, TranscriptFault } from "./group.ts"
export { type Adjacency, checkTranscript, groupTurns, type Pairing, type PartPlace, pairCalls } from "./group.ts"
export type { Continuation } from "./lineage.ts"
export { continuation, lineageKey } from "./lineage.ts"
export type {
  Breakpoint,
  CallId,
  CallKind,
  Channel,
  Format,
  HeldState,
  Layout,
  Media,
  Message,
  MessageId,
  ModelRequest,
  ModelResponse,
  Part,
  ReasoningPart,
  Role,
  Span,
  StopReason,
  Tokens,
  Tool,
  ToolCallPart,
  ToolResultPart,
  Transcript,
  Usage,
  Wire,
} from "./message.ts"
export { callId, formats, instructs, messageId, textOf, tokens, trust, wireText } from "./message.ts"
export type { RepairEvent, Repaired } from "./repair.ts"
export { repair, replayRepair } from "./repair.ts"
