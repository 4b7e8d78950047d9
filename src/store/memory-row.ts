import type { SessionId } from "./store.ts"

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
