import { assert } from "../message/assert.ts"

/** A session's name. It is the partition key of every table but the one of aliases, which are found without it. */
export type SessionId = string

/**
 * One line of a session's log as it is kept. `seq` counts from 1 without a gap; `hash` chains it to the line before. The store looks
 * into none of it: `body` is JSON text, in which a large text is named by the hash of its payload.
 */
export type StoredEntry = {
  readonly seq: number
  readonly hash: string
  readonly type: string
  readonly atMs: number
  /** For a message: the entry of the message before it on its branch (0 for a first one), and what it says, as a key. */
  readonly parent?: number
  readonly key?: string
  readonly body: string
}

/** An entry without its body: enough to know the shape of a log. */
export type OutlineEntry = Omit<StoredEntry, "body">

/** Entries to be written behind entry `after`, all or none, with the payloads that they name. */
export type Batch = {
  readonly after: number
  readonly entries: readonly StoredEntry[]
  /** Text by its sha256 in hex (`payloadHash`). One that is there already is not written again. */
  readonly payloads?: ReadonlyMap<string, string>
  /** Whose session it is, for listing and for its memory; the first one said stays. */
  readonly tenant?: string
  readonly agent?: string
  /** The log of another store, written as it was: a message that it has twice is written twice. */
  readonly isCopy?: true
}

/**
 * `appended` means durable. The same batch written again is `appended` too and changes nothing: whoever lost the answer may repeat the
 * question. `conflict` means that someone else wrote behind `after`: nothing was written, and `head` is where the log ends now.
 * `duplicate` means that a message of the batch is in the log already, under the same parent, as entry `seq`: nothing was written. So a
 * message that two processes record is stored once, whoever is first.
 */
export type Appended =
  | { readonly type: "appended" }
  | { readonly type: "conflict"; readonly head: Head }
  | { readonly type: "duplicate"; readonly seq: number }

/** Where a log ends. An unknown session ends at 0 with an empty hash. */
export type Head = { readonly seq: number; readonly hash: string }

export type SessionRow = {
  readonly id: SessionId
  /** Empty for a session of a program that has no tenants. */
  readonly tenant: string
  readonly agent: string
  readonly head: Head
  readonly createdMs: number
  readonly updatedMs: number
}

/** What a session holds beside its log, by name: the hashes of its payloads, the keys of its summaries, its memory. */
export type Holdings = {
  readonly payloads: readonly string[]
  readonly summaries: readonly string[]
  readonly memory: readonly (MemoryOwner & { readonly id: string })[]
}

/** A name by which a session is found beside its own: an id that a client or a provider gave, or a mark of what was said in it. */
export type Alias = {
  readonly name: string
  /** The entry of the session's log that the name means, if it means one. */
  readonly entry?: string
}

export type FoundAlias = Alias & { readonly session: SessionId }

/** From `from` on, up to and including `to`, at most `limit`. */
export type Range = { readonly from?: number; readonly to?: number; readonly limit?: number }

/** What is left out of a listing: all but one tenant's or agent's, or all that changed at or after a moment. Newest first. */
export type SessionFilter = {
  readonly tenant?: string
  readonly agent?: string
  readonly updatedBeforeMs?: number
  readonly limit?: number
}

/**
 * Where sessions last. Every call ends: it does what it says or throws a `HoldfastError` with a `store-…` Problem, and then it has done
 * nothing. An implementation is held to `describeStore`.
 */
