import { HoldfastError } from "../message/errors.ts"
import { type Message, type Part, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Branch, Checkpoint, Explanation, HistoryEntry, Overview, Shown } from "../session/inspect.ts"
import { type CallVerdict, type EntryType, seqOf } from "../session/log/entry.ts"
import type { SessionPin } from "../session/rules/pins.ts"
import type { Session } from "../session/session.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { isObject } from "../wire/json.ts"
import { type AskedSession, askSession, openSession, placeWords, shortNames, storeOptions } from "./ask-store.ts"
import type { Arguments, Command, CommandAnswer } from "./command.ts"
import { openRuled } from "./standing-rules.ts"
import {
  clip,
  count,
  indent,
  moment,
  number,
  type Paper,
  paragraph,
  paragraphs,
  right,
  sentenceOf,
  table,
  wrap,
} from "./terminal/output.ts"
import words from "./terminal/words.json" with { type: "json" }
import { ownTextOf, shortenWords } from "./words.ts"
import type { World } from "./world.ts"

const stateWords: Readonly<Record<Explanation["state"], string>> = words.states

/** Limit on the rows shown of a text; --json has all of it. */
const maxRows = 60
/** Limit on the characters of a text that are wrapped into rows. */
const maxLooked = 20_000
/** Limit on the digest lines, and on the trace events, that are listed. */
const maxListed = 20

/** The report about one entry, for people. */
function accountEntry(entry: HistoryEntry, explanation: Explanation, paper: Paper): readonly string[] {
  const { changes, lines, state } = explanation
  const words = entryWords(entry)
  const rows = wrap(words.slice(0, maxLooked), paper.width - 2)
  const isCut = rows.length > maxRows || words.length > maxLooked
  const events = eventsOf(explanation.trace)
  return [
    paper.bold(`Entry ${entry.id}, ${entryFrom(entry)}, ${moment(entry.atMs)} (UTC)`),
    ...rows.slice(0, maxRows).map((row) => `${paper.dim("|")} ${row}`.trimEnd()),
    ...(isCut ? [paper.dim("It is longer; --json has all of it.")] : []),
    "",
    ...paragraph("Shown now", `${stateWords[state]}.`, paper),
    ...paragraphs("Changed", changes.map(changeWords), paper),
    ...paragraphs(
      "Digest",
      lines.slice(0, maxListed).map((line) => clip(line, paper.width * 2)),
      paper,
    ),
    ...paragraphs("Trace", events, paper),
  ]
}

function changeWords({ checkpoint, atMs, undone, what, reason }: Explanation["changes"][number]): string {
  const done = `${what === "shortened" ? "shortened" : "left out"} by ${checkpoint}, ${moment(atMs)}`
  return `${done}: ${reasonWords(reason)}${undone ? "; undone since" : ""}`
}

const isShortening = (reason: string): reason is keyof typeof shortenWords => Object.hasOwn(shortenWords, reason)
const reasonWords = (reason: string): string => (isShortening(reason) ? shortenWords[reason] : reason)

