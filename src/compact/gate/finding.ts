import type { Channel } from "../../message/channel.ts"
import type { Span } from "../../message/request.ts"

/** What a text tries to do to the model that reads it. */
export type FindingKind =
  | "override"
  | "task-hijack"
  | "role-impersonation"
  | "operator-claim"
  | "system-prompt-probe"
  | "eviction"
  | "exfiltration"
  | "tool-steering"
  | "answer-steering"
  | "concealment"
  | "fence-escape"
  | "token-imitation"
  | "encoded-payload"

/** `strong`: the wording has no other use. `likely`: rarely written by anyone else. */
export type Strength = "strong" | "likely"

/** One attempt, where it stands in the text as it came in. */
export type Finding = {
  readonly kind: FindingKind
  readonly span: Span
  readonly strength: Strength
  readonly channel: Channel
}

/** A finding before anyone asked which channel it came in through. */
export type Sighting = Omit<Finding, "channel">
