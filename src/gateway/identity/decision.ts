import type { ModelRequest } from "../../message/message.ts"
import type { History } from "./history.ts"
import type { Identity } from "./identity.ts"
import type { Look } from "./look.ts"
import type { Names } from "./names.ts"

/** All that is looked at to tell whose a request is. */
export type IdentityQuestion = {
  readonly tenant: string
  readonly identity: Identity
  readonly request: ModelRequest
  readonly history: History
  readonly names: Names
  readonly look: Look
  /** The same, where a name that is not at hand is not worth a question to the store. */
  readonly peek: Look
  /** An id for a session, the same however often it is asked for. */
  readonly freshId: () => string
  readonly isInFlight: (session: string) => boolean
  /** The session that its bytes go on from. What came between may not have been written down. */
  readonly fastPath?: string
}

export type Write = { readonly name: string; readonly session: string; readonly entry?: string }

/** What was decided, what has to be remembered of it, and what is needed once the answer is known. */
export type IdentityDecision = {
  readonly assignment: Assignment
  readonly writes: readonly Write[]
  readonly place: AnswerPlace
}

/** Where an answer belongs: to a group, or behind a mark. */
export type AnswerPlace =
  | { readonly type: "group"; readonly base: string }
  | {
      readonly type: "alone"
      readonly frame: string
      readonly mark: string
      /** The conversation that the request has as material: its answer may come back there as a summary. */
      readonly about?: IdentitySubject
    }

/** A conversation without an id, and what it was asked last. */
export type IdentitySubject = { readonly session: string; readonly frame: string; readonly mark: string }

/** The anchors of a request that nobody bears yet: seen here first, they are this session's. */
export const unseenAnchors = ({ history, names, look }: IdentityQuestion, session: string): readonly Write[] =>
  history.anchors
    .map((anchor) => names.anchor(anchor))
    .filter((name) => look(name) === undefined)
    .map((name) => ({ name, session }))

/**
 * Which session a request belongs to, and how that was told.
 *
 * - `explicit`, `client-id`: it is the conversation that it says it is.
 * - `response-id`: it goes on from an answer that the provider holds.
 * - `calls`: it has the id of a call, of an item or of a compaction that only this session can have.
 * - `history`: its words up to its last answer are the session's.
 * - `retelling`: it opens with the session's last answer, as a summary.
 * - `opening`: it is sent again, as nothing was answered.
 * - `side`: it shares an id with a conversation, and nothing else.
 */
export type Why =
  | "explicit"
  | "client-id"
  | "response-id"
  | "calls"
  | "history"
  | "retelling"
  | "opening"
  | "side"
  | "new"

export type Assignment = {
  readonly session: string
  readonly isNew: boolean
  readonly why: Why
  /** `side` for what is no turn of its conversation: titles, topics, summaries in other instructions. */
  readonly role: "main" | "side"
  /**
   * The session is to begin as a copy of another: `messages` of the request are that one's, up to its log entry `at` where it is known.
   * A session that is not forked loses nothing but what a compaction had left out of the request.
   */
  readonly fork?: { readonly from: string; readonly at?: string; readonly messages: number }
  /** The log entry of the answer that a stateful request goes on from, where it is known. */
  readonly entry?: string
  /** It goes on from a state that was never seen here. */
  readonly held?: "unknown"
}
