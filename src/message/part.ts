import type { Channel } from "./channel.ts"
import type { CallId, Wire } from "./ids.ts"

/** Who runs a call: the client (`function`, `custom`), the provider itself, a person who approves; `other` is a client call of a shape we only relay. */
export type CallKind = "function" | "custom" | "provider" | "approval" | "other"

/** Bytes that stay where they are: we know what they are and how large, and never look inside. */
export type Media = {
  readonly mediaType?: string
  readonly held: "inline" | "url" | "file"
  /** Length of the inline base64 text in characters. */
  readonly inlineLength?: number
  /** Pixels, where the wire says so. */
  readonly width?: number
  readonly height?: number
  /** Asked-for resolution, in the provider's word. */
  readonly detail?: string
}

/** A prompt-cache marker on a part or tool: everything up to here is worth keeping, for this long. */
export type Breakpoint = "5m" | "1h"

/**
 * One piece of a message. `wire` is the provider's own block as it stood on the wire: what we do not know, we do not lose.
 * `channel` is noted only where it differs from what the part's place says.
 */
export type Part = { readonly wire?: Wire; readonly channel?: Channel; readonly breakpoint?: Breakpoint } & (
  | { readonly type: "text"; readonly text: string }
  | ReasoningPart
  | ToolCallPart
  | ToolResultPart
  | { readonly type: "image"; readonly media: Media }
  | { readonly type: "document"; readonly media: Media; readonly title?: string; readonly text?: string }
  /** Stands or falls whole: a provider's compaction item, a reference to an item it holds. */
  | { readonly type: "opaque"; readonly kind: string; readonly wire: Wire }
  /** A block type that we never heard of. */
  | { readonly type: "unknown"; readonly wire: Wire }
)

export type ReasoningPart = {
  readonly type: "reasoning"
  readonly text: string
  /** Binds the text to what came before it; useless, and often refused, once that changed. */
  readonly signature?: string
  /** Some or all of it is encrypted: `text` is not the whole. */
  readonly sealed?: boolean
}

export type ToolCallPart = {
  readonly type: "tool-call"
  readonly callId: CallId
  readonly tool: string
  readonly kind: CallKind
  /** Parsed where the wire carries JSON that parses, otherwise the text as it came. */
  readonly input: unknown
}

export type ToolResultPart = {
  readonly type: "tool-result"
  readonly callId: CallId
  readonly kind: CallKind
  /** The tool's name, where the wire repeats it or the result is ours; the call says it in any case. */
  readonly tool?: string
  readonly content: readonly Part[]
  readonly failed?: boolean
}
