import { present } from "../message/present.ts"
import type { FoundCall } from "./calls/find-call.ts"
import { deniedResult } from "./denied-result.ts"
import { factsOf, type ToolCall } from "./facts/facts.ts"
import type { Guard, Reason, Verdict } from "./guard.ts"
import { type GuardUse, usualAskTimeoutMs } from "./guard-use.ts"

/** What became of one call. */
export type JudgedCall = {
  readonly callId: string
  readonly tool: string
  readonly verdict: Verdict
  /** The verdict was given effect: not where the guard only observes, nor where the provider has run the call already. */
  readonly enforced: boolean
  /** A person was asked, and said so. */
  readonly approved?: boolean
  /** What stands for the result of a call that was withheld. */
  readonly result?: string
}

const unread = (why: string): Reason => ({
  policy: "guard:unread",
  rule: "The call could not be read in full.",
  decision: "deny",
  instead: "Make the call smaller and plainer, or ask the user.",
  facts: { why: [why] },
})

/** The call needed the approval of a person and did not get it; what was found before stays. */
export function unapproved(verdict: Verdict, why: string): Verdict {
  const reason: Reason = {
    policy: "guard:approval",
    rule: "The call needs approval.",
    decision: "deny",
    instead: "Ask the user to see to its approval, and go on with what needs none.",
    facts: { why: [why] },
  }
  return { ...verdict, decision: "deny", reasons: [...verdict.reasons, reason] }
}

export const nobodyToAsk = "there was nobody to ask"

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 300)

/** The verdict on a call that no guard was asked about. */
export function unreadVerdict(tool: string, why: string): Verdict {
  return { decision: "deny", reasons: [unread(why)], facts: factsOf({ tool, input: undefined }), errors: [why] }
}

/** Judge a call that was found. Never throws: what cannot be read, and a guard that fails, is a refusal. */
export function verdictOn(
  { tool, input, unread: why }: Omit<FoundCall, "callId" | "providerRun">,
  guard: Guard,
  { circumstances }: GuardUse,
): Verdict {
  if (why !== undefined) return unreadVerdict(tool, why)
  try {
    return guard.judge({ tool, input }, circumstances)
  } catch (error) {
    return unreadVerdict(tool, `the guard failed: ${messageOf(error)}`)
  }
}

/** Ask a person, for a while. Anything but a clear and timely yes is a refusal that says what it was. */
export async function approvedVerdict(
  call: ToolCall,
  verdict: Verdict,
  use: GuardUse,
  stop?: AbortSignal,
): Promise<Verdict | "approved"> {
  const no = (why: string): Verdict => unapproved(verdict, why)
  const { approve, askTimeoutMs = usualAskTimeoutMs } = use
  if (approve === undefined) return no(nobodyToAsk)
  const controller = new AbortController()
  const late = Promise.withResolvers<{ readonly why: string }>()
  const timer = setTimeout(() => late.resolve({ why: `nobody answered within ${askTimeoutMs} ms` }), askTimeoutMs)
  const stopped = (): void => late.resolve({ why: "the work was stopped" })
  stop?.addEventListener("abort", stopped, { once: true })
  if (stop?.aborted === true) stopped()
  try {
    const answer = Promise.resolve().then(() => approve(call, verdict, controller.signal))
    const said = await Promise.race([late.promise, answer])
    if (typeof said === "object") return no(said.why ?? "it was not approved")
    return said === true ? "approved" : no("it was not approved")
  } catch (error) {
    return no(`asking failed: ${messageOf(error)}`)
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener("abort", stopped)
    controller.abort()
  }
}

/** A call and its verdict, put together: what is refused has its result, unless it cannot be prevented or nobody means to. */
export function judgedCall(
  { callId, tool, providerRun }: Pick<FoundCall, "callId" | "tool" | "providerRun">,
  verdict: Verdict,
  { mode }: GuardUse,
  approved?: boolean,
): JudgedCall {
  const enforced = mode !== "observe" && !providerRun
  const refused = verdict.decision !== "allow" && approved !== true
  const result = enforced && refused ? deniedResult(verdict) : undefined
  return { callId, tool, verdict, enforced, ...present({ approved, result }) }
}

/** Judge a call to the end, a person's word included. A call that is only observed or has run already is no one's to approve. */
export async function judgeCall(found: FoundCall, guard: Guard, use: GuardUse): Promise<JudgedCall> {
  const verdict = verdictOn(found, guard, use)
  if (verdict.decision !== "ask" || use.mode === "observe" || found.providerRun) return judgedCall(found, verdict, use)
  const said = await approvedVerdict({ tool: found.tool, input: found.input }, verdict, use)
  return said === "approved" ? judgedCall(found, verdict, use, true) : judgedCall(found, said, use, false)
}
