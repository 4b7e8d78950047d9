import { setImmediate as letOthersWork } from "node:timers/promises"
import { HoldfastError } from "../message/errors.ts"
import type { Store } from "./store.ts"

type Retention = {
  /** Sessions updated at or after this time stay. */
  readonly updatedBeforeMs: number
  readonly now?: () => number
}

/** Sessions listed at a time. */
const BATCH_SESSIONS = 50

/** Delete the sessions that were not written to since a time in the past, and return how many. */
export async function pruneSessions(
  store: Store,
  { updatedBeforeMs, now = Date.now }: Retention,
): Promise<{ readonly removed: number }> {
  if (!(updatedBeforeMs <= now())) {
    const expected = "a moment that has passed"
    throw new HoldfastError({
      code: "option-invalid",
      option: "updatedBeforeMs",
      expected,
      found: `${updatedBeforeMs}`,
    })
  }
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
