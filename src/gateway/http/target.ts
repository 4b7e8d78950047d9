import { readBaseUrl } from "../../model/address.ts"
import type { Upstream } from "../settings/upstream.ts"
import { hasOwnKey } from "./headers.ts"
import { callIn, decoded, familyOfPass } from "./route.ts"

/** The URL of a request: the origin is always the upstream's. */
type Target = { readonly origin: string; readonly path: string }

const version = /^v\d[\w.]{0,12}$/

/** Path segments directly below the version in the OpenAI and Anthropic APIs. Clients configured without a version leave it out. */
const bare =
  /^(?:chat|responses|messages|models|completions|embeddings|files|batches|images|audio|moderations|rerank|uploads)$/

/** Join the upstream's base path and the request's path without repeating segments that both have. */
export function targetUrl(
  upstream: Pick<Upstream, "baseUrl" | "families" | "apiKey" | "headers">,
  target: string,
): Target {
  const base = readBaseUrl(upstream.baseUrl)
  const at = target.indexOf("?")
  const path = at < 0 ? target : target.slice(0, at)
  const incomingCall = at < 0 ? "" : target.slice(at + 1)
  const query = upstream.families.includes("gemini") && hasOwnKey(upstream) ? withoutKey(incomingCall) : incomingCall
  const queries = [base.search.slice(1), query].filter((one) => one !== "")
  const segments = joined(
    base.pathname.split("/").filter(Boolean),
    path.replace(/^\/+/, "").split("/"),
    isGooglePath(path),
  )
  return { origin: base.origin, path: `/${segments.join("/")}${queries.length === 0 ? "" : `?${queries.join("&")}`}` }
}

const isGooglePath = (path: string): boolean =>
  callIn(path)?.format === "gemini" || familyOfPass(path, "", {}) === "gemini"

function joined(base: readonly string[], path: readonly string[], isGoogle: boolean): readonly string[] {
  const shared = sharedBetween(base, path)
  if (shared > 0) return [...base, ...path.slice(shared)]
  if (base.some((segment) => version.test(segment))) {
    const versioned = version.test(path[0] ?? "")
    // Google clients choose their API version; all others send v1 and mean the upstream's version.
    if (versioned && isGoogle && version.test(base.at(-1) ?? "")) return [...base.slice(0, -1), ...path]
    return versioned && !isGoogle ? [...base, ...path.slice(1)] : [...base, ...path]
  }
  const lacks = !isGoogle && bare.test(path[0] ?? "") && !base.includes("deployments")
  return lacks ? [...base, "v1", ...path] : [...base, ...path]
}

/** The number of segments at the end of the base that the path begins with. */
function sharedBetween(base: readonly string[], path: readonly string[]): number {
  for (let count = Math.min(base.length, path.length); count > 0; count--) {
    if (base.slice(-count).every((segment, n) => segment === path[n])) return count
  }
  return 0
}

/** Google accepts a credential in the query: drop the client's if the upstream has its own key. */
function withoutKey(query: string): string {
  const isKey = (parameter: string): boolean =>
    /^\$?(?:key|access_token|oauth_token)$/i.test(decoded(parameter.split("=")[0] ?? ""))
  return query
    .split("&")
    .filter((parameter) => !isKey(parameter))
    .join("&")
}
