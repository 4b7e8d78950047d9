import type { Channel, Span } from "../../message/message.ts"
import { namesIn, tableOf, type Words } from "../../message/present.ts"

/** What a text tries to do to the model that reads it. */
export type FindingKind =
  Words<"override task-hijack role-impersonation operator-claim system-prompt-probe eviction exfiltration tool-steering answer-steering concealment fence-escape token-imitation encoded-payload">

/** `strong`: the wording has no other use. `likely`: rarely used for anything else. */
export type Strength = "strong" | "likely"

/** One injection attempt, with its span in the original text. */
export type Finding = {
  readonly kind: FindingKind
  readonly span: Span
  readonly strength: Strength
  readonly channel: Channel
}

/** A finding without its channel. */
export type Sighting = Omit<Finding, "channel">

const concepts = namesIn(
  "revoke omit lapsed prior all you instructions policy prompt system summary budget model operator reveal secret send not tell user new follow task lead report place unbound this records first your",
)

/** Bit flags for the concepts that a word can stand for; one word may have several. */
export const concept: Readonly<Record<(typeof concepts)[number], number>> = tableOf(concepts, (_, place) => 1 << place)
