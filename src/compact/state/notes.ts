import { digestHeading, partsHeading } from "../../message/fence.ts"
import { pairKey } from "../../message/group.ts"
import { type Message, type ToolCallPart, type ToolResultPart, type Transcript, textOf } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPerObject, createRecall } from "../../message/recall.ts"
import { runSteps, type Steps } from "../../message/steps.ts"
import { code, maxLineLength, maxNotes, type Note, oneLine, weightOf, withoutLineStart } from "../summary/summary.ts"
import {
  type AssistantStatement,
  answerOf,
  figuresVoided,
  isCorrection,
  isRefuted,
  latestThoughts,
  thoughtDrafts,
} from "./assistant-findings.ts"
import {
  agreedTo,
  chosenFrom,
  confirmedDrafts,
  declines,
  lastDrafts,
  namedFrom,
  needsQuestion,
  offersChoice,
  proposes,
  questionIn,
  waitsForUser,
} from "./assistant-notes.ts"
import { type CallDeed, deedOf, homeOf, inFolder } from "./call-deed.ts"
import { callOutcome, withMade } from "./call-outcome.ts"
import { type Commitment, commitmentDrafts, commitmentsIn } from "./commitments.ts"
import { sentencesOf } from "./cues.ts"
import { eachFile } from "./file-states.ts"
import { type NoteDraft, worthiest } from "./note-draft.ts"
import { type Outcome, outcomeOf } from "./outcome-of.ts"
import { isScreen, screenText, withElement } from "./page-elements.ts"
import { byNumber, previousConclusion, type ReplyContext, replyContextDrafts } from "./reply-context.ts"
import { textEnds } from "./result-text.ts"
import { endedBy, fetchedBy, goesOn, lookInto, type RunningCommands, runningDrafts } from "./running-commands.ts"
import { isNoticeElement, ownDigest, spokenIn } from "./spoken-text.ts"
import { checkboxesIn, isListLeft, keepTasks, openSince, recordTask } from "./task-list.ts"
import { accepts, createUserTalk, newestRequest, objectedTo, userNotes } from "./user-notes.ts"
import {
  createValues,
  holdsSteering,
  isChange,
  latestStates,
  mention,
  noteJobs,
  noteNoticedJobs,
  type OpenCall,
  readCallValues,
  readStatements,
  readValues,
  readWritten,
  type Values,
  valueDrafts,
} from "./value-notes.ts"
import { copyOf, createWork, type MessagePosition, namesNew, type Run, recordCall, type Work } from "./work.ts"
import { workDrafts } from "./work-drafts.ts"
import {
  actsInText,
  formAfter,
  looksSpoken,
  type OutputForm,
  saidBy,
  writtenCommand,
  writtenDeed,
} from "./written-command.ts"

type NotesOptions = {
  /** Maximum number of notes, if lower than `maxNotes`. */
  readonly limit?: number
}

/** What has been read of a transcript so far: updated message by message, and turned into notes at the end. */
type NotesState = ReplyContext & {
  /** The common parent folder of all folders in which commands ran. */
  readonly home: string | undefined
  readonly drafts: NoteDraft[]
  readonly values: Values
  /** Calls without a result so far. */
  readonly open: Map<string, OpenCall>
  readonly running: RunningCommands
  /** All results so far. */
  readonly results: ToolResultPart[]
  /** The last screen or page shown, whose elements calls name by id. */
  page: string
  /** True if a tool was called since the user's last message. */
  worked: boolean
  /** The assistant's last statement, until the user replies. */
  answer: AssistantStatement | undefined
  /**
   * True if the decisions and findings in `answer` are already among the drafts, because work went on after it; otherwise they are
   * reported with the answer as a whole.
   */
  isNoted: boolean
  /** True if `answer` ended the turn rather than preceded a call. */
  isLastWord: boolean
  /** Index of the message with the latest tool result. */
  calledSince: number
  /** Name of the changing tool whose last call since the user's message failed; cleared when a changing call succeeds. */
  failedAct: string | undefined
  /** True if something was clicked or typed since the user's last message. */
  gestured: boolean
  /** A command that the assistant wrote as text instead of a tool call, while its output is missing. */
  written: WrittenCommand | undefined
  /** What the assistant said it would do later. */
  readonly commitments: Commitment[]
  /** Indexes of messages with calls that the user rejected. */
  readonly turnedDown: Set<number>
  /** Figures said to be no longer valid and ids of background commands that have ended, each with the message index. */
  readonly voided: Map<string, number>
  /** Statements in which the assistant corrected figures. */
  readonly corrections: { readonly text: string; readonly at: number }[]
  /** The written command whose output came last. */
  answeredCommand: WrittenCommand | undefined
  /** How all outputs so far begin, with an empty head if they differ; undefined before the first. */
  outputForm: OutputForm | undefined
}

