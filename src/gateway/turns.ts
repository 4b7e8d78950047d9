import { HoldfastError } from "../errors.ts"
import { present } from "../message/present.ts"
import type { ModelRequest, ModelResponse } from "../message/request.ts"
import type { SessionGuarding } from "../session/judge.ts"
import { isInForce } from "../session/pins.ts"
import type { Prepared } from "../session/prepared.ts"
import type { Session } from "../session/session.ts"
import { decodeRequest } from "../wire/decode.ts"
import { decodeNext } from "../wire/resume.ts"
import type { Asked } from "./asked.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import type { Assignment } from "./identity/assignment.ts"
import { identityOf } from "./identity/identity-of.ts"
import type { Lineages } from "./identity/lineages.ts"
import { goesOn, type Lane, laneOf } from "./lane.ts"
import type { Lanes } from "./lanes.ts"
import type { Known, TooLong, Turn } from "./turn.ts"
import type { WorkLines } from "./work-lines.ts"

export type TurnDeps = Pick<GatewayOptions, "holdfast" | "operator" | "store" | "windowTokens" | "onFault"> & {
  readonly lanes: Lanes
  readonly lineages: Lineages
  readonly lines: WorkLines
  /** Windows that upstreams named when they refused a request, by model. */
  readonly windows: Map<string, number>
}

/** A request that its session has taken in. */
type Taken = {
  readonly assignment: Assignment
  readonly session: Session
  readonly request: ModelRequest
  readonly prepared: Prepared
}

/** Work that waits for one session: with more, the next request waits for it rather than pile up more. */
const maxWaiting = 8

/** Open a turn: send it on as it came if it plainly only goes on, otherwise have its session prepare it. */
export async function openTurn(deps: TurnDeps, asked: Asked): Promise<Turn> {
  const lane = deps.lanes.find(asked)
  const next = lane === undefined || !mayGoAtOnce(deps, lane) ? undefined : goesOn(lane, asked.bytes)
  return next === undefined ? preparedTurn(deps, asked, lane) : turnAtOnce(deps, asked, next)
}

/** Other processes may write the same sessions, and the operator's rules have to be put into every request: then each is prepared. */
const mayGoAtOnce = ({ store, operator, lines }: TurnDeps, { session }: Lane): boolean =>
  store.kind !== "postgres" && (operator?.standing().rules.length ?? 0) === 0 && lines.waiting(session) < maxWaiting

function turnAtOnce(deps: TurnDeps, asked: Asked, lane: Lane): Turn {
  deps.lanes.put(asked, lane)
  let taken: Taken | undefined
  const taking = deps.lines.add(lane.session, async () => {
    taken = await take(deps, asked, lane)
  })
  const after = async (): Promise<Taken> => {
    await taking
    if (taken === undefined) throw new HoldfastError({ code: "session-unknown", session: lane.session })
    return taken
  }
  return {
    how: "at-once",
    bytes: asked.bytes,
    changed: false,
    known: () => (taken === undefined ? { session: lane.session, trace: [] } : knownOf(taken)),
    guarding: () => deps.holdfast.session(lane.session).guarding(),
    smaller: async (refusal) => smaller(deps, asked, await after(), refusal),
    ended: firstOf((end) => void deps.lines.add(lane.session, async () => record(deps, await after(), end))),
  }
}

async function preparedTurn(deps: TurnDeps, asked: Asked, lane: Lane | undefined): Promise<Turn> {
  if (lane !== undefined) await deps.lines.idle(lane.session)
  const taken = await take(deps, asked, lane)
  const { prepared, request, session } = taken
  return {
    how: "prepared",
    bytes: prepared.receipt.changed ? Buffer.from(prepared.wire) : asked.bytes,
    changed: prepared.receipt.changed,
    request,
    known: () => knownOf(taken),
    guarding: (): Promise<SessionGuarding | undefined> => session.guarding(),
    smaller: (refusal) => smaller(deps, asked, taken, refusal),
    ended: firstOf((end) => void deps.lines.add(session.id, () => record(deps, taken, end))),
  }
}

type End = { readonly answer: ModelResponse | undefined; readonly isCut: boolean }

/** The first word on how a turn ended; any later one is not heard. */
function firstOf(hear: (end: End) => void): Turn["ended"] {
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

/** Find the session of a request, and have it prepare the call. */
async function take(deps: TurnDeps, asked: Asked, lane: Lane | undefined): Promise<Taken> {
  const { format, tenant, headers } = asked
  const text = asked.bytes.toString("utf8")
  const earlier = lane?.request
  const request = earlier?.format === format ? decodeNext(earlier, text) : decodeRequest(format, text)
  const assignment = await deps.lineages.assign(tenant, identityOf(headers, request), request)
  const session = await sessionOf(deps, assignment)
  const prepared = await prepare(deps, asked, session, request)
  const pins = await session.pins()
  const rules = pins.filter(isInForce).map((pin) => pin.text)
  const { receipt } = prepared
  const seen = { session: session.id, bytes: asked.bytes, request, receipt, changed: receipt.changed, rules }
  deps.lanes.put(asked, laneOf(seen))
  return { assignment, session, request, prepared }
}

/** The session of an assignment; one that begins as a copy of another is copied first, if that is still there. */
async function sessionOf({ holdfast }: TurnDeps, { session, isNew, fork }: Assignment): Promise<Session> {
  if (!isNew || fork?.at === undefined) return holdfast.session(session)
  try {
    return await holdfast.session(fork.from).fork(session, { at: fork.at })
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return holdfast.session(session)
  }
}

function prepare(deps: TurnDeps, asked: Asked, session: Session, request: ModelRequest, window?: number) {
  const model = asked.model ?? request.model
  const windowTokens = window ?? deps.windowTokens ?? (model === undefined ? undefined : deps.windows.get(model))
  const { format, own, bytes } = asked
  return session.prepare({
    format,
    body: bytes.toString("utf8"),
    ...present({ model, windowTokens, focus: own.focus }),
  })
}

/** Where a refusal names no figure, the next request is made this much smaller. */
const lessShare = 0.75

async function smaller(
  deps: TurnDeps,
  asked: Asked,
  { session, request, prepared }: Taken,
  refusal: TooLong,
): Promise<Buffer | undefined> {
  const { contextTokens } = prepared.receipt
  const window = refusal.windowTokens ?? Math.floor(contextTokens * lessShare)
  const model = asked.model ?? request.model
  if (model !== undefined && refusal.windowTokens !== undefined) deps.windows.set(model, refusal.windowTokens)
  const again = await prepare(deps, asked, session, request, window).catch((error: unknown) => {
    if (error instanceof HoldfastError) return undefined
    throw error
  })
  deps.lanes.drop(session.id)
  return again === undefined || again.wire.length >= prepared.wire.length ? undefined : Buffer.from(again.wire)
}

async function record({ lineages }: TurnDeps, { session, assignment, request }: Taken, end: End): Promise<void> {
  const { answer, isCut } = end
  const messages = answer?.messages ?? []
  const recorded = answer === undefined || messages.length === 0 ? undefined : await session.record(answer)
  const seen = { isCut, ...present({ responseId: answer?.id, entry: recorded?.entries.at(-1) }) }
  await lineages.answered(assignment, request, messages, seen)
}
