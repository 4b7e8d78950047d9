import type { StackChange } from "../../compact/stack/diff.ts"
import type { Layer } from "../../compact/stack/stack.ts"
import type { Problem } from "../../message/errors.ts"
import type { Channel } from "../../message/message.ts"
import type { SurvivalVerdict } from "../../rules/survival.ts"

/** What a session adds to the trace of a call: how the request met the log, and what was done beside the context itself. */
export type LogEvent =
  /** So many messages were known already, so many are new. */
  | { readonly type: "history-matched"; readonly known: number; readonly added: number }
  /** The client's history left the one before behind: it was edited, or compacted by the client itself. */
  | { readonly type: "branch-opened"; readonly from: string; readonly left: number }
  /** Standing rules were found in what was said, or in documents, and are pinned from here on. */
  | {
      readonly type: "rules-found"
      readonly pins: readonly string[]
      /** The same with their words, who said them and why they count as rules. */
      readonly rules: readonly {
        readonly pin: string
        readonly text: string
        readonly speaker: Channel
        readonly why: string
      }[]
    }
  /** Rules that the history no longer says, whoever compacted it, stand again. */
  | { readonly type: "pins-reasserted"; readonly pins: readonly string[] }
  /** What became of the rules in the history that a client put in the place of the one before. */
  | {
      readonly type: "rules-judged"
      readonly pins: readonly { readonly pin: string; readonly verdict: SurvivalVerdict }[]
    }
  /** There was no room for these rules beside the others; they are in the log. */
  | { readonly type: "pins-left-out"; readonly pins: readonly string[]; readonly budgetTokens: number }
  /** An earlier compaction was done again, as it was. */
  | { readonly type: "checkpoint-applied"; readonly checkpoint: string }
  | { readonly type: "checkpoint-installed"; readonly checkpoint: string }
  /** A compaction was due and not done, and why. */
  | {
      readonly type: "compaction-held"
      readonly reason: "nothing-new" | "no-progress" | "cancelled" | "vetoed" | "costs-more"
    }
  /** A hook had its say; `overruled` where the context would not have fitted otherwise. */
  | { readonly type: "hook-ran"; readonly hook: "before-compact" | "before-install"; readonly outcome: HookOutcome }
  | {
      readonly type: "hook-failed"
      readonly hook: "before-compact" | "before-install" | "after-compact"
      readonly name: string
    }
  | { readonly type: "summary-used"; readonly key: string; readonly covered: number }
  | { readonly type: "summary-begun"; readonly key: string; readonly covered: number }
  | { readonly type: "summary-awaited"; readonly key: string; readonly outcome: "ready" | "late" }
  /** So many lines were written to memory, and what was not: values without meaning, lines that are there already, and those beyond a limit. */
  | {
      readonly type: "memory-flushed"
      readonly rows: number
      readonly worthless?: number
      readonly known?: number
      readonly leftOut?: number
      readonly limit?: "flush" | "session-day" | "agent-day"
    }
  | { readonly type: "memory-retrieved"; readonly rows: number; readonly leftOut: number }
  /** This prompt stack is sent from here on: it is the first, its sources changed, or it had to give way to a smaller window. */
  | {
      readonly type: "stack-installed"
      readonly hash: string
      readonly layers: readonly { readonly layer: Layer; readonly hash: string }[]
      readonly stackTokens: number
      readonly reason: "first" | "compaction" | "now" | "window"
      /** What it has other than the one before. */
      readonly changes: readonly StackChange[]
    }
  /** The sources of the stack say something else: which sections, and when that takes effect. */
  | {
      readonly type: "stack-changed"
      readonly from: string
      readonly to: string
      readonly changes: readonly StackChange[]
      readonly effect: "at-compaction" | "now"
    }
  /** The sources cannot be used as they are now; the stack in force is sent on. */
  | { readonly type: "stack-refused"; readonly problem: Problem }
  /** The store did not take what was written; it is in memory, and is written as soon as that is possible again. */
  | { readonly type: "durability-degraded"; readonly problem: Problem; readonly unsaved: number }
  | { readonly type: "durability-restored"; readonly saved: number }

export type HookOutcome = "went-on" | "focused" | "replaced" | "cancelled" | "vetoed" | "overruled"
