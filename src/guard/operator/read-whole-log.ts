import { HoldfastError } from "../../message/errors.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { AuditEntry, AuditLog } from "./audit-log.ts"
import { emptyLog, type LogState, takeLines } from "./commands-in-force.ts"
import type { KeyRing } from "./key-ring.ts"

export type WholeLog = { readonly entries: readonly AuditEntry[]; readonly state: LogState }

/**
 * Read the log from its first line on and believe nothing: every hash, signature and number is checked, that it ends where the store says,
 * and that it still has what was read of it before.
 */
export async function readWholeLog(
  log: AuditLog,
  { keys, state: known }: { readonly keys: KeyRing; readonly state: LogState },
): Promise<WholeLog> {
  const head = await log.head()
  const entries = await log.readBehind(emptyLog.head)
  for (const { seq, hash } of [head, known.head]) {
    if (seq === 0 || entries[seq - 1]?.hash === hash) continue
    const reason = `line ${seq} is missing or is not what it was`
    throw new HoldfastError({ code: "store-corrupt", store: "audit log", session: operatorLog, reason })
  }
  return { entries, state: takeLines(emptyLog, entries, keys) }
}
