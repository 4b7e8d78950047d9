import { HoldfastError, type Problem } from "../../message/errors.ts"
import { operatorLog } from "../../store/reserved-log.ts"
import type { AuditEntry, AuditLog, NewAuditBody } from "./audit-log.ts"
import {
  applyLines,
  type CombinedRules,
  combineSources,
  type DatedStanding,
  emptyLog,
  type LogState,
  standingAt,
} from "./commands-in-force.ts"
import {
  type DirectoryContent,
  isAbsent,
  type KeyRing,
  type KeyText,
  makeKeyRing,
  noDirectory,
  readSettled,
  stampIn,
} from "./directory.ts"
import { acceptedLine } from "./inspect-operator.ts"
import type { OperatorHub, Refusals } from "./judge-command.ts"
import { faultIn, type Standing } from "./rule-file.ts"

/** The content of files and log, and the rules that result. Replaced as a whole, so that it is never half old and half new. */
type OperatorState = {
  readonly content: DirectoryContent
  readonly keys: KeyRing
  readonly state: LogState
  readonly sayings: CombinedRules
}

/** One program's state of the operator's channel. */
export type OperatorChannel = {
  readonly log: AuditLog
  readonly directory: string | undefined
  /** Keys in addition to those of the directory. */
  readonly given: readonly KeyText[]
  readonly now: () => number
  readonly newId: () => string
  readonly hub: OperatorHub
  readonly refusals: Refusals
  readonly isDirectoryOptional: boolean
  /** Continue without the rules of a missing directory and of its keys. */
  readonly withoutDirectory: boolean
  held: OperatorState
  dated: DatedStanding
  /** The state that listeners were last notified of. */
  told: Standing
  lookedMs: number
  /** The stamp of the directory that was rejected. */
  rejected: string
  /** The problem of the current directory, and of the last read of the log. */
  rejection: Problem | undefined
  trouble: Problem | undefined
  /** Set if the rules in force cannot be known: the log has rules or policies whose files or keys are gone. */
  missing: Problem | undefined
  /** Whether the directory in force is not logged yet. */
  unwritten: boolean
}

export function createChannel(
  parts: Pick<
    OperatorChannel,
    "log" | "directory" | "given" | "now" | "newId" | "hub" | "refusals" | "isDirectoryOptional" | "withoutDirectory"
  >,
): OperatorChannel {
  const sayings: CombinedRules = { rules: [], policies: [] }
  const keys = makeKeyRing(parts.given)
  const dated = standingAt(sayings, parts.now())
  const held = { content: noDirectory, keys, state: emptyLog, sayings }
  return {
    ...parts,
    held,
    dated,
    told: dated.standing,
    lookedMs: -Infinity,
    rejected: "",
    rejection: undefined,
    trouble: undefined,
    missing: undefined,
    unwritten: false,
  }
}

/** The rules in force: as last known, without expired ones. */
export function standingNow(channel: OperatorChannel): Standing {
  const nowMs = channel.now()
  const { fromMs, untilMs } = channel.dated
  if (nowMs < fromMs || nowMs >= untilMs) channel.dated = standingAt(channel.held.sayings, nowMs)
  return channel.dated.standing
}

/** Replaces the state, if files and commands are consistent. */
function replaceState(channel: OperatorChannel, next: Omit<OperatorState, "sayings">): void {
  const sayings = combineSources(next.content, next.state, next.keys, channel.held.sayings)
  channel.held = { ...next, sayings }
  const dated = standingAt(sayings, channel.now())
  const { standing } = channel.dated
  // Keep the same object if nothing changed, so that holders need not compare.
  channel.dated = dated.standing.version === standing.version ? { ...dated, standing } : dated
}

/** Tells listeners which rules were added and removed since the last time. */
export function announce(channel: OperatorChannel): void {
  const before = channel.told
  const after = standingNow(channel)
  if (after.version === before.version) return
  channel.told = after
  const ids = ({ rules }: Standing): ReadonlySet<string> => new Set(rules.map(({ id }) => id))
  const [had, has] = [ids(before), ids(after)]
  channel.hub.emit({
    type: "rules-changed",
    version: after.version,
    added: [...has].filter((id) => !had.has(id)),
    removed: [...had].filter((id) => !has.has(id)),
  })
}

/** Minimum interval between checks of the directory. */
const lookEveryMs = 1000

/** Checks whether the directory changed, and uses its new content. A faulty directory is reported, and changes nothing. */
export async function checkDirectory(channel: OperatorChannel, force = false): Promise<void> {
  const { directory, held } = channel
  const nowMs = channel.now()
  if (directory === undefined || (!force && Math.abs(nowMs - channel.lookedMs) < lookEveryMs)) return
  channel.lookedMs = nowMs
  if (channel.isDirectoryOptional && held.content.files.length === 0 && (await isAbsent(directory)))
    return accept(channel)
  const stamp = await stampIn(directory)
  if (stamp === held.content.stamp) accept(channel)
  if (stamp === held.content.stamp || stamp === channel.rejected) return
  try {
    const content = await readSettled(directory)
    refuseReplaced(directory, held.content, content)
    applyDirectory(channel, content)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    channel.rejected = await stampIn(directory)
    channel.rejection = error.problem
    channel.hub.emit({ type: "policy-rejected", problem: error.problem })
  }
}

