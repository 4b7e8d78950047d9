import { HoldfastError } from "../errors.ts"
import type { Live } from "./live.ts"
import { wake } from "./open-live.ts"

/** What was said before is only known once the log was read: without it, nothing can be told of a session or shown of its history. */
export async function requireLog(live: Live): Promise<void> {
  if (live.learned && live.journal.isKnown()) return
  const { problem } = await live.journal.commit(() => [])
  if (problem !== undefined) throw new HoldfastError(problem)
  await wake(live)
}
