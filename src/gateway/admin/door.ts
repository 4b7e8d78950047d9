import type { MiddlewareHandler } from "hono"
import { present } from "../../message/present.ts"
import { type Admission, refuseOrigin, refuseToken } from "../http/admission.ts"
import type { AdminDeps } from "./admin-deps.ts"
import { refusals, refuse } from "./refusal.ts"

const preflight = {
  "access-control-allow-methods": "GET, POST",
  "access-control-allow-headers": "authorization, content-type, last-event-id",
  "access-control-max-age": "600",
}

/**
 * Nobody comes in from a page that is not listed, nor without the token. A browser says where a request comes from (Origin,
 * Sec-Fetch-Site), and a page cannot make it say otherwise; programs say nothing of the kind.
 */
export function createDoor({ token, origins }: Pick<AdminDeps, "token" | "origins">): MiddlewareHandler {
  const admission: Admission = { loopback: false, hosts: [], origins, ...present({ token }) }
  return async (c, next) => {
    if (token === undefined || token === "") {
      c.res = refuse(refusals.off)
      return
    }
    const { headers, url } = c.req.raw
    const origin = headers.get("origin")
    const own = origin !== null && origin === new URL(url).origin
    const listed = origin !== null && !own && refuseOrigin(origin, admission) === undefined
    const isForeign =
      (origin !== null && !own) || !/^(?:same-origin|none)$/.test(headers.get("sec-fetch-site") ?? "none")
    if (isForeign && !listed) c.res = refuse(refusals.page)
    else if (listed && c.req.method === "OPTIONS") c.res = new Response(null, { status: 204, headers: preflight })
    else if (refuseToken(headers.get("authorization"), admission) !== undefined) c.res = refuse(refusals.token)
    else await next()
    if (listed) c.res.headers.set("access-control-allow-origin", origin)
    c.res.headers.append("vary", "Origin")
  }
}
