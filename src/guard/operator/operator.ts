import { randomBytes } from "node:crypto"
import { existsSync, type FSWatcher, watch } from "node:fs"
import { basename, join, resolve } from "node:path"
import { HoldfastError, ignoreProblem, type Problem, refuseOption } from "../../message/errors.ts"
import { checkOptionNames, optionNames } from "../../message/option-names.ts"
import { present } from "../../message/present.ts"
import { createLock } from "../../store/pace.ts"
import type { Head, Range, Store } from "../../store/store.ts"
import { openAuditLog } from "./audit-log.ts"
import {
  announce,
  applyDirectory,
  checkDirectory,
  createChannel,
  findMissing,
  type OperatorChannel,
  readLog,
  standingNow,
  writeDirectory,
  writeLine,
  writeRefusals,
} from "./channel.ts"
import { isName } from "./command.ts"
import { isAbsent, isListable, readSettled, stampIn } from "./directory.ts"
import { type AcceptedLine, type AuditLine, acceptedLine, auditLines, readWholeLog } from "./inspect-operator.ts"
import {
  createOperatorHub,
  createRefusals,
  isCommandRefusal,
  type OperatorListener,
  type Refusal,
  readGenuine,
  refusalOf,
} from "./judge-command.ts"
import type { Standing } from "./rule-file.ts"

export type OperatorOptions = {
  /** The store of the audit log, the same as for sessions. Closing the operator does not close it. */
  readonly store: Store
  /** The policy directory; without one there are only commands. */
  readonly directory?: string
  /**
   * `required` (the default): a missing directory is a Problem. `expected`: only if the log has nothing in force from it; otherwise the
   * channel opens, and `refusal` says that nothing may be served until it is back. `optional`: it may also appear later.
   */
  readonly directoryIs?: "required" | "expected" | "optional"
  /** Continue without the rules of a missing directory and of its keys. */
  readonly withoutDirectory?: boolean
  /** Trusted public keys in addition to those of the directory, in PEM. */
  readonly keys?: readonly string[]
  /** The name of this deployment, for which commands are signed; by default a random one, chosen at the first start and kept in the log. */
  readonly audience?: string
  readonly now?: () => number
  /** Check files and log in the background; true by default. */
  readonly watch?: boolean
}

const operatorNames = optionNames<OperatorOptions>()(
  "store directory directoryIs withoutDirectory keys audience now watch",
)

/** A command in force: its audit line, and the id of the rule if it pinned one. */
export type Accepted = { readonly line: AcceptedLine; readonly rule?: string }

/** The operator's channel: rules and policies that no request, tool result or response can add, change or withdraw. */
export type Operator = {
  /** The audience that commands must be signed for. */
  readonly audience: string
  /** The rules and policies in force, as last known, without expired ones. Never waits. */
  readonly standing: () => Standing
  /**
   * Checks files and log again; one small read if nothing changed. An unavailable store or an invalid log is reported, and the previous
   * rules stay in force: nobody gets rid of a rule, or stops the agent, by cutting off the store.
   */
  readonly refresh: () => Promise<Standing>
  /** Why `standing` may be outdated, if so: a faulty directory, an unavailable store, a damaged log. */
  readonly problem: () => Problem | undefined
  /** Why no request may be served now, if so: rules or policies are in force whose files or keys are gone, so they are unknown. */
  readonly refusal: () => Problem | undefined
  /** Executes a signed command, or throws the reason. If the store does not accept it, or the directory is faulty, it is not in force. */
  readonly submit: (command: string) => Promise<Accepted>
  /** The audit log, or some lines by number; all of it is verified. */
  readonly audit: (range?: Range) => Promise<readonly AuditLine[]>
  /** Verifies the whole log: hashes, signatures, order, and that it still has what was read before. */
  readonly verify: () => Promise<Head>
  readonly subscribe: (listener: OperatorListener) => () => void
  readonly close: () => Promise<void>
}

/**
 * Opens the operator's channel. Fails if the directory is faulty, the log is damaged, or the store cannot be reached: the commands in force
 * would be unknown, and continuing would drop them.
 */
