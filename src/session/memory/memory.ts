import type { MemoryEntry } from "../../compact/state/flush.ts"
import { refuseValue } from "../../message/errors.ts"
import { trust } from "../../message/message.ts"
import { checkName } from "../../message/option-names.ts"
import { othersServed } from "../../store/pace.ts"
import type {
  DayCounts,
  MemoryHit,
  MemoryOwner,
  MemoryQuery,
  MemoryRow,
  MemoryStore,
  RowCount,
  SessionId,
} from "../../store/store.ts"
import { againOf, dayOf, maxRowSources, normalText, rowChannels, rowOf, sessionIdOf, withCurrentId } from "./row-of.ts"

export type Remembered = {
  readonly written: readonly MemoryRow[]
  /** Ids of rows that a written row superseded. They are kept, and marked. */
  readonly superseded: readonly string[]
  /** Number of entries that were already stored. */
  readonly known: number
  /** Number of entries beyond a limit: of one flush, of the session's day, or of the agent's day. */
  readonly leftOut: number
  readonly limit?: "flush" | "session-day" | "agent-day"
}

/** The memory of one agent across sessions: a daily log that is only appended to, and searched. */
export type Memory = {
  /** Stores entries under today. The same entries again change nothing. */
  readonly remember: (session: SessionId, entries: readonly MemoryEntry[]) => Promise<Remembered>
  /** Searches the agent's own rows, best first; without words, newest first. */
  readonly search: (search: MemorySearch) => Promise<readonly MemoryHit[]>
  /** The days that have rows, newest first. */
  readonly days: () => Promise<readonly { readonly day: string; readonly rows: number }[]>
  /** One day as Markdown; undefined if it has no rows. */
  readonly day: (day: string) => Promise<string | undefined>
}

type MemoryOptions = {
  readonly store: MemoryStore
  /** The agent's tenant; none by default. */
  readonly tenant?: string
  readonly agent: string
  readonly limits?: Partial<MemoryLimits>
  readonly now?: () => number
}

/**
 * Lines that a session, and all sessions of an agent together, may write to memory in a day; 2,000 and 10,000 by default. A row takes about
 * 600 bytes in a store, including its index (measured on SQLite).
 */
export type MemoryLimits = {
  readonly sessionRowsPerDay: number
  readonly agentRowsPerDay: number
}

/** Default limits: about 1 MB a day for a session and 6 MB for an agent; a busy session writes a few hundred rows a day. */
const defaultMemoryLimits: MemoryLimits = { sessionRowsPerDay: 2_000, agentRowsPerDay: 10_000 }

/** Share of a limit for data; the rest is reserved for rows with words of people. */
const dataShare = 0.75

/** Limit on the entries of one flush: the state of the work has up to 8,000 facts, and a long transcript about as many notes. */
const maxEntriesPerFlush = 20_000

/** Rows fetched by id at once: below the parameter limit of any database. */
const rowsPerGet = 500

/** The memory of one agent of a tenant. Rows of other agents or tenants are never read or returned. */
export function createMemory(options: MemoryOptions): Memory {
  const { store, tenant = "", agent, now = Date.now } = options
  if (tenant !== "") checkName("tenant", tenant)
  checkName("agent", agent)
  const owner: MemoryOwner = { tenant, agent }
  const limits = { ...defaultMemoryLimits, ...options.limits }

  const find = async (search: MemorySearch): Promise<readonly MemoryHit[]> => {
    checkSearch(search)
    const hits = await store.search({ ...search, ...owner })
    return hits.filter(({ row }) => row.tenant === tenant && row.agent === agent)
  }

  const remember = async (session: SessionId, entries: readonly MemoryEntry[]): Promise<Remembered> => {
    checkName("session", session)
    const atMs = Math.trunc(now())
    checkMoment(atMs)
    const considered = entries.slice(0, maxEntriesPerFlush)
    const offered = mergeOffered(considered.flatMap((entry) => rowOf(entry, { ...owner, session, atMs }) ?? []))
    const rows = [...offered.values()].map(({ row }) => row)
    const leftOver = Math.max(0, entries.length - maxEntriesPerFlush)
    if (rows.length === 0) return { written: [], superseded: [], known: 0, leftOut: leftOver }
    const known = await getRows(
      store,
      owner,
      rows.flatMap((row) => [row.id, row.subject === undefined ? sessionIdOf(row) : againOf(row).id]),
    )
    const rivals = await rivalsOf(rows, known, find)
    const room = roomIn(await store.counts(owner, session, dayOf(atMs)), limits)
    const plan = planMemory(offered, [...rivals, ...known.map(withCurrentId)], room)
    await writeRows(store, plan.write)
    for (const [by, ids] of plan.supersede) await store.supersede(session, ids, by)
    return {
      written: plan.write,
      superseded: [...plan.supersede.values()].flat(),
      known: plan.known,
      leftOut: plan.leftOut + leftOver,
      ...(plan.leftOut === 0 ? {} : { limit: plan.write.length >= maxRowsPerFlush ? "flush" : room.limit }),
    }
  }

  const day = async (wanted: string): Promise<string | undefined> => {
    checkDay("day", wanted)
    const hits = await find({ fromDay: wanted, toDay: wanted, withSuperseded: true, limit: maxHits })
    if (hits.length === 0) return undefined
    const rows = hits.map(({ row }) => row)
    const total = (await store.days(owner)).find((one) => one.day === wanted)?.rows ?? rows.length
    return dayText(wanted, rows, total)
  }

  return { remember, search: find, days: () => store.days(owner), day }
}

