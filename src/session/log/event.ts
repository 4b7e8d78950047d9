import type { CompactEvent } from "../../compact/attempt.ts"
import type { PlanEvent } from "../../compact/plan/event.ts"
import type { StackChange } from "../../compact/stack/diff.ts"
import type { StackEvent } from "../../compact/stack/fit.ts"
import type { Layer } from "../../compact/stack/stack.ts"
import type { Problem } from "../../message/errors.ts"
import type { Channel } from "../../message/message.ts"
import type { RepairEvent } from "../../message/repair.ts"
import type { SurvivalVerdict } from "../../rules/survival.ts"
import type { LossEvent } from "../../wire/translate.ts"

/** Trace events of a session: how the request matched the log, and what was done besides compaction. */
export type LogEvent =
  /** Number of messages already in the log, and of new ones. */
  | { readonly type: "history-matched"; readonly known: number; readonly added: number }
  /** The client's history diverged from the previous one: it was edited, or compacted by the client. */
  | { readonly type: "branch-opened"; readonly from: string; readonly left: number }
  /** Rules were found in messages or documents, and are pinned from here on. */
  | {
      readonly type: "rules-found"
      readonly pins: readonly string[]
      /** The same rules with their text, their speaker and why each counts as a rule. */
      readonly rules: readonly {
        readonly pin: string
        readonly text: string
        readonly speaker: Channel
        readonly why: string
      }[]
    }
  /** `/unpin` matched no rule that the user may withdraw, or more than one: nothing was withdrawn. */
  | { readonly type: "unpin-unmatched"; readonly name: string; readonly fitting: number }
  /** Rules that are no longer in the history were added to the request again. */
  | { readonly type: "pins-reasserted"; readonly pins: readonly string[] }
  /** How the rules survived in a history that the client rewrote. */
  | {
      readonly type: "rules-judged"
      readonly pins: readonly { readonly pin: string; readonly verdict: SurvivalVerdict }[]
    }
  /** There was no room for these rules in the request; they are still in the log. */
  | { readonly type: "pins-left-out"; readonly pins: readonly string[]; readonly budgetTokens: number }
  /** An earlier compaction was applied unchanged. */
  | { readonly type: "checkpoint-applied"; readonly checkpoint: string }
  | { readonly type: "checkpoint-installed"; readonly checkpoint: string }
  /** Calls right after the compaction in force looked up again what it removed. */
  | {
      readonly type: "lookups-repeated"
      readonly checkpoint: string
      readonly lookups: readonly { readonly tool: string; readonly target: string }[]
    }
  /** A compaction was due but not done, and the reason. */
  | {
      readonly type: "compaction-held"
      readonly reason: "nothing-new" | "no-progress" | "cancelled" | "vetoed" | "costs-more"
    }
  /** A hook ran. `overruled`: the context would not have fitted otherwise. */
  | { readonly type: "hook-ran"; readonly hook: "before-compact" | "before-install"; readonly outcome: HookOutcome }
  | {
      readonly type: "hook-failed"
      readonly hook: "before-compact" | "before-install" | "after-compact"
      readonly name: string
    }
  | { readonly type: "summary-used"; readonly key: string; readonly covered: number }
  | { readonly type: "summary-awaited"; readonly key: string; readonly outcome: "late" }
  /** Lines written to memory, and lines that were not: without meaning, already known, or beyond a limit. */
  | {
      readonly type: "memory-flushed"
      readonly rows: number
      readonly worthless?: number
      readonly known?: number
      readonly leftOut?: number
      readonly limit?: "flush" | "session-day" | "agent-day"
    }
  | { readonly type: "memory-retrieved"; readonly rows: number; readonly leftOut: number }
  /** This many lines that a client's own summary had lost were inserted into the context. */
  | { readonly type: "handoff-restored"; readonly lines: number; readonly tokens: number }
  /** This prompt stack is sent from here on: it is the first one, its sources changed, or it was reduced to fit a smaller window. */
  | {
      readonly type: "stack-installed"
      readonly hash: string
      readonly layers: readonly { readonly layer: Layer; readonly hash: string }[]
      readonly stackTokens: number
      readonly reason: "first" | "compaction" | "now" | "window"
      /** The differences to the previous stack. */
      readonly changes: readonly StackChange[]
    }
  /** The sources of the stack changed: which sections, and when that takes effect. */
  | {
      readonly type: "stack-changed"
      readonly from: string
      readonly to: string
      readonly changes: readonly StackChange[]
      readonly effect: "at-compaction" | "now"
    }
  /** The sources cannot be used now; the stack in force stays. */
  | { readonly type: "stack-refused"; readonly problem: Problem }
  /** The store did not accept a write; it is in memory, and is retried as soon as possible. */
  | { readonly type: "durability-degraded"; readonly problem: Problem; readonly unsaved: number }
  | { readonly type: "durability-restored"; readonly saved: number }

export type HookOutcome = "went-on" | "focused" | "replaced" | "cancelled" | "vetoed" | "overruled"

/** What was done to a context and why. Each module defines its own events, with reason, sizes and ids: enough to repeat the step. */
export type TraceEvent = RepairEvent | StackEvent | LossEvent | PlanEvent | CompactEvent | LogEvent

export type Trace = readonly TraceEvent[]
