import { joinGuards } from "../guard/join-guards.ts"
import { createCallJudge } from "./call-judge.ts"
import type { TurnGuarding } from "./turn-session.ts"
import { stoppable, type Work } from "./turn-work.ts"

/** Let the session's guard, as it stands now, judge the calls of this answer, beside the turn's own. */
export async function seatJudge(work: Work): Promise<void> {
  const { session, guard: own } = work.options
  const ofSession = await stoppable(work, session?.guarding?.() ?? Promise.resolve(undefined))
  if (ofSession === undefined) return
  const spentMinor = Math.max(work.judge?.spentMinor() ?? 0, ofSession.circumstances?.spentMinor ?? 0)
  const both = own === undefined ? ofSession : joined(own, ofSession)
  work.judge = createCallJudge({ ...both, circumstances: { ...both.circumstances, spentMinor } })
}

/** Two that judge together. It takes both to only observe: who tries out a guard of their own must not switch off the session's. */
const joined = (own: TurnGuarding, ofSession: TurnGuarding): TurnGuarding => ({
  ...ofSession,
  ...own,
  circumstances: { ...ofSession.circumstances, ...own.circumstances },
  guard: joinGuards([own.guard, ofSession.guard]),
  mode: own.mode === "observe" && ofSession.mode === "observe" ? "observe" : "enforce",
})
