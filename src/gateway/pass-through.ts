import { answerProblem, type Exchange, problemOf } from "./exchange.ts"
import {
  forwardedHeaders,
  isForEveryone,
  ownHeaders,
  relayedHeaders,
  sharedKeyRefusal,
  sharesAccount,
} from "./http/headers.ts"
import { relayBytes } from "./http/relay.ts"
import { targetUrl } from "./http/target.ts"
import { maskedAnswer } from "./http/upstream-answer.ts"
import { type ApiFamily, chooseUpstream } from "./settings/upstream.ts"

/** Forward a request that is not a model call, and its response, unchanged. Nothing of it is stored or inspected. */
export async function passThrough(exchange: Exchange, family: ApiFamily, path: string): Promise<void> {
  const { deps, incoming, response, requestLog, gone, arrived } = exchange
  const upstream = chooseUpstream(deps.upstreams, family, undefined)
  requestLog.noted.how = "passed"
  if (upstream === undefined) return answerProblem(exchange, noUpstream(family))
  requestLog.noted.upstream = upstream.name
  if (sharesAccount(deps, upstream) && !isForEveryone(path)) return answerProblem(exchange, sharedKeyRefusal)
  const { method = "GET" } = incoming
  const hasBody = incoming.headers["transfer-encoding"] !== undefined || Number(incoming.headers["content-length"]) > 0
  if (hasBody) incoming.once("end", arrived)
  else arrived()
  try {
    const sent = await deps.transport.send({
      upstream,
      ...targetUrl(upstream, path),
      method,
      headers: forwardedHeaders(incoming.rawHeaders, upstream, family),
      body: hasBody ? incoming : undefined,
      signal: gone,
    })
    const answer = maskedAnswer(sent, upstream)
    requestLog.sent()
    requestLog.noted.attempts = answer.attempts
    response.writeHead(answer.status, [
      ...relayedHeaders(answer.rawHeaders, { keepLength: true }),
      ...ownHeaders({ trace: requestLog.id }),
    ])
    const { ending, bytes } = await relayBytes(answer, response, { onFirstByte: requestLog.firstByte })
    requestLog.noted.responseBytes = bytes
    requestLog.close(ending, answer.status)
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault))
  }
}

export const noUpstream = (family: ApiFamily, model?: string) =>
  ({
    code: "upstream-unreachable",
    host: `for ${family}${model === undefined ? "" : ` and the model ${model.slice(0, 80)}`}`,
    reason: "no upstream in the configuration serves it",
  }) as const
