import type { MemoryOwner } from "../store/memory-row.ts"
import type { Head, SessionId, Store, StoredEntry } from "../store/store.ts"

/** Entries that the store does not have yet, in the order in which they were written. */
export type Backlog = {
  readonly size: () => number
  readonly saved: () => Head
  /** The store is known to have everything up to here. */
  readonly advance: (head: Head) => void
  readonly add: (entries: readonly StoredEntry[], payloads: ReadonlyMap<string, string>) => void
  /** Write all of it. `conflict` if someone else wrote in its place; a store that fails leaves it as it is. */
  readonly save: () => Promise<"saved" | "conflict">
  /** Take everything back: it will be written differently. */
  readonly withdraw: () => Withdrawn
}

export type Withdrawn = { readonly entries: readonly StoredEntry[]; readonly payloads: ReadonlyMap<string, string> }

export function createBacklog(store: Store, session: SessionId, owner: () => MemoryOwner): Backlog {
  let saved: Head = { seq: 0, hash: "" }
  let entries: readonly StoredEntry[] = []
  let payloads: ReadonlyMap<string, string> = new Map()

  const advance = (head: Head): void => {
    saved = head
    entries = entries.filter(({ seq }) => seq > head.seq)
    if (entries.length === 0) payloads = new Map()
  }
  const save = async (): Promise<"saved" | "conflict"> => {
    const last = entries.at(-1)
    if (last === undefined) return "saved"
    const written = await store.append(session, { after: saved.seq, entries, payloads, ...owner() })
    if (written.type === "appended") {
      advance({ seq: last.seq, hash: last.hash })
      return "saved"
    }
    // Someone else recorded the same message: it is matched to theirs.
    if (written.type === "duplicate") return "conflict"
    // A writing whose answer got lost: the store's end is one of ours.
    const { head } = written
    if (!entries.some(({ seq, hash }) => seq === head.seq && hash === head.hash)) return "conflict"
    advance(head)
    return save()
  }
  return {
    size: () => entries.length,
    saved: () => saved,
    advance,
    add: (more, texts) => {
      entries = [...entries, ...more]
      payloads = new Map([...payloads, ...texts])
    },
    save,
    withdraw: () => {
      const withdrawn = { entries, payloads }
      entries = []
      payloads = new Map()
      return withdrawn
    },
  }
}
