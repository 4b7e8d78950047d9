import { findCall } from "../guard/find-call.ts"
import { approvedVerdict, costOf, type JudgedCall, judgedCall, verdictOn, withSpent } from "../guard/judge-call.ts"
import type { Format, Part, ToolCallPart } from "../message/message.ts"
import { runSteps } from "../message/steps.ts"
import type { TurnGuarding } from "./turn-session.ts"

/** Judges the tool calls of one turn before they run, and adds up what they spend. */
export type CallJudge = {
  /**
   * Judges a call by the input that its tool will get. The amount of a purchase counts as spent from this moment, so that parallel calls
   * cannot each use the whole budget.
   */
  readonly judge: (call: ToolCallPart, input: unknown, signal: AbortSignal | undefined) => Promise<JudgedCall>
  /** The call failed: subtract the amount that it would have spent. */
  readonly giveBack: (judged: JudgedCall) => void
  /** Judges calls that the provider has already run: they can be reported, but not stopped. */
  readonly judgeRun: (format: Format, parts: readonly Part[]) => Promise<readonly JudgedCall[]>
  /** Amount spent so far in hundredths of the currency, including what the caller reported as spent before the turn. */
  readonly spentMinor: () => number
}

export function createCallJudge(guarding: TurnGuarding): CallJudge {
  const { guard, circumstances = {}, mode, onJudged } = guarding
  const { spentMinor: beforeMinor = 0 } = circumstances
  let spentMinor = beforeMinor
  const useNow = (): TurnGuarding => ({ ...guarding, ...withSpent(guarding, spentMinor - beforeMinor) })
  const told = async (judged: JudgedCall): Promise<JudgedCall> => {
    await onJudged?.(judged)
    return judged
  }
  return {
    judge: async (call, input, signal) => {
      const found = { callId: call.callId, tool: call.tool, input, providerRun: false }
      const use = useNow()
      // At once: what it spends counts before the next call is judged.
      const verdict = runSteps(verdictOn(found, guard, use))
      const runs = mode === "observe" || verdict.decision !== "deny"
      if (runs) spentMinor += costOf(verdict)
      if (verdict.decision !== "ask" || mode === "observe") return told(judgedCall(found, verdict, use))
      const said = await approvedVerdict({ tool: call.tool, input }, verdict, use, signal)
      if (said === "approved") return told(judgedCall(found, verdict, use, true))
      spentMinor -= costOf(verdict)
      return told(judgedCall(found, said, use, false))
    },
    giveBack: ({ verdict }) => {
      spentMinor -= costOf(verdict)
    },
    judgeRun: (format, parts) =>
      Promise.all(
        parts.flatMap((part) => {
          const found = findCall(format, part)
          return found?.providerRun === true
            ? told(judgedCall(found, runSteps(verdictOn(found, guard, useNow())), guarding))
            : []
        }),
      ),
    spentMinor: () => spentMinor,
  }
}
