import { lookup } from "node:dns/promises"
import { connect as connectTcp, createServer, isIP, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import { isObject, tryParse } from "../wire/json.ts"
import { type Check, fail, ok, warn } from "./doctor-check.ts"

/** Long enough for another continent; a gateway that waits longer is of no use. */
const usualLimitMs = 3000
/** An answer to a probe has less. */
const maxAnswer = 10_000

/** Is the port free, or does a holdfast answer there already? */
export async function checkPort(host: string, port: number, limitMs = usualLimitMs): Promise<Check> {
  const where = `${host}:${port}`
  const code = await tryPort(host, port)
  if (code === undefined) return ok("port", port === 0 ? "any free one is taken" : `${where} is free`)
  if (code !== "EADDRINUSE")
    return fail("port", `${where} cannot be opened (${code})`, "Choose another with --port or --host.")
  const version = await holdfastAt(host, port, limitMs)
  return version === undefined
    ? fail("port", `${where} is in use by another program`, "Choose another port with --port, or end that program.")
    : ok("port", `a holdfast ${version} answers at ${where} already`)
}

/** Why a port cannot be opened, or undefined. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function holdfastAt(host: string, port: number, limitMs: number): Promise<string | undefined> {
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host
  try {
    const signal = AbortSignal.timeout(limitMs)
    const response = await fetch(`http://${reached}:${port}/healthz`, { signal, redirect: "manual" })
    const answer = tryParse((await response.text()).slice(0, maxAnswer))
    if (!isObject(answer) || typeof answer.status !== "string" || typeof answer.version !== "string") return undefined
    return answer.version.slice(0, 40)
  } catch {
    return undefined
  }
}

export type Reached = { readonly name: string; readonly baseUrl: string }

/** Does the host of an upstream resolve, and does it take a connection? No request is sent, and so no key. */
export async function checkUpstream(
  { name, baseUrl }: Reached,
  isNamed: boolean,
  limitMs = usualLimitMs,
): Promise<Check> {
  const { hostname, port, protocol, host } = new URL(baseUrl)
  const bare = hostname.replace(/^\[|\]$/g, "")
  const isTls = protocol === "https:"
  const why = await within(reach(bare, Number(port) || (isTls ? 443 : 80), isTls), limitMs)
  if (why === undefined) return ok(`upstream ${name}`, `${host} answers`)
  const next = "Check the address, the network and a proxy on the way; --offline leaves this out."
  // Of the well-known ones that nobody named, most are not used here.
  return isNamed ? fail(`upstream ${name}`, `${host}: ${why}`, next) : warn(`upstream ${name}`, `${host}: ${why}`, next)
}

type Attempt = { readonly result: Promise<string | undefined>; readonly stop: () => void }

async function within({ result, stop }: Attempt, limitMs: number): Promise<string | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(() => resolve(`no connection within ${limitMs} ms`), limitMs)
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
    stop()
  }
}

/** Why it could not be reached, or undefined. */
function reach(host: string, port: number, isTls: boolean): Attempt {
  let socket: Socket | undefined
  let stopped = false
  const result = (async () => {
    try {
      await lookup(host)
    } catch {
      return "the name is not known"
    }
    if (stopped) return undefined
    return await new Promise<string | undefined>((resolve) => {
      const { opened, event } = isTls
        ? {
            opened: connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) }),
            event: "secureConnect",
          }
        : { opened: connectTcp({ host, port }), event: "connect" }
      socket = opened
      opened.once(event, () => resolve(undefined))
      opened.once("error", (error: NodeJS.ErrnoException) => resolve(`no connection (${error.code ?? error.name})`))
    })
  })()
  return {
    result,
    stop: () => {
      stopped = true
      socket?.destroy()
    },
  }
}
