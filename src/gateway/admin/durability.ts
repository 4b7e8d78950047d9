import type { Problem } from "../../message/errors.ts"
import type { SessionEvent } from "../../session/events.ts"
import { type Told, tellProblem } from "./refusal.ts"

export type Durability = {
  readonly hear: (event: SessionEvent) => void
  /** How many sessions have something that the store does not, and what the store said last. */
  readonly tell: () => { readonly durable: boolean; readonly sessions: number; readonly problem?: Told }
}

/** As many as a gateway holds in memory, and more. */
const maxSessions = 10_000

/** Keeps in mind which sessions wait for the store. */
export function createDurability(): Durability {
  const waiting = new Map<string, Problem>()
  return {
    hear: (event) => {
      if (event.type === "durability-restored") waiting.delete(event.session)
      if (event.type === "durability-degraded" && (waiting.size < maxSessions || waiting.has(event.session)))
        waiting.set(event.session, event.problem)
    },
    tell: () => {
      const problem = [...waiting.values()].at(-1)
      return {
        durable: waiting.size === 0,
        sessions: waiting.size,
        ...(problem === undefined ? {} : { problem: tellProblem(problem) }),
      }
    },
  }
}