type WrittenCommand = { readonly command: string; readonly deed: CallDeed; readonly doing: MessagePosition }

/**
 * Notes worth keeping of a transcript, found in one pass and without a model, in order of position: the user's words, what was done and
 * how it ended, files, where the work stopped, and records of what tools returned. The user's words are verbatim; what is quoted from a
 * tool is one line or value, and only if it does not try to instruct the reader. The file is long because one pass with one state handles
 * all kinds of parts; the files beside it decide what each kind is worth.
 */
export const notesOf = (messages: Transcript, options: NotesOptions = {}): readonly Note[] =>
  runSteps(noteSteps(messages, options))

/** Notes of recent transcripts: the same messages are flushed to memory and compacted within one call. */
const notesCache = createRecall<{ readonly notes: readonly Note[]; readonly limit: number }>()

/** Same as `notesOf`, yielding after each message. */
export function* noteSteps(messages: Transcript, { limit = maxNotes }: NotesOptions = {}): Steps<readonly Note[]> {
  const known = notesCache.find(messages, (made) => made.limit === limit)
  if (known !== undefined && known.common === messages.length && known.of.length === messages.length)
    return known.made.notes
  const notes = yield* readNotes(messages, limit)
  notesCache.keep(messages, { notes, limit })
  return notes
}

const inputsOf = (part: Message["parts"][number]): readonly unknown[] => (part.type === "tool-call" ? [part.input] : [])

const createNotesState = (home: string | undefined): NotesState => ({
  home,
  work: createWork(),
  drafts: [],
  talk: createUserTalk(),
  values: createValues(),
  open: new Map(),
  running: new Map(),
  results: [],
  page: "",
  worked: false,
  answer: undefined,
  isNoted: false,
  isLastWord: false,
  before: undefined,
  offered: undefined,
  agreed: undefined,
  isBrief: false,
  calledSince: -1,
  failedAct: undefined,
  gestured: false,
  written: undefined,
  commitments: [],
  turnedDown: new Set(),
  voided: new Map(),
  corrections: [],
  answeredCommand: undefined,
  outputForm: undefined,
})

/**
 * Reading state after a prefix of a transcript. Whoever continues from it removes it from the cache, so that two readers never write to
 * the same state.
 */
type SavedState = { reading: NotesState | undefined; readonly inText: boolean }
const savedStates = createRecall<SavedState>()

/** Reads a transcript before its notes are requested, so that only later messages have to be read then. */
export function* readAhead(messages: Transcript): Steps<void> {
  yield* readMessages(messages)
}

/** Reads all messages, starting where an earlier reading of the same messages stopped. */
function* readMessages(messages: Transcript): Steps<NotesState> {
  const home = homeOf(messages.flatMap(({ parts }) => parts.flatMap(inputsOf)))
  const inText = actsInText(messages)
  const known = savedStates.find(messages, (one) => one.reading?.home === home && one.inText === inText)
  const isBegun = known !== undefined && known.common === known.of.length
  const reading = (isBegun ? known.made.reading : undefined) ?? createNotesState(home)
  if (isBegun) known.made.reading = undefined
  for (const [at, message] of messages.entries()) {
    if (isBegun && at < known.common) continue
    readMessage(reading, message, at, inText)
    yield
  }
  savedStates.keep(messages, { reading, inText })
  return reading
}

