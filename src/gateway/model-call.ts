import { HoldfastError, type Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type Delivery, deliver } from "./deliver.ts"
import { answerProblem, answerText, busy, type Exchange, giveAnswer, problemOf } from "./exchange.ts"
import type { Asked } from "./fast-path/asked.ts"
import { bare, flatOf, forwardedHeaders, holdfastHeaders, sharesAccount } from "./http/headers.ts"
import { unpack } from "./http/read-body.ts"
import type { Route } from "./http/route.ts"
import { targetUrl } from "./http/target.ts"
import { type Sending, type UpstreamAnswer, wholeOf } from "./http/transport.ts"
import { maskedAnswer, peekAtStream, unpackedAnswer } from "./http/upstream-answer.ts"
import { contextError, readContextError } from "./http/wire-error.ts"
import { isRefused } from "./locate.ts"
import { openPassage, untouchedPassage } from "./open-passage.ts"
import { noUpstream } from "./pass-through.ts"
import type { Instead } from "./server-state/instead.ts"
import { chooseUpstream, familyOf } from "./settings/upstream.ts"
import { printsHandle, withRecallTool } from "./tool-rounds/recall-tool.ts"
import { leavesAnswer, type Passage, type TooLong } from "./window-of.ts"

export type ModelRoute = Extract<Route, { type: "model-call" }>

/** A call of a model: through its session, upstream, and back. */
export async function modelCall(exchange: Exchange, route: ModelRoute): Promise<void> {
  const { deps, docket, tenant } = exchange
  const { format } = route
  Object.assign(docket.noted, { format, tenant })
  try {
    const { asked, packed } = await readAsked(exchange, route)
    const traceparent = /^[\da-f-]{55}$/.exec(asked.headers.traceparent ?? "")?.[0]
    Object.assign(docket.noted, { requestBytes: packed.length, ...present({ agent: asked.own.agent, traceparent }) })
    const passage = await passageFor(exchange, asked)
    if (passage === "answered") return
    if (passage.answer !== undefined) {
      giveAnswer(exchange, passage.answer, passage.known())
      return passage.ended(undefined)
    }
    await callUpstream(exchange, route, { asked, packed, passage }).finally(() => passage.ended(undefined))
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault), format)
  }
}

type Call = { readonly asked: Asked; readonly packed: Buffer; readonly passage: Passage }

export async function readAsked(
  { deps, incoming, arrived, docket, tenant }: Exchange,
  { format, model }: Pick<ModelRoute, "format" | "model">,
): Promise<{ readonly asked: Asked; readonly packed: Buffer }> {
  const headers = flatOf(incoming.headers)
  const { session, agent, bypass, focus } = holdfastHeaders(headers)
  const packed = await deps.bodies.read(incoming, deps.limits.bodyBytes)
  if (packed === "too-large") {
    const length = Number(headers["content-length"] ?? deps.limits.bodyBytes + 1)
    throw new HoldfastError({ code: "body-too-large", length, limit: deps.limits.bodyBytes })
  }
  if (packed === "cut") throw new HoldfastError({ code: "upstream-stopped", host: "the client" })
  if (packed === "no-room" || !arrived()) throw new HoldfastError(busy(deps))
  const bytes = await unpack(packed, headers["content-encoding"], deps.limits.unpackedBytes)
  const own = { bypass, ...present({ session, agent, focus }) }
  return { packed, asked: { id: docket.id, tenant, headers, own, format, bytes, ...present({ model }) } }
}

/**
 * The passage of a call. What cannot be read goes on as it came, for the upstream to say what is wrong with it, unless the operator's rules
 * would be missing in it then, or it belongs to a session whose rules cannot be read. What cannot be made to fit does so too where the window is only what we believe of the model.
 */
