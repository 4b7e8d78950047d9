import type { JudgedCall } from "../guard/judge-call.ts"
import type { SessionGuarding } from "../session/judge.ts"
import type { Exchange } from "./exchange.ts"

/** The guard of a session, with the approvals desk as the person to ask; whatever it decides is in the books as well. */
export function guardHere(
  { deps, docket, tenant, gone }: Exchange,
  guarding: SessionGuarding,
  session: string,
): SessionGuarding & { readonly judged: readonly JudgedCall[] } {
  const judged: JudgedCall[] = []
  return {
    askTimeoutMs: deps.askTimeoutMs,
    // Nobody is asked about the call of a client that has gone.
    approve: (call, verdict, signal) =>
      deps.approvals.ask({ session, tenant, trace: docket.id, call, verdict }, AbortSignal.any([signal, gone])),
    ...guarding,
    judged,
    onJudged: async (one) => {
      judged.push(one)
      await guarding.onJudged(one)
    },
  }
}
