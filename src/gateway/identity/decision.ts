import type { ModelRequest } from "../../message/message.ts"
import type { Words } from "../../message/present.ts"
import type { Identity } from "./identity.ts"
import type { History, Names } from "./names.ts"

/** The inputs for deciding which session a request belongs to. */
export type IdentityQuestion = {
  readonly tenant: string
  readonly identity: Identity
  readonly request: ModelRequest
  readonly history: History
  readonly names: Names
  readonly look: Look
  /** Like `look`, but a name that is not cached is not fetched from the store. */
  readonly peek: Look
  /** An id for a new session; repeated calls return the same id. */
  readonly freshId: () => string
  readonly isInFlight: (session: string) => boolean
  /** The session of the fast path that the request continues. Requests between may not have been recorded. */
  readonly fastPath?: string | undefined
}

export type Write = { readonly name: string; readonly session: string; readonly entry?: string | undefined }

/** The decision, the names to store for it, and what is needed once the response is known. */
export type IdentityDecision = {
  readonly assignment: Assignment
  readonly writes: readonly Write[]
  readonly place: AnswerPlace
  /** A session whose pending response the request seems to contain: once that is recorded, the decision may be another. */
  readonly awaits?: string | undefined
}

/** Where a response is stored: in a group, or after the mark of its request. */
export type AnswerPlace =
  | { readonly type: "group"; readonly base: string }
  | {
      readonly type: "alone"
      readonly frame: string
      readonly mark: string
      /** The conversation that the request is about: its response may be sent back there as a summary. */
      readonly about?: IdentitySubject | undefined
    }

/** A conversation without an id, and its last request. */
export type IdentitySubject = { readonly session: string; readonly frame: string; readonly mark: string }

/**
 * Why a request was assigned to its session.
 *
 * - `explicit`, `client-id`: the request names its conversation.
 * - `response-id`: it continues a response that the provider stores.
 * - `calls`: it contains the id of a tool call, an item or a compaction that only this session has.
 * - `history`: its messages up to the last response are the session's.
 * - `retelling`: it begins with the session's last response, as a summary.
 * - `opening`: it repeats a first request that was not answered.
 * - `side`: it shares only an id with a conversation.
 */
export type Why = Words<"explicit client-id response-id calls history retelling opening side new">

export type Assignment = {
  readonly session: string
  readonly isNew: boolean
  readonly why: Why
  /** `side` for requests that are not a turn of the conversation: titles, topics, summaries with other instructions. */
  readonly role: "main" | "side"
  /**
   * The session begins as a copy of another: the first `messages` messages of the request are the other session's, up to its log entry `at`
   * if that is known. If the copy cannot be made, only what a compaction had left out of the request is lost.
   */
  readonly fork?: { readonly from: string; readonly at?: string | undefined; readonly messages: number }
  /** The log entry of the response that a stateful request continues, if it is known. */
  readonly entry?: string
  /** The request continues a state at the provider that this gateway does not know. */
  readonly held?: "unknown"
}

/** Looks up a name synchronously. A name that is not cached is noted as missing; the question is asked again once it was fetched. */
export type Look = (name: string) => Bearer | undefined

/** The first of these names whose session `counts` accepts. All names that are not cached are noted, so that they are fetched together. */
export function lookFirst(
  look: Look,
  names: readonly string[],
  counts: (bearer: Bearer) => boolean,
): Bearer | undefined {
  let found: Bearer | undefined
  for (const name of names) {
    found = look(name)
    if (found !== undefined && counts(found)) return found
  }
  return undefined
}

/** The session that has a name, and the entry stored with the name. */
export type Bearer = { readonly session: string; readonly entry?: string | undefined }
