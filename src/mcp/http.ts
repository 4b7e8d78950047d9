import { isLoopback } from "../gateway/http/admission.ts"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { McpServerOptions } from "./create-server.ts"
import { createMcpHandler, maxBodyBytes, mcpPath } from "./handler.ts"
import { listen } from "./listen.ts"
import type { McpSource } from "./source.ts"

export type HttpOptions = McpServerOptions & {
  /** 0 takes any free one. */
  readonly port: number
  readonly host?: string
  /** What every request has to carry; a must where others than this machine can reach the port. */
  readonly token?: string
  /** Names by which the server may be called, beside addresses and `localhost`. */
  readonly allowedHosts?: readonly string[]
  /** Web pages that may call it; none unless given. */
  readonly allowedOrigins?: readonly string[]
}

/** A server that answers at `url` until it is closed; requests that are worked on then get their answer first. */
export type HttpServing = { readonly url: string; readonly port: number; readonly close: () => Promise<void> }

/** A shorter token could be guessed. */
const leastToken = 16
const tokenShape = /^[\x21-\x7e]+$/
const maxPort = 65_535

/** Serve MCP over streamable HTTP at /mcp, on this machine alone unless told otherwise. */
export async function serveHttp(source: McpSource, options: HttpOptions): Promise<HttpServing> {
  const { port, token, allowedHosts = [], allowedOrigins = [], onFault = () => {} } = options
  const host = (options.host ?? "127.0.0.1").replace(/^\[|\]$/g, "")
  const loopback = isLoopback(host)
  checkOptions(port, token, loopback)
  const own = loopback ? [] : [host]
  const admission = { loopback, hosts: [...allowedHosts, ...own], origins: allowedOrigins, ...present({ token }) }
  const handle = await createMcpHandler(source, { ...options, admission })
  const { port: opened, close } = await listen(handle, { port, host, maxBodyBytes, onFault })
  const name = host.includes(":") ? `[${host}]` : host
  return { url: `http://${name}:${opened}${mcpPath}`, port: opened, close }
}

function checkOptions(port: number, token: string | undefined, loopback: boolean): void {
  const refuse = (option: string, expected: string, found: string): never => {
    throw new HoldfastError({ code: "option-invalid", option, expected, found })
  }
  if (!Number.isInteger(port) || port < 0 || port > maxPort)
    refuse("port", `a number from 0 to ${maxPort}`, String(port))
  if (token === undefined && !loopback)
    refuse("token", "a token, as others than this machine can reach the port", "missing")
  if (token !== undefined && (token.length < leastToken || !tokenShape.test(token)))
    refuse("token", `at least ${leastToken} characters without blanks`, "shorter or has others")
}
