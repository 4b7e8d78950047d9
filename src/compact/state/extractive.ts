import type { Transcript } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createRecent } from "../../message/recall.ts"
import { ownWords } from "../../rules/own-words.ts"
import {
  factsSection,
  findingsSections,
  isUsersSection,
  maxNotes,
  type Note,
  type NoteKind,
  rulesSection,
  type SchemaName,
  type Summary,
  type SummaryLine,
  schemas,
  seenSection,
  sinceSection,
} from "../summary/summary.ts"
import { announces } from "./cues.ts"
import { joinFileTexts } from "./file-states.ts"
import { eachRead, withSeries } from "./line-series.ts"
import { notesOf } from "./notes.ts"
import { joinRecords, readRecord, recordText } from "./records.ts"
import {
  assistant,
  correctedIn,
  isSpent,
  markReplaced,
  markSlip,
  readValueStatement,
  replaces,
  toldIn,
  type ValueStatement,
  valueSection,
  valueStatementsIn,
} from "./value-statements.ts"

type ExtractiveOptions = {
  readonly schema: SchemaName
  /** What the requester of the summary cares about most, in any words. */
  readonly focus?: string
  /** The contents of an earlier digest of the same conversation: its lines are kept unless newer ones replace them. */
  readonly carried?: Summary
  /** The notes of these messages, if they are known already. */
  readonly notes?: readonly Note[]
}

/** Returns every line that a summary of these messages might have, each with its worth; no model, no budget. */
export function writeExtractive(
  messages: Transcript,
  { schema, focus = "", carried, notes = notesOf(messages) }: ExtractiveOptions,
): Summary {
  const cares = focusOf(focus)
  const fresh = latestOfEach(notes.map((note) => place(note, schema, cares)))
  const all = carried === undefined ? fresh : mergeCarried(fresh, carried, cares, schema)
  return inOrder(schema, withSeries(withoutReplaced(all)))
}

/** Number of preceding user messages in which a corrected slip is looked for. */
const slipsWithin = 3

const askedEnd = / \(asked: .*\)$/s

/** Maximum number of statements compared: a user makes tens of them. */
const maxCompared = 400

/** Returns the user's own parts of a message: a pasted letter neither replaces the user's values nor is replaced by them. */
const ownParts = createRecent(
  (text: string): readonly string[] =>
    text.length < leastPasted ? [text] : ownWords(text).map(({ start, end }) => text.slice(start, end)),
  maxCompared,
)
/** Minimum length of a message in which a paste is looked for, in characters. */
const leastPasted = 200

/** Marks replaced values in the user's own parts of a message. */
function markOwn(text: string, later: readonly ValueStatement[]): string {
  let [marked, at] = ["", 0]
  for (const part of ownParts(text)) {
    const start = text.indexOf(part, at)
    marked += text.slice(at, start) + markReplaced(part, later)
    at = start + part.length
  }
  return marked + text.slice(at)
}

/**
 * Marks a value of the user that a later sentence of the user replaced; of a tool's or the assistant's statements keeps only the later
 * one.
 */
function withoutReplaced(placed: readonly PlacedLine[]): readonly PlacedLine[] {
  const said = placed.filter(({ section, line }) => isUsersStatement(section) && line.channel === "user")
  const order = said.toSorted((one, other) => sortKeyOf(one) - sortKeyOf(other))
  const stated = order.flatMap((one, n) =>
    ownParts(one.line.text).flatMap((part) => valueStatementsIn(part).map((statement) => ({ statement, n }))),
  )
  const laterThan = (n: number): readonly ValueStatement[] =>
    stated.slice(-maxCompared).flatMap((one) => (one.n > n ? [one.statement] : []))
  const marked = new Map<PlacedLine, PlacedLine>()
  for (const [n, one] of order.entries()) {
    if (!ownParts(one.line.text).some((part) => valueStatementsIn(part).length > 0)) continue
    const { short } = one.line
    const later = laterThan(n)
    // The assistant's question was asked with the values known then, so it is not marked.
    const at = one.line.text.search(askedEnd)
    const own = at < 0 ? one.line.text : one.line.text.slice(0, at)
    const text = `${markOwn(own, later)}${one.line.text.slice(own.length)}`
    if (text === one.line.text) continue
    marked.set(one, {
      ...one,
      line: { ...one.line, text, ...(short === undefined ? {} : { short: markOwn(short, later) }) },
    })
  }
  for (const [n, one] of order.entries()) {
    for (const wrong of correctedIn(one.line.text)) {
      // People correct themselves about what they said just before.
      const slip = order
        .slice(Math.max(0, n - slipsWithin), n)
        .findLast(({ line: { text } }) => markSlip(text, wrong) !== text)
      if (slip === undefined) continue
      const { line } = marked.get(slip) ?? slip
      const short = line.short === undefined ? undefined : markSlip(line.short, wrong)
      marked.set(slip, { ...slip, line: { ...line, text: markSlip(line.text, wrong), ...present({ short }) } })
    }
  }
  const known = placed.flatMap((one) => {
    const statement = statedIn(one)
    return statement === undefined ? [] : [{ one, statement }]
  })
  const gone = new Set(
    known
      .slice(-maxCompared)
      .filter(({ statement }, n, all) =>
        all
          .slice(n + 1)
          .some((later) => later.statement.speaker === statement.speaker && replaces(later.statement, statement)),
      )
      .map(({ one }) => one),
  )
  return placed
    .filter((one) => !gone.has(one))
    .map((one) => marked.get(one) ?? one)
    .filter(({ line }) => !isSpent(line.text))
}

