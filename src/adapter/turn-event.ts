import type { JudgedCall } from "../guard/judge-call.ts"
import type { Problem } from "../message/errors.ts"
import type { CallId, StopReason, Transcript, Usage } from "../message/message.ts"
import type { Trace } from "../session/log/trace.ts"
import type { Report } from "../session/one-shot/report.ts"

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
