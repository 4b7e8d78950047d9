import type { Channel } from "../message/channel.ts"
import type { Span } from "../message/request.ts"

/** What a rule does: forbid, demand, bound what is allowed, allow, or say what is liked better. */
export type RuleKind = "prohibition" | "obligation" | "permission-limit" | "permission" | "preference"

/**
 * How plainly a rule says that it lasts: `stated` in words (never, from now on), by its `modal` alone (must, do not), or only by the `genre`
 * of the text, as a bare "Use tabs" in a file of rules does.
 */
export type Explicitness = "stated" | "modal" | "genre"

/** A standing rule found in a text, to the letter: `text` is `whole.slice(start, end)`. */
export type FoundRule = Span & {
  readonly text: string
  readonly kind: RuleKind
  readonly channel: Channel
  readonly explicitness: Explicitness
  /** The words that say what it is about, without modality, numbers and names: folded, sorted, each once. */
  readonly topic: readonly string[]
  /** The heading or leading line that it stands under, to the letter. */
  readonly context?: string
  /** It means something else without its context: a bullet under "Never". */
  readonly needsContext: boolean
  /** The clauses that say when it holds, to the letter. */
  readonly conditions: readonly string[]
  /** The clauses that say when it does not hold, to the letter. */
  readonly exceptions: readonly string[]
  /** Where data lays it down: what it stands in calls itself rules, or has next to nothing else in it. */
  readonly laid?: "named" | "dense"
}
