import { channelOf } from "../../message/fence.ts"
import {
  type CallId,
  type Channel,
  type Message,
  type Part,
  type ToolResultPart,
  type Transcript,
  textOf,
} from "../../message/message.ts"
import type { Steps } from "../../message/steps.ts"
import {
  type Emit,
  type Fact,
  type FactKind,
  type FactState,
  factKey,
  keptFacts,
  type LabelSource,
  type Mention,
  maxFacts,
  maxMentionsPerPart,
  maxOpenCalls,
  maxScannedPerEnd,
  maxShortAnswerLength,
  maxTypedLength,
  type TextOrigin,
} from "./fact.ts"
import { embeddedTree, readMarkup, readPairLines, readTree, type Tree, treeOf } from "./json-tree.ts"
import { textMentions } from "./prose.ts"
import { recordMentions } from "./record.ts"
import { keepWorth } from "./score.ts"
import { markSuperseded } from "./supersede.ts"

/** From the most telling kind to the least: of two readings of one value the earlier in this list stands. */
const kinds: readonly FactKind[] = [
  ...([
    "command",
    "email",
    "url",
    "hash",
    "path",
    "error",
    "id",
    "identifier",
    "name",
    "quote",
    "argument",
    "line",
  ] as const),
  ...(["amount", "date", "time", "version", "number", "word"] as const),
]
const labelSources: readonly LabelSource[] = ["key", "pair", "words", "kind"]
const states: readonly FactState[] = ["failed", "resolved", "superseded", "current"]

const placeOf = <Name extends string>(names: readonly Name[]): ReadonlyMap<Name, number> =>
  new Map(names.map((name, at) => [name, at]))
const kindPlaces = placeOf(kinds)
const labelPlaces = placeOf(labelSources)
const statePlaces = placeOf(states)

const isEarlier = <Name>(places: ReadonlyMap<Name, number>, one: Name, other: Name): boolean =>
  (places.get(one) ?? 0) <= (places.get(other) ?? 0)

/** Two accounts of one fact as one. The order of joining does not matter, and joining twice is joining once. */
export function joinFacts(one: Fact, other: Fact): Fact {
  const born = isBefore(one, other) ? one : other
  const { label, labelFrom, subject } = isBetterLabel(one, other) ? one : other
  const { subject: _, updates: __, said: ___, ...rest } = born
  const kind = isEarlier(kindPlaces, one.kind, other.kind) ? one.kind : other.kind
  return {
    ...rest,
    kind,
    label: labelFrom === "kind" ? kind : label,
    labelFrom,
    ...(subject === undefined ? {} : { subject }),
    last: Math.max(one.last, other.last),
    uses: Math.max(one.uses, other.uses),
    usedInCalls: Math.max(one.usedInCalls, other.usedInCalls),
    givenByUser: one.givenByUser || other.givenByUser,
    ...(one.said === true || other.said === true ? { said: true as const } : {}),
    state: laterState(one, other),
    ...(one.updates === true || other.updates === true ? { updates: true as const } : {}),
  }
}

const birthOf = ({ source: { messageId, callId }, channel }: Fact): string =>
  `${messageId}\n${callId ?? ""}\n${channel}`

const isBefore = (one: Fact, other: Fact): boolean =>
  one.first === other.first ? birthOf(one) <= birthOf(other) : one.first < other.first

/** The better source wins; of equals the shorter label, because it is repeated on every line. */
function isBetterLabel(one: Fact, other: Fact): boolean {
  const by =
    (labelPlaces.get(one.labelFrom) ?? 0) - (labelPlaces.get(other.labelFrom) ?? 0) ||
    one.label.length - other.label.length
  return by === 0 ? `${one.label}\n${one.subject ?? ""}` <= `${other.label}\n${other.subject ?? ""}` : by < 0
}

function laterState(one: Fact, other: Fact): FactState {
  if (one.last !== other.last) return one.last > other.last ? one.state : other.state
  return isEarlier(statePlaces, one.state, other.state) ? one.state : other.state
}

/** How much of the end of an output is looked at: that is where shells and test runners say how it went. */
const edge = 1_000

/** An output no longer than this is a message about the run rather than content that a run printed. */
const brief = 600

