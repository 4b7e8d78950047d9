import { findCall } from "../guard/find-call.ts"
import { approvedVerdict, costOf, type JudgedCall, judgedCall, verdictOn } from "../guard/judge-call.ts"
import type { Format, Part, ToolCallPart } from "../message/message.ts"
import type { TurnGuarding } from "./turn-session.ts"

/** What judges the calls of one turn before they run, and keeps account of what they have spent. */
export type CallJudge = {
  /** Judge a call by what its tool will be given. What a purchase names counts as spent from here on, so that calls side by side cannot each have the whole. */
  readonly judge: (call: ToolCallPart, input: unknown, signal: AbortSignal | undefined) => Promise<JudgedCall>
  /** The call came to nothing: what it would have spent was not. */
  readonly giveBack: (judged: JudgedCall) => void
  /** Calls that the provider has run: they can be told, and no longer stopped. */
  readonly judgeRun: (format: Format, parts: readonly Part[]) => Promise<readonly JudgedCall[]>
  /** Hundredths spent so far, with what the caller said was spent before. */
  readonly spentMinor: () => number
}

export function createCallJudge(guarding: TurnGuarding): CallJudge {
  const { guard, circumstances = {}, mode, onJudged } = guarding
  let spentMinor = circumstances.spentMinor ?? 0
  const useNow = (): TurnGuarding => ({ ...guarding, circumstances: { ...circumstances, spentMinor } })
  const told = async (judged: JudgedCall): Promise<JudgedCall> => {
    await onJudged?.(judged)
    return judged
  }
  return {
    judge: async (call, input, signal) => {
      const found = { callId: call.callId, tool: call.tool, input, providerRun: false }
      const use = useNow()
      const verdict = verdictOn(found, guard, use)
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
          return found?.providerRun === true ? told(judgedCall(found, verdictOn(found, guard, useNow()), guarding)) : []
        }),
      ),
    spentMinor: () => spentMinor,
  }
}