function* readNotes(messages: Transcript, limit: number): Steps<readonly Note[]> {
  const reading = yield* readMessages(messages)
  const { open, answer, talk } = reading
  // The state is reused for the next message, so what holds only until then goes into copies.
  const work = open.size === 0 ? reading.work : copyOf(reading.work)
  const drafts = [...reading.drafts]
  for (const { deed, doing } of open.values()) recordCall(work, deed, undefined, doing)
  drafts.push(...runningDrafts(reading.running))
  const isOpen = open.size > 0 || reading.written !== undefined
  if (answer !== undefined) {
    if (!reading.isNoted) drafts.push(...thoughtDrafts(answer))
    const isWritten = reading.answeredCommand?.doing.at === answer.at
    if (reading.gestured) drafts.push(...confirmedDrafts(answer))
    const carriedOut = (reading.calledSince > answer.at || isWritten) && !isOpen
    drafts.push(...lastDrafts(answer, { carriedOut, isTold: isWritten }))
  }
  drafts.push(...replyContextDrafts({ ...reading, work }))
  // An output means little without the command that produced it.
  const last = reading.answeredCommand
  if (last !== undefined && last.doing.at === messages.length - 2) drafts.push(lastCommandDraft(last))
  const namedSince = (name: string, at: number): boolean =>
    messages.slice(at + 1).some((message) => names(message, name))
  const passed = (value: string, at: number): boolean =>
    messages
      .slice(at + 1)
      .some(({ parts }) => parts.some((part) => part.type === "tool-call" && textOf(part).includes(value)))
  drafts.push(...commitmentDrafts(reading.commitments, { named: namedSince, passed, end: messages.length }))
  const heard = talk.map(({ at }) => at)
  const isLeft = isListLeft(work.list, heard, messages.length)
  const said = userNotes(talk, {
    asked: answer !== undefined && waitsForUser(answer) && reading.answeredCommand?.doing.at !== answer.at,
    ended: isEnded(messages) && reading.written === undefined,
    namedSince,
    ...present({ openSince: isLeft ? undefined : openSince(work.list) }),
  })
  const turnedDown = new Set([...reading.turnedDown, ...objectedTo(talk)])
  const states = latestStates(reading.values)
  const changed = work.changes.at(-1)?.at ?? -1
  const { voided, corrections } = reading
  const refuted = { turnedDown, voided, acts: actsOf(work), states, changed, corrections }
  return worthiest(
    [
      ...said,
      ...latestThoughts(drafts, talk, refuted),
      ...workDrafts(work, { newest: newestRequest(talk), isLeft, states }),
      ...valueDrafts(reading.values, { end: messages.length, turnedDown, files: eachFile(work.files) }).filter(
        (one) => !isQuoted(one) || !isRefuted(one, refuted),
      ),
    ],
    messages.length,
    Math.min(limit, maxNotes),
  )
}

/** True if the draft quotes a sentence of the assistant that states a value. */
const isQuoted = ({ text }: NoteDraft): boolean => text.startsWith("“")

const actsOf = ({ runs }: Work): readonly Run[] =>
  [...runs.values()].filter(({ kind, outcome }) => /^(?:act|command)$/.test(kind) && outcome?.failed === false)

const lastCommandDraft = ({ command, doing: { at, source } }: WrittenCommand): NoteDraft => ({
  kind: "current",
  text: `The latest output answers ${code(oneLine(command, maxLineLength))}`,
  ...{ sources: [source], channel: "assistant", at, worth: 7 },
})

/** True if the assistant says this name or passes it to a tool. */
const names = ({ role, parts }: Message, name: string): boolean =>
  role === "assistant" && parts.some((part) => part.type !== "reasoning" && textOf(part).includes(name))

