import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { Family } from "../settings/family.ts"
import type { Upstream } from "../settings/upstream.ts"
import { hasOwnKey, isCredential, keyLine } from "./request-headers-key.ts"
import { endToEnd, type HeaderLine, isHopByHop, isSafeLine, linesOf } from "./request-headers-lines.ts"
import type { RequestHeaders } from "./route-family.ts"

/**
 * What is said to the gateway and not to the upstream: who is called, how long this body is, whether to wait for a go-ahead. Cookies and
 * the page that calls belong to the gateway's own origin. What a client says of itself (`via`, `forwarded`, `user-agent`) goes on.
 */
const notForwarded: ReadonlySet<string> = new Set(["host", "content-length", "expect", "cookie", "origin"])

/**
 * The headers to send upstream, as a flat list: the client's in their order and spelling, and the upstream's own over them. Its key goes
 * into the header of the family; without one into those of all that it speaks.
 */
export function forwardedHeaders(raw: readonly string[], upstream: Upstream, family?: Family): string[] {
  const own = ownLines(upstream, family === undefined ? upstream.families : [family])
  const names = new Set(own.map(([name]) => name.toLowerCase()))
  const dropsKey = hasOwnKey(upstream)
  const kept = endToEnd(linesOf(raw)).filter(([name]) => {
    const lower = name.toLowerCase()
    return !notForwarded.has(lower) && !names.has(lower) && !(dropsKey && isCredential(lower))
  })
  return [...kept, ...own].flat()
}

function ownLines({ name: upstream, apiKey, headers }: Upstream, families: readonly Family[]): readonly HeaderLine[] {
  const given = Object.entries(headers ?? {}).filter(
    ([name]) => !isHopByHop(name) && name.toLowerCase() !== "content-length",
  )
  const names = new Set(given.map(([name]) => name.toLowerCase()))
  const keys = apiKey === undefined ? [] : families.map((family) => keyLine[family](apiKey))
  const lines = [...keys.filter(([name]) => !names.has(name)), ...given]
  if (lines.every(isSafeLine)) return lines
  throw invalid(
    `apiKey or headers of upstream ${upstream}`,
    "one line of plain text each",
    "something that no header holds",
  )
}

/** What a client may tell the gateway about one request. */
export type HoldfastHeaders = {
  readonly session?: string
  readonly agent?: string
  /** Send it on as it is. */
  readonly bypass: boolean
  /** What matters if this call compacts. */
  readonly focus?: string
  readonly token?: string
}

/** Names are shown in lists and kept with every entry; a focus is a sentence or two. */
const maxNameLength = 200
const maxFocusLength = 500

/** Read our own headers; a value that cannot be meant is a Problem that names the header and does not repeat the value. */
export function holdfastHeaders(headers: RequestHeaders): HoldfastHeaders {
  return {
    bypass: readFlag(headers, "x-holdfast-bypass"),
    ...present({
      session: readText(headers, "x-holdfast-session", maxNameLength),
      agent: readAgent(headers),
      focus: readText(headers, "x-holdfast-focus", maxFocusLength),
      token: readText(headers, "x-holdfast-token", maxNameLength),
    }),
  }
}

/** What an agent may be called: it is compared with the names in rules and policies, so nothing that cannot be seen may be in it. */
const agentName = /^[\p{L}\p{N}][\p{L}\p{M}\p{N} ._:@/+-]*$/u

function readAgent(headers: RequestHeaders): string | undefined {
  const name = "x-holdfast-agent"
  const text = readText(headers, name, maxNameLength)?.normalize("NFC")
  if (text === undefined || agentName.test(text)) return text
  const expected = "a name that begins with a letter or digit, of letters, digits, blanks and . _ : @ / + -"
  throw invalid(name, expected, "text with other characters")
}

function readText(headers: RequestHeaders, name: string, limit: number): string | undefined {
  const value = headers[name]
  if (value === undefined) return undefined
  const expected = `text of 1 to ${limit} characters, once`
  if (typeof value !== "string") throw invalid(name, expected, `${value.length} values`)
  const text = utf8In(value).trim()
  if (text === "") throw invalid(name, expected, "empty")
  if (text.length > limit) throw invalid(name, expected, `text of ${text.length} characters`)
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) throw invalid(name, expected, "text with control characters")
  return text
}

function readFlag(headers: RequestHeaders, name: string): boolean {
  const value = headers[name]
  if (value === undefined) return false
  const said = typeof value === "string" ? value.trim().toLowerCase() : ""
  if (said === "true" || said === "1") return true
  if (said === "false" || said === "0") return false
  throw invalid(name, "true or false", said === "" ? "empty" : "something else")
}

/** Node reads a header byte by byte; clients write UTF-8. */
function utf8In(value: string): string {
  if (!/^[\0-\xff]*$/.test(value) || !/[\x80-\xff]/.test(value)) return value
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"))
  } catch {
    return value
  }
}

const invalid = (option: string, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "option-invalid", option, expected, found })
