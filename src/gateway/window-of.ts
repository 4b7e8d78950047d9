import type { ModelRequest, ModelResponse } from "../message/message.ts"
import type { Trace } from "../session/log/trace.ts"
import type { Prepared, Receipt } from "../session/prepared.ts"
import type { SessionGuarding } from "../session/record.ts"
import type { IncomingCall } from "./fast-path/incoming-call.ts"
import type { OwnAnswer } from "./server-state/compaction-answer.ts"
import type { Instead, RefusedCall } from "./server-state/instead.ts"
import type { How } from "./settings/exchange-record.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"
import { chooseUpstream, familyOf } from "./settings/upstream.ts"

export type WindowDeps = Pick<GatewayOptions, "upstreams" | "windowTokens"> & {
  /** Windows that upstreams named when they refused a request, by tenant and model: accounts differ in what they may send. */
  readonly windows: Map<string, number>
  /** The same of models whose upstream refuses a request if it and the longest answer that it allows do not fit together. */
  readonly countsAnswer: Set<string>
}

/** The window that is laid down for a model, or that its upstream named when it refused a request, if that is less. */
export function windowOf(
  { upstreams, windowTokens, windows }: WindowDeps,
  { tenant, format }: Pick<IncomingCall, "tenant" | "format">,
  model: string | undefined,
): number | undefined {
  const laid = chooseUpstream(upstreams, familyOf[format], model)?.windowTokens ?? windowTokens
  const learned = windows.get(keyOf(tenant, model))
  return laid === undefined || learned === undefined ? (laid ?? learned) : Math.min(laid, learned)
}

const keyOf = (tenant: string, model: string | undefined): string => JSON.stringify([tenant, model ?? ""])

/** Tenants' models that windows are remembered of. */
const maxWindows = 1000
/** No model holds less: a refusal of less was about something else. */
const leastWindow = 4000

/** What a model's upstream named as its window; where it names none, it is less than what it refused. */
export function learnWindow({ windows }: WindowDeps, tenant: string, model: string, tokens: number): void {
  if (tokens < leastWindow) return
  if (windows.size >= maxWindows) windows.clear()
  const key = keyOf(tenant, model)
  windows.set(key, Math.min(tokens, windows.get(key) ?? tokens))
}

/** Of the window: no more is held free for an answer, however long a one is allowed. */
const mostAnswerShare = 0.5

/** Could the request be made so small that the answer that it allows fits beside it? */
export const leavesAnswer = ({ windowTokens = 0, answerTokens = 0 }: TooLong): boolean =>
  answerTokens > 0 && answerTokens <= windowTokens * mostAnswerShare

export const isAnswerCounted = ({ countsAnswer }: WindowDeps, tenant: string, model: string | undefined): boolean =>
  countsAnswer.has(keyOf(tenant, model))

export function learnCountsAnswer({ countsAnswer }: WindowDeps, tenant: string, model: string): void {
  if (countsAnswer.size >= maxWindows) countsAnswer.clear()
  countsAnswer.add(keyOf(tenant, model))
}

/** Where a refusal names no figure, the next request is made this much smaller. */
const lessShare = 0.75

/** The window that the upstream named, in our own tokens: it may count more of them in the same text. */
export function tighter(
  { windowTokens, neededTokens, answerTokens = 0 }: TooLong,
  { receipt: { contextTokens } }: Prepared,
): number {
  if (windowTokens === undefined) return Math.max(1, Math.floor(contextTokens * lessShare))
  const ratio = neededTokens === undefined ? 1 : Math.min(1, contextTokens / Math.max(1, neededTokens - answerTokens))
  return Math.max(1, Math.floor(windowTokens * ratio))
}

/** Why an upstream refused a request as too long, as far as it said; `answerTokens` where only the answer that it allows is too much. */
export type TooLong = {
  readonly windowTokens?: number
  readonly neededTokens?: number
  readonly answerTokens?: number
}

/** What is known of a call by now: of one that was sent on at once, little at first. */
export type Known = {
  readonly session?: string
  readonly model?: string
  readonly receipt?: Receipt
  readonly trace: Trace
}

/** One model call on its way through a session. */
export type OutgoingCall = {
  readonly how: How
  /** What to send; the client's own bytes where nothing was changed. */
  readonly bytes: Buffer
  readonly changed: boolean
  /** The request as it was read; nothing where it was sent on at once or could not be read. */
  readonly request?: ModelRequest
  readonly known: () => Known
  /** Who judges the calls of the answer. */
  readonly guarding: () => Promise<SessionGuarding | undefined>
  /** A smaller request, after this one was refused as too long; nothing if there is none. */
  readonly smaller: (refusal: TooLong) => Promise<Buffer | undefined>
  /** A body with all that the model sees, where what is sent is only what the provider does not hold yet. */
  readonly seen?: () => string
  /** The model is asked again before the client has its answer: what the provider keeps under the first answer's id is not all of it. */
  readonly repeated?: () => void
  /** What the client is told without asking the upstream. */
  readonly answer?: OwnAnswer
  /** What to do about a refusal that `smaller` does not help with; nothing if it is the client's to see. */
  readonly instead?: (refused: RefusedCall) => Promise<Instead | undefined>
  /** What came of it: the answer as the client got it, what there was of it, or nothing. It is written down later; only the first word on it counts. */
  readonly ended: (answer: ModelResponse | undefined, isCut?: boolean) => void
  /** Once it is written down: ask the session's own model for a summary, if one is due. Nobody waits for it. */
  readonly summarize?: (sent: Buffer, ask: AskAside) => void
}

/** Asks the same upstream with the client's own credential, beside the exchange; on Gemini the path names the model. */
export type AskAside = (
  body: string,
  model: string | undefined,
) => Promise<{ readonly status: number; readonly response?: ModelResponse }>
