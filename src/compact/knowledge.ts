import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { digestOf, ownMessage } from "./standing.ts"
import { writeExtractive } from "./state/extractive.ts"
import { noteSteps, readAhead } from "./state/notes.ts"
import type { Note, Summary, SummaryLine } from "./summary/summary.ts"
import type { CompactChoices } from "./task.ts"

/** What is worth keeping of a conversation, however much of it will still be shown. Made without a model, in one pass. */
export type Knowledge = {
  readonly notes: readonly Note[]
  readonly summary: Summary
  /** What earlier digests in it say, as they say it. */
  readonly carried?: Summary
  /** How many messages the digests that are in it stand for. */
  readonly covered: number
}

type LearnChoices = Pick<CompactChoices, "schema" | "focus" | "earlier">

/** Read a conversation. What an earlier digest in it says goes on as it is: never read as words, never summarized again. */
export const readConversation = (conversation: Transcript, choices: LearnChoices): Knowledge =>
  runSteps(readingSteps(conversation, choices))

/** Read what a later reading of the same conversation, and of one that goes on from it, then need not read. */
export const readingAhead = (conversation: Transcript): Steps<void> => readAhead(spokenIn(conversation))

const spokenIn = (conversation: Transcript): Transcript =>
  conversation.filter((message) => ownMessage(message) === undefined)

/** The same, some messages at a time. */
export function* readingSteps(conversation: Transcript, { schema, focus, earlier }: LearnChoices): Steps<Knowledge> {
  const digests = conversation.flatMap((message) => digestOf(message) ?? [])
  const spoken = spokenIn(conversation)
  const told = [...(earlier === undefined ? [] : [earlier]), ...digests.map(({ summary }) => summary)]
  const carried = told.length === 0 ? undefined : joined(told, schema)
  const notes = yield* noteSteps(spoken)
  return {
    notes,
    summary: writeExtractive(spoken, { schema, notes, ...present({ focus, carried }) }),
    ...present({ carried }),
    covered: digests.reduce((sum, { covered }) => sum + covered, 0),
  }
}

/** What is left where nobody wants a digest: what the user wants, and what it began with. */
export function withoutContent(knowledge: Knowledge): Knowledge {
  const { schema, sections } = knowledge.summary
  const isAsked = ({ channel, state }: SummaryLine): boolean => channel === "user" && state !== undefined
  const [first] = sections.flatMap(({ lines }) => lines.filter((line) => isAsked(line) && !isOpen(line)))
  const wanted = sections.map(({ name, lines }) => ({
    name,
    lines: lines.filter((line) => isAsked(line) && (isOpen(line) || line === first)),
  }))
  return { ...knowledge, summary: { schema, sections: wanted.filter(({ lines }) => lines.length > 0) } }
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
