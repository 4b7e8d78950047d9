import { channelOf } from "../../message/fence.ts"
import type { Message, ToolCallPart, ToolResultPart, Transcript } from "../../message/message.ts"
import { pairKey } from "../../message/pair.ts"
import { present } from "../../message/present.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import {
  type AssistantStatement,
  answerOf,
  conclusionDrafts,
  lastDrafts,
  questionIn,
  thoughtDrafts,
} from "./assistant-notes.ts"
import { type CallDeed, commandLine, deedOf, type FileDeed, filesInCommand } from "./call-deed.ts"
import { finish, type NoteDraft } from "./draft.ts"
import { madeBy, type Outcome, outcomeOf, type ResultText, resultText, textEnds } from "./outcome-of.ts"
import { code, maxLineLength, maxNotes, type Note, oneLine } from "./summary.ts"
import { userDrafts } from "./user-notes.ts"
import { checkboxesIn, createWork, type Doing, type FileState, type Run, recordCall, type Work } from "./work.ts"

/** Tags in which clients put words of their own into the user's message. */
const injected =
  /<(system-reminder|environment_context|environment_details|user_instructions|session_context|command-(?:name|message|args|contents)|local-command-[a-z]{1,12}|bash-(?:input|stdout|stderr)|ide_\w{1,20}|editor_context|turn_aborted|context|additional_data|attached_files|open_and_recently_viewed_files)>/g

/** A digest of ours that came back in a message: its lines go their own way. */
const ownDigest = '<summary by="holdfast"'

/** Blocks that are taken out of one text; more is a text about them. */
const maxBlocks = 64

/** What the user wrote in a text: without the blocks that a client put there, and nothing of a digest of ours. */
function spokenBy(text: string): string {
  if (text.startsWith(ownDigest)) return ""
  if (!text.includes("</")) return text
  const kept: string[] = []
  let from = 0
  for (const { 0: open, 1: tag = "", index } of [...text.matchAll(injected)].slice(0, maxBlocks)) {
    if (index < from) continue
    const close = text.indexOf(`</${tag}>`, index + open.length)
    if (close < 0) continue
    kept.push(text.slice(from, index))
    from = close + tag.length + 3
  }
  return from === 0 ? text : [...kept, text.slice(from)].join("").trim()
}

type NotesOptions = {
  /** Fewer notes than the room allows. */
  readonly limit?: number
}

/** Where the reading stands. */
type Reading = {
  readonly work: Work
  readonly drafts: NoteDraft[]
  /** Calls whose result did not come yet. */
  readonly open: Map<string, { readonly deed: CallDeed; readonly doing: Doing }>
  /** What the assistant said last and nobody answered. */
  answer: AssistantStatement | undefined
  /** A command that was written rather than called. */
  written: { readonly deed: CallDeed; readonly doing: Doing } | undefined
  heardUser: boolean
}

/**
 * What is worth knowing of a transcript, found in one pass and without a model, in order of position. Words of the user are his own; what
 * is quoted of a tool is a line or a value and stands in a note only if it steers nobody.
 */
export const notesOf = (messages: Transcript, options: NotesOptions = {}): readonly Note[] =>
  runSteps(noteSteps(messages, options))