/**
 * The problem if the rules in force cannot be known: the log has a command of a key that is gone, or its last directory had rules or
 * policies and is now missing or empty. This happens with an unmounted disk or a deleted folder: continuing would drop the rules.
 */
export async function findMissing(channel: OperatorChannel): Promise<Problem | undefined> {
  const { directory = "", withoutDirectory } = channel
  try {
    await readLog(channel)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "key-invalid") throw error
    const found = (await isAbsent(directory)) ? "does not exist" : `has no public key ${error.problem.key} any more`
    return { code: "policy-missing", directory, found }
  }
  const { content, state } = channel.held
  const had = state.files.some(({ name }) => !name.startsWith("keys/"))
  if (!had || content.files.length > 0 || withoutDirectory) return undefined
  const found = (await isAbsent(directory)) ? "does not exist" : "is empty or cannot be read"
  return { code: "policy-missing", directory, found }
}

/** Puts a directory in force. */
export function applyDirectory(channel: OperatorChannel, content: DirectoryContent): void {
  const keys = makeKeyRing([...content.keys, ...channel.given])
  replaceState(channel, { ...channel.held, content, keys })
  accept(channel)
  channel.unwritten = true
}

function accept(channel: OperatorChannel): void {
  channel.rejected = ""
  channel.rejection = undefined
}

/** Refuses an empty folder in place of the directory: this is a missing disk, not a change by the operator. */
function refuseReplaced(directory: string, before: DirectoryContent, after: DirectoryContent): void {
  if (before.files.length === 0 || after.files.length > 0 || before.identity === after.identity) return
  throw faultIn(directory, undefined, "was replaced by another folder, which is empty")
}

/** Reads lines that any program wrote since. An invalid line is a Problem, and changes nothing. */
export async function readLog(channel: OperatorChannel): Promise<void> {
  try {
    await readLines(channel)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "key-invalid") throw error
    // Its key may have been added just now.
    await checkDirectory(channel, true)
    await readLines(channel)
  }
}

async function readLines(channel: OperatorChannel): Promise<void> {
  const { head: known } = channel.held.state
  const head = await channel.log.head()
  if (head.seq === known.seq && head.hash === known.hash) return
  const entries = await channel.log.readBehind(known)
  const reached = head.seq === known.seq ? known : entries.find(({ number }) => number === head.seq)
  if (reached?.hash !== head.hash) {
    const reason = `it should end with line ${head.seq}, and does not`
    throw new HoldfastError({ code: "store-corrupt", store: "audit log", session: operatorLog, reason })
  }
  applyEntries(channel, entries)
}

function applyEntries(channel: OperatorChannel, entries: readonly AuditEntry[]): void {
  const { held } = channel
  const state = applyLines(held.state, entries, held.keys, channel.withoutDirectory ? "skip" : "refuse")
  replaceState(channel, { ...held, state })
  channel.rejected = ""
  for (const command of state.commands.slice(held.state.commands.length))
    channel.hub.emit({ type: "command-accepted", line: acceptedLine(command) })
}

/** Limit on lost write races; more means that something is wrong with the store. */
const maxTries = 100

/**
 * Writes a line built from the current state, again if another program was faster; not if `make` returns undefined. In force once stored.
 */
export async function writeLine(
  channel: OperatorChannel,
  make: () => NewAuditBody | undefined,
): Promise<AuditEntry | undefined> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const body = make()
    if (body === undefined) return undefined
    const atMs = Math.max(0, Math.trunc(channel.now()))
    const line = await channel.log.append(channel.held.state.head, { ...body, by: channel.newId() }, atMs)
    if (line !== "conflict") {
      applyEntries(channel, [line])
      return line
    }
    await readLog(channel)
  }
  const reason = "others write to the audit log without end"
  throw new HoldfastError({ code: "store-unavailable", store: "audit log", reason })
}

/** Logs the directory in force, if it differs from the last logged one. */
export async function writeDirectory(channel: OperatorChannel): Promise<void> {
  if (!channel.unwritten) return
  await writeLine(channel, () => {
    const { content, state } = channel.held
    const { files } = content
    if (JSON.stringify(files) === JSON.stringify(state.files)) return undefined
    const ids = new Set(content.rules.map(({ id }) => id))
    const added = [...ids].filter((id) => !state.fileRules.has(id))
    const removed = [...state.fileRules].filter((id) => !ids.has(id))
    return { type: "directory-changed", files, added, removed }
  })
  channel.unwritten = false
}

/** Logs refusals, within the rate limit. */
export async function writeRefusals(channel: OperatorChannel, whatever = false): Promise<void> {
  const due = channel.refusals.due(channel.now(), whatever)
  if (due === undefined) return
  await writeLine(channel, () => due)
  channel.refusals.written(due, channel.now())
}
