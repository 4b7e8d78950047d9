import { HoldfastError } from "../../message/errors.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { Store } from "../../store/store.ts"
import { type AuditBody, type AuditEntry, type AuditLog, openAuditLog } from "./audit-log.ts"
import type { OperatorCommand } from "./command.ts"
import {
  type AcceptedCommand,
  applyLines,
  combineSources,
  emptyLog,
  type LogState,
  standingAt,
} from "./commands-in-force.ts"
import { type KeyRing, makeKeyRing, noDirectory, readDirectory } from "./directory.ts"
import type { Standing } from "./rule-file.ts"

/** The state of the operator's channel, read without changing anything. */
type Inspection = {
  readonly standing: Standing
  readonly keys: KeyRing
  readonly log: LogState
  readonly lines: readonly AuditLine[]
}

/** Reads and checks files and log without writing. Without a store, only the files are read. */
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
  const { standing } = standingAt(combineSources(content, state, keys), now())
  return { standing, keys, log: state, lines: auditLines(entries, state) }
}

type LinePlace = { readonly number: number; readonly atMs: number; readonly hash: string }

/** An accepted command with its content instead of its signed text. */
export type AcceptedLine = LinePlace & {
  readonly type: "command-accepted"
  readonly key: string
  readonly sequence: number
  readonly issuedAtMs: number
  readonly command: OperatorCommand
}

type UnsignedLine<Body> = Body extends { readonly type: "command-accepted" } ? never : LinePlace & Omit<Body, "by">

/** A line of the audit log, for display. */
export type AuditLine = AcceptedLine | UnsignedLine<AuditBody>

export function acceptedLine({ number, atMs, hash, key, payload }: AcceptedCommand): AcceptedLine {
  const { sequence, issuedAtMs, command } = payload
  return { number, atMs, hash, type: "command-accepted", key, sequence, issuedAtMs, command }
}

/** Audit lines for display, with the commands of the resulting state. */
export function auditLines(entries: readonly AuditEntry[], { commands }: LogState): readonly AuditLine[] {
  const accepted = new Map(commands.map((command) => [command.number, command]))
  return entries.flatMap(({ number, atMs, hash, body }): readonly AuditLine[] => {
    const command = accepted.get(number)
    if (body.type === "command-accepted") return command === undefined ? [] : [acceptedLine(command)]
    const { by: _, ...told } = body
    return [{ number, atMs, hash, ...told }]
  })
}

/** Reads the log from its first line and verifies every hash, signature and number, its end, and that it still has what was read before. */
export async function readWholeLog(
  log: AuditLog,
  { keys, state: known }: { readonly keys: KeyRing; readonly state: LogState },
): Promise<{ readonly entries: readonly AuditEntry[]; readonly state: LogState }> {
  const head = await log.head()
  const entries = await log.readBehind(emptyLog.head)
  for (const { seq, hash } of [head, known.head]) {
    if (seq === 0 || entries[seq - 1]?.hash === hash) continue
    const reason = `line ${seq} is missing or is not what it was`
    throw new HoldfastError({ code: "store-corrupt", store: "audit log", session: operatorLog, reason })
  }
  return { entries, state: applyLines(emptyLog, entries, keys) }
}
