import { anyOf } from "../../language/word-lists.ts"
import type { ToolCallPart, ToolResultPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createPerObject, createRecent } from "../../message/recall.ts"
import { scanText } from "../gate/scan.ts"
import { callNature } from "../stages/tool-kind.ts"
import { oneLine } from "../summary/summary.ts"
import { isAnnouncement, partLabels } from "./assistant-findings.ts"
import type { CallDeed } from "./call-deed.ts"
import type { FileDeed } from "./file-change.ts"
import type { FileState } from "./file-states.ts"
import { distinct, type NoteDraft } from "./note-draft.ts"
import { printedByCommand } from "./outcome-of.ts"
import { isScreen } from "./page-elements.ts"
import { type FactRecord, joinRecords, recordsIn, recordText } from "./records.ts"
import { parseJson, resultText, withoutEnvelope } from "./result-text.ts"
import {
  addValues,
  eachWritten,
  programValues,
  type SourceState,
  type SourceValue,
  settingsIn,
  sourceRecord,
  sourceTexts,
  tableName,
  tableRows,
} from "./source-values.ts"
import {
  printedIn,
  printedInFile,
  readValueStatement,
  replaces,
  statementLine,
  toldIn,
  type ValueStatement,
} from "./value-statements.ts"
import lists from "./value-words.json" with { type: "json" }
import type { MessagePosition } from "./work.ts"

/**
 * The exact values read so far, each with its owner: records in tool results, settings in written files, and sentences that state a value.
 */
export type Values = {
  readonly records: Map<string, RecordState>
  /** Words that someone said or passed to a tool, with the message index: a record that one of them names is relevant to the work. */
  readonly mentioned: Map<string, number>
  /** Those of them that the user said or a call passed: they tell which items of a list that the assistant read out were chosen. */
  readonly chosen: Set<string>
  /** Values set in written files and named in programs. */
  readonly inSource: Map<string, SourceState>
  /** Sentences of the assistant and of tools that state values, by those values. */
  readonly statements: Map<string, StatementState>
  /** The states of a queue's jobs when they were last listed, by their numbers. */
  readonly jobs: Map<string, KnownState>
}

export const createValues = (): Values => ({
  records: new Map(),
  mentioned: new Map(),
  chosen: new Set(),
  inSource: new Map(),
  statements: new Map(),
  jobs: new Map(),
})

export type OpenCall = { readonly call: ToolCallPart; readonly deed: CallDeed; readonly doing: MessagePosition }

type RecordState = {
  readonly record: FactRecord
  readonly at: number
  readonly sources: readonly string[]
  /** True if it was seen only as one row of a longer list. */
  readonly listed: boolean
  /** Tools that changed it since it was read, in order. */
  readonly changedBy?: readonly string[]
}
type TranscriptContext = {
  /** Number of messages in the transcript. */
  readonly end: number
  /** Indexes of assistant messages that the user rejected. */
  readonly turnedDown: ReadonlySet<number>
  readonly files: ReadonlyMap<string, FileState>
}

/** Drafts of every value with its owner. */
export const valueDrafts = (values: Values, { end, turnedDown, files }: TranscriptContext): readonly NoteDraft[] => [
  ...recordDrafts(values),
  ...sourceDrafts(values.inSource, end, files),
  ...statementDrafts(values, turnedDown),
]

type KnownState = { readonly state: string; readonly at: number }

/** Returns the state of each thing when it was last read, with the message index: what an act began may have ended since. */
export function latestStates({ records, jobs }: Values): ReadonlyMap<string, KnownState> {
  const states = new Map<string, KnownState>(jobs)
  for (const { record, at } of records.values()) {
    const [id = ""] = withoutDay(record.name).split(" ").slice(-1)
    const [state, ...others] = record.fields.find(({ key }) => stateKey.test(key))?.pieces ?? []
    const isNewest = (states.get(id)?.at ?? -1) <= at
    if (state !== undefined && others.length === 0 && /\d/.test(id) && isNewest) states.set(id, { state, at })
  }
  return states
}

