import { HoldfastError } from "../message/errors.ts"
import type { ModelRequest } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Prepared } from "../session/prepared.ts"
import type { UsageReport } from "../session/record.ts"
import { type FastPath, fastPathOf } from "./fast-path/fast-path.ts"
import { type FastPaths, namesItself } from "./fast-path/fast-paths.ts"
import type { IncomingCall } from "./fast-path/incoming-call.ts"
import { notYours, sharesAccount } from "./http/headers.ts"
import type { LocateDeps, Located } from "./locate.ts"
import { type OwnAnswer, previousNotFound, threadUnsupported } from "./server-state/compaction-answer.ts"
import { formFor } from "./server-state/form.ts"
import { type Sent, spare } from "./server-state/instead.ts"
import { isOwnResponseId, storesAnswer } from "./server-state/whole.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { stackOfCall } from "./settings/stack-rules.ts"
import { chooseUpstream, familyOf, type Upstream } from "./settings/upstream.ts"
import { isAnswerCounted, type WindowDeps, windowOf } from "./window-of.ts"

export type OutgoingDeps = LocateDeps &
  WindowDeps &
  Pick<
    GatewayOptions,
    "operator" | "guard" | "store" | "stacks" | "tenants" | "upstreams" | "windowTokens" | "now" | "onFault"
  > & {
    readonly fastPaths: FastPaths
    readonly waiting: WaitingRequests
  }

/** A request that its session has taken in. */
export type IngestedCall = Located & {
  readonly prepared: Prepared
  readonly sent: Sent
  /** What to send, where that is not what came. */
  readonly body?: Buffer
  /** Its answer, if there was one, has been written down. */
  readonly done: (id: string | undefined) => void
}

/** Have the session of a request prepare the call. Of some it is known at once what the answer is. */
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
  if (located.assignment.held === "unknown" && sharesAccount(deps, upstreamOf(deps, incomingCall, request))) {
    begun?.(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    if (previous !== undefined && request.held?.type === "previous-response") return previousNotFound(previous)
    throw new HoldfastError(notYours)
  }
  const done = begun ?? deps.held.begin(incomingCall.tenant, incomingCall.format)
  try {
    const prepared = await prepareCall(deps, incomingCall, located)
    const { receipt, wire } = prepared
    const form = formFor(whole, request, wire)
    const sent: Sent = { form, wire, isOther: false, tried: new Set(), ...present({ whole }) }
    spare(sent, request, deps.held.minded(session.id))
    const changed = sent.form.type !== "send" || sent.form.body !== request.wire
    const body = sent.form.type === "send" && changed ? Buffer.from(sent.form.body) : undefined
    if (request.held === undefined) {
      const seen = {
        session: session.id,
        bytes: incomingCall.bytes,
        request: changed ? request : asHeld(request, prepared),
        receipt,
        changed,
        rules: prepared.rules,
        isNamed: namesItself(incomingCall),
        ...present({ before: fastPath }),
      }
      // Where the provider keeps state, only a body that differs by the stack alone may be the head of the next.
      const isStackAlone = receipt.checkpoint === undefined && isWritten(located, sent, wire)
      const head = whole === undefined || isStackAlone ? body : undefined
      deps.fastPaths.put(incomingCall, fastPathOf({ ...seen, ...present({ sent: head }) }))
    }
    return { ...located, prepared, sent, done, ...present({ body }) }
  } catch (error) {
    done(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    const isTooLong = error instanceof HoldfastError && tooLong.has(error.problem.code)
    if (isTooLong && request.held?.type === "thread") return threadUnsupported(`req_${incomingCall.id}`)
    throw error
  }
}

/** Was the request sent as its session wrote it, with nothing that the provider holds, or that stands for something else, in it? */
const isWritten = ({ whole, request }: Located, { form, tried }: Sent, wire: string): boolean =>
  whole !== undefined &&
  whole.before === undefined &&
  whole.text === request.wire &&
  form.type === "send" &&
  form.body === wire &&
  tried.size === 0

/** The request with the messages that its session holds: then they are held once. */
const asHeld = (request: ModelRequest, { context: { messages } }: Prepared): ModelRequest =>
  messages.length === request.messages.length ? { ...request, messages } : request

const tooLong: ReadonlySet<string> = new Set(["budget-impossible", "floor-exceeds-window"])

export function prepareCall(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  { session, request, whole }: Located,
  window?: number,
) {
  const model = incomingCall.model ?? request.model
  const windowTokens = window ?? windowOf(deps, incomingCall, model)
  const reserveTokens = isAnswerCounted(deps, incomingCall.tenant, model) ? request.maxOutputTokens : undefined
  const { format, own } = incomingCall
  const stack = stackOfCall(deps.stacks, incomingCall, request.model)
  return session.prepare({
    format,
    // What the provider holds is written out: then the text is another one.
    ...(whole === undefined || whole.text === request.wire ? { request } : { body: whole.text }),
    repair: "when-changed",
    whenStoreIsAway: deps.whenStoreIsAway ?? "refuse",
    ...present({ model, windowTokens, reserveTokens, focus: own.focus, stack }),
  })
}

const upstreamOf = (
  { upstreams }: OutgoingDeps,
  { format, model }: IncomingCall,
  request: ModelRequest,
): Upstream | undefined => chooseUpstream(upstreams, familyOf[format], model ?? request.model)

/**
 * A request that waits to be taken in: the next one of its session, which has all of it and its answer, may come first, or the very same
 * once more, from a client that did not take the answer.
 */
type Waiting = {
  readonly bytes: Buffer
  /** What the calls took that it goes on from and that were skipped, for its own record. */
  readonly spent: readonly UsageReport[]
  /** What it took itself. */
  report?: UsageReport
  hasEnded: boolean
  isBegun: boolean
  isSkipped: boolean
}

/** By session: what was sent on at once last and is still to be taken in. */
type WaitingRequests = Map<string, Waiting>

/** What a request that goes on from another says again need not be taken in twice. */
export function skipEarlier(
  waiting: WaitingRequests,
  { session, request }: { readonly session: string; readonly request: ModelRequest },
  bytes: Buffer,
): Waiting {
  const earlier = waiting.get(session)
  // Of an answer that the provider keeps, the next request may have no more than its id.
  if (earlier?.hasEnded && !earlier.isBegun && !storesAnswer(request)) {
    earlier.isSkipped = earlier.bytes.length < bytes.length || earlier.bytes.equals(bytes)
  }
  const spent = earlier?.isSkipped ? earlier.spent.concat(earlier.report ?? []) : []
  const one: Waiting = { bytes, spent, hasEnded: false, isBegun: false, isSkipped: false }
  waiting.set(session, one)
  return one
}
