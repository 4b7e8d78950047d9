import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { type Admission, isLoopback, refuseHost, refuseOrigin, refuseToken } from "../gateway/http/admission.ts"
import { type Listening, listen } from "../gateway/http/listen.ts"
import { usualGatewayLimits } from "../gateway/settings/gateway-options.ts"
import { refuseOption } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { loadSdk, type McpServerOptions, prepareMcpServers, type Sdk } from "./create-server.ts"
import { limitSource, type McpSource, maxAnswerMs } from "./source.ts"

export type HttpOptions = McpServerOptions & {
  /** 0 takes any free port. */
  readonly port: number
  readonly host?: string
  /** The token that every request must carry; required if other machines can reach the port. */
  readonly token?: string
  /** Host names that requests may use, beside IP addresses and `localhost`. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may call the server; none by default. */
  readonly allowedOrigins?: readonly string[]
}

/** Minimum length of a token: a shorter one could be guessed. */
const leastToken = 16
const tokenShape = /^[\x21-\x7e]+$/
const maxPort = 65_535

/** Serves MCP over streamable HTTP at /mcp, by default on the loopback address only. Closing waits for requests in progress. */
export async function serveHttp(source: McpSource, options: HttpOptions): Promise<Listening> {
  const { port, token, allowedHosts = [], allowedOrigins = [], onFault = () => {} } = options
  const host = (options.host ?? "127.0.0.1").replace(/^\[|\]$/g, "")
  const loopback = isLoopback(host)
  checkOptions(port, token, loopback)
  const own = loopback ? [] : [host]
  const admission = { loopback, hosts: [...allowedHosts, ...own], origins: allowedOrigins, ...present({ token }) }
  const handle = await createMcpHandler(source, { ...options, admission })
  const { url, port: opened, close } = await listenHttp(handle, { port, host, onFault })
  return { url: `${url}${mcpPath}`, port: opened, close }
}

function checkOptions(port: number, token: string | undefined, loopback: boolean): void {
  if (!Number.isInteger(port) || port < 0 || port > maxPort)
    refuseOption("port", `a number from 0 to ${maxPort}`, String(port))
  if (token === undefined && !loopback)
    refuseOption("token", "a token, as others than this machine can reach the port", "missing")
  if (token !== undefined && (token.length < leastToken || !tokenShape.test(token)))
    refuseOption("token", `at least ${leastToken} characters without blanks`, "shorter or has others")
}

const mcpPath = "/mcp"

/** A call has a few hundred bytes. */
export const maxBodyBytes = 1_000_000
/** Maximum number of requests in progress. */
const maxRequests = 64
/** Every query to the source has ended by then. */
const maxRequestMs = maxAnswerMs + 5000

type HttpTransport = InstanceType<Sdk["HttpTransport"]>

const allowed = "POST, OPTIONS"

type HandlerOptions = McpServerOptions & {
  readonly admission: Admission
  readonly maxRequests?: number
  readonly maxRequestMs?: number
}

/**
 * MCP over streamable HTTP as a function. Each request stands alone: there are no sessions to guess, exhaust or lose at a restart, and
 * every answer is one JSON body, so that no stream is held open.
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

/** An error of the protocol that belongs to no request. */
const refusal = (status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response =>
  Response.json({ jsonrpc: "2.0", error: { code: -32000, message }, id: null }, { status, headers })

/** A server for this request only; it ends with the answer, when the client disconnects, or at the time limit. */
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

type Handle = (request: Request) => Promise<Response>

/** A client on the same machine needs milliseconds to send a request. */
const limits = { ...usualGatewayLimits, connections: 1000, headersMs: 10_000, bodyMs: 30_000, graceMs: 5000 }

/** Answers contain a session's texts: they must not be cached, and their type must not be guessed. */
const everywhere = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

/** Answers HTTP requests on a port with a function. An error in one request does not affect the next. */
export async function listenHttp(
  handle: Handle,
  { port, host, onFault }: Required<Pick<HttpOptions, "port" | "host" | "onFault">>,
): Promise<Listening> {
  const { getRequestListener, RequestError } = await import("@hono/node-server")
  const answer = async (request: Request): Promise<Response> => {
    const { status, headers, body } = await handle(request)
    return new Response(body, { status, headers: { ...Object.fromEntries(headers), ...everywhere } })
  }
  const failed = (error: unknown): Response => {
    if (error instanceof RequestError) return new Response(null, { status: 400 })
    onFault(error)
    return new Response(null, { status: 500 })
  }
  const listener = getRequestListener(answer, { errorHandler: failed, overrideGlobalObjects: false })
  return listen({ port, host, limits, onFault }, (incoming, outgoing) => {
    outgoing.on("error", onFault)
    // An invalid Host header is not an allowed one.
    if (!URL.canParse(`http://${incoming.headers.host ?? ""}`)) return void outgoing.writeHead(403).end()
    if (incoming.url?.startsWith("/") !== true) return void outgoing.writeHead(400).end()
    void listener(incoming, outgoing)
  })
}
