import type { ModelRequest, ModelResponse } from "../message/message.ts"
import { familyOf } from "../message/message.ts"
import type { ContextRefusal } from "../model/too-long.ts"
import type { Trace } from "../session/log/event.ts"
import type { Prepared, Receipt } from "../session/prepared.ts"
import type { SessionGuarding } from "../session/record.ts"
import type { IncomingCall } from "./fast-path/incoming-call.ts"
import type { OwnAnswer } from "./server-state/compaction-answer.ts"
import type { Instead, RefusedCall } from "./server-state/instead.ts"
import type { How } from "./settings/exchange-record.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { chooseUpstream } from "./settings/upstream.ts"

export type WindowDeps = Pick<GatewayOptions, "upstreams" | "windowTokens"> & {
  /** Window sizes that upstreams stated when they refused a request, by tenant and model, because accounts have different limits. */
  readonly windows: Map<string, number>
  /** Tenants' models whose upstream refuses a request unless the request and its `max_tokens` together fit the window. */
  readonly countsAnswer: Set<string>
}

/** The configured window of a model, or the one its upstream stated when it refused a request, whichever is smaller. */
export function windowOf(
  { upstreams, windowTokens, windows }: WindowDeps,
  { tenant, format }: Pick<IncomingCall, "tenant" | "format">,
  model: string | undefined,
): number | undefined {
  const configured = chooseUpstream(upstreams, familyOf[format], model)?.windowTokens ?? windowTokens
  const learned = windows.get(keyOf(tenant, model))
  return configured === undefined || learned === undefined ? (configured ?? learned) : Math.min(configured, learned)
}

const keyOf = (tenant: string, model: string | undefined): string => JSON.stringify([tenant, model ?? ""])

/** Limit on remembered windows (one per tenant and model). */
const maxWindows = 1000
/** No model has a smaller window: a refusal that states less was about something else. */
const leastWindow = 4000

/** Remember the window that an upstream stated. If it stated none, the size of the refused request is the upper bound. */
export function learnWindow({ windows }: WindowDeps, tenant: string, model: string, tokens: number): void {
  if (tokens < leastWindow) return
  if (windows.size >= maxWindows) windows.clear()
  const key = keyOf(tenant, model)
  windows.set(key, Math.min(tokens, windows.get(key) ?? tokens))
}

/** Largest share of the window that is reserved for the response, whatever `max_tokens` the request allows. */
const mostAnswerShare = 0.5

/** Can the request be made small enough that the response it allows fits as well? */
export const leavesAnswer = ({ windowTokens = 0, answerTokens = 0 }: ContextRefusal): boolean =>
  answerTokens > 0 && answerTokens <= windowTokens * mostAnswerShare

export const isAnswerCounted = ({ countsAnswer }: WindowDeps, tenant: string, model: string | undefined): boolean =>
  countsAnswer.has(keyOf(tenant, model))

export function learnCountsAnswer({ countsAnswer }: WindowDeps, tenant: string, model: string): void {
  if (countsAnswer.size >= maxWindows) countsAnswer.clear()
  countsAnswer.add(keyOf(tenant, model))
}

/** If a refusal states no size, the next request gets this share of the refused request's tokens. */
const lessShare = 0.75

/** The window that the upstream stated, converted to our token counts: the upstream may count more tokens in the same text. */
export function tighter(
  { windowTokens, neededTokens, answerTokens = 0 }: ContextRefusal,
  { receipt: { contextTokens } }: Prepared,
): number {
  if (windowTokens === undefined) return Math.max(1, Math.floor(contextTokens * lessShare))
  const ratio = neededTokens === undefined ? 1 : Math.min(1, contextTokens / Math.max(1, neededTokens - answerTokens))
  return Math.max(1, Math.floor(windowTokens * ratio))
}

/** What is known about a call so far. For a call that was forwarded at once this is little until the session has stored it. */
export type Known = {
  readonly session?: string | undefined
  readonly model?: string | undefined
  readonly receipt?: Receipt | undefined
  readonly trace: Trace
}

/** Rounds of an answer that the client did not see: how many, and the texts that the model fetched in them. */
export type HiddenRounds = { readonly rounds: number; readonly recalled: readonly string[] }

/** One model call, ready to be sent upstream. */
export type OutgoingCall = {
  readonly how: How
  /** The body to send; the client's own bytes if nothing changed. */
  readonly bytes: Buffer
  readonly changed: boolean
  /** The decoded request; undefined if it was forwarded at once or could not be read. */
  readonly request?: ModelRequest
  readonly known: () => Known
  /** The guard that judges the tool calls of the response. */
  readonly guarding: () => Promise<SessionGuarding | undefined>
  /** A smaller body, after this one was refused as too long; undefined if there is none. */
  readonly smaller: (refusal: ContextRefusal) => Promise<Buffer | undefined>
  /** The full text that the model sees, if the body sent leaves out history that the provider holds. */
  readonly seen?: () => string
  /**
   * Note that the model is asked again before the client has its response: what the provider stores under the first response's id is then
   * incomplete.
   */
  readonly repeated?: () => void
  /** A response to send to the client without asking the upstream. */
  readonly answer?: OwnAnswer
  /** How to proceed after a refusal that `smaller` does not fix; undefined if the client should see the refusal. */
  readonly instead?: (refused: RefusedCall) => Promise<Instead | undefined>
  /**
   * Report the end of the call: the response as the client received it, the part that arrived, or undefined. It is recorded later; only the
   * first report counts.
   */
  readonly ended: (answer: ModelResponse | undefined, isCut?: boolean, rounds?: HiddenRounds) => void
  /** Once it is written down: ask the session's own model for a summary, if one is due. Nobody waits for it. */
  readonly summarize?: (sent: Buffer, ask: AskAside) => void
}

/** Asks the same upstream with the client's own credential, beside the exchange; on Gemini the path names the model. */
export type AskAside = (
  body: string,
  model: string | undefined,
) => Promise<{ readonly status: number; readonly response?: ModelResponse }>
