import type { JudgedCall } from "../guard/judge-call.ts"
import type { SessionGuarding } from "../session/judge.ts"
import type { Exchange } from "./exchange.ts"

/** The guard of a session, with the approvals desk as the person to ask; whatever it decides is in the books as well. */
export function guardHere(
  { deps, tally, tenant }: Exchange,
  guarding: SessionGuarding,
  session: string,
): SessionGuarding & { readonly judged: readonly JudgedCall[] } {
  const judged: JudgedCall[] = []
  return {
    askTimeoutMs: deps.askTimeoutMs,
    approve: (call, verdict, signal) => deps.approvals.ask({ session, tenant, trace: tally.id, call, verdict }, signal),
    ...guarding,
    judged,
    onJudged: async (one) => {
      judged.push(one)
      await guarding.onJudged(one)
    },
  }
}
