import type { IncomingHttpHeaders } from "node:http"
import type { Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import { refuseHost, refuseOrigin, refuseToken } from "./http/admission.ts"
import { hasOwnKey } from "./request-headers-key.ts"
import type { Route } from "./route.ts"

/** The headers that carry the gateway's token, as a refusal tells them. The first is taken on every path. */
const ownHeader = "x-holdfast-token: TOKEN"
const bearerHeader = "Authorization: Bearer TOKEN"

type Entry = { readonly loopback: boolean; readonly route: Route; readonly raw: readonly string[] }

/** What says who calls whom. Said twice, each server on the way may believe another one of the two. */
const saidOnce = /^(?:host|origin|authorization|x-api-key|x-goog-api-key|api-key|x-holdfast-[a-z-]+|content-type)$/i

function repeatedIn(raw: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let n = 0; n < raw.length; n += 2) {
    const name = raw[n]?.toLowerCase() ?? ""
    if (seen.has(name) && saidOnce.test(name)) return name
    seen.add(name)
  }
  return undefined
}

/** A page that fetches without saying its Origin is given away by its browser. */
const pageIn = (headers: IncomingHttpHeaders): string | null =>
  /^(?:cross-site|same-site)$/i.test(String(headers["sec-fetch-site"] ?? "")) ? "some other page" : null

/**
 * Who may not come in: whoever says twice who it is or whom it calls, whoever calls the gateway by a name that is not its own, a web page
 * that is not on the list, and, where a token is asked for, whoever does not have it. The admin API looks after its own pages and its own
 * token.
 */
export function refuseEntry(
  { host, token, allowedHosts, allowedOrigins, upstreams }: GatewayOptions,
  headers: IncomingHttpHeaders,
  { loopback, route, raw }: Entry,
): Problem | undefined {
  const repeated = repeatedIn(raw)
  if (repeated !== undefined) {
    return { code: "request-invalid", path: `the header ${repeated}`, expected: "one value", found: "more than one" }
  }
  const hosts = [...allowedHosts, ...(loopback ? [] : [host])]
  const admission = { loopback, hosts, origins: allowedOrigins, ...present({ token }) }
  const isAdmin = route.type === "admin"
  const isProbe = route.type === "health" || route.type === "ready"
  const given = headers["x-holdfast-token"]
  // Where the client's credential goes on to an upstream, the gateway's token in its place would go there too.
  const takesBearer = route.type === "metrics" || upstreams.every(hasOwnKey)
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
