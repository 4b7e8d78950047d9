import { HoldfastError } from "../message/errors.ts"
import { type Format, familyOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type ContextRefusal, readContextError } from "../model/too-long.ts"
import { beginInTurn } from "../store/pace.ts"
import { type Delivery, deliver } from "./deliver.ts"
import { answerProblem, answerText, busy, type Exchange, type ExchangeDeps, giveAnswer, problemOf } from "./exchange.ts"
import type { IncomingCall } from "./fast-path/fast-path.ts"
import { bare, forwardedHeaders, holdfastHeaders } from "./http/headers.ts"
import { refersToAccount } from "./http/other-paths.ts"
import { unpack } from "./http/read-body.ts"
import { type Route, targetUrl } from "./http/route.ts"
import { readWhole, type UpstreamAnswer, type UpstreamRequest } from "./http/transport.ts"
import { maskedAnswer, peekAtStream, unpackedAnswer } from "./http/upstream-answer.ts"
import { contextError, contextNeed } from "./http/wire-error.ts"
import { isRefused } from "./locate.ts"
import { type OutgoingCall, openOutgoingCall, untouchedCall } from "./outgoing-call.ts"
import { noUpstream } from "./pass-through.ts"
import type { Instead, RefusedCall } from "./server-state/instead.ts"
import { chooseUpstream, isSharedCall, leavesAnswer, sharedKeyRefusal } from "./settings/upstream.ts"
import { printsHandle, withRecallTool } from "./tool-rounds/recall-tool.ts"

type ModelRoute = Extract<Route, { type: "model-call" }>

/** Handles one model call: prepares it in its session, sends it upstream, delivers the response. */
export async function modelCall(exchange: Exchange, route: ModelRoute): Promise<void> {
  const { deps, requestLog, tenant } = exchange
  const { format } = route
  Object.assign(requestLog.noted, { format, tenant })
  try {
    const { incomingCall, packed } = await readIncomingCall(exchange, route)
    const traceparent = /^[\da-f-]{55}$/.exec(incomingCall.headers.traceparent ?? "")?.[0]
    Object.assign(requestLog.noted, {
      requestBytes: packed.length,
      agent: incomingCall.own.agent,
      traceparent,
      ...incomingCall.owner.caller,
    })
    await beginInTurn()
    const outgoing = await outgoingFor(exchange, incomingCall)
    if (outgoing === "answered") return
    if (outgoing.answer !== undefined) {
      giveAnswer(exchange, outgoing.answer, outgoing.known())
      return outgoing.ended(undefined)
    }
    await callUpstream(exchange, route, { incomingCall, packed, outgoing }).finally(() => outgoing.ended(undefined))
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault), format)
  }
}

