import { digest } from "./digest.ts"
import type { Identity } from "./identity.ts"

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

export const namesOf = (tenant: string): Names => ({
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