export async function openOperator(options: OperatorOptions): Promise<Operator> {
  checkOptionNames(options, operatorNames, "openOperator")
  const channel = await openChannel(options)
  const lock = createLock()
  let closed = false
  const act = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    if (closed) throw new HoldfastError({ code: "store-closed", store: "operator's" })
    return lock(work).finally(() => announce(channel))
  }
  const refresh = (): Promise<Standing> => act(() => refreshChannel(channel))
  const stop = options.watch === false ? () => {} : watchDirectory(options.directory, inBackground(refresh))
  return {
    get audience() {
      return channel.held.state.audience
    },
    standing: () => standingNow(channel),
    refresh,
    problem: () => channel.missing ?? channel.trouble ?? channel.rejection,
    refusal: () => channel.missing,
    submit: (command) => act(() => submit(channel, command)),
    audit: (range) => act(() => readAudit(channel, range)),
    verify: () => act(async () => (await readWholeLog(channel.log, channel.held)).state.head),
    subscribe: channel.hub.subscribe,
    close: async () => {
      if (closed) return
      closed = true
      stop()
      // Do not wait for an unavailable store to log the last refusals.
      await lock(() => writeRefusals(channel, true)).catch(ignoreProblem)
    },
  }
}

function inBackground(refresh: () => Promise<Standing>): () => void {
  let running = false
  return () => {
    if (running) return
    running = true
    refresh()
      .catch(ignoreProblem)
      .finally(() => {
        running = false
      })
  }
}

/** A name that works unquoted on a command line: base64url begins with "-" once in 64 times. */
const randomName = (): string => randomBytes(12).toString("hex")

async function openChannel({
  store,
  directory: given,
  keys = [],
  audience,
  now = Date.now,
  directoryIs = "required",
  withoutDirectory = false,
}: OperatorOptions): Promise<OperatorChannel> {
  if (given !== undefined && (typeof given !== "string" || given === "" || given.includes("\0")))
    refuseOption("directory", "a folder", "something else")
  const directory = given === undefined ? undefined : resolve(given)
  if (audience !== undefined && !isName(audience)) throw wrongAudience("a name", "something else")
  const channel = createChannel({
    log: openAuditLog(store),
    directory,
    given: keys.map((text, at) => ({ text, source: `number ${at + 1} of keys`, state: "trusted" })),
    now,
    newId: randomName,
    hub: createOperatorHub(now),
    refusals: createRefusals(),
    isDirectoryOptional: directoryIs === "optional" || withoutDirectory,
    withoutDirectory,
  })
  const fault = await openDirectory(channel, directoryIs)
  channel.lookedMs = now()
  if (directoryIs === "required") await readLog(channel)
  else channel.missing = await findMissing(channel)
  channel.told = standingNow(channel)
  if (channel.missing !== undefined) return channel
  if (fault !== undefined && !channel.isDirectoryOptional) throw fault
  // Without any rules, keys or audience there is nothing to log.
  if (directoryIs === "required" || audience !== undefined || keys.length > 0 || channel.unwritten)
    await openLog(channel, audience)
  const known = channel.held.state.audience
  if (audience !== undefined && audience !== known)
    throw wrongAudience(`${JSON.stringify(known)}, which its audit log was begun with`, JSON.stringify(audience))
  await writeDirectory(channel)
  channel.told = standingNow(channel)
  return channel
}

/** Reads the directory, if it exists. Whether a missing or unlistable one is a fault depends on the log. */
async function openDirectory(
  channel: OperatorChannel,
  directoryIs: NonNullable<OperatorOptions["directoryIs"]>,
): Promise<HoldfastError | undefined> {
  const { directory } = channel
  if (directory === undefined) return undefined
  try {
    applyDirectory(channel, await readSettled(directory, 0))
    return undefined
  } catch (error) {
    const mayGoOn = directoryIs !== "required" && (await isListable(directory)) === false
    if (!(error instanceof HoldfastError) || !mayGoOn) throw error
    const isFaulty = !(await isAbsent(directory))
    if (isFaulty) {
      channel.rejection = error.problem
      channel.rejected = await stampIn(directory)
    }
    return error
  }
}

/** Begins the log, if it does not exist. */
async function openLog(channel: OperatorChannel, audience = randomName()): Promise<void> {
  await writeLine(channel, () => (channel.held.state.head.seq > 0 ? undefined : { type: "log-opened", audience }))
}

const wrongAudience = (expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "option-invalid", option: "audience", expected, found })