function eventsOf(trace: unknown): readonly string[] {
  if (!Array.isArray(trace)) return []
  const counts = new Map<string, number>()
  for (const event of trace) {
    const type = typeof event === "object" && event !== null ? String(event.type) : "unknown"
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return [...counts].slice(0, maxListed).map(([type, times]) => (times === 1 ? type : `${type}, ${times} times`))
}

type SessionAccount = {
  readonly row: SessionRow
  readonly overview: Overview
  readonly pins: readonly SessionPin[]
  /** The last message, if there is one. */
  readonly latest?: HistoryEntry
  /** The store in words. */
  readonly place: string
  readonly log?: readonly HistoryEntry[]
}

/** Limit on the items listed of each kind; --json has all. */
const maxListedSessions = 12

/** The report about a session, for people. */
function accountSession(account: SessionAccount, paper: Paper): readonly string[] {
  const { row, overview, pins, latest, place, log } = account
  const { id, agent, createdMs, updatedMs } = row
  const title = `Session ${id}${agent === "" ? "" : ` of agent ${agent}`}`
  const said = latest === undefined ? "nothing yet" : `${latest.id}, ${entryFrom(latest)}: ${entryWords(latest)}`
  const stored = `all ${count(overview.entries, "entry", "entries")} in ${place}; sessions verify checks every one.`
  return [
    paper.bold(sentenceOf(title)),
    `Begun ${moment(createdMs)}, last written ${moment(updatedMs)} (UTC).`,
    "",
    ...paragraph("Entries", entriesSentence(overview), paper),
    ...listed("Branches", overview.branches, branchLine, paper),
    ...listed("Compacted", overview.checkpoints, checkpointLine, paper),
    ...paragraph("Shown now", shownSentence(overview.shown), paper),
    ...listed("Pins", pins, ({ id: pin, text, channel }) => `${pin}, ${channel}: ${text}`, paper),
    ...paragraph("Latest", clip(said, (paper.width - indent) * 2), paper),
    ...paragraph("Durable", overview.durable ? stored : "not everything is in the store yet.", paper),
    ...(log === undefined ? [] : ["", ...log.map((entry) => logLine(entry, paper))]),
  ]
}

function entriesSentence({ entries, types }: Overview): string {
  const kinds = Object.entries(types).map(([type, value]) => countOfType(type, value))
  return `${number(entries)}: ${kinds.join(", ")}.`
}

function listed<Item>(
  label: string,
  items: readonly Item[],
  lineOf: (item: Item) => string,
  paper: Paper,
): readonly string[] {
  const rest = items.length > maxListedSessions ? [`and ${number(items.length - maxListedSessions)} more`] : []
  const lines = items.length === 0 ? ["none"] : [...items.slice(0, maxListedSessions).map(lineOf), ...rest]
  return paragraphs(
    label,
    lines.map((line) => clip(line, (paper.width - indent) * 3)),
    paper,
  )
}

const branchLine = ({ tip, messages, current }: Branch): string =>
  `${tip}: ${count(messages, "message")}${current ? ", the one that the session is on" : ""}`

function checkpointLine({ id, atMs, remedy, beforeTokens, afterTokens, undone, inForce, upTo }: Checkpoint): string {
  const state = inForce ? ", in force" : undone ? ", undone" : ""
  return `${id}, ${moment(atMs)}, ${remedy}: ${number(beforeTokens)} -> ${number(afterTokens)} tokens, up to ${upTo}${state}`
}

function shownSentence({ whole, shortened, leftOut, standing, made }: Shown): string {
  const ours = [
    [made.digest, "digest"],
    [made.pins, "message of pinned rules", "messages of pinned rules"],
    [made.memory, "message of retrieved memory", "messages of retrieved memory"],
    [made.other, "message carried over", "messages carried over"],
    [standing, "message of the prompt stack", "messages of the prompt stack"],
  ] as const
  const beside = ours.flatMap(([value, one, several]) => (value === 0 ? [] : [count(value, one, several)]))
  return [
    `${count(whole, "message")} whole`,
    ...(shortened === 0 ? [] : [`${number(shortened)} with less of their results`]),
    ...beside,
    `${number(leftOut)} left out.`,
  ].join(", ")
}

function logLine(entry: HistoryEntry, { width, dim }: Paper): string {
  const head = `${entry.id.padStart(6)}  ${moment(entry.atMs)}  ${(entry.message?.role ?? "").padEnd(9)}  `
  const words = clip(entryWords(entry), Math.max(20, width - head.length))
  return entry.onBranch === false ? dim(`${head}${words}`) : `${head}${words}`
}

const nouns: Readonly<Record<EntryType, { readonly one: string; readonly several: string }>> = words.entries

const isType = (type: string): type is EntryType => Object.hasOwn(nouns, type)

/** "3 messages". An unknown type is printed as it is. */
function countOfType(type: string, value: number): string {
  const { one, several } = isType(type) ? nouns[type] : { one: type, several: type }
  return count(value, one, several)
}

function entryWords({ message, body, type }: HistoryEntry): string {
  if (message !== undefined) return messageWords(message)
  if (body === undefined) return "the session begins"
  switch (body.type) {
    case "branch-opened":
      return `the history goes another way behind e${body.from}; ${count(body.left, "message")} left behind`
    case "checkpoint-installed":
      return `compacted up to e${body.node} (${body.remedy}), ${body.beforeTokens} -> ${body.afterTokens} tokens`
    case "checkpoint-undone":
      return `the compaction e${body.checkpoint} is taken back`
    case "rule-pinned":
      return `pinned (${body.channel}, ${body.by}): ${body.text}`
    case "rule-unpinned":
      return `the pin e${body.pin} is taken out${body.said === undefined ? "" : ` by the words of e${body.said}`}`
    case "calls-judged":
      return body.calls.map(judgedWords).join("; ")
    case "summary-begun":
      return `a summary of ${count(body.covered.length, "message")} was begun in the background`
    case "memory-flushed":
      return `${count(body.rows, "line")} written to memory, up to e${body.upTo}`
    case "memory-retrieved":
      return `memory was put before e${body.before}: ${messageWords(body.message)}`
    case "handoff-restored":
      return `what the client's own summary lost was put before e${body.before}: ${messageWords(body.message)}`
    case "text-recalled":
      return `what was fetched for the answer to e${body.after} stays: ${messageWords(body.message)}`
    case "lookups-repeated":
      return `${count(body.lookups.length, "lookup")} repeated after the compaction e${body.checkpoint}: ${body.lookups.map(({ tool, target }) => `${tool} ${target}`).join(", ")}`
    case "usage-reported":
      return body.estimatedTokens === 0
        ? `${body.model} reports ${body.usage.inputTokens} tokens in`
        : `${body.model} reports ${body.usage.inputTokens} tokens in; ${body.estimatedTokens} were counted`
    case "stack-seen":
      return `prompt stack ${body.hash.slice(0, 12)}, ${count(body.documents.length, "document")}`
    case "stack-installed":
      return `prompt stack ${body.hash.slice(0, 12)} of ${count(body.sections.length, "section")}, ${body.stackTokens} tokens, is sent from here on`
    default:
      return type
  }
}

function judgedWords({ tool, decision, policies, enforced, observed = [] }: CallVerdict): string {
  const named = policies.join(", ")
  const what =
    policies.length === 0
      ? decision
      : decision === "allow"
        ? `allow (${named} on trial would not)`
        : `${decision} by ${named}${enforced ? "" : " (not enforced)"}`
  // What is stopped anyway is not stopped once more.
  const stricter = observed.filter((one) => decision === "allow" || (decision === "ask" && one.decision === "deny"))
  const others = stricter.map(
    (one) => `; it would be ${one.decision === "deny" ? "denied" : "asked about"} by the rule: ${one.rule}`,
  )
  return [`${tool}: ${what}`, ...others].join("")
}

const entryFrom = ({ message, type }: HistoryEntry): string => message?.role ?? (isType(type) ? nouns[type].one : type)

/** The text of a message, with calls and results named. */
export const messageWords = ({ parts }: Message): string => parts.map(partWords).join("\n")

function partWords(part: Part): string {
  if (part.type === "tool-call") return `[call of ${part.tool}] ${textOf(part)}`
  if (part.type === "tool-result") return `[result${part.tool === undefined ? "" : ` of ${part.tool}`}] ${textOf(part)}`
  if (part.type === "text") return part.text
  const text = textOf(part)
  return `[${part.type}]${text === "" ? "" : ` ${text}`}`
}

/** A session in a list. Figures that could not be read are left out. */
export type ListedSession = SessionRow & {
  /** The shortest unique prefix of its id. */
  readonly name: string
  readonly firstWords?: string
  /** The last reported input tokens of a model call. */
  readonly contextTokens?: number
  readonly compactions?: number
}

/** Number of entries at the start and at the end of a log that are searched for the first words and the last usage report. */
const entriesSearched = 40

/** A session for a list, even if it is damaged: `sessions verify` says what is wrong. */
async function listedSession(store: Store, row: SessionRow, name: string): Promise<ListedSession> {
  try {
    const session = openSession(store, row)
    const first = await session.history({ limit: entriesSearched })
    const last = await session.history({
      from: Math.max(1, row.head.seq - entriesSearched),
      limit: entriesSearched + 1,
    })
    const spoken = first.flatMap(({ message }) => (message?.role === "user" ? [ownTextOf(message)] : []))
    const report = last.findLast(({ body }) => body?.type === "usage-reported")?.body
    const { types } = await session.overview()
    return {
      ...row,
      name,
      compactions: types["checkpoint-installed"] ?? 0,
      ...present({
        firstWords: spoken.find((text) => text !== "")?.slice(0, firstWordsLength),
        contextTokens:
          report?.type === "usage-reported" ? Math.round(report.usage.inputTokens / (report.calls ?? 1)) : undefined,
      }),
    }
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    return { ...row, name }
  }
}

export async function listSessions(store: Store, rows: readonly SessionRow[]): Promise<readonly ListedSession[]> {
  const nameOf = shortNames(await store.sessions())
  const listed: ListedSession[] = []
  for (const row of rows) listed.push(await listedSession(store, row, nameOf(row.id)))
  return listed
}

const firstWordsLength = 200

/** Sessions as a table, with an agent column only if there are several agents. */
export function sessionTable(sessions: readonly ListedSession[], paper: Paper): readonly string[] {
  const hasAgents = new Set(sessions.map(({ agent }) => agent)).size > 1
  const columns = [
    "LAST WRITTEN",
    right("CONTEXT"),
    right("COMPACTED"),
    ...(hasAgents ? ["AGENT"] : []),
    { title: "FIRST WORDS", fit: "cut" as const },
    "SESSION",
  ]
  const rows = sessions.map(({ name, agent, updatedMs, firstWords, contextTokens, compactions }) => [
    moment(updatedMs),
    contextTokens === undefined ? "-" : number(contextTokens),
    compactions === undefined ? "?" : number(compactions),
    ...(hasAgents ? [agent === "" ? "-" : agent] : []),
    clip(firstWords ?? "-", firstWordsWidth),
    name,
  ])
  return table(columns, rows, paper)
}

/** Maximum width of the column with the first words. */
const firstWordsWidth = 48

export const sessionsShow: Command = {
  options: {
    compaction: { value: "eN", help: "one compaction with its handoff, as the model reads it; last for the newest" },
    entry: { value: "eN", help: "explain one entry: what it says, how it is shown now, and why" },
    log: { help: "list the log as well, an entry a line" },
    ...storeOptions,
  },
  maxPositionals: 1,
  run: (args, world) =>
    askSession(args, world, (asked) => {
      const [entry, compaction] = [args.valueOf("entry"), args.valueOf("compaction")]
      if (compaction !== undefined) return showCompaction(asked, compaction)
      return entry === undefined ? showSession(asked, args, world) : showEntry(asked, entry)
    }),
}

async function showSession(asked: AskedSession, args: Arguments, world: World): Promise<CommandAnswer> {
  const { row, session, place, store } = asked
  const overview = await session.overview()
  if (overview.entries < row.head.seq) {
    const reason = `only ${overview.entries} of its ${row.head.seq} entries could be read`
    throw new HoldfastError({ code: "store-corrupt", store: store.kind, session: row.id, reason })
  }
  const pins = await (await openRuled(asked, args, world)).session(row).pins()
  const tip = seqOf(overview.branches.find(({ current }) => current)?.tip ?? "")
  const [latest] = tip === undefined ? [] : await session.history({ from: tip, limit: 1 })
  const log = args.isOn("log") ? await wholeLog(session, overview.entries) : undefined
  const account = { row, overview, pins, place: placeWords(place), ...present({ latest, log }) }
  return {
    json: { session: row, overview, pins, ...present({ latest, log }) },
    text: (paper) => accountSession(account, paper),
  }
}

async function wholeLog(session: Session, entries: number): Promise<readonly HistoryEntry[]> {
  const pages: (readonly HistoryEntry[])[] = []
  for (let from = 1; from <= entries; ) {
    const page = await session.history({ from })
    if (page.length === 0) break
    pages.push(page)
    from += page.length
  }
  return pages.flat()
}

async function showEntry({ row, session }: AskedSession, id: string): Promise<CommandAnswer> {
  const explanation = await session.explain(id)
  const [entry] = await session.history({ from: seqOf(id) ?? 0, limit: 1 })
  if (entry === undefined) throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: id })
  return { json: { entry, explanation }, text: (paper) => accountEntry(entry, explanation, paper) }
}