const plainFailure = /\bexit(?:ed)?(?: with)?(?: code| status)?[: ]{1,2}[1-9]|^Traceback \(most recent/m
const likelyFailure = /command not found|No such file or directory|^(?:fatal|error|Error)\b|\berror:|Permission denied/m

/** Did a tool's run go wrong, by its flag or by its own words? */
function hasFailed(part: ToolResultPart): boolean {
  if (part.failed !== undefined) return part.failed
  const text = textOf(part)
  return plainFailure.test(text.slice(-edge)) || (text.length <= brief && likelyFailure.test(text))
}

/** What a run says of its command, given what was known. */
function stateAfter(known: FactState, failed: boolean): FactState {
  if (failed) return "failed"
  return known === "failed" || known === "resolved" ? "resolved" : "current"
}

/** The line under a header: dashes, with the signs that part columns. */
const rule = /^[ \t]{0,8}[|+]?[ :]{0,2}-{2,}[-\s|+:]*$/

/** A line longer than this is no table row that anyone reads. */
const maxRowLength = 2_000

/** Tables drawn with bars, as in Markdown and SQL shells, rows parted by commas or tabs, and columns in line: each a list of records under its header's names. */
export function readTables(text: string): readonly Tree[] {
  const barred = text.includes("|") && text.includes("--")
  const first = text.slice(0, text.indexOf("\n") + 1)
  const parting = first.includes("\t") ? "\t" : first.includes(",") ? "," : undefined
  const aligned = first.length <= maxRowLength && alignedHeader.test(first)
  if (!barred && !aligned && parting === undefined) return []
  const lines = text.split("\n")
  return [
    ...(barred ? barredTables(lines) : []),
    ...(aligned ? alignedTable(lines) : parting === undefined ? [] : partedTable(lines, parting)),
  ]
}

/** Names in capitals with blanks between them, as programs print them above columns. */
const alignedHeader =
  /^[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*(?: {2,80}[A-Z][A-Z0-9_%/().-]*(?: [A-Z0-9_%/().-]+)*)+\s*$/

/** Columns that only blanks keep apart. */
function alignedTable(lines: readonly string[]): readonly Tree[] {
  const split = (line: string): readonly string[] =>
    line.length > maxRowLength ? [] : line.trim().split(/(?: {2,}|\t)\s*/)
  const items = rowsUnder(split(lines[0] ?? ""), lines, 1, split)
  return items.length === 0 ? [] : [{ type: "list", items }]
}

function barredTables(lines: readonly string[]): readonly Tree[] {
  const tables: Tree[] = []
  for (let at = 1; at < lines.length; at++) {
    const header = cellsOf(lines[at - 1] ?? "")
    if (header.length < 2 || !rule.test(lines[at] ?? "")) continue
    const rows = rowsUnder(header, lines, at + 1, cellsOf)
    at += rows.length
    tables.push({ type: "list", items: rows })
  }
  return tables
}

/** A name of a column. */
const columnName = /^[\p{L}_#][\p{L}\p{N}_ ./#-]{0,40}$/u

/** A first line of names and at least one line of as many cells below it. */
function partedTable(lines: readonly string[], parting: string): readonly Tree[] {
  const split = (line: string): readonly string[] => (line.length > maxRowLength ? [] : splitRow(line, parting))
  const header = split(lines[0] ?? "")
  if (header.length < 2 || !header.every((name) => columnName.test(name))) return []
  const items = rowsUnder(header, lines, 1, split)
  return items.length === 0 ? [] : [{ type: "list", items }]
}

function splitRow(line: string, parting: string): readonly string[] {
  if (!line.includes('"')) return line.split(parting).map((cell) => cell.trim())
  const cells = parting === "," ? line.match(/(?:"(?:[^"]|"")*"|[^",])+|(?<=,)(?=,|$)/g) : line.split(parting)
  return (cells ?? []).map((cell) => cell.trim().replace(/^"(.*)"$/s, "$1"))
}

function rowsUnder(
  header: readonly string[],
  lines: readonly string[],
  start: number,
  cellsIn: (line: string) => readonly string[],
): readonly Tree[] {
  const items: Tree[] = []
  for (let at = start; at < lines.length && items.length < maxMentionsPerPart; at++) {
    const cells = cellsIn(lines[at] ?? "")
    if (cells.length !== header.length) break
    items.push({ type: "record", entries: cells.map((cell, n) => [header[n] ?? "", scalar(cell)] as const) })
  }
  return items
}

const scalar = (text: string): Tree => ({ type: "scalar", text, quoted: !/^-?\d[\d.]*$/.test(text) })

function cellsOf(line: string): readonly string[] {
  if (line.length > maxRowLength || !line.includes("|") || rule.test(line)) return []
  const trimmed = line.trim()
  const inner = trimmed.slice(trimmed.startsWith("|") ? 1 : 0, trimmed.endsWith("|") ? -1 : undefined)
  return inner.split("|").map((cell) => cell.trim())
}

/** The exact values of a transcript. A value: extending or merging makes a new one. */
export type Ledger = {
  readonly facts: ReadonlyMap<string, Fact>
  /** Commands that were started and whose outcome is not known yet, by call. */
  readonly running: ReadonlyMap<CallId, readonly string[]>
  /** How many messages were read. */
  readonly length: number
}

