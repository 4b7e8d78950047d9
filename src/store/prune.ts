import { setImmediate as letOthersWork } from "node:timers/promises"
import { refuseOption } from "../message/errors.ts"
import type { Store } from "./store.ts"

/** Maximum number of sessions listed at a time. */
const BATCH_SESSIONS = 50

/** Deletes the sessions that were not written to since a time in the past, and returns how many. */
export async function pruneSessions(
  store: Store,
  { updatedBeforeMs, now = Date.now }: { readonly updatedBeforeMs: number; readonly now?: () => number },
): Promise<{ readonly removed: number }> {
  if (!(updatedBeforeMs <= now())) refuseOption("updatedBeforeMs", "a moment that has passed", `${updatedBeforeMs}`)
  let removed = 0
  for (;;) {
    const batch = await store.sessions({ updatedBeforeMs, limit: BATCH_SESSIONS })
    if (batch.length === 0) return { removed }
    for (const { id } of batch) {
      const current = await store.session(id)
      if (current !== undefined && current.updatedMs < updatedBeforeMs && (await store.remove(id))) removed += 1
    }
    await letOthersWork()
  }
}

/** How long sessions are kept, and how many bytes of them; an absent limit is none. */
export type RetentionLimits = { readonly maxAgeMs?: number; readonly maxBytes?: number }

/** Number of sessions deleted before the size is measured again. */
const AT_A_TIME = 10

/** A session written to within this time is not deleted to make room: it is probably in use. */
const inUseMs = 3_600_000

/** Deletes the sessions that are too old, then the oldest until the store is small enough, and returns how many. */
export async function applyRetention(
  store: Store,
  { maxAgeMs, maxBytes }: RetentionLimits,
  nowMs: number,
): Promise<number> {
  const now = (): number => nowMs
  let { removed } =
    maxAgeMs === undefined ? { removed: 0 } : await pruneSessions(store, { updatedBeforeMs: nowMs - maxAgeMs, now })
  while (maxBytes !== undefined && (await store.usedBytes()) > maxBytes) {
    const oldest = (await store.sessions({ updatedBeforeMs: nowMs - inUseMs })).slice(-AT_A_TIME)
    if (oldest.length === 0) break
    for (const { id } of oldest) if (await store.remove(id)) removed += 1
    await letOthersWork()
  }
  if (removed > 0) await store.scrub()
  return removed
}