async function passageFor(exchange: Exchange, asked: Asked): Promise<Passage | "answered"> {
  const { deps } = exchange
  const isShared = deps.upstreams.some((upstream) => sharesAccount(deps, upstream))
  if (asked.own.bypass && !hasOperatorRules(exchange) && !isShared) return untouchedPassage(asked, "bypassed", deps)
  try {
    return await openPassage(deps, asked)
  } catch (error) {
    const problem = problemOf(error, deps.onFault)
    exchange.docket.noted.problem = problem
    if (problem.code === "access-refused" || isRefused(deps, problem)) throw error
    const sizes = sizesIn(problem)
    if (sizes !== undefined && deps.windowTokens !== undefined) {
      const { status, headers, body } = contextError(asked.format, sizes)
      answerText(exchange, status, headers, body)
      return "answered"
    }
    if (hasOperatorRules(exchange) && sizes === undefined) throw error
    return untouchedPassage(asked, "passed", deps)
  }
}

/** A call that goes by its session would leave them behind: rules for requests, and policies that name a session. */
function hasOperatorRules({ deps: { operator } }: Exchange): boolean {
  const standing = operator?.standing()
  if (standing === undefined) return false
  return standing.rules.length > 0 || (standing.guard?.policies ?? []).some(({ text }) => text.includes("Session::"))
}

function sizesIn(problem: Problem): { readonly neededTokens: number; readonly windowTokens: number } | undefined {
  if (problem.code === "budget-impossible")
    return { neededTokens: problem.neededTokens, windowTokens: problem.budgetTokens }
  if (problem.code === "floor-exceeds-window")
    return { neededTokens: problem.floorTokens, windowTokens: problem.windowTokens }
  return undefined
}

/** A request that was refused as too long is made smaller this often at most. */
const maxShrinking = 2
const maxErrorBytes = 1024 * 1024

async function callUpstream(exchange: Exchange, route: ModelRoute, call: Call): Promise<void> {
  const { deps, docket } = exchange
  const { passage, asked } = call
  const { format } = route
  const model = asked.model ?? passage.request?.model ?? passage.known().model
  const upstream = chooseUpstream(deps.upstreams, familyOf[format], model ?? modelIn(asked.bytes))
  if (upstream === undefined) return answerProblem(exchange, noUpstream(familyOf[format], model), format)
  docket.noted.upstream = upstream.name
  const again = (next: string) => {
    passage.repeated?.()
    return send(exchange, route, { upstream, body: Buffer.from(next), changed: true })
  }
  let { body, recalls } = offerRecall(exchange, route, passage.bytes, passage)
  let changed = passage.changed || recalls
  let refusal: Delivery | undefined
  for (let shrunk = 0; ; shrunk++) {
    const sent = await send(exchange, route, { upstream, body: changed ? body : call.packed, changed })
    const { answer, error: early } = mayRefuseInStream(format, sent, body) ? await peekAtStream(sent) : { answer: sent }
    const delivery = { format, path: route.path, passage, answer, changed, sent: body, recalls, again }
    if (!refusals.has(answer.status)) {
      const smaller =
        early === undefined || shrunk >= maxShrinking ? undefined : await smallerAfter(passage, format, early)
      if (smaller === undefined) return deliver(exchange, delivery)
      answer.drop()
      ;({ body, recalls } = offerRecall(exchange, route, smaller, passage))
      changed = true
      continue
    }
    const error = (await wholeOf(answer, maxErrorBytes)) ?? Buffer.alloc(0)
    const refused = { format, status: answer.status, error, body, changed, mayShrink: shrunk < maxShrinking }
    const instead = await insteadOf(passage, refused)
    if (instead === undefined) return deliver(exchange, refusal ?? { ...delivery, whole: error })
    if (instead.type === "answer") {
      passage.ended(instead.response)
      // Whoever goes on from it is to be recognised.
      await deps.lines.idle(passage.known().session ?? "")
      return giveAnswer(exchange, instead.answer, passage.known())
    }
    if (instead.isTrial === true) refusal = { ...delivery, whole: error }
    ;({ body, recalls } = offerRecall(exchange, route, instead.body, passage))
    changed = true
  }
}

