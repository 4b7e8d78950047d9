import type { JobStore } from "./job.ts"
import type { MemoryOwner, MemoryStore } from "./memory-row.ts"

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
  /** Everything of a session: log, payloads, summaries, jobs, memory, aliases. False if there was nothing. */
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
  /** What is damaged in its files, in the words of whoever reads them; nothing if all is well, or where no one can tell. */
  readonly check: () => Promise<readonly string[]>
  /** Give back the room of what was deleted. */
  readonly vacuum: () => Promise<void>
  readonly close: () => Promise<void>
}
