import { setImmediate as letOthersWork } from "node:timers/promises"
import { HoldfastError } from "../message/errors.ts"
import type { Store } from "./store.ts"

type Retention = {
  /** Sessions that changed at or after this moment stay. */
  readonly updatedBeforeMs: number
  readonly now?: () => number
}

/** How many sessions are looked up at a time. */
const BATCH_SESSIONS = 50

/** Remove the sessions that nobody has written to since a moment, with all they had, and say how many. The moment is never to come. */
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
