import { percentDecoded } from "../../language/encoding.ts"
import type { ApiFamily, Format } from "../../message/message.ts"
import { readBaseUrl } from "../../model/address.ts"
import { hasOwnKey, type Upstream } from "../settings/upstream.ts"

/** The kind of a request. `path` is the request target with its query, unchanged. */
export type Route =
  | (Call & { readonly path: string })
  | { readonly type: "pass"; readonly family: ApiFamily; readonly path: string }
  | { readonly type: "health" }
  | { readonly type: "ready" }
  | { readonly type: "metrics" }
  | { readonly type: "admin"; readonly path: string }
  | { readonly type: "inspector"; readonly path: string }
  | RefusedTarget

/** Paths that the gateway itself answers. */
const own: Readonly<Record<string, "health" | "ready" | "metrics">> = {
  "/healthz": "health",
  "/readyz": "ready",
  "/metrics": "metrics",
}

/** TRACE would show the client the upstream's key; CONNECT is for another kind of proxy. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Decides the kind of a request. A path that any server could read as one of the gateway's own is never forwarded. */
export function routeOf(method: string, target: string, headers: RequestHeaders): Route {
  const read = readTarget(target)
  if ("type" in read) return read
  if (!methods.has(method)) return refused(405, "The gateway does not support this method.")
  return ownRoute(method, target, read) ?? upstreamRoute(method, target, read, headers)
}

function ownRoute(method: string, target: string, { path, loose }: ReadTarget): Route | undefined {
  if (path === "/admin" || path.startsWith("/admin/")) return { type: "admin", path: target }
  if (path === "/" || path === "/inspector" || path.startsWith("/inspector/"))
    return method === "GET" || method === "HEAD"
      ? { type: "inspector", path: target }
      : refused(405, "Ask for this with GET.")
  const name = Object.hasOwn(own, path) ? own[path] : undefined
  if (name !== undefined) {
    return method === "GET" || method === "HEAD" ? { type: name } : refused(405, "Ask for this with GET.")
  }
  const first = `/${loose.split("/")[1] ?? ""}`
  return loose === "/" || /^\/(?:admin|inspector)/.test(loose) || Object.hasOwn(own, first)
    ? refused(404, "There is no such page.")
    : undefined
}

function upstreamRoute(
  method: string,
  target: string,
  { path, query, loose }: ReadTarget,
  headers: RequestHeaders,
): Route {
  const call = method === "POST" ? callIn(path) : undefined
  if (method === "POST" && !isSame(call, callIn(loose, true))) {
    return refused(400, "Write the path of a model call as the provider documents it, without escapes.")
  }
  if (call !== undefined) return { ...call, path: target }
  return { type: "pass", family: familyOfPass(path, query, headers), path: target }
}

const isSame = (one: Call | undefined, other: Call | undefined): boolean =>
  one?.type === other?.type && one?.format === other?.format

/** The parts of a request target that every server reads the same way. */
type ReadTarget = {
  readonly path: string
  /** The query with its question mark; empty if there is none. */
  readonly query: string
  /** The path as the most lenient server could read it: decoded, lower case, without accents and path parameters. */
  readonly loose: string
}

type RefusedTarget = {
  readonly type: "refused"
  readonly status: 400 | 404 | 405 | 414
  readonly reason: string
}

/** Limit on the length of a target, as in most servers; clients of model APIs send some hundred characters at most. */
const maxTargetLength = 8192

