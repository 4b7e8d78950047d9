import { setTimeout as sleep } from "node:timers/promises"
import { joinGuards } from "../guard/join-guards.ts"
import { HoldfastError } from "../message/errors.ts"
import type { ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type SessionOwner, usualAgent } from "../session/options.ts"
import { sessionNames } from "../session/pins.ts"
import { findModel } from "../tokens/models.ts"
import { bodyFor, type FastPath, goesOn, isSureOf } from "./fast-path/fast-path.ts"
import { type IncomingCall, ownerOf } from "./fast-path/incoming-call.ts"
import { leavesSize } from "./fast-path/room.ts"
import { groupSession } from "./identity/names.ts"
import { type IngestedCall, ingestCall, type OutgoingDeps, prepareCall, skipEarlier } from "./ingest-call.ts"
import { type Located, locate } from "./locate.ts"
import { threadUnsupported } from "./server-state/compaction-answer.ts"
import { formFor } from "./server-state/form.ts"
import { insteadOf, noting, type RefusedCall, spare } from "./server-state/instead.ts"
import type { How } from "./settings/exchange-record.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { stackOfCall } from "./settings/stack-rules.ts"
import {
  type AskAside,
  type Known,
  learnCountsAnswer,
  learnWindow,
  type OutgoingCall,
  type TooLong,
  tighter,
  type WindowDeps,
  windowOf,
} from "./window-of.ts"

/** Work that waits for one session: with more, the next request waits for it rather than pile up more. */
const maxWaiting = 32

/** Open an outgoing call: send it on as it came if it plainly only goes on or begins, otherwise have its session prepare it. */
export async function openOutgoingCall(deps: OutgoingDeps, incomingCall: IncomingCall): Promise<OutgoingCall> {
  const fastPath = deps.fastPaths.find(incomingCall)
  if (fastPath !== undefined) await freshRules(deps)
  const next =
    fastPath === undefined || !mayGoAtOnce(deps, fastPath, incomingCall)
      ? undefined
      : goesOn(fastPath, incomingCall.bytes, deps.holdfast.policy)
  if (next !== undefined) {
    deps.fastPaths.put(incomingCall, next)
    return callAtOnce(deps, incomingCall, { ...next, fastPath: next })
  }
  if (fastPath !== undefined) await deps.lines.idle(fastPath.session)
  const located = await locate(
    deps,
    incomingCall,
    fastPath,
    fastPath !== undefined && isSureOf(fastPath, incomingCall.bytes),
  )
  if (!(await beginsAtOnce(deps, incomingCall, located))) return preparedCall(deps, incomingCall, located, fastPath)
  return callAtOnce(deps, incomingCall, { session: located.session.id, request: located.request, located })
}

/** A store that does not answer as soon keeps no request that only goes on: it goes by the rules as they were last known. */
const maxRefreshMs = 500

/** A rule that was pinned a moment ago, by another program, is in force for the next request. */
async function freshRules({ operator }: OutgoingDeps): Promise<void> {
  if (operator === undefined) return
  const late = new AbortController()
  const waiting = sleep(maxRefreshMs, undefined, { signal: late.signal }).catch(() => undefined)
  await Promise.race([operator.refresh(), waiting]).finally(() => late.abort())
}

/**
 * Other processes may write the same sessions, the operator's rules have to be put into every request, and a changed stack may be wanted
 * at once: then each is prepared. A stack that changes with compactions alone is in the head of the fast path.
 */
function mayGoAtOnce(
  { store, operator, lines, stacks }: OutgoingDeps,
  { session, receipt, request }: FastPath,
  incomingCall: IncomingCall,
): boolean {
  const isPlain = !store.isShared && (operator?.standing().rules.length ?? 0) === 0
  const wantsStack = stacks !== undefined && stackOfCall(stacks, incomingCall, request.model) !== undefined
  const hasItsStack = receipt.stack?.changes !== "now" && (receipt.stack !== undefined || !wantsStack)
  return isPlain && hasItsStack && lines.waiting(session) < maxWaiting
}

/** What is sent on at once: the next request of a fast path, or the first of a session. */
type Going = Pick<FastPath, "session" | "request"> & { readonly fastPath?: FastPath; readonly located?: Located }

