import type { Channel } from "../message/channel.ts"
import type { Explicitness, RuleKind } from "./rule.ts"

/** For how much a rule holds: one session, every session of an agent, or all of them. */
export type PinScope = "session" | "agent" | "project"

/** Where a rule was said: in a part of a log entry's message (`piece` of a tool's result), or in a document by its hash. */
export type PinPlace =
  | { readonly entry: string; readonly part: number; readonly piece?: number; readonly start: number }
  | { readonly document: string }

/** A standing rule, to the letter. Its authority is its channel's. */
export type Pin = {
  readonly id: string
  readonly text: string
  /** sha256 of the text, in hex. */
  readonly hash: string
  readonly channel: Channel
  /** Laid down by the operator, pinned by someone who asked for it, or found in what was said. */
  readonly by: "operator" | "asked" | "found"
  readonly kind: RuleKind
  readonly scope: PinScope
  readonly explicitness?: Explicitness
  /** The file or tool that it came from. */
  readonly source?: string
  /** The line that it stands under and cannot be understood without. */
  readonly context?: string
  readonly place?: PinPlace
  readonly expiresAtMs?: number
}

/** What a model is shown of a rule. */
export type PinnedRule = Pick<Pin, "text" | "channel" | "source" | "context">