/** Numbers of rows that may still be written, and of data rows among them: a flood of tool output leaves room for words of people. */
type LimitedRoom = RowCount & { readonly limit: "session-day" | "agent-day" }

/** The room left in the day's limits, and which limit is nearer. */
function roomIn({ agent, session }: DayCounts, { sessionRowsPerDay, agentRowsPerDay }: MemoryLimits): LimitedRoom {
  const left = (most: number, { rows, data }: RowCount): RowCount => ({
    rows: most - rows,
    data: Math.min(most - rows, Math.floor(most * dataShare) - data),
  })
  const [inSession, inAgent] = [left(sessionRowsPerDay, session), left(agentRowsPerDay, agent)]
  return {
    rows: Math.min(inSession.rows, inAgent.rows),
    data: Math.min(inSession.data, inAgent.data),
    limit: inAgent.data < inSession.data ? "agent-day" : "session-day",
  }
}

/** Rows written at once: an embedded store blocks its process while it writes, and this many take some milliseconds. */
const rowsPerWrite = 100

/** Writes in pieces, so that other requests are served in between. A partial write does no harm: the next flush completes it. */
async function writeRows(store: MemoryStore, rows: readonly MemoryRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += rowsPerWrite) {
    await store.write(rows.slice(at, at + rowsPerWrite))
    await othersServed()
  }
}

async function getRows(store: MemoryStore, owner: MemoryOwner, ids: readonly string[]): Promise<readonly MemoryRow[]> {
  const rows: MemoryRow[] = []
  for (let at = 0; at < ids.length; at += rowsPerGet)
    rows.push(...(await store.get(owner, ids.slice(at, at + rowsPerGet))))
  return rows
}

/**
 * Stored rows of the session that a new row may supersede: its newest rows and, in a session with more, also those that name the subject of
 * a row that is new or superseded.
 */
async function rivalsOf(
  offered: readonly MemoryRow[],
  known: readonly MemoryRow[],
  find: (search: MemorySearch) => Promise<readonly MemoryHit[]>,
): Promise<readonly MemoryRow[]> {
  const about = offered.filter(({ subject }) => subject !== undefined)
  const session = about[0]?.session
  if (session === undefined) return []
  const rivals = (await find({ session, withSuperseded: true, limit: maxHits })).map(({ row }) => row)
  if (rivals.length < maxHits) return rivals
  const standing = new Set(known.filter(({ supersededBy }) => supersededBy === undefined).map(({ id }) => id))
  const asked = new Map(
    about
      .filter(({ id }) => !standing.has(id))
      .map(({ kind, subject = "" }) => [`${kind} ${subject}`, { kind, text: `"${subject.replace(/["“”„]/g, " ")}"` }]),
  )
  for (const { kind, text } of asked.values())
    for (const { row } of await find({ session, kind, text, withSuperseded: true, limit: maxHits })) rivals.push(row)
  return rivals
}

/** Matches characters that end a line or change the text direction. */
const breaking = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** The text on one line, with Markdown syntax escaped. */
const plain = (text: string): string =>
  text
    .replace(breaking, " ")
    .replace(/[\\`*~<>[\]]/g, "\\$&")
    .trim()

/** The first characters of an id are unique within its day. */
const shortId = (id: string): string => plain(id).slice(0, 8)

function lineOf({ atMs, kind, text, channel, trusted, sources, supersededBy }: MemoryRow): string {
  const time = new Date(atMs).toISOString().slice(11, 16)
  const said = supersededBy === undefined ? plain(text) : `~~${plain(text)}~~`
  const marks = [
    ...(trusted ? [] : [`unverified, from ${plain(channel)}`]),
    ...(supersededBy === undefined ? [] : [`superseded by ${shortId(supersededBy)}`]),
    ...(sources.length === 0 ? [] : [`from ${sources.map(plain).join(", ")}`]),
  ]
  return `- ${time} ${plain(kind)}: ${said}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`
}

/** A day's memory as Markdown: a heading for each session, a line for each row. `total` is the number of rows of the day. */
function dayText(day: string, rows: readonly MemoryRow[], total: number): string {
  const sorted = rows.toSorted((one, other) => one.atMs - other.atMs || (one.id < other.id ? -1 : 1))
  const sessions = [...Map.groupBy(sorted, ({ session }) => session)].flatMap(([session, lines]) => [
    "",
    `## Session ${plain(session)}`,
    "",
    ...lines.map(lineOf),
  ])
  const missing = total - rows.length
  const rest = missing > 0 ? ["", `${missing} earlier ${missing === 1 ? "line is" : "lines are"} not shown.`] : []
  return [`# ${day}`, ...sessions, ...rest, ""].join("\n")
}