function callAtOnce(deps: OutgoingDeps, incomingCall: IncomingCall, going: Going): OutgoingCall {
  const { session, request, fastPath } = going
  let taken: IngestedCall | undefined
  const judged = { isOther: false }
  const own = skipEarlier(deps.waiting, going, incomingCall.bytes)
  const done = deps.held.begin(incomingCall.tenant, incomingCall.format)
  const failed = (error: unknown): never => {
    done(undefined)
    throw error
  }
  const takeIn = async (): Promise<void> => {
    own.isBegun = true
    if (deps.waiting.get(session) === own) deps.waiting.delete(session)
    const located = going.located ?? (await locate(deps, incomingCall, fastPath, true).catch(failed))
    const got = await ingestCall(deps, incomingCall, located, { fastPath, begun: done })
    if ("session" in got) taken = got
  }
  const taking = deps.lines.add(session, async () => {
    if (!own.isSkipped) await takeIn()
  })
  const after = async (): Promise<IngestedCall> => {
    await taking
    if (own.isSkipped) await takeIn()
    if (taken === undefined) throw new HoldfastError({ code: "session-unknown", session })
    return taken
  }
  return {
    how: "at-once",
    bytes: fastPath === undefined ? incomingCall.bytes : bodyFor(fastPath),
    changed: fastPath?.splice !== undefined,
    known: () => (taken === undefined ? { session, trace: [], ...present({ model: request.model }) } : knownOf(taken)),
    guarding: async () => noting(await deps.holdfast.session(session, ownerOf(incomingCall)).guarding(), judged),
    repeated: () => {
      judged.isOther = true
    },
    smaller: async (refusal) => smaller(deps, incomingCall, await after(), refusal),
    instead: async (refused) => instead(deps, incomingCall, await after(), refused),
    ended: firstOf((end) => {
      own.hasEnded = true
      void deps.held.ending(incomingCall.tenant, session, () =>
        deps.lines.add(session, async () => {
          // The next one has it all, and goes on from the same bytes.
          if (own.isSkipped) return done(undefined)
          const { sent, ...rest } = await after()
          await record(deps, { ...rest, sent: { ...sent, isOther: sent.isOther || judged.isOther } }, end)
        }),
      )
    }),
    summarize: (bytes, ask) => void summarize(deps, { session, owner: ownerOf(incomingCall), bytes, ask }),
  }
}

async function preparedCall(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  located: Located,
  fastPath: FastPath | undefined,
): Promise<OutgoingCall> {
  const taken = await ingestCall(deps, incomingCall, located, { fastPath })
  if ("status" in taken) return { ...untouchedCall(incomingCall, "answered", deps), answer: taken }
  const { request, session, sent, body } = taken
  return {
    how: "prepared",
    bytes: body ?? incomingCall.bytes,
    changed: body !== undefined,
    request,
    ...(sent.form.type === "send" ? {} : { answer: threadUnsupported(`req_${incomingCall.id}`) }),
    known: () => knownOf(taken),
    guarding: async () => noting(await session.guarding(), sent),
    seen: () => sent.wire,
    repeated: () => {
      sent.isOther = true
    },
    smaller: (refusal) => smaller(deps, incomingCall, taken, refusal),
    instead: (refused) => instead(deps, incomingCall, taken, refused),
    ended: firstOf((end) => {
      void deps.held.ending(incomingCall.tenant, session.id, () =>
        deps.lines.add(session.id, () => record(deps, taken, end)),
      )
    }),
    summarize: (bytes, ask) => void summarize(deps, { session: session.id, owner: ownerOf(incomingCall), bytes, ask }),
  }
}

type End = { readonly answer: ModelResponse | undefined; readonly isCut: boolean }

/** The first word on how an outgoing call ended; any later one is not heard. */
function firstOf(hear: (end: End) => void): OutgoingCall["ended"] {
  let heard = false
  return (answer, isCut = false) => {
    if (!heard) hear({ answer, isCut })
    heard = true
  }
}

const knownOf = ({ session, prepared: { receipt, trace }, request }: IngestedCall): Known => ({
  session: session.id,
  receipt,
  trace,
  ...present({ model: request.model }),
})

/** What to do about a refusal. The next request may not be sent on as it comes, for it would be refused as well. */
function instead(deps: OutgoingDeps, incomingCall: IncomingCall, taken: IngestedCall, refused: RefusedCall) {
  const model = incomingCall.model ?? taken.request.model
  const windowTokens = windowOf(deps, incomingCall, model)
  const fastPath = deps.fastPaths.find(incomingCall)
  if (fastPath?.session === taken.session.id) deps.fastPaths.put(incomingCall, { ...fastPath, plain: false })
  return insteadOf(taken, refused, { id: incomingCall.id, atMs: deps.now(), ...present({ model, windowTokens }) })
}

async function smaller(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  taken: IngestedCall,
  refusal: TooLong,
): Promise<Buffer | undefined> {
  const { session, request, prepared, sent } = taken
  const model = incomingCall.model ?? request.model ?? ""
  if (refusal.answerTokens === undefined)
    learnWindow(deps, incomingCall.tenant, model, refusal.windowTokens ?? prepared.receipt.contextTokens)
  else learnCountsAnswer(deps, incomingCall.tenant, model)
  const again = await prepareCall(deps, incomingCall, taken, tighter(refusal, prepared)).catch((error: unknown) => {
    if (error instanceof HoldfastError) return undefined
    throw error
  })
  deps.fastPaths.drop(session.id)
  if (again === undefined || again.wire.length >= prepared.wire.length) return undefined
  const form = formFor(sent.whole, request, again.wire)
  if (form.type !== "send") return undefined
  sent.wire = again.wire
  sent.form = form
  spare(sent, request, deps.held.minded(session.id))
  return Buffer.from(sent.form.body)
}

