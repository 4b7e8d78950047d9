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
