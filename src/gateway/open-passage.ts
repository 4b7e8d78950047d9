import { HoldfastError } from "../errors.ts"
import { present } from "../message/present.ts"
import type { ModelRequest, ModelResponse } from "../message/request.ts"
import { isInForce } from "../session/pins.ts"
import type { Prepared } from "../session/prepared.ts"
import type { Asked } from "./asked.ts"
import { chooseUpstream } from "./choose-upstream.ts"
import { familyOf } from "./family.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import { formFor } from "./held/form.ts"
import { insteadOf, type RefusedCall } from "./held/instead.ts"
import { type OwnAnswer, previousNotFound, threadUnsupported } from "./held/own-answer.ts"
import { isOwnResponseId } from "./held/own-item.ts"
import { noting, type Sent, spare } from "./held/sent.ts"
import { storesAnswer } from "./held/whole.ts"
import { bodyFor, goesOn, type Lane, laneOf } from "./lane.ts"
import type { Lanes } from "./lanes.ts"
import { type LocateDeps, type Located, locate } from "./locate.ts"
import type { Known, Passage, TooLong } from "./passage.ts"
import { notYours, sharesAccount } from "./shared-account.ts"
import { untouchedPassage } from "./untouched-passage.ts"
import type { Upstream } from "./upstream.ts"
import { learnWindow, tighter, type WindowDeps, windowOf } from "./window-of.ts"

export type PassageDeps = LocateDeps &
  WindowDeps &
  Pick<GatewayOptions, "operator" | "store" | "tenants" | "upstreams" | "windowTokens" | "now" | "onFault"> & {
    readonly lanes: Lanes
    /** By session: what was sent on at once last and is still to be taken in. */
    readonly waiting: Map<string, Waiting>
  }

/** A request that its session has taken in. */
type Taken = Located & {
  readonly prepared: Prepared
  readonly sent: Sent
  /** What to send, where that is not what came. */
  readonly body?: Buffer
  /** Its answer, if there was one, has been written down. */
  readonly done: (id: string | undefined) => void
}

/** Work that waits for one session: with more, the next request waits for it rather than pile up more. */
const maxWaiting = 32

/** Open a passage: send it on as it came if it plainly only goes on, otherwise have its session prepare it. */
export async function openPassage(deps: PassageDeps, asked: Asked): Promise<Passage> {
  const lane = deps.lanes.find(asked)
  const next = lane === undefined || !mayGoAtOnce(deps, lane) ? undefined : goesOn(lane, asked.bytes)
  return next === undefined ? preparedPassage(deps, asked, lane) : passageAtOnce(deps, asked, next)
}

/** Other processes may write the same sessions, and the operator's rules have to be put into every request: then each is prepared. */
const mayGoAtOnce = ({ store, operator, lines }: PassageDeps, { session }: Lane): boolean =>
  store.kind !== "postgres" && (operator?.standing().rules.length ?? 0) === 0 && lines.waiting(session) < maxWaiting

/**
 * A request that waits to be taken in: the next one of its session, which has all of it and its answer, may come first, or the very same
 * once more, from a client that did not take the answer.
 */
export type Waiting = {
  readonly bytes: Buffer
  hasEnded: boolean
  isBegun: boolean
  isSpared: boolean
  isRepeated: boolean
}

/** What a request that goes on from another says again need not be taken in twice. */
function spareEarlier({ waiting }: PassageDeps, { session, request }: Lane, bytes: Buffer): Waiting {
  const earlier = waiting.get(session)
  // Of an answer that the provider keeps, the next request may have no more than its id.
  if (earlier?.hasEnded && !earlier.isBegun && !storesAnswer(request)) {
    earlier.isRepeated = earlier.bytes.equals(bytes)
    earlier.isSpared = earlier.isRepeated || earlier.bytes.length < bytes.length
  }
  const one: Waiting = { bytes, hasEnded: false, isBegun: false, isSpared: false, isRepeated: false }
  waiting.set(session, one)
  return one
}

function passageAtOnce(deps: PassageDeps, asked: Asked, lane: Lane): Passage {
  deps.lanes.put(asked, lane)
  let taken: Taken | undefined
  const judged = { isOther: false }
  const own = spareEarlier(deps, lane, asked.bytes)
  const done = deps.held.begin(asked.tenant, asked.format)
  const takeIn = async (): Promise<void> => {
    own.isBegun = true
    if (deps.waiting.get(lane.session) === own) deps.waiting.delete(lane.session)
    const got = await take(deps, asked, lane, done)
    if ("session" in got) taken = got
  }
  const taking = deps.lines.add(lane.session, async () => {
    if (!own.isSpared) await takeIn()
  })
  const after = async (): Promise<Taken> => {
    await taking
    if (own.isSpared) await takeIn()
    if (taken === undefined) throw new HoldfastError({ code: "session-unknown", session: lane.session })
    return taken
  }
  return {
    how: "at-once",
    bytes: bodyFor(lane),
    changed: lane.splice !== undefined,
    known: () => (taken === undefined ? { session: lane.session, trace: [] } : knownOf(taken)),
    guarding: async () => noting(await deps.holdfast.session(lane.session).guarding(), judged),
    repeated: () => {
      judged.isOther = true
    },
    smaller: async (refusal) => smaller(deps, asked, await after(), refusal),
    instead: async (refused) => instead(deps, asked, await after(), refused),
    ended: firstOf((end) => {
      own.hasEnded = true
      void deps.held.ending(asked.tenant, lane.session, () =>
        deps.lines.add(lane.session, async () => {
          if (own.isRepeated) return done(undefined)
          if (own.isSpared) return passOver(deps, asked, lane, end).finally(() => done(undefined))
          const { sent, ...rest } = await after()
          await record(deps, { ...rest, sent: { ...sent, isOther: sent.isOther || judged.isOther } }, end)
        }),
      )
    }),
  }
}

