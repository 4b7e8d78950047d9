import { deniedResults } from "../guard/denied-results.ts"
import type { Guard } from "../guard/guard.ts"
import { type GuardedResponse, guardResponse } from "../guard/guard-response.ts"
import type { Guarding } from "../guard/guard-use.ts"
import { joinGuards } from "../guard/join-guards.ts"
import type { JudgedCall } from "../guard/judge-call.ts"
import type { EntryBody } from "../log/entry.ts"
import type { ToolResultPart } from "../message/part.ts"
import { present } from "../message/present.ts"
import type { Live } from "./live.ts"
import { type ResponseLike, readResponse } from "./record.ts"

/** An answer whose calls were judged, and what the model is to get for those that were withheld. */
export type JudgedResponse = GuardedResponse & { readonly results: readonly ToolResultPart[] }

/** Whoever has a say in the calls of a session: the guard of its options, and the operator's as it stands now. */
export async function guardingOf(live: Live): Promise<Guarding | undefined> {
  const { guard: own, operator } = live.options
  const standing = await operator?.refresh()
  const guards: readonly Guard[] = [
    ...(own === undefined ? [] : [own.guard]),
    ...(standing?.guard === undefined ? [] : [standing.guard]),
  ]
  const [first, ...others] = guards
  if (first === undefined) return undefined
  const circumstances = {
    ...own?.circumstances,
    agent: own?.circumstances?.agent ?? live.agent,
    spentMinor: await spentBy(live),
  }
  return { ...own, guard: joinGuards([first, ...others]), circumstances }
}

/** Judge the calls of an answer before anyone acts on them, and write down what was decided. */
export async function judge(live: Live, given: ResponseLike): Promise<JudgedResponse> {
  const response = readResponse(given, live.frame?.format ?? live.client?.format ?? live.options.format)
  const guarding = await guardingOf(live)
  if (guarding === undefined) return { response, judged: [], results: [] }
  const { guard, ...use } = guarding
  const guarded = await guardResponse(response, guard, use)
  if (guarded.judged.length > 0) {
    const before = guarding.circumstances?.spentMinor ?? 0
    const body = judgedBody(guarded.judged, before)
    await live.journal.commit(() => [body])
    for (const { tool, verdict, enforced, callId } of guarded.judged)
      live.emit({ type: "call-judged", callId, tool, decision: verdict.decision, enforced })
  }
  return { ...guarded, results: deniedResults(guarded.judged, response) }
}

type JudgedBody = Extract<EntryBody, { type: "calls-judged" }>

function judgedBody(judged: readonly JudgedCall[], before: number): JudgedBody {
  const spent = judged.reduce((sum, call) => sum + (call.result === undefined ? costOf(call) : 0), before)
  return {
    type: "calls-judged",
    calls: judged.map(({ callId, tool, verdict, enforced, approved }) => ({
      callId,
      tool,
      decision: verdict.decision,
      policies: verdict.reasons.map(({ policy }) => policy),
      enforced,
      ...present({ approved }),
    })),
    spentMinor: spent,
  }
}

/** The largest sum that a purchase names, in hundredths. */
function costOf({ verdict: { facts } }: JudgedCall): number {
  if (!facts.actions.has("purchase")) return 0
  return facts.amounts.reduce((most, { minor }) => Math.max(most, minor), 0)
}

/** Hundredths that the session has spent, as the last judgement left it. */
async function spentBy({ journal, options }: Live): Promise<number> {
  const before = options.guard?.circumstances?.spentMinor ?? 0
  const last = journal.outline().ofType("calls-judged").at(-1)
  if (last === undefined) return before
  const body = (await journal.entries([last])).get(last)?.body
  return body?.type === "calls-judged" ? body.spentMinor : before
}
