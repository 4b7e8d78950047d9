import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingHttpHeaders } from "node:http"
import { isIP } from "node:net"
import { HoldfastError, type Problem, systemCode } from "../../message/errors.ts"
import type { GatewayOptions } from "../settings/gateway-options.ts"
import type { Route } from "./route.ts"

/** The conditions for using the server. */
export type Admission = {
  /** The server is bound to a loopback address. */
  readonly loopback: boolean
  /** Additional host names that requests may use; without a port. */
  readonly hosts: readonly string[]
  /** Web pages that may call it, such as `https://app.example`. */
  readonly origins: readonly string[]
  readonly token?: string | undefined
}

type Refusal = { readonly status: 401 | 403; readonly message: string }

/** True if a host name always means this machine. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "")
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

const hostHeader = /^(\[[\da-f:.]+\]|[^:[\]\s]+)(?::\d{1,5})?$/i

/**
 * An attacker can make a browser page reach this server under a host name that the attacker owns (DNS rebinding), but not under an IP
 * address or another name. So host names must be known, and IP addresses are accepted.
 */
export function refuseHost(header: string | null, { loopback, hosts }: Admission): Refusal | undefined {
  const name = hostHeader
    .exec(header ?? "")?.[1]
    ?.toLowerCase()
    .replace(/\.$/, "")
  const bare = name?.replace(/^\[|\]$/g, "") ?? ""
  const known = isLoopback(bare) || (!loopback && isIP(bare) !== 0) || hosts.some((host) => host.toLowerCase() === name)
  return known ? undefined : { status: 403, message: "This server does not accept requests for that Host." }
}

/** Only web pages send an Origin; it must be on the list. */
export function refuseOrigin(header: string | null, { origins }: Admission): Refusal | undefined {
  if (header === null || origins.includes(header)) return undefined
  return { status: 403, message: "This server does not accept requests from pages of that Origin." }
}

/** The headers that may carry a token, as printed in a refusal. `x-holdfast-token` is accepted on every path of the gateway. */
const ownHeader = "x-holdfast-token: TOKEN"
const bearerHeader = "Authorization: Bearer TOKEN"

/** Compares the bearer token in constant time. `headers` are the headers that the server accepts it in, for the message. */
export function refuseToken(
  header: string | null,
  { token }: Admission,
  headers: readonly string[] = [bearerHeader],
): Refusal | undefined {
  if (token === undefined) return undefined
  const given = /^Bearer +([^\s]+) *$/i.exec(header ?? "")?.[1] ?? ""
  if (timingSafeEqual(digest(given), digest(token))) return undefined
  const ways = headers.map((line) => `\`${line}\``).join(" or ")
  return { status: 401, message: `This server requires its token in the header ${ways}.` }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** A request to be admitted, and facts about the gateway that do not change while it runs. */
type EntryRequest = {
  readonly loopback: boolean
  /** Each upstream has a credential of its own. */
  readonly ownKeys: boolean
  readonly route: Route
  readonly raw: readonly string[]
}

/** Matches headers that identify the caller or the target. If one is repeated, each server on the way may pick a different value. */
const singleHeaders =
  /^(?:host|origin|authorization|x-api-key|x-goog-api-key|api-key|x-holdfast-[a-z-]+|content-type)$/i

function repeatedIn(raw: readonly string[]): string | undefined {
  const names = raw.flatMap((name, n) => (n % 2 === 0 && singleHeaders.test(name) ? name.toLowerCase() : []))
  return names.find((name, n) => names.indexOf(name) < n)
}

/** Detects a web page that sends no Origin header by the Sec-Fetch-Site header of its browser. */
const pageIn = (headers: IncomingHttpHeaders): string | null =>
  /^(?:cross-site|same-site)$/i.test(String(headers["sec-fetch-site"] ?? "")) ? "some other page" : null

/**
 * Refuses a request that repeats an identifying header, that uses a host name that is not the gateway's, that comes from a web page whose
 * origin is not allowed, or that lacks the token where one is required. The admin API checks its own origins and its own token.
 */
export function refuseEntry(
  { host, token, allowedHosts, allowedOrigins }: GatewayOptions,
  headers: IncomingHttpHeaders,
  { loopback, ownKeys, route, raw }: EntryRequest,
): Problem | undefined {
  const repeated = repeatedIn(raw)
  if (repeated !== undefined) {
    return { code: "request-invalid", path: `the header ${repeated}`, expected: "one value", found: "more than one" }
  }
  const hosts = [...allowedHosts, ...(loopback ? [] : [host])]
  const admission = { loopback, hosts, origins: allowedOrigins, token }
  // The inspector's pages contain no secrets, and a person may open them from any link.
  const isAdmin = route.type === "admin" || route.type === "inspector"
  const isProbe = route.type === "health" || route.type === "ready"
  const given = headers["x-holdfast-token"]
  // Where the client's `Authorization` header is forwarded to an upstream, a gateway token in it would be forwarded too.
  const takesBearer = route.type === "metrics" || ownKeys
  const bearer = given === undefined ? (takesBearer ? (headers.authorization ?? null) : null) : `Bearer ${given}`
  const refusal =
    refuseHost(headers.host ?? null, admission) ??
    (isAdmin ? undefined : refuseOrigin(headers.origin ?? (isProbe ? null : pageIn(headers)), admission)) ??
    (isAdmin || isProbe
      ? undefined
      : refuseToken(bearer, admission, takesBearer ? [ownHeader, bearerHeader] : [ownHeader]))
  if (refusal === undefined) return undefined
  return { code: "access-refused", status: refusal.status, reason: refusal.message.replace(/\.$/, "") }
}

/** The reason why a port could not be opened, as a Problem; other errors are returned unchanged. */
export function listenProblem(error: unknown, port: number, host: string): unknown {
  const code = systemCode(error)
  const option = (name: string, expected: string, found: string): HoldfastError =>
    new HoldfastError({ code: "option-invalid", option: name, expected, found }, { cause: error })
  if (code === "EADDRINUSE") return option("port", "a port that is free", `${port}, which is in use`)
  if (code === "EACCES") return option("port", "a port that may be opened", `${port}, which may not`)
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return option("host", "an address of this machine", JSON.stringify(host.slice(0, 80)))
  return error
}
