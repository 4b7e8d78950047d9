import type { Context, Hono } from "hono"
import { HoldfastError, unlessProblem } from "../../message/errors.ts"
import type { Message, Part } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Checkpoint, HistoryEntry } from "../../session/inspect.ts"
import { verifyLog } from "../../session/log/chain.ts"
import { type CheckpointBody, entryId, eventsOfTrace, seqOf } from "../../session/log/entry.ts"
import type { Session } from "../../session/session.ts"
import { checkSessionId } from "../../session/state/options.ts"
import type { SessionFilter, SessionRow, Store } from "../../store/store.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import {
  type AdminDeps,
  addRoute,
  pathName,
  readFlag,
  readLimit,
  readNumber,
  readTextParameter,
  refuseText,
} from "./admin-deps.ts"
import type { ListedName, SessionListing } from "./answers.ts"
import { type Bounds, boundObject, boundValue } from "./bound-value.ts"
import { describeProblem, refusalResponse, refusals } from "./refusal.ts"

/** The parts of a session id made by the gateway. The tenant is a fingerprint of the credential of its requests. */
type SessionName = Required<Pick<ListedName, "tenant" | "conversation" | "role">> & Pick<ListedName, "subagent">

const shape = /^([A-Za-z0-9_-]{1,32})\.(~?[^~]+)((?:~[^~]+)*)$/

/** Parses `tenant.conversation`, followed by `~agent-NAME`, `~side-KEY` or `~tools`; undefined for any other form. */
export function readSessionName(id: string): SessionName | undefined {
  const [, tenant, conversation, rest = ""] = shape.exec(id) ?? []
  if (tenant === undefined || conversation === undefined) return undefined
  const pieces = rest.split("~").slice(1)
  const subagent = pieces.find((piece) => piece.startsWith("agent-"))?.slice("agent-".length)
  const last = pieces.at(-1)
  if (last?.startsWith("side-")) return { tenant, conversation, role: "side", ...present({ subagent }) }
  if (last === "tools") return { tenant, conversation, role: "tools", ...present({ subagent }) }
  return { tenant, conversation, role: subagent === undefined ? "main" : "agent", ...present({ subagent }) }
}

/** Default and maximum page sizes. */
const pages = {
  sessions: { usual: 50, most: 500 },
  history: { usual: 100, most: 500 },
  compactions: { usual: 10, most: 50 },
} as const
/** Limit on the branches and compactions in an overview; its figures count all of them. */
const maxListed = 100
/** Limit on concurrent log checks; each reads a whole log. */
const maxChecks = 2
/** The largest sequence number. */
const lastSeq = 999_999_999_999_999

type Deps = {
  readonly store: AdminDeps["store"]
  readonly find: Find
  /** Adds the figures from a session's log to its row. */
  readonly summarize: (row: SessionRow) => Promise<SessionListing>
}

export function addSessionRoutes(app: Hono, deps: Deps): void {
  const at = "/admin/sessions/:id"
  addRoute(app, "GET", "/admin/sessions", (c) => listSessions(c, deps))
  addRoute(app, "GET", at, (c) => showSession(c, deps))
  addRoute(app, "GET", `${at}/history`, (c) => showHistory(c, deps))
  addRoute(app, "GET", `${at}/entries/:entry`, (c) => showEntry(c, deps))
  addRoute(app, "GET", `${at}/compactions`, (c) => showCompactions(c, deps))
  addRoute(app, "GET", `${at}/verify`, createVerify(deps))
}

/** The same path with other parameters, for the next page. */
function linkTo(c: Context, changes: Readonly<Record<string, string | number>>): string {
  const { pathname, searchParams } = new URL(c.req.url)
  for (const [name, value] of Object.entries(changes)) searchParams.set(name, String(value))
  return `${pathname}?${searchParams}`
}

export const describeRow = (row: SessionRow): SessionRow & ListedName => ({ ...row, ...readSessionName(row.id) })

