import { clipText } from "../../language/cut-text.ts"
import { type Channel, instructs, type Transcript, textOf } from "../../message/message.ts"
import { createRecent } from "../../message/recall.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import { maxLineLength, type Note, type NoteKind, stateLabels } from "../summary/summary.ts"
import { sentencesOf } from "./cues.ts"
import { noteSteps } from "./notes.ts"

/** Kind of a memory: what was requested, decided or found out, what was done, and exact values. */
export type MemoryKind =
  | ("request" | "correction" | "wish" | "decision" | "conclusion" | "task")
  | ("command" | "transaction" | "error" | "path" | "identifier" | "fact")

/** One line for the durable memory, written before anything is compacted. */
export type MemoryEntry = {
  readonly kind: MemoryKind
  readonly text: string
  /** Ids of the messages that it rests on. */
  readonly sources: readonly string[]
  readonly channel: Channel
  /** True if said by someone who may give instructions; everything else is recalled as data. */
  readonly trusted: boolean
}

/** The memories to store, and the number of records that are not stored because nobody named them. */
type Flushed = { readonly entries: readonly MemoryEntry[]; readonly worthless: number }

/** Kinds of notes that last; what the assistant was just doing, and what it looked up in passing, does not. */
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

/** Returns everything in a conversation that is worth storing: stage 0 of a compaction. */
export const flush = (messages: Transcript): Flushed => runSteps(flushSteps(messages))

/** Same as `flush`, some messages at a time. */
export function* flushSteps(messages: Transcript): Steps<Flushed> {
  const notes = yield* noteSteps(messages)
  const left = notes.filter((note) => !isWorthStoring(note)).length
  const untold = notes.reduce((sum, note) => sum + Math.max(0, statedIn(note).length - maxStated), 0)
  const listed = yield* listedIn(messages)
  return { entries: memoryOf(notes), worthless: left + untold + listed }
}

/** Turns notes into memories: what was requested, decided and done, what is still open, and the records that the work was about. */
export const memoryOf = (notes: readonly Note[]): readonly MemoryEntry[] =>
  notes.filter(isWorthStoring).flatMap((note) => [...noteEntry(note), ...told(note)])

/** An exact value: an e-mail address, or a word with a digit, matched from its beginning. */
const exactValue = /@[\w.-]+\.\w|(?<![\w-])(?=[\w-]*\d)[\p{L}\p{N}_$€£#-]{3,}/u
const mayHaveValue = /[@\d]/
const hasExactValue = (text: string): boolean => mayHaveValue.test(text) && exactValue.test(text)

/** Maximum number of sentences of one message that are stored separately: more of them are a list, which the log has. */
const maxStated = 8

/** Returns the sentences in which the user states an exact value: the sentence says what the value is. */
function statedIn({ channel, kind, text, sources }: Note): readonly MemoryEntry[] {
  if (channel !== "user" || kind === "wish") return []
  return sentencesWithValue(text).map((sentence) => ({ kind: "fact", text: sentence, sources, channel, trusted: true }))
}

/** Called for every note when it is flushed and when it is compacted. */
const sentencesWithValue = createRecent(
  (text) =>
    sentencesOf(text).filter(
      (sentence) =>
        sentence !== text && sentence.length <= maxLineLength && hasExactValue(sentence) && !/[?？]$/.test(sentence),
    ),
  2000,
)

const told = (note: Note): readonly MemoryEntry[] => statedIn(note).slice(0, maxStated)

/** Number of characters of one text in which values that are left out are counted. */
const maxListed = 20_000

/** Counts the lines with exact values in the words of tools and the assistant: only the log has them. */
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

/** True unless the note is a record that nobody named, seen in some long list: it is stored once someone names it. */
const isWorthStoring = ({ kind, named }: Note): boolean => kind !== "record" || named === true

/**
 * Maximum length of a memory in characters: a sentence or a paragraph. Decisions, wishes and values of a longer request are notes of their
 * own, and the log has it whole.
 */
const noteCharacters = 800

function noteEntry({ kind: noteKind, text, state, sources, channel }: Note): readonly MemoryEntry[] {
  const kind = kindOfNote[noteKind]
  if (kind === undefined) return []
  const label = state === undefined || state === "said" || channel === "user" ? "" : `${stateLabels[state]} `
  return [{ kind, text: clipText(`${label}${text}`, noteCharacters), sources, channel, trusted: instructs(channel) }]
}
