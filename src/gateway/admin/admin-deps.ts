import type { Context, Hono } from "hono"
import type { Operator } from "../../guard/operator/operator.ts"
import { startOfText } from "../../language/cut-text.ts"
import { HoldfastError } from "../../message/errors.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import type { Upstream } from "../settings/upstream.ts"
import type { RecentExchanges } from "../telemetry/recent-exchanges.ts"
import type { Approvals } from "./approvals.ts"
import { refuseMethod } from "./refusal.ts"

/** The dependencies of the admin API. */
export type AdminDeps = {
  readonly holdfast: Holdfast
  readonly store: Store
  readonly operator?: Operator
  readonly recentExchanges: RecentExchanges
  readonly approvals: Approvals
  /** How long a tool call waits for a person. */
  readonly askTimeoutMs?: number
  readonly upstreams: readonly Upstream[]
  /** The configured window of every model. */
  readonly windowTokens?: number
  /** Token that every request must send as `Authorization: Bearer`. Without it the admin API is off. */
  readonly token?: string
  /** Origins of web pages that may call it, besides the gateway's own. */
  readonly origins: readonly string[]
  readonly version: string
  readonly now: () => number
  readonly status: () => GatewayStatus
  /** Interval of keep-alive comments in event streams. */
  readonly keepAliveMs?: number
  /** The first part of event ids, which distinguishes this process from others. */
  readonly newId?: () => string
  /** Called with unexpected errors. */
  readonly onFault?: (error: unknown) => void
}

/** State that only the gateway knows. */
type GatewayStatus = {
  readonly requestsInFlight: number
  /** It accepts no more requests. */
  readonly closing: boolean
  /** Start time; by default the time when the admin API was created. */
  readonly startedMs?: number
}

/** What a route answers: an object goes out as JSON, a response as it is. */
type Answer = (c: Context) => object | Promise<object>

/** Serve one method at a path, and refuse the others. HEAD must not be served as GET: it would leave an unread stream behind. */
export function addRoute(app: Hono, method: "GET" | "POST", path: string, answer: Answer): void {
  app.on(method, path, async (c) => {
    const answered = c.req.method === method ? await answer(c) : refuseMethod(method)
    return answered instanceof Response ? answered : c.json(answered)
  })
  app.all(path, () => refuseMethod(method))
}

/** A name in the path. */
export const pathName = (c: Context, name: string): string => c.req.param(name) ?? ""

type NumberBounds = { readonly least: number; readonly most: number }

const wrong = (name: string, expected: string, found: string): HoldfastError =>
  new HoldfastError({
    code: "request-invalid",
    path: `?${name}=`,
    expected,
    found: JSON.stringify(startOfText(found, 40)),
  })

/** A query parameter; refused if it is repeated. */
export function readTextParameter(c: Context, name: string, maxLength = 200): string | undefined {
  const [first, ...others] = c.req.queries(name) ?? []
  if (first === undefined) return undefined
  if (others.length > 0) throw wrong(name, "one value", `${others.length + 1} values`)
  if (first === "" || first.length > maxLength || /[\p{Cc}\p{Cs}]/u.test(first))
    throw wrong(name, `a text of 1 to ${maxLength} characters`, first)
  return first
}

/** An integer parameter within its limits, or the default. */
export function readNumber(c: Context, name: string, usual: number, { least, most }: NumberBounds): number {
  const text = readTextParameter(c, name)
  if (text === undefined) return usual
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most)) throw wrong(name, `a whole number from ${least} to ${most}`, text)
  return value
}

/** Default and maximum size of a page. */
type PageSizes = { readonly usual: number; readonly most: number }

/** How many of a list are asked for. */
export const readLimit = (c: Context, { usual, most }: PageSizes): number =>
  readNumber(c, "limit", usual, { least: 1, most })

export function readFlag(c: Context, name: string): boolean {
  const text = readTextParameter(c, name)
  if (text !== undefined && text !== "0" && text !== "1") throw wrong(name, "1 or 0", text)
  return text === "1"
}

/** Throws: invalid query parameter. */
export const refuseText = (name: string, expected: string, found: string): never => {
  throw wrong(name, expected, found)
}
