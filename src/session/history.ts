import type { Message } from "../message/message.ts"
import type { Live } from "./live.ts"
import { type Entry, type EntryBody, entryId } from "./log/entry.ts"
import { thaw } from "./log/frozen.ts"

/** One entry of a session's log, for a reader. */
export type HistoryEntry = {
  readonly id: string
  readonly seq: number
  readonly type: EntryBody["type"]
  readonly atMs: number
  readonly hash: string
  /** For a message: what it said, whole, and whether it is on the branch that the session is on. */
  readonly message?: Message
  readonly onBranch?: boolean
  /** For everything else: what it says. The session's secret is not told. */
  readonly body?: Exclude<EntryBody, { type: "message-appended" | "session-opened" }>
}

export type HistoryRange = { readonly from?: number; readonly limit?: number }

/** Entries are told in pages of so many unless asked otherwise. */
const usualLimit = 1000

/** The log as it was written, oldest first. Nothing in it was ever changed or taken out. */
export async function history(
  live: Live,
  { from = 1, limit = usualLimit }: HistoryRange = {},
): Promise<readonly HistoryEntry[]> {
  const outline = live.journal.outline()
  // A place before the first, or no number at all, is the first.
  const first = from > 1 ? Math.floor(from) : 1
  const last = Math.min(outline.head().seq, first + (limit > 0 ? limit : 0) - 1)
  const seqs = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n)
  const entries = await live.journal.entries(seqs)
  const branch = new Set(outline.path(live.at) ?? [])
  return seqs.flatMap((seq) => {
    const entry = entries.get(seq)
    return entry === undefined ? [] : [tell(entry, branch)]
  })
}

function tell({ seq, hash, atMs, body }: Entry, branch: ReadonlySet<number>): HistoryEntry {
  const head = { id: entryId(seq), seq, type: body.type, atMs, hash }
  if (body.type === "message-appended") {
    return { ...head, message: thaw(body.message, entryId(seq)), onBranch: branch.has(seq) }
  }
  return body.type === "session-opened" ? head : { ...head, body }
}
