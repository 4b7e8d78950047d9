import type { Store } from "../../store/store.ts"
import { openAuditLog } from "./audit-log.ts"
import { type AuditLine, auditLines } from "./audit-view.ts"
import { gatherSayings, standingAt } from "./build-standing.ts"
import { emptyLog, type LogState } from "./commands-in-force.ts"
import { type KeyRing, makeKeyRing } from "./key-ring.ts"
import { noDirectory, readDirectory } from "./read-directory.ts"
import { readWholeLog } from "./read-whole-log.ts"
import type { Standing } from "./standing.ts"

/** The operator's channel as it is found, for who only wants to look. */
export type Inspection = {
  readonly standing: Standing
  readonly keys: KeyRing
  readonly log: LogState
  readonly lines: readonly AuditLine[]
}

/** Look at files and log, check all of it, and write nothing. Without a store the files alone are seen. */
export async function inspectOperator({
  store,
  directory,
  now = Date.now,
}: {
  readonly store?: Store
  readonly directory?: string
  readonly now?: () => number
}): Promise<Inspection> {
  const content = directory === undefined ? noDirectory : await readDirectory(directory)
  const keys = makeKeyRing(content.keys)
  const { entries, state } =
    store === undefined
      ? { entries: [], state: emptyLog }
      : await readWholeLog(openAuditLog(store), { keys, state: emptyLog })
  const { standing } = standingAt(gatherSayings(content, state, keys), now())
  return { standing, keys, log: state, lines: auditLines(entries, state) }
}
