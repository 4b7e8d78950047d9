import { channelOf, digestHeading } from "../../message/fence.ts"
import type { Message, ToolCallPart, ToolResultPart, Transcript } from "../../message/message.ts"
import { pairKey } from "../../message/pair.ts"
import { present } from "../../message/present.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import { asidesIn } from "../../rules/own-words.ts"
import { toolNature } from "../stages/tool-kind.ts"
import { code, maxLineLength, maxNotes, type Note, oneLine } from "../summary/summary.ts"
import {
  type AssistantStatement,
  answerOf,
  conclusionDrafts,
  lastDrafts,
  questionIn,
  thoughtDrafts,
  waitsForUser,
} from "./assistant-notes.ts"
import { type CallDeed, commandDeed, deedOf } from "./call-deed.ts"
import { changeOf, type FileDeed } from "./file-change.ts"
import { finish, type NoteDraft } from "./note-draft.ts"
import { madeBy, type Outcome, outcomeOf, type ResultText, resultText, textEnds } from "./outcome-of.ts"
import { type FactRecord, joinRecords, recordsIn, recordText } from "./records.ts"
import { addValues, programValues, type SourceState, settingsIn, sourceRecord, sourceTexts } from "./source-values.ts"
import { createUserTalk, type UserTalk, userNotes } from "./user-notes.ts"
import {
  checkboxesIn,
  createWork,
  type Doing,
  type FileState,
  fileText,
  type Run,
  recordCall,
  type Work,
} from "./work.ts"

/** A digest of ours that came back in a message: its lines go their own way. */
const ownDigest = '<summary by="holdfast"'

/** A command of the client that the user called by its name, with what was put behind it. */
const calledCommand = /<command-name>([^<]{1,200})<\/command-name>/
const commandArguments = /<command-args>([\s\S]{0,4000}?)<\/command-args>/

