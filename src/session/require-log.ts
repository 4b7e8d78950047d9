import { HoldfastError } from "../message/errors.ts"
import type { ModelRequest } from "../message/request.ts"
import { newestAnswer } from "./ingest.ts"
import type { Live } from "./live.ts"
import { wake } from "./open-live.ts"

/** What was said before is only known once the log was read: without it, nothing can be told of a session or shown of its history. */
export async function requireLog(live: Live): Promise<void> {
  if (live.learned && live.journal.isKnown()) return
  const { problem } = await live.journal.commit(() => [])
  if (problem !== undefined) throw new HoldfastError(problem)
  await wake(live)
}

/** A session whose rules this process cannot know, its own or those of all sessions, is a Problem of the store. */
export async function requireRules(live: Live): Promise<void> {
  // What waits for the store is written first, where it is back: then it is known what others wrote meanwhile.
  if (!live.journal.isDurable()) await live.journal.commit(() => [])
  await requireLog(live)
  await live.shared.require()
}

/**
 * With a shared store away, others may have gone on with a session since this process read it. They have not if the request goes on from
 * the newest answer that is known here.
 */
export function requireNewest({ journal, store, answered }: Live, request: ModelRequest): void {
  const problem = journal.problem()
  if (problem === undefined || !store.isShared) return
  const goesOn = request.held === undefined && answered !== undefined && newestAnswer(request.messages) === answered
  if (!goesOn) throw new HoldfastError(problem)
}

/** With a shared store away, a rule that only this process has would be gone with it: its request waits until the store has the rule. */
export function requireSavedRules({ journal, store }: Live): void {
  const problem = journal.problem()
  if (problem === undefined || !store.isShared) return
  const newest = journal.outline().ofType("rule-pinned").at(-1)
  if (newest !== undefined && !journal.isSaved(newest)) throw new HoldfastError(problem)
}
