import type { ShortenReason } from "../compact/stages/edit.ts"
import { ownMessage } from "../compact/standing.ts"
import { HoldfastError } from "../message/errors.ts"
import type { Message } from "../message/message.ts"
import { present } from "../message/present.ts"
import { tryParse } from "../wire/json.ts"
import { readSummary } from "./background.ts"
import { readView, type View } from "./history/view.ts"
import { type CheckpointBody, type Entry, type EntryBody, entryId, eventsOfTrace, seqOf, thaw } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import type { Live } from "./state/live.ts"

/** How an entry is shown now, and why. */
export type Explanation = {
  readonly entry: string
  readonly type: string
  /** How the model sees the entry now: in full, shortened, only through a digest, or not at all. */
  readonly state: "shown" | "shortened" | "summarized" | "other-branch" | "not-a-message"
  /** The compactions that changed how it is shown, oldest first, and why. */
  readonly changes: readonly Change[]
  /** The lines of the digest in force that have the entry as a source. */
  readonly lines: readonly string[]
  /** For a checkpoint: the trace of the call that made it. */
  readonly trace?: unknown
}

export type Change = {
  readonly checkpoint: string
  readonly atMs: number
  readonly undone: boolean
  readonly what: "shortened" | "left-out"
  readonly reason: ShortenReason | string
}

/** Explains why an entry is shown as it is. */
export async function explain(live: Live, id: string): Promise<Explanation> {
  const { journal } = live
  const outline = journal.outline()
  const seq = seqOf(id)
  const type = seq === undefined ? undefined : outline.typeOf(seq)
  if (seq === undefined || type === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: live.id, entry: id })
  const checkpoints = await journal.ofType("checkpoint-installed")
  const bodyOf = (wanted: number): CheckpointBody | undefined => checkpoints.find((entry) => entry.seq === wanted)?.body
  const changes = checkpoints.flatMap(({ seq: at, atMs, body }): readonly Change[] => {
    const undone = outline.isUndone(at)
    return changesIn(body, id).map((change) => ({ checkpoint: entryId(at), atMs, undone, ...change }))
  })
  if (type !== "message-appended") {
    const own = bodyOf(seq)
    const trace = own === undefined ? {} : { trace: tryParse(own.trace) }
    return { entry: id, type, state: "not-a-message", changes: [], lines: [], ...trace }
  }
  const view = await readView(live, live.at)
  const item = view.items.find((one) => one.type === "shown" && one.entry === seq)
  const lines = linesOn(bodyOf(view.checkpoint)?.summary, id)
  const onBranch = (outline.path(live.at) ?? []).includes(seq)
  const state =
    item?.type === "shown"
      ? item.edits === undefined
        ? "shown"
        : "shortened"
      : onBranch
        ? "summarized"
        : "other-branch"
  return { entry: id, type, state, changes, lines }
}

type MessageChange = Pick<Change, "what" | "reason">

function changesIn(checkpoint: CheckpointBody, id: string): readonly MessageChange[] {
  return eventsOfTrace(checkpoint).flatMap((event): readonly MessageChange[] => {
    if (event.messageId === id && typeof event.reason === "string") return [{ what: "shortened", reason: event.reason }]
    const dropped =
      event.type === "messages-dropped" && Array.isArray(event.messageIds) && event.messageIds.includes(id)
    return dropped && typeof event.reason === "string" ? [{ what: "left-out", reason: event.reason }] : []
  })
}

/** The lines of a digest that name this entry as a source. */
function linesOn(json: string | undefined, id: string): readonly string[] {
  const summary = json === undefined ? undefined : readSummary(json)
  const lines = summary?.sections.flatMap((section) => section.lines) ?? []
  return lines.filter(({ sources }) => sources.includes(id)).map((line) => line.text)
}

/** One entry of a session's log, for display. */
export type HistoryEntry = {
  readonly id: string
  readonly seq: number
  readonly type: EntryBody["type"]
  readonly atMs: number
  readonly hash: string
  /** For a message: its full content, and whether it is on the session's current branch. */
  readonly message?: Message
  readonly onBranch?: boolean
  /** For other entries: their body. The session's secret is not included. */
  readonly body?: Exclude<EntryBody, { type: "message-appended" | "session-opened" }>
}

export type HistoryRange = { readonly from?: number; readonly limit?: number }

/** Default page size. */
const defaultLimit = 1000

