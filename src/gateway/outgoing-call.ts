import { setTimeout as sleep } from "node:timers/promises"
import { joinGuards } from "../guard/join-guards.ts"
import { HoldfastError, ignoreProblem } from "../message/errors.ts"
import type { ModelRequest, ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ContextRefusal } from "../model/too-long.ts"
import type { Receipt } from "../session/history/prepared.ts"
import type { Trace } from "../session/log/event.ts"
import type { SessionGuarding } from "../session/record.ts"
import { sessionNames } from "../session/rules/pins.ts"
import { type SessionOwner, usualAgent } from "../session/state/options.ts"
import { guardOutside } from "../session/state/spending.ts"
import { findModel } from "../tokens/models.ts"
import {
  bodyFor,
  continueFastPath,
  type FastPath,
  type IncomingCall,
  isSureOf,
  leavesSize,
} from "./fast-path/fast-path.ts"
import { groupSession } from "./identity/names.ts"
import { type IngestedCall, ingestCall, type OutgoingDeps, prepareCall, skipEarlier } from "./ingest-call.ts"
import { type Located, locate, ownerOfSession } from "./locate.ts"
import { type OwnAnswer, threadUnsupported } from "./server-state/compaction-answer.ts"
import { formFor } from "./server-state/form.ts"
import {
  type Instead,
  insteadOf,
  noteWithheldCalls,
  type RefusedCall,
  removeRejectedReasoning,
} from "./server-state/instead.ts"
import type { GatewayOptions, How } from "./settings/gateway-options.ts"
import { stackOfCall } from "./settings/stack-rules.ts"
import {
  isSharedCall,
  learnCountsAnswer,
  learnWindow,
  tighter,
  type WindowDeps,
  windowOf,
} from "./settings/upstream.ts"

/** Facts about a call so far. For a call that was forwarded at once there are few until the session has stored it. */
type CallState = {
  readonly session?: string | undefined
  readonly model?: string | undefined
  readonly receipt?: Receipt | undefined
  readonly trace: Trace
}

/** The model calls within one response that the client did not see: their number, and the texts that the model recalled in them. */
type HiddenRounds = { readonly rounds: number; readonly recalled: readonly string[] }

/** One model call, ready to be sent upstream. */
export type OutgoingCall = {
  readonly how: How
  /** The body to send; the client's own bytes if nothing changed. */
  readonly bytes: Buffer
  readonly changed: boolean
  /** The decoded request; undefined if it was forwarded at once or could not be read. */
  readonly request?: ModelRequest
  readonly known: () => CallState
  /** For a request forwarded at once: resolves when its session has stored it; undefined if it is stored with the next one. */
  readonly stored?: () => Promise<CallState | undefined>
  /** The guard that judges the tool calls of the response. */
  readonly guarding: () => Promise<SessionGuarding | undefined>
  /** A smaller body, after this one was refused as too long; undefined if there is none. */
  readonly smaller: (refusal: ContextRefusal) => Promise<Buffer | undefined>
  /** The full text that the model sees, if the body sent leaves out history that the provider holds. */
  readonly seen?: () => string
  /** Notes that the model is asked again before the client has its response: the provider's stored first response is then incomplete. */
  readonly repeated?: () => void
  /** A response to send to the client without asking the upstream. */
  readonly answer?: OwnAnswer
  /** Decides how to proceed after a refusal that `smaller` does not fix; undefined if the client should see the refusal. */
  readonly instead?: (refused: RefusedCall) => Promise<Instead | undefined>
  /** Reports the response as the client received it, or the part that arrived. It is recorded later; only the first report counts. */
  readonly ended: (answer: ModelResponse | undefined, isCut?: boolean, rounds?: HiddenRounds) => void
  /** Asks the session's own model for a summary if one is due, in the background, after the response is recorded. */
  readonly summarize?: (sent: Buffer, ask: AskAside) => void
}

