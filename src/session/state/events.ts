import type { Problem } from "../../message/errors.ts"
import { createListeners } from "../../message/listeners.ts"
import type { Words } from "../../message/present.ts"
import type { LogEvent } from "../log/event.ts"

export type SessionEvent = { readonly session: string; readonly atMs: number } & (
  | { readonly type: "entries-appended"; readonly entries: readonly string[]; readonly durable: boolean }
  | {
      readonly type: "context-prepared"
      readonly contextTokens: number
      readonly windowTokens: number
      readonly changed: boolean
    }
  | {
      readonly type: "compaction-installed"
      readonly checkpoint: string
      readonly remedy: string
      readonly beforeTokens: number
      readonly afterTokens: number
    }
  | { readonly type: "compaction-undone"; readonly checkpoint: string }
  | { readonly type: "answer-recorded"; readonly inputTokens?: number; readonly cacheReadTokens?: number }
  | {
      readonly type: "call-judged"
      readonly callId: string
      readonly tool: string
      readonly decision: "allow" | "deny" | "ask"
      readonly enforced: boolean
    }
  | { readonly type: "summary-ready"; readonly key: string }
  | { readonly type: "summary-failed"; readonly key: string; readonly reason: string }
  | { readonly type: "summary-abandoned"; readonly key: string }
  | { readonly type: "background-failed"; readonly work: string; readonly problem: Problem }
  | Extract<LogEvent, { type: TracedNames }>
)

/** Types of trace events that are emitted to listeners too. */
type TracedNames =
  Words<"branch-opened rules-found unpin-unmatched memory-flushed lookups-repeated durability-degraded durability-restored stack-installed stack-changed stack-refused">

type WithoutStamp<Event> = Event extends unknown ? Omit<Event, "session" | "atMs"> : never
export type NewEvent = WithoutStamp<SessionEvent>
export type Listener = (event: SessionEvent) => void

export function createHub(now: () => number) {
  const { emit, subscribe } = createListeners<SessionEvent>()
  return {
    emit: (session: string, event: NewEvent): void => emit({ session, atMs: now(), ...event }),
    /** Subscribes to all events, or to those of one session; call the returned function to unsubscribe. */
    subscribe: (listener: Listener, session?: string): (() => void) =>
      subscribe((event) => {
        if (session === undefined || session === event.session) listener(event)
      }),
  }
}
