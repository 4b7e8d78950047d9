import { clipText } from "../../language/cut-text.ts"
import { type Channel, instructs, type Transcript } from "../../message/message.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import type { Fact, FactKind } from "../facts/fact.ts"
import { emptyLedger, extendSteps } from "../facts/ledger.ts"
import { noteSteps } from "../summary/notes.ts"
import { type Note, type NoteKind, stateLabels } from "../summary/summary.ts"

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

/** What is to be written down, and how many exact values are not, because they mean nothing by themselves. */
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
export const flush = (messages: Transcript): Flushed => runSteps(flushSteps(messages))

/** The same, some messages at a time. */
export function* flushSteps(messages: Transcript): Steps<Flushed> {
  const ledger = yield* extendSteps(emptyLedger, messages)
  const facts = [...ledger.facts.values()]
  const entries = memoryOf(yield* noteSteps(messages), facts)
  return { entries, worthless: facts.length - worthStoring(facts).length }
}

/** The notes and facts of a transcript as memories, notes first; a value that a note of the same kind names already is not said twice. */
export function memoryOf(notes: readonly Note[], facts: readonly Fact[]): readonly MemoryEntry[] {
  const noted = notes.flatMap(noteEntry)
  const named = new Set(notes.filter(({ text }) => text.startsWith("`")).map(({ text }) => text.split("`", 2)[1] ?? ""))
  const exact = worthStoring(facts)
    .filter(({ value, state }) => state !== "superseded" && !named.has(value))
    .map(factEntry)
  return [...noted, ...exact]
}

/** Values that are words: they say something without a use. */
const wordy: ReadonlySet<FactKind> = new Set(["error", "quote", "command", "name"])

/** A message with more values than this is a list: of those only what is used elsewhere stands by itself, and no more than this many. */
const listedValues = 8
/** What is told of values that are used: a record has some dozens of fields, a table has more. */
const recordValues = 40

/**
 * The values that are worth a line of their own: what somebody gave, spoke of or passed to a tool, what is told of such a value, and
 * words. An identifier, a path or a number that only stood in some output, or in a long list, means nothing by itself, and there are
 * thousands: the log has it, and it is written down once it is used.
 */
function worthStoring(facts: readonly Fact[]): readonly Fact[] {
  const used = new Set(facts.filter(isUsed).map(({ value }) => value))
  const isTold = ({ subject }: Fact): boolean => subject !== undefined && used.has(subject)
  const worthy = new Set<Fact>()
  for (const given of Map.groupBy(facts, ({ source }) => source.messageId).values()) {
    const told = given.filter(isTold).slice(0, recordValues)
    const rest = given.filter((fact) => !isTold(fact) && (isUsed(fact) || wordy.has(fact.kind)))
    const kept = rest.length <= listedValues ? rest : mostUsed(rest)
    for (const fact of [...told, ...kept]) worthy.add(fact)
  }
  return facts.filter((fact) => worthy.has(fact))
}

const mostUsed = (facts: readonly Fact[]): readonly Fact[] =>
  facts
    .filter(({ uses, usedInCalls }) => uses > 1 || usedInCalls > 0)
    .toSorted((one, other) => other.usedInCalls - one.usedInCalls || other.uses - one.uses)
    .slice(0, listedValues)

const isUsed = ({ givenByUser, said, usedInCalls, channel }: Fact): boolean =>
  givenByUser || said === true || usedInCalls > 0 || instructs(channel)

/** A note is a sentence or a paragraph. Of a longer request its decisions, wishes and values are notes of their own, and the log has it whole. */
const noteCharacters = 800

function noteEntry({ kind: noteKind, text, state, sources, channel }: Note): readonly MemoryEntry[] {
  const kind = kindOfNote[noteKind]
  if (kind === undefined) return []
  const label = state === undefined ? "" : `${stateLabels[state]} `
  return [{ kind, text: clipText(`${label}${text}`, noteCharacters), sources, channel, trusted: instructs(channel) }]
}

function factEntry({ kind, value, label, subject, source, channel }: Fact): MemoryEntry {
  const about = subject === undefined ? label : `${label} of ${subject}`
  const text = about === "" ? value : `${about}: ${value}`
  return { kind: kindOfFact[kind] ?? "fact", text, sources: [source.messageId], channel, trusted: instructs(channel) }
}