/** Limit on the rows of one flush; a session's first flush has a few hundred. Rows beyond it are offered again by the next flush. */
export const maxRowsPerFlush = 2_000

/** Compares offered rows with stored ones: new rows are to be written, known ones are not, and superseded ones are to be marked. */
function planMemory(merged: OfferedRows, stored: readonly MemoryRow[], room: RowCount) {
  const storedById = new Map(stored.map((row) => [row.id, row]))
  const unknown = [...merged.values()].filter(({ row }) => !storedById.has(row.id))
  const rows = Math.min(room.rows, maxRowsPerFlush)
  const fresh = withinRoom(unknown, { ...room, rows })
  const contenders = [...[...storedById.values()].map((row) => ({ row, place: 0 })), ...fresh]
  const first = supersessions(contenders)
  const left = { rows: rows - fresh.length, data: room.data - fresh.filter(({ row }) => !row.trusted).length }
  const standing = contenders.filter(({ row }) => row.supersededBy === undefined && !first.has(row.id))
  const again = saidAgain(merged, storedById, new Set(standing.map(({ row }) => wordsOf(row))))
  const returned = withinRoom(again, left)
  const lost = returned.length === 0 ? first : supersessions([...contenders, ...returned])
  const marked = [...lost].filter(([id]) => storedById.has(id))
  return {
    write: [...fresh, ...returned].map(({ row }) => withSuccessor(row, lost.get(row.id))),
    /** Superseded row ids, by the row that supersedes them. */
    supersede: new Map(
      [...Map.groupBy(marked, ([, by]) => by)].map(([by, pairs]) => [by, pairs.map(([id]) => id)] as const),
    ),
    /** Numbers of offered rows that were already stored, and of new ones without room. */
    known: merged.size - unknown.length,
    leftOut: unknown.length - fresh.length + again.length - returned.length,
  }
}

/** Chooses rows within the limits: trusted rows first, then data; the order of the rows stays. */
function withinRoom(contenders: readonly Contender[], { rows, data }: RowCount): readonly Contender[] {
  const trusted = contenders.filter(({ row }) => row.trusted).slice(0, Math.max(0, rows))
  const others = contenders
    .filter(({ row }) => !row.trusted)
    .slice(0, Math.max(0, Math.min(data, rows - trusted.length)))
  const kept = new Set([...trusted, ...others])
  return contenders.filter((contender) => kept.has(contender))
}

const withSuccessor = (row: MemoryRow, by: string | undefined): MemoryRow =>
  by === undefined ? row : { ...row, supersededBy: by }

/** The rows of a flush by their ids. */
type OfferedRows = ReadonlyMap<string, Contender>

/** Merges equal rows, with the sources of all of them, at the position of the last. */
function mergeOffered(offered: readonly MemoryRow[]): OfferedRows {
  const merged = new Map<string, Contender>()
  for (const [at, row] of offered.entries()) {
    const said = merged.get(row.id)?.row ?? row
    const sources = said === row ? row.sources : [...new Set([...said.sources, ...row.sources])].slice(0, maxRowSources)
    merged.set(row.id, { row: { ...said, sources }, place: at + 1 })
  }
  return merged
}

const wordsOf = ({ kind, trusted, text }: MemoryRow): string => JSON.stringify([kind, trusted, normalText(text)])

/** Superseded rows that are stated again: they are the last statement about their subject, in a new message, and `current` has none. */
function saidAgain(
  merged: OfferedRows,
  storedById: ReadonlyMap<string, MemoryRow>,
  current: ReadonlySet<string>,
): readonly Contender[] {
  const last = new Map<string, Contender>()
  for (const contender of merged.values()) {
    const { kind, trusted, subject } = contender.row
    const slot = JSON.stringify([kind, trusted, subject])
    if (subject !== undefined && contender.place > (last.get(slot)?.place ?? 0)) last.set(slot, contender)
  }
  return [...last.values()].flatMap(({ row, place }) => {
    const known = storedById.get(row.id)
    if (known === undefined || current.has(wordsOf(row))) return []
    const isNew = row.sources.some((source) => !known.sources.includes(source))
    const again = againOf(row)
    return isNew && !storedById.has(again.id) ? [{ row: again, place }] : []
  })
}