async function listSessions(c: Context, deps: Deps): Promise<object> {
  const limit = readLimit(c, pages.sessions)
  const filter = present({ agent: readTextParameter(c, "agent"), tenant: readTextParameter(c, "tenant") })
  const before = readTextParameter(c, "before", 220)
  const cursor =
    before === undefined ? undefined : (readCursor(before) ?? refuseText("before", "the `before` of `next`", before))
  const page = await pageSessions(deps.store, limit, filter, cursor)
  const next = page.before && linkTo(c, { before: writeCursor(page.before) })
  const sessions: SessionListing[] = []
  for (const row of page.sessions) sessions.push(await deps.summarize(row))
  return { sessions, ...present({ next }) }
}

type FoundSession = { readonly row: SessionRow; readonly session: Session }

/** Finds a session by id; throws if the store does not have it. */
export type Find = (id: string) => Promise<FoundSession>

export const createFind =
  ({ store, holdfast }: Pick<AdminDeps, "store" | "holdfast">): Find =>
  async (id) => {
    const isValid = unlessProblem(() => checkSessionId(id) === undefined)
    const row = isValid === true ? await store.session(id) : undefined
    if (row === undefined)
      throw new HoldfastError({ code: "session-unknown", session: JSON.stringify(id.slice(0, 200)) })
    const { tenant, agent } = row
    return { row, session: holdfast.session(id, agent === "" ? { tenant } : { tenant, agent }) }
  }

const find = (c: Context, deps: Deps): Promise<FoundSession> => deps.find(pathName(c, "id"))

async function showSession(c: Context, deps: Deps): Promise<object> {
  const { row, session } = await find(c, deps)
  const { branches, checkpoints, ...overview } = await session.overview()
  return {
    session: describeRow(row),
    overview: {
      ...overview,
      branchCount: branches.length,
      branches: branches.slice(0, maxListed),
      checkpointCount: checkpoints.length,
      checkpoints: checkpoints.slice(0, maxListed),
    },
  }
}

async function showHistory(c: Context, deps: Deps): Promise<object> {
  const from = readNumber(c, "from", 1, { least: 1, most: lastSeq })
  const limit = readLimit(c, pages.history)
  const full = readFlag(c, "full")
  const { session } = await find(c, deps)
  const { entries, next } = await pageHistory(session, from, limit, full)
  return { entries, ...present({ next: next && linkTo(c, { from: next }) }) }
}

async function showEntry(c: Context, deps: Deps): Promise<object> {
  const full = readFlag(c, "full")
  const { row, session } = await find(c, deps)
  const id = pathName(c, "entry")
  const seq = seqOf(id)
  const [entry] = seq === undefined ? [] : await session.history({ from: seq, limit: 1 })
  if (entry === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: row.id, entry: JSON.stringify(id.slice(0, 40)) })
  const explanation = await session.explain(id)
  const told = full ? explanation : boundValue(explanation, entryBounds).value
  return { entry: describeEntry(entry, full), explanation: told }
}

async function showCompactions(c: Context, deps: Deps): Promise<object> {
  const limit = readLimit(c, pages.compactions)
  const before = readTextParameter(c, "before")
  const end = before === undefined ? Infinity : (seqOf(before) ?? refuseText("before", "an entry such as e12", before))
  const { session } = await find(c, deps)
  const { checkpoints } = await session.overview()
  const older = checkpoints.filter(({ id }) => (seqOf(id) ?? 0) < end)
  const compactions: unknown[] = []
  for (const checkpoint of older.slice(0, limit)) {
    const [entry] = await session.history({ from: seqOf(checkpoint.id) ?? 0, limit: 1 })
    compactions.push(describeCompaction(checkpoint, entry ?? {}))
  }
  const last = older.length > limit ? older[limit - 1]?.id : undefined
  return { compactions, total: checkpoints.length, ...present({ next: last && linkTo(c, { before: last }) }) }
}

