import { randomBytes } from "node:crypto"
import type { ToolCall } from "../../guard/facts/facts.ts"
import type { Verdict, VerdictReason } from "../../guard/guard.ts"
import { startOfText } from "../../language/cut-text.ts"
import { present } from "../../message/present.ts"
import { boundValue } from "./bound-value.ts"

/** A call that a policy wants a person to see, and where it was made. */
export type CallToApprove = {
  readonly session: string
  readonly tenant: string
  readonly trace: string
  readonly callId?: string
  readonly call: ToolCall
  readonly verdict: Verdict
}

/** A call that waits for a person. */
type PendingApproval = {
  /** By which it is approved or refused; nobody can guess it. */
  readonly id: string
  readonly atMs: number
  readonly session: string
  readonly tenant: string
  readonly trace: string
  readonly callId?: string
  readonly tool: string
  /** As JSON. */
  readonly input: string
  /** The call says more than `input` does. */
  readonly cut: boolean
  readonly reasons: readonly VerdictReason[]
}

export type ApprovalEvent = { readonly atMs: number } & (
  | { readonly type: "approval-asked"; readonly approval: PendingApproval }
  | {
      readonly type: "approval-settled"
      readonly id: string
      readonly session: string
      /** A person's word; `withdrawn` where whoever asked does not wait any more. */
      readonly outcome: "approved" | "refused" | "withdrawn"
    }
  /** Too many waited already: it was refused unseen. */
  | { readonly type: "approval-turned-away"; readonly session: string; readonly tool: string }
)

type ApprovalListener = (event: ApprovalEvent) => void

/** The desk at which calls wait for a person. */
export type Approvals = {
  /** Ends with the person's word; with a no as soon as the signal says so, and at once where too many wait. Never throws. */
  readonly ask: (asked: CallToApprove, signal: AbortSignal) => Promise<boolean>
  /** Oldest first. */
  readonly pending: () => readonly PendingApproval[]
  /** False if none of that id waits here. */
  readonly settle: (id: string, approved: boolean) => boolean
  readonly subscribe: (listener: ApprovalListener) => () => void
}

type ApprovalsOptions = {
  readonly now?: () => number
  readonly newId?: () => string
  /** How many calls may wait at a time. */
  readonly limit?: number
}

/** More than people can look through while clients wait. */
const usualLimit = 100
/** What a person is shown of a call: more than anyone reads before they decide. */
const inputBounds = { text: 16_000, items: 500, total: 32_000 }
const reasonBounds = { text: 1000, items: 50, total: 10_000 }
/** Names of tools come from the client. */
const maxName = 200

type Waiting = { readonly approval: PendingApproval; readonly end: (outcome: Outcome) => void }
type Outcome = Extract<ApprovalEvent, { type: "approval-settled" }>["outcome"]

const randomId = (): string => randomBytes(12).toString("hex")

export function createApprovals({
  now = Date.now,
  newId = randomId,
  limit = usualLimit,
}: ApprovalsOptions = {}): Approvals {
  const waiting = new Map<string, Waiting>()
  const { emit, subscribe } = createListeners()
  const ask: Approvals["ask"] = (asked, signal) => {
    if (signal.aborted) return Promise.resolve(false)
    const approval = pendingOf(asked, newId(), now())
    const { id, session, tool } = approval
    if (waiting.size >= limit || waiting.has(id)) {
      emit({ atMs: now(), type: "approval-turned-away", session, tool })
      return Promise.resolve(false)
    }
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const withdraw = (): void => end("withdrawn")
    const end = (outcome: Outcome): void => {
      if (!waiting.delete(id)) return
      signal.removeEventListener("abort", withdraw)
      resolve(outcome === "approved")
      emit({ atMs: now(), type: "approval-settled", id, session, outcome })
    }
    waiting.set(id, { approval, end })
    signal.addEventListener("abort", withdraw, { once: true })
    emit({ atMs: now(), type: "approval-asked", approval })
    return promise
  }
  return {
    ask,
    pending: () => [...waiting.values()].map(({ approval }) => approval),
    settle: (id, approved) => {
      const found = waiting.get(id)
      found?.end(approved ? "approved" : "refused")
      return found !== undefined
    },
    subscribe,
  }
}

/** Listeners that are told; one that throws is not asked again, because it must not keep a call from its answer. */
function createListeners(): { readonly emit: ApprovalListener; readonly subscribe: Approvals["subscribe"] } {
  const listeners = new Map<symbol, ApprovalListener>()
  return {
    emit: (event) => {
      for (const [key, listener] of listeners) {
        try {
          listener(event)
        } catch {
          listeners.delete(key)
        }
      }
    },
    subscribe: (listener) => {
      const key = Symbol("listener")
      listeners.set(key, listener)
      return () => {
        listeners.delete(key)
      }
    },
  }
}

function pendingOf({ session, tenant, trace, callId, call, verdict }: CallToApprove, id: string, atMs: number) {
  const { value, cut } = boundValue(call.input, inputBounds)
  const input = JSON.stringify(value) ?? ""
  const tool = startOfText(call.tool, maxName)
  const reasons = verdict.reasons.slice(0, reasonBounds.items).map(toldReason)
  const whole = !cut && tool === call.tool && reasons.length === verdict.reasons.length
  return { id, atMs, session, tenant, trace, tool, input, cut: !whole, reasons, ...present({ callId }) }
}

function toldReason({ policy, rule, instead, decision, facts }: VerdictReason): VerdictReason {
  const most = reasonBounds.text
  const told = Object.entries(facts).slice(0, reasonBounds.items)
  return {
    policy: startOfText(policy, most),
    rule: startOfText(rule, most),
    decision,
    facts: Object.fromEntries(told.map(([name, value]) => [name, toldFact(value)])),
    ...present({ instead: instead === undefined ? undefined : startOfText(instead, most) }),
  }
}

function toldFact(value: VerdictReason["facts"][string]): VerdictReason["facts"][string] {
  if (typeof value === "string") return startOfText(value, reasonBounds.text)
  if (typeof value !== "object") return value
  return value.slice(0, reasonBounds.items).map((text) => startOfText(text, reasonBounds.text))
}
