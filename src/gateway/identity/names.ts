import { hash } from "node:crypto"
import { isObject } from "../../wire/json.ts"
import type { Headers, Identity } from "./identity.ts"

/** A hash of plain data: the first 128 bits of the SHA-256 of its JSON, in hex. JSON keeps different lists distinct. */
export const digest = (...data: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(data).toWellFormed(), "hex").slice(0, 32)

/**
 * The names under which sessions are found. Each is a hash of the tenant and of what it names, so that no tenant can find another's
 * sessions, and a name contains no text of a conversation.
 */
export type Names = {
  /** The main conversation of a group; stored with a sample of its instructions and tools. */
  readonly group: (base: string) => string
  /** A session of a group that exists. */
  readonly known: (session: string) => string
  /** The id of a tool call, an item or a compaction; stored with `ambiguous` if two sessions had it. */
  readonly anchor: (id: string) => string
  /** A response within a group. */
  readonly answer: (base: string, key: string) => string
  /** The session of a group that began with these instructions and tools. */
  readonly framed: (base: string, frame: string) => string
  /** A history up to a response; stored with the log entry of the response. */
  readonly history: (frame: string, mark: string) => string
  /** A request; stored with whether it was answered. */
  readonly asked: (frame: string, mark: string) => string
  /**
   * A line of a response that the client may send back as a summary; stored with the session's mark at that time, whether only the client
   * program saw it, and how many lines of the response are stored.
   */
  readonly told: (frame: string, line: string) => string
  /**
   * A line of a session without an id, to recognise a request that contains the conversation as text; `ambiguous` if two sessions had it.
   */
  readonly said: (line: string) => string
  /** The newest response of a session without an id; stored with the mark of its request, and the key of the message right before it. */
  readonly newest: (key: string) => string
  /**
   * A response of a session without an id that a request continued; stored with the mark of that request, and the key of its last message.
   */
  readonly goneOn: (frame: string, key: string) => string
  /** The last request of a session without an id; stored with its mark and its frame. */
  readonly tip: (session: string) => string
  /** A response by the provider's id; stored with its log entry. */
  readonly response: (id: string) => string
  /** A response by the provider's id; stored with the mark of its request. */
  readonly responseTo: (id: string) => string
}

export const ambiguous = "ambiguous"
export const unshown = "unshown"

/** The names of a tenant's agent. An agent that the client names has names of its own, so that no conversation belongs to two agents. */
export const namesFor = (tenant: string, { named }: Pick<Identity, "named">): Names =>
  namesOf(named === undefined ? tenant : digest("holdfast agent", tenant, named))

const tipKind = "t:"

/** Only a tip name changes its value as a conversation continues. */
export const isTip = (name: string): boolean => name.startsWith(tipKind)

const namesOf = (tenant: string): Names => ({
  group: (base) => `g:${digest(tenant, base)}`,
  known: (session) => `s:${digest(tenant, session)}`,
  anchor: (id) => `c:${digest(tenant, id)}`,
  answer: (base, key) => `a:${digest(tenant, base, key)}`,
  framed: (base, frame) => `f:${digest(tenant, base, frame)}`,
  history: (frame, mark) => `h:${digest(tenant, frame, mark)}`,
  asked: (frame, mark) => `o:${digest(tenant, frame, mark)}`,
  told: (frame, line) => `l:${digest(tenant, frame, line)}`,
  said: (line) => `w:${digest(tenant, line)}`,
  newest: (key) => `n:${digest(tenant, key)}`,
  goneOn: (frame, key) => `b:${digest(tenant, frame, key)}`,
  tip: (session) => `${tipKind}${digest(tenant, session)}`,
  response: (id) => `r:${digest(tenant, id)}`,
  responseTo: (id) => `q:${digest(tenant, id)}`,
})

/** Client ids that are used verbatim in a session's name. `~` is reserved: it separates a conversation from its side sessions. */
const plain = /^[A-Za-z0-9_.:@-]{1,64}$/