/** Returns the value statement of a line; a finding may be one without a speaker. */
function statedIn({
  section,
  line: { text },
}: PlacedLine): (ValueStatement & { readonly speaker: string }) | undefined {
  if (!isValues(section)) return undefined
  const [only] = findings.has(section) ? toldIn(text) : []
  return readValueStatement(text) ?? (only?.text === text ? { ...only, speaker: assistant } : undefined)
}

/** Sort key: carried lines before fresh ones, and among them open requests after the others. */
const sortKeyOf = ({ at, section }: PlacedLine): number => at ?? (section === "primary_requests" ? -1 : -2)

/** True for the user's statements other than rules, which have a ledger of their own. */
const isUsersStatement = (section: string): boolean => isUsersSection(section) && section !== rulesSection

function place(
  { kind, text, short, sources, state, channel, worth, at }: Note,
  schema: SchemaName,
  focus: Focus,
): PlacedLine {
  const line = {
    text,
    ...present({ short }),
    sources,
    ...present({ state }),
    channel,
    worth: worthWithFocus(worth, text, focus),
  }
  const isOpen = state === "open" || state === "pending"
  return {
    section: schema === "handoff" && isRequest(kind) && isOpen ? "primary_requests" : sectionOf(schema, kind, text),
    kind,
    line,
    at,
  }
}

const isRequest = (kind: NoteKind): boolean => kind === "request" || kind === "correction"

/** Removes lines repeated within a section, keeping the last one. */
function latestOfEach(placed: readonly PlacedLine[]): readonly PlacedLine[] {
  const latest = new Map(placed.map((one) => [`${one.section}\n${one.line.text}`, one]))
  return placed.filter((one) => latest.get(`${one.section}\n${one.line.text}`) === one)
}

/** Groups lines by the sections of the schema; unknown sections come last. */
function inOrder(schema: SchemaName, placed: readonly PlacedLine[]): Summary {
  const bySection = Map.groupBy(placed, ({ section }) => section)
  const known = schemas[schema].map(({ name }) => name)
  const names = [...known, ...[...bySection.keys()].filter((name) => !known.includes(name))]
  const sections = names.flatMap((name) => {
    const lines = (bySection.get(name) ?? []).map(({ line }) => line)
    return lines.length === 0 ? [] : [{ name, lines }]
  })
  return { schema, sections }
}

const handoff: Readonly<Record<NoteKind, string>> = {
  request: "user_messages",
  wish: rulesSection,
  decision: "key_concepts",
  finding: "key_concepts",
  file: "files_and_code",
  error: "errors_and_fixes",
  conclusion: "key_concepts",
  command: "status",
  act: "acts",
  lookup: "status",
  record: factsSection,
  correction: "user_messages",
  reply: "user_messages",
  task: "pending_tasks",
  commitment: "pending_tasks",
  question: "current_work",
  current: "current_work",
  next: "next_steps",
}

const snapshot: Readonly<Record<NoteKind, string>> = {
  request: "overall_goal",
  wish: rulesSection,
  decision: "key_knowledge",
  finding: "key_knowledge",
  conclusion: "key_knowledge",
  correction: "overall_goal",
  reply: "overall_goal",
  lookup: "key_knowledge",
  record: factsSection,
  file: "file_system_state",
  command: "key_knowledge",
  act: "recent_actions",
  error: "recent_actions",
  current: "current_plan",
  task: "current_plan",
  commitment: "current_plan",
  question: "current_plan",
  next: "current_plan",
}

