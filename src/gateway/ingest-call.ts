import { HoldfastError } from "../message/errors.ts"
import { familyOf, type ModelRequest } from "../message/message.ts"
import { longBody } from "../session/compact-view.ts"
import type { Prepared } from "../session/history/prepared.ts"
import type { UsageReport } from "../session/record.ts"
import type { Spending } from "../session/state/spending.ts"
import { othersServed } from "../store/pace.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { type FastPath, type FastPaths, fastPathOf, type IncomingCall, namesItself } from "./fast-path/fast-path.ts"
import { contextNeed } from "./http/wire-error.ts"
import type { LocateDeps, Located } from "./locate.ts"
import { type OwnAnswer, previousNotFound, threadUnsupported } from "./server-state/compaction-answer.ts"
import { formFor } from "./server-state/form.ts"
import { removeRejectedReasoning, type Sent } from "./server-state/instead.ts"
import { isOwnResponseId, storesAnswer } from "./server-state/whole.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { stackOfCall } from "./settings/stack-rules.ts"
import {
  chooseUpstream,
  isAnswerCounted,
  sharedKeyRefusal,
  sharesAccount,
  type WindowDeps,
  windowOf,
} from "./settings/upstream.ts"

export type OutgoingDeps = LocateDeps &
  WindowDeps &
  Pick<
    GatewayOptions,
    "operator" | "guard" | "store" | "stacks" | "tenants" | "upstreams" | "windowTokens" | "now" | "onFault"
  > & {
    readonly fastPaths: FastPaths
    /** What calls outside sessions spend counts here. */
    readonly spending: Spending
    readonly waiting: WaitingRequests
  }

/** A request that its session has stored and prepared. */
export type IngestedCall = Located & {
  readonly prepared: Prepared
  readonly sent: Sent
  /** The body to send, if it differs from the client's. */
  readonly body?: Buffer | undefined
  /** Call when the response, if there was one, has been recorded. */
  readonly done: (id: string | undefined) => void
}