/** Checks a log without the session's lock, so that no call waits for it. */
function createVerify(deps: Deps): (c: Context) => Promise<object> {
  let running = 0
  return async (c) => {
    const { row } = await find(c, deps)
    if (running >= maxChecks) return refusalResponse(refusals.busy)
    running++
    try {
      const { seq, hash } = await verifyLog(deps.store, row.id)
      return { session: row.id, whole: seq >= row.head.seq, entries: seq, hash }
    } catch (error) {
      if (!(error instanceof HoldfastError) || error.problem.code !== "store-corrupt") throw error
      return { session: row.id, whole: false, problem: describeProblem(error.problem) }
    } finally {
      running--
    }
  }
}

/** The last session of the previous page. */
export type SessionCursor = { readonly updatedMs: number; readonly id: string }

type SessionPage = { readonly sessions: readonly SessionRow[]; readonly before?: SessionCursor }

/** Limit on the rows of a page query: sessions with the same time can be sorted by id only if all of them were read. */
const maxSessionsPerPage = 100_000

const cursorShape = /^(\d{1,16}):(.{1,200})$/su
/** The largest time of a JavaScript Date. */
const latestMs = 8.64e15

export const writeCursor = ({ updatedMs, id }: SessionCursor): string => `${updatedMs}:${id}`

export function readCursor(text: string): SessionCursor | undefined {
  const [, ms, id] = cursorShape.exec(text) ?? []
  if (ms === undefined || id === undefined || Number(ms) > latestMs) return undefined
  return { updatedMs: Number(ms), id }
}

/** A page of sessions, newest first, and by id for the same time: each is on one page, unless it is written to meanwhile. */
export async function pageSessions(
  store: Pick<Store, "sessions">,
  limit: number,
  filter: Pick<SessionFilter, "tenant" | "agent">,
  cursor: SessionCursor | undefined,
): Promise<SessionPage> {
  const updatedBeforeMs = cursor === undefined ? undefined : cursor.updatedMs + 1
  for (let asked = limit + 2; ; asked *= 4) {
    const rows = await store.sessions({ limit: asked, ...filter, ...present({ updatedBeforeMs }) })
    const all = rows.length < asked || asked >= maxSessionsPerPage
    const last = rows.at(-1)?.updatedMs ?? 0
    // Other sessions of the last time may be missing, and would sort before those that are here.
    const sure = all ? rows : rows.filter(({ updatedMs }) => updatedMs > last)
    const left = sure.filter((row) => cursor === undefined || inOrder(cursor, row) < 0).sort(inOrder)
    if (all || left.length > limit) return pageOf(left, limit)
  }
}

function pageOf(left: readonly SessionRow[], limit: number): SessionPage {
  const sessions = left.slice(0, limit)
  const last = left.length > limit ? sessions.at(-1) : undefined
  return { sessions, ...present({ before: last && { updatedMs: last.updatedMs, id: last.id } }) }
}

function inOrder(one: SessionCursor, other: SessionCursor): number {
  if (one.updatedMs !== other.updatedMs) return other.updatedMs - one.updatedMs
  return one.id < other.id ? -1 : one.id > other.id ? 1 : 0
}

type Fields = Readonly<Record<string, unknown>>

/** Limits on an entry unless `full` is set: enough to recognise it. */
const entryBounds: Bounds = { text: 2000, items: 100, total: 20_000 }

/** Numbers of entries read at a time, and the characters after which a page of full entries ends: one entry may be megabytes. */
const boundedStep = 50
const wholeStep = 5
const wholeLength = 8_000_000

/** An entry within the bounds; the wire text of a message is included only with `full`. */
function describeEntry(entry: HistoryEntry, full: boolean): Fields {
  if (full) return entry
  const { message, body, ...head } = entry
  return { ...head, ...boundObject(present({ message: message && withoutWire(message), body }), entryBounds) }
}

/** Parts are the same in all four formats, so the wire text is left out, except for parts that exist only in the wire. */
function withoutWire({ wire: _, parts, ...message }: Message): object {
  return { ...message, parts: parts.map(plainPart) }
}

