import type { Guard } from "../guard/guard.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
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

/** Two that judge together. One that only observes has no say, and takes none from the other. */
const joined = (own: TurnGuarding, ofSession: TurnGuarding): TurnGuarding => ({
  ...ofSession,
  ...own,
  circumstances: { ...ofSession.circumstances, ...own.circumstances },
  guard: joinGuards([seated(own, ofSession), seated(ofSession, own)]),
  mode: own.mode === "observe" && ofSession.mode === "observe" ? "observe" : "enforce",
})

const seated = ({ guard, mode }: TurnGuarding, beside: TurnGuarding): Guard =>
  mode === "observe" && beside.mode !== "observe" ? onTrial(guard) : guard
