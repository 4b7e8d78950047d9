import type { IncomingHttpHeaders } from "node:http"
import type { Problem } from "../errors.ts"
import { refuseHost, refuseOrigin, refuseToken } from "../http/admission.ts"
import { present } from "../message/present.ts"
import type { GatewayOptions } from "./gateway-options.ts"
import type { Route } from "./route.ts"

type Entry = { readonly loopback: boolean; readonly route: Route }

/**
 * Who may not come in: whoever calls the gateway by a name that is not its own, a web page that is not on the list, and, where a token is
 * asked for, whoever does not have it. The admin API looks after its own pages and its own token.
 */
export function refuseEntry(
  { host, token, allowedHosts, allowedOrigins }: GatewayOptions,
  headers: IncomingHttpHeaders,
  { loopback, route }: Entry,
): Problem | undefined {
  const hosts = [...allowedHosts, ...(loopback ? [] : [host])]
  const admission = { loopback, hosts, origins: allowedOrigins, ...present({ token }) }
  const isAdmin = route.type === "admin"
  const isProbe = route.type === "health" || route.type === "ready"
  const given = headers["x-holdfast-token"]
  const bearer = given === undefined ? (headers.authorization ?? null) : `Bearer ${String(given)}`
  const refusal =
    refuseHost(headers.host ?? null, admission) ??
    (isAdmin ? undefined : refuseOrigin(headers.origin ?? null, admission)) ??
    (isAdmin || isProbe ? undefined : refuseToken(bearer, admission))
  if (refusal === undefined) return undefined
  return { code: "access-refused", status: refusal.status, reason: refusal.message.replace(/\.$/, "") }
}