const sections: Readonly<Record<SchemaName, Readonly<Record<NoteKind, string>>>> = { handoff, snapshot }

/** Returns the section of a schema for a note. */
const sectionOf = (schema: SchemaName, kind: NoteKind, text: string): string =>
  kind === "record" ? valueSection(text, schema) : sections[schema][kind]

/** True for a section that may hold quoted value statements. */
const isValues = (section: string): boolean =>
  section === factsSection || section === seenSection || findings.has(section)
const findings: ReadonlySet<string> = new Set(Object.values(findingsSections))

/**
 * Returns the subject of a line, so that a later line about the same replaces it: a quoted speaker's values, a record's name, the code
 * that the line begins with, or else the whole text.
 */
function subjectOf(text: string, section = ""): string {
  const statement = isValues(section) ? readValueStatement(text) : undefined
  if (statement !== undefined) return `${statement.speaker} ${statement.values.map(({ value }) => value).join(" ")}`
  if (section === factsSection) {
    return (readRecord(text)?.name ?? text).replace(readBefore, "")
  }
  const end = text.startsWith("`") ? text.indexOf("`", 1) : -1
  return end < 0 ? text.toLowerCase() : text.slice(0, end + 1)
}

/** Suffix of a record's name if the thing was changed after it was read. */
const readBefore = / \(read before [^()]{1,60}\)$/

/** True if the line begins with a command, call or file. */
const isNamed = (text: string): boolean => text.startsWith("`") && text.indexOf("`", 1) > 0

/** A line with its section; the note kind of a carried line is unknown. */
type PlacedLine = {
  readonly section: string
  readonly kind?: NoteKind
  readonly line: SummaryLine
  /** Message index; absent for a carried line, which precedes all messages. */
  readonly at?: number
}

/** Sections about how things stood at the end, replaced whole by a later end. */
const currentStateSections = new Set(["current_work", "next_steps"])

/** Sections with the assistant's task list, of which only the latest counts. */
const taskListSections = new Set(["pending_tasks", "current_plan"])

/** Share of their worth that the oldest and the newest carried line of a section keep. */
const oldestShare = 0.6
const newestShare = 0.9

/**
 * Merges the lines of an earlier summary with new ones: the same file, command, call, record or task once, in its latest state; the
 * wording of carried lines is not changed otherwise.
 */
function mergeCarried(
  fresh: readonly PlacedLine[],
  carried: Summary,
  focus: Focus,
  schema: SchemaName,
): readonly PlacedLine[] {
  const keyOf = ({ section, line }: PlacedLine): string => subjectOf(line.text, section)
  const news = new Map(fresh.map((placed) => [keyOf(placed), placed]))
  const past: FreshContents = {
    momentary: fresh.some(({ section }) => currentStateSections.has(section)),
    planned: fresh.some(({ kind }) => kind === "next" || kind === "task"),
    tasks: fresh.some(({ kind }) => kind === "task"),
    heard: fresh.some(({ line }) => line.channel === "user"),
    asked: fresh.some(({ kind }) => kind !== undefined && isRequest(kind)),
  }
  const kept: PlacedLine[] = []
  const updated = new Map<string, SummaryLine>()
  const seen = new Set<string>()
  for (const placed of carriedLines(carried, schema)) {
    const subject = keyOf(placed)
    const key = `${placed.section}\n${subject}`
    if (seen.has(key) || isReplaced(placed, past)) continue
    seen.add(key)
    const newer = news.get(subject)
    if (newer === undefined) kept.push(carryOver(placed, past, focus, schema))
    else if (newer.kind === "file" || newer.kind === "record" || newer.kind === "act")
      updated.set(subject, joinLines(placed.line, newer, subject))
    else if (hasSucceededSince(placed, newer)) kept.push({ ...placed, line: { ...placed.line, state: "done" } })
  }
  const renewed = fresh.map((placed) => {
    const line = placed.kind === undefined ? undefined : updated.get(keyOf(placed))
    return line === undefined ? placed : { ...placed, line }
  })
  return [...kept, ...renewed]
}

