import { assert } from "../message/assert.ts"

/** A session's id. It is the partition key of every table except the aliases, which are found without it. */
export type SessionId = string

/**
 * One stored entry of a session's log. `seq` counts from 1 without gaps; `hash` chains it to the entry before. The store does not interpret
 * it: `body` is JSON text, in which a large text is replaced by the hash of its payload.
 */
export type StoredEntry = {
  readonly seq: number
  readonly hash: string
  readonly type: string
  readonly atMs: number
  /** For a message: the entry of the message before it on its branch (0 for the first one), and its content key. */
  readonly parent?: number
  readonly key?: string
  readonly body: string
}

/** An entry without its body: enough to know the structure of a log. */
export type OutlineEntry = Omit<StoredEntry, "body">

/** Entries to append after entry `after`, all or none, with their payloads. */
export type Batch = {
  readonly after: number
  readonly entries: readonly StoredEntry[]
  /** Texts by their SHA-256 in hex (`payloadHash`). A text that is already stored is not written again. */
  readonly payloads?: ReadonlyMap<string, string>
  /** The owner of the session, for listing and memory; the first value stays. */
  readonly tenant?: string
  readonly agent?: string
  /** The batch is a copy of another store's log: a message that occurs twice is written twice. */
  readonly isCopy?: true
}

/**
 * `appended` means durable. Writing the same batch again is `appended` too and changes nothing, so a caller that lost the reply may repeat
 * the call. `conflict`: another process wrote after `after`; nothing was written, and `head` is the end of the log. `duplicate`: a message
 * of the batch is already in the log under the same parent, as entry `seq`; nothing was written. So a message that two processes record is
 * stored once.
 */
export type Appended =
  | { readonly type: "appended" }
  | { readonly type: "conflict"; readonly head: Head }
  | { readonly type: "duplicate"; readonly seq: number }

/** The end of a log. An unknown session ends at 0 with an empty hash. */
export type Head = { readonly seq: number; readonly hash: string }

export type SessionRow = {
  readonly id: SessionId
  /** Empty for programs without tenants. */
  readonly tenant: string
  readonly agent: string
  readonly head: Head
  readonly createdMs: number
  readonly updatedMs: number
}

/** What a session has besides its log: the hashes of its payloads, the keys of its summaries, the ids of its memory rows. */
export type Holdings = {
  readonly payloads: readonly string[]
  readonly summaries: readonly string[]
  readonly memory: readonly (MemoryOwner & { readonly id: string })[]
}

/** An additional name of a session: an id from a client or provider, or a hash of its content. */
export type Alias = {
  readonly name: string
  /** The log entry that the name refers to, if there is one. */
  readonly entry?: string | undefined
}

export type FoundAlias = Alias & { readonly session: SessionId }

/** From `from` up to and including `to`, at most `limit` entries. */
export type Range = { readonly from?: number; readonly to?: number; readonly limit?: number }

/** Filters of a session list: by tenant or agent, or only sessions not updated since a time. Newest first. */
export type SessionFilter = {
  readonly tenant?: string
  readonly agent?: string
  readonly updatedBeforeMs?: number
  readonly limit?: number
}

