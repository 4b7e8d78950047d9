import type { SessionId, Store } from "../store/store.ts"
import { payloadsOf, readBody } from "./log/chain.ts"
import type { Entry } from "./log/entry.ts"

/** Entries that were read or written by this process, and the way to the others. */
export type Bodies = {
  readonly keep: (entries: readonly Entry[]) => void
  /** Entries by place, from the store where they are not at hand. */
  readonly read: (seqs: readonly number[]) => Promise<ReadonlyMap<number, Entry>>
  /** Let go of all but these. */
  readonly release: (isKept: (seq: number) => boolean) => void
}

export function createBodies(store: Store, session: SessionId): Bodies {
  const known = new Map<number, Entry>()
  const fetch = async (seqs: readonly number[]): Promise<void> => {
    const stored = await store.readEntries(session, seqs)
    const names = new Set(stored.flatMap(({ body }) => payloadsOf(body)))
    const texts = names.size === 0 ? new Map<string, string>() : await store.payloads(session, [...names])
    for (const entry of stored) {
      const { seq, hash, atMs } = entry
      known.set(seq, { seq, hash, atMs, body: readBody(entry, texts, session) })
    }
  }
  return {
    keep: (entries) => {
      for (const entry of entries) known.set(entry.seq, entry)
    },
    read: async (seqs) => {
      const missing = seqs.filter((seq) => !known.has(seq))
      if (missing.length > 0) await fetch(missing)
      return new Map(seqs.flatMap((seq) => pairOf(seq, known.get(seq))))
    },
    release: (isKept) => {
      for (const seq of known.keys()) if (!isKept(seq)) known.delete(seq)
    },
  }
}

const pairOf = (seq: number, entry: Entry | undefined): readonly (readonly [number, Entry])[] =>
  entry === undefined ? [] : [[seq, entry]]
