import type { Fact, FactKind } from "../ledger/fact.ts"
import { buildLedger } from "../ledger/ledger.ts"
import { type Channel, instructs } from "../message/channel.ts"
import type { Transcript } from "../message/message.ts"
import type { Note, NoteKind } from "../summary/note.ts"
import { notesOf } from "../summary/notes.ts"
import { stateLabels } from "../summary/schema.ts"

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
  transaction: "transaction",
  error: "error",
  file: "path",
}

/** The kinds of values that name something; all others are plain facts. */
const kindOfFact: Readonly<Partial<Record<FactKind, MemoryKind>>> = {
  path: "path",
  command: "command",
  error: "error",
  email: "identifier",
  url: "identifier",
  hash: "identifier",
  id: "identifier",
  identifier: "identifier",
}

/** Stage 0 on a conversation: everything in it that is worth writing down. */
export const flush = (messages: Transcript): readonly MemoryEntry[] =>
  memoryOf(notesOf(messages), [...buildLedger(messages).facts.values()])

/** The notes and facts of a transcript as memories, notes first; a value that a note of the same kind names already is not said twice. */
export function memoryOf(notes: readonly Note[], facts: readonly Fact[]): readonly MemoryEntry[] {
  const noted = notes.flatMap(noteEntry)
  const named = new Set(notes.filter(({ text }) => text.startsWith("`")).map(({ text }) => text.split("`", 2)[1] ?? ""))
  const exact = facts.filter(({ value, state }) => state !== "superseded" && !named.has(value)).map(factEntry)
  return [...noted, ...exact]
}

function noteEntry({ kind: noteKind, text, state, sources, channel }: Note): readonly MemoryEntry[] {
  const kind = kindOfNote[noteKind]
  if (kind === undefined) return []
  const label = state === undefined ? "" : `${stateLabels[state]} `
  return [{ kind, text: `${label}${text}`, sources, channel, trusted: instructs(channel) }]
}

function factEntry({ kind, value, label, subject, source, channel }: Fact): MemoryEntry {
  const about = subject === undefined ? label : `${label} of ${subject}`
  const text = about === "" ? value : `${about}: ${value}`
  return { kind: kindOfFact[kind] ?? "fact", text, sources: [source.messageId], channel, trusted: instructs(channel) }
}