/** A row of a job queue's table: the number of a job, possibly of one part of it, and its state; and a row with a state alone. */
const jobState = anyOf(lists.jobStates).replace("?:", "")
/** A number anywhere in a row, or a name such as `bf-7f31a0` at its beginning. */
const jobName = "(\\d{4,12}|(?<=^[ \\t]{0,8})[a-z]{1,12}-(?=[\\w-]{0,30}\\d)[\\w-]{4,30}?)"
const jobRow = new RegExp(
  `(?<![\\w.-])${jobName}((?:_\\[?[\\d,%-]+\\]?)?)[ \\t|]+(?:[^\\s|]+[ \\t|]+){0,3}?${jobState}(?![\\w-])`,
  "gm",
)
const anyState = new RegExp(jobState)
const stateRow = new RegExp(`^[ \\t]{0,20}(?:(\\d{1,6})[ \\t]+)?${jobState}(?![\\w-])`, "gm")

/** Records the states of jobs that a command lists or asks for; for a job with several parts, how many are in each state. */
export function noteJobs({ jobs }: Values, { deed }: OpenCall, result: ToolResultPart, { at }: MessagePosition): void {
  if (deed.type === "call") for (const [id, state] of eventStates(resultText(result).whole)) jobs.set(id, { state, at })
  if (deed.type !== "command") return
  const { head, whole = head } = printedByCommand(resultText(result))
  if (!anyState.test(whole)) return
  const found = new Map<string, Map<string, string>>()
  for (const [, id = "", member = "", state = ""] of whole.matchAll(jobRow))
    found.set(id, (found.get(id) ?? new Map<string, string>()).set(member, state))
  for (const [id, members] of found) {
    const counts = [...Map.groupBy(members.values(), (state) => state)].map(([state, all]) => `${all.length} ${state}`)
    jobs.set(id, { state: members.size === 1 ? (members.values().next().value ?? "") : counts.join(", "), at })
  }
  const [only, ...others] = found.size > 0 ? [] : new Set(deed.command.match(/(?<![\w.-])\d{5,12}(?![\w.-])/g))
  if (only === undefined || others.length > 0) return
  const rows = [...whole.matchAll(stateRow)].map(([, count, state]) =>
    count === undefined ? state : `${count} ${state}`,
  )
  if (rows.length > 0) jobs.set(only, { state: rows.slice(0, 4).join(", "), at })
}

