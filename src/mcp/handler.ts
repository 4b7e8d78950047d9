import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { type Admission, refuseHost, refuseOrigin, refuseToken } from "../gateway/http/admission.ts"
import { type McpServerOptions, prepareMcpServers } from "./create-server.ts"
import { limitSource, maxAnswerMs } from "./limit-source.ts"
import type { Handle } from "./listen.ts"
import { loadSdk, type Sdk } from "./load-sdk.ts"
import type { McpSource } from "./source.ts"

export const mcpPath = "/mcp"

/** A call has a few hundred bytes. */
export const maxBodyBytes = 1_000_000
/** Requests that are worked on at once. */
const maxRequests = 64
/** Every question to the source has ended by then. */
const maxRequestMs = maxAnswerMs + 5000

type HttpTransport = InstanceType<Sdk["HttpTransport"]>

const allowed = "POST, OPTIONS"

export type HandlerOptions = McpServerOptions & {
  readonly admission: Admission
  readonly maxRequests?: number
  readonly maxRequestMs?: number
}

/**
 * MCP over streamable HTTP as a function. Each request stands for itself: there are no sessions to guess, to run out of or to lose when
 * the server starts anew, and every answer is one JSON body, so that no stream is held open.
 */
export async function createMcpHandler(source: McpSource, options: HandlerOptions): Promise<Handle> {
  const { admission, maxRequests: most = maxRequests, maxRequestMs: ms = maxRequestMs } = options
  const { HttpTransport } = await loadSdk()
  const createServer = await prepareMcpServers(limitSource(source), options)
  const createTransport = () => new HttpTransport({ enableJsonResponse: true, maxRequestBodySize: maxBodyBytes })
  let running = 0
  const admitted = async (request: Request): Promise<Response> => {
    if (running >= most) return refusal(503, "The server is busy. Try again in a moment.", { "retry-after": "1" })
    running++
    try {
      return await answerOnce(request, createServer(), createTransport(), ms)
    } finally {
      running--
    }
  }
  return async (request) => {
    const { headers, method, url } = request
    const origin = headers.get("origin")
    const stranger = refuseHost(headers.get("host"), admission) ?? refuseOrigin(origin, admission)
    if (stranger !== undefined) return refusal(stranger.status, stranger.message)
    const shared = origin === null ? {} : { "access-control-allow-origin": origin, vary: "origin" }
    if (new URL(url).pathname !== mcpPath) return refusal(404, `There is only ${mcpPath} here.`, shared)
    if (method === "OPTIONS") return new Response(null, { status: 204, headers: { ...preflight, ...shared } })
    if (method !== "POST") return refusal(405, "Only POST is answered.", { allow: allowed, ...shared })
    const unknown = refuseToken(headers.get("authorization"), admission)
    if (unknown !== undefined)
      return refusal(unknown.status, unknown.message, { "www-authenticate": "Bearer", ...shared })
    const response = await admitted(request)
    for (const [name, value] of Object.entries(shared)) response.headers.set(name, value)
    return response
  }
}

const preflight = {
  allow: allowed,
  "access-control-allow-methods": "POST",
  "access-control-allow-headers": "authorization, content-type, accept, mcp-protocol-version, mcp-session-id",
  "access-control-max-age": "600",
}

/** An error as the protocol writes one that belongs to no request. */
export const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status, headers })

/** A server for this request alone; it ends with the answer, when the client has gone, or when time is up. */
async function answerOnce(
  request: Request,
  server: McpServer,
  transport: HttpTransport,
  ms: number,
): Promise<Response> {
  await server.connect(transport)
  const { promise: over, resolve: give } = Promise.withResolvers<Response>()
  const gone = (): void => give(refusal(499, "The client has gone."))
  const late = (): void => give(refusal(504, "There was no answer in time."))
  const timer = setTimeout(late, ms)
  request.signal.addEventListener("abort", gone, { once: true })
  if (request.signal.aborted) gone()
  try {
    return await Promise.race([over, transport.handleRequest(request)])
  } finally {
    clearTimeout(timer)
    request.signal.removeEventListener("abort", gone)
    await server.close()
  }
}
