import { hash } from "node:crypto"
import { isObject } from "../../wire/json.ts"
import type { Headers, Identity } from "./identity.ts"

/** A short name for plain data, framed as JSON so that no two lists read alike: 128 bits of its sha256, in hex. */
export const digest = (...data: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(data).toWellFormed(), "hex").slice(0, 32)

/**
 * The names under which sessions are found again. Each is a hash of the tenant and of what it names, so that nobody finds by any id
 * what belongs to another tenant, and no word of a conversation stands in a name.
 */
export type Names = {
  /** The main conversation of a group; with it a likeness of its frame. */
  readonly group: (base: string) => string
  /** A session of a group, once it is there. */
  readonly known: (session: string) => string
  /** A call, an item or a compaction; with it `ambiguous` if two sessions had it. */
  readonly anchor: (id: string) => string
  /** An answer within a group. */
  readonly answer: (base: string, key: string) => string
  /** The session of a group that was begun with these instructions and tools. */
  readonly framed: (base: string, frame: string) => string
  /** All that was said up to an answer; with it the log entry of the answer. */
  readonly history: (frame: string, mark: string) => string
  /** A request as it was asked; with it whether it was answered. */
  readonly asked: (frame: string, mark: string) => string
  /**
   * A line of an answer that may come back as a summary; with it the mark that the session was at, whether only the client saw it, and
   * how many lines of the answer are named.
   */
  readonly told: (frame: string, line: string) => string
  /** A line of a session without an id, by which a call that has the conversation as text is known; `ambiguous` if two sessions had it. */
  readonly said: (line: string) => string
  /** The newest answer of a session without an id; with it the mark that it answered, and the key of the message right before it. */
  readonly newest: (key: string) => string
  /** An answer of a session without an id that was gone on from; with it the mark of the request that did, and the key of its last message. */
  readonly goneOn: (frame: string, key: string) => string
  /** What a session without an id was asked last; with it the mark and the frame of that. */
  readonly tip: (session: string) => string
  /** An answer by the provider's id; with it its log entry. */
  readonly response: (id: string) => string
  /** The same; with it the mark of the request that it answered. */
  readonly responseTo: (id: string) => string
}

export const ambiguous = "ambiguous"
export const unshown = "unshown"

/** The names of a tenant's agent. An agent that the client names has its own, so that no conversation is of two agents. */
export const namesFor = (tenant: string, { named }: Pick<Identity, "named">): Names =>
  namesOf(named === undefined ? tenant : digest("holdfast agent", tenant, named))

const tipKind = "t:"

/** Of the names only this one changes its meaning as a conversation goes on. */
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

/** What may stand in a session's name as a client wrote it. `~` is ours: it parts a conversation from what belongs to it. */
const plain = /^[A-Za-z0-9_.:@-]{1,64}$/

/** Text of a client's as part of a name; what is long or odd, or looks like a hash of ours, becomes a hash. */
const clean = (text: string): string => (plain.test(text) && !text.startsWith("h-") ? text : `h-${digest(text)}`)

/** A tenant's names all begin with the whole of its fingerprint and a dot, and the fingerprint has none: no id leads out of it. */
const within = (tenant: string): string => (/^[A-Za-z0-9_-]{1,32}$/.test(tenant) ? tenant : digest("tenant", tenant))

export const anonymousSession = (tenant: string, id: string): string => `${within(tenant)}.~${clean(id)}`

export const groupSession = (tenant: string, id: string, agent: string | undefined): string =>
  `${within(tenant)}.${clean(id)}${agent === undefined ? "" : `~agent-${clean(agent)}`}`

export const sideSession = (base: string, key: string): string => `${base}~side-${key.slice(0, 16)}`

/** The conversation with tools, where a call without any has taken the name already. */
export const toolsSession = (base: string): string => `${base}~tools`

/**
 * The conversations that a session is a part of: of a subagent's or a side call's the one that began it, in either of its names. Nothing of
 * a conversation itself.
 */
export function conversationsOf(session: string): readonly string[] {
  const end = session.search(/~(?:agent-|side-)/)
  if (end <= 0) return []
  const base = session.slice(0, end).replace(/~tools$/, "")
  return [base, toolsSession(base)]
}

/** Is it one of the sessions of this group? */
export const isInGroup = (base: string, session: string): boolean =>
  session === base || session === toolsSession(base) || session.startsWith(`${base}~side-`)

/** Whose requests have no credential at all. */
const nobody = "none"

/** Headers that carry nothing but a key. */
const keyHeaders = ["x-api-key", "x-goog-api-key", "api-key"]

/**
 * Who sends a request: a fingerprint of its credential, by whatever header or query it came. The same key is the same tenant. Where a
 * gateway is one person's own, so is the same login, whose tokens are new every few hours.
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

/** Tokens that programs get for a login, by how they begin, and whose login that is. A new one comes every few hours. */
const logins: readonly (readonly [begins: RegExp, whose: string])[] = [
  [/^sk-ant-oat/, "anthropic"],
  [/^ya29\./, "google"],
  [/^gh[ou]_/, "github"],
]

/**
 * What stays of a credential that is refreshed: the login that it stands for. Nothing for a key, which is the same for as long as it is
 * used. None of it is proven before the upstream has seen it, so it tells apart logins of one person and not people.
 */
function loginOf(credential: string): string | undefined {
  const whose = logins.find(([begins]) => begins.test(credential))?.[1]
  return whose ?? subjectOf(credential)
}

/** No token of this kind is longer. */
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
