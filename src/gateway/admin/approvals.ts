import { randomBytes } from "node:crypto"
import type { ToolCall } from "../../guard/facts/facts.ts"
import type { Verdict, VerdictReason } from "../../guard/guard.ts"
import type { RefusedWithNote } from "../../guard/judge-call.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import { startOfText } from "../../language/cut-text.ts"
import { createListeners } from "../../message/listeners.ts"
import { present } from "../../message/present.ts"
import { boundValue } from "./bound-value.ts"

/** A tool call that a policy requires a person to approve, and where it was made. */
export type CallToApprove = {
  readonly session: string
  readonly tenant: string
  readonly trace: string
  readonly callId?: string
  readonly call: ToolCall
  readonly verdict: Verdict
}

/** A tool call that waits for a person. */
type PendingApproval = Omit<CallToApprove, "call" | "verdict"> & {
  /** Unguessable id by which it is approved or refused. */
  readonly id: string
  readonly atMs: number
  readonly tool: string
  /** The call's input as JSON. */
  readonly input: string
  /** `input` is shortened. */
  readonly cut: boolean
  readonly reasons: readonly VerdictReason[]
}

export type ApprovalEvent = { readonly atMs: number } & (
  | { readonly type: "approval-asked"; readonly approval: PendingApproval }
  | {
      readonly type: "approval-settled"
      readonly id: string
      readonly session: string
      /** The person's decision; `withdrawn` if the client no longer waits. */
      readonly outcome: "approved" | "refused" | "withdrawn"
    }
  /** Refused without asking, because too many calls were waiting. */
  | { readonly type: "approval-turned-away"; readonly session: string; readonly tool: string }
)

type ApprovalsOptions = {
  readonly now?: () => number
  readonly newId?: () => string
  readonly limit?: number
}

/** Default limit on waiting calls: more than people can review while clients wait. */
const defaultLimit = 100
/** Limits on what a person is shown of a call: more than anyone reads before deciding. */
const inputBounds = { text: 16_000, items: 500, total: 32_000 }
const reasonBounds = { text: 1000, items: 50, total: 10_000 }
/** Limit on tool names, which come from the client. */
const maxName = 200

type WaitingCall = {
  readonly approval: PendingApproval
  readonly end: (outcome: Outcome, note?: RefusedWithNote) => void
}
type Outcome = Extract<ApprovalEvent, { type: "approval-settled" }>["outcome"]

const randomId = (): string => randomBytes(12).toString("hex")

export type Approvals = ReturnType<typeof createApprovals>

/** The tool calls that wait for a person. */
export function createApprovals({ now = Date.now, newId = randomId, limit = defaultLimit }: ApprovalsOptions = {}) {
  const waiting = new Map<string, WaitingCall>()
  const { emit, subscribe } = createListeners<ApprovalEvent>()
  /** Resolves with the person's decision; with false when the signal aborts, or at once if too many wait. Never throws. */
  const ask = (asked: CallToApprove, signal: AbortSignal): Promise<boolean | RefusedWithNote> => {
    if (signal.aborted) return Promise.resolve(false)
    const approval = pendingOf(asked, newId(), now())
    const { id, session, tool } = approval
    if (waiting.size >= limit || waiting.has(id)) {
      emit({ atMs: now(), type: "approval-turned-away", session, tool })
      return Promise.resolve(false)
    }
    const { promise, resolve } = Promise.withResolvers<boolean | RefusedWithNote>()
    const withdraw = (): void => end("withdrawn")
    const end: WaitingCall["end"] = (outcome, note) => {
      if (!waiting.delete(id)) return
      signal.removeEventListener("abort", withdraw)
      resolve(note ?? outcome === "approved")
      emit({ atMs: now(), type: "approval-settled", id, session, outcome })
    }
    waiting.set(id, { approval, end })
    signal.addEventListener("abort", withdraw, { once: true })
    emit({ atMs: now(), type: "approval-asked", approval })
    return promise
  }
  return {
    ask,
    /** Oldest first. */
    pending: (): readonly PendingApproval[] => [...waiting.values()].map(({ approval }) => approval),
    /** Returns false if no call with this id waits here. */
    settle: (id: string, said: boolean | RefusedWithNote): boolean => {
      const found = waiting.get(id)
      if (typeof said === "object") found?.end("refused", said)
      else found?.end(said ? "approved" : "refused")
      return found !== undefined
    },
    subscribe,
  }
}

function pendingOf({ call, verdict, ...where }: CallToApprove, id: string, atMs: number): PendingApproval {
  const { value, cut } = boundValue(call.input, inputBounds)
  const input = JSON.stringify(value) ?? ""
  const tool = startOfText(call.tool, maxName)
  const reasons = verdict.reasons.slice(0, reasonBounds.items).map(boundReason)
  const whole = !cut && tool === call.tool && reasons.length === verdict.reasons.length
  return { ...where, id, atMs, tool, input, cut: !whole, reasons }
}

function boundReason({ policy, rule, speaker, instead, decision, facts }: VerdictReason): VerdictReason {
  const most = reasonBounds.text
  const told = Object.entries(facts).slice(0, reasonBounds.items)
  return {
    policy: startOfText(policy, most),
    rule: startOfText(rule, most),
    decision,
    facts: Object.fromEntries(told.map(([name, value]) => [name, boundFact(value)])),
    ...present({ speaker, instead: instead === undefined ? undefined : startOfText(instead, most) }),
  }
}

function boundFact(value: VerdictReason["facts"][string]): VerdictReason["facts"][string] {
  if (typeof value === "string") return startOfText(value, reasonBounds.text)
  if (typeof value !== "object") return value
  return value.slice(0, reasonBounds.items).map((text) => startOfText(text, reasonBounds.text))
}

/**
 * Lets signed commands settle pending approvals, wherever they were submitted: the operator's log brings them to every replica. A command
 * for a call that waits elsewhere, or no longer waits, changes nothing here. Call the returned function to stop.
 */
export function approvalsFromOperator(
  operator: Pick<Operator, "subscribe">,
  approvals: Pick<Approvals, "settle">,
): () => void {
  return operator.subscribe((event) => {
    if (event.type !== "command-accepted") return
    const { command } = event.line
    if (command.type === "approve") approvals.settle(command.call, true)
    if (command.type === "refuse")
      approvals.settle(command.call, command.note === undefined ? false : { note: command.note })
  })
}