/** Words that a client puts into the user's mouth, whole messages of them: notices, captions of what a command brought along. */
const notices =
  /^\s*(?:caveat: the messages below|\[request interrupted by user|<(?:local-command|bash-)|this session is being continued from|base directory for this skill|\[image:?\s|contents of (?:the )?(?:file|directory)|called the \w+ tool|result of calling)/i

/** What the user wrote in a text: a command that was called by its name, and nothing that the client put around it. */
function spokenBy(text: string): string {
  if (text.startsWith(ownDigest) || notices.test(text)) return ""
  const called = calledCommand.exec(text)?.[1]?.trim()
  if (called !== undefined) return `${called} ${commandArguments.exec(text)?.[1] ?? ""}`.trim()
  if (!text.includes("</")) return text
  let spoken = ""
  let from = 0
  for (const { start, end } of asidesIn(text)) {
    // What the user pastes between tags is shortened later; what a client puts there is nobody's words.
    if (!isClients(text.slice(start, start + maxTagLength))) continue
    spoken += text.slice(from, start)
    from = end
    const close = text.indexOf(">", end - 1)
    if (close >= 0 && close - end < maxTagLength) from = close + 1
  }
  return from === 0 ? text : (spoken + text.slice(from)).trim()
}

const isClients = (opening: string): boolean =>
  /^<(?:system[-_]reminder|environment_|user_instructions|session_context|command-|local-command|bash-|ide_|editor_|turn_aborted|context>|additional_data|attached_files|open_and_recently|uploaded_files|system_)/i.test(
    opening,
  )

type NotesOptions = {
  /** Fewer notes than the room allows. */
  readonly limit?: number
}

/** Where the reading stands. */
type Reading = {
  readonly work: Work
  readonly drafts: NoteDraft[]
  readonly talk: UserTalk
  readonly records: Map<string, RecordState>
  /** Words that someone said or passed to a tool: a record that one of them names is what the work is about. */
  readonly mentioned: Map<string, number>
  readonly habits: Map<string, Habit>
  /** What was set in written files and named in programs. */
  readonly inSource: Map<string, SourceState>
  /** Calls whose result did not come yet. */
  readonly open: Map<string, OpenCall>
  /** Was a tool called since the user spoke? */
  worked: boolean
  /** What the assistant said last and nobody answered. */
  answer: AssistantStatement | undefined
  /** A command that was written rather than called. */
  written: { readonly deed: CallDeed; readonly doing: Doing } | undefined
}

type OpenCall = { readonly call: ToolCallPart; readonly deed: CallDeed; readonly doing: Doing }

type RecordState = {
  readonly record: FactRecord
  readonly at: number
  readonly sources: readonly string[]
  /** It came only as one of many. */
  readonly listed: boolean
  /** Something was done to it since it was read. */
  readonly changedBy?: string
}

/**
 * What is worth knowing of a transcript, found in one pass and without a model, in order of position: the user's words, what was done and
 * how it ended, files, where it stopped, and records of what tools said. Words of the user are his own; what is quoted of a tool is a line
 * or a value and stands in a note only if it steers nobody.
 */
export const notesOf = (messages: Transcript, options: NotesOptions = {}): readonly Note[] =>
  runSteps(noteSteps(messages, options))

/** The same, message by message. */
export function* noteSteps(messages: Transcript, { limit = maxNotes }: NotesOptions = {}): Steps<readonly Note[]> {
  const reading: Reading = {
    work: createWork(),
    drafts: [],
    talk: createUserTalk(),
    records: new Map(),
    mentioned: new Map(),
    habits: new Map(),
    inSource: new Map(),
    open: new Map(),
    worked: false,
    answer: undefined,
    written: undefined,
  }
  const inText = actsInText(messages)
  for (const [at, message] of messages.entries()) {
    readMessage(reading, message, at, inText)
    yield
  }
  const { work, drafts, open, answer, talk } = reading
  for (const { deed, doing } of open.values()) recordCall(work, deed, undefined, doing)
  if (answer !== undefined) drafts.push(...lastDrafts(answer))
  const said = userNotes(talk, {
    asked: answer !== undefined && questionIn(answer) !== undefined,
    ended: isEnded(messages),
  })
  return keep(
    [
      ...said,
      ...drafts,
      ...workDrafts(work),
      ...recordDrafts(reading),
      ...habitDrafts(reading.habits),
      ...sourceDrafts(reading.inSource),
    ],
    messages.length,
    Math.min(limit, maxNotes),
  )
}

/** Did the assistant say its last word, without a call behind it? */
const isEnded = (messages: Transcript): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && !last.parts.some(({ type }) => type === "tool-call")
}

function readMessage(reading: Reading, message: Message, at: number, inText: boolean): void {
  const doing: Doing = { at, source: message.id }
  for (const part of message.parts) {
    if (part.type === "tool-call") readCall(reading, part, doing)
    if (part.type === "tool-result") readResult(reading, part, doing)
  }
  if (message.role === "assistant") readAnswer(reading, saidBy(message), doing, inText)
  if (message.role !== "user") return
  for (const part of message.parts)
    if (part.type === "text" && part.text.startsWith(ownDigest)) reading.drafts.push(...changedDigest(part.text, doing))
  readUser(reading, userText(message), doing)
}

/** Lines carried of a digest that somebody changed, or that an older version wrote. */
const maxChangedLines = 60

/** A digest that does not read as one of ours any more: what it says is remembered, and nobody's word. */
function changedDigest(text: string, { at, source }: Doing): readonly NoteDraft[] {
  const lines = text
    .split(/[\r\n]+/)
    .filter((line) => !line.startsWith("## ") && line !== digestHeading)
    .map((line) =>
      oneLine(line.replace(/<[^<>]{0,200}>/g, "").replace(/^- (?:\[[A-Z][a-z ]{2,24}\] )?/, ""), maxLineLength),
    )
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
  // What a digest says first gives way last.
  return [...new Set(lines)].slice(0, maxChangedLines).map((line, n): NoteDraft => {
    const worth = worths.changedDigest - n / 8
    return { kind: "reply", text: line, sources: [source], channel: "memory", at, worth }
  })
}

const userText = ({ role, parts }: Message): string =>
  parts
    .flatMap((part) => (part.type === "text" && channelOf(role, part) === "user" ? [spokenBy(part.text)] : []))
    .filter((text) => text.trim() !== "")
    .join("\n")

/** Names and numbers, as they stand in sentences and in arguments. */
const namingWord = /[\p{L}\p{N}_@#][\p{L}\p{N}_@.#-]{2,60}/gu
const maxMentionText = 20_000

function mention({ mentioned }: Reading, text: string, at: number): void {
  for (const [word] of text.slice(0, maxMentionText).matchAll(namingWord))
    if (/[\p{N}_@-]|\p{Lu}/u.test(word)) mentioned.set(word.replace(/[.-]+$/, ""), at)
}

function readCall(reading: Reading, call: ToolCallPart, doing: Doing): void {
  const deed = deedOf(call)
  reading.worked = true
  if (deed.type === "said") reading.answer = answerOf(deed.text, doing)
  else reading.open.set(pairKey(call), { call, deed, doing })
  if (deed.type === "call") mention(reading, deed.text, doing.at)
  noteArguments(reading.habits, call, doing)
  noteSource(reading.inSource, call, deed, doing)
}

/** Values in what was written go to the file, those of a program to the tool that ran it. */
function noteSource(
  states: Map<string, SourceState>,
  { tool, input }: ToolCallPart,
  deed: CallDeed,
  doing: Doing,
): void {
  const [file] =
    deed.type === "files" ? deed.files.filter(({ deed: done }) => done !== "read" && done !== "deleted") : []
  if (file === undefined && deed.type !== "command" && deed.type !== "call") return
  const texts = sourceTexts(input)
  const values = file === undefined ? texts.flatMap(programValues) : texts.flatMap(settingsIn)
  const name = file === undefined ? `passed to ${oneLine(tool, maxHabitLength * 2)}` : file.path
  if (values.length === 0 || name === "") return
  const state: SourceState = states.get(name) ?? { values: new Map(), sources: [], at: doing.at }
  states.set(name, state)
  state.at = doing.at
  state.sources.push(doing.source)
  addValues(state, values)
}

const sourceDrafts = (states: ReadonlyMap<string, SourceState>): readonly NoteDraft[] =>
  [...states].flatMap(([name, state]): readonly NoteDraft[] => {
    const record = sourceRecord(name, state)
    const { sources, at } = state
    return record === undefined
      ? []
      : [{ kind: "record", text: recordText(record), sources, channel: "assistant", at, worth: worths.source }]
  })

/** Short arguments that a tool was given again and again: how it is called here. */
type Habit = { readonly counts: Map<string, Map<string, number>>; calls: number; at: number; source: string }

const maxHabitLength = 24
const leastCalls = 3

function noteArguments(habits: Map<string, Habit>, { tool, input }: ToolCallPart, { at, source }: Doing): void {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return
  const habit = habits.get(tool) ?? { counts: new Map(), calls: 0, at, source }
  habits.set(tool, habit)
  habit.calls++
  habit.at = at
  habit.source = source
  for (const [key, value] of Object.entries(input)) {
    if (typeof value === "object" || key.length > maxHabitLength || String(value).length > maxHabitLength) continue
    const counts = habit.counts.get(key) ?? new Map<string, number>()
    counts.set(String(value), (counts.get(String(value)) ?? 0) + 1)
    habit.counts.set(key, counts)
  }
}

/** A value that most calls of a tool had is its setting here, and the next call will want it again. */
function habitDrafts(habits: ReadonlyMap<string, Habit>): readonly NoteDraft[] {
  return [...habits].flatMap(([tool, { counts, calls, at, source }]): readonly NoteDraft[] => {
    const fields = [...counts].flatMap(([key, values]) => {
      const usual = [...values].filter(([value, count]) => value !== "" && count >= leastCalls && count > calls / 2)
      return usual.length === 0 ? [] : [{ key, pieces: usual.map(([value]) => oneLine(value, maxHabitLength)) }]
    })
    if (fields.length === 0) return []
    const text = recordText({ name: `calls of ${oneLine(tool, maxHabitLength * 2)}`, fields })
    return [{ kind: "record", text, sources: [source], channel: "assistant", at, worth: 2 }]
  })
}

function readResult(reading: Reading, result: ToolResultPart, doing: Doing): void {
  const open = reading.open.get(pairKey(result))
  if (open === undefined) return
  reading.open.delete(pairKey(result))
  const text = resultText(result)
  const read = endOf(open.deed, text, result.failed)
  const isRecorded = !read.failed && readRecords(reading, open, result, doing)
  // What a record says need not be said of the call that asked for it.
  const outcome = isRecorded && isLookup(open.deed) ? { failed: false, sure: true as const } : read
  recordCall(reading.work, open.deed, outcome, open.doing)
  const quotes = outcome.line ?? outcome.value
  if (quotes !== undefined) citeResult(reading.work, open.deed, doing.source)
}

const isLookup = (deed: CallDeed): boolean => deed.type === "call" && deed.changes !== "yes"

/** Longer arguments are content, and name no record. */
const maxNamed = 80

function readRecords(reading: Reading, { call, deed }: OpenCall, result: ToolResultPart, doing: Doing): boolean {
  const isRead = deed.type === "files" && deed.files.every(({ deed: done }) => done === "read")
  if (deed.type !== "call" && deed.type !== "command" && !isRead) return false
  const { records } = reading
  if (deed.type === "call" && deed.changes === "yes") markChanged(records, call)
  const [only] = result.content
  const answer = result.content.length === 1 && only?.type === "text" ? only.text : ""
  if (answer === "") return false
  const asked = deed.type === "call" ? deed.text : deed.type === "command" ? deed.command : (deed.files[0]?.path ?? "")
  const question = { tool: call.tool, input: deed.type === "call" ? call.input : {}, text: asked }
  const found = recordsIn(question, answer, deed.type !== "call" || isPage(call))
  for (const record of found) {
    const known = records.get(record.name)
    records.delete(record.name)
    records.set(record.name, {
      record: known === undefined ? record : joinRecords(known.record, record),
      at: doing.at,
      sources: [...(known?.sources ?? []).slice(-3), doing.source],
      listed: (known?.listed ?? true) && found.length > manyListed,
    })
  }
  return found.length > 0
}

/** Pages, listings and files are full of pairs that are nobody's record. */
const isPage = ({ tool, input }: ToolCallPart): boolean => !recordKinds.has(toolNature(tool, input).kind)
const recordKinds: ReadonlySet<string> = new Set(["json", "other", "list"])

/** What was read of a thing before something was done to it may not hold any more. */
function markChanged(records: Map<string, RecordState>, { tool, input }: ToolCallPart): void {
  if (typeof input !== "object" || input === null) return
  const values = Object.values(input).filter((value) => typeof value === "string" && value.length <= maxNamed)
  for (const [name, state] of records)
    if (values.some((value) => name === value || name.endsWith(` ${value}`)))
      records.set(name, { ...state, changedBy: tool })
}

const recordWorth = 4
/** One of many that a search listed: of those that nobody spoke of since, few matter. */
const listedWorth = 0.5
const manyListed = 3

function recordDrafts({ records, mentioned }: Reading): readonly NoteDraft[] {
  return [...records.values()].map(({ record, at, sources, changedBy, listed }): NoteDraft => {
    // The day that something was asked for names nothing.
    const id = record.name.replace(/ on \d{4}-.*$/, "").split(" ")
    const isNamed = id.some((word) => (mentioned.get(word) ?? -1) >= 0 && /[\p{N}_@-]/u.test(word))
    const isLater = id.some((word) => (mentioned.get(word) ?? -1) > at)
    const stale =
      changedBy === undefined ? record : { ...record, name: `${record.name} (read before ${oneLine(changedBy, 40)})` }
    return {
      kind: "record",
      text: recordText(stale),
      sources,
      channel: "tool",
      at,
      worth: (isNamed || !listed ? recordWorth : listedWorth) + (isNamed ? 3 : 0) + (isLater ? 2 : 0),
      ...(isNamed ? { named: true as const } : {}),
    }
  })
}

/** How a call ended; of a change only what it made is of interest, because the rest was in the call. */
function endOf(deed: CallDeed, text: ResultText, failed: boolean | undefined): Outcome {
  const outcome = outcomeOf(text, deed.type === "command", failed)
  if (deed.type !== "call" || deed.changes === "no" || outcome.failed) return outcome
  const { sure, says, line } = outcome
  return { failed: false, ...present({ sure, says, value: madeBy(text, deed.text), line }) }
}

/** A line that quotes an output rests on the message that holds it. */
function citeResult({ runs }: Work, deed: CallDeed, source: string): void {
  const key = deed.type === "command" ? deed.command : deed.type === "call" ? deed.text : undefined
  const run = key === undefined ? undefined : runs.get(`\`${key.replaceAll("`", "'")}\``)
  if (run !== undefined) runs.set(run.text, { ...run, sources: [...run.sources, source] })
}

function readAnswer(reading: Reading, text: string, doing: Doing, inText: boolean): void {
  if (text.trim() === "") return
  mention(reading, text, doing.at)
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
  mention(reading, text, doing.at)
  const question = answer === undefined ? undefined : questionIn(answer)
  if (answer !== undefined) reading.drafts.push(...conclusionDrafts(answer))
  const asked =
    answer !== undefined && question !== undefined ? { asked: { text: question, source: answer.source } } : {}
  const isServed = reading.worked && answer !== undefined && question === undefined && !waitsForUser(answer)
  reading.talk.push({ text, ...doing, ...asked, isServed })
  reading.answer = undefined
  reading.worked = false
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
    const change = deed === "edited" ? { change: changeOf("", command.slice(command.indexOf("\n") + 1)) } : {}
    return { type: "files", files: [{ path: /[./]/.test(named) ? named.replace(/["']/g, "") : "", deed, ...change }] }
  }
  return commandDeed("bash", {}, command)
}

/** What the lines of work are worth; see `worthOf` in notes.ts for how time changes it. */
const worths = {
  changedDigest: 12,
  act: 10,
  error: 7,
  fixed: 4.5,
  command: 4,
  lookup: 2.5,
  bareLookup: 1,
  changedFile: 6,
  readFile: 2,
  task: 8,
  doneTask: 4,
  source: 2,
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
  const { text, kind, calls, little, at, sources, outcome, fixed, times } = run
  const base = { kind, text: times > 1 ? `${text} ×${times}` : text, sources, channel: "assistant", at } as const
  const scale = little || run.overtaken === true ? 0.3 : 1
  if (outcome === undefined)
    return [{ ...base, state: "pending", worth: worths.error * scale, after: ": no result yet" }]
  const quoted = outcome.line ?? outcome.value
  const values = outcome.line === undefined
  if (!outcome.failed) {
    // That something ran is no news; what it found or changed is.
    if (kind !== "act" && quoted === undefined && !calls) return []
    const worth = (kind === "lookup" && quoted === undefined ? worths.bareLookup : worths[kind]) * scale
    if (kind !== "act") return [{ ...base, worth, ...present({ quoted }), values }]
    const state = outcome.sure === true ? ("done" as const) : undefined
    const otherwise = state === undefined ? ": result unknown" : ""
    return [{ ...base, worth, ...present({ state, quoted }), values, otherwise }]
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

/** Where there is little room, a file is told with so many names of what changed in it. */
const fewNames = 2

/** Each file that was looked at too often to be there by chance is worth more. */
const fileDraft = (path: string, state: FileState): NoteDraft => {
  const { deeds, at, sources } = state
  const changed = deeds.some((deed) => deed !== "read")
  return {
    kind: "file",
    text: fileText(path, state),
    ...(state.change === undefined ? {} : { short: fileText(path, state, fewNames) }),
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
