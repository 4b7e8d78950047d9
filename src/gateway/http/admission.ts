import { createHash, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import { HoldfastError } from "../../message/errors.ts"

/** Who may use the server. */
export type Admission = {
  /** Is it bound to a loopback address? */
  readonly loopback: boolean
  /** Additional host names that requests may use; without a port. */
  readonly hosts: readonly string[]
  /** Web pages that may call it, such as `https://app.example`. */
  readonly origins: readonly string[]
  readonly token?: string
}

type Refusal = { readonly status: 401 | 403; readonly message: string }

/** Does a host name always mean this machine? */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "")
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

const hostHeader = /^(\[[\da-f:.]+\]|[^:[\]\s]+)(?::\d{1,5})?$/i

/**
 * An attacker can make a browser page reach this server under a host name that the attacker owns (DNS rebinding), but not under an IP
 * address or another name. So host names must be known, and IP addresses are accepted.
 */
export function refuseHost(header: string | null, { loopback, hosts }: Admission): Refusal | undefined {
  const name = hostHeader
    .exec(header ?? "")?.[1]
    ?.toLowerCase()
    .replace(/\.$/, "")
  const bare = name?.replace(/^\[|\]$/g, "") ?? ""
  const known = isLoopback(bare) || (!loopback && isIP(bare) !== 0) || hosts.some((host) => host.toLowerCase() === name)
  return known ? undefined : { status: 403, message: "This server does not accept requests for that Host." }
}

/** Only web pages send an Origin; it must be on the list. */
export function refuseOrigin(header: string | null, { origins }: Admission): Refusal | undefined {
  if (header === null || origins.includes(header)) return undefined
  return { status: 403, message: "This server does not accept requests from pages of that Origin." }
}

const usualHeaders: readonly string[] = ["Authorization: Bearer TOKEN"]

/** Compare the bearer token in constant time. `headers` are the headers that the server accepts it in, for the message. */
export function refuseToken(
  header: string | null,
  { token }: Admission,
  headers: readonly string[] = usualHeaders,
): Refusal | undefined {
  if (token === undefined) return undefined
  const given = /^Bearer +([^\s]+) *$/i.exec(header ?? "")?.[1] ?? ""
  if (timingSafeEqual(digest(given), digest(token))) return undefined
  const ways = headers.map((line) => `\`${line}\``).join(" or ")
  return { status: 401, message: `This server requires its token in the header ${ways}.` }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

/** The reason why a port could not be opened, as a Problem; other errors are returned unchanged. */
export function listenProblem(error: unknown, port: number, host: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  const option = (name: string, expected: string, found: string): HoldfastError =>
    new HoldfastError({ code: "option-invalid", option: name, expected, found }, { cause: error })
  if (code === "EADDRINUSE") return option("port", "a port that is free", `${port}, which is in use`)
  if (code === "EACCES") return option("port", "a port that may be opened", `${port}, which may not`)
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND" || code === "EAI_AGAIN")
    return option("host", "an address of this machine", JSON.stringify(host.slice(0, 80)))
  return error
}