async function record({ lineages, held }: OutgoingDeps, taken: IngestedCall, end: End): Promise<void> {
  const { session, assignment, request, whole, sent, done } = taken
  const { answer, isCut } = end
  try {
    const messages = answer?.messages ?? []
    const recorded = answer === undefined || messages.length === 0 ? undefined : await session.record(answer)
    const seen = { isCut, ...present({ responseId: answer?.id, entry: recorded?.entries.at(-1) }) }
    await lineages.answered(assignment, request, messages, seen)
    const { form, wire, isOther, tried } = sent
    const minded = tried.has("without-reasoning") ? "all" : tried.has("without-old-reasoning") ? "old" : undefined
    if (minded !== undefined && answer !== undefined) held.noteMinded(session.id, minded)
    if (answer === undefined || isCut || whole === undefined || form.type !== "send") return
    await held.remember(taken, whole, {
      answer,
      wire,
      elements: form.elements,
      allLogged: taken.prepared.allLogged,
      isOther,
      isInline: tried.has("inline"),
    })
  } finally {
    done(answer?.id)
  }
}

type Summarizing = {
  readonly session: string
  readonly owner: SessionOwner
  readonly bytes: Buffer
  readonly ask: AskAside
}

/** After the answer is in the log, and beside the line of the session's work: its next request does not wait. */
async function summarize(
  { lines, holdfast, onFault }: OutgoingDeps,
  { session, owner, bytes, ask }: Summarizing,
): Promise<void> {
  try {
    await lines.idle(session)
    const call = await holdfast.session(session, owner).summaryCall(bytes.toString("utf8"))
    if (call === undefined) return
    const asked = await ask(call.body, call.model).catch((error: unknown) => {
      if (error instanceof HoldfastError) return { reason: error.problem.code }
      throw error
    })
    if ("reason" in asked) call.failed(asked.reason)
    else if (asked.response === undefined) call.failed(`status-${asked.status}`)
    else await call.answered(asked.response)
  } catch (error) {
    if (!(error instanceof HoldfastError)) onFault(error)
  }
}

type BeginDeps = WindowDeps & Pick<GatewayOptions, "holdfast" | "store" | "stacks">

/** Of the window; no more than the rest is ever kept free for the answer. */
const surelyRoom = 0.5

/**
 * May the first request of a session be sent on before the session takes it in? Only where that would leave it as it is: nothing was
 * said in the session before, nothing is put into requests here, and there is ample room. Other processes on the same store may know more.
 */
async function beginsAtOnce(deps: BeginDeps, incomingCall: IncomingCall, located: Located): Promise<boolean> {
  const { assignment, session, request, whole } = located
  const { isNew, fork, held } = assignment
  const isHeld = held !== undefined || whole !== undefined || request.held !== undefined
  if (!isNew || fork !== undefined || isHeld || deps.store.isShared) return false
  const model = incomingCall.model ?? request.model
  if (stackOfCall(deps.stacks, incomingCall, request.model) !== undefined) return false
  const windowTokens = windowOf(deps, incomingCall, model) ?? findModel(model ?? "").windowTokens
  const pieceBytes = request.messages.reduce((most, { wire = "" }) => Math.max(most, Buffer.byteLength(wire)), 0)
  const size = { countedTokens: 0, moreBytes: incomingCall.bytes.length, pieceBytes }
  const { policy } = deps.holdfast
  const compactAtTokens = Math.min(windowTokens * surelyRoom * policy.compactAt, policy.compactAtTokens ?? windowTokens)
  if (!leavesSize(policy, size, compactAtTokens)) return false
  try {
    // A name may be new where a log is not: someone pinned a rule in a session before its first request.
    const { seq } = await deps.store.head(session.id)
    return seq === 0 && !(await deps.holdfast.addsToRequests(ownerOf(incomingCall)))
  } catch (error) {
    if (error instanceof HoldfastError) return false
    throw error
  }
}

const namesIn = (tenant: string, session: string | undefined): readonly string[] =>
  session === undefined ? [] : [session, ...sessionNames(groupSession(tenant, session, undefined), { tenant })]

/** A call that goes on as it came, in no session. The operator's policies, and the built-in one, judge its answer all the same. */
export function untouchedCall(
  { bytes, own, tenant }: IncomingCall,
  how: How,
  { operator, guard: builtIn }: Pick<GatewayOptions, "operator" | "guard">,
): OutgoingCall {
  const guarding = async () => {
    const laid = (await operator?.refresh())?.guard
    const [first, ...others] = [builtIn, laid].filter((guard) => guard !== undefined)
    if (first === undefined) return undefined
    const { agent = usualAgent, session } = own
    const circumstances = { agent, sessions: namesIn(tenant, session) }
    return { guard: joinGuards([first, ...others]), circumstances, onJudged: async () => {} }
  }
  return {
    how,
    bytes,
    changed: false,
    known: () => ({ trace: [] }),
    guarding,
    smaller: async () => undefined,
    ended: () => {},
  }
}
