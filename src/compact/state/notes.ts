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
  tableDrafts,
  thoughtDrafts,
} from "./assistant-findings.ts"
import {
  agreedDraft,
  agreedTo,
  answeredDraft,
  chosenFrom,
  conclusionDrafts,
  confirmedDrafts,
  declines,
  isShort,
  lastDrafts,
  namedFrom,
  needsQuestion,
  offeredDraft,
  offersChoice,
  proposes,
  questionIn,
  toldDrafts,
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
import { textEnds } from "./result-text.ts"
import { endedBy, fetchedBy, goesOn, lookInto, type RunningCommands, runningDrafts } from "./running-commands.ts"
import { ownDigest, spokenIn } from "./spoken-text.ts"
import { checkboxesIn, isListLeft, keepTasks, openSince, recordTask } from "./task-list.ts"
import { accepts, createUserTalk, newestRequest, objectedTo, type UserTalk, userNotes } from "./user-notes.ts"
import {
  createValues,
  holdsSteering,
  isChange,
  latestStates,
  mention,
  noteJobs,
  type OpenCall,
  readCallValues,
  readStatements,
  readValues,
  readWritten,
  type Values,
  valueDrafts,
} from "./value-notes.ts"
import { copyOf, createWork, type Doing, namesNew, type Run, recordCall, type Work } from "./work.ts"
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
  /** Fewer notes than the room allows. */
  readonly limit?: number
}

/** Where the reading stands. */
type Reading = {
  /** The folder that holds all others in which commands ran. */
  readonly home: string | undefined
  readonly work: Work
  readonly drafts: NoteDraft[]
  readonly talk: UserTalk
  readonly values: Values
  /** Calls whose result did not come yet. */
  readonly open: Map<string, OpenCall>
  readonly running: RunningCommands
  /** The results so far. */
  readonly results: ToolResultPart[]
  /** The screen or page that was shown last: calls name its elements by ids. */
  page: string
  /** Was a tool called since the user spoke? */
  worked: boolean
  /** What the assistant said last and nobody answered. */
  answer: AssistantStatement | undefined
  /** Is it written down what the assistant found, since it went on to work? Otherwise that is told with the answer as a whole. */
  isNoted: boolean
  /** Did the assistant end its turn with it, rather than say it on the way to a call? */
  isLastWord: boolean
  /** What the user's latest words go on from, and whether it waited for them. */
  before: { readonly answer: AssistantStatement; readonly waits: boolean; readonly isNoted: boolean } | undefined
  /** The list that the user was last asked to choose from. */
  offered: AssistantStatement | undefined
  /** What the user last said yes to, and in which words. */
  agreed: { readonly proposal: AssistantStatement; readonly reply: string; readonly at: number } | undefined
  /** Are the latest words so few that they say nothing alone? */
  isBrief: boolean
  /** Where the last call stands that has its result. */
  calledSince: number
  /** Did something that was to change the world fail since the user spoke, and nothing like it went well after that? */
  failedAct: string | undefined
  /** Something was clicked or typed since the user spoke. */
  gestured: boolean
  /** A command that was written rather than called. */
  written: WrittenCommand | undefined
  /** What the assistant said it would do later. */
  readonly commitments: Commitment[]
  /** Where calls stand that the user did not let happen. */
  readonly turnedDown: Set<number>
  /** Figures that hold no more, and where that was said. */
  readonly voided: Map<string, number>
  /** What the assistant said to correct figures. */
  readonly corrections: { readonly text: string; readonly at: number }[]
  /** The one whose output came last. */
  answeredCommand: WrittenCommand | undefined
  /** How all outputs so far begin; no form if they begin in several ways. */
  outputForm: OutputForm | undefined
}

type WrittenCommand = { readonly command: string; readonly deed: CallDeed; readonly doing: Doing }

/**
 * What is worth knowing of a transcript, found in one pass and without a model, in order of position: the user's words, what was done and
 * how it ended, files, where it stopped, and records of what tools said. Words of the user are his own; what is quoted of a tool is a line
 * or a value and stands in a note only if it steers nobody. The file is long because one reading with one state goes through all kinds of
 * parts: what each kind is worth stands in files of its own.
 */
