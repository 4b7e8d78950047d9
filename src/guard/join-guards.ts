/** Combines several guards. The policy engine is not imported here, so that a turn without policies runs in a browser. */
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import type { ToolCall } from "./facts/facts.ts"
import type { Decision, Guard, Verdict } from "./guard.ts"
import type { Circumstances } from "./policy/condition.ts"

type Judge = Guard["judge"]
type JudgeSteps = (call: ToolCall, circumstances?: Circumstances) => Steps<Verdict>

/**
 * Step-by-step version of each judge created here, keyed by the function: a guard whose `judge` was wrapped is asked through the wrapper.
 */
const stepsOfJudge = new WeakMap<Judge, JudgeSteps>()

/** Creates a judge that can also run step by step. */
export function judgeOf(steps: JudgeSteps): Judge {
  const judge: Judge = (call, circumstances) => runSteps(steps(call, circumstances))
  stepsOfJudge.set(judge, steps)
  return judge
}

/** Verdict of a guard, step by step if its judge supports it. */
export function* verdictSteps({ judge }: Guard, ...given: Parameters<Judge>): Steps<Verdict> {
  const steps = stepsOfJudge.get(judge)
  return steps === undefined ? judge(...given) : yield* steps(...given)
}

/** Rank of each decision: the stricter, the higher. */
export const decisionRanks: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** Combines guards into one: a call has to pass all of them, and the reasons of each are reported. */
export function joinGuards(guards: readonly [Guard, ...Guard[]]): Guard {
  const [first, ...others] = guards
  if (others.length === 0) return first
  return {
    policies: guards.flatMap(({ policies }) => policies),
    judge: judgeOf(function* (call, circumstances) {
      let verdict = yield* verdictSteps(first, call, circumstances)
      for (const guard of others) {
        yield
        verdict = worse(verdict, yield* verdictSteps(guard, call, circumstances))
      }
      return verdict
    }),
  }
}

/** Merges two verdicts: the stricter decision, the reasons of both. */
export const worse = (one: Verdict, other: Verdict): Verdict => ({
  decision: decisionRanks[other.decision] > decisionRanks[one.decision] ? other.decision : one.decision,
  reasons: [...one.reasons, ...other.reasons],
  // The same call has the same facts; a getter, because a guard may compute them only on access.
  get facts() {
    return other.facts
  },
  errors: [...one.errors, ...other.errors],
  ...present({ observed: joinObserved(one, other) }),
})

/** Reasons of the observed policies of both verdicts. */
const joinObserved = (one: Verdict, other: Verdict): Verdict["observed"] =>
  one.observed === undefined ? other.observed : [...one.observed, ...(other.observed ?? [])]

/**
 * The same guard without effect: it reports what it would have refused and allows everything. For a guard on trial beside others that
 * count.
 */
export const onTrial = (guard: Guard): Guard => ({
  ...guard,
  judge: (call, circumstances) => ({ ...guard.judge(call, circumstances), decision: "allow" }),
})
