import { type ApiFamily, type Format, familyOf } from "../../message/message.ts"
import type { ContextRefusal } from "../../model/too-long.ts"
import type { Prepared } from "../../session/history/prepared.ts"
import type { GatewayOptions } from "./gateway-options.ts"

/** A model API behind the gateway. Upstreams come only from the configuration: no request can name another one. */
export type Upstream = {
  readonly name: string
  readonly families: readonly ApiFamily[]
  /** Patterns of the models it serves, with `*` for any text; all models by default. The first matching upstream is used. */
  readonly models?: readonly string[]
  readonly baseUrl: string
  /** The window of its models, in place of the model table. */
  readonly windowTokens?: number
  /** Its own key, which replaces the client's credential. Without it, the client's credential is forwarded. */
  readonly apiKey?: string
  /** Headers added to the client's; they replace client headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connectMs: number
  /** Timeout until the first byte of the response. */
  readonly answerMs: number
  /** Timeout between two bytes of the response. */
  readonly idleMs: number
  /** Number of retries of a request that failed before the first byte of a response. */
  readonly retries: number
}

/** Length above which a name is not a model name, and matches no pattern except `*`. */
const maxNameLength = 512

/** The first upstream with this API that serves the model; without a model the only one, or the first without patterns. */
export function chooseUpstream(
  upstreams: readonly Upstream[],
  family: ApiFamily,
  model: string | undefined,
): Upstream | undefined {
  const withFamily = upstreams.filter(({ families }) => families.includes(family))
  if (model === undefined || model === "") {
    return withFamily.length === 1 ? withFamily[0] : withFamily.find(({ models }) => models === undefined)
  }
  const name = model.replace(/^models\//, "").toLowerCase()
  return withFamily.find(({ models }) => models === undefined || models.some((pattern) => fitsPattern(name, pattern)))
}

/** True if the name matches the pattern, in which `*` stands for any text. Each piece is searched once, after the previous one. */
export function fitsPattern(name: string, pattern: string): boolean {
  if (name.length > maxNameLength) return pattern === "*"
  const pieces = pattern.toLowerCase().split("*")
  const first = pieces[0] ?? ""
  const last = pieces.at(-1) ?? ""
  if (pieces.length === 1) return name === first
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = name.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= name.length - last.length
}

export type WindowDeps = Pick<GatewayOptions, "upstreams" | "windowTokens"> & {
  /** Window sizes that upstreams stated when they refused a request, by tenant and model, because accounts have different limits. */
  readonly windows: Map<string, number>
  /** Tenants' models whose upstream refuses a request unless the request and its `max_tokens` together fit the window. */
  readonly countsAnswer: Set<string>
}

/** The configured window of a model, or the one its upstream stated when it refused a request, whichever is smaller. */
export function windowOf(
  { upstreams, windowTokens, windows }: WindowDeps,
  { tenant, format }: { readonly tenant: string; readonly format: Format },
  model: string | undefined,
): number | undefined {
  const configured = chooseUpstream(upstreams, familyOf[format], model)?.windowTokens ?? windowTokens
  const learned = windows.get(keyOf(tenant, model))
  return configured === undefined || learned === undefined ? (configured ?? learned) : Math.min(configured, learned)
}

const keyOf = (tenant: string, model: string | undefined): string => JSON.stringify([tenant, model ?? ""])

/** Limit on remembered windows (one per tenant and model). */
const maxWindows = 1000
/** Minimum window of any model: a refusal that states less was about something else. */
const minWindow = 4000

/** Remembers the window that an upstream stated. If it stated none, the size of the refused request is the upper bound. */
export function learnWindow({ windows }: WindowDeps, tenant: string, model: string, tokens: number): void {
  if (tokens < minWindow) return
  if (windows.size >= maxWindows) windows.clear()
  const key = keyOf(tenant, model)
  windows.set(key, Math.min(tokens, windows.get(key) ?? tokens))
}

/** Largest share of the window that is reserved for the response, whatever `max_tokens` the request allows. */
const maxAnswerShare = 0.5

/** True if the request can be made small enough that the response it allows fits as well. */
export const leavesAnswer = ({ windowTokens = 0, answerTokens = 0 }: ContextRefusal): boolean =>
  answerTokens > 0 && answerTokens <= windowTokens * maxAnswerShare

export const isAnswerCounted = ({ countsAnswer }: WindowDeps, tenant: string, model: string | undefined): boolean =>
  countsAnswer.has(keyOf(tenant, model))

export function learnCountsAnswer({ countsAnswer }: WindowDeps, tenant: string, model: string): void {
  if (countsAnswer.size >= maxWindows) countsAnswer.clear()
  countsAnswer.add(keyOf(tenant, model))
}

/** Share of the refused request's tokens that the next request gets if the refusal states no size. */
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

/** True if the upstream has a credential of its own, so that the client's must not reach it. */
export const hasOwnKey = ({ apiKey, headers }: Pick<Upstream, "apiKey" | "headers">): boolean =>
  apiKey !== undefined || Object.keys(headers ?? {}).some(isCredential)

/** True if several tenants share one account at a provider: data stored there cannot be separated by tenant. */
export const sharesAccount = ({ tenants }: Pick<GatewayOptions, "tenants">, upstream: Upstream | undefined): boolean =>
  tenants === "by-key" && upstream !== undefined && hasOwnKey(upstream)

/** True if a model call may go to an account that several tenants share. */
export const isSharedCall = (
  deps: Pick<GatewayOptions, "tenants" | "upstreams">,
  { format }: { readonly format: Format },
): boolean =>
  deps.upstreams.some((upstream) => upstream.families.includes(familyOf[format]) && sharesAccount(deps, upstream))

/** The refusal for stored data whose owner is unknown. */
export const sharedKeyRefusal = {
  code: "access-refused",
  status: 403,
  reason:
    "several clients share this upstream's key, and data stored under it cannot be separated by client (tenants: one shares it with all)",
} as const

/** Headers that carry a credential, in any of the APIs. */
const credentials: ReadonlySet<string> = new Set(["authorization", "x-api-key", "x-goog-api-key", "api-key"])

export const isCredential = (name: string): boolean => credentials.has(name.toLowerCase())
