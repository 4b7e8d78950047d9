import { HoldfastError, problemOrThrow, unlessProblem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { readContextError } from "../model/too-long.ts"
import { decodeResponse } from "../wire/decode.ts"
import { answerBytes, answerProblem, type Exchange, giveAnswer, problemOf } from "./exchange.ts"
import type { IncomingCall } from "./fast-path/fast-path.ts"
import { refersToAccount } from "./http/other-paths.ts"
import type { Route } from "./http/route.ts"
import { readWhole } from "./http/transport.ts"
import { isForeign } from "./ingest-call.ts"
import { isRefused, type Located, locate } from "./locate.ts"
import { readIncomingCall, send } from "./model-call.ts"
import { noUpstream } from "./pass-through.ts"
import { compactedResponse, compactWhole } from "./server-state/compaction-answer.ts"
import { formOf } from "./server-state/form.ts"
import { knowsNoCompaction, refusalKind } from "./server-state/instead.ts"
import { chooseUpstream, isSharedCall, sharedKeyRefusal, windowOf } from "./settings/upstream.ts"

type CompactRoute = Extract<Route, { type: "compact" }>

/** Limit on the size of a response: a compacted conversation is smaller than any model's window. */
const maxAnswerBytes = 64 * 1024 * 1024

/** Handles `POST /v1/responses/compact`: forwards it to the upstream, and compacts here if the upstream cannot. */
export async function compactCall(exchange: Exchange, route: CompactRoute): Promise<void> {
  const { deps, requestLog, tenant } = exchange
  const { format, path } = route
  Object.assign(requestLog.noted, { format, tenant, how: "passed" })
  try {
    const { incomingCall, packed } = await readIncomingCall(exchange, route)
    requestLog.noted.requestBytes = packed.length
    const isShared = isSharedCall(deps, incomingCall)
    if (isShared && refersToAccount(incomingCall.bytes)) throw new HoldfastError(sharedKeyRefusal)
    const located = incomingCall.own.bypass && !isShared ? undefined : await locateOrPass(exchange, incomingCall)
    if (isShared && (located === undefined || isForeign(located))) throw new HoldfastError(sharedKeyRefusal)
    const upstream = chooseUpstream(deps.upstreams, "openai", located?.request.model)
    if (upstream === undefined) return answerProblem(exchange, noUpstream("openai", located?.request.model), format)
    requestLog.noted.upstream = upstream.name
    const ours = located === undefined ? undefined : readable(located)
    const body = ours === undefined ? packed : Buffer.from(ours)
    const answer = await send(exchange, { format, path }, { upstream, body, changed: ours !== undefined })
    const bytes = (await readWhole(answer, maxAnswerBytes)) ?? Buffer.alloc(0)
    if (located !== undefined && cannotAnswer(answer.status, bytes) && located.whole !== undefined) {
      return await answerHere(exchange, located)
    }
    if (located !== undefined) await noteAnswer(exchange, located, answer.status < 300 ? bytes : Buffer.alloc(0))
    answerBytes(exchange, answer, bytes, located?.session.id)
  } catch (error) {
    answerProblem(exchange, problemOf(error, deps.onFault), format)
  }
}

/** Locates the session; undefined for an unreadable request, which is forwarded so that the upstream reports what is wrong with it. */
async function locateOrPass({ deps }: Exchange, incomingCall: IncomingCall): Promise<Located | undefined> {
  return locate(deps, incomingCall).catch((error: unknown) => {
    if (isRefused(deps, problemOrThrow(error))) throw error
    return undefined
  })
}

/** The body with the gateway's own compaction items written out, if there are any: no upstream can read them. */
function readable({ whole, request }: Located): string | undefined {
  if (whole === undefined || whole.expanded.every(({ type }) => type !== "compaction")) return undefined
  const form = formOf(whole, whole.text)
  return form.type === "send" && form.body !== request.wire ? form.body : undefined
}

/** True if the upstream refused because it has no compaction endpoint, lacks the stored items, or has too small a window. */
function cannotAnswer(status: number, bytes: Buffer): boolean {
  if (status < 400) return false
  const body = bytes.toString("utf8")
  const kind = refusalKind("openai-responses", { status, body })
  const isMissing = kind === "previous-unknown" || kind === "item-unknown"
  return (
    isMissing || knowsNoCompaction({ status, body }) || readContextError("openai-responses", status, body) !== undefined
  )
}

async function answerHere(exchange: Exchange, located: Located): Promise<void> {
  const { deps, requestLog } = exchange
  const { tenant, session, request, whole, assignment } = located
  const { model } = request
  if (whole === undefined) return
  await deps.lines.idle(session.id)
  const windowTokens = windowOf(deps, { tenant, format: request.format }, model)
  const facts = { id: requestLog.id, atMs: deps.now(), ...present({ model, windowTokens }) }
  const compacted = await compactWhole(session, whole, facts, true)
  const answer = compactedResponse(compacted, facts)
  await noteAnswer(exchange, located, Buffer.from(answer.body))
  requestLog.noted.changed = true
  giveAnswer(exchange, answer, { session: assignment.session, receipt: compacted.receipt })
}

/** Records the response, so that a later request with the compacted conversation finds its session. */
async function noteAnswer({ deps }: Exchange, { assignment, request }: Located, bytes: Buffer): Promise<void> {
  const answer = unlessProblem(() => decodeResponse("openai-responses", bytes.toString("utf8")))
  const messages = answer?.messages.filter(({ role }) => role === "assistant") ?? []
  await deps.lineages.answered(assignment, request, messages, present({ responseId: answer?.id }))
}
