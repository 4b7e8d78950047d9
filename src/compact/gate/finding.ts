import type { Channel, Span } from "../../message/message.ts"
import type { Words } from "../../message/present.ts"

/** What a text tries to do to the model that reads it. */
export type FindingKind =
  Words<"override task-hijack role-impersonation operator-claim system-prompt-probe eviction exfiltration tool-steering answer-steering concealment fence-escape token-imitation encoded-payload">

/** `strong`: the wording has no other use. `likely`: rarely written by anyone else. */
export type Strength = "strong" | "likely"

/** One attempt, where it stands in the text as it came in. */
export type Finding = {
  readonly kind: FindingKind
  readonly span: Span
  readonly strength: Strength
  readonly channel: Channel
}

/** A finding whose channel is not known yet. */
export type Sighting = Omit<Finding, "channel">

/** What a word can contribute to an attempt; a word carries any number of them as bits. */
export const concept = {
  revoke: 1 << 0,
  omit: 1 << 1,
  lapsed: 1 << 2,
  prior: 1 << 3,
  all: 1 << 4,
  you: 1 << 5,
  instructions: 1 << 6,
  policy: 1 << 7,
  prompt: 1 << 8,
  system: 1 << 9,
  summary: 1 << 10,
  budget: 1 << 11,
  model: 1 << 12,
  operator: 1 << 13,
  reveal: 1 << 14,
  secret: 1 << 15,
  send: 1 << 16,
  not: 1 << 17,
  tell: 1 << 18,
  user: 1 << 19,
  new: 1 << 20,
  follow: 1 << 21,
  task: 1 << 22,
  lead: 1 << 23,
  report: 1 << 24,
  place: 1 << 25,
  unbound: 1 << 26,
  this: 1 << 27,
  records: 1 << 28,
  first: 1 << 29,
  your: 1 << 30,
} as const