export const emptyLedger: Ledger = { facts: new Map(), running: new Map(), length: 0 }

export const buildLedger = (messages: Transcript): Ledger => extendLedger(emptyLedger, messages)

/** A fact that no one but its draft has seen: it may still change in place, as most do with every message. */
type Held = { -readonly [Name in keyof Fact]: Fact[Name] }

type Draft = {
  facts: Map<string, Held>
  running: Map<CallId, readonly string[]>
  length: number
  /** Facts first met from here on are the draft's own. */
  readonly start: number
}

/** Read on. The result is that of reading the whole; the work is that of the new messages and one pass over a ledger of bounded size. */
export function extendLedger(ledger: Ledger, newMessages: Transcript): Ledger {
  if (newMessages.length === 0) return ledger
  const { running, length } = ledger
  const draft: Draft = { facts: new Map(ledger.facts), running: new Map(running), length, start: length }
  for (const message of newMessages) readMessage(draft, message)
  return { facts: markSuperseded(draft.facts), running: draft.running, length: draft.length }
}

/** Read so much of a transcript in one step: some milliseconds' work, beside the pass over the ledger. */
const stepMessages = 100
const stepLength = 200_000

/** The same, some messages at a time. */
export function* extendSteps(ledger: Ledger, newMessages: Transcript): Steps<Ledger> {
  let read = ledger
  for (let from = 0, to = 0; from < newMessages.length; from = to) {
    let length = 0
    do length += newMessages[to++]?.wire?.length ?? 0
    while (to < newMessages.length && to - from < stepMessages && length < stepLength)
    read = extendLedger(read, newMessages.slice(from, to))
    yield
  }
  return read
}

/** Two ledgers of one transcript as one, whichever stretches of it they saw. */
export function mergeLedgers(older: Ledger, newer: Ledger): Ledger {
  const facts = new Map(older.facts)
  for (const [key, fact] of newer.facts) {
    const known = facts.get(key)
    facts.set(key, known === undefined ? fact : joinFacts(known, fact))
  }
  const length = Math.max(older.length, newer.length)
  return {
    facts: markSuperseded(within(facts, maxFacts, maxFacts)),
    running: runningOf(older, newer),
    length,
  }
}

/** The ledger that read further knows which commands have ended. */
function runningOf(older: Ledger, newer: Ledger): Ledger["running"] {
  if (older.length !== newer.length) return older.length > newer.length ? older.running : newer.running
  return new Map([...older.running, ...newer.running])
}

function readMessage(draft: Draft, message: Message): void {
  const called = new Set<string>()
  for (const said of mentionsIn(message, { opening: draft.facts.size === 0 })) {
    const keys = said.mentions.map((mention) => remember(draft, message, said, mention, called))
    if (said.reading.inCall && said.callId !== undefined) startCommands(draft, said.callId, keys)
  }
  for (const part of message.parts) if (part.type === "tool-result") endCommands(draft, part.callId, hasFailed(part))
  draft.facts = within(draft.facts, maxFacts, keptFacts)
  draft.length++
}

function remember(draft: Draft, message: Message, said: Said, mention: Mention, called: Set<string>): string {
  const { channel, spoken } = said.reading
  const inCall = said.reading.inCall || (mention.kind === "command" && channel === "assistant")
  const key = factKey(mention, channel)
  const known = draft.facts.get(key)
  const position = draft.length
  const isSpoken = spoken && !said.reading.inCall && channel !== "tool"
  const isCall = inCall && !called.has(key)
  const givenByUser = spoken && channel === "user"
  if (isCall) called.add(key)
  if (known !== undefined && isCalledSo(known, mention)) {
    const held = known.first >= draft.start ? known : { ...known }
    if (held !== known) draft.facts.set(key, held)
    meetAgain(held, position, isCall)
    held.givenByUser ||= givenByUser
    if (isSpoken) held.said = true
    return key
  }
  const fresh: Fact = {
    ...mention,
    source: { messageId: message.id, ...(said.callId === undefined ? {} : { callId: said.callId }) },
    channel,
    first: position,
    last: position,
    uses: known === undefined ? 1 : known.uses + (known.last === position ? 0 : 1),
    usedInCalls: (known?.usedInCalls ?? 0) + (isCall ? 1 : 0),
    givenByUser,
    state: stateOf(known),
    ...(isSpoken ? { said: true as const } : {}),
  }
  draft.facts.set(key, known === undefined ? fresh : joinFacts(known, fresh))
  return key
}

/** What was replaced and comes up again holds again. */
const stateOf = (known: Fact | undefined): FactState =>
  known === undefined || known.state === "superseded" ? "current" : known.state

