import { isUtf8 } from "node:buffer"
import { percentDecoded } from "../language/encoding.ts"
import { HoldfastError } from "../message/errors.ts"
import type { ApiFamily } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type Delivery, deliver } from "./deliver.ts"
import { answerBytes, answerProblem, type Exchange, problemOf } from "./exchange.ts"
import { bare, forwardedHeaders, holdfastHeaders, ownHeaders, relayedHeaders } from "./http/headers.ts"
import { bodyKind, isForEveryone, mayCarryCall, type OtherPath, otherPathOf } from "./http/other-paths.ts"
import { relayBytes } from "./http/relay.ts"
import { targetUrl } from "./http/route.ts"
import { readWhole, type UpstreamAnswer } from "./http/transport.ts"
import { maskedAnswer, unpackedAnswer } from "./http/upstream-answer.ts"
import { namesFor } from "./identity/names.ts"
import { type OutgoingCall, untouchedCall } from "./outgoing-call.ts"
import { chooseUpstream, sharedKeyRefusal, sharesAccount, type Upstream } from "./settings/upstream.ts"

/**
 * Forwards a request that is not a model call. Nothing of it is stored. If there is a guard, a stored model response is judged, and a
 * response that may contain tool calls which cannot be judged is refused, unless the configuration says `guard.unjudged: pass`.
 */
export async function passThrough(exchange: Exchange, family: ApiFamily, path: string): Promise<void> {
  const { deps, incoming, requestLog, tenant } = exchange
  const upstream = chooseUpstream(deps.upstreams, family, undefined)
  Object.assign(requestLog.noted, { how: "passed", tenant })
  if (upstream === undefined) return answerProblem(exchange, noUpstream(family))
  requestLog.noted.upstream = upstream.name
  const { method = "GET" } = incoming
  if (sharesAccount(deps, upstream) && !isForEveryone(method, path)) return answerProblem(exchange, sharedKeyRefusal)
  try {
    const other = otherPathOf(method, path)
    const guarding = other.type === "plain" ? undefined : await guardingFor(exchange, other)
    if (guarding === undefined) return await relay(exchange, await forward(exchange, upstream, family, path, false))
    const isOpen = deps.unjudged === "pass"
    if (other.type === "closed" && !isOpen) return answerProblem(exchange, unjudged(other.what))
    const answer = await forward(exchange, upstream, family, path, true)
    if (other.type === "stored") return await deliver(exchange, storedDelivery(exchange, other, path, answer, guarding))
    if (isOpen || other.type !== "unknown") return await relay(exchange, answer)
    await relayIfHarmless(exchange, answer, other.isFile)
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault))
  }
}

async function forward(
  { deps, incoming, requestLog, gone, arrived }: Exchange,
  upstream: Upstream,
  family: ApiFamily,
  path: string,
  isRead: boolean,
): Promise<UpstreamAnswer> {
  const { method = "GET" } = incoming
  const hasBody = incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"]) > 0
  if (hasBody) incoming.once("end", arrived)
  else arrived()
  const headers = forwardedHeaders(incoming.rawHeaders, upstream, family)
  const sent = await deps.transport.send({
    upstream,
    ...targetUrl(upstream, path),
    method,
    headers: isRead ? [...bare(headers, ["accept-encoding"]), "accept-encoding", "identity"] : headers,
    body: hasBody ? incoming : undefined,
    signal: gone,
  })
  const answer = maskedAnswer(isRead ? unpackedAnswer(sent) : sent, upstream)
  requestLog.sent()
  requestLog.noted.attempts = answer.attempts
  return answer
}

async function relay({ response, requestLog }: Exchange, answer: UpstreamAnswer): Promise<void> {
  response.writeHead(answer.status, [
    ...relayedHeaders(answer.rawHeaders, { keepLength: true }),
    ...ownHeaders({ trace: requestLog.id }),
  ])
  const { ending, bytes } = await relayBytes(answer, response, { onFirstByte: requestLog.firstByte })
  requestLog.noted.responseBytes = bytes
  requestLog.close(ending, answer.status)
}

/** The guard of the session that a stored response belongs to; otherwise that of calls outside any session. */
async function guardingFor({ deps, headers, tenant, requestLog }: Exchange, other: OtherPath): Promise<CallGuarding> {
  const own = holdfastHeaders(headers)
  const { agent } = own
  if (other.type === "stored") {
    const name = namesFor(tenant, present({ named: agent })).response(percentDecoded(other.id))
    const [found] = await deps.store.findAliases([name])
    if (found !== undefined) {
      requestLog.noted.session = found.session
      return await deps.holdfast
        .session(found.session, { tenant, ...present({ agent }) })
        .guarding(percentDecoded(other.id))
    }
  }
  const call = { tenant, own, bytes: Buffer.alloc(0) }
  const stored = other.type === "stored" ? percentDecoded(other.id) : undefined
  return await untouchedCall(call, "passed", deps, stored).guarding()
}

type CallGuarding = Awaited<ReturnType<OutgoingCall["guarding"]>>

/** Delivers a stored response like that of a model call, but the model cannot be asked again. */
function storedDelivery(
  { deps, tenant }: Exchange,
  { format }: Extract<OtherPath, { type: "stored" }>,
  path: string,
  answer: UpstreamAnswer,
  guarding: CallGuarding,
): Delivery {
  const never = (): never => {
    throw new Error("holdfast bug: a stored response has no further round")
  }
  const call = untouchedCall({ tenant, own: {}, bytes: Buffer.alloc(0) }, "passed", deps)
  const outgoing = { ...call, guarding: async () => guarding }
  const nothing = { sent: Buffer.from("{}"), recalls: false, changed: false, again: never, aside: never }
  return { format, path, outgoing, answer, ...nothing, hidden: { rounds: 0, recalled: [] }, isStored: true }
}

/** Limit on the size of a response that is read whole to be searched for tool calls. */
const maxHeldBytes = 64 * 1024 * 1024

/** Reads a response of an unknown kind, and relays it only if no client could find a tool call in it. */
async function relayIfHarmless(exchange: Exchange, answer: UpstreamAnswer, isFile: boolean): Promise<void> {
  const kind = bodyKind(String(answer.headers["content-type"] ?? ""))
  if (answer.status >= 300 || kind === "media") return relay(exchange, answer)
  const bytes = await readWhole(answer, maxHeldBytes)
  if (bytes === undefined)
    throw new HoldfastError({ code: "upstream-too-large", host: "upstream", limitBytes: maxHeldBytes })
  const isText = isUtf8(bytes) && (kind === "text" || isFile || bytes.length === 0)
  const isHarmless = isText ? !mayCarryCall(bytes.toString("utf8")) : isFile
  if (!isHarmless) return answerProblem(exchange, unjudged("this path"))
  answerBytes(exchange, answer, bytes)
}

const unjudged = (what: string) => ({ code: "path-unjudged", what }) as const

export const noUpstream = (family: ApiFamily, model?: string) =>
  ({
    code: "upstream-unreachable",
    host: `for ${family}${model === undefined ? "" : ` and the model ${model.slice(0, 80)}`}`,
    reason: "no upstream in the configuration serves it",
  }) as const