/** A request that the next one says again is not taken in; where it belongs is written down, otherwise the next would seem to leap. */
async function passOver(deps: PassageDeps, asked: Asked, lane: Lane, { answer, isCut }: End): Promise<void> {
  const { assignment, request } = await locate(deps, asked, lane)
  const seen = { isCut, ...present({ responseId: answer?.id }) }
  await deps.lineages.answered(assignment, request, answer?.messages ?? [], seen)
}

async function preparedPassage(deps: PassageDeps, asked: Asked, lane: Lane | undefined): Promise<Passage> {
  if (lane !== undefined) await deps.lines.idle(lane.session)
  const taken = await take(deps, asked, lane)
  if ("status" in taken) return { ...untouchedPassage(asked, "answered", deps.operator), answer: taken }
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

/** Find the session of a request, and have it prepare the call. Of some it is known at once what the answer is. */
async function take(
  deps: PassageDeps,
  asked: Asked,
  lane: Lane | undefined,
  begun?: Taken["done"],
): Promise<Taken | OwnAnswer> {
  const located = await locate(deps, asked, lane).catch((error: unknown) => {
    begun?.(undefined)
    throw error
  })
  const { session, request, whole } = located
  const previous = whole === undefined ? request.held?.id : undefined
  if (previous !== undefined && isOwnResponseId(previous)) {
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    return previousNotFound(previous)
  }
  if (located.assignment.held === "unknown" && sharesAccount(deps, upstreamOf(deps, asked, request))) {
    begun?.(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    if (previous !== undefined && request.held?.type === "previous-response") return previousNotFound(previous)
    throw new HoldfastError(notYours)
  }
  const done = begun ?? deps.held.begin(asked.tenant, asked.format)
  try {
    const prepared = await prepare(deps, asked, located)
    const { receipt, wire } = prepared
    const form = formFor(whole, request, wire)
    const sent: Sent = { form, wire, isOther: false, tried: new Set(), ...present({ whole }) }
    spare(sent, request, deps.held.minded(session.id))
    const changed = sent.form.type !== "send" || sent.form.body !== request.wire
    const body = sent.form.type === "send" && changed ? Buffer.from(sent.form.body) : undefined
    if (request.held === undefined) {
      const rules = (await session.pins()).filter(isInForce).map((pin) => pin.text)
      const seen = {
        session: session.id,
        bytes: asked.bytes,
        request,
        receipt,
        changed,
        rules,
        ...present({ before: lane }),
      }
      deps.lanes.put(asked, laneOf({ ...seen, ...present({ sent: whole === undefined ? body : undefined }) }))
    }
    return { ...located, prepared, sent, done, ...present({ body }) }
  } catch (error) {
    done(undefined)
    await deps.lineages.answered(located.assignment, request, [], { isCut: true })
    const isTooLong = error instanceof HoldfastError && tooLong.has(error.problem.code)
    if (isTooLong && request.held?.type === "thread") return threadUnsupported(`req_${asked.id}`)
    throw error
  }
}

const tooLong: ReadonlySet<string> = new Set(["budget-impossible", "floor-exceeds-window"])

/** What to do about a refusal. The next request may not be sent on as it comes, for it would be refused as well. */
function instead(deps: PassageDeps, asked: Asked, taken: Taken, refused: RefusedCall) {
  const model = asked.model ?? taken.request.model
  const windowTokens = windowOf(deps, asked, model)
  const lane = deps.lanes.find(asked)
  if (lane?.session === taken.session.id) deps.lanes.put(asked, { ...lane, plain: false })
  return insteadOf(taken, refused, { id: asked.id, atMs: deps.now(), ...present({ model, windowTokens }) })
}

function prepare(deps: PassageDeps, asked: Asked, { session, request, whole }: Located, window?: number) {
  const model = asked.model ?? request.model
  const windowTokens = window ?? windowOf(deps, asked, model)
  const { format, own } = asked
  return session.prepare({
    format,
    body: whole?.text ?? request.wire,
    mend: "when-changed",
    ...present({ model, windowTokens, focus: own.focus }),
  })
}

const upstreamOf = (
  { upstreams }: PassageDeps,
  { format, model }: Asked,
  request: ModelRequest,
): Upstream | undefined => chooseUpstream(upstreams, familyOf[format], model ?? request.model)

async function smaller(deps: PassageDeps, asked: Asked, taken: Taken, refusal: TooLong): Promise<Buffer | undefined> {
  const { session, request, prepared, sent } = taken
  learnWindow(deps, asked.model ?? request.model ?? "", refusal.windowTokens ?? prepared.receipt.contextTokens)
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
