import { clipText } from "../../language/cut-text.ts"
import { type Channel, instructs, type Transcript, textOf } from "../../message/message.ts"
import { createRecent } from "../../message/recall.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import { maxLineLength, type Note, type NoteKind, stateLabels } from "../summary/summary.ts"
import { sentencesOf } from "./cues.ts"
import { noteSteps } from "./notes.ts"

/** What a memory is of: what somebody wanted, settled on or found out, what was done, and the exact values. */
export type MemoryKind =
  | ("request" | "correction" | "wish" | "decision" | "conclusion" | "task")
  | ("command" | "transaction" | "error" | "path" | "identifier" | "fact")

/** One line for the durable memory, written down before anything is compacted. */
export type MemoryEntry = {
  readonly kind: MemoryKind
  readonly text: string
  /** Ids of the messages that it rests on. */
  readonly sources: readonly string[]
  readonly channel: Channel
  /** Said by somebody who may instruct; everything else is recalled as data. */
  readonly trusted: boolean
}

/** What is to be written down, and how many records are not, because nobody asked for them by name or spoke of them. */
type Flushed = { readonly entries: readonly MemoryEntry[]; readonly worthless: number }

/** What lasts beyond the moment: where the assistant stood and what it looked up in passing does not. */
const kindOfNote: Readonly<Partial<Record<NoteKind, MemoryKind>>> = {
  request: "request",
  correction: "correction",
  wish: "wish",
  decision: "decision",
  finding: "conclusion",
  conclusion: "conclusion",
  task: "task",
  command: "command",
  act: "transaction",
  record: "fact",
  error: "error",
  file: "path",
}

/** Stage 0 on a conversation: everything in it that is worth writing down. */
export const flush = (messages: Transcript): Flushed => runSteps(flushSteps(messages))

/** The same, some messages at a time. */
export function* flushSteps(messages: Transcript): Steps<Flushed> {
  const notes = yield* noteSteps(messages)
  const left = notes.filter((note) => !isWorthStoring(note)).length
  const untold = notes.reduce((sum, note) => sum + Math.max(0, statedIn(note).length - maxStated), 0)
  const listed = yield* listedIn(messages)
  return { entries: memoryOf(notes), worthless: left + untold + listed }
}

/** The notes of a transcript as memories: what was wanted, settled, done and left open, and the records that the work was about. */
export const memoryOf = (notes: readonly Note[]): readonly MemoryEntry[] =>
  notes.filter(isWorthStoring).flatMap((note) => [...noteEntry(note), ...told(note)])

/** An exact value, in a sentence that says whose it is: an address, or letters and signs with a digit among them, told from the start of the word. */
const exactValue = /@[\w.-]+\.\w|(?<![\w-])(?=[\w-]*\d)[\p{L}\p{N}_$€£#-]{3,}/u
const mayHaveValue = /[@\d]/
const hasExactValue = (text: string): boolean => mayHaveValue.test(text) && exactValue.test(text)

/** Sentences of one message that are written down by themselves: more of them are a list, and the log has it. */
const maxStated = 8

/** What the user states with an exact value in it: the sentence says what the value is. */
function statedIn({ channel, kind, text, sources }: Note): readonly MemoryEntry[] {
  if (channel !== "user" || kind === "wish") return []
  return sentencesWithValue(text).map((sentence) => ({ kind: "fact", text: sentence, sources, channel, trusted: true }))
}

/** Asked of every note when it is flushed and when it is compacted. */
const sentencesWithValue = createRecent(
  (text) =>
    sentencesOf(text).filter(
      (sentence) =>
        sentence !== text && sentence.length <= maxLineLength && hasExactValue(sentence) && !/[?？]$/.test(sentence),
    ),
  2000,
)

const told = (note: Note): readonly MemoryEntry[] => statedIn(note).slice(0, maxStated)

/** Characters of one text that are looked at for values that are left out. */
const maxListed = 20_000

/** How many lines with exact values stood in what tools and the assistant said: nobody spoke of them, so they are in the log alone. */
function* listedIn(messages: Transcript): Steps<number> {
  let lines = 0
  for (const { role, parts } of messages)
    for (const part of parts) {
      if (part.type !== "tool-result" && role !== "assistant") continue
      lines += linesWithValue(textOf(part).slice(0, maxListed))
      yield
    }
  return lines
}

function linesWithValue(text: string): number {
  if (!mayHaveValue.test(text)) return 0
  return text.split("\n").filter((line) => hasExactValue(line.slice(0, maxLineLength))).length
}

/** A record that only stood in some long list means nothing by itself: the log has it, and it is written down once somebody speaks of it. */
const isWorthStoring = ({ kind, named }: Note): boolean => kind !== "record" || named === true

/** A note is a sentence or a paragraph. Of a longer request its decisions, wishes and values are notes of their own, and the log has it whole. */
const noteCharacters = 800

function noteEntry({ kind: noteKind, text, state, sources, channel }: Note): readonly MemoryEntry[] {
  const kind = kindOfNote[noteKind]
  if (kind === undefined) return []
  const label = state === undefined || state === "said" || channel === "user" ? "" : `${stateLabels[state]} `
  return [{ kind, text: clipText(`${label}${text}`, noteCharacters), sources, channel, trusted: instructs(channel) }]
}