export type Store = {
  readonly kind: "memory" | "sqlite" | "postgres"
  /** Several gateways may serve from it at once: what one of them has read, another may have changed since. */
  readonly isShared: boolean
  readonly append: (session: SessionId, batch: Batch) => Promise<Appended>
  readonly head: (session: SessionId) => Promise<Head>
  readonly read: (session: SessionId, range?: Range) => Promise<readonly StoredEntry[]>
  readonly readEntries: (session: SessionId, seqs: readonly number[]) => Promise<readonly StoredEntry[]>
  readonly outline: (session: SessionId, range?: Range) => Promise<readonly OutlineEntry[]>
  /** The texts of these payloads; a `store-corrupt` Problem if one is missing or does not match its hash. */
  readonly payloads: (session: SessionId, hashes: readonly string[]) => Promise<ReadonlyMap<string, string>>
  readonly session: (session: SessionId) => Promise<SessionRow | undefined>
  readonly holdings: (session: SessionId) => Promise<Holdings>
  readonly sessions: (filter?: SessionFilter) => Promise<readonly SessionRow[]>
  /** A new session with the first `upTo` entries of another and its payloads, without its aliases. False if `to` exists already. */
  readonly copy: (from: SessionId, to: SessionId, upTo: number) => Promise<boolean>
  /** Everything of a session: log, payloads, summaries, jobs, memory, aliases, events. False if there was nothing. */
  readonly remove: (session: SessionId) => Promise<boolean>
  /** A background summary by the key of what it covers. False if one is there: the first stays. */
  readonly putSummary: (session: SessionId, key: string, json: string) => Promise<boolean>
  readonly getSummary: (session: SessionId, key: string) => Promise<string | undefined>
  /** Names for a session, which exists or not yet; the last one said to bear a name has it. */
  readonly putAliases: (session: SessionId, aliases: readonly Alias[]) => Promise<void>
  /** Who bears these names, in the order asked and each once; names that nobody bears are not in the answer. */
  readonly findAliases: (names: readonly string[]) => Promise<readonly FoundAlias[]>
  readonly jobs: JobStore
  readonly memory: MemoryStore
  /** What the gateways that share the store tell each other; absent where there is only one. */
  readonly events?: SharedEvents
  /** What is damaged in its files, in the words of whoever reads them; nothing if all is well, or where no one can tell. */
  readonly check: () => Promise<readonly string[]>
  /** Give back the room of what was deleted. */
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

/** News between gateways: nothing may depend on an event that is only told here, for the newest are kept and no more. */
export type SharedEvents = {
  /** Tell the others, soon. Never throws. */
  readonly publish: (event: Omit<SharedEvent, "atMs">) => void
  /** Hear what others told in the last `sinceMs` and tell from now on, each once. The answer ends it. */
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

/** A job that someone works on until `leasedUntilMs`; after that anyone may take it over. */
export type LeasedJob = Job & { readonly attempt: number; readonly leasedUntilMs: number }

/**
 * Jobs that outlive the process. Taking one is atomic: two takers never hold the same one while its lease lasts. A queue with a
 * database of its own does not use this.
 */
export type JobStore = {
  /** False if a job of this key is there already. */
  readonly put: (job: Job, now: number) => Promise<boolean>
  /** The oldest job that is due and free, leased. */
  readonly lease: (now: number, leaseMs: number) => Promise<LeasedJob | undefined>
  /** The job is over and gone, whether it was done, failed for good or is no longer wanted. */
  readonly finish: (session: string, key: string) => Promise<void>
  /** The job is free again, not before `dueMs`. */
  readonly postpone: (session: string, key: string, dueMs: number) => Promise<void>
  readonly list: (session?: string) => Promise<readonly Job[]>
}

/**
 * Whose memory it is. A tenant finds nothing of another's, and an agent nothing of another agent's. Sessions of a program that has no
 * tenants have the empty one.
 */
export type MemoryOwner = { readonly tenant: string; readonly agent: string }

/** One line of an agent's memory as it is kept. */
export type MemoryRow = MemoryOwner & {
  /** Made of what it says and where it came from, so that writing it again changes nothing. */
  readonly id: string
  readonly session: SessionId
  /** `2026-11-15`, in UTC. */
  readonly day: string
  readonly atMs: number
  readonly kind: string
  readonly text: string
  readonly channel: string
  /** False for what came from a tool, a document or the web: it may be told, never obeyed. */
  readonly trusted: boolean
  /** The log entries it came from. */
  readonly sources: readonly string[]
  /** What it is about, where that is known: a later one of the same subject may take its place. */
  readonly subject?: string
  /** The row that took its place. */
  readonly supersededBy?: string
}

export type MemoryQuery = MemoryOwner & {
  /** Words to look for; all of them in any order, quoted ones in a row. Without them the newest come first. */
  readonly text?: string
  readonly session?: SessionId
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly trustedOnly?: boolean
  readonly withSuperseded?: boolean
  readonly limit?: number
}

/** A row that was found. The higher the score, the better; rows found by a very common word are ordered by age instead. */
export type MemoryHit = { readonly row: MemoryRow; readonly score: number }

/** `data` of the rows are not trusted. */
export type RowCount = { readonly rows: number; readonly data: number }

/** What an agent wrote on one day, in all its sessions and in one of them. */
export type DayCounts = { readonly agent: RowCount; readonly session: RowCount }

/** An agent's memory: written once, searched by full text, deleted with its session. */
export type MemoryStore = {
  readonly write: (rows: readonly MemoryRow[]) => Promise<void>
  readonly supersede: (session: SessionId, ids: readonly string[], by: string) => Promise<void>
  readonly search: (query: MemoryQuery) => Promise<readonly MemoryHit[]>
  readonly get: (owner: MemoryOwner, ids: readonly string[]) => Promise<readonly MemoryRow[]>
  readonly counts: (owner: MemoryOwner, session: SessionId, day: string) => Promise<DayCounts>
  /** Days on which something was written, newest first, with how much. */
  readonly days: (owner: MemoryOwner) => Promise<readonly { readonly day: string; readonly rows: number }[]>
}

/** Where the log of a session ends that nobody wrote to. */
export const noHead: Head = { seq: 0, hash: "" }

/** Loud if a batch does not follow on `after`: a log with a gap is the writer's bug. */
export function checkBatch({ after, entries }: Batch): void {
  assert(Number.isSafeInteger(after) && after >= 0, `not a place in a log: ${after}`)
  for (const [at, { seq }] of entries.entries()) assert(seq === after + 1 + at, `entry ${seq} behind ${after + at}`)
}

/** Whether a batch is the one that stands there already, by the hashes of the entries behind its `after`. */
export function isSameBatch({ entries }: Batch, hashes: readonly string[]): boolean {
  return entries.every(({ hash }, at) => hash === hashes[at])
}

/** The messages of a batch that may be in the log already, by parent and key; those behind a message of the batch itself cannot be. */
export function possibleDuplicates({ after, entries, isCopy }: Batch): readonly MessagePlace[] {
  if (isCopy) return []
  return entries.flatMap(({ parent, key }) =>
    key === undefined || parent === undefined || parent > after ? [] : [{ parent, key }],
  )
}

type MessagePlace = { readonly parent: number; readonly key: string }

/** A range in full: every field said, none out of bounds. */
export function wholeRange({ from, to, limit }: Range = {}): Required<Range> {
  const whole = (value: number): number => Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
  return {
    from: Math.max(1, whole(from ?? 1)),
    to: whole(to ?? Number.MAX_SAFE_INTEGER),
    limit: Math.max(0, whole(limit ?? Number.MAX_SAFE_INTEGER)),
  }
}
