import {
  type Message,
  type MessageId,
  messageId,
  type Part,
  type Tool,
  type Transcript,
  type Wire,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { codecs } from "../wire/codecs.ts"
import { countIn, elements, isObject, isTrue, type Json, member, readJson, stringIn, wireOf } from "../wire/json.ts"
import { write, writeList, writeObject } from "../wire/json-write.ts"
import lineTypes from "./claude-code-lines.json" with { type: "json" }
import type {
  AbandonedBranch,
  Compaction,
  Conversation,
  MessageNote,
  SkippedLine,
  SkipReason,
  TranscriptFile,
} from "./conversation.ts"
import { type Line, type Lines, readLines } from "./lines.ts"
import { messagesAlong, offshoots, pathTo } from "./tree.ts"

const kind = "claude-code"

/** Known line types that the model never sees. */
const bookkeeping: ReadonlySet<string> = new Set(lineTypes.bookkeeping)

/** State while the lines are read. */
type Session = {
  readonly main: Map<string, Entry>
  /** The threads of subagents: by agent id, or by first entry if an older version wrote no id. */
  readonly sides: Map<string, Map<string, Entry>>
  readonly sideOf: Map<string, string>
  readonly skipped: SkippedLine[]
  readonly titles: { readonly type: string; readonly title: string; readonly leaf?: string }[]
  readonly shapes: Shapes
  meta: Readonly<Record<string, unknown>>
  /** The newest leaf that a line names, and the newest entry with a message. */
  named?: string | undefined
  last?: Entry
}

/** Reads a Claude Code session: the current thread, its branches and compactions, and its subagents. */
export function readClaudeCode(text: string): TranscriptFile {
  const session: Session = {
    main: new Map(),
    sides: new Map(),
    sideOf: new Map(),
    skipped: [],
    titles: [],
    shapes: { all: [] },
    meta: {},
  }
  const lines = readLines(text, (line) => readLine(line, session))
  if (lines.cut !== undefined) session.skipped.push(lines.cut)
  const main = session.main.size === 0 && session.sides.size > 0 ? [] : [mainConversation(session, lines)]
  const sides = [...session.sides.values()].map((entries) => sideConversation(entries, session, lines))
  return { kind, conversations: [...main, ...sides], skipped: session.skipped }
}

function readLine(line: Line, session: Session): void {
  const type = stringIn(line.json, "type")
  const entry = readEntry(line)
  noteTitle(line.json, type, session)
  noteShape(session.shapes, line, type)
  session.named = stringIn(line.json, "leafUuid") ?? session.named
  if (session.meta.sessionId === undefined) session.meta = metaOf(line.json)
  const repeated = entry !== undefined && isKnown(entry, session)
  if (entry?.message === undefined || repeated) {
    if (entry?.boundary === undefined) session.skipped.push(skip(line, type, repeated))
    if (entry === undefined || repeated) return
  }
  place(entry, session)
}

const isKnown = ({ id, agent }: Entry, { main, sideOf }: Session): boolean =>
  agent === undefined ? main.has(id) : sideOf.has(id)

function place(entry: Entry, session: Session): void {
  if (entry.agent !== undefined) {
    const key = entry.agent || (session.sideOf.get(entry.parent ?? "") ?? entry.id)
    const side = session.sides.get(key) ?? new Map<string, Entry>()
    session.sides.set(key, side.set(entry.id, entry))
    session.sideOf.set(entry.id, key)
    return
  }
  // A compaction whose parent is missing still follows the entry before it in the file.
  const isDetached = entry.boundary !== undefined && (entry.parent === undefined || !session.main.has(entry.parent))
  const before = isDetached ? session.last : undefined
  session.main.set(entry.id, before === undefined ? entry : { ...entry, parent: before.id })
  if (entry.message !== undefined || entry.boundary !== undefined) session.last = entry
}

function skip({ number, text }: Line, type: string | undefined, repeated: boolean): SkippedLine {
  const known = type !== undefined && bookkeeping.has(type)
  const reason: SkipReason = repeated ? "repeated" : known ? "no-message" : "unknown-type"
  return { line: number, reason, text, ...present({ type }) }
}

function noteTitle(json: Json, type: string | undefined, { titles }: Session): void {
  const title = stringIn(json, "customTitle") ?? stringIn(json, "aiTitle") ?? stringIn(json, "summary")
  if (title === undefined || type === undefined || !["custom-title", "ai-title", "summary"].includes(type)) return
  titles.push({ type, title, ...present({ leaf: stringIn(json, "leafUuid") }) })
}

const metaOf = (json: Json): Readonly<Record<string, unknown>> =>
  present({
    sessionId: stringIn(json, "sessionId"),
    cwd: stringIn(json, "cwd"),
    version: stringIn(json, "version"),
    gitBranch: stringIn(json, "gitBranch"),
  })

/** Returns the newest entry, unless a line names a leaf that is not its ancestor: then the user went back to that leaf. */
function leafOf({ main, last, named }: Session): string | undefined {
  if (named === undefined || !main.has(named)) return last?.id
  const ancestors = new Set(pathTo(main, last?.id).map(({ id }) => id))
  return ancestors.has(named) ? last?.id : named
}

/** Returns the user's own title, otherwise the generated one, otherwise the summary of this thread. */
function titleOf({ titles }: Session, path: ReadonlySet<string>): string | undefined {
  const newest = (type: string): string | undefined => titles.findLast((title) => title.type === type)?.title
  const summary = titles.findLast(({ type, leaf }) => type === "summary" && leaf !== undefined && path.has(leaf))
  return newest("custom-title") ?? newest("ai-title") ?? summary?.title ?? newest("summary")
}

function mainConversation(session: Session, lines: Lines): Conversation {
  const leaf = leafOf(session)
  const thread = readThread(session.main, leaf)
  const owners = [...lines.all.keys()]
  const shape = mainShape(session.shapes)
  const conversation = conversationOf(thread, session, lines, owners, leaf, shape)
  return { ...conversation, ...present({ title: titleOf(session, thread.path) }) }
}

/** Reads a subagent's thread; if the file contains nothing else, all its lines belong to it. */
function sideConversation(entries: ReadonlyMap<string, Entry>, session: Session, lines: Lines): Conversation {
  const leaf = [...entries.values()].findLast(({ message }) => message !== undefined)?.id
  const only = session.main.size === 0 && session.sides.size === 1
  const owners = only ? [...lines.all.keys()] : [...entries.values()].map(({ index }) => index)
  const agentId = [...entries.values()][0]?.agent || undefined
  const meta = { ...session.meta, ...present({ agentId }) }
  return {
    ...conversationOf(readThread(entries, leaf), { ...session, meta }, lines, owners, leaf),
    sidechain: true,
  }
}

function conversationOf(
  { messages, owned, compactions, branches, notes, model }: Thread,
  { meta }: Session,
  { all, cut }: Lines,
  indexes: readonly number[],
  leaf: string | undefined,
  shape?: Shape,
): Conversation {
  const places = new Map(indexes.map((index, n) => [index, n]))
  const lines = indexes.map((index) => all[index] ?? "")
  const mine = [...owned].map(([message, at]) => [message, at.flatMap((index) => places.get(index) ?? [])] as const)
  const id = typeof meta.sessionId === "string" ? meta.sessionId : undefined
  return {
    format: "anthropic-messages",
    system: shape?.system ?? [],
    tools: shape?.tools ?? [],
    messages,
    compactions,
    branches,
    notes,
    meta,
    origin: {
      type: "lines",
      kind,
      lines,
      owned: new Map(mine),
      messages,
      head: shape === undefined ? [] : [shape.index],
      cut: cut !== undefined && all.length === indexes.length,
      ...present({ leaf }),
    },
    ...present({ id, model }),
  }
}

/** A line of the session tree: its parent and its message. */
type Entry = {
  readonly id: string
  readonly parent?: string
  /** Its index among the lines of the file. */
  readonly index: number
  /** The subagent that it belongs to, if any. */
  readonly agent?: string
  readonly message?: Message
  /** The id that the API gave the answer, whose blocks may be spread over several lines. */
  readonly answer?: string
  readonly model?: string
  readonly note?: MessageNote["note"]
  readonly isSummary: boolean
  readonly boundary?: Boundary
}

/** A compaction by Claude Code, and which earlier lines it kept verbatim. */
type Boundary = {
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly kept: readonly string[]
  readonly keptRange?: { readonly head: string; readonly tail: string }
}

/** Reads a line as an entry of the tree; undefined for a line that is none. */
function readEntry({ json, index }: Line): Entry | undefined {
  const id = stringIn(json, "uuid")
  if (id === undefined) return undefined
  const boundary = stringIn(json, "subtype") === "compact_boundary" ? readBoundary(json) : undefined
  const agent = isTrue(json, "isSidechain") ? (stringIn(json, "agentId") ?? "") : undefined
  const inner = member(json, "message")
  const said = inner !== undefined && isObject(inner.value) ? readSpoken(json, inner) : readRendered(json)
  return {
    id,
    index,
    isSummary: isTrue(json, "isCompactSummary"),
    ...said,
    ...present({ parent: stringIn(json, "parentUuid") ?? stringIn(json, "logicalParentUuid"), agent, boundary }),
  }
}

const speakers: ReadonlySet<string | undefined> = new Set(["user", "assistant", "system"])

function readSpoken(json: Json, inner: Json): Pick<Entry, "message" | "answer" | "model" | "note"> | undefined {
  if (!speakers.has(stringIn(json, "type"))) return undefined
  const read = codecs["anthropic-messages"].readMessage(inner, [])
  const model = stringIn(inner, "model")
  const synthetic = model === "<synthetic>" || isTrue(json, "isApiErrorMessage")
  return {
    message: { ...read, wire: sendable(inner) },
    ...present({
      answer: read.role === "assistant" ? stringIn(inner, "id") : undefined,
      model: synthetic ? undefined : model,
      note: synthetic ? "synthetic" : isTrue(json, "isMeta") ? "client-written" : undefined,
    } as const),
  }
}

/** Reads a reminder or attached file as the model saw it; older versions did not store that. */
function readRendered(json: Json): Pick<Entry, "message" | "note"> | undefined {
  const rendered = stringIn(json, "type") === "attachment" ? member(json, "rendered") : undefined
  const blocks = elements(rendered).flatMap((piece): readonly Wire[] => {
    const content = member(piece, "content")
    if (typeof content?.value === "string") return [write({ type: "text", text: content.value })]
    return elements(content).map(wireOf)
  })
  if (blocks.length === 0) return undefined
  const wire = writeObject({ role: write("user"), content: writeList(blocks) })
  const message = codecs["anthropic-messages"].readMessage(readJson(wire, "request"), [])
  return { message, note: "client-written" }
}

/** Returns the message as the API accepts it: a stored answer also has an id, model and usage, which a request must not contain. */
function sendable(inner: Json): NonNullable<Message["wire"]> {
  const names = Object.keys(isObject(inner.value) ? inner.value : {})
  if (names.every((name) => name === "role" || name === "content")) return wireOf(inner)
  const kept = ["role", "content"].flatMap((name) => member(inner, name) ?? [])
  return writeObject(Object.fromEntries(kept.map((json) => [json.key, wireOf(json)])))
}

function readBoundary(json: Json): Boundary {
  const meta = member(json, "compactMetadata")
  const segment = member(meta, "preservedSegment")
  const head = stringIn(segment, "headUuid")
  const tail = stringIn(segment, "tailUuid")
  const uuids = elements(member(member(meta, "preservedMessages"), "uuids"))
  const kept = uuids.flatMap(({ value }) => (typeof value === "string" ? value : []))
  const keptRange = head === undefined || tail === undefined ? undefined : { head, tail }
  return {
    kept,
    ...present({ keptRange, trigger: stringIn(meta, "trigger"), tokensBefore: countIn(meta, "preTokens") }),
  }
}

/** One thread of a session, from its root to a leaf. */
type Thread = {
  readonly messages: Transcript
  readonly owned: ReadonlyMap<Message, readonly number[]>
  readonly compactions: readonly Compaction[]
  readonly branches: readonly AbandonedBranch[]
  readonly notes: readonly MessageNote[]
  readonly model?: string
  readonly path: ReadonlySet<string>
}

/** The lines of one message: usually one, several for an answer that was stored block by block. */
type Slot = readonly Entry[]

type Cut = { readonly at: number; readonly boundary?: Boundary; readonly summary?: Entry }

/** Reads the thread that ends at the leaf; the other entries are branches. */
function readThread(entries: ReadonlyMap<string, Entry>, leaf: string | undefined): Thread {
  const path = pathTo(entries, leaf)
  const chosen = withParallels(entries, new Set(path.map(({ id }) => id)))
  const { slots, cuts } = collect([...entries.values()].filter(({ id }) => chosen.has(id)))
  const messages = slots.map((slot, n) => join(slot, messageId(`m${n}`)))
  const ids = idsByEntry(slots, messages)
  const along = messagesAlong(path, (id) => ids.get(id))
  const model = slots.findLast((slot) => slot[0]?.model !== undefined)?.[0]?.model
  return {
    messages,
    owned: new Map(slots.map((slot, n) => [messages[n] as Message, slot.map(({ index }) => index)])),
    compactions: cuts.map((cut, n) => compactionOf(cut, n, messages, ids)),
    branches: readBranches(entries, chosen, along),
    notes: slots.flatMap((slot, n) => noteOf(slot, messageId(`m${n}`))),
    path: chosen,
    ...present({ model }),
  }
}

const noteOf = ([first]: Slot, message: MessageId): readonly MessageNote[] =>
  first?.note === undefined ? [] : [{ message, note: first.note }]

/**
 * Adds to the path what parallel calls split off: each call's line has its own result, and only one of them continues the path. The rest of
 * the same answer, and results for calls on the path that have none, belong to the path too.
 */
function withParallels(entries: ReadonlyMap<string, Entry>, path: ReadonlySet<string>): ReadonlySet<string> {
  const chosen = new Set(path)
  const answers = new Set<string>()
  const answered = new Set<string>()
  for (const id of path) {
    const entry = entries.get(id)
    if (entry?.answer !== undefined) answers.add(entry.answer)
    for (const part of entry?.message?.parts ?? []) if (part.type === "tool-result") answered.add(part.callId)
  }
  const called = new Set<string>()
  for (const { id, answer, message } of entries.values()) {
    const parts = message?.parts ?? []
    if (answer !== undefined && answers.has(answer)) chosen.add(id)
    const results = parts.filter((part) => part.type === "tool-result")
    if (!chosen.has(id) && results.some(({ callId }) => called.has(callId) && !answered.has(callId))) {
      chosen.add(id)
      for (const { callId } of results) answered.add(callId)
    }
    if (chosen.has(id)) for (const part of parts) if (part.type === "tool-call") called.add(part.callId)
  }
  return chosen
}

/** Collects entries as messages and compactions, in file order: the lines of one answer are joined at the position of the first. */
function collect(entries: readonly Entry[]): { readonly slots: readonly Slot[]; readonly cuts: readonly Cut[] } {
  const slots: Entry[][] = []
  const cuts: Cut[] = []
  const answers = new Map<string, Entry[]>()
  for (const entry of entries) {
    const { boundary, isSummary, message, answer } = entry
    const open = cuts.at(-1)
    if (boundary !== undefined) cuts.push({ at: slots.length, boundary })
    else if (isSummary && open?.at === slots.length && open.summary === undefined)
      cuts[cuts.length - 1] = { ...open, summary: entry }
    else if (isSummary && message !== undefined) cuts.push({ at: slots.length, summary: entry })
    else if (message !== undefined) {
      const known = answer === undefined ? undefined : answers.get(answer)
      if (known !== undefined) known.push(entry)
      else {
        const slot = [entry]
        slots.push(slot)
        if (answer !== undefined) answers.set(answer, slot)
      }
    }
  }
  return { slots, cuts }
}

function join(slot: Slot, id: MessageId): Message {
  const [first, ...more] = slot.flatMap(({ message }) => message ?? [])
  if (first === undefined) return { id, role: "user", parts: [] }
  if (more.length === 0) return { ...first, id }
  const parts = withoutRepeats([first, ...more].flatMap((message) => message.parts))
  const wire = writeObject({ role: write(first.role), content: writeList(parts.map(blockOf)) })
  return { ...first, id, parts: parts.map((part) => ({ ...part, wire: blockOf(part) })), wire }
}

const blockOf = (part: Part): Wire => part.wire ?? write({ type: "text", text: part.type === "text" ? part.text : "" })

/** Some versions stored the answer so far with each new block, so repeated calls are removed. */
function withoutRepeats(parts: readonly Part[]): readonly Part[] {
  const seen = new Set<string>()
  return parts.filter((part) => {
    if (part.type !== "tool-call") return true
    if (seen.has(part.callId)) return false
    seen.add(part.callId)
    return true
  })
}

function idsByEntry(slots: readonly Slot[], messages: Transcript): ReadonlyMap<string, MessageId> {
  const ids = new Map<string, MessageId>()
  for (const [n, slot] of slots.entries()) {
    const message = messages[n]
    for (const { id } of slot) if (message !== undefined) ids.set(id, message.id)
  }
  return ids
}

function compactionOf(
  { at, boundary, summary }: Cut,
  n: number,
  messages: Transcript,
  ids: ReadonlyMap<string, MessageId>,
): Compaction {
  const summaryMessages = summary === undefined ? [] : [join([summary], messageId(`c${n}.m0`))]
  const { keptRange, kept = [], trigger, tokensBefore } = boundary ?? {}
  const wanted = new Set(kept.map((id) => ids.get(id)))
  const place = (id: string | undefined): number => messages.findIndex((message) => message.id === ids.get(id ?? ""))
  const [head, tail] = keptRange === undefined ? [-1, -1] : [place(keptRange.head), place(keptRange.tail)]
  const stays = messages.slice(0, at).filter(({ id }, m) => wanted.has(id) || (head >= 0 && m >= head && m <= tail))
  return { at, replacement: [...summaryMessages, ...stays], ...present({ trigger, tokensBefore }) }
}

function readBranches(
  entries: ReadonlyMap<string, Entry>,
  chosen: ReadonlySet<string>,
  along: ReadonlyMap<string, MessageId>,
): readonly AbandonedBranch[] {
  const found = offshoots(entries.values(), (id) => chosen.has(id)).filter(({ nodes }) =>
    nodes.some(({ message }) => message !== undefined),
  )
  return found.map(({ from, nodes }, n): AbandonedBranch => {
    const messages = collect(nodes).slots.map((slot, m) => join(slot, messageId(`b${n}.m${m}`)))
    return { reason: "abandoned", messages, ...present({ from: from === undefined ? undefined : along.get(from) }) }
  })
}

/** The system prompt and tools that newer versions store in the file, and the line that they are on. */
type Shape = {
  readonly system: readonly Part[]
  readonly tools: readonly Tool[]
  readonly index: number
  readonly hash?: string
}

/** The request shapes of a session, the last one of its main thread, and the name of that thread. */
type Shapes = { readonly all: Shape[]; current?: string | undefined; source?: string | undefined }

/** Subagents and side questions have their own shapes: the first request in the file belongs to the main thread. */
function noteShape(shapes: Shapes, line: Line, type: string | undefined): void {
  if (type === "api-request-shape") shapes.all.push(readShape(line))
  if (type !== "api-request") return
  shapes.source ??= stringIn(line.json, "querySource")
  if (stringIn(line.json, "querySource") === shapes.source) shapes.current = stringIn(line.json, "shapeHash")
}

const mainShape = ({ all, current }: Shapes): Shape | undefined =>
  all.findLast(({ hash }) => hash === current) ?? all.at(-1)

function readShape({ json, index }: Line): Shape {
  const shape = member(json, "shape")
  const system = member(shape, "system")
  const tools = member(shape, "tools")
  const { readSystem, readTools } = codecs["anthropic-messages"]
  return {
    system: system === undefined ? [] : readSystem(system),
    tools: tools === undefined ? [] : readTools(tools),
    index,
    ...present({ hash: stringIn(json, "shapeHash") }),
  }
}
