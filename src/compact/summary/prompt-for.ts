import { fence } from "../../message/fence.ts"
import type { MessageId } from "../../message/ids.ts"
import type { Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { fitPieces, shorten } from "./prompt-fit.ts"
import { piecesOf } from "./prompt-pieces.ts"
import { previousJson } from "./prompt-previous.ts"
import { disarm, renderFenced, tags } from "./prompt-render.ts"
import { systemFor } from "./prompt-system.ts"
import type { SchemaName, Summary } from "./summary.ts"

export type PromptInput = {
  /** The conversation to retell, without infrastructure. */
  readonly messages: Transcript
  readonly schema: SchemaName
  /** What earlier messages came to; it is brought up to date rather than written anew. */
  readonly previous?: Summary
  /** What the user asked the summary to dwell on. */
  readonly focus?: string
  /** A language's name or code; otherwise the language of the conversation. */
  readonly language?: string
  /** How long the summary may be. */
  readonly budgetTokens: number
  /** How much the summarizer may be shown, these instructions included. */
  readonly inputTokens: number
  readonly count: (text: string) => number
}

export type SummaryPrompt = { readonly system: string; readonly user: string; readonly shown: readonly MessageId[] }

/** Longest wish of a user about a summary, in characters: a paragraph or two. */
const longestFocus = 2_000

/** An earlier summary takes at most this share of the room: the rest is for what is new. */
export const previousShare = 0.4

const closing = "Write the summary of the conversation now, as one JSON object in the format that you were told."

/** The question that a summarizer is asked. Everything that was said stands in it as data; what does not fit is shortened, the oldest first. */
export function promptFor(input: PromptInput): SummaryPrompt {
  const { messages, schema, previous, focus, language, budgetTokens, inputTokens, count } = input
  const updates = previous !== undefined && previous.sections.length > 0
  const system = systemFor({ schema, budgetTokens, updates, ...present({ language }) })
  const wish = (focus ?? "").trim()
  const before = updates ? [previousJson(previous, { limitTokens: inputTokens * previousShare, count })] : []
  const after = [
    ...(wish === ""
      ? []
      : [`The user asked that the summary dwell on this:\n${fence(tags.focus, disarm(shorten(wish, longestFocus)))}`]),
    closing,
  ]
  const fixed = [...before, fence(tags.conversation, ""), ...after].join("\n\n")
  const room = inputTokens - count(system) - count(fixed)
  const { text, shown } = fitPieces(piecesOf(messages), Math.max(0, room), { render: renderFenced, count })
  const conversation = `<${tags.conversation}>\n${text === "" ? "(nothing is shown)" : text}\n</${tags.conversation}>`
  return {
    system,
    user: [...before, conversation, ...after].join("\n\n"),
    shown: [...new Set(shown.map(({ piece }) => piece.id))],
  }
}