/** Shows one compaction: its sizes, what it left out and shortened, and the handoff. */
async function showCompaction(asked: AskedSession, named: string): Promise<CommandAnswer> {
  const { row, session } = asked
  const { checkpoints } = await session.overview()
  const found = named === "last" ? checkpoints[0] : checkpoints.find(({ id }) => id === named)
  if (found === undefined && checkpoints.length === 0)
    return { json: { compactions: [] }, text: () => ["Nothing was compacted in this session."] }
  if (found === undefined) throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: named })
  const trace = tracePieces((await session.explain(found.id)).trace)
  const others = checkpoints.flatMap(({ id }) => (id === found.id ? [] : [id]))
  return {
    json: { compaction: found, ...trace },
    text: (paper) => [
      ...wrap(sentenceOf(`Compaction ${checkpointLine(found)}`), paper.width).map(paper.bold),
      "",
      ...paragraph("Left out", droppedSentence(trace.dropped), paper),
      ...paragraph("Shortened", shortenedSentence(trace.shortened), paper),
      ...(others.length === 0 ? [] : paragraph("Others", clip(others.join(", "), paper.width * 2), paper)),
      "",
      ...(trace.handoff === undefined
        ? ["There is no handoff: nothing that was said was left out."]
        : [
            paper.bold("What the model reads in their place"),
            ...wrap(trace.handoff, paper.width - 2).map((line) => `${paper.dim("|")} ${line}`.trimEnd()),
          ]),
    ],
  }
}

