import { HoldfastError } from "../../message/errors.ts"
import type { ApiFamily } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import type { Receipt } from "../../session/history/prepared.ts"
import { hasOwnKey, isCredential, type Upstream } from "../settings/upstream.ts"
import type { RequestHeaders } from "./route.ts"

/**
 * Headers for the gateway, not for the upstream: host, body length, `expect`. Cookies and the Origin belong to the gateway's own origin.
 * Headers that describe the client (`via`, `forwarded`, `user-agent`) are forwarded.
 */
const notForwarded: ReadonlySet<string> = new Set(["host", "content-length", "expect", "cookie", "origin"])

/**
 * The headers to send upstream, as a flat list: the client's in their order and spelling, overridden by the upstream's own. The upstream's
 * key is sent in the header of the request's API; without one, in the headers of all its APIs.
 */
export function forwardedHeaders(raw: readonly string[], upstream: Upstream, family?: ApiFamily): string[] {
  const own = ownLines(upstream, family === undefined ? upstream.families : [family])
  const names = new Set(own.map(([name]) => name.toLowerCase()))
  const dropsKey = hasOwnKey(upstream)
  const kept = endToEnd(headerLines(raw)).filter(([name]) => {
    const lower = name.toLowerCase()
    return !notForwarded.has(lower) && !names.has(lower) && !(dropsKey && isCredential(lower))
  })
  return [...kept, ...own].flat()
}

function ownLines(
  { name: upstream, apiKey, headers }: Upstream,
  families: readonly ApiFamily[],
): readonly HeaderLine[] {
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
    "a value that is not allowed in a header",
  )
}

/** Limits in characters: names are shown in lists and stored with every entry; a focus is a sentence or two. */
const maxNameLength = 200
const maxFocusLength = 500

export type HoldfastHeaders = ReturnType<typeof holdfastHeaders>

/** Reads the gateway's own headers. An invalid value is a Problem that names the header and does not repeat the value. */
export function holdfastHeaders(headers: RequestHeaders) {
  return {
    /** Forward the request unchanged. */
    bypass: readFlag(headers, "x-holdfast-bypass"),
    session: readText(headers, "x-holdfast-session", maxNameLength),
    agent: readAgent(headers),
    /** What a compaction in this request should focus on. */
    focus: readText(headers, "x-holdfast-focus", maxFocusLength),
    token: readText(headers, "x-holdfast-token", maxNameLength),
  }
}

/** Matches allowed agent names. They are compared with names in rules and policies, so invisible characters are not allowed. */
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

/** Node decodes headers as Latin-1; clients write UTF-8. */
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

const keyLine: Readonly<Record<ApiFamily, (key: string) => HeaderLine>> = {
  anthropic: (key) => ["x-api-key", key],
  openai: (key) => ["authorization", `Bearer ${key}`],
  gemini: (key) => ["x-goog-api-key", key],
}

/** One header line. The case of its name is ignored, but kept. */
type HeaderLine = readonly [name: string, value: string]

/** Headers that concern only one connection: https://www.rfc-editor.org/rfc/rfc9110#section-7.6.1 */
const hopByHop: ReadonlySet<string> = new Set(
  namesIn("connection keep-alive te trailer trailers transfer-encoding upgrade http2-settings"),
)

const isHopByHop = (name: string): boolean =>
  hopByHop.has(name.toLowerCase()) || name.toLowerCase().startsWith("proxy-")

/** True for the gateway's own headers, also in the spelling of servers that treat an underscore as a hyphen. */
const isOurs = (name: string): boolean => /^x[-_]holdfast(?:[-_]|$)/i.test(name)

/** True if this is a valid header line. Any other characters could end the line and begin another. */
const isSafeLine = ([name, value]: HeaderLine): boolean =>
  /^[!#$%&'*+.^_`|~\w-]+$/.test(name) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value)

/** Header lines from a flat list of names and values; bytes are read as Latin-1, as Node writes them. */
export function headerLines(raw: readonly (string | Buffer)[]): readonly HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let n = 0; n + 1 < raw.length; n += 2) lines.push([textOf(raw[n] ?? ""), textOf(raw[n + 1] ?? "")])
  return lines
}

