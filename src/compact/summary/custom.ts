import type { Channel } from "../../message/channel.ts"
import type { MessageId } from "../../message/ids.ts"
import type { Transcript } from "../../message/message.ts"
import type { LineState, SchemaName } from "./summary.ts"

/** One piece of the conversation, in its fence. */
export type ShownPiece = { readonly id: MessageId; readonly from: Channel; readonly text: string }

/** What a summarizer of the user's own is given. */
export type SummarizeInput = {
  readonly messages: Transcript
  /**
   * The conversation as plain text, after the summary of what came before it: each message in a fence with its id and whose words they
   * are, attempts to steer the reader taken out.
   */
  readonly text: string
  /** The same piece by piece, without the marks for what was left out. */
  readonly pieces: readonly ShownPiece[]
  readonly schema: SchemaName
  readonly focus?: string
  readonly language?: string
  readonly budgetTokens: number
  /** Aborts when the time is up; what comes after that is not looked at. */
  readonly signal: AbortSignal
}

/** A line of a draft: bare words, or words with what they rest on and how far the thing is. */
export type DraftItem =
  | string
  | { readonly text: string; readonly from?: readonly (MessageId | string)[]; readonly state?: LineState }

/** A summary by section names of the schema; sections of other names are left out. */
export type SummaryDraft = { readonly sections: Readonly<Record<string, readonly DraftItem[]>> }

/** A summarizer of the user's own. Text is read as Markdown; an empty or failed answer falls back to the built-in summarizer. */
export type Summarize = (input: SummarizeInput) => Promise<string | SummaryDraft>
