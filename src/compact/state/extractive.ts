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
  /** What whoever asked for the summary cares about most, in any words. */
  readonly focus?: string
  /** What an earlier digest of the same conversation says: its lines go on unless something newer takes their place. */
  readonly carried?: Summary
  /** The notes of these messages, where somebody has them already. */
  readonly notes?: readonly Note[]
}

/** Every line that a summary of these messages might have, each with its worth; no model, no budget. */
export function writeExtractive(
  messages: Transcript,
  { schema, focus = "", carried, notes = notesOf(messages) }: ExtractiveOptions,
): Summary {
  const cares = focusOf(focus)
  const fresh = latestOfEach(notes.map((note) => place(note, schema, cares)))
  const all = carried === undefined ? fresh : mergeCarried(fresh, carried, cares, schema)
  return inOrder(schema, withSeries(withoutReplaced(all)))
}

/** A slip is corrected in one of so many next messages of the user. */
const slipsWithin = 3

const askedEnd = / \(asked: .*\)$/s

/** Statements that are compared: a user says tens of them. */
const maxCompared = 400

/** What of a message the user said himself: a letter that he passes on neither replaces what he said nor is replaced by it. */
const ownParts = createRecent(
  (text: string): readonly string[] =>
    text.length < leastPasted ? [text] : ownWords(text).map(({ start, end }) => text.slice(start, end)),
  maxCompared,
)
/** Characters of the shortest message in which a paste is looked for. */
const leastPasted = 200

/** The replaced values of a message marked where the user said them himself. */
function markOwn(text: string, later: readonly ValueStatement[]): string {
  let [marked, at] = ["", 0]
  for (const part of ownParts(text)) {
    const start = text.indexOf(part, at)
    marked += text.slice(at, start) + markReplaced(part, later)
    at = start + part.length
  }
  return marked + text.slice(at)
}