function meetAgain(fact: Held, position: number, isCall: boolean): void {
  if (fact.last !== position) fact.uses++
  if (isCall) fact.usedInCalls++
  fact.last = position
  fact.state = stateOf(fact)
}

/** Nothing is new about it but that it came up again, as most values do: there is nothing to join. */
const isCalledSo = (known: Fact, { kind, label, labelFrom, subject, updates }: Mention): boolean =>
  known.kind === kind &&
  known.label === label &&
  known.labelFrom === labelFrom &&
  known.subject === subject &&
  known.updates === updates

function startCommands({ facts, running }: Draft, callId: CallId, keys: readonly string[]): void {
  const commands = keys.filter((key) => facts.get(key)?.kind === "command")
  if (commands.length === 0) return
  running.set(callId, commands)
  const [oldest] = running.keys()
  if (running.size > maxOpenCalls && oldest !== undefined) running.delete(oldest)
}

function endCommands({ facts, running, length }: Draft, callId: CallId, failed: boolean): void {
  for (const key of running.get(callId) ?? []) {
    const fact = facts.get(key)
    if (fact !== undefined) facts.set(key, { ...fact, last: length, state: stateAfter(fact.state, failed) })
  }
  running.delete(callId)
}

/** Beyond `most` only the worthiest `kept` stay: what the user gave and calls used before all that outputs held. */
function within(facts: Map<string, Held>, most: number, kept: number): Map<string, Held> {
  if (facts.size <= most) return facts
  const worths = new Float64Array(facts.size)
  let n = 0
  for (const fact of facts.values()) worths[n++] = keepWorth(fact)
  const sorted = worths.toSorted()
  const least = sorted[sorted.length - kept] ?? 0
  const room = kept - (sorted.length - sorted.findLastIndex((worth) => worth <= least) - 1)
  const tied: string[] = []
  const stay = new Map<string, Held>()
  let at = 0
  for (const key of facts.keys()) if (worths[at++] === least) tied.push(key)
  const chosen = new Set(tied.sort().slice(0, room))
  at = 0
  for (const [key, fact] of facts) if ((worths[at++] ?? 0) > least || chosen.has(key)) stay.set(key, fact)
  return stay
}

/** What one part of a message says. */
type Said = { readonly reading: TextOrigin; readonly callId?: CallId; readonly mentions: readonly Mention[] }

/** The values in a message, part by part. Standing instructions and the model's own reasoning are not facts of the conversation. */
function mentionsIn({ role, parts }: Message, { opening }: { readonly opening: boolean }): readonly Said[] {
  if (role === "system") return []
  return parts.flatMap((part): readonly Said[] => {
    if (part.type === "reasoning") return []
    const channel = channelOf(role, part)
    if (channel === "system" || channel === "operator") return []
    const inCall = part.type === "tool-call"
    const text = inCall && typeof part.input === "object" ? "" : textOf(part)
    const spoken = inCall || (opening && channel === "user") || text.length <= longestSaid(channel)
    const reading: TextOrigin = { channel, inCall, spoken }
    const call = part.type === "tool-call" || part.type === "tool-result" ? { callId: part.callId } : {}
    return [{ reading, ...call, mentions: read(part, text, reading) }]
  })
}

/** The longest text of a channel that someone wrote for this conversation; a longer one was printed or pasted. */
function longestSaid(channel: Channel): number {
  if (channel === "tool") return maxShortAnswerLength
  return channel === "user" ? maxTypedLength : Number.POSITIVE_INFINITY
}

function read(part: Part, whole: string, reading: TextOrigin): readonly Mention[] {
  const ends =
    whole.length <= 2 * maxScannedPerEnd ? [whole] : [whole.slice(0, maxScannedPerEnd), whole.slice(-maxScannedPerEnd)]
  const structured = part.type === "tool-call" || part.type === "tool-result" || part.type === "document"
  const found: Mention[] = []
  const emit: Emit = (mention) => {
    if (found.length < maxMentionsPerPart) found.push(mention)
  }
  if (part.type === "tool-call" && typeof part.input === "object") {
    recordMentions(treeOf(part.input, maxScannedPerEnd), reading, emit)
    return found
  }
  for (const text of ends) {
    const tree = structured ? readTree(text) : undefined
    if (tree === undefined) writtenMentions(text, reading, emit)
    else recordMentions(tree, reading, emit)
  }
  return found
}

/** A text that people read: the records written out in it, then the values it speaks of. */
function writtenMentions(text: string, reading: TextOrigin, emit: Emit): void {
  const inner = embeddedTree(text)
  if (inner !== undefined) recordMentions(inner, reading, emit)
  for (const read of [readTables, readPairLines, readMarkup]) {
    for (const record of read(text)) recordMentions(record, reading, emit)
  }
  textMentions(text, reading, emit)
}