/** Client text as part of a name. Long or unusual text, or text that looks like one of our hashes, is hashed. */
const clean = (text: string): string => (plain.test(text) && !text.startsWith("h-") ? text : `h-${digest(text)}`)

/**
 * All names of a tenant begin with its full fingerprint and a dot. The fingerprint contains no dot, so no client id can reach another
 * tenant's names.
 */
const within = (tenant: string): string => (/^[A-Za-z0-9_-]{1,32}$/.test(tenant) ? tenant : digest("tenant", tenant))

export const anonymousSession = (tenant: string, id: string): string => `${within(tenant)}.~${clean(id)}`

export const groupSession = (tenant: string, id: string, agent: string | undefined): string =>
  `${within(tenant)}.${clean(id)}${agent === undefined ? "" : `~agent-${clean(agent)}`}`

export const sideSession = (base: string, key: string): string => `${base}~side-${key.slice(0, 16)}`

/** The session of the conversation with tools, if a request without tools took the plain name first. */
export const toolsSession = (base: string): string => `${base}~tools`

/**
 * The conversations that a session is part of: for a subagent's or a side call's session the one that started it, under both of its names.
 * Empty for a conversation itself.
 */
export function conversationsOf(session: string): readonly string[] {
  const end = session.search(/~(?:agent-|side-)/)
  if (end <= 0) return []
  const base = session.slice(0, end).replace(/~tools$/, "")
  return [base, toolsSession(base)]
}

export const isInGroup = (base: string, session: string): boolean =>
  session === base || session === toolsSession(base) || session.startsWith(`${base}~side-`)

/** The tenant of requests without a credential. */
const nobody = "none"

/** Headers that contain only an API key. */
const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"]

/**
 * The tenant of a request: a fingerprint of its credential, from whichever header or query parameter it came. The same key is the same
 * tenant. On a personal gateway the same login is the same tenant too, because its tokens change every few hours.
 */
export function tenantOf(headers: Headers, queryKey?: string, isPersonal = false): string {
  const authorization = headers.authorization?.trim().replace(/^(?:bearer|basic|token)$|^[a-z][a-z\d-]{0,40}\s+/i, "")
  const key = [authorization, ...keyHeaders.map((name) => headers[name]?.trim()), queryKey?.trim()].find(
    (value) => value !== undefined && value !== "",
  )
  if (key === undefined) return nobody
  const login = isPersonal ? loginOf(key) : undefined
  return (login === undefined ? digest("holdfast tenant", key) : digest("holdfast login", login)).slice(0, 16)
}

/** Prefixes of login tokens and their provider. Such a token is replaced every few hours. */
const logins: readonly (readonly [begins: RegExp, provider: string])[] = [
  [/^sk-ant-oat/, "anthropic"],
  [/^ya29\./, "google"],
  [/^gh[ou]_/, "github"],
]

/**
 * The login behind a credential that is refreshed; undefined for a key, which does not change. Only the upstream verifies it, so it may
 * tell apart one person's logins, but not people.
 */
function loginOf(credential: string): string | undefined {
  const provider = logins.find(([begins]) => begins.test(credential))?.[1]
  return provider ?? subjectOf(credential)
}

/** Limit on the length of a token that is parsed. */
const maxLength = 20_000

/** The issuer and subject of a JSON Web Token. */
function subjectOf(credential: string): string | undefined {
  const claims = /^eyJ[\w-]+\.(eyJ[\w-]+)\.[\w-]+$/.exec(credential.length > maxLength ? "" : credential)?.[1]
  if (claims === undefined) return undefined
  try {
    const read: unknown = JSON.parse(Buffer.from(claims, "base64url").toString("utf8"))
    if (!isObject(read) || typeof read.sub !== "string" || read.sub === "") return undefined
    return JSON.stringify([typeof read.iss === "string" ? read.iss : "", read.sub])
  } catch {
    return undefined
  }
}