/** Checks everything again. A problem is reported once and changes nothing: the agent continues under the previous rules. */
async function refreshChannel(channel: OperatorChannel): Promise<Standing> {
  try {
    await checkDirectory(channel, channel.missing !== undefined)
    if (channel.missing === undefined) await readLog(channel)
    else channel.missing = await findMissing(channel)
    if (channel.missing !== undefined) return standingNow(channel)
    if (channel.unwritten) await openLog(channel)
    await writeDirectory(channel)
    await writeRefusals(channel)
    channel.trouble = undefined
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const { problem } = error
    if (JSON.stringify(problem) !== JSON.stringify(channel.trouble))
      channel.hub.emit({ type: "refresh-failed", problem })
    channel.trouble = problem
  }
  return standingNow(channel)
}

async function submit(channel: OperatorChannel, text: string): Promise<Accepted> {
  const sent = typeof text === "string" ? text.trim() : ""
  await checkDirectory(channel)
  if (channel.missing !== undefined) throw new HoldfastError(channel.missing)
  await openLog(channel)
  const first = readGenuine(sent, channel.held.keys)
  if (isCommandRefusal(first)) return refuse(channel, first, sent)
  // A key that was just removed must not be accepted; while the directory is faulty, the removed keys are unknown.
  await checkDirectory(channel, true)
  if (channel.rejection !== undefined) throw new HoldfastError(channel.rejection)
  await readLog(channel)
  let refusal: Refusal | undefined
  const written = await writeLine(channel, () => {
    const genuine = readGenuine(sent, channel.held.keys)
    const { state: log, content, keys } = channel.held
    refusal = isCommandRefusal(genuine) ? genuine : refusalOf(genuine, { log, content, keys, nowMs: channel.now() })
    return refusal === undefined ? { type: "command-accepted", signed: sent } : undefined
  })
  if (refusal !== undefined) return refuse(channel, refusal, sent)
  const command = channel.held.state.commands.find(({ number }) => number === written?.number)
  if (command === undefined) throw new Error("holdfast bug: a command was written and not taken")
  const rule = command.payload.command.type === "pin" ? `c${command.number}` : undefined
  return { line: acceptedLine(command), ...present({ rule }) }
}

/** Logs the refusal if possible, reports it, and throws it. */
async function refuse(channel: OperatorChannel, refusal: Refusal, text: string): Promise<never> {
  const { reason, found, key } = refusal
  channel.refusals.add(refusal, text)
  channel.hub.emit({ type: "command-refused", reason, ...present({ key }) })
  // It is counted, and logged with the next line.
  await writeRefusals(channel).catch(ignoreProblem)
  throw new HoldfastError({ code: "command-refused", reason, found })
}

async function readAudit(channel: OperatorChannel, { from = 1, to = Infinity, limit = Infinity }: Range = {}) {
  const { entries, state } = await readWholeLog(channel.log, channel.held)
  const wanted = entries.filter(({ number }) => number >= from && number <= to).slice(0, Math.max(0, limit))
  return auditLines(wanted, state)
}

/** Delay after the last change. */
const quietMs = 100
/** Poll interval: not every disk reports changes, and a store never does. */
const pollMs = 2000

/** Acts soon after a change in a directory, and at regular intervals. Does not keep the process alive. */
function watchDirectory(directory: string | undefined, act: () => void): () => void {
  let quiet: NodeJS.Timeout | undefined
  const soon = (): void => {
    clearTimeout(quiet)
    quiet = setTimeout(act, quietMs)
    quiet.unref()
  }
  const watchers = new Map<string, FSWatcher>()
  // A folder that appears later, or is recreated, is watched from the next poll on.
  const start = (): void => {
    if (directory === undefined) return
    for (const path of [directory, join(directory, "keys")]) if (!watchers.has(path)) watchPath(watchers, path, soon)
  }
  start()
  const poll = setInterval(() => {
    start()
    act()
  }, pollMs)
  poll.unref()
  return () => {
    clearTimeout(quiet)
    clearInterval(poll)
    for (const watcher of watchers.values()) watcher.close()
  }
}

/** Watches a path; if that is not possible, polling is enough. */
function watchPath(watchers: Map<string, FSWatcher>, path: string, changed: () => void): void {
  try {
    const watcher = watch(path, { persistent: false }, (event, name) => {
      // The folder itself was moved or deleted: a new one of that name is a different folder.
      if (event === "rename" && (name === null || name === basename(path)) && !existsSync(path)) end()
      changed()
    })
    const end = (): void => {
      watcher.close()
      if (watchers.get(path) === watcher) watchers.delete(path)
    }
    watcher.on("error", end)
    watchers.set(path, watcher)
  } catch {
    // If it cannot be watched, polling is enough.
  }
}