/** The same, message by message. */
export function* noteSteps(messages: Transcript, { limit = maxNotes }: NotesOptions = {}): Steps<readonly Note[]> {
  const reading: Reading = {
    work: createWork(),
    drafts: [],
    open: new Map(),
    answer: undefined,
    written: undefined,
    heardUser: false,
  }
  const inText = actsInText(messages)
  for (const [at, message] of messages.entries()) {
    readMessage(reading, message, at, inText)
    yield
  }
  const { work, drafts, open, answer } = reading
  for (const { deed, doing } of open.values()) recordCall(work, deed, undefined, doing)
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
  recordCall(reading.work, call.deed, outcome, call.doing)
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
    recordCall(reading.work, written.deed, outcomeOf(textEnds(text), written.deed.type === "command"), written.doing)
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
function worthOf({ kind, worth, at }: NoteDraft, length: number): number {
  return worth + (kind === "wish" ? recency : recency * 2 ** ((at + 1 - length) / halfLife(length)))
}

/** The worthiest notes, in order of position. */
function keep(drafts: readonly NoteDraft[], length: number, limit: number): readonly Note[] {
  const dated = drafts.map((draft) => ({ ...draft, worth: worthOf(draft, length) }))
  const kept = new Set(dated.toSorted((one, other) => other.worth - one.worth).slice(0, limit))
  return dated
    .filter((draft) => kept.has(draft))
    .flatMap((draft) => finish(draft) ?? [])
    .sort((one, other) => one.at - other.at)
}

/** Longest closing tag that may end a text. */
const maxTagLength = 40

/** How far back from its end the block of a command is sought. */
const maxBlock = 20_000

/** The command that a text ends with, in a fence or a tag of its own: how agents without tool calls act. */
function writtenCommand(text: string): string | undefined {
  const end = text.slice(-maxBlock).trimEnd()
  if (end.endsWith("```")) {
    const open = end.lastIndexOf("```", end.length - 4)
    const line = open < 0 ? -1 : end.indexOf("\n", open)
    return line < 0 || line >= end.length - 3 ? undefined : content(end.slice(line + 1, -3))
  }
  const tag = /<\/([\w:.-]{1,36})>$/.exec(end.slice(-maxTagLength))?.[1]
  if (tag === undefined) return undefined
  const open = end.lastIndexOf(`<${tag}`)
  const start = open < 0 ? -1 : end.indexOf(">", open)
  return start < 0 ? undefined : content(end.slice(start + 1, -(tag.length + 3)))
}

const content = (block: string): string | undefined => (block.trim() === "" ? undefined : block.trim())

/** The text that a message says, without calls and results. */
const saidBy = ({ role, parts }: Message): string =>
  parts.flatMap((part) => (part.type === "text" && channelOf(role, part) === role ? [part.text] : [])).join("\n")

/** Answers that must end with a command, of those that were answered, before the transcript is taken for one of written commands. */
const minWritten = 2
const minShare = 0.8

/** Does this assistant act by writing commands, so that what answers them is output and not a person? */
function actsInText(messages: Transcript): boolean {
  let answered = 0
  let written = 0
  for (const [n, message] of messages.entries()) {
    if (message.parts.some(({ type }) => type === "tool-call" || type === "tool-result")) return false
    if (message.role !== "assistant" || messages[n + 1]?.role !== "user") continue
    answered++
    if (writtenCommand(saidBy(message)) !== undefined) written++
  }
  return written >= minWritten && written >= answered * minShare
}

/** One short sentence on a line of its own is something that a person says, even to an agent of this kind. */
function looksSpoken(text: string): boolean {
  const line = text.trim()
  return line.length <= 400 && !line.includes("\n") && /\s\S+\s/.test(line) && /[.!?。！？]$/.test(line)
}

const interfaceWord =
  /^(open|create|edit|insert|append|goto|scroll_\w{2,4}|search_\w{3,4}|find_file|str_replace)\b\s{0,3}(\S{0,200})/

const interfaceDeeds: Readonly<Record<string, FileDeed["deed"]>> = {
  open: "read",
  create: "created",
  edit: "edited",
  insert: "edited",
  append: "edited",
  str_replace: "edited",
}

/** What a written command does; an editor's own words count as what they do to the file. */
function writtenDeed(command: string): CallDeed {
  const word = interfaceWord.exec(command)
  const deed = interfaceDeeds[word?.[1] ?? ""]
  if (deed !== undefined) {
    const named = word?.[2] ?? ""
    return { type: "files", files: [{ path: /[./]/.test(named) ? named.replace(/["']/g, "") : "", deed }] }
  }
  return { type: "command", command: commandLine(command), files: filesInCommand(command) }
}

/** What the lines of work are worth; see `worthOf` in notes.ts for how time changes it. */
const worths = {
  transaction: 10,
  error: 7,
  fixed: 4.5,
  command: 4,
  lookup: 2.5,
  bareLookup: 1,
  changedFile: 6,
  readFile: 2,
  task: 8,
  doneTask: 4,
}

/** The lines of all that was done: runs, errors with their fixes, files, and the items of the latest list. */
function workDrafts(work: Work): readonly NoteDraft[] {
  const runs = [...work.runs.values()].flatMap(runDraft)
  const files = [...work.files].map(([path, state]) => fileDraft(path, state))
  return [...runs, ...files, ...taskDrafts(work)]
}

/** A search without a hit ends like this; that is no error. */
const foundNothing = /^(?:\W{0,3}(?:command )?exit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}1\W{0,3})?$/i

function runDraft(run: Run): readonly NoteDraft[] {
  const { text, kind, calls, little, at, sources, outcome, fixed } = run
  const base = { kind, text, sources, channel: "assistant", at } as const
  const scale = little || run.overtaken === true ? 0.3 : 1
  if (outcome === undefined)
    return [{ ...base, state: "pending", worth: worths.error * scale, after: ": no result yet" }]
  const quoted = outcome.line ?? outcome.value
  if (!outcome.failed) {
    if (kind === "lookup" && quoted === undefined && !calls) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    const state = kind === "transaction" && !little ? ("done" as const) : undefined
    return [{ ...base, worth, ...present({ state, quoted }), values: outcome.line === undefined, otherwise: ": ok" }]
  }
  if (kind === "lookup" && (fixed !== undefined || (!calls && foundNothing.test(quoted ?? "")))) return []
  const error = { ...base, kind: "error" as const, text: `${text} failed`, ...present({ quoted }) }
  if (fixed === undefined) {
    return [{ ...error, state: "failed", worth: (kind === "lookup" ? worths.lookup : worths.error) * scale }]
  }
  return [{ ...error, at: fixed.at, state: "done", worth: worths.fixed * scale, after: `; ${fixText(run, fixed)}` }]
}

function fixText({ text, calls }: Run, { files, by }: NonNullable<Run["fixed"]>): string {
  if (files.length > 0) return oneLine(`went well after changing ${files.map(code).join(", ")}`, maxLineLength)
  if (calls && by !== text) return "went well with other arguments"
  return by === text ? "went well when run again" : oneLine(`went well as ${by}`, maxLineLength)
}

/** Each file that was looked at too often to be there by chance is worth more. */
const fileDraft = (path: string, { deeds, at, sources }: FileState): NoteDraft => {
  const changed = deeds.some((deed) => deed !== "read")
  const shown = changed ? deeds.filter((deed) => deed !== "read") : deeds
  return {
    kind: "file",
    text: `${code(path)}: ${shown.join(", ")}`,
    sources,
    channel: "assistant",
    at,
    worth: changed ? worths.changedFile : worths.readFile + Math.min(2, sources.length / 4),
  }
}

function taskDrafts({ tasks }: Work): readonly NoteDraft[] {
  if (tasks === undefined) return []
  const { items, doing } = tasks
  return items.map(({ text, state }) => ({
    kind: "task",
    text,
    sources: [doing.source],
    state,
    channel: "assistant",
    at: doing.at,
    worth: state === "done" ? worths.doneTask : worths.task,
  }))
}