/** Records the states that a harness's notice reports: `Job 48240_[0-15] (sweep.py) on cpu: 14 COMPLETED, 2 TIMEOUT`. */
export function noteNoticedJobs({ jobs }: Values, notice: string, at: number): void {
  for (const line of notice.slice(0, maxNotice).split("\n")) {
    const named = [...line.matchAll(noticedJob)]
    for (const [n, { 1: id = "", index, 0: whole }] of named.entries()) {
      const told = line.slice(index + whole.length, named[n + 1]?.index ?? line.length)
      if (notYet.test(told)) continue
      const states = [...told.matchAll(eachState)].map(([, count, state]) =>
        count === undefined ? state : `${count} ${state}`,
      )
      if (states.length > 0) jobs.set(id, { state: states.slice(0, 4).join(", "), at })
    }
  }
}
const noticedJob =
  /(?<![\w-])(?:job|task|build|run|pipeline)[ :#]{1,3}((?=[\w-]{0,40}\d)[\w-]{3,40}?)(?:_\[[^\]\n]{1,40}\])?(?![\w-])/gi
/** Says that the state is another one's, or not reached. */
const notYet = /\b(?:not|never|until|depends|waiting|after|unless|if)\b/i
const eachState = new RegExp(`(?<![\\w-])(?:(\\d{1,6}) )?${jobState}(?![\\w-])`, "g")
const maxNotice = 4_000

/**
 * Returns the state of each thing that the events of an answer name by a single id, such as
 * `{"event": "PARTNER_DECLINED", "request_id": "RQ-5518"}`. The event with the latest time counts; without times, the last one.
 */
function eventStates(answer = ""): ReadonlyMap<string, string> {
  const states = new Map<string, { readonly state: string; readonly time: string }>()
  if (!/^\s*[[{]/.test(answer) || !answer.includes('"event"')) return new Map()
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== "object" || value === null || depth > maxEventDepth) return
    const entries: readonly (readonly [string, unknown])[] = Object.entries(value).slice(0, maxEvents)
    const ids = entries.filter(([key, own]) => eventId.test(key) && typeof own === "string" && /\d/.test(own))
    const [told] = entries.flatMap(([key, own]) => (key === "event" && typeof own === "string" ? [own] : []))
    const id = ids[0]?.[1]
    if (told !== undefined && ids.length === 1 && typeof id === "string" && eventWord.test(told)) {
      const textUnder = (wanted: RegExp): string =>
        entries.flatMap(([key, own]) => (wanted.test(key) && typeof own === "string" ? [own] : []))[0] ?? ""
      const [time, why] = [textUnder(/^(?:at|ts|time|timestamp|date)$/), textUnder(/^(?:reason|cause|code)$/)]
      if (time >= (states.get(id)?.time ?? "")) states.set(id, { state: why === "" ? told : `${told} (${why})`, time })
    }
    for (const [, own] of entries) visit(own, depth + 1)
  }
  visit(parseJson(answer), 0)
  return new Map([...states].map(([id, { state }]) => [id, oneLine(state, maxState)]))
}
const eventId = /(?:^|_)(?:id|ref|number)$|[a-z](?:Id|Ref|Number)$/
const eventWord = /^[A-Za-z][A-Za-z_ -]{2,40}$/
const [maxEventDepth, maxEvents, maxState] = [5, 200, 60]

const stateKey = /^(?:state|status|stan|estado|stato|statut|état|etat|zustand|durum|tila|状态|状態|상태)$/i

/** Names and numbers as they occur in sentences and arguments. */
const namingWord = /[\p{L}\p{N}_@#][\p{L}\p{N}_@.#-]{2,60}/gu
const maxMentionText = 20_000

export function mention({ mentioned, chosen }: Values, text: string, at: number, by: "assistant" | "other"): void {
  for (const name of namesIn(text)) {
    mentioned.set(name, at)
    if (by === "other") chosen.add(name)
  }
}

/** Number of texts whose names are cached: each message is read when it is flushed, when it is compacted, and again while it is shown. */
const maxKept = 2000

const namesIn = createRecent((text): readonly string[] => {
  const names = new Set<string>()
  for (const [word] of text.slice(0, maxMentionText).matchAll(namingWord))
    if (/[\p{N}_@-]|\p{Lu}/u.test(word)) names.add(word.replace(/[.-]+$/, ""))
  return [...names]
}, maxKept)

/** Reads the values that a call has before its result is known. */
export function readCallValues(values: Values, call: ToolCallPart, deed: CallDeed, doing: MessagePosition): void {
  if (deed.type === "call") mention(values, deed.text, doing.at, "other")
  // Only an interpreter still knows what a failed program defined; paths named in a shell command say nothing about the work.
  if ((deed.type === "command" || deed.type === "call") && keepsState.test(call.tool))
    addSource(
      values.inSource,
      `programs given to ${oneLine(call.tool, maxToolName)}`,
      valuesInCall(call, deed.type),
      doing,
    )
}

/** Adds the values of a written text to its file, once the write has succeeded. */
export function readWritten({ inSource }: Values, { call, deed, doing }: OpenCall): void {
  if (deed.type !== "files") return
  for (const [path, { rows, values }] of valuesWritten(call, deed.files)) {
    addSource(inSource, tableName(path), rows, doing)
    addSource(inSource, path, values, doing)
  }
}

const maxToolName = 48
const keepsState = /python|interpret|repl|notebook|jupyter|kernel|cell|code/i

function addSource(
  states: Map<string, SourceState>,
  name: string,
  values: readonly SourceValue[],
  { at, source }: MessagePosition,
): void {
  if (values.length === 0 || name === "") return
  const state: SourceState = states.get(name) ?? { values: new Map(), sources: [], at }
  states.set(name, state)
  state.at = at
  state.sources.push(source)
  addValues(state, values)
}

/** Returns what programs name and define; a short argument of a call is part of the call's line. */
const valuesInCall = createPerObject(({ input }: ToolCallPart, kind: CallDeed["type"]) =>
  sourceTexts(input)
    .filter((text) => kind !== "call" || text.includes("\n"))
    .flatMap(programValues),
)

type WrittenValues = { readonly rows: readonly SourceValue[]; readonly values: readonly SourceValue[] }
const valuesWritten = createPerObject(
  ({ input }: ToolCallPart, files: readonly FileDeed[]): readonly (readonly [string, WrittenValues])[] => {
    const paths = distinct(files.flatMap(({ path, deed }) => (deed === "read" || deed === "deleted" ? [] : [path])))
    return sourceTexts(input).flatMap((text) =>
      [...eachWritten(text, paths)].map(
        ([path, own]) => [path, { rows: tableRows(own), values: settingsIn(own) }] as const,
      ),
    )
  },
)

const sourceWorth = 2
/** Number of messages after which a file that was not written again counts as left. */
const leftAfter = 40

const sourceDrafts = (
  states: ReadonlyMap<string, SourceState>,
  end: number,
  files: ReadonlyMap<string, FileState>,
): readonly NoteDraft[] =>
  [...states].flatMap(([name, state]): readonly NoteDraft[] => {
    const record = sourceRecord(name, state, end - state.at > leftAfter)
    const { sources, at } = state
    return record === undefined || isGone(files.get(name))
      ? []
      : [{ kind: "record", text: recordText(record), sources, channel: "assistant", at, worth: sourceWorth }]
  })

/** True if what was written to a file is no longer in it. */
const isGone = (file: FileState | undefined): boolean => /^(?:deleted|restored)$/.test(file?.deeds.at(-1) ?? "")

/** Maximum length of an argument that may name a record: a longer one is content. */
const maxNamed = 80

/** True if something in a result tries to steer its reader; then none of its values is repeated as a fact. Cached per result. */
export const holdsSteering = createPerObject(({ content }: ToolResultPart): boolean =>
  content.some((part) => part.type === "text" && scanText(part.text, { channel: "tool" }).findings.length > 0),
)

/** Reads the values in a result, as records and as sentences; returns whether there was any record. */
export function readValues(values: Values, open: OpenCall, result: ToolResultPart, doing: MessagePosition): boolean {
  const { records, printed } = resultValuesIn(open, result)
  if (records.length + printed.length === 0) {
    if (isChange(open.deed)) markChanged(values.records, open.call)
    return false
  }
  const isTrusted = !holdsSteering(result)
  if (isTrusted) for (const statement of printed) remember(values, "tool", speakerOf(open), statement, doing)
  return readRecords(values, open, isTrusted ? records : [], doing)
}

type ResultValues = { readonly records: readonly FactRecord[]; readonly printed: readonly ValueStatement[] }

/** What each result was found to state, together with how its call was read. */
const resultValuesCache = new WeakMap<ToolResultPart, ResultValues & { readonly deed: CallDeed }>()

function resultValuesIn(open: OpenCall, result: ToolResultPart): ResultValues {
  const before = resultValuesCache.get(result)
  if (before?.deed === open.deed) return before
  const said = { records: recordsOf(open, result), printed: printedOf(open, result), deed: open.deed }
  resultValuesCache.set(result, said)
  return said
}

/** Returns the source of a printed line: the page or file that was read, otherwise the tool. */
function speakerOf({ call: { tool }, deed }: OpenCall): string {
  const path = deed.type === "files" ? (deed.files[0]?.path ?? "") : ""
  const name = path.replace(/^\w+:\/\/|\/$/g, "").replace(/["=]/g, " ")
  return name === "" ? tool : name.length <= maxSpeaker ? name : `…${name.slice(1 - maxSpeaker)}`
}
const maxSpeaker = 40

export const isChange = (deed: CallDeed): boolean => deed.type === "call" && deed.changes === "yes"

/** Reads the records in a result; returns whether there were any. */
function readRecords(
  values: Values,
  { call, deed }: OpenCall,
  found: readonly FactRecord[],
  doing: MessagePosition,
): boolean {
  const { records } = values
  if (isChange(deed)) markChanged(records, call)
  for (const record of found) {
    const known = records.get(record.name)
    // The answer to a change is reported with the change; fields that it does not name are still the old ones.
    if (known?.changedBy !== undefined && isChange(deed) && !restates(known.record, record)) continue
    const changedBy = known !== undefined && restates(known.record, record) ? undefined : known?.changedBy
    records.delete(record.name)
    records.set(record.name, {
      record: known === undefined || isOtherPage(known.record, record) ? record : joinRecords(known.record, record),
      at: doing.at,
      sources: [...(known?.sources ?? []).slice(-3), doing.source],
      listed: (known?.listed ?? true) && found.length > manyListed,
      ...present({ changedBy }),
    })
  }
  return found.length > 0
}

function recordsOf({ call, deed }: OpenCall, result: ToolResultPart): readonly FactRecord[] {
  const isRead = deed.type === "files" && deed.files.every(({ deed: done }) => done === "read")
  // The content of a page does not belong to the element that was acted on.
  if (deed.type === "call" && deed.changes === "little" && isScreen(result)) return []
  const [only] = result.content
  const answer = result.content.length === 1 && only?.type === "text" ? withoutEnvelope(only.text) : ""
  if (answer === "" || (deed.type !== "call" && deed.type !== "command" && !isRead)) return []
  const asked = deed.type === "call" ? deed.text : deed.type === "command" ? deed.command : (deed.files[0]?.path ?? "")
  const question = { tool: call.tool, input: deed.type === "call" ? call.input : {}, text: asked }
  const own = oneLine(asked.replaceAll(": ", ":"), 160)
  // A line of code or a long query does not name a record, and the answer to a change is reported with the change.
  const isNamed = (name: string): boolean =>
    // A file can be read again, so only records with an id of their own are kept.
    (isRead ? /\d/.test(name) && (name !== own || numberedData.test(own)) : true) &&
    (name !== own || !(isChange(deed) || (deed.type === "command" ? /[(){};=]/.test(name) : name.length > maxOwner)))
  return recordsIn(question, answer, deed.type !== "call" || isPage(call)).filter(({ name }) => isNamed(name))
}

/** A file that holds one numbered record: `orders/TC-4417.json`. */
const numberedData = /\d{3}[^/]{0,40}\.(?:json|ya?ml|xml|csv|txt|md)$/i

/** Maximum length of a call that may stand as the owner of a record. */
const maxOwner = 100

/** True if two pages with one title have different addresses; then the newer one is kept. */
const isOtherPage = (older: FactRecord, newer: FactRecord): boolean =>
  newer.fields.some(
    ({ key, pieces }) =>
      /^(?:url|uri|link|href)$/i.test(key) &&
      older.fields.some((field) => field.key === key && field.pieces.join() !== pieces.join()),
  )

/** True if the newer record has every field of the older one. */
const restates = (older: FactRecord, newer: FactRecord): boolean =>
  older.fields.every(({ key }) => newer.fields.some((field) => field.key === key))

/** True for calls whose results are pages, listings or files, which are full of key-value pairs that belong to no record. */
const isPage = (call: ToolCallPart): boolean => !recordKinds.has(callNature(call).kind)
const recordKinds: ReadonlySet<string> = new Set(["json", "other", "list"])

/** Removes the date in the request from a record's name. */
const withoutDay = (name: string): string => name.replace(/ on \d{4}-.*$/, "")

/** Marks the records that a changing call names, because their values may no longer hold. */
function markChanged(records: Map<string, RecordState>, { tool, input }: ToolCallPart): void {
  if (typeof input !== "object" || input === null) return
  const named = Object.values(input)
    .flat()
    .filter((value) => typeof value === "string" && value.length <= maxNamed)
  for (const [name, state] of records)
    if (named.some((value) => withoutDay(name) === value || withoutDay(name).endsWith(` ${value}`)))
      records.set(name, { ...state, changedBy: [...new Set([...(state.changedBy ?? []), tool])] })
}

const recordWorth = 4
/** Worth of a record seen only in a longer list and never chosen. */
const listedWorth = 0.5
const readOutWorth = 2
const manyListed = 3

function recordDrafts({ records, mentioned, chosen, jobs }: Values): readonly NoteDraft[] {
  // That something was saved says nothing about it.
  const telling = [...records.values()].filter(({ record }) => !record.fields.every(isKept))
  return telling.map(({ record: read, at, sources, changedBy, listed }): NoteDraft => {
    const record = withStateNow(read, at, jobs)
    const id = withoutDay(record.name).split(" ")
    const isSpoken = id.some((word) => mentioned.has(word) && /[\p{N}_@-]/u.test(word))
    const isNamed = listed ? id.some((word) => chosen.has(word) && /[\p{N}_@-]/u.test(word)) : isSpoken
    const isLater = (isNamed || !listed) && id.some((word) => (mentioned.get(word) ?? -1) > at)
    const bare = isSpoken ? readOutWorth : listedWorth
    const stale =
      changedBy === undefined ? record : { ...record, name: `${record.name} (read before ${changesText(changedBy)})` }
    return {
      kind: "record",
      text: recordText(stale),
      sources,
      channel: "tool",
      at,
      worth: (isNamed || !listed ? recordWorth : bare) + (isNamed ? 3 : 0) + (isLater ? 2 : 0),
      ...(isSpoken ? { named: true as const } : {}),
    }
  })
}

/** Puts the state in which a thing was seen last, in a table or a notice, in place of an older one of its record. */
function withStateNow(record: FactRecord, at: number, seen: Values["jobs"]): FactRecord {
  const [id = ""] = withoutDay(record.name).split(" ").slice(-1)
  const now = seen.get(id)
  if (now === undefined || now.at <= at) return record
  return {
    ...record,
    fields: record.fields.map((field) => (stateKey.test(field.key) ? { ...field, pieces: [now.state] } : field)),
  }
}

const isKept = ({ key, pieces }: FactRecord["fields"][number]): boolean =>
  stateKey.test(key) && pieces.every((piece) => /^(?:ok|saved|stored|recorded|added|created|updated)$/i.test(piece))

const changesText = (tools: readonly string[]): string =>
  tools.length > 1 ? `${tools.length} changes` : oneLine(tools.join(), 60)

type StatementState = {
  readonly text: string
  readonly statement: ValueStatement
  readonly at: number
  readonly source: string
  readonly channel: "assistant" | "tool"
}

/** Maximum number of statements kept; the newest ones stay. */
const maxStated = 240
/** Maximum length of a quoted sentence. */
const longestStated = 150
const statedWorth = { assistant: 3, tool: 2.5 } as const

/** Reads the sentences of the assistant that state an exact value. */
export function readStatements(values: Values, text: string, doing: MessagePosition): void {
  for (const statement of statedBy(text)) remember(values, "assistant", "assistant", statement, doing)
}

const statedBy = createRecent(
  (text) => toldIn(text.replace(partLabels, "")).filter((statement) => !isAnnouncement(statement.text)),
  maxKept,
)

/** Returns the lines of a tool's output that state an exact value in words. */
function printedOf({ call, deed }: OpenCall, result: ToolResultPart): readonly ValueStatement[] {
  // Names of screen elements contain figures.
  if (isScreen(result)) return []
  const read = deed.type === "files" || isPage(call) ? printedInFile : printedIn
  return result.content.flatMap((part) => (part.type === "text" ? read(withoutEnvelope(part.text)) : []))
}

function remember(
  { statements }: Values,
  channel: "assistant" | "tool",
  speaker: string,
  statement: ValueStatement,
  { at, source }: MessagePosition,
): void {
  if (statement.text.length > longestStated) return
  const text = statementLine(speaker, statement.text)
  if (readValueStatement(text) === undefined) return
  const key = statement.values.map(({ value }) => value).join(" ")
  statements.delete(key)
  statements.set(key, { text, statement, at, source, channel })
  const [oldest] = statements.keys()
  if (statements.size > maxStated && oldest !== undefined) statements.delete(oldest)
}

/** Drafts of statements whose values no record has, and which no later statement replaces. */
function statementDrafts({ statements, records }: Values, turnedDown: ReadonlySet<number>): readonly NoteDraft[] {
  const told = [...records.values()].map(({ record }) => recordText(record)).join("\n")
  const all = [...statements.values()].filter(
    ({ statement, channel, at }) =>
      statement.values.some(({ value }) => !told.includes(value)) && !(channel === "assistant" && turnedDown.has(at)),
  )
  return all.flatMap(({ text, statement, at, source, channel }, n): readonly NoteDraft[] => {
    const isOld = all.slice(n + 1).some((later) => later.channel === channel && replaces(later.statement, statement))
    return isOld ? [] : [{ kind: "record", text, sources: [source], channel, at, worth: statedWorth[channel] }]
  })
}
