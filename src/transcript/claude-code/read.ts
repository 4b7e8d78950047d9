import { present } from "../../message/present.ts"
import { stringIn } from "../../wire/expect.ts"
import type { Json } from "../../wire/json.ts"
import type { Conversation, SkippedLine, SkipReason, TranscriptFile } from "../conversation.ts"
import { type Line, type Lines, readLines } from "../lines.ts"
import { pathTo } from "../tree.ts"
import { type Entry, readEntry } from "./entry.ts"
import { mainShape, noteShape, type Shape, type Shapes } from "./shape.ts"
import { readThread, type Thread } from "./thread.ts"

const kind = "claude-code"

/** Line types that are known and say nothing to the model. */
// biome-ignore format: one list, read as such
const bookkeeping: ReadonlySet<string> = new Set([
  "summary", "progress", "system", "attachment", "file-history-snapshot", "queue-operation", "last-prompt",
  "custom-title", "ai-title", "tag", "agent-name", "agent-color", "agent-setting", "mode", "permission-mode",
  "worktree-state", "pr-link", "attribution-snapshot", "speculation-accept", "content-replacement",
  "marble-origami-commit", "marble-origami-snapshot", "api-request", "api-request-shape", "api-request-blob",
  "tools-used", "cost-state", "atis-latch",
])

/** What is gathered while the lines go by. */
type Session = {
  readonly main: Map<string, Entry>
  /** The threads of subagents: by their id, or by their first entry where older versions gave none. */
  readonly sides: Map<string, Map<string, Entry>>
  readonly sideOf: Map<string, string>
  readonly skipped: SkippedLine[]
  readonly titles: { readonly type: string; readonly title: string; readonly leaf?: string }[]
  readonly shapes: Shapes
  meta: Readonly<Record<string, unknown>>
  /** The newest leaf that a line names, and the newest entry that says something. */
  named?: string | undefined
  last?: Entry
}

/** A Claude Code session: the thread that is current, its branches and compactions, and its subagents beside it. */
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
  // A compaction whose parent is in another file, or gone, still follows what stands before it.
  const adrift = entry.boundary !== undefined && (entry.parent === undefined || !session.main.has(entry.parent))
  const before = adrift ? session.last : undefined
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

/** The newest entry, unless a line names a leaf that is no ancestor of it: then the user went back to that. */
function leafOf({ main, last, named }: Session): string | undefined {
  if (named === undefined || !main.has(named)) return last?.id
  const ancestors = new Set(pathTo(main, last?.id).map(({ id }) => id))
  return ancestors.has(named) ? last?.id : named
}

/** The user's own title, then the generated one, then the summary of this very thread. */
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

/** A subagent's thread; of a file that holds only that, the whole file is its text. */
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