/** A value of the user's that a later sentence of his replaced is marked where it stands; of a tool or the assistant the later statement stays alone. */
function withoutReplaced(placed: readonly Placed[]): readonly Placed[] {
  const said = placed.filter(({ section, line }) => isTheirs(section) && line.channel === "user")
  const order = said.toSorted((one, other) => placeIn(one) - placeIn(other))
  const stated = order.flatMap((one, n) =>
    ownParts(one.line.text).flatMap((part) => valueStatementsIn(part).map((statement) => ({ statement, n }))),
  )
  const laterThan = (n: number): readonly ValueStatement[] =>
    stated.slice(-maxCompared).flatMap((one) => (one.n > n ? [one.statement] : []))
  const marked = new Map<Placed, Placed>()
  for (const [n, one] of order.entries()) {
    if (!ownParts(one.line.text).some((part) => valueStatementsIn(part).length > 0)) continue
    const { short } = one.line
    const later = laterThan(n)
    // What the assistant asked back then it asked with the values of then.
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
      // Who corrects himself speaks of what he said just before.
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

/** The value that a line states: a finding may say one without being quoted. */
function statedIn({ section, line: { text } }: Placed): (ValueStatement & { readonly speaker: string }) | undefined {
  if (!isValues(section)) return undefined
  const [only] = findings.has(section) ? toldIn(text) : []
  return readValueStatement(text) ?? (only?.text === text ? { ...only, speaker: assistant } : undefined)
}

/** Carried lines come before fresh ones, and of them what was open at the end after what was said before. */
const placeIn = ({ at, section }: Placed): number => at ?? (section === "primary_requests" ? -1 : -2)

/** What the user said beside rules, which have their own ledger. */
const isTheirs = (section: string): boolean => isUsersSection(section) && section !== rulesSection

function place(
  { kind, text, short, sources, state, channel, worth, at }: Note,
  schema: SchemaName,
  focus: Focus,
): Placed {
  const line = {
    text,
    ...present({ short }),
    sources,
    ...present({ state }),
    channel,
    worth: raised(worth, text, focus),
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

/** What is said twice in a section stands there once, where it was said last. */
function latestOfEach(placed: readonly Placed[]): readonly Placed[] {
  const latest = new Map(placed.map((one) => [`${one.section}\n${one.line.text}`, one]))
  return placed.filter((one) => latest.get(`${one.section}\n${one.line.text}`) === one)
}

/** The lines under the sections of the schema, and those of sections that it does not know behind them. */
function inOrder(schema: SchemaName, placed: readonly Placed[]): Summary {
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

/** The section of a schema in which a note stands. */
const sectionOf = (schema: SchemaName, kind: NoteKind, text: string): string =>
  kind === "record" ? valueSection(text, schema) : sections[schema][kind]

/** May the sentence of a tool or of the assistant that states a value stand there? */
const isValues = (section: string): boolean =>
  section === factsSection || section === seenSection || findings.has(section)
const findings: ReadonlySet<string> = new Set(Object.values(findingsSections))

/** What a line is about, so that a later line about the same takes its place: the code it opens with, or else all of it. */
function subjectOf(text: string, section = ""): string {
  const statement = isValues(section) ? readValueStatement(text) : undefined
  if (statement !== undefined) return `${statement.speaker} ${statement.values.map(({ value }) => value).join(" ")}`
  if (section === factsSection) {
    return (readRecord(text)?.name ?? text).replace(readBefore, "")
  }
  const end = text.startsWith("`") ? text.indexOf("`", 1) : -1
  return end < 0 ? text.toLowerCase() : text.slice(0, end + 1)
}

/** Said of a record that something was done to since it was read. */
const readBefore = / \(read before [^()]{1,60}\)$/

/** Does the line open with a command, a call or a file? */
const isNamed = (text: string): boolean => text.startsWith("`") && text.indexOf("`", 1) > 0

/** A line and where it stands; of a carried one nobody knows what kind of note it was. */
type Placed = {
  readonly section: string
  readonly kind?: NoteKind
  readonly line: SummaryLine
  /** Where it was said; of a carried line, before everything. */
  readonly at?: number
}

/** Sections that say how things stood at the end, so that a later end replaces them whole. */
const momentary = new Set(["current_work", "next_steps"])

/** Sections that hold the assistant's list, of which the latest counts. */
const listing = new Set(["pending_tasks", "current_plan"])

/** What is left of the worth of the oldest and of the newest line of a section that was not heard of since. */
const oldest = 0.6
const newest = 0.9

/** Lines of an earlier summary and new ones as one list: the same file, command, call, record or task once, as it stood last; no word of a carried line is changed. */
function mergeCarried(fresh: readonly Placed[], carried: Summary, focus: Focus, schema: SchemaName): readonly Placed[] {
  const keyOf = ({ section, line }: Placed): string => subjectOf(line.text, section)
  const news = new Map(fresh.map((placed) => [keyOf(placed), placed]))
  const past: Past = {
    momentary: fresh.some(({ section }) => momentary.has(section)),
    planned: fresh.some(({ kind }) => kind === "next" || kind === "task"),
    tasks: fresh.some(({ kind }) => kind === "task"),
    heard: fresh.some(({ line }) => line.channel === "user"),
    asked: fresh.some(({ kind }) => kind !== undefined && isRequest(kind)),
  }
  const kept: Placed[] = []
  const updated = new Map<string, SummaryLine>()
  const seen = new Set<string>()
  for (const placed of carriedLines(carried, schema)) {
    const subject = keyOf(placed)
    const key = `${placed.section}\n${subject}`
    if (seen.has(key) || isPast(placed, past)) continue
    seen.add(key)
    const newer = news.get(subject)
    if (newer === undefined) kept.push(aged(placed, past, focus, schema))
    else if (newer.kind === "file" || newer.kind === "record" || newer.kind === "act")
      updated.set(subject, joinLines(placed.line, newer, subject))
    else if (isOvercome(placed, newer)) kept.push({ ...placed, line: { ...placed.line, state: "done" } })
  }
  const renewed = fresh.map((placed) => {
    const line = placed.kind === undefined ? undefined : updated.get(keyOf(placed))
    return line === undefined ? placed : { ...placed, line }
  })
  return [...kept, ...renewed]
}

/** A request that was open is one of those before, once the user asked for something else. */
function aged(placed: Placed, { asked }: Past, focus: Focus, schema: SchemaName): Placed {
  const { line, section } = placed
  const worth = raised(line.worth, line.text, focus)
  const isOpen = line.state === "open" || line.state === "pending"
  if (!asked || !isOpen || !isUsersSection(section) || section === rulesSection)
    return { ...placed, line: { ...line, worth } }
  return { section: sections[schema].request, line: { ...line, worth, state: "said" } }
}

/** Lines of a section stand in the order of their age. */
const carriedLines = (carried: Summary, schema: SchemaName): readonly Placed[] =>
  carried.sections
    .flatMap(({ name, lines }) =>
      lines.map((line, n): Placed => {
        const left = oldest + ((newest - oldest) * (n + 1)) / lines.length
        const share = name === rulesSection ? 1 : isUsersSection(name) ? Math.sqrt(left) : left
        // What was done since words that were the latest then was done before what is said now.
        const section = name === sinceSection ? sections[schema].act : name
        return { section, line: { ...line, worth: line.worth * share } }
      }),
    )
    .flatMap((placed) =>
      placed.line.state === undefined ? eachRead(placed.line).map((line) => ({ ...placed, line })) : [placed],
    )
    .slice(-maxNotes)

type Past = {
  readonly momentary: boolean
  readonly planned: boolean
  readonly tasks: boolean
  readonly heard: boolean
  readonly asked: boolean
}

function isPast({ section, line }: Placed, past: Past): boolean {
  if (momentary.has(section)) return past.momentary || (line.state === "pending" && past.heard)
  if (!listing.has(section)) return false
  // A question waits for the user only until he speaks; a new list stands for the whole of the old one but for what was done.
  if (line.state === "pending") return past.heard
  if (section === "current_plan" && line.state === "next" && announces.test(line.text)) return past.planned
  return past.tasks && line.state !== "done"
}

/** An error that was written down, and the same command or call went well since. */
const isOvercome = ({ section, line }: Placed, newer: Placed): boolean =>
  line.state === "failed" && newer.kind !== "error" && section !== newer.section && isNamed(line.text)

/** A file, record or act as it was known and as it was heard of since, as if both had been read in one go. */
function joinLines(older: SummaryLine, { kind, line: newer }: Placed, subject: string): SummaryLine {
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

/** Done again: the last end of it, and how often. */
function joinActs(subject: string, older: string, newer: string): string {
  const rest = newer.slice(subject.length).replace(/^ ×\d{1,6}/, "")
  return `${subject} ×${timesIn(subject, older) + timesIn(subject, newer)}${rest}`
}

/** Words that raise the worth of a line. */
type Focus = readonly string[]

/** Words of a focus that count: a focus is a sentence, not a page. */
const maxWords = 24

/** What a line about the focus is worth more, and at most how often that counts. */
const perWord = 4
const maxCounted = 3

const common = new Set(
  "the and for with that this from what about which all any its was are were has have into onto".split(" "),
)

/** The telling words of a focus; a script without blanks gives pairs of characters. */
function focusOf(text: string): Focus {
  const words =
    text
      .slice(0, 2_000)
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? []
  const telling = words.flatMap((word) => {
    if (/[\u2e80-\u9fff]/.test(word))
      return word.length < 2 ? [] : Array.from({ length: word.length - 1 }, (_, n) => word.slice(n, n + 2))
    return word.length < 3 || common.has(word) ? [] : [word]
  })
  return [...new Set(telling)].slice(0, maxWords)
}

/** The worth of a text to somebody with this focus. */
function raised(worth: number, text: string, focus: Focus): number {
  if (focus.length === 0) return worth
  const said = text.toLowerCase()
  const counted = focus.filter((word) => said.includes(word)).length
  return worth + perWord * Math.min(maxCounted, counted)
}
