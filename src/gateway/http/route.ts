import type { Format } from "../../message/message.ts"
import type { Family } from "../settings/family.ts"
import { type Call, callIn } from "./route-call.ts"
import { familyOfPass, type RequestHeaders } from "./route-family.ts"

/** What a request is. `path` has the query with it and is what came, byte for byte. */
export type Route =
  | {
      readonly type: "model-call"
      readonly format: Format
      readonly path: string
      /** Where the path says so: on Gemini, Vertex and Azure. */
      readonly model?: string
      readonly stream?: boolean
    }
  | { readonly type: "compact"; readonly format: "openai-responses"; readonly path: string }
  | { readonly type: "pass"; readonly family: Family; readonly path: string }
  | { readonly type: "health" }
  | { readonly type: "ready" }
  | { readonly type: "metrics" }
  | { readonly type: "admin"; readonly path: string }
  | RefusedTarget

/** What the gateway answers itself. */
const own: Readonly<Record<string, "health" | "ready" | "metrics">> = {
  "/healthz": "health",
  "/readyz": "ready",
  "/metrics": "metrics",
}

/** TRACE would show a client the upstream's key; CONNECT asks for another kind of proxy. */
const methods: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Decide what a request is. Nothing whose path any server could read as one of the gateway's own goes upstream. */
export function routeOf(method: string, target: string, headers: RequestHeaders): Route {
  const read = readTarget(target)
  if ("type" in read) return read
  if (!methods.has(method)) return refused(405, "That method is not taken here.")
  return ownRoute(method, target, read) ?? sentRoute(method, target, read, headers)
}

function ownRoute(method: string, target: string, { path, loose }: ReadTarget): Route | undefined {
  if (path === "/admin" || path.startsWith("/admin/")) return { type: "admin", path: target }
  const name = Object.hasOwn(own, path) ? own[path] : undefined
  if (name !== undefined) {
    return method === "GET" || method === "HEAD" ? { type: name } : refused(405, "Ask for this with GET.")
  }
  const first = `/${loose.split("/")[1] ?? ""}`
  return loose.startsWith("/admin") || Object.hasOwn(own, first) ? refused(404, "There is nothing here.") : undefined
}

function sentRoute(method: string, target: string, { path, query, loose }: ReadTarget, headers: RequestHeaders): Route {
  const call = method === "POST" ? callIn(path) : undefined
  if (method === "POST" && !isSame(call, callIn(loose, true))) {
    return refused(400, "The path of a model call has to be spelled plainly.")
  }
  if (call !== undefined) return { ...call, path: target }
  return { type: "pass", family: familyOfPass(path, query, headers), path: target }
}

const isSame = (one: Call | undefined, other: Call | undefined): boolean =>
  one?.type === other?.type && one?.format === other?.format

/** A target that means the same to every server, taken apart. */
type ReadTarget = {
  readonly path: string
  /** With its question mark; empty if there is none. */
  readonly query: string
  /** The path as the most lenient server could read it: decoded, in lower case, without accents and path parameters. */
  readonly loose: string
}

type RefusedTarget = {
  readonly type: "refused"
  readonly status: 400 | 404 | 405 | 414
  readonly reason: string
}

/** What most servers take; the longest that a client of a model's API sends are some hundreds. */
const maxTargetLength = 8192

/** Read a request's target, or refuse it: what two servers could read as two paths is never sent on. */
function readTarget(target: string): ReadTarget | RefusedTarget {
  if (target.length > maxTargetLength) return refused(414, `The target is longer than ${maxTargetLength} characters.`)
  if (!/^\/[!-~]*$/.test(target)) return refused(400, "The target is no path in plain ASCII that begins with a slash.")
  if (/[\\#]/.test(target)) return refused(400, "The target has a backslash or a fragment in it.")
  const at = target.indexOf("?")
  const path = at < 0 ? target : target.slice(0, at)
  const decoded = decode(path)
  if (decoded === undefined)
    return refused(400, "The path has an escape in it that is not UTF-8, or one within another.")
  if (/[\p{Cc}\\?#]/u.test(decoded)) return refused(400, "The path has an escaped character in it that no path has.")
  const folded = fold(decoded)
  if (slashesIn(fold(decode(headOf(path)) ?? "/")) > slashesIn(headOf(path))) {
    return refused(400, "The path has an escaped slash in it.")
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

/** Everything up to the name of a model, which may have escaped slashes in it. */
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

/** Wide, accented and invisible forms of a letter become the letter. Upper case first: `ı` has no other way to `i`. */
const fold = (text: string): string =>
  text
    .normalize("NFKD")
    .replace(/[\p{M}\p{Cf}]+/gu, "")
    .toUpperCase()
    .toLowerCase()

const slashesIn = (text: string): number => text.split("/").length