/** The program name and version at the start of a user agent such as `claude-cli/2.0.14 (external, cli)`. */
const clientIn = (userAgent: string | undefined): string | undefined =>
  /^[\w.@/+-]{1,80}(?=[\s(]|$)/.exec(userAgent ?? "")?.[0]

/** Texts that precede the client's working folder, in the system prompt or in the first message. */
const folderMarks = ["orking directory: ", "<cwd>", "orking in the directory: "] as const
/** Number of bytes searched at each end of a body: system prompts precede or follow the messages. */
const searchedBytes = 200_000

/** The name of the folder that a client says it works in. The bytes are JSON, so a line break is two characters. */
export function projectIn(bytes: Buffer): string | undefined {
  const ends =
    bytes.length <= 2 * searchedBytes ? [bytes] : [bytes.subarray(0, searchedBytes), bytes.subarray(-searchedBytes)]
  for (const end of ends) {
    for (const mark of folderMarks) {
      const at = end.indexOf(mark)
      const words = at < 0 ? "" : end.toString("utf8", at + mark.length, at + mark.length + 600)
      const [, path = ""] = /^(?:\\n|\s)*((?:\/|~|[A-Za-z]:)(?:\\\\|[^"\\<>\n]){1,400})/.exec(words) ?? []
      const name = path.split(/\/|\\\\/).findLast((part) => part.trim() !== "")
      if (name !== undefined && /^[\p{L}\p{N}._@+ -]{1,60}$/u.test(name.trim())) return name.trim()
    }
  }
  return undefined
}

type Call = { readonly incomingCall: IncomingCall; readonly packed: Buffer; readonly outgoing: OutgoingCall }

export async function readIncomingCall(
  { deps, incoming, headers, arrived, requestLog, tenant }: Exchange,
  { format, model }: Pick<ModelRoute, "format" | "model">,
): Promise<{ readonly incomingCall: IncomingCall; readonly packed: Buffer }> {
  const own = holdfastHeaders(headers)
  const packed = await deps.bodies.read(incoming, deps.limits.bodyBytes)
  if (packed === "too-large") {
    const length = Number(headers["content-length"] ?? deps.limits.bodyBytes + 1)
    throw new HoldfastError({ code: "body-too-large", length, limit: deps.limits.bodyBytes })
  }
  if (packed === "cut") throw new HoldfastError({ code: "upstream-stopped", host: "the client" })
  if (packed === "no-room" || !arrived()) throw new HoldfastError(busy(deps))
  const bytes = await unpack(packed, headers["content-encoding"], deps.limits.unpackedBytes)
  const [client, project] = [clientIn(headers["user-agent"]), projectIn(bytes)]
  const caller = { ...(client !== undefined && { client }), ...(project !== undefined && { project }) }
  const owner = { tenant, caller, ...(own.agent !== undefined && { agent: own.agent }) }
  const incomingCall = { id: requestLog.id, tenant, headers, own, format, bytes, owner, model }
  return { packed, incomingCall }
}

/**
 * Chooses how to forward a call. A request that cannot be read is forwarded unchanged, so that the upstream reports what is wrong with it.
 * It is refused instead if operator rules would be missing from it, if it belongs to a session whose rules cannot be read, or if it goes to
 * an account that several tenants share. A request that cannot be made to fit is forwarded unchanged too, unless `windowTokens` is
 * configured: without it, the window is only an assumption about the model.
 */
async function outgoingFor(exchange: Exchange, incomingCall: IncomingCall): Promise<OutgoingCall | "answered"> {
  const { deps } = exchange
  const isShared = isSharedCall(deps, incomingCall)
  if (isShared && refersToAccount(incomingCall.bytes)) throw new HoldfastError(sharedKeyRefusal)
  if (incomingCall.own.bypass && !hasOperatorRules(exchange) && !isShared)
    return untouchedCall(incomingCall, "bypassed", deps)
  try {
    return await openOutgoingCall(deps, incomingCall)
  } catch (error) {
    const problem = problemOf(error, deps.onFault)
    exchange.requestLog.noted.problem = problem
    if (problem.code === "access-refused" || isRefused(deps, problem)) throw error
    const sizes = contextNeed(problem)
    if (sizes !== undefined && deps.windowTokens !== undefined) {
      const { status, headers, body } = contextError(incomingCall.format, sizes)
      answerText(exchange, status, headers, body)
      return "answered"
    }
    if ((hasOperatorRules(exchange) || isShared) && sizes === undefined) throw error
    return untouchedCall(incomingCall, "passed", deps)
  }
}

/** True if there are operator rules that a call outside its session would miss: rules in requests, or policies that name a session. */
function hasOperatorRules({ deps: { operator } }: Exchange): boolean {
  const standing = operator?.standing()
  if (standing === undefined) return false
  return standing.rules.length > 0 || (standing.guard?.policies ?? []).some(({ text }) => text.includes("Session::"))
}

/** Limit on how often a request that was refused as too long is made smaller and sent again. */
const maxShrinking = 2
const maxErrorBytes = 1024 * 1024

async function callUpstream(exchange: Exchange, route: ModelRoute, call: Call): Promise<void> {
  const { deps, requestLog } = exchange
  const { outgoing, incomingCall } = call
  const { format } = route
  const model = incomingCall.model ?? outgoing.request?.model ?? outgoing.known().model
  const upstream = chooseUpstream(deps.upstreams, familyOf[format], model ?? modelIn(incomingCall.bytes))
  if (upstream === undefined) return answerProblem(exchange, noUpstream(familyOf[format], model), format)
  requestLog.noted.upstream = upstream.name
  requestLog.begin(present({ session: outgoing.known().session, model }))
  const again = (next: string) => {
    outgoing.repeated?.()
    return send(exchange, route, { upstream, body: Buffer.from(next), changed: true })
  }
  const aside = (next: string, path: string) => sendAside(exchange, { path, format }, upstream, Buffer.from(next))
  let { body, recalls } = offerRecall(exchange, route, outgoing.bytes, outgoing)
  let changed = outgoing.changed || recalls
  let refusal: Delivery | undefined
  for (let shrunk = 0; ; shrunk++) {
    const mayShrink = shrunk < maxShrinking
    const sent = await send(exchange, route, { upstream, body: changed ? body : call.packed, changed })
    const { answer, error: early } = mayRefuseInStream(format, sent, body) ? await peekAtStream(sent) : { answer: sent }
    const delivery = {
      format,
      path: route.path,
      outgoing,
      answer,
      changed,
      sent: body,
      recalls,
      hidden: { rounds: 0, recalled: [] },
      again,
      aside,
    }
    if (!refusals.has(answer.status)) {
      const tooLong = early === undefined || !mayShrink ? undefined : readContextError(format, undefined, early)
      const smaller = await smallerAfter(outgoing, tooLong)
      if (smaller === undefined) return deliver(exchange, delivery)
      answer.drop()
      ;({ body, recalls } = offerRecall(exchange, route, smaller, outgoing))
      changed = true
      continue
    }
    const error = (await readWhole(answer, maxErrorBytes)) ?? Buffer.alloc(0)
    const refused = { status: answer.status, body: error.toString("utf8"), sent: body, changed }
    const instead = await insteadOf(outgoing, format, refused, mayShrink)
    if (instead === undefined) return deliver(exchange, refusal ?? { ...delivery, whole: error })
    if (instead.type === "answer") {
      outgoing.ended(instead.response)
      // Record this response before sending it, so that a request that continues from it finds its session.
      await deps.lines.idle(outgoing.known().session ?? "")
      return giveAnswer(exchange, instead.answer, outgoing.known())
    }
    if (instead.isTrial === true) refusal = { ...delivery, whole: error }
    ;({ body, recalls } = offerRecall(exchange, route, instead.body, outgoing))
    changed = true
  }
}

/** Offers the model the recall tool if the session has put a recall handle into the request. */
function offerRecall({ deps }: Exchange, { format }: ModelRoute, body: Buffer, outgoing: OutgoingCall) {
  const text = deps.recall && outgoing.known().session !== undefined ? body.toString("utf8") : ""
  const isPrinted = text !== "" && printsHandle(outgoing.seen?.() ?? text)
  const offered = isPrinted ? withRecallTool(text, format) : text
  return offered === text ? { body, recalls: false } : { body: Buffer.from(offered), recalls: true }
}

/** Status codes of refusals that a different request may avoid: too long, unknown to the upstream, or not accepted in this form. */
const refusals: ReadonlySet<number> = new Set([400, 404, 405, 413, 422, 501])

/** Minimum length of a body in bytes that may be too long for a model. */
const minLongBytes = 40_000

const mayRefuseInStream = (format: Format, { status, headers }: UpstreamAnswer, body: Buffer): boolean =>
  format === "openai-responses" &&
  status === 200 &&
  body.length >= minLongBytes &&
  String(headers["content-type"] ?? "").startsWith("text/event-stream")

/** A smaller body after an error that says the request is too long. */
async function smallerAfter(outgoing: OutgoingCall, tooLong: ContextRefusal | undefined): Promise<Buffer | undefined> {
  return tooLong === undefined || !mayBeSmaller(tooLong) ? undefined : outgoing.smaller(tooLong)
}

/** False if only the allowed response (`max_tokens`) is too long and takes over half of the window: clients lower it themselves. */
const mayBeSmaller = (tooLong: ContextRefusal): boolean => tooLong.answerTokens === undefined || leavesAnswer(tooLong)

/** How to proceed after a refusal: send a smaller request if it was too long, otherwise ask the outgoing call. */
async function insteadOf(
  outgoing: OutgoingCall,
  format: Format,
  refused: Omit<RefusedCall, "isTooLong" | "isAboutLength">,
  mayShrink: boolean,
): Promise<Instead | undefined> {
  const tooLong = readContextError(format, refused.status, refused.body)
  const smaller = mayShrink ? await smallerAfter(outgoing, tooLong) : undefined
  if (smaller !== undefined) return { type: "send", body: smaller }
  const isTooLong = tooLong !== undefined && mayBeSmaller(tooLong)
  return outgoing.instead?.({ ...refused, isTooLong, isAboutLength: tooLong !== undefined })
}

export async function send(
  { deps, incoming, requestLog, gone }: Exchange,
  { path, format }: Pick<ModelRoute, "path" | "format">,
  { upstream, body, changed }: Pick<UpstreamRequest, "upstream"> & { readonly body: Buffer; readonly changed: boolean },
): Promise<UpstreamAnswer> {
  requestLog.sent()
  const answer = await post(deps, { upstream, path, format, raw: incoming.rawHeaders, body, changed, signal: gone })
  requestLog.noted.attempts = (requestLog.noted.attempts ?? 0) + answer.attempts
  requestLog.noted.sentBytes = body.length
  requestLog.noted.changed = changed
  return answer
}

/** Time limit for a summary by the session's own model, which may think first. */
const asideMs = 180_000

/** Sends a request in the background: with the client's headers, and even if the client has disconnected. */
async function sendAside(
  { deps, incoming }: Exchange,
  { path, format }: Pick<ModelRoute, "path" | "format">,
  upstream: UpstreamRequest["upstream"],
  body: Buffer,
): Promise<UpstreamAnswer> {
  const signal = AbortSignal.timeout(asideMs)
  return post(deps, { upstream, path, format, raw: incoming.rawHeaders, body, changed: true, signal })
}

type PostRequest = Pick<UpstreamRequest, "upstream" | "signal"> & {
  readonly path: string
  readonly format: Format
  /** The client's headers. */
  readonly raw: readonly string[]
  readonly body: Buffer
  readonly changed: boolean
}

/** The gateway reads the response, so it asks for no compression. A changed body is sent uncompressed. */
async function post({ transport }: ExchangeDeps, { upstream, path, format, raw, changed, ...rest }: PostRequest) {
  const headers = forwardedHeaders(raw, upstream, familyOf[format])
  const kept = bare(headers, changed ? ["accept-encoding", "content-encoding"] : ["accept-encoding"])
  const sent = await transport.send({
    upstream,
    ...targetUrl(upstream, path),
    method: "POST",
    headers: [...kept, "accept-encoding", "identity"],
    ...rest,
  })
  return maskedAnswer(unpackedAnswer(sent), upstream)
}

/** The model name in a body that was not parsed: `model` usually is near the beginning or the end. */
function modelIn(bytes: Buffer): string | undefined {
  const edges = `${bytes.toString("utf8", 0, 2000)}\n${bytes.toString("utf8", Math.max(0, bytes.length - 2000))}`
  return /"model"\s*:\s*"([^"\\]{1,200})"/.exec(edges)?.[1]
}
