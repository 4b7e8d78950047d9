import { setTimeout as sleep } from "node:timers/promises"
import { joinGuards } from "../guard/guard.ts"
import { HoldfastError } from "../message/errors.ts"
import type { ModelResponse } from "../message/message.ts"
import { present } from "../message/present.ts"
import { usualAgent } from "../session/options.ts"
import { sessionNames } from "../session/pins.ts"
import { findModel } from "../tokens/models.ts"
import { type Asked, ownerOf } from "./fast-path/asked.ts"
import { bodyFor, goesOn, isSureOf, type Lane } from "./fast-path/lane.ts"
import { leavesSize } from "./fast-path/room.ts"
import { groupSession } from "./identity/names.ts"
import { type Located, locate } from "./locate.ts"
import { threadUnsupported } from "./server-state/compaction-answer.ts"
import { formFor } from "./server-state/form.ts"
import { insteadOf, noting, type RefusedCall, spare } from "./server-state/instead.ts"
import type { How } from "./settings/exchange-record.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { type PassageDeps, prepare, spareEarlier, type Taken, take } from "./take.ts"
import {
  type Known,
  learnCountsAnswer,
  learnWindow,
  type Passage,
  type TooLong,
  tighter,
  type WindowDeps,
  windowOf,
} from "./window-of.ts"

/** Work that waits for one session: with more, the next request waits for it rather than pile up more. */
const maxWaiting = 32

/** Open a passage: send it on as it came if it plainly only goes on or begins, otherwise have its session prepare it. */
export async function openPassage(deps: PassageDeps, asked: Asked): Promise<Passage> {
  const lane = deps.lanes.find(asked)
  if (lane !== undefined) await freshRules(deps)
  const next =
    lane === undefined || !mayGoAtOnce(deps, lane) ? undefined : goesOn(lane, asked.bytes, deps.holdfast.policy)
  if (next !== undefined) {
    deps.lanes.put(asked, next)
    return passageAtOnce(deps, asked, { ...next, lane: next })
  }
  if (lane !== undefined) await deps.lines.idle(lane.session)
  const located = await locate(deps, asked, lane, lane !== undefined && isSureOf(lane, asked.bytes))
  if (!(await beginsAtOnce(deps, asked, located))) return preparedPassage(deps, asked, located, lane)
  return passageAtOnce(deps, asked, { session: located.session.id, request: located.request, located })
}

/** A store that does not answer as soon keeps no request that only goes on: it goes by the rules as they were last known. */
const maxRefreshMs = 500

/** A rule that was pinned a moment ago, by another program, is in force for the next request. */
async function freshRules({ operator }: PassageDeps): Promise<void> {
  if (operator === undefined) return
  const late = new AbortController()
  const waiting = sleep(maxRefreshMs, undefined, { signal: late.signal }).catch(() => undefined)
  await Promise.race([operator.refresh(), waiting]).finally(() => late.abort())
}

/** Other processes may write the same sessions, and the operator's rules have to be put into every request: then each is prepared. */
const mayGoAtOnce = ({ store, operator, lines }: PassageDeps, { session }: Lane): boolean =>
  !store.isShared && (operator?.standing().rules.length ?? 0) === 0 && lines.waiting(session) < maxWaiting

/** What is sent on at once: the next request of a lane, or the first of a session. */
type Going = Pick<Lane, "session" | "request"> & { readonly lane?: Lane; readonly located?: Located }

function passageAtOnce(deps: PassageDeps, asked: Asked, going: Going): Passage {
  const { session, request, lane } = going
  let taken: Taken | undefined
  const judged = { isOther: false }
  const own = spareEarlier(deps.waiting, going, asked.bytes)
  const done = deps.held.begin(asked.tenant, asked.format)
  const failed = (error: unknown): never => {
    done(undefined)
    throw error
  }
  const takeIn = async (): Promise<void> => {
    own.isBegun = true
    if (deps.waiting.get(session) === own) deps.waiting.delete(session)
    const located = going.located ?? (await locate(deps, asked, lane, true).catch(failed))
    const got = await take(deps, asked, located, { lane, begun: done })
    if ("session" in got) taken = got
  }
  const taking = deps.lines.add(session, async () => {
    if (!own.isSpared) await takeIn()
  })
  const after = async (): Promise<Taken> => {
    await taking
    if (own.isSpared) await takeIn()
    if (taken === undefined) throw new HoldfastError({ code: "session-unknown", session })
    return taken
  }
  return {
    how: "at-once",
    bytes: lane === undefined ? asked.bytes : bodyFor(lane),
    changed: lane?.splice !== undefined,
    known: () => (taken === undefined ? { session, trace: [], ...present({ model: request.model }) } : knownOf(taken)),
    guarding: async () => noting(await deps.holdfast.session(session, ownerOf(asked)).guarding(), judged),
    repeated: () => {
      judged.isOther = true
    },
    smaller: async (refusal) => smaller(deps, asked, await after(), refusal),
    instead: async (refused) => instead(deps, asked, await after(), refused),
    ended: firstOf((end) => {
      own.hasEnded = true
      void deps.held.ending(asked.tenant, session, () =>
        deps.lines.add(session, async () => {
          // The next one has it all, and goes on from the same bytes.
          if (own.isSpared) return done(undefined)
          const { sent, ...rest } = await after()
          await record(deps, { ...rest, sent: { ...sent, isOther: sent.isOther || judged.isOther } }, end)
        }),
      )
    }),
  }
}