export const notesOf = (messages: Transcript, options: NotesOptions = {}): readonly Note[] =>
  runSteps(noteSteps(messages, options))

/** What was noted of transcripts: the same messages are flushed to memory and compacted within one call. */
const noted = createRecall<{ readonly notes: readonly Note[]; readonly limit: number }>()

/** The same, message by message. */
export function* noteSteps(messages: Transcript, { limit = maxNotes }: NotesOptions = {}): Steps<readonly Note[]> {
  const known = noted.find(messages, (made) => made.limit === limit)
  if (known !== undefined && known.common === messages.length && known.of.length === messages.length)
    return known.made.notes
  const notes = yield* readNotes(messages, limit)
  noted.keep(messages, { notes, limit })
  return notes
}

const inputOf = (part: Message["parts"][number]): readonly unknown[] => (part.type === "tool-call" ? [part.input] : [])

const beginReading = (home: string | undefined): Reading => ({
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

/** A reading as far as it has come. Whoever goes on with it takes it: two readers would write into one. */
type Begun = { reading: Reading | undefined; readonly inText: boolean }
const begun = createRecall<Begun>()

/** Read a transcript ahead of the time at which its notes are asked for: then only what is new is read. */
export function* readAhead(messages: Transcript): Steps<void> {
  yield* readOn(messages)
}

/** Read all messages, from where an earlier reading of the same ones stopped. */
function* readOn(messages: Transcript): Steps<Reading> {
  const home = homeOf(messages.flatMap(({ parts }) => parts.flatMap(inputOf)))
  const inText = actsInText(messages)
  const known = begun.find(messages, (one) => one.reading?.home === home && one.inText === inText)
  const isBegun = known !== undefined && known.common === known.of.length
  const reading = (isBegun ? known.made.reading : undefined) ?? beginReading(home)
  if (isBegun) known.made.reading = undefined
  for (const [at, message] of messages.entries()) {
    if (isBegun && at < known.common) continue
    readMessage(reading, message, at, inText)
    yield
  }
  begun.keep(messages, { reading, inText })
  return reading
}

function* readNotes(messages: Transcript, limit: number): Steps<readonly Note[]> {
  const reading = yield* readOn(messages)
  const { open, answer, talk } = reading
  // The reading may go on with the next message: what is only so far is written elsewhere.
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
  drafts.push(...beforeDrafts({ ...reading, work }))
  // An output tells little to whoever does not see the command before it.
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

/** Is it a sentence of the assistant that states a value? */
const isQuoted = ({ text }: NoteDraft): boolean => text.startsWith("“")

const actsOf = ({ runs }: Work): readonly Run[] =>
  [...runs.values()].filter(({ kind, outcome }) => /^(?:act|command)$/.test(kind) && outcome?.failed === false)

const lastCommandDraft = ({ command, doing: { at, source } }: WrittenCommand): NoteDraft => ({
  kind: "current",
  text: `The latest output answers ${code(oneLine(command, maxLineLength))}`,
  ...{ sources: [source], channel: "assistant", at, worth: 7 },
})

/** Does the assistant say this, or pass it to a tool? */
const names = ({ role, parts }: Message, name: string): boolean =>
  role === "assistant" && parts.some((part) => part.type !== "reasoning" && textOf(part).includes(name))

/** Did the assistant say its last word, without a call behind it? */
const isEnded = (messages: Transcript): boolean => {
  const last = messages.at(-1)
  return last?.role === "assistant" && !callsTool(last)
}

const callsTool = ({ parts }: Message): boolean => parts.some(({ type }) => type === "tool-call")

function readMessage(reading: Reading, message: Message, at: number, inText: boolean): void {
  const doing: Doing = { at, source: message.id }
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

/** What a harness says beside the user's words of commands that it runs in the background. */
function readNotices({ running, work, voided }: Reading, { parts }: Message, spoken: string, at: number): void {
  if (running.size === 0) return
  for (const part of parts) {
    if (part.type !== "text" || (part.text.trim() !== "" && spoken.includes(part.text.trim()))) continue
    for (const { id, open, failed, line } of endedBy(running, part.text)) {
      recordCall(work, open.deed, { failed, sure: true, ...present({ line }) }, open.doing)
      voided.set(id, at)
    }
  }
}

/** Lines carried of a digest that somebody changed, or that an older version wrote. */
const maxChangedLines = 60
const changedDigestWorth = 12

/** A digest that does not read as one of ours any more: what it says is remembered, and nobody's word. */
function changedDigest(text: string, { at, source }: Doing): readonly NoteDraft[] {
  const lines = text
    .split(/[\r\n]+/)
    .filter((line) => !line.startsWith("## ") && line !== digestHeading && line !== partsHeading)
    .map((line) => oneLine(withoutLineStart(line.replace(/<[^<>]{0,200}>/g, "")), maxLineLength))
    .filter((line) => /[\p{L}\p{N}]/u.test(line))
  // What a digest says first gives way last.
  return [...new Set(lines)].slice(0, maxChangedLines).map((line, n): NoteDraft => {
    const worth = changedDigestWorth - n / 8
    return { kind: "reply", text: line, sources: [source], channel: "memory", at, worth }
  })
}

const callDeed = createPerObject(
  (call: ToolCallPart, home: string | undefined): CallDeed => inFolder(deedOf(call), call.input, home),
)

function readCall(reading: Reading, call: ToolCallPart, doing: Doing): void {
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

function readResult(reading: Reading, result: ToolResultPart, doing: Doing): void {
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
  // What a record says need not be said of the call that asked for it; what a call made is said of it.
  const isQuoted =
    !(
      isRecorded &&
      isLookup(open.deed) &&
      read.isDone !== true &&
      !(isUnnamed(open.deed) && namesNew(open.deed, read))
    ) &&
    (quotedOf(read) === undefined || !holdsSteering(result))
  const outcome = isQuoted ? read : { failed: read.failed, ...present({ sure: read.sure, isDone: read.isDone }) }
  recordCall(reading.work, open.deed, outcome, open.doing)
  if (quotedOf(outcome) !== undefined) citeResult(reading.work, open.deed, doing.source)
}

/** What the user answered to a question that a tool asked, if the tool brought the answer. */
function readUsersAnswer({ work }: Reading, { call, doing }: OpenCall, question: string, result: ToolResultPart): void {
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
/** An answer has so many letters at least, and is more than the word of a tool that it has shown the question. */
const leastAnswer = 2
const onlyShown =
  /^\W*(?:ok(?:ay)?|done|sent|shown|displayed|message (?:sent|displayed|shown)|question (?:sent|asked)|waiting\b.{0,60}|null|true)\W*$/i
const maxAsked = 200

/** The id that a result gives an item of the agent's list: "Task #7 created successfully". */
const taskId = (result: ToolResultPart): string | undefined =>
  /(?:#|\b(?:task|todo|id)\b["':= ]{1,4})(\d{1,6})\b/i.exec(screenText(result).slice(0, 200))?.[1]

/** What an outcome repeats of the result. */
const quotedOf = ({ line, value, begins }: Outcome): string | undefined => line ?? value ?? begins

const isUnnamed = (deed: CallDeed): boolean => deed.type === "call" && deed.changes === "maybe"
const isLookup = (deed: CallDeed): boolean => deed.type === "call" && deed.changes !== "yes"

/** A line that quotes an output rests on the message that holds it. */
function citeResult({ runs }: Work, deed: CallDeed, source: string): void {
  const key = deed.type === "command" ? deed.command : deed.type === "call" ? deed.text : undefined
  const run = key === undefined ? undefined : runs.get(`\`${key.replaceAll("`", "'")}\``)
  if (run !== undefined) runs.set(run.text, { ...run, sources: [...run.sources, source] })
}

/** What a call or more of the assistant's words follow was said on the way. */
function noteThoughts(reading: Reading): void {
  if (reading.answer === undefined || reading.isNoted) return
  reading.drafts.push(...thoughtDrafts(reading.answer))
  reading.isNoted = true
}

function readAnswer(reading: Reading, text: string, doing: Doing, inText: boolean, goesOn: boolean): void {
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

/** A command that ends the work: who speaks next is a person. */
const ends = /^(?:submit|exit|quit|finish|done)\s*$/i

function readUser(reading: Reading, text: string, doing: Doing): void {
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
  settle(reading)
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

/** A longer message is a paste: what holds no more in it is not said by the user. */
const maxSaid = 1_500

/** Once the user has spoken again, what was said before the words before that is one conclusion among others. */
function settle({ before, drafts }: Reading): void {
  if (before !== undefined) drafts.push(...conclusionDrafts(before.answer, before.isNoted))
}

/** What the user's latest words go on from. */
function beforeDrafts(reading: Reading): readonly NoteDraft[] {
  const { before, isBrief, offered } = reading
  const listed = isBrief && offered !== undefined && offered === before?.answer ? [] : choiceDrafts(reading)
  const choice = [...listed, ...agreedDrafts(reading)]
  if (before === undefined) return choice
  const { answer, waits, isNoted } = before
  if (waits) return [...(isBrief ? [answeredDraft(answer)] : []), ...choice, ...conclusionDrafts(answer, isNoted)]
  const thoughts = isNoted ? [] : isShort(answer) ? tableDrafts(answer) : thoughtDrafts(answer)
  return [...choice, ...toldDrafts(answer), ...thoughts]
}

const namedWithin = 2
const ofList =
  /\b(?:number|option|no\.|nr\.|nummer|variante?|opci[oó]n|opção|opzione|optie|possibility|choice|choix)\s(\d{1,2}|[A-H])\b(?! (?:of|items?|pieces?) (?!your\b|the list|that list))|\b(\d{1,2}|[A-H]) (?:of|on|from|in) (?:your|the|that) list\b/i

/** What the user was asked to choose from, until something was done about it: one of a list may have been chosen some words ago. */
function choiceDrafts({ offered, work, talk }: Reading): readonly NoteDraft[] {
  if (offered === undefined) return []
  // "Number 4 of your list": who speaks of it again means it, however long ago it was.
  const later = talk.filter(({ at }) => at > offered.at)
  const named = later.slice(-namedWithin).flatMap(({ text }) => ofList.exec(text)?.slice(1).find(Boolean) ?? [])[0]
  if (named !== undefined) return [offeredDraft(offered, named)]
  const reply = talk.find(({ at }) => at > offered.at)?.text ?? ""
  const isByNumber = byNumber.test(reply)
  const isOld = (talk.at(-1)?.at ?? 0) - offered.at > (isByNumber ? recentChoice : recentOffer)
  const isActedOn =
    [...work.runs.values()].some(({ kind, at }) => kind === "act" && at > offered.at) ||
    [...work.files.values()].some(({ at, change }) => change !== undefined && at > offered.at)
  if (isOld || (isActedOn && !isByNumber && !namesNumber.test(reply))) return []
  const draft = offeredDraft(offered, reply)
  // Once it was acted on, it only says what the numbers in the user's words stood for.
  return [isActedOn ? { ...draft, kind: "finding", worth: numbersWorth } : draft]
}

/** What the user said yes to before the latest words, until something was done about it. */
function agreedDrafts({ agreed, before, offered, work, talk }: Reading): readonly NoteDraft[] {
  if (agreed === undefined || agreed.proposal === before?.answer || agreed.proposal === offered) return []
  const isOld = (talk.at(-1)?.at ?? 0) - agreed.at > recentOffer
  const isActedOn = [...work.runs.values()].some(({ kind, at }) => kind === "act" && at > agreed.at)
  return isOld || isActedOn ? [] : [agreedDraft(agreed.proposal, agreed.reply)]
}

const numbersWorth = 5
/** "Yes, stop it, fix 1; leave 3 as it is". */
const namesNumber = /(?<![\d.,:/-])[1-9](?![\d.,:/%-]|\s?(?:h|min|s|days?|x)(?!\p{L}))/u

/** Messages after which a choice is one that the user let go. */
const recentOffer = 12
/** The same where the user named numbers of the list. */
const recentChoice = 40
/** Words that mean nothing to whoever does not see the list. */
const byNumber = /^\W{0,3}(?:\p{L}{1,8}\s)?(?:\d{1,2}|[a-h])(?=[\s,.;:)!]|$)/iu