type TracePieces = {
  readonly dropped: readonly string[]
  readonly shortened: Readonly<Record<string, number>>
  readonly handoff?: string
}

/** The changes to messages in the trace of a compaction. */
function tracePieces(trace: unknown): TracePieces {
  const events = Array.isArray(trace) ? trace.filter(isObject) : []
  const shortened: Record<string, number> = {}
  for (const { type, reason } of events)
    if (type === "result-shortened" && typeof reason === "string") shortened[reason] = (shortened[reason] ?? 0) + 1
  const dropped = events.flatMap(({ type, messageIds }) =>
    type === "messages-dropped" && Array.isArray(messageIds) ? messageIds.map(String) : [],
  )
  const digest = events.findLast(({ type, role }) => type === "message-installed" && role === "digest")?.message
  const parts = isObject(digest) && Array.isArray(digest.parts) ? digest.parts.filter(isObject) : []
  const handoff = parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n")
  return { dropped, shortened, ...(handoff === "" ? {} : { handoff }) }
}

/** The entries that were left out. An earlier handoff is not an entry; the new one replaces it. */
function droppedSentence(dropped: readonly string[]): string {
  const entries = dropped.filter((id) => seqOf(id) !== undefined)
  const earlier = entries.length < dropped.length ? ", and the earlier handoff" : ""
  return `${count(entries.length, "message")}${entries.length === 0 ? "" : `: ${entries.join(", ")}`}${earlier}`
}

function shortenedSentence(shortened: TracePieces["shortened"]): string {
  const kinds = Object.entries(shortened).map(([reason, times]) => `${count(times, "result")} (${reasonWords(reason)})`)
  return kinds.length === 0 ? "no result" : kinds.join(", ")
}