/** The log, oldest entry first. Entries are never changed or removed. */
export async function history(
  live: Live,
  { from = 1, limit = defaultLimit }: HistoryRange = {},
): Promise<readonly HistoryEntry[]> {
  const outline = live.journal.outline()
  // A number below 1, or NaN, means the first entry.
  const first = from > 1 ? Math.floor(from) : 1
  const last = Math.min(outline.head().seq, first + (limit > 0 ? limit : 0) - 1)
  const seqs = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
  const entries = await live.journal.entries(seqs)
  const branch = new Set(outline.path(live.at) ?? [])
  return seqs.flatMap((seq) => {
    const entry = entries.get(seq)
    return entry === undefined ? [] : [readable(entry, branch)]
  })
}

function readable({ seq, hash, atMs, body }: Entry, branch: ReadonlySet<number>): HistoryEntry {
  const head = { id: entryId(seq), seq, type: body.type, atMs, hash }
  if (body.type === "message-appended") {
    return { ...head, message: thaw(body.message, entryId(seq)), onBranch: branch.has(seq) }
  }
  return body.type === "session-opened" ? head : { ...head, body }
}

/** A compaction of a session, for display. */
export type Checkpoint = {
  readonly id: string
  readonly atMs: number
  /** The last message that it covers. */
  readonly upTo: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly undone: boolean
  readonly inForce: boolean
  readonly focus?: string
}

/** A branch of the history: its last message, and its number of messages. */
export type Branch = { readonly tip: string; readonly messages: number; readonly current: boolean }

/** How the messages of the current branch are shown to a model now. */
export type Shown = {
  readonly whole: number
  readonly shortened: number
  readonly leftOut: number
  /** Messages with infrastructure, which are always shown. */
  readonly standing: number
  /** Generated messages: digests, pinned rules, retrieved memory. */
  readonly made: Readonly<Record<"digest" | "pins" | "memory" | "other", number>>
}

/** Figures about a session. */
export type Overview = {
  readonly entries: number
  readonly types: Readonly<Record<string, number>>
  /** The current branch first, then the newest. */
  readonly branches: readonly Branch[]
  /** The newest first. */
  readonly checkpoints: readonly Checkpoint[]
  readonly shown: Shown
  /** True if the store has all entries that this process knows. */
  readonly durable: boolean
}

export async function overview(live: Live): Promise<Overview> {
  const outline = live.journal.outline()
  const types: Record<string, number> = {}
  const parents = new Set<number>()
  for (let seq = 1; seq <= outline.head().seq; seq++) {
    const type = outline.typeOf(seq) ?? "unknown"
    types[type] = (types[type] ?? 0) + 1
    const parent = outline.node(seq)?.parent
    if (parent !== undefined) parents.add(parent)
  }
  const view = await readView(live, live.at)
  return {
    entries: outline.head().seq,
    types,
    branches: branchesOf(outline, parents, live.at),
    checkpoints: await checkpointsOf(live, view.checkpoint),
    shown: shownIn(view, outline.path(live.at) ?? []),
    durable: live.journal.isDurable(),
  }
}

function branchesOf(outline: Outline, parents: ReadonlySet<number>, at: number): readonly Branch[] {
  const branches: Branch[] = []
  const add = (seq: number): void => {
    const depth = outline.node(seq)?.depth
    if (depth !== undefined) branches.push({ tip: entryId(seq), messages: depth, current: seq === at })
  }
  add(at)
  for (let seq = outline.head().seq; seq > 0; seq--) if (seq !== at && !parents.has(seq)) add(seq)
  return branches
}

async function checkpointsOf({ journal }: Live, inForce: number): Promise<readonly Checkpoint[]> {
  const outline = journal.outline()
  const entries = await journal.ofType("checkpoint-installed")
  return entries.toReversed().map(({ seq, atMs, body: { node, remedy, beforeTokens, afterTokens, focus } }) => {
    const state = { undone: outline.isUndone(seq), inForce: seq === inForce }
    const sizes = { remedy, beforeTokens, afterTokens }
    return { id: entryId(seq), atMs, upTo: entryId(node), ...sizes, ...state, ...present({ focus }) }
  })
}

function shownIn({ items, standing }: View, path: readonly number[]): Shown {
  const made = { digest: 0, pins: 0, memory: 0, other: 0 }
  const seen = new Set<number>(standing)
  let [whole, shortened] = [0, 0]
  for (const item of items) {
    if (item.type === "made") made[ownMessage(item.message) ?? "other"] += 1
    else if (item.edits === undefined) whole += 1
    else shortened += 1
    if (item.type === "shown") seen.add(item.entry)
  }
  const leftOut = path.filter((seq) => !seen.has(seq)).length
  return { whole, shortened, leftOut, standing: standing.length, made }
}
