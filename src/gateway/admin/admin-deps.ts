import type { Context, Hono } from "hono"
import { startOfText } from "../../language/cut-text.ts"
import { HoldfastError } from "../../message/errors.ts"
import { readLimited } from "../../model/call-model.ts"
import type { AdminOptions, GatewayOptions } from "../settings/gateway-options.ts"
import type { RecentExchanges } from "../telemetry/recent-exchanges.ts"
import type { StatusAnswer } from "./answers.ts"
import type { Approvals } from "./approvals.ts"
import { maxCommandBytes, refuseMethod } from "./refusal.ts"

/** The dependencies of the admin API. Without a token it is off. */
export type AdminDeps = AdminOptions &
  Pick<GatewayOptions, "holdfast" | "store" | "operator" | "upstreams" | "windowTokens" | "version" | "now"> &
  Partial<Pick<GatewayOptions, "askTimeoutMs" | "onFault">> & {
    readonly recentExchanges: RecentExchanges
    readonly approvals: Approvals
    /** The state of the gateway. `closing`: it accepts no more requests. */
    readonly status: () => Pick<StatusAnswer, "requestsInFlight" | "closing" | "startedMs">
    /** Interval of keep-alive comments in event streams. */
    readonly keepAliveMs?: number
    /** The first part of event ids, which distinguishes this process from others. */
    readonly newId?: () => string
  }

/** Handles a route: an object is sent as JSON, a response unchanged. */
type Answer = (c: Context) => object | Promise<object>

/** Serves one method at a path, and refuses the others. HEAD must not be served as GET: it would leave an unread stream behind. */
export function addRoute(app: Hono, method: "GET" | "POST", path: string, answer: Answer): void {
  app.on(method, path, async (c) => {
    const answered = c.req.method === method ? await answer(c) : refuseMethod(method)
    return answered instanceof Response ? answered : c.json(answered)
  })
  app.all(path, () => refuseMethod(method))
}

export const pathName = (c: Context, name: string): string => c.req.param(name) ?? ""

/** Throws: invalid query parameter. */
export function refuseText(name: string, expected: string, found: string): never {
  const shown = JSON.stringify(startOfText(found, 40))
  throw new HoldfastError({ code: "request-invalid", path: `?${name}=`, expected, found: shown })
}

export const isJson = (c: Context): boolean =>
  /^application\/json[ \t]*(?:;|$)/i.test(c.req.header("content-type") ?? "")

/** The body of a command; undefined if it is too large. */
export const readCommand = (c: Context): Promise<string | undefined> =>
  readLimited(new Response(c.req.raw.body), maxCommandBytes)

/** A query parameter; refused if it is repeated. */
export function readTextParameter(c: Context, name: string, maxLength = 200): string | undefined {
  const [first, ...others] = c.req.queries(name) ?? []
  if (first === undefined) return undefined
  if (others.length > 0) refuseText(name, "one value", `${others.length + 1} values`)
  if (first === "" || first.length > maxLength || /[\p{Cc}\p{Cs}]/u.test(first))
    refuseText(name, `a text of 1 to ${maxLength} characters`, first)
  return first
}

/** An integer parameter within its limits, or the default. */
export function readNumber(
  c: Context,
  name: string,
  usual: number,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const text = readTextParameter(c, name)
  if (text === undefined) return usual
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (!(value >= least && value <= most)) refuseText(name, `a whole number from ${least} to ${most}`, text)
  return value
}

/** The `limit` parameter of a list, with the default and maximum of its page. */
export const readLimit = (c: Context, page: { readonly usual: number; readonly most: number }): number =>
  readNumber(c, "limit", page.usual, { least: 1, most: page.most })

export function readFlag(c: Context, name: string): boolean {
  const text = readTextParameter(c, name)
  if (text !== undefined && text !== "0" && text !== "1") refuseText(name, "1 or 0", text)
  return text === "1"
}
