import type { Format } from "../message/message.ts"
import type { Family } from "./family.ts"
import { type Call, callIn } from "./route-call.ts"
import { familyOfPass, type RequestHeaders } from "./route-family.ts"
import { type ReadTarget, type RefusedTarget, readTarget, refused } from "./route-target.ts"

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

/** Those that go upstream. */
export type SentRoute = Extract<Route, { readonly type: "model-call" | "compact" | "pass" }>

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