/** True if the last message is the assistant's and calls no tool. */
const isEnded = (messages: Transcript): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && !callsTool(last)
}

const callsTool = ({ parts }: Message): boolean => parts.some(({ type }) => type === "tool-call")

function readMessage(reading: NotesState, message: Message, at: number, inText: boolean): void {
  const doing: MessagePosition = { at, source: message.id }
  for (const part of message.parts) {
    if (part.type === "tool-call") readCall(reading, part, doing)
    if (part.type === "tool-result") readResult(reading, part, doing)
  }
  if (message.role === "assistant") readAnswer(reading, saidBy(message), doing, inText, callsTool(message))
  if (message.role !== "user") return
  for (const part of message.parts)
    if (part.type === "text" && part.text.startsWith(ownDigest)) reading.drafts.push(...changedDigest(part.text, doing))
  const spoken = spokenIn(message)
  readNotices(reading, message, spoken, at)
  readUser(reading, spoken, doing)
}

/** Reads the harness's own notices, outside the user's words, about background commands and jobs. */
function readNotices(
  { running, work, voided, values }: NotesState,
  { parts }: Message,
  spoken: string,
  at: number,
): void {
  for (const part of parts) {
    if (part.type !== "text" || (part.text.trim() !== "" && spoken.includes(part.text.trim()))) continue
    if (isNoticeElement(part.text)) noteNoticedJobs(values, part.text, at)
    for (const { id, open, failed, line } of endedBy(running, part.text)) {
      recordCall(work, open.deed, { failed, sure: true, ...present({ line }) }, open.doing)
      voided.set(id, at)
    }
  }
}

/** Maximum number of lines kept of a digest that was edited or that an older version wrote. */
const maxChangedLines = 60
const changedDigestWorth = 12

/** Lines of a digest that can no longer be parsed: kept as remembered text that carries nobody's authority. */
function changedDigest(text: string, { at, source }: MessagePosition): readonly NoteDraft[] {
  const lines = text
    .split(/[\r\n]+/)
    .filter((line) => !line.startsWith("## ") && line !== digestHeading && line !== partsHeading)
    .map((line) => oneLine(withoutLineStart(line.replace(/<[^<>]{0,200}>/g, "")), maxLineLength))
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
  // Earlier lines of a digest are worth more.
  return [...new Set(lines)].slice(0, maxChangedLines).map((line, n): NoteDraft => {
    const worth = changedDigestWorth - n / 8
    return { kind: "reply", text: line, sources: [source], channel: "memory", at, worth }
  })
}

const callDeed = createPerObject(
  (call: ToolCallPart, home: string | undefined): CallDeed => inFolder(deedOf(call), call.input, home),
)

function readCall(reading: NotesState, call: ToolCallPart, doing: MessagePosition): void {
  const deed = withElement(callDeed(call, reading.home), call.input, reading.page)
  reading.worked = true
  if (deed.type === "said") {
    reading.answer = answerOf(deed.text, doing, reading.talk)
    reading.isNoted = false
    reading.isLastWord = true
    if (deed.asks) reading.open.set(pairKey(call), { call, deed, doing })
  } else {
    noteThoughts(reading)
    reading.open.set(pairKey(call), fetchedBy(reading.running, call) ?? { call, deed, doing })
  }
  readCallValues(reading.values, call, deed, doing)
}