/** Parses a request target. Refuses it if two servers could read it as different paths. */
function readTarget(target: string): ReadTarget | RefusedTarget {
  if (target.length > maxTargetLength) return refused(414, `The target is longer than ${maxTargetLength} characters.`)
  if (!/^\/[!-~]*$/.test(target))
    return refused(400, "The request target must be an ASCII path that begins with a slash.")
  if (/[\\#]/.test(target)) return refused(400, "The request target contains a backslash or a fragment.")
  const at = target.indexOf("?")
  const path = at < 0 ? target : target.slice(0, at)
  const decoded = decode(path)
  if (decoded === undefined) return refused(400, "The path contains an escape that is not UTF-8, or a nested escape.")
  if (/[\p{Cc}\\?#]/u.test(decoded)) return refused(400, "The path contains an escaped character that is not allowed.")
  const folded = fold(decoded)
  if (slashesIn(fold(decode(headOf(path)) ?? "/")) > slashesIn(headOf(path))) {
    return refused(400, "The path contains an escaped slash.")
  }
  const segments = folded.split("/").map((segment) => segment.replace(/;.*$/s, "").trim())
  if (segments.slice(1, -1).includes("") || folded.includes("\\")) return refused(400, "The path has an empty segment.")
  if (segments.some((segment) => /^\.{1,2}$/.test(segment))) return refused(400, "The path has a dot segment.")
  return { path, query: at < 0 ? "" : target.slice(at), loose: segments.join("/") }
}

const refused = (status: RefusedTarget["status"], reason: string): RefusedTarget => ({
  type: "refused",
  status,
  reason,
})

/** The path up to the model name, which may contain escaped slashes. */
function headOf(path: string): string {
  const found = /\/(?:models|tunedModels)\//.exec(path)
  return found === null ? path : path.slice(0, found.index + found[0].length)
}

function decode(path: string): string | undefined {
  try {
    const decoded = decodeURIComponent(path)
    return /%[\da-f]{2}/i.test(decoded) ? undefined : decoded
  } catch {
    return undefined
  }
}

/** Reduces wide, accented and invisible forms to plain letters. Upper-case first, because `ı` becomes `i` only that way. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]+/gu, "")
    .toUpperCase()
    .toLowerCase()

const slashesIn = (text: string): number => text.split("/").length

/** The model call that a path stands for. Paths of Gemini, Vertex and Azure name the model. */
type Call =
  | { readonly type: "model-call"; readonly format: Format; readonly model?: string | undefined }
  | { readonly type: "compact"; readonly format: "openai-responses" }

const endings: readonly (readonly [ending: RegExp, format: Format])[] = [
  [/\/chat\/completions\/?$/, "openai-chat"],
  [/\/responses\/?$/, "openai-responses"],
  // A message of an OpenAI thread is not a model call, so check what precedes `/messages`.
  [/(?:^|\/v\d\w{0,12}|\/anthropic|\/deployments\/[^/]+)\/messages\/?$/, "anthropic-messages"],
]

/** The model call of a path, spelled as the providers spell it; use `ignoreCase` for a lower-case path. */
function callIn(path: string, ignoreCase = false): Call | undefined {
  if (/\/responses\/compact\/?$/.test(path)) return { type: "compact", format: "openai-responses" }
  const format = endings.find(([ending]) => ending.test(path))?.[1]
  if (format !== undefined) return { type: "model-call", format, model: deploymentIn(path) }
  return googleCall(path, ignoreCase ? "i" : "")
}

/** Azure paths name the deployment, which stands for the model. */
function deploymentIn(path: string): string | undefined {
  const name = /\/deployments\/([^/]+)\//.exec(path)?.[1]
  return name === undefined ? undefined : percentDecoded(name)
}

/** Gemini calls, and Anthropic calls on Vertex, whose body is Anthropic's without the model. */
function googleCall(path: string, flags: string): Call | undefined {
  const found = new RegExp(
    "(?::|%3[Aa])(?:(generateContent|streamGenerateContent)|rawPredict|streamRawPredict)/?$",
    flags,
  ).exec(path)
  const model = found === null ? undefined : modelIn(path.slice(0, found.index), flags)
  if (found === null || model === undefined) return undefined
  if (found[1] !== undefined) return { type: "model-call", format: "gemini", model }
  const isAnthropic = /\/publishers\/anthropic\/models\//.test(path) && model !== "count-tokens"
  return isAnthropic ? { type: "model-call", format: "anthropic-messages", model } : undefined
}

function modelIn(head: string, flags: string): string | undefined {
  const found = new RegExp("/(models|endpoints|tunedModels)/", flags).exec(head)
  if (found === null) return undefined
  const name = percentDecoded(head.slice(found.index + found[0].length)).replace(/^models\//, "")
  if (name === "") return undefined
  return found[1] === "tunedModels" ? `tunedModels/${name}` : name
}

/** Headers as Node parses them, with lower-case names. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const paths: readonly (readonly [path: RegExp, family: ApiFamily])[] = [
  [/\/publishers\/anthropic\//, "anthropic"],
  [/^(?:\/(?:upload|download|resumable))?\/v\d{1,3}(?:alpha|beta)\d{0,3}(?:\/|$)/, "gemini"],
  [/^\/v1\/(?:projects|tunedModels|publishers)\//, "gemini"],
  // A Google verb such as `:countTokens`; in other APIs a colon begins a tag.
  [/\/[^/]+(?::|%3[Aa])(?:predict|[a-z]+[A-Z][A-Za-z]*)$/, "gemini"],
  [/^\/api\/hello$|^\/v1\/complete$|^\/v1\/organizations(?:\/|$)/, "anthropic"],
  [/(?:^|\/v1|\/anthropic)\/messages(?:\/|$)/, "anthropic"],
]

/** The API of a request that is not a model call: by its path, else by its credentials, else OpenAI. */
function familyOfPass(path: string, query: string, headers: RequestHeaders): ApiFamily {
  const known = paths.find(([pattern]) => pattern.test(path))?.[1]
  if (known !== undefined) return known
  if (["anthropic-version", "anthropic-beta", "x-api-key"].some((name) => headers[name] !== undefined))
    return "anthropic"
  if (headers["x-goog-api-key"] !== undefined || /[?&]key=/.test(query)) return "gemini"
  return "openai"
}

const version = /^v\d[\w.]{0,12}$/

/** Matches path segments directly below the version in the OpenAI and Anthropic APIs. Clients configured without a version leave it out. */
const bare =
  /^(?:chat|responses|messages|models|completions|embeddings|files|batches|images|audio|moderations|rerank|uploads)$/

/** Joins the upstream's base path and the request's path without repeating segments that both have. */
export function targetUrl(
  upstream: Pick<Upstream, "baseUrl" | "families" | "apiKey" | "headers">,
  target: string,
): { readonly origin: string; readonly path: string } {
  const base = readBaseUrl(upstream.baseUrl)
  const at = target.indexOf("?")
  const path = at < 0 ? target : target.slice(0, at)
  const given = at < 0 ? "" : target.slice(at + 1)
  const mayHaveKey = given !== "" && upstream.families.includes("gemini")
  const query = mayHaveKey && hasOwnKey(upstream) ? withoutKey(given) : given
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

/** Removes credentials from a query, because Google accepts them there; used if the upstream has its own key. */
function withoutKey(query: string): string {
  const isKey = (parameter: string): boolean =>
    /^\$?(?:key|access_token|oauth_token)$/i.test(percentDecoded(parameter.split("=")[0] ?? ""))
  return query
    .split("&")
    .filter((parameter) => !isKey(parameter))
    .join("&")
}