/** A row and its position in the flush, from 1; 0 for a stored row. */
type Contender = { readonly row: MemoryRow; readonly place: number }

/** Larger than the trust of any channel, so that untrusted rows never supersede trusted ones. */
const trustedRank = 100

function rankOf({ trusted, channel }: MemoryRow): number {
  const known = rowChannels.find((name) => name === channel)
  return (trusted ? trustedRank : 0) + (known === undefined ? 0 : trust(known))
}

/** The key of a subject within its session and kind, which has one value at a time. */
const slotOf = ({ tenant, agent, session, kind, subject }: MemoryRow): string =>
  JSON.stringify([tenant, agent, session, kind, subject])

/**
 * The superseded rows, and their successors. A later row about the same subject supersedes an earlier one if its channel is the same or
 * more trusted; later means written later, or further down in the same flush. Values from one message are kept side by side. The result
 * depends only on the rows, not on the order of flushes.
 */
function supersessions(contenders: readonly Contender[]): ReadonlyMap<string, string> {
  const lost = new Map<string, string>()
  const slots = Map.groupBy(
    contenders.filter(({ row }) => row.subject !== undefined),
    ({ row }) => slotOf(row),
  )
  for (const rows of slots.values()) markLost(rows.toSorted(latestFirst), lost)
  return lost
}

const latestFirst = (one: Contender, other: Contender): number =>
  other.row.atMs - one.row.atMs || other.place - one.place || (one.row.id < other.row.id ? -1 : 1)

const isSameMoment = (one: Contender, other: Contender): boolean =>
  one.row.atMs === other.row.atMs && one.place === other.place

/** Marks the rows of one slot, latest first, that have a later one of the same or a higher rank from another message. */
function markLost(sorted: readonly Contender[], lost: Map<string, string>): void {
  const ranks = sorted.map(({ row }) => rankOf(row))
  let later = 0
  for (const [at, contender] of sorted.entries()) {
    const before = sorted[at - 1]
    if (before !== undefined && !isSameMoment(before, contender)) later = at
    const { row } = contender
    const rank = ranks[at] ?? 0
    const by = sorted.find((one, n) => n < later && (ranks[n] ?? 0) >= rank && !isTogether(one.row, row))
    if (row.supersededBy === undefined && by !== undefined) lost.set(row.id, by.row.id)
  }
}

/** True if both rows are from the same message. */
const isTogether = (one: MemoryRow, other: MemoryRow): boolean =>
  one.sources[0] !== undefined && one.sources[0] === other.sources[0]

/** A memory search; its owner is fixed by the memory. */
export type MemorySearch = Omit<MemoryQuery, keyof MemoryOwner>

/** Limit on the rows of one search, also in the store. */
export const maxHits = 1_000

/** Limit on the characters of a search, which has a few words. */
const maxQuestionLength = 1_000

/** Refuses an invalid calendar day. */
export function checkDay(option: string, day: unknown): void {
  const isDay = typeof day === "string" && /^\d{4}-\d\d-\d\d$/.test(day)
  const time = isDay ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day)
    refuseValue(option, "a day such as 2026-11-15", day)
}

/** Refuses a time outside the years 0 to 9999. */
function checkMoment(atMs: number): void {
  if (!Number.isFinite(atMs) || Number.isNaN(new Date(atMs).getTime()) || dayYear(atMs) < 0 || dayYear(atMs) > 9999)
    refuseValue("now", "a function that returns milliseconds since 1970", atMs)
}

const dayYear = (atMs: number): number => new Date(atMs).getUTCFullYear()

/** Refuses an invalid search, before the store is asked. */
function checkSearch(search: MemorySearch): void {
  const { text, session, kind, fromDay, toDay, limit } = search
  if (text !== undefined && (typeof text !== "string" || text.length > maxQuestionLength))
    refuseValue("text", `text of at most ${maxQuestionLength} characters`, text)
  if (session !== undefined) checkName("session", session)
  if (kind !== undefined) checkName("kind", kind)
  if (fromDay !== undefined) checkDay("fromDay", fromDay)
  if (toDay !== undefined) checkDay("toDay", toDay)
  if (fromDay !== undefined && toDay !== undefined && fromDay > toDay)
    refuseValue("toDay", `${fromDay} or later`, toDay)
  for (const name of ["trustedOnly", "withSuperseded"] as const)
    if (search[name] !== undefined && typeof search[name] !== "boolean")
      refuseValue(name, "true or false", search[name])
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit >= 1 && limit <= maxHits))
    refuseValue("limit", `a whole number from 1 to ${maxHits}`, limit)
}
