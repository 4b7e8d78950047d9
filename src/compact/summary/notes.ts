import { channelOf } from "../../message/channel-of.ts"
import type { Message, Transcript } from "../../message/message.ts"
import { pairKey } from "../../message/pair.ts"
import type { ToolCallPart, ToolResultPart } from "../../message/part.ts"
import { present } from "../../message/present.ts"
import { type Answer, answerOf, conclusionDrafts, lastDrafts, questionIn, thoughtDrafts } from "./assistant-notes.ts"
import { type CallDeed, deedOf } from "./call-deed.ts"
import { type Draft, finish } from "./draft.ts"
import { maxNotes, type Note } from "./note.ts"
import { madeBy, type Outcome, outcomeOf } from "./outcome-of.ts"
import { type ResultText, resultText, textEnds } from "./result-text.ts"
import { spokenBy } from "./spoken.ts"
import { checkboxesIn } from "./tasks.ts"
import { userDrafts } from "./user-notes.ts"
import { createWork, type Doing, record, type Work } from "./work.ts"
import { workDrafts } from "./work-notes.ts"
import { actsInText, looksSpoken, saidBy, writtenCommand, writtenDeed } from "./written-command.ts"

export type NotesOptions = {
  /** Fewer notes than the room allows. */
  readonly limit?: number
}

/** Where the reading stands. */
type Reading = {
  readonly work: Work
  readonly drafts: Draft[]
  /** Calls whose result did not come yet. */
  readonly open: Map<string, { readonly deed: CallDeed; readonly doing: Doing }>
  /** What the assistant said last and nobody answered. */
  answer: Answer | undefined
  /** A command that was written rather than called. */
  written: { readonly deed: CallDeed; readonly doing: Doing } | undefined
  heardUser: boolean
}

/**
 * What is worth knowing of a transcript, found in one pass and without a model, in order of position. Words of the user are his own; what
 * is quoted of a tool is a line or a value and stands in a note only if it steers nobody.
 */
export function notesOf(messages: Transcript, { limit = maxNotes }: NotesOptions = {}): readonly Note[] {
  const reading: Reading = {
    work: createWork(),
    drafts: [],
    open: new Map(),
    answer: undefined,
    written: undefined,
    heardUser: false,
  }
  const inText = actsInText(messages)
  for (const [at, message] of messages.entries()) readMessage(reading, message, at, inText)
  const { work, drafts, open, answer } = reading
  for (const { deed, doing } of open.values()) record(work, deed, undefined, doing)
  if (answer !== undefined) drafts.push(...lastDrafts(answer))
  return keep([...drafts, ...workDrafts(work)], messages.length, Math.min(limit, maxNotes))
}

function readMessage(reading: Reading, message: Message, at: number, inText: boolean): void {
  const doing: Doing = { at, source: message.id }
  for (const part of message.parts) {
    if (part.type === "tool-call") readCall(reading, part, doing)
    if (part.type === "tool-result") readResult(reading, part, doing)
  }
  if (message.role === "assistant") readAnswer(reading, saidBy(message), doing, inText)
  if (message.role === "user") readUser(reading, userText(message), doing)
}

const userText = ({ role, parts }: Message): string =>
  parts
    .flatMap((part) => (part.type === "text" && channelOf(role, part) === "user" ? [spokenBy(part.text)] : []))
    .filter((text) => text.trim() !== "")
    .join("\n")

function readCall(reading: Reading, call: ToolCallPart, doing: Doing): void {
  const deed = deedOf(call)
  if (deed.type === "said") reading.answer = answerOf(deed.text, doing)
  else reading.open.set(pairKey(call), { deed, doing })
}

function readResult(reading: Reading, result: ToolResultPart, { source }: Doing): void {
  const call = reading.open.get(pairKey(result))
  if (call === undefined) return
  reading.open.delete(pairKey(result))
  const outcome = endOf(call.deed, resultText(result), result.failed)
  record(reading.work, call.deed, outcome, call.doing)
  const quotes = outcome.line ?? outcome.value
  if (quotes !== undefined) citeResult(reading.work, call.deed, source)
}

/** How a call ended; of a change only what it made is of interest, because the rest was in the call. */
function endOf(deed: CallDeed, text: ResultText, failed: boolean | undefined): Outcome {
  const outcome = outcomeOf(text, deed.type === "command", failed)
  if (deed.type !== "call" || deed.changes === "no" || outcome.failed) return outcome
  return { failed: false, ...present({ value: madeBy(text, deed.text) }) }
}

/** A line that quotes an output rests on the message that holds it. */
function citeResult({ runs }: Work, deed: CallDeed, source: string): void {
  const key = deed.type === "command" ? deed.command : deed.type === "call" ? deed.text : undefined
  const run = key === undefined ? undefined : runs.get(`\`${key.replaceAll("`", "'")}\``)
  if (run !== undefined) runs.set(run.text, { ...run, sources: [...run.sources, source] })
}

function readAnswer(reading: Reading, text: string, doing: Doing, inText: boolean): void {
  if (text.trim() === "") return
  reading.answer = answerOf(text, doing)
  reading.drafts.push(...thoughtDrafts(reading.answer))
  const items = checkboxesIn(text)
  if (items.length > 0) reading.work.tasks = { items, doing }
  const command = inText ? writtenCommand(text) : undefined
  reading.written = command === undefined ? undefined : { deed: writtenDeed(command), doing }
}

function readUser(reading: Reading, text: string, doing: Doing): void {
  const { written, answer } = reading
  if (text === "") return
  if (written !== undefined && !looksSpoken(text)) {
    record(reading.work, written.deed, outcomeOf(textEnds(text), written.deed.type === "command"), written.doing)
    reading.written = undefined
    return
  }
  const question = answer === undefined ? undefined : questionIn(answer)
  if (answer !== undefined) reading.drafts.push(...conclusionDrafts(answer))
  const asked =
    answer !== undefined && question !== undefined ? { asked: { text: question, source: answer.source } } : {}
  reading.drafts.push(...userDrafts({ text, ...doing, first: !reading.heardUser, ...asked }))
  reading.heardUser = true
  reading.answer = undefined
}

/** What the newest line is worth more than an old one. */
const recency = 3

/** Messages until that is half: an eighth of the transcript, and never less than five rounds of call, result and answer. */
const halfLife = (length: number): number => Math.max(16, length / 8)

/** The worth of a line seen from the end of the transcript; a lasting wish does not age. */
function worthOf({ kind, worth, at }: Draft, length: number): number {
  return worth + (kind === "wish" ? recency : recency * 2 ** ((at + 1 - length) / halfLife(length)))
}

/** The worthiest notes, in order of position. */
function keep(drafts: readonly Draft[], length: number, limit: number): readonly Note[] {
  const dated = drafts.map((draft) => ({ ...draft, worth: worthOf(draft, length) }))
  const kept = new Set(dated.toSorted((one, other) => other.worth - one.worth).slice(0, limit))
  return dated
    .filter((draft) => kept.has(draft))
    .flatMap((draft) => finish(draft) ?? [])
    .sort((one, other) => one.at - other.at)
}
