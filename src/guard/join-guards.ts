/** Guards beside guards. The policy engine is not imported here, so that a turn without policies runs in a browser. */
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import type { ToolCall } from "./facts/facts.ts"
import type { Decision, Guard, Verdict } from "./guard.ts"
import type { Circumstances } from "./policy/condition.ts"

type Judge = Guard["judge"]
type JudgeSteps = (call: ToolCall, circumstances?: Circumstances) => Steps<Verdict>

/** How a judge of ours goes on step by step. By the function, so that whoever wraps a guard in another judge is the one who is asked. */
const stepsOfJudge = new WeakMap<Judge, JudgeSteps>()

/** A judge that can also be asked step by step. */
export function judgeOf(steps: JudgeSteps): Judge {
  const judge: Judge = (call, circumstances) => runSteps(steps(call, circumstances))
  stepsOfJudge.set(judge, steps)
  return judge
}

/** The verdict of a guard, step by step where it can be. */
export function* verdictSteps({ judge }: Guard, ...given: Parameters<Judge>): Steps<Verdict> {
  const steps = stepsOfJudge.get(judge)
  return steps === undefined ? judge(...given) : yield* steps(...given)
}

/** The harder a decision, the higher its rank. */
export const decisionRanks: Readonly<Record<Decision, number>> = { allow: 0, ask: 1, deny: 2 }

/** Several guards as one: a call has to pass all of them, and every reason of each is told. */
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

/** Two verdicts as one: the harder decision, with what both say. */
export const worse = (one: Verdict, other: Verdict): Verdict => ({
  decision: decisionRanks[other.decision] > decisionRanks[one.decision] ? other.decision : one.decision,
  reasons: [...one.reasons, ...other.reasons],
  // The same call has the same facts; a guard may work them out only when somebody asks.
  get facts() {
    return other.facts
  },
  errors: [...one.errors, ...other.errors],
  ...present({ observed: joinObserved(one, other) }),
})

/** What policies that are only observed would have said, of both. */
const joinObserved = (one: Verdict, other: Verdict): Verdict["observed"] =>
  one.observed === undefined ? other.observed : [...one.observed, ...(other.observed ?? [])]

/** The same guard with no say: it tells what it would have refused, and lets everything through. For one on trial beside others that count. */
export const onTrial = (guard: Guard): Guard => ({
  ...guard,
  judge: (call, circumstances) => ({ ...guard.judge(call, circumstances), decision: "allow" }),
})