function readResult(reading: NotesState, result: ToolResultPart, doing: MessagePosition): void {
  const open = reading.open.get(pairKey(result))
  if (open === undefined) return
  reading.open.delete(pairKey(result))
  if (open.deed.type === "task") {
    if (result.failed !== true) recordTask(reading.work.list, open.deed.change, taskId(result), doing)
    return
  }
  if (open.deed.type === "said") {
    readUsersAnswer(reading, open, open.deed.text, result)
    return
  }
  if (goesOn(reading.running, open, result)) return
  const ended = lookInto(reading.running, open, result)
  for (const { id, open: one } of ended) {
    recordCall(reading.work, one.deed, { failed: false, sure: true, line: "stopped" }, one.doing)
    reading.voided.set(id, doing.at)
  }
  if (ended.length > 0 && open.deed.type === "call") return
  const read = withMade(reading.results, callOutcome(result, open.deed), result, open.deed)
  reading.results.push(result)
  if (read.rejected === true) reading.turnedDown.add(open.doing.at)
  noteJobs(reading.values, open, result, doing)
  if (isScreen(result)) reading.page = screenText(result)
  if (!read.failed) readWritten(reading.values, open)
  const isRecorded = !read.failed && readValues(reading.values, open, result, doing)
  reading.calledSince = doing.at
  reading.isLastWord = false
  if (open.deed.type === "call" && open.deed.changes === "little") reading.gestured = true
  if (isChange(open.deed)) reading.failedAct = read.failed ? open.call.tool : undefined
  // If a record has the result, the call's line does not repeat it; what a call created is always reported with the call.
  const isQuoted =
    !(
      isRecorded &&
      isLookup(open.deed) &&
      read.isDone !== true &&
      !(hasUnknownEffect(open.deed) && namesNew(open.deed, read))
    ) &&
    (quotedOf(read) === undefined || !holdsSteering(result))
  const outcome = isQuoted ? read : { failed: read.failed, ...present({ sure: read.sure, isDone: read.isDone }) }
  recordCall(reading.work, open.deed, outcome, open.doing)
  if (quotedOf(outcome) !== undefined) citeResult(reading.work, open.deed, doing.source)
}

/** Records the user's answer to a question asked through a tool, if the result contains one. */
function readUsersAnswer(
  { work }: NotesState,
  { call, doing }: OpenCall,
  question: string,
  result: ToolResultPart,
): void {
  const text = screenText(result)
    .replace(/^User has answered your questions?:\s*/i, "")
    .replace(/\s*You can now continue[^.]{0,80}\.?\s*$/i, "")
    .replaceAll(`"${question}"=`, "")
    .replace(/<\/?\w{1,20}>/g, "")
  if (weightOf(text) < leastAnswer || onlyShown.test(text)) return
  const { tool, input } = call
  const deed: CallDeed = {
    type: "call",
    tool,
    text: `asked the user: ${oneLine(question, maxAsked)}`,
    input,
    changes: "yes",
  }
  recordCall(work, deed, { failed: result.failed === true, sure: true, value: oneLine(text, maxLineLength) }, doing)
}
/** Minimum number of letters and digits of an answer; a tool's mere confirmation that it showed the question does not count. */
const leastAnswer = 2
const onlyShown =
  /^\W*(?:ok(?:ay)?|done|sent|shown|displayed|message (?:sent|displayed|shown)|question (?:sent|asked)|waiting\b.{0,60}|null|true)\W*$/i
const maxAsked = 200