function textOf(piece: string | Buffer): string {
  if (typeof piece !== "string") return piece.toString("latin1")
  return /[^\0-\xff]/.test(piece) ? Buffer.from(piece, "utf8").toString("latin1") : piece
}

/** Lines for the other end: without connection headers, headers that `connection` lists, and the gateway's own. */
function endToEnd(lines: readonly HeaderLine[]): readonly HeaderLine[] {
  const named = new Set(
    lines
      .filter(([name]) => name.toLowerCase() === "connection")
      .flatMap(([, value]) => value.toLowerCase().match(/[^\s,]+/g) ?? []),
  )
  return lines.filter((line) => {
    const [name] = line
    return !isHopByHop(name) && !named.has(name.toLowerCase()) && !isOurs(name) && isSafeLine(line)
  })
}

/** Response headers that are not relayed: clients would take the upstream's alternative address for the gateway's own. */
const notRelayed: ReadonlySet<string> = new Set(["alt-svc"])

/** The upstream's response headers for the client, as a flat list. The length is kept only if the body is relayed unchanged. */
export function relayedHeaders(
  raw: readonly (string | Buffer)[],
  { keepLength }: { readonly keepLength: boolean },
): string[] {
  return endToEnd(headerLines(raw))
    .filter(([name]) => {
      const lower = name.toLowerCase()
      return !notRelayed.has(lower) && (keepLength || lower !== "content-length")
    })
    .flat()
}

type OwnHeaders = {
  readonly session?: string | undefined
  readonly trace?: string | undefined
  readonly receipt?: Partial<Receipt> | undefined
  /** Overrides the receipt's value. */
  readonly changed?: boolean | undefined
}

/** The gateway's own response headers, as a flat list; unknown values are left out. */
export function ownHeaders({ session, trace, receipt, changed }: OwnHeaders): string[] {
  const lines: (HeaderLine | undefined)[] = [
    session === undefined ? undefined : ["x-holdfast-session", safe(session, /[^\x20-\x7e]/u)],
    trace === undefined ? undefined : ["x-holdfast-trace", safe(trace, /[^\x20-\x7e]/u)],
    ["x-holdfast-receipt", receiptLine({ ...receipt, ...present({ changed }) })],
  ]
  return lines.filter((line) => line !== undefined && line[1] !== "").flatMap((line) => line ?? [])
}

/** A receipt in one line, such as `changed=0; context=12345; window=200000; durable=1`. */
function receiptLine(receipt: Partial<Receipt>): string {
  const fields: Readonly<Record<string, string | number | boolean | undefined>> = {
    changed: receipt.changed,
    context: receipt.contextTokens,
    window: receipt.windowTokens,
    stable: receipt.stableTokens,
    checkpoint: receipt.checkpoint,
    durable: receipt.durable,
    rules: receipt.rules,
    "operator-rules": receipt.operatorRules,
    rereads: receipt.rereads,
    "summary-expected": receipt.summaries?.expectedTokens,
    "summary-input": receipt.summaries?.inputTokens,
    "summary-cached": receipt.summaries?.cacheReadTokens,
    "summary-output": receipt.summaries?.outputTokens,
  }
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === "boolean" ? Number(value) : safe(String(value), /[^\w.:-]/u)}`)
    .join("; ")
}

/** Percent-encodes every character that `foreign` matches. */
const safe = (text: string, foreign: RegExp): string =>
  foreign.test(text) || !text.isWellFormed()
    ? text
        .toWellFormed()
        .replace(new RegExp(foreign, "gu"), (character) =>
          [...Buffer.from(character, "utf8")]
            .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
            .join(""),
        )
    : text

/** A flat header list without the headers of these names. */
export const bare = (list: readonly (string | Buffer)[], names: readonly string[]): string[] =>
  headerLines(list)
    .filter(([name]) => !names.includes(name.toLowerCase()))
    .flat()