/** Stores sessions. A call succeeds, or throws a `store-…` Problem and has changed nothing. Tested by `describeStore`. */
export type Store = {
  readonly kind: "memory" | "sqlite" | "postgres"
  /** Several gateways may use it at once, so what one has read may have been changed by another. */
  readonly isShared: boolean
  readonly append: (session: SessionId, batch: Batch) => Promise<Appended>
  readonly head: (session: SessionId) => Promise<Head>
  readonly read: (session: SessionId, range?: Range) => Promise<readonly StoredEntry[]>
  readonly readEntries: (session: SessionId, seqs: readonly number[]) => Promise<readonly StoredEntry[]>
  readonly outline: (session: SessionId, range?: Range) => Promise<readonly OutlineEntry[]>
  /** The texts of these payloads; throws a `store-corrupt` Problem if one is missing or does not match its hash. */
  readonly payloads: (session: SessionId, hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>
  readonly session: (session: SessionId) => Promise<SessionRow | undefined>
  readonly holdings: (session: SessionId) => Promise<Holdings>
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  /** Creates a session with the first `upTo` entries of another and its payloads, without its aliases. Returns false if `to` exists. */
  readonly copy: (from: SessionId, to: SessionId, upTo: number) => Promise<boolean>
  /** Everything of a session: log, payloads, summaries, jobs, memory, aliases, events. False if there was nothing. */
  readonly remove: (session: SessionId) => Promise<boolean>
  /** Stores a background summary under its key. Returns false if there is one already: the first stays. */
  readonly putSummary: (session: SessionId, key: string, json: string) => Promise<boolean>
  readonly getSummary: (session: SessionId, key: string) => Promise<string | undefined>
  /** Sets aliases of a session, which need not exist yet; a name belongs to the session it was last set for. */
  readonly putAliases: (session: SessionId, aliases: readonly Alias[]) => Promise<void>
  /** The sessions of these names, in the given order, each name once; unknown names are left out. */
  readonly findAliases: (names: readonly string[]) => Promise<readonly FoundAlias[]>
  readonly jobs: JobStore
  readonly memory: MemoryStore
  /** Events between the gateways that share the store; absent if there is only one. */
  readonly events?: SharedEvents
  /** Descriptions of damage in its files; empty if there is none, or if it cannot be checked. */
  readonly check: () => Promise<readonly string[]>
  /** Deletes everything of all sessions of a tenant, and its rules for more than one session. Returns how many sessions there were. */
  readonly eraseTenant: (tenant: string) => Promise<number>
  /** Removes what deleted sessions left in indexes and write-ahead logs, so that their words are no longer in the files. */
  readonly scrub: () => Promise<void>
  /** Bytes that stored data takes; free space does not count. */
  readonly usedBytes: () => Promise<number>
  /** Frees the space of deleted data. */
  readonly vacuum: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Something that happened in one of several gateways. */
export type SharedEvent = {
  readonly atMs: number
  readonly name: string
  readonly session?: string
  readonly json: string
}

/** Events between gateways. Only the newest are kept, so nothing may depend on receiving one. */
export type SharedEvents = {
  /** Sends an event to the other gateways soon, not at once. Never throws. */
  readonly publish: (event: Omit<SharedEvent, "atMs">) => void
  /** Receives the events of other gateways, from `sinceMs` ago on, each once. Returns a function that stops it. */
  readonly follow: (listener: (event: SharedEvent) => void, sinceMs: number) => () => void
}

/** Work to be done in the background, once for each key. */
export type Job = {
  readonly key: string
  readonly session: string
  readonly kind: string
  /** JSON text. */
  readonly payload: string
}

/** A job that a worker holds until `leasedUntilMs`; after that another may take it. */
export type LeasedJob = Job & { readonly attempt: number; readonly leasedUntilMs: number }

/** Jobs that survive the process. Two workers never hold one job at once. A queue with its own database does not use this. */
export type JobStore = {
  /** Returns false if a job with this key exists. */
  readonly put: (job: Job, now: number) => Promise<boolean>
  /** The oldest job that is due and free, leased. */
  readonly lease: (now: number, leaseMs: number) => Promise<LeasedJob | undefined>
  /** Removes a job that is done, has failed finally, or is no longer wanted. */
  readonly finish: (session: string, key: string) => Promise<void>
  /** Frees a job again, not before `dueMs`. */
  readonly postpone: (session: string, key: string, dueMs: number) => Promise<void>
  readonly list: (session?: string) => Promise<readonly Job[]>
}

/** The owner of a memory. Tenants and agents never find each other's rows. Programs without tenants use the empty one. */
export type MemoryOwner = { readonly tenant: string; readonly agent: string }

/** One stored row of an agent's memory. */
export type MemoryRow = MemoryOwner & {
  /** A hash of its content and origin, so that writing it again changes nothing. */
  readonly id: string
  readonly session: SessionId
  /** `2026-11-15`, in UTC. */
  readonly day: string
  readonly atMs: number
  readonly kind: string
  readonly text: string
  readonly channel: string
  /** False for text from a tool, a document or the web: it may be shown, but never followed as an instruction. */
  readonly trusted: boolean
  /** The log entries it came from. */
  readonly sources: readonly string[]
  /** Its subject, if known: a later row about the same subject may supersede it. */
  readonly subject?: string
  readonly supersededBy?: string
}

export type MemoryQuery = MemoryOwner & {
  /** A query in words: any of them in any form, best first; quoted ones must occur in sequence. Without words, the newest rows. */
  readonly text?: string
  readonly session?: SessionId
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly trustedOnly?: boolean
  readonly withSuperseded?: boolean
  readonly limit?: number
}

/** A row that was found. A higher score is better; rows found by a very common word are ordered by age instead. */
export type MemoryHit = { readonly row: MemoryRow; readonly score: number }

/** The number of rows, and how many of them are untrusted data. */
export type RowCount = { readonly rows: number; readonly data: number }

/** Rows that an agent wrote on one day, in all its sessions and in one of them. */
export type DayCounts = { readonly agent: RowCount; readonly session: RowCount }

/** An agent's memory: written once, searched by full text, deleted with its session. */
export type MemoryStore = {
  readonly write: (rows: readonly MemoryRow[]) => Promise<void>
  readonly supersede: (session: SessionId, ids: readonly string[], by: string) => Promise<void>
  readonly search: (query: MemoryQuery) => Promise<readonly MemoryHit[]>
  readonly get: (owner: MemoryOwner, ids: readonly string[]) => Promise<readonly MemoryRow[]>
  readonly counts: (owner: MemoryOwner, session: SessionId, day: string) => Promise<DayCounts>
  /** Days with rows, newest first, with their number of rows. */
  readonly days: (owner: MemoryOwner) => Promise<readonly { readonly day: string; readonly rows: number }[]>
}

/** The head of an empty log. */
export const noHead: Head = { seq: 0, hash: "" }

/** Asserts that a batch follows `after`: a log with a gap is a bug of the writer. */
export function checkBatch({ after, entries }: Batch): void {
  assert(Number.isSafeInteger(after) && after >= 0, `not a place in a log: ${after}`)
  for (const [at, { seq }] of entries.entries()) assert(seq === after + 1 + at, `entry ${seq} behind ${after + at}`)
}

/** Whether a batch was already written, by the hashes of the entries after its `after`. */
export function isSameBatch({ entries }: Batch, hashes: readonly string[]): boolean {
  return entries.every(({ hash }, at) => hash === hashes[at])
}

/** The messages of a batch that may already be in the log, by parent and key. Messages after a message of the same batch cannot be. */
export function possibleDuplicates({ after, entries, isCopy }: Batch): readonly MessagePlace[] {
  if (isCopy) return []
  return entries.flatMap(({ parent, key }) =>
    key === undefined || parent === undefined || parent > after ? [] : [{ parent, key }],
  )
}

type MessagePlace = { readonly parent: number; readonly key: string }

/** Entries are numbered with the integers of PostgreSQL. */
export const largestSeq = 2_147_483_647

/** A range with all fields set and within bounds. */
export function wholeRange({ from = 1, to = largestSeq, limit = largestSeq }: Range = {}): Required<Range> {
  const within = (least: number, value: number): number => Math.max(least, Math.min(Math.trunc(value), largestSeq))
  return { from: within(1, from), to: within(0, to), limit: within(0, limit) }
}
