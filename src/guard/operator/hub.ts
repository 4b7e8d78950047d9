import type { Problem } from "../../message/errors.ts"
import type { AcceptedLine } from "./audit-view.ts"
import type { Refusal } from "./judge-command.ts"

/** What happens in the operator's channel, as it happens. */
export type OperatorEvent = { readonly atMs: number } & (
  | {
      readonly type: "rules-changed"
      readonly version: string
      /** The ids of rules that stand now, and that stand no more. */
      readonly added: readonly string[]
      readonly removed: readonly string[]
    }
  /** A change of the directory, or of the files and commands together, that was not taken: all that stood still stands. */
  | { readonly type: "policy-rejected"; readonly problem: Problem }
  /** Here or by another program on the same store; each is told once. */
  | { readonly type: "command-accepted"; readonly line: AcceptedLine }
  | { readonly type: "command-refused"; readonly reason: Refusal["reason"]; readonly key?: string }
  /** The store could not be read in the background, or what it has cannot be believed: all that stood still stands. */
  | { readonly type: "refresh-failed"; readonly problem: Problem }
)

type Unstamped<Event> = Event extends unknown ? Omit<Event, "atMs"> : never
export type NewOperatorEvent = Unstamped<OperatorEvent>
export type OperatorListener = (event: OperatorEvent) => void

export type OperatorHub = {
  readonly emit: (event: NewOperatorEvent) => void
  readonly subscribe: (listener: OperatorListener) => () => void
}

/** Tells listeners what happens. One that throws is not asked again: it must not keep a rule from being in force. */
export function createOperatorHub(now: () => number): OperatorHub {
  const listeners = new Map<symbol, OperatorListener>()
  return {
    emit: (event) => {
      for (const [id, listener] of listeners) {
        try {
          listener({ atMs: now(), ...event })
        } catch {
          listeners.delete(id)
        }
      }
    },
    subscribe: (listener) => {
      const id = Symbol("listener")
      listeners.set(id, listener)
      return () => {
        listeners.delete(id)
      }
    },
  }
}
