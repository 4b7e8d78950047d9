import { createHash, timingSafeEqual } from "node:crypto"
import { isIP } from "node:net"
import { HoldfastError } from "../../message/errors.ts"

/** Who may talk to the server. */
export type Admission = {
  /** Is it bound to this machine alone? */
  readonly loopback: boolean
  /** Names, beside its own, by which it may be called; without a port. */
  readonly hosts: readonly string[]
  /** Web pages that may call it, such as `https://app.example`. */
  readonly origins: readonly string[]
  readonly token?: string
}

type Refusal = { readonly status: 401 | 403; readonly message: string }

/** Does a host name mean this very machine and nothing else? */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "")
  return name === "localhost" || name === "::1" || (isIP(name) === 4 && name.startsWith("127."))
}

const hostHeader = /^(\[[\da-f:.]+\]|[^:[\]\s]+)(?::\d{1,5})?$/i

/**
 * A page in a browser can be made to reach this server under a name of the attacker's choice (DNS rebinding), never under an address or
 * under a name that the attacker does not own. So a name has to be known, and an address is one of ours.
 */
export function refuseHost(header: string | null, { loopback, hosts }: Admission): Refusal | undefined {
  const name = hostHeader
    .exec(header ?? "")?.[1]
    ?.toLowerCase()
    .replace(/\.$/, "")
  const bare = name?.replace(/^\[|\]$/g, "") ?? ""
  const known = isLoopback(bare) || (!loopback && isIP(bare) !== 0) || hosts.some((host) => host.toLowerCase() === name)
  return known ? undefined : { status: 403, message: "This server does not answer to that Host." }
}

/** Programs send no Origin; a page does, and has to be on the list. */
export function refuseOrigin(header: string | null, { origins }: Admission): Refusal | undefined {
  if (header === null || origins.includes(header)) return undefined
  return { status: 403, message: "Pages of that Origin may not call this server." }
}

const usualHeaders: readonly string[] = ["Authorization: Bearer TOKEN"]

/** The bearer token, compared in a time that says nothing about it. `headers` are those in which the server takes it, for the refusal. */
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

/** Why a port could not be opened, as a Problem; anything else is what it was. */
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
