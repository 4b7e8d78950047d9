import { HoldfastError, type Problem } from "../errors.ts"
import { present } from "../message/present.ts"
import type { Asked } from "./asked.ts"
import { chooseUpstream } from "./choose-upstream.ts"
import { wholeOf } from "./chunks-of.ts"
import { contextError, readContextError } from "./context-error.ts"
import { deliver } from "./deliver.ts"
import { answerProblem, answerText, type Exchange } from "./exchange.ts"
import { familyOf } from "./family.ts"
import { bare, flatOf } from "./flat-headers.ts"
import { noUpstream } from "./pass-through.ts"
import { problemOf } from "./problem-of.ts"
import { readBody } from "./read-body.ts"
import { unpack } from "./read-packed.ts"
import { forwardedHeaders, holdfastHeaders } from "./request-headers.ts"
import type { Route } from "./route.ts"
import { targetUrl } from "./target.ts"
import type { Sending, UpstreamAnswer } from "./transport.ts"
import type { Turn } from "./turn.ts"
import { openTurn } from "./turns.ts"
import { untouchedTurn } from "./untouched-turn.ts"

export type ModelRoute = Extract<Route, { type: "model-call" }>

/** A call of a model: through its session, upstream, and back. */
export async function modelCall(exchange: Exchange, route: ModelRoute): Promise<void> {
  const { deps, tally, tenant } = exchange
  const { format } = route
  Object.assign(tally.noted, { format, tenant })
  try {
    const { asked, packed } = await readAsked(exchange, route)
    const traceparent = /^[\da-f-]{55}$/.exec(asked.headers.traceparent ?? "")?.[0]
    Object.assign(tally.noted, { requestBytes: packed.length, ...present({ agent: asked.own.agent, traceparent }) })
    const turn = await turnFor(exchange, asked)
    if (turn === "answered") return
    await callUpstream(exchange, route, { asked, packed, turn }).finally(() => turn.ended(undefined))
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault), format)
  }
}

type Call = { readonly asked: Asked; readonly packed: Buffer; readonly turn: Turn }

async function readAsked(
  { deps, incoming, tally, tenant }: Exchange,
  { format, model }: ModelRoute,
): Promise<{ readonly asked: Asked; readonly packed: Buffer }> {
  const headers = flatOf(incoming.headers)
  const { session, agent, bypass, focus } = holdfastHeaders(headers)
  const packed = await readBody(incoming, deps.limits.bodyBytes)
  if (packed === "too-large") {
    const length = Number(headers["content-length"] ?? deps.limits.bodyBytes + 1)
    throw new HoldfastError({ code: "body-too-large", length, limit: deps.limits.bodyBytes })
  }
  if (packed === "cut") throw new HoldfastError({ code: "upstream-stopped", host: "the client" })
  const bytes = await unpack(packed, headers["content-encoding"], deps.limits.unpackedBytes)
  const own = { bypass, ...present({ session, agent, focus }) }
  return { packed, asked: { id: tally.id, tenant, headers, own, format, bytes, ...present({ model }) } }
}

/**
 * The turn of a call. What cannot be read goes on as it came, for the upstream to say what is wrong with it, unless the operator's rules
 * would be missing in it then. What cannot be made to fit does so too where the window is only what we believe of the model.
 */
async function turnFor(exchange: Exchange, asked: Asked): Promise<Turn | "answered"> {
  const { deps } = exchange
  if (asked.own.bypass && !hasOperatorRules(exchange)) return untouchedTurn(asked, "bypassed", deps.operator)
  try {
    return await openTurn(deps, asked)
  } catch (error) {
    const problem = problemOf(error, deps.onFault)
    exchange.tally.noted.problem = problem
    const sizes = sizesIn(problem)
    if (sizes !== undefined && deps.windowTokens !== undefined) {
      const { status, headers, body } = contextError(asked.format, sizes)
      answerText(exchange, status, headers, body)
      return "answered"
    }
    if (hasOperatorRules(exchange) && sizes === undefined) throw error
    return untouchedTurn(asked, "passed", deps.operator)
  }
}

const hasOperatorRules = ({ deps: { operator } }: Exchange): boolean => (operator?.standing().rules.length ?? 0) > 0

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
  const { deps, tally } = exchange
  const { turn, asked } = call
  const { format } = route
  const model = asked.model ?? turn.request?.model ?? turn.known().model
  const upstream = chooseUpstream(deps.upstreams, familyOf[format], model ?? modelIn(asked.bytes))
  if (upstream === undefined) return answerProblem(exchange, noUpstream(familyOf[format], model), format)
  tally.noted.upstream = upstream.name
  let changed = turn.changed
  let body = changed ? turn.bytes : call.packed
  for (let shrunk = 0; ; shrunk++) {
    const answer = await send(exchange, route, { upstream, body, changed })
    const refused = answer.status === 400 || answer.status === 413 || answer.status === 422
    if (!refused) return deliver(exchange, { format, path: route.path, turn, answer, changed })
    const error = (await wholeOf(answer, maxErrorBytes)) ?? Buffer.alloc(0)
    const tooLong = readContextError(format, answer.status, error.toString("utf8"))
    const smaller =
      tooLong === undefined || tooLong.output === true || shrunk >= maxShrinking
        ? undefined
        : await turn.smaller(tooLong)
    if (smaller === undefined)
      return deliver(exchange, { format, path: route.path, turn, answer, changed, whole: error })
    body = smaller
    changed = true
  }
}

async function send(
  { deps, incoming, tally, gone }: Exchange,
  { path, format }: ModelRoute,
  { upstream, body, changed }: Pick<Sending, "upstream"> & { readonly body: Buffer; readonly changed: boolean },
): Promise<UpstreamAnswer> {
  const headers = forwardedHeaders(incoming.rawHeaders, upstream, familyOf[format])
  // An answer is read as it passes, so it comes unpacked; a body that was changed is sent unpacked.
  const kept = bare(headers, changed ? ["accept-encoding", "content-encoding"] : ["accept-encoding"])
  const answer = await deps.transport.send({
    upstream,
    ...targetUrl(upstream, path),
    method: "POST",
    headers: [...kept, "accept-encoding", "identity"],
    body,
    signal: gone,
  })
  tally.sent()
  tally.noted.attempts = (tally.noted.attempts ?? 0) + answer.attempts
  tally.noted.sentBytes = body.length
  tally.noted.changed = changed
  return answer
}

/** The model that a body names, where it was not read: its name stands near the beginning or the end. */
function modelIn(bytes: Buffer): string | undefined {
  const edges = `${bytes.toString("utf8", 0, 2000)}\n${bytes.toString("utf8", Math.max(0, bytes.length - 2000))}`
  return /"model"\s*:\s*"([^"\\]{1,200})"/.exec(edges)?.[1]
}