/** Returns the id that a result gives to an item of the agent's task list: "Task #7 created successfully". */
const taskId = (result: ToolResultPart): string | undefined =>
  /(?:#|\b(?:task|todo|id)\b["':= ]{1,4})(\d{1,6})\b/i.exec(screenText(result).slice(0, 200))?.[1]

/** The text of a result that its outcome repeats. */
const quotedOf = ({ line, value, begins }: Outcome): string | undefined => line ?? value ?? begins

const hasUnknownEffect = (deed: CallDeed): boolean => deed.type === "call" && deed.changes === "maybe"
const isLookup = (deed: CallDeed): boolean => deed.type === "call" && deed.changes !== "yes"

/** Adds the result's message to the sources of a run whose line quotes the result. */
function citeResult({ runs }: Work, deed: CallDeed, source: string): void {
  const key = deed.type === "command" ? deed.command : deed.type === "call" ? deed.text : undefined
  const run = key === undefined ? undefined : runs.get(`\`${key.replaceAll("`", "'")}\``)
  if (run !== undefined) runs.set(run.text, { ...run, sources: [...run.sources, source] })
}

/** Drafts the findings of a statement once a call or another statement follows it. */
function noteThoughts(reading: NotesState): void {
  if (reading.answer === undefined || reading.isNoted) return
  reading.drafts.push(...thoughtDrafts(reading.answer))
  reading.isNoted = true
}

function readAnswer(reading: NotesState, text: string, doing: MessagePosition, inText: boolean, goesOn: boolean): void {
  if (text.trim() === "") return
  mention(reading.values, text, doing.at, "assistant")
  noteThoughts(reading)
  reading.answer = answerOf(text, doing, reading.talk)
  for (const figure of figuresVoided(reading.answer.sentences)) reading.voided.set(figure, doing.at)
  if (isCorrection(text)) reading.corrections.push({ text, at: doing.at })
  reading.isNoted = goesOn || inText
  reading.isLastWord = !goesOn
  if (reading.isNoted) reading.drafts.push(...thoughtDrafts(reading.answer))
  readStatements(reading.values, text, doing)
  const items = checkboxesIn(text)
  if (items.length > 0) keepTasks(reading.work.list, items, doing)
  const command = inText ? writtenCommand(text) : undefined
  reading.written =
    command === undefined || ends.test(command) ? undefined : { command, deed: writtenDeed(command), doing }
}

/** A command that ends the work: the next user message comes from a person. */
const ends = /^(?:submit|exit|quit|finish|done)\s*$/i

function readUser(reading: NotesState, text: string, doing: MessagePosition): void {
  const { written, answer } = reading
  if (text === "") return
  const form = written === undefined ? undefined : formAfter(reading.outputForm, text)
  if (written !== undefined && !looksSpoken(text) && form !== "broken") {
    reading.outputForm = form
    recordCall(reading.work, written.deed, outcomeOf(textEnds(text), written.deed.type === "command"), written.doing)
    reading.written = undefined
    reading.answeredCommand = written
    return
  }
  mention(reading.values, text, doing.at, "other")
  for (const figure of text.length <= maxSaid ? figuresVoided(sentencesOf(text)) : [])
    reading.voided.set(figure, doing.at)
  const named = answer === undefined ? undefined : namedFrom(answer, text)
  const question =
    answer === undefined
      ? undefined
      : (named ?? chosenFrom(answer, text) ?? questionIn(answer) ?? agreedTo(text, answer))
  const asked =
    answer !== undefined && question !== undefined
      ? { asked: { text: question, source: answer.source, isNamed: named !== undefined } }
      : {}
  const waits = answer !== undefined && (questionIn(answer) !== undefined || waitsForUser(answer))
  const before = reading.talk.at(-1)
  if (answer !== undefined && before !== undefined && (declines(answer) || commitmentsIn(answer).length > 0))
    reading.talk.splice(-1, 1, { ...before, isUnsettled: true })
  const isServed = reading.worked && reading.isLastWord && !waits && reading.failedAct === undefined
  reading.talk.push({ text, ...doing, ...asked, isServed, answers: waits })
  if (answer !== undefined && reading.isLastWord) {
    reading.commitments.push(...commitmentsIn(answer))
    if (reading.gestured) reading.drafts.push(...confirmedDrafts(answer))
  }
  reading.drafts.push(...previousConclusion(reading))
  if (answer !== undefined && (waits || byNumber.test(text)) && offersChoice(answer)) reading.offered = answer
  if (answer !== undefined && reading.isLastWord && accepts(text) && proposes(answer))
    reading.agreed = { proposal: answer, reply: text, at: doing.at }
  reading.before = answer === undefined || !reading.isLastWord ? undefined : { answer, waits, isNoted: reading.isNoted }
  reading.isBrief = needsQuestion(text)
  reading.answer = undefined
  reading.isLastWord = false
  reading.worked = false
  reading.failedAct = undefined
  reading.gestured = false
}

/** Maximum length of a message searched for figures that are no longer valid: a longer one is a paste, not the user's words. */
const maxSaid = 1_500