/** Offer the model the recall tool, where something can be called back: the session has printed a handle into the request. */
function offerRecall({ deps }: Exchange, { format }: ModelRoute, body: Buffer, passage: Passage): Offered {
  const text = deps.recall && passage.known().session !== undefined ? body.toString("utf8") : ""
  const isPrinted = text !== "" && printsHandle(passage.seen?.() ?? text)
  const offered = isPrinted ? withRecallTool(text, format) : text
  return offered === text ? { body, recalls: false } : { body: Buffer.from(offered), recalls: true }
}

type Offered = { readonly body: Buffer; readonly recalls: boolean }

/** Statuses of refusals that may be mended: too long, unknown to the upstream, or not taken in this shape. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 413, 422, 501])

/** Of less a model with a window refuses nothing. */
const leastLongBytes = 40_000

const mayRefuseInStream = (format: Format, { status, headers }: UpstreamAnswer, body: Buffer): boolean =>
  format === "openai-responses" &&
  status === 200 &&
  body.length >= leastLongBytes &&
  String(headers["content-type"] ?? "").startsWith("text/event-stream")

/** A smaller body, after a stream began with the word that this one is too long. */
async function smallerAfter(passage: Passage, format: Format, error: string): Promise<Buffer | undefined> {
  const tooLong = readContextError(format, undefined, error)
  return tooLong === undefined || !mayBeSmaller(tooLong) ? undefined : passage.smaller(tooLong)
}

/** Where only the answer that a request allows is too much, and it asks for most of the window, clients lower that themselves. */
const mayBeSmaller = (tooLong: TooLong): boolean => tooLong.answerTokens === undefined || leavesAnswer(tooLong)

type RefusedBody = {
  readonly format: Format
  readonly status: number
  readonly error: Buffer
  readonly body: Buffer
  readonly changed: boolean
  readonly mayShrink: boolean
}

/** What to do about a refusal: a smaller request where it was too long, and otherwise what the passage knows. */
async function insteadOf(passage: Passage, refused: RefusedBody): Promise<Instead | undefined> {
  const { format, status, error, body, changed, mayShrink } = refused
  const text = error.toString("utf8")
  const tooLong = readContextError(format, status, text)
  const isTooLong = tooLong !== undefined && mayBeSmaller(tooLong)
  const smaller = tooLong !== undefined && isTooLong && mayShrink ? await passage.smaller(tooLong) : undefined
  if (smaller !== undefined) return { type: "send", body: smaller }
  return passage.instead?.({ status, body: text, sent: body, changed, isTooLong, isAboutLength: tooLong !== undefined })
}

export async function send(
  { deps, incoming, docket, gone }: Exchange,
  { path, format }: Pick<ModelRoute, "path" | "format">,
  { upstream, body, changed }: Pick<Sending, "upstream"> & { readonly body: Buffer; readonly changed: boolean },
): Promise<UpstreamAnswer> {
  const headers = forwardedHeaders(incoming.rawHeaders, upstream, familyOf[format])
  // An answer is read as it passes, so it comes unpacked; a body that was changed is sent unpacked.
  const kept = bare(headers, changed ? ["accept-encoding", "content-encoding"] : ["accept-encoding"])
  docket.sent()
  const sent = await deps.transport.send({
    upstream,
    ...targetUrl(upstream, path),
    method: "POST",
    headers: [...kept, "accept-encoding", "identity"],
    body,
    signal: gone,
  })
  const answer = maskedAnswer(unpackedAnswer(sent), upstream)
  docket.noted.attempts = (docket.noted.attempts ?? 0) + answer.attempts
  docket.noted.sentBytes = body.length
  docket.noted.changed = changed
  return answer
}

/** The model that a body names, where it was not read: its name stands near the beginning or the end. */
function modelIn(bytes: Buffer): string | undefined {
  const edges = `${bytes.toString("utf8", 0, 2000)}\n${bytes.toString("utf8", Math.max(0, bytes.length - 2000))}`
  return /"model"\s*:\s*"([^"\\]{1,200})"/.exec(edges)?.[1]
}