function plainPart(part: Part): object {
  if (part.type === "opaque" || part.type === "unknown") return part
  const { wire: _, ...plain } = part
  return part.type === "tool-result" ? { ...plain, content: part.content.map(plainPart) } : plain
}

type EntryPage = { readonly entries: readonly Fields[]; readonly next?: number }

/** A page of a session's log; `next` is where the next page begins. */
async function pageHistory(session: Session, from: number, limit: number, full: boolean): Promise<EntryPage> {
  const told: Fields[] = []
  let length = 0
  let at = from
  while (told.length < limit && length < wholeLength) {
    const step = Math.min(full ? wholeStep : boundedStep, limit - told.length)
    // Read one more entry than requested, to know whether there are more.
    const read = await session.history({ from: at, limit: step + 1 })
    const entries = read.slice(0, step)
    for (const entry of entries) told.push(describeEntry(entry, full))
    if (full) length += JSON.stringify(entries).length
    at = (entries.at(-1)?.seq ?? at) + 1
    if (read.length <= step) return { entries: told }
  }
  return { entries: told, next: at }
}

/** Limits on one compaction: a long session has hundreds of results to list. */
const compactionBounds: Bounds = { text: 8000, items: 500, total: 200_000 }

/** A compaction for display: its sizes before and after, what was kept, shortened and left out and why, and what replaced it. */
function describeCompaction(checkpoint: Checkpoint, { body }: Pick<HistoryEntry, "body">): Fields {
  if (body?.type !== "checkpoint-installed") return checkpoint
  const events = eventsOfTrace(body)
  const ofType = (...types: readonly string[]): readonly Fields[] =>
    events.filter(({ type }) => typeof type === "string" && types.includes(type))
  const told = {
    why: ofType("plan-made").map((event) => pick(event, ["plan", "sizes", "weighing"]))[0],
    kept: keptIn(body),
    shortened: ofType("result-shortened", "part-replaced").map(({ messageId, ...event }) => ({
      entry: messageId,
      ...pick(event, ["callId", "part", "reason", "beforeTokens", "afterTokens"]),
    })),
    leftOut: ofType("messages-dropped").map(({ messageIds, ...event }) => ({
      entries: messageIds,
      ...pick(event, ["reason", "tokens"]),
    })),
    installed: ofType("message-installed").map(({ role, message }) => ({ role, text: textIn(message) })),
    rejected: ofType("remedy-rejected").map((event) => pick(event, ["remedy", "failures"])),
    digest: digestIn(body),
    events: countsOf(events),
  }
  return { ...checkpoint, ...boundObject(told, compactionBounds) }
}

const pick = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])))

/** The entries that the model saw afterwards, in full or in part, and the number of generated messages. */
function keptIn({ items, standing, base }: CheckpointBody): Fields {
  const shown = items.flatMap((item) => (item.type === "shown" ? [item] : []))
  return {
    whole: shown.filter(({ edits }) => edits === undefined).map(({ entry }) => entryId(entry)),
    inPart: shown.filter(({ edits }) => edits !== undefined).map(({ entry }) => entryId(entry)),
    standing: standing.map(entryId),
    made: items.length - shown.length,
    ...present({ onTopOf: base === 0 ? undefined : entryId(base) }),
  }
}

function textIn(message: unknown): string {
  const parts = isObject(message) && Array.isArray(message.parts) ? message.parts.filter(isObject) : []
  return parts.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n")
}

/** The sections of a summary; each line with its source entries. */
function digestIn({ summary }: CheckpointBody): Fields | undefined {
  const digest = summary === undefined ? undefined : tryParse(summary)
  return isObject(digest) ? pick(digest, ["schema", "sections"]) : undefined
}

function countsOf(events: readonly Fields[]): Fields {
  const counts = new Map<string, number>()
  for (const { type } of events) counts.set(String(type), (counts.get(String(type)) ?? 0) + 1)
  return Object.fromEntries(counts)
}