/** Lowers an open request to an earlier one, once the user has asked for something else. */
function carryOver(placed: PlacedLine, { asked }: FreshContents, focus: Focus, schema: SchemaName): PlacedLine {
  const { line, section } = placed
  const worth = worthWithFocus(line.worth, line.text, focus)
  const isOpen = line.state === "open" || line.state === "pending"
  if (!asked || !isOpen || !isUsersSection(section) || section === rulesSection)
    return { ...placed, line: { ...line, worth } }
  return { section: sections[schema].request, line: { ...line, worth, state: "said" } }
}

/** Lines of the earlier summary; within a section they are ordered by age. */
const carriedLines = (carried: Summary, schema: SchemaName): readonly PlacedLine[] =>
  carried.sections
    .flatMap(({ name, lines }) =>
      lines.map((line, n): PlacedLine => {
        const left = oldestShare + ((newestShare - oldestShare) * (n + 1)) / lines.length
        const share = name === rulesSection ? 1 : isUsersSection(name) ? Math.sqrt(left) : left
        // Acts since what were then the latest words precede everything new.
        const section = name === sinceSection ? sections[schema].act : name
        return { section, line: { ...line, worth: line.worth * share } }
      }),
    )
    .flatMap((placed) =>
      placed.line.state === undefined ? eachRead(placed.line).map((line) => ({ ...placed, line })) : [placed],
    )
    .slice(-maxNotes)

type FreshContents = {
  readonly momentary: boolean
  readonly planned: boolean
  readonly tasks: boolean
  readonly heard: boolean
  readonly asked: boolean
}

function isReplaced({ section, line }: PlacedLine, past: FreshContents): boolean {
  if (currentStateSections.has(section)) return past.momentary || (line.state === "pending" && past.heard)
  if (!taskListSections.has(section)) return false
  // A question waits only until the user speaks; a new task list replaces the old one except for what was done.
  if (line.state === "pending") return past.heard
  if (section === "current_plan" && line.state === "next" && announces.test(line.text)) return past.planned
  return past.tasks && line.state !== "done"
}

/** True for a failure whose command or call has succeeded since. */
const hasSucceededSince = ({ section, line }: PlacedLine, newer: PlacedLine): boolean =>
  line.state === "failed" && newer.kind !== "error" && section !== newer.section && isNamed(line.text)

/** Merges the earlier and the newer line of a file, record or act, as if both had been read at once. */
function joinLines(older: SummaryLine, { kind, line: newer }: PlacedLine, subject: string): SummaryLine {
  const worth = Math.max(older.worth, newer.worth)
  const joined = { ...newer, worth, sources: [...older.sources, ...newer.sources] }
  if (kind === "file") return { ...joined, text: joinFileTexts(subject.slice(1, -1), older.text, newer.text) }
  if (kind === "act") return { ...joined, text: joinActs(subject, older.text, newer.text) }
  if (readValueStatement(newer.text) !== undefined) return joined
  const [before, after] = [readRecord(older.text), readRecord(newer.text)]
  return before === undefined || after === undefined
    ? joined
    : { ...joined, text: recordText(joinRecords(before, after)) }
}

const timesIn = (subject: string, text: string): number =>
  Number(/^ ×(\d{1,6})/.exec(text.slice(subject.length))?.[1] ?? 1)

/** Adds up the number of runs and keeps the latest outcome. */
function joinActs(subject: string, older: string, newer: string): string {
  const rest = newer.slice(subject.length).replace(/^ ×\d{1,6}/, "")
  return `${subject} ×${timesIn(subject, older) + timesIn(subject, newer)}${rest}`
}

/** Words that raise the worth of a line. */
type Focus = readonly string[]

/** Maximum number of focus words that count: a focus is a sentence, not a page. */
const maxWords = 24

/** Extra worth of a line for each focus word in it, and how many of them count. */
const worthPerWord = 4
const maxCounted = 3

const commonWords = new Set(
  "the and for with that this from what about which all any its was are were has have into onto".split(" "),
)

/** Returns the significant words of a focus; a script without blanks gives pairs of characters. */
function focusOf(text: string): Focus {
  const words =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  const telling = words.flatMap((word) => {
    if (/[\u2e80-\u9fff]/.test(word))
      return word.length < 2 ? [] : Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2))
    return word.length < 3 || commonWords.has(word) ? [] : [word]
  })
  return [...new Set(telling)].slice(0, maxWords)
}

/** Returns the worth of a text given this focus. */
function worthWithFocus(worth: number, text: string, focus: Focus): number {
  if (focus.length === 0) return worth
  const said = text.toLowerCase()
  const counted = focus.filter((word) => said.includes(word)).length
  return worth + worthPerWord * Math.min(maxCounted, counted)
}
