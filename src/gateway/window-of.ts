import type { Prepared } from "../session/prepared.ts"
import type { Asked } from "./fast-path/asked.ts"
import type { TooLong } from "./passage.ts"
import { chooseUpstream } from "./settings/choose-upstream.ts"
import { familyOf } from "./settings/family.ts"
import type { GatewayOptions } from "./settings/gateway-options.ts"

export type WindowDeps = Pick<GatewayOptions, "upstreams" | "windowTokens"> & {
  /** Windows that upstreams named when they refused a request, by tenant and model: accounts differ in what they may send. */
  readonly windows: Map<string, number>
  /** The same of models whose upstream refuses a request if it and the longest answer that it allows do not fit together. */
  readonly countsAnswer: Set<string>
}

/** The window that is laid down for a model, or that its upstream named when it refused a request, if that is less. */
export function windowOf(
  { upstreams, windowTokens, windows }: WindowDeps,
  { tenant, format }: Pick<Asked, "tenant" | "format">,
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
