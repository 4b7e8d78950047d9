import { isSpeaker } from "../../guard/policy/template.ts"
import { startOfText } from "../../language/cut-text.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { entryId } from "../../session/log/entry.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { ApprovalAnswer, ApprovalsAnswer, SettledApproval } from "./answers.ts"
import type { Approvals } from "./approvals.ts"
import { messageLine, messageText } from "./handoff-lines.ts"
import type { Replicas } from "./replicas.ts"
import type { Profiles } from "./session-profile.ts"

/** A call that waits for approval, in this process or at another replica. */
type PendingCall = Omit<ApprovalAnswer, "expiresAtMs" | "evidence" | "before"> & { readonly callId?: string }

type DeskDeps = {
  readonly approvals: Approvals
  readonly profiles: Profiles
  readonly replicas: Replicas
  readonly now: () => number
  /** How long a call waits for a person. */
  readonly askTimeoutMs?: number
  readonly placeOf?: (policy: string) => { readonly source: string; readonly line: number } | undefined
}

const maxSettled = 30
/** Messages searched for a value, newest first. */
const maxSearched = 200
const maxValues = 12
const valueLength = 200
/** Minimum length of a value to search for; a shorter one occurs in some message by chance. */
const minValueLength = 3
const maxBefore = 4

export type ApprovalDesk = ReturnType<typeof openApprovalDesk>

/** Collects what a person needs to decide on calls: the deadline, the sources of values, the messages before, earlier outcomes. */
export function openApprovalDesk({ approvals, profiles, replicas, now, askTimeoutMs, placeOf }: DeskDeps) {
  const asked = new Map<string, PendingCall>()
  const settled: SettledApproval[] = []
  const settle = ({ id, session, outcome, atMs }: SettledOutcome): void => {
    const before = asked.get(id)
    asked.delete(id)
    settled.unshift({ id, atMs, tool: before?.tool ?? "", session, outcome, waitedMs: atMs - (before?.atMs ?? atMs) })
    settled.splice(maxSettled)
  }
  const stop = approvals.subscribe((event) => {
    if (event.type === "approval-asked") asked.set(event.approval.id, event.approval)
    if (event.type === "approval-settled") settle(event)
  })
  replicas.subscribe(({ name, value }) => {
    const pending = name === "approval" ? readPending(value.approval) : undefined
    if (pending !== undefined) asked.set(pending.id, pending)
    const outcome = name === "approval" ? readOutcome(value) : undefined
    if (outcome !== undefined) settle(outcome)
  })
  /** Leaves out old calls of other replicas: a killed replica does not report that its calls no longer wait. */
  const waiting = (): readonly PendingCall[] => {
    const earliestMs = now() - (askTimeoutMs ?? Infinity)
    const here = new Set(approvals.pending().map(({ id }) => id))
    return [...asked.values()].filter(({ id, atMs }) => here.has(id) || atMs >= earliestMs)
  }
  const explain = async (approval: PendingCall): Promise<ApprovalAnswer> => {
    const messages = await newestMessages(profiles, approval.session)
    const expiresAtMs = askTimeoutMs === undefined ? undefined : approval.atMs + askTimeoutMs
    const said = messages.map(({ entry, message }) => ({ ...messageLine(message), entry }))
    return {
      ...approval,
      reasons: approval.reasons.map((reason) => ({ ...reason, ...placeOf?.(reason.policy) })),
      ...present({ expiresAtMs }),
      evidence: evidenceFor(approval, messages),
      before: said
        .filter(({ who, text }) => (who === "person" || who === "model") && text !== "")
        .slice(0, maxBefore)
        .reverse(),
    }
  }
  return {
    tell: async (): Promise<ApprovalsAnswer> => ({
      approvals: await Promise.all(waiting().map(explain)),
      settled: [...settled],
    }),
    /** The number of waiting calls, including those at other replicas. */
    count: (): number => waiting().length,
    stop,
  }
}

type SettledOutcome = Omit<SettledApproval, "tool" | "waitedMs">

const outcomes = ["approved", "refused", "withdrawn"] as const

/** Reads another replica's event about a call that was settled there. */
function readOutcome({
  type,
  id,
  session,
  atMs,
  outcome,
}: Readonly<Record<string, unknown>>): SettledOutcome | undefined {
  const known = outcomes.find((one) => one === outcome)
  if (type !== "approval-settled" || known === undefined) return undefined
  if (typeof id !== "string" || typeof session !== "string" || typeof atMs !== "number") return undefined
  return { id, session, atMs, outcome: known }
}

/** Reads another replica's event about a call that waits there. */
function readPending(value: unknown): PendingCall | undefined {
  if (!isObject(value)) return undefined
  const { id, atMs, session, tool, input, cut, callId, reasons } = value
  if (typeof id !== "string" || typeof atMs !== "number" || typeof session !== "string") return undefined
  if (typeof tool !== "string" || typeof input !== "string") return undefined
  const told = (Array.isArray(reasons) ? reasons.filter(isObject) : []).map(
    ({ policy, rule, speaker, instead, facts }) => ({
      policy: String(policy),
      rule: String(rule),
      facts: isObject(facts) ? facts : {},
      ...present({
        speaker: isSpeaker(speaker) ? speaker : undefined,
        instead: typeof instead === "string" ? instead : undefined,
      }),
    }),
  )
  const named = present({ callId: typeof callId === "string" ? callId : undefined })
  return { id, atMs, session, tool, input, cut: cut === true, reasons: told, ...named }
}

type LoggedMessage = { readonly entry: string; readonly message: Message }

async function newestMessages(profiles: Profiles, session: string): Promise<readonly LoggedMessage[]> {
  const { outline, messages } = await profiles.read(session)
  const path = (outline.path(outline.tip()) ?? []).slice(-maxSearched)
  return [...(await messages(path))].map(([seq, message]) => ({ entry: entryId(seq), message })).reverse()
}

function evidenceFor({ input, callId }: PendingCall, messages: readonly LoggedMessage[]): ApprovalAnswer["evidence"] {
  // The message with the call is not evidence for its own values.
  const others = messages.filter(
    ({ message }) => !message.parts.some((part) => part.type === "tool-call" && part.callId === callId),
  )
  const texts = others.map(({ entry, message }) => ({ entry, message, text: messageText(message) }))
  return valuesIn(tryParse(input))
    .slice(0, maxValues)
    .map(({ name, value }) => {
      const found = value.length < minValueLength ? undefined : texts.find(({ text }) => text.includes(value))
      return {
        name,
        value: startOfText(value, valueLength),
        ...(found === undefined ? {} : { entry: found.entry, who: messageLine(found.message).who }),
      }
    })
}

function valuesIn(input: unknown, name = ""): readonly { readonly name: string; readonly value: string }[] {
  if (typeof input === "string" || typeof input === "number") return [{ name, value: String(input) }]
  if (Array.isArray(input)) return input.flatMap((one, n) => valuesIn(one, `${name}[${n}]`))
  if (!isObject(input)) return []
  return Object.entries(input).flatMap(([key, value]) => valuesIn(value, name === "" ? key : `${name}.${key}`))
}
