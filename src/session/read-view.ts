import { entryId } from "../log/entry.ts"
import { thaw } from "../log/frozen.ts"
import { assert } from "../message/assert.ts"
import type { Message } from "../message/message.ts"
import type { Live } from "./live.ts"
import { type View, viewOf } from "./view.ts"

/** The view at a message, read from the log as far as it is not in memory. */
export async function readView({ journal }: Live, at: number): Promise<View> {
  const outline = journal.outline()
  const seq = outline.checkpointAt(at)
  const since = outline.path(at, outline.nodeOf(seq) ?? 0)
  assert(since !== undefined, `no way from checkpoint ${seq} to entry ${at}`)
  const wanted = new Set(since)
  const retrievals = outline.ofType("memory-retrieved").filter((entry) => wanted.has(outline.reference(entry) ?? 0))
  const entries = await journal.entries([...(seq === 0 ? [] : [seq]), ...retrievals])
  const retrieved = new Map<number, Message>()
  for (const { body } of entries.values())
    if (body.type === "memory-retrieved") retrieved.set(body.before, body.message)
  const body = entries.get(seq)?.body
  assert(seq === 0 || body?.type === "checkpoint-installed", `entry ${seq} is no checkpoint`)
  return viewOf(at, body?.type === "checkpoint-installed" ? { seq, body } : undefined, since, retrieved)
}

/** The messages of these entries, as they came in. */
export async function readMessages({ journal, messages }: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  const missing = seqs.filter((seq) => !messages.has(seq))
  const entries = missing.length === 0 ? new Map() : await journal.entries(missing)
  for (const seq of missing) {
    const body = entries.get(seq)?.body
    if (body?.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
  }
  return seqs.flatMap((seq) => messages.get(seq) ?? [])
}
