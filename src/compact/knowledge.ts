import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { digestOf, ownMessage } from "./standing.ts"
import { writeExtractive } from "./state/extractive.ts"
import { noteSteps, readAhead } from "./state/notes.ts"
import type { Note, Summary, SummaryLine } from "./summary/summary.ts"
import type { CompactChoices } from "./task.ts"

/** What is worth keeping from a conversation, whatever part of it will still be shown. Made without a model, in one pass. */
export type Knowledge = {
  readonly notes: readonly Note[]
  readonly summary: Summary
  /** The content of earlier digests in the conversation, unchanged. */
  readonly carried?: Summary
  /** Number of messages that the earlier digests replaced. */
  readonly covered: number
}

type ReadOptions = Pick<CompactChoices, "schema" | "focus" | "earlier">

/**
 * Reads a conversation. The content of an earlier digest is carried over unchanged: never parsed as conversation, never summarized again.
 */
export const readConversation = (conversation: Transcript, choices: ReadOptions): Knowledge =>
  runSteps(readingSteps(conversation, choices))

/** Reads a conversation in advance, so that a later `readingSteps` of it or of a continuation has less to do. */
export const readingAhead = (conversation: Transcript): Steps<void> => readAhead(spokenIn(conversation))

const spokenIn = (conversation: Transcript): Transcript =>
  conversation.filter((message) => ownMessage(message) === undefined)

/** The same as `readConversation`, some messages per step. */
export function* readingSteps(conversation: Transcript, { schema, focus, earlier }: ReadOptions): Steps<Knowledge> {
  const digests = conversation.flatMap((message) => digestOf(message) ?? [])
  const spoken = spokenIn(conversation)
  const earlierSummaries = [...(earlier === undefined ? [] : [earlier]), ...digests.map(({ summary }) => summary)]
  const carried = earlierSummaries.length === 0 ? undefined : joined(earlierSummaries, schema)
  const notes = yield* noteSteps(spoken)
  return {
    notes,
    summary: writeExtractive(spoken, { schema, notes, ...present({ focus, carried }) }),
    ...present({ carried }),
    covered: digests.reduce((sum, { covered }) => sum + covered, 0),
  }
}

/** Reduces the knowledge to what is kept without a digest: the user's open requests, and the first request. */
export function withoutContent(knowledge: Knowledge): Knowledge {
  const { schema, sections } = knowledge.summary
  const isAsked = ({ channel, state }: SummaryLine): boolean => channel === "user" && state !== undefined
  const [first] = sections.flatMap(({ lines }) => lines.filter((line) => isAsked(line) && !isOpen(line)))
  const requests = sections.map(({ name, lines }) => ({
    name,
    lines: lines.filter((line) => isAsked(line) && (isOpen(line) || line === first)),
  }))
  return { ...knowledge, summary: { schema, sections: requests.filter(({ lines }) => lines.length > 0) } }
}

const isOpen = ({ state }: SummaryLine): boolean => state === "open" || state === "pending"

function joined(summaries: readonly Summary[], schema: Summary["schema"]): Summary {
  const names = [...new Set(summaries.flatMap(({ sections }) => sections.map(({ name }) => name)))]
  const linesOf = (name: string) =>
    summaries.flatMap(({ sections }) =>
      sections.filter((section) => section.name === name).flatMap(({ lines }) => lines),
    )
  return { schema, sections: names.map((name) => ({ name, lines: linesOf(name) })) }
}