async function preparedPassage(
  deps: PassageDeps,
  asked: Asked,
  located: Located,
  lane: Lane | undefined,
): Promise<Passage> {
  const taken = await take(deps, asked, located, { lane })
  if ("status" in taken) return { ...untouchedPassage(asked, "answered", deps), answer: taken }
  const { request, session, sent, body } = taken
  return {
    how: "prepared",
    bytes: body ?? asked.bytes,
    changed: body !== undefined,
    request,
    ...(sent.form.type === "send" ? {} : { answer: threadUnsupported(`req_${asked.id}`) }),
    known: () => knownOf(taken),
    guarding: async () => noting(await session.guarding(), sent),
    seen: () => sent.wire,
    repeated: () => {
      sent.isOther = true
    },
    smaller: (refusal) => smaller(deps, asked, taken, refusal),
    instead: (refused) => instead(deps, asked, taken, refused),
    ended: firstOf((end) => {
      void deps.held.ending(asked.tenant, session.id, () => deps.lines.add(session.id, () => record(deps, taken, end)))
    }),
  }
}

type End = { readonly answer: ModelResponse | undefined; readonly isCut: boolean }

/** The first word on how a passage ended; any later one is not heard. */
function firstOf(hear: (end: End) => void): Passage["ended"] {
  let heard = false
  return (answer, isCut = false) => {
    if (!heard) hear({ answer, isCut })
    heard = true
  }
}

const knownOf = ({ session, prepared: { receipt, trace }, request }: Taken): Known => ({
  session: session.id,
  receipt,
  trace,
  ...present({ model: request.model }),
})

/** What to do about a refusal. The next request may not be sent on as it comes, for it would be refused as well. */
function instead(deps: PassageDeps, asked: Asked, taken: Taken, refused: RefusedCall) {
  const model = asked.model ?? taken.request.model
  const windowTokens = windowOf(deps, asked, model)
  const lane = deps.lanes.find(asked)
  if (lane?.session === taken.session.id) deps.lanes.put(asked, { ...lane, plain: false })
  return insteadOf(taken, refused, { id: asked.id, atMs: deps.now(), ...present({ model, windowTokens }) })
}

async function smaller(deps: PassageDeps, asked: Asked, taken: Taken, refusal: TooLong): Promise<Buffer | undefined> {
  const { session, request, prepared, sent } = taken
  const model = asked.model ?? request.model ?? ""
  if (refusal.answerTokens === undefined)
    learnWindow(deps, asked.tenant, model, refusal.windowTokens ?? prepared.receipt.contextTokens)
  else learnCountsAnswer(deps, asked.tenant, model)
  const again = await prepare(deps, asked, taken, tighter(refusal, prepared)).catch((error: unknown) => {
    if (error instanceof HoldfastError) return undefined
    throw error
  })
  deps.lanes.drop(session.id)
  if (again === undefined || again.wire.length >= prepared.wire.length) return undefined
  const form = formFor(sent.whole, request, again.wire)
  if (form.type !== "send") return undefined
  sent.wire = again.wire
  sent.form = form
  spare(sent, request, deps.held.minded(session.id))
  return Buffer.from(sent.form.body)
}

async function record({ lineages, held }: PassageDeps, taken: Taken, end: End): Promise<void> {
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
      isOther,
      isInline: tried.has("inline"),
    })
  } finally {
    done(answer?.id)
  }
}

type BeginDeps = WindowDeps & Pick<GatewayOptions, "holdfast" | "store">

/** Of the window; no more than the rest is ever kept free for the answer. */
const surelyRoom = 0.5

/**
 * May the first request of a session be sent on before the session takes it in? Only where that would leave it as it is: nothing was
 * said in the session before, nothing is put into requests here, and there is ample room. Other processes on the same store may know more.
 */
async function beginsAtOnce(deps: BeginDeps, asked: Asked, located: Located): Promise<boolean> {
  const { assignment, session, request, whole } = located
  const { isNew, fork, held } = assignment
  const isHeld = held !== undefined || whole !== undefined || request.held !== undefined
  if (!isNew || fork !== undefined || isHeld || deps.store.isShared) return false
  const model = asked.model ?? request.model
  const windowTokens = windowOf(deps, asked, model) ?? findModel(model ?? "").windowTokens
  const pieceBytes = request.messages.reduce((most, { wire = "" }) => Math.max(most, Buffer.byteLength(wire)), 0)
  const size = { countedTokens: 0, moreBytes: asked.bytes.length, pieceBytes }
  const { policy } = deps.holdfast
  const compactAtTokens = Math.min(windowTokens * surelyRoom * policy.compactAt, policy.compactAtTokens ?? windowTokens)
  if (!leavesSize(policy, size, compactAtTokens)) return false
  try {
    // A name may be new where a log is not: someone pinned a rule in a session before its first request.
    const { seq } = await deps.store.head(session.id)
    return seq === 0 && !(await deps.holdfast.addsToRequests(ownerOf(asked)))
  } catch (error) {
    if (error instanceof HoldfastError) return false
    throw error
  }
}

const namesIn = (tenant: string, session: string | undefined): readonly string[] =>
  session === undefined ? [] : [session, ...sessionNames(groupSession(tenant, session, undefined), { tenant })]

/** A call that goes on as it came, in no session. The operator's policies, and the built-in one, judge its answer all the same. */
export function untouchedPassage(
  { bytes, own, tenant }: Asked,
  how: How,
  { operator, guard: builtIn }: Pick<GatewayOptions, "operator" | "guard">,
): Passage {
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