/** Lets the session prepare a request. Some requests are answered directly, without asking the upstream. */
export async function ingestCall(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  located: Located,
  { fastPath, begun }: { readonly fastPath?: FastPath | undefined; readonly begun?: IngestedCall["done"] } = {},
): Promise<IngestedCall | OwnAnswer> {
  const { session, request, whole } = located
  const previous = whole === undefined ? request.held?.id : undefined
  if (previous !== undefined && isOwnResponseId(previous)) {
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    return previousNotFound(previous)
  }
  const upstream = chooseUpstream(deps.upstreams, familyOf[incomingCall.format], incomingCall.model ?? request.model)
  if (sharesAccount(deps, upstream) && isForeign(located)) {
    begun?.(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    if (previous !== undefined && request.held?.type === "previous-response") return previousNotFound(previous)
    throw new HoldfastError(sharedKeyRefusal)
  }
  const done = begun ?? deps.held.begin(incomingCall.tenant, incomingCall.format)
  try {
    const prepared = await prepareCall(deps, incomingCall, located, begun === undefined ? {} : { isSent: true })
    const { receipt, wire } = prepared
    // A long body is written in one piece.
    if (wire.length > longBody) await othersServed()
    const form = formFor(whole, request, wire)
    const sent: Sent = { form, wire, isOther: false, tried: new Set(), whole }
    const rejected = deps.held.rejectedReasoning(session.id)
    if (rejected !== undefined) removeRejectedReasoning(sent, request, rejected)
    const changed = sent.form.type !== "send" || sent.form.body !== request.wire
    const body = sent.form.type === "send" && changed ? Buffer.from(sent.form.body) : undefined
    if (request.held === undefined) {
      // If the provider keeps the history, a changed body may be the prefix of the next request only if it differs by the prompt stack
      // alone.
      const isStackAlone = whole === undefined || (receipt.checkpoint === undefined && isWritten(located, sent, wire))
      const seen = {
        session: session.id,
        bytes: incomingCall.bytes,
        request: changed ? request : asHeld(request, prepared),
        receipt,
        changed,
        rules: prepared.rules,
        isNamed: namesItself(incomingCall),
        before: fastPath,
        sent: isStackAlone ? body : undefined,
      }
      deps.fastPaths.put(incomingCall, fastPathOf(seen))
    }
    return { ...located, prepared, sent, done, body }
  } catch (error) {
    done(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    const isTooLong = error instanceof HoldfastError && contextNeed(error.problem) !== undefined
    if (isTooLong && request.held?.type === "thread") return threadUnsupported(`req_${incomingCall.id}`)
    throw error
  }
}

/** True if a request refers to a response or item that its tenant never got through this gateway: in a shared account, maybe another's. */
export const isForeign = ({ assignment, whole }: Located): boolean =>
  assignment.held === "unknown" || (whole?.expanded ?? []).some(({ own, type }) => type === "itself" && namesItem(own))

/** True if an element is only the id of an item. The provider does not need its type. */
function namesItem(element: string): boolean {
  const read = tryParse(element)
  if (!isObject(read) || typeof read.id !== "string") return false
  return read.type === "item_reference" || (typeof read.type !== "string" && read.role === undefined)
}

/** True if the request was sent exactly as its session wrote it, without history at the provider and without substituted items. */
const isWritten = ({ whole, request }: Located, { form, tried }: Sent, wire: string): boolean =>
  whole !== undefined &&
  whole.before === undefined &&
  whole.text === request.wire &&
  form.type === "send" &&
  form.body === wire &&
  tried.size === 0

/** Uses the session's own message objects in the request, so that they are in memory only once. */
const asHeld = (request: ModelRequest, { context: { messages } }: Prepared): ModelRequest =>
  messages.length === request.messages.length ? { ...request, messages } : request

export function prepareCall(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  { session, request, whole }: Located,
  { window, isSent }: { readonly window?: number; readonly isSent?: true } = {},
) {
  const model = incomingCall.model ?? request.model
  const windowTokens = window ?? windowOf(deps, incomingCall, model)
  const reserveTokens = isAnswerCounted(deps, incomingCall.tenant, model) ? request.maxOutputTokens : undefined
  const { format, own } = incomingCall
  const stack = stackOfCall(deps.stacks, incomingCall, request.model)
  return session.prepare({
    format,
    // If the provider's history was written out, the text differs from the client's request.
    ...(whole === undefined || whole.text === request.wire ? { request } : { body: whole.text }),
    repair: "when-changed",
    whenStoreIsAway: deps.whenStoreIsAway ?? "refuse",
    model,
    windowTokens,
    reserveTokens,
    focus: own.focus,
    stack,
    isSent,
  })
}

/**
 * A request that waits to be stored. Before that, the next request of the session may arrive, which contains this one and its response, or
 * a retry of the same request by a client that did not receive the response.
 */
type Waiting = {
  readonly bytes: Buffer
  /** Token usage of the skipped requests that this one contains; stored with this one. */
  readonly spent: readonly UsageReport[]
  /** Token usage of this request. */
  report?: UsageReport
  hasEnded: boolean
  isBegun: boolean
  isSkipped: boolean
}

/** For each session, the last request that was forwarded at once and is not stored yet. */
type WaitingRequests = Map<string, Waiting>

/** Skips storing an earlier request that is still waiting if this one contains it. */
export function skipEarlier(
  waiting: WaitingRequests,
  { session, request }: { readonly session: string; readonly request: ModelRequest },
  bytes: Buffer,
): Waiting {
  const earlier = waiting.get(session)
  // If the provider stores the response, the next request may contain only its id, so the earlier request must be stored.
  if (earlier?.hasEnded && !earlier.isBegun && !storesAnswer(request)) {
    earlier.isSkipped = earlier.bytes.length < bytes.length || earlier.bytes.equals(bytes)
  }
  const spent = earlier?.isSkipped ? earlier.spent.concat(earlier.report ?? []) : []
  const one: Waiting = { bytes, spent, hasEnded: false, isBegun: false, isSkipped: false }
  waiting.set(session, one)
  return one
}
