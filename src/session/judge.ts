import { deniedResults } from "../guard/denied-results.ts"
import type { Guard } from "../guard/guard.ts"
import { type GuardedResponse, guardResponse } from "../guard/guard-response.ts"
import type { Guarding } from "../guard/guard-use.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
import type { JudgedCall } from "../guard/judge-call.ts"
import { spentWith } from "../guard/spend.ts"
import { HoldfastError } from "../message/errors.ts"
import type { ToolResultPart } from "../message/part.ts"
import type { ModelResponse } from "../message/request.ts"
import { type Account, accountOf, noteJudged, writeJudged, writeSpending } from "./judgements.ts"
import type { Live } from "./live.ts"
import { type ResponseLike, readResponse } from "./record.ts"
import { sessionNames } from "./session-names.ts"

/** An answer whose calls were judged, and what the model is to get for those that were withheld. */
export type JudgedResponse = GuardedResponse & { readonly results: readonly ToolResultPart[] }

/** A session's guard for the calls of one answer; what it decides is to be told to `onJudged`, which writes it down. */
export type SessionGuarding = Guarding & { readonly onJudged: (judged: JudgedCall) => Promise<void> }

/** Whoever has a say in the calls of a session now, and what it has spent. */
type Bench = { readonly guarding: Guarding; readonly account: Account; readonly asksSpent: boolean }

async function benchOf(live: Live): Promise<Bench | undefined> {
  const { guard: own, operator } = live.options
  const standing = await operator?.refresh()
  const guarding = joined(own, standing?.guard)
  if (guarding === undefined) return undefined
  const { guard } = guarding
  const asksSpent = guard.policies.some(({ asks }) => asks.has("spent"))
  const account = await accountOf(live, asksSpent)
  const agent = own?.circumstances?.agent ?? live.owner.agent
  const sessions = own?.circumstances?.sessions ?? sessionNames(live.id, live.owner)
  const circumstances = { ...own?.circumstances, agent, sessions, spentMinor: account.spentMinor }
  return { guarding: { ...guarding, circumstances }, account, asksSpent }
}

/** The operator's policies are given effect in any case: who tries out a guard of their own does not switch them off. */
function joined(own: Guarding | undefined, laid: Guard | undefined): Guarding | undefined {
  if (own === undefined || laid === undefined) return own ?? (laid && { guard: laid })
  if (own.mode !== "observe") return { ...own, guard: joinGuards([own.guard, laid]) }
  return { ...own, guard: joinGuards([onTrial(own.guard), laid]), mode: "enforce" }
}

/** The guard of the session's options and the operator's as it stands now, for the calls of one answer. */
export async function guardingOf(live: Live): Promise<SessionGuarding | undefined> {
  const bench = await benchOf(live)
  if (bench === undefined) return undefined
  let { spentMinor } = bench.account
  // What a guard without policies lets through nobody has to know of: the built-in one judges every call of every session.
  const hasPolicies = bench.guarding.guard.policies.length > 0
  const onJudged = async (judged: JudgedCall): Promise<void> => {
    if (!hasPolicies && judged.verdict.decision === "allow") return
    const before = spentMinor
    spentMinor += spentWith([judged])
    if (bench.asksSpent && spentMinor > before) await live.lock(() => writeSpending(live, judged, before))
    else noteJudged(live, judged)
  }
  return { ...bench.guarding, onJudged }
}

/** Runs something while nobody else has the session. */
type Use = <Value>(act: (live: Live) => Promise<Value>) => Promise<Value>

/** Others spend now and then in the same session; this often in a row while one answer is judged is no chance any more. */
const maxSittings = 8

/**
 * Judge the calls of an answer before anyone acts on them, and write down what was decided. A person who is asked does not keep the
 * session from going on; where something was spent meanwhile that a limit rests on, the answer is judged again.
 */
export async function judge(use: Use, given: ResponseLike): Promise<JudgedResponse> {
  for (let sitting = 0; sitting < maxSittings; sitting++) {
    const { response, bench } = await use(async (live) => ({
      response: answerOf(live, given),
      bench: await benchOf(live),
    }))
    if (bench === undefined) return { response, judged: [], results: [] }
    const { guard, ...rest } = bench.guarding
    const guarded = await guardResponse(response, guard, rest)
    const { judged } = guarded
    const rests = bench.asksSpent && spentWith(judged) > 0 ? bench.account : undefined
    if (judged.length === 0 || (await use((live) => writeJudged(live, judged, rests))))
      return { ...guarded, results: deniedResults(judged, response) }
  }
  throw new HoldfastError({ code: "store-locked", store: "session's", waitedMs: 0 })
}

const answerOf = (live: Live, given: ResponseLike): ModelResponse =>
  readResponse(given, live.frame?.format ?? live.client?.format ?? live.options.format)