/** Calls the same upstream with the client's credential in the background; for Gemini, `model` replaces the one in the path. */
type AskAside = (
  body: string,
  model: string | undefined,
) => Promise<{ readonly status: number; readonly response?: ModelResponse }>

/** Limit on background work queued for one session. Above it, the next request waits for the queue instead of adding to it. */
const maxWaiting = 32

/** Forwards the request at once if it only continues the last one or begins a session; otherwise lets its session prepare it. */
export async function openOutgoingCall(deps: OutgoingDeps, incomingCall: IncomingCall): Promise<OutgoingCall> {
  const fastPath = deps.fastPaths.find(incomingCall)
  if (fastPath !== undefined) await freshRules(deps)
  const next =
    fastPath === undefined || !mayGoAtOnce(deps, fastPath, incomingCall)
      ? undefined
      : continueFastPath(fastPath, incomingCall.bytes, deps.holdfast.policy)
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

/**
 * Limit on the time that a fast-path request waits for the operator's rules. After that it is forwarded with the last known rules. A
 * directory that just changed is read once it has been quiet for a moment, which takes up to half a second by itself, and longer on a busy
 * machine.
 */
const maxRefreshMs = 3_000
/** The wait is counted in steps of this length, so that time in which the process did not run counts as one step at most. */
const pieceMs = 50

/**
 * Refreshes the operator's rules, so that a rule that another program just pinned applies to the next request. Time in which this process
 * did not run is not counted: a timer that is due would otherwise win against a result that is already there.
 */
async function freshRules({ operator }: OutgoingDeps): Promise<void> {
  if (operator === undefined) return
  let isFresh = false
  const refreshing = operator.refresh().then(() => {
    isFresh = true
  })
  for (let waitedMs = 0; waitedMs < maxRefreshMs && !isFresh; waitedMs += pieceMs) {
    const late = new AbortController()
    const piece = sleep(pieceMs, undefined, { signal: late.signal }).catch(() => undefined)
    await Promise.race([refreshing, piece]).finally(() => late.abort())
  }
}

/**
 * True if a request may be forwarded without preparing it. It must be prepared if other processes may write the same sessions, if operator
 * rules must be written into every request, or if a changed prompt stack applies immediately. A stack that changes only with compactions is
 * already in the prefix that the fast path sends.
 */
function mayGoAtOnce(
  { store, operator, lines, stacks, ...deps }: OutgoingDeps,
  { session, receipt, request }: FastPath,
  incomingCall: IncomingCall,
): boolean {
  const isPlain = !store.isShared && (operator?.standing().rules.length ?? 0) === 0
  const wantsStack = stacks !== undefined && stackOfCall(stacks, incomingCall, request.model) !== undefined
  const hasItsStack = receipt.stack?.changes !== "now" && (receipt.stack !== undefined || !wantsStack)
  // Whether an item id in the request belongs to the client is known only after the request is read.
  const mayBeForeign = incomingCall.format === "openai-responses" && isSharedCall(deps, incomingCall)
  return isPlain && hasItsStack && !mayBeForeign && lines.waiting(session) < maxWaiting
}

/** A request that is forwarded at once: the next one of a fast path, or the first one of a session. */
type DirectCall = Pick<FastPath, "session" | "request"> & { readonly fastPath?: FastPath; readonly located?: Located }

function callAtOnce(deps: OutgoingDeps, incomingCall: IncomingCall, direct: DirectCall): OutgoingCall {
  const { session, request, fastPath } = direct
  let ingested: IngestedCall | undefined
  const judged = { isOther: false }
  const own = skipEarlier(deps.waiting, direct, incomingCall.bytes)
  const done = deps.held.begin(incomingCall.tenant, incomingCall.format)
  const failed = (error: unknown): never => {
    done(undefined)
    throw error
  }
  const ingest = async (): Promise<void> => {
    own.isBegun = true
    if (deps.waiting.get(session) === own) deps.waiting.delete(session)
    const located = direct.located ?? (await locate(deps, incomingCall, fastPath, true).catch(failed))
    const got = await ingestCall(deps, incomingCall, located, { fastPath, begun: done })
    if ("session" in got) ingested = got
  }
  const ingesting = deps.lines.add(session, async () => {
    if (!own.isSkipped) await ingest()
  })
  const after = async (): Promise<IngestedCall> => {
    await ingesting
    if (own.isSkipped) await ingest()
    if (ingested === undefined) throw new HoldfastError({ code: "session-unknown", session })
    return ingested
  }
  const bytes = fastPath === undefined ? incomingCall.bytes : bodyFor(fastPath)
  return {
    how: "at-once",
    bytes,
    changed: fastPath?.splice !== undefined,
    known: () =>
      ingested === undefined ? { session, trace: [], ...present({ model: request.model }) } : knownOf(ingested),
    stored: async () => {
      await ingesting
      return ingested === undefined ? undefined : knownOf(ingested)
    },
    guarding: () => guardingAtOnce(deps, incomingCall, direct, judged),
    repeated: () => {
      judged.isOther = true
    },
    smaller: async (refusal) => smaller(deps, incomingCall, await after(), refusal),
    instead: async (refused) => instead(deps, incomingCall, await after(), refused),
    ended: firstOf((end) => {
      own.hasEnded = true
      const usage = end.answer?.usage
      if (end.hidden.recalled.length > 0) prepareNext(deps, incomingCall, session)
      if (usage !== undefined)
        own.report = { model: incomingCall.model ?? request.model ?? "", usage, calls: end.hidden.rounds + 1 }
      void deps.held.ending(incomingCall.tenant, session, () =>
        deps.lines.add(session, async () => {
          // The next request contains this one and reports its token usage.
          if (own.isSkipped && end.hidden.recalled.length === 0) return done(undefined)
          const { sent, ...rest } = await after()
          if (own.spent.length > 0) await rest.session.reportUsage(own.spent)
          // The session counted the tokens of its own body. If it compacted after this request was sent, the usage is for another body.
          const isCounted = bytes.equals(rest.body ?? incomingCall.bytes)
          await record(deps, { ...rest, sent: { ...sent, isOther: sent.isOther || judged.isOther } }, end, isCounted)
        }),
      )
    }),
    ...summarizing(deps, session, incomingCall.owner),
  }
}

/** Waits for the session to store the request if a rule that the request states could apply to its own response. */
async function guardingAtOnce(
  { lines, holdfast }: OutgoingDeps,
  incomingCall: IncomingCall,
  { session, request }: DirectCall,
  judged: { isOther: boolean },
): Promise<SessionGuarding | undefined> {
  if (holdfast.rulesBind) await lines.idle(session)
  const owner = ownerOfSession(incomingCall, session, request)
  return noteWithheldCalls(await holdfast.session(session, owner).guarding(), judged)
}

async function preparedCall(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  located: Located,
  fastPath: FastPath | undefined,
): Promise<OutgoingCall> {
  const ingested = await ingestCall(deps, incomingCall, located, { fastPath })
  if ("status" in ingested) return { ...untouchedCall(incomingCall, "answered", deps), answer: ingested }
  const { request, session, sent, body } = ingested
  return {
    how: "prepared",
    bytes: body ?? incomingCall.bytes,
    changed: body !== undefined,
    request,
    ...(sent.form.type === "send" ? {} : { answer: threadUnsupported(`req_${incomingCall.id}`) }),
    known: () => knownOf(ingested),
    guarding: async () => noteWithheldCalls(await session.guarding(), sent),
    seen: () => sent.wire,
    repeated: () => {
      sent.isOther = true
    },
    smaller: (refusal) => smaller(deps, incomingCall, ingested, refusal),
    instead: (refused) => instead(deps, incomingCall, ingested, refused),
    ended: firstOf((end) => {
      if (end.hidden.recalled.length > 0) prepareNext(deps, incomingCall, session.id)
      void deps.held.ending(incomingCall.tenant, session.id, () =>
        deps.lines.add(session.id, () => record(deps, ingested, end)),
      )
    }),
    ...summarizing(deps, session.id, incomingCall.owner),
  }
}

type End = {
  readonly answer: ModelResponse | undefined
  readonly isCut: boolean
  readonly hidden: HiddenRounds
}

function firstOf(onEnd: (end: End) => void): OutgoingCall["ended"] {
  let hasEnded = false
  return (answer, isCut = false, hidden = { rounds: 0, recalled: [] }) => {
    if (!hasEnded) onEnd({ answer, isCut, hidden })
    hasEnded = true
  }
}

const knownOf = ({ session, prepared: { receipt, trace }, request }: IngestedCall): CallState => ({
  session: session.id,
  receipt,
  trace,
  model: request.model,
})

/** Chooses how to proceed after a refusal, and has the next request prepared: forwarded at once, it would be refused as well. */
function instead(deps: OutgoingDeps, incomingCall: IncomingCall, ingested: IngestedCall, refused: RefusedCall) {
  const model = incomingCall.model ?? ingested.request.model
  const windowTokens = windowOf(deps, incomingCall, model)
  prepareNext(deps, incomingCall, ingested.session.id)
  return insteadOf(ingested, refused, { id: incomingCall.id, atMs: deps.now(), ...present({ model, windowTokens }) })
}

/** Lets the session prepare the next request, instead of forwarding it at once. */
function prepareNext({ fastPaths }: OutgoingDeps, incomingCall: IncomingCall, session: string): void {
  const fastPath = fastPaths.find(incomingCall)
  if (fastPath?.session === session) fastPaths.put(incomingCall, { ...fastPath, plain: false })
}

async function smaller(
  deps: OutgoingDeps,
  incomingCall: IncomingCall,
  ingested: IngestedCall,
  refusal: ContextRefusal,
): Promise<Buffer | undefined> {
  const { session, request, prepared, sent } = ingested
  const model = incomingCall.model ?? request.model ?? ""
  if (refusal.answerTokens === undefined)
    learnWindow(deps, incomingCall.tenant, model, refusal.windowTokens ?? prepared.receipt.contextTokens)
  else learnCountsAnswer(deps, incomingCall.tenant, model)
  const window = tighter(refusal, prepared)
  const again = await prepareCall(deps, incomingCall, ingested, present({ window })).catch(ignoreProblem)
  deps.fastPaths.drop(session.id)
  if (again === undefined || again.wire.length >= prepared.wire.length) return undefined
  const form = formFor(sent.whole, request, again.wire)
  if (form.type !== "send") return undefined
  sent.wire = again.wire
  sent.form = form
  const rejected = deps.held.rejectedReasoning(session.id)
  if (rejected !== undefined) removeRejectedReasoning(sent, request, rejected)
  return Buffer.from(sent.form.body)
}

async function record(
  { lineages, held }: OutgoingDeps,
  ingested: IngestedCall,
  end: End,
  isCounted = true,
): Promise<void> {
  const { session, assignment, request, whole, sent, done } = ingested
  const { answer, isCut, hidden } = end
  try {
    const messages = answer?.messages ?? []
    const recorded =
      answer === undefined || messages.length === 0
        ? undefined
        : await session.record(answer, undefined, {
            recalled: hidden.recalled,
            isUncounted: hidden.rounds > 0 || !isCounted,
            calls: hidden.rounds + 1,
          })
    const seen = { isCut, ...present({ responseId: answer?.id, entry: recorded?.entries.at(-1) }) }
    await lineages.answered(assignment, request, messages, seen)
    const { form, wire, isOther, tried } = sent
    const rejected = tried.has("without-reasoning") ? "all" : tried.has("without-old-reasoning") ? "old" : undefined
    if (rejected !== undefined && answer !== undefined) held.noteRejectedReasoning(session.id, rejected)
    if (answer === undefined || isCut || whole === undefined || form.type !== "send") return
    await held.remember(ingested, whole, {
      answer,
      wire,
      elements: form.elements,
      allLogged: ingested.prepared.allLogged,
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

/** The `summarize` function of a call, if sessions ask their own model for summaries. */
const summarizing = (deps: OutgoingDeps, session: string, owner: SessionOwner): Pick<OutgoingCall, "summarize"> =>
  deps.holdfast.asksOwnModel ? { summarize: (bytes, ask) => void summarize(deps, { session, owner, bytes, ask }) } : {}

/** Asks for a summary after the response is in the log, outside the session's work queue, so that the next request does not wait. */
async function summarize(
  { lines, holdfast, onFault }: OutgoingDeps,
  { session, owner, bytes, ask }: Summarizing,
): Promise<void> {
  try {
    await lines.done(session)
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

/** Share of the window that is certainly available to the request: at most the other half is reserved for the response. */
const surelyRoom = 0.5

/**
 * True if the first request of a session may be forwarded before the session stores it, because the session would not change it: its log is
 * empty, nothing is added to requests, and there is ample room. False on a shared store, where another process may know more.
 */
async function beginsAtOnce(deps: BeginDeps, incomingCall: IncomingCall, located: Located): Promise<boolean> {
  const { assignment, session, request, whole } = located
  const { isNew, fork, held } = assignment
  const isHeld = held !== undefined || whole !== undefined || request.held !== undefined
  if (!isNew || fork !== undefined || isHeld || deps.store.isShared) return false
  // The conversation that the session is part of may have rules.
  if (ownerOfSession(incomingCall, session.id, request).within !== undefined) return false
  const model = incomingCall.model ?? request.model
  if (stackOfCall(deps.stacks, incomingCall, request.model) !== undefined) return false
  const windowTokens = windowOf(deps, incomingCall, model) ?? findModel(model ?? "").windowTokens
  const pieceBytes = request.messages.reduce((most, { wire = "" }) => Math.max(most, Buffer.byteLength(wire)), 0)
  const size = { countedTokens: 0, moreBytes: incomingCall.bytes.length, pieceBytes }
  const { policy } = deps.holdfast
  const compactAtTokens = Math.min(windowTokens * surelyRoom * policy.compactAt, policy.compactAtTokens ?? windowTokens)
  if (!leavesSize(policy, size, compactAtTokens)) return false
  // The session id may be new to the client while its log is not: a rule may have been pinned before the first request.
  const head = await deps.store.head(session.id).catch(ignoreProblem)
  return head?.seq === 0 && (await deps.holdfast.addsToRequests(incomingCall.owner).catch(ignoreProblem)) === false
}

const namesIn = (tenant: string, session: string | undefined): readonly string[] =>
  session === undefined ? [] : [session, ...sessionNames(groupSession(tenant, session, undefined), { tenant })]

/** A call that is forwarded unchanged, outside any session. The operator's policies and the built-in policy still judge the response. */
export function untouchedCall(
  { bytes, own, tenant }: Pick<IncomingCall, "bytes" | "own" | "tenant">,
  how: How,
  { operator, guard: builtIn, spending }: Pick<OutgoingDeps, "operator" | "guard" | "spending">,
  stored?: string,
): OutgoingCall {
  const guarding = async () => {
    const standingGuard = (await operator?.refresh())?.guard
    const [first, ...others] = [builtIn, standingGuard].filter((guard) => guard !== undefined)
    if (first === undefined) return undefined
    const { agent = usualAgent, session } = own
    const spender = { tenant, agent, sessions: namesIn(tenant, session) }
    const circumstances = { agent, sessions: spender.sessions }
    return guardOutside(spending, spender, { guard: joinGuards([first, ...others]), circumstances }, stored)
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
