/**
 * What a request says of itself: which conversation, which agent in it, what for.
 *
 * | where it stands | taken as | why |
 * |---|---|---|
 * | `x-holdfast-session` | explicit | its user chose it |
 * | `x-claude-code-session-id`, `session-id`, `session_id`, `x-session-id`, `conversation_id`, `thread-id` | client | one conversation of a client with all its side calls |
 * | `metadata.user_id` with a session in it (JSON, or `…_session_ID`); `client_metadata.session_id`; a held `conversation` | client | the same, in the body |
 * | `x-session-affinity`, `x-codex-window-id`, `x-client-request-id`, `prompt_cache_key` | client if two of them are equal, otherwise hint | alone they may be one process, one call, or a whole application |
 * | `user`, `safety_identifier`, `metadata.user_id` without a session | hint | one person with many conversations |
 * | `x-holdfast-agent`, `x-claude-code-agent-id`, a `thread-id` beside another `session-id`, codex `agent_name` but the root's, `x-openai-subagent` | agent | a conversation of its own below the other |
 * | `x-parent-session-id` | nothing | who sends it has an id of its own |
 *
 * An id of a client counts if it is long and has a digit: `default` and `test` are everybody's. A hint never finds a session. It only
 * keeps apart what would look alike without it.
 */
export type Identity = {
  /** Said by `x-holdfast-session`. */
  readonly explicit?: string
  /** The client's own id of its conversation, wherever it puts it. */
  readonly client?: string
  /** Which agent of that conversation. */
  readonly agent?: string
  /** The agent by the name that `x-holdfast-agent` gives it, where that is not the usual one's: no conversation is of two of them. */
  readonly named?: string
  /** What it says it is, where it says so. */
  readonly kind?: "turn" | "compaction" | "other"
  /** What two requests of one conversation have in common, and many conversations may share. */
  readonly hint?: string
}

/** By lower-case name. */
export type Headers = Readonly<Record<string, string | undefined>>
