import { sha256Hex } from "../message/sha256.ts"
import type { Head, StoredEntry } from "./store.ts"

/** The hash of an entry: over the hash before it and everything that is kept of it. */
export function hashEntry(before: string, { seq, type, atMs, parent, key, body }: Omit<StoredEntry, "hash">): string {
  return sha256Hex(JSON.stringify([before, seq, type, atMs, parent ?? null, key ?? null, body]).toWellFormed())
}

/** The first entry that does not follow from the one before it. */
export function brokenLink(before: Head, entries: readonly StoredEntry[]): number | undefined {
  let { seq, hash } = before
  for (const entry of entries) {
    seq += 1
    if (entry.seq !== seq || hashEntry(hash, entry) !== entry.hash) return entry.seq
    hash = entry.hash
  }
  return undefined
}
