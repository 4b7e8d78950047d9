import { exec } from "node:child_process"
import { readFileSync, type Stats, statSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, extname, join, posix, relative, resolve, win32 } from "node:path"
import { promisify } from "node:util"
import { describe, HoldfastError, systemCode } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { createHoldfast } from "../session/holdfast.ts"
import { ownerOfRow } from "../session/rules/pins.ts"
import type { Session } from "../session/session.ts"
import { isPostgres, openStore, type StoreOptions } from "../store/open-store.ts"
import { operatorLog } from "../store/reserved-log.ts"
import { readStoreKey } from "../store/sealed-store.ts"
import { findPathFault, problemOfPath } from "../store/sqlite-file.ts"
import type { SessionFilter, SessionRow, Store } from "../store/store.ts"
import { ANY_SESSION } from "../store/stored-row.ts"
import { type Arguments, type CommandAnswer, failureIn, misuse, needed, type Options, unusable } from "./command.ts"
import { sentenceOf, startProgress } from "./terminal/output.ts"
import type { World } from "./world.ts"

/** The folder in which earlier versions kept their data: in the working folder, which agents can write to. */
const formerFolder = ".holdfast"
const defaultFile = "holdfast.db"

export const dataOption: Options = {
  data: { value: "PLACE", help: "the store: a folder, a file or a postgres:// address; your data folder unless given" },
}

/** The user's own folders for Holdfast, outside of any project. */
type UsualFolders = {
  /** Sessions, memory, the admin token. */
  readonly data: string
  /** Policies and keys. */
  readonly config: string
}

/**
 * The user's own folders on each platform: by the XDG base directories (https://specifications.freedesktop.org/basedir-spec/), in the
 * Library on macOS, in AppData on Windows. A relative path in a variable is ignored, as the specification says.
 */
export function usualFolders(env: World["env"], platform: string = process.platform): UsualFolders {
  const path = platform === "win32" ? win32 : posix
  const home = given(env.HOME) ?? given(env.USERPROFILE) ?? homedir()
  const named = (name: string, ...below: readonly string[]): string => {
    const folder = given(env[name])
    return path.join(folder !== undefined && path.isAbsolute(folder) ? folder : path.join(home, ...below), "holdfast")
  }
  if (platform === "win32")
    return { data: named("LOCALAPPDATA", "AppData", "Local"), config: named("APPDATA", "AppData", "Roaming") }
  if (platform === "darwin") {
    const support = path.join(home, "Library", "Application Support")
    return {
      data:
        env.XDG_DATA_HOME === undefined ? path.join(support, "holdfast") : named("XDG_DATA_HOME", ".local", "share"),
      config: env.XDG_CONFIG_HOME === undefined ? path.join(support, "holdfast") : named("XDG_CONFIG_HOME", ".config"),
    }
  }
  return { data: named("XDG_DATA_HOME", ".local", "share"), config: named("XDG_CONFIG_HOME", ".config") }
}

const given = (text: string | undefined): string | undefined => (text === "" ? undefined : text)

/** A store of an earlier version in the working folder. One that others may read came with a repository, and must not decide the rules. */
export function formerStore(): string | undefined {
  const file = resolve(formerFolder, defaultFile)
  const found = statOf(file)
  const isOurs = typeof found === "object" && found.isFile()
  return isOurs && (process.platform === "win32" || (found.mode & 0o077) === 0) ? file : undefined
}

/** Instructions for moving a store of an earlier version out of the working folder; undefined for any other store. */
export function movingWords(place: string, env: World["env"]): string | undefined {
  if (place !== resolve(formerFolder, defaultFile)) return undefined
  const { data, config } = usualFolders(env)
  const policy = statOf(resolve(formerFolder, "policy")) === undefined ? "" : `, ${formerFolder}/policy to ${config}`
  return `${formerFolder} in this folder is used, where agents work; with no gateway running, move its files to ${data}${policy}`
}

/** The place of the store: `--data`, else HOLDFAST_DATA, else a store of an earlier version in the working folder, else the data folder. */
export function dataPlace(asked: string | undefined, env: World["env"]): string {
  const named = asked ?? given(env.HOLDFAST_DATA) ?? formerStore() ?? join(usualFolders(env).data, defaultFile)
  const next = "Give a folder, a file, or an address that begins with postgres://"
  if (named === "" || named.includes("\0")) return misuse("--data names no place.", next)
  if (isPostgres(named)) return named
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(named)) return misuse("--data is an address of no store that is known.", next)
  return isFolder(named) ? join(resolve(named), defaultFile) : resolve(named)
}

/** A path that does not exist yet counts as a folder unless its name has an extension. */
function isFolder(named: string): boolean {
  const found = statOf(named)
  if (typeof found === "object") return found.isDirectory()
  return /[\\/]$/.test(named) || extname(named) === ""
}

function statOf(path: string): Stats | "hidden" | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // It may exist without read permission; opening it reports that.
    return "hidden"
  }
}

/** The name of a store for messages. */
export const placeWords = (place: string): string =>
  isPostgres(place)
    ? "the PostgreSQL store"
    : `the store ${sentenceOf(shortest(relative(process.cwd(), place), place))}`

const shortest = (one: string, other: string): string => (one.length < other.length ? one : other)

/** The environment variables for the store's encryption key: the key, a file with it, or a command that prints it. */
export const storeKeyNames = {
  key: "HOLDFAST_STORE_KEY",
  file: "HOLDFAST_STORE_KEY_FILE",
  command: "HOLDFAST_STORE_KEY_COMMAND",
} as const

/** Time limit for a command that prints a key, which may ask a keychain or a vault. */
const keyCommandMs = 30_000

/** The key of the store, if there is one. A key that cannot be read is a failure, so that nothing is ever written unencrypted. */
async function storeKey(env: World["env"]): Promise<Uint8Array | undefined> {
  const named = Object.values(storeKeyNames).filter((name) => given(env[name]) !== undefined)
  if (named.length > 1)
    return misuse(`${named.join(" and ")} are set, where one says the store's key.`, "Unset all but one.")
  const [file, command] = [given(env[storeKeyNames.file]), given(env[storeKeyNames.command])]
  const next = "Check it, or unset it if the store is not encrypted."
  try {
    const text =
      file !== undefined
        ? readFileSync(file, "utf8")
        : command !== undefined
          ? (await promisify(exec)(command, { env: { ...env }, timeout: keyCommandMs, maxBuffer: 64 * 1024 })).stdout
          : given(env[storeKeyNames.key])
    return text === undefined ? undefined : readStoreKey(text)
  } catch (error) {
    if (error instanceof HoldfastError)
      return unusable("store-key-unusable", `${named[0]}: ${describe(error.problem).sentence}`, next)
    // Do not print the command's output, which may contain the key.
    const code = systemCode(error) ?? "unknown"
    return unusable("store-key-unusable", `The key of the store cannot be read as ${named[0]} says (${code}).`, next)
  }
}

/** Opens the store at a place. It is created only with `make`. */
export async function openPlace(
  place: string,
  env: World["env"],
  { make = false, ...options }: Omit<StoreOptions, "key"> & { readonly make?: boolean } = {},
): Promise<Store> {
  const key = await storeKey(env)
  try {
    if (!make && !isPostgres(place) && statOf(place) === undefined) {
      const fault = findPathFault(place)
      if (fault?.cause === "not-a-folder") throw new HoldfastError(problemOfPath(fault))
      unusable(
        missingCode,
        `There is no store yet: ${shortest(relative(process.cwd(), place), place)} does not exist.`,
        "Say where it is with --data or HOLDFAST_DATA; it is made when a session is first written.",
      )
    }
    return await openStore(place, { ...options, ...present({ key }) })
  } catch (error) {
    return damagedPlace(error, place)
  }
}

export const missingCode = "store-missing"

/** Opens the store at a place; undefined if there is none yet. */
export async function openIfThere(place: string, env: World["env"]): Promise<Store | undefined> {
  return await openPlace(place, env).catch((error: unknown) => {
    if (failureIn(error).code !== missingCode) throw error
    return undefined
  })
}

/** Fails for damage to the whole store; any other error is thrown again. */
function damagedPlace(error: unknown, place: string): never {
  const problem = error instanceof HoldfastError ? error.problem : undefined
  if (problem?.code !== "store-corrupt" || problem.session !== ANY_SESSION) throw error
  const sentence = `${placeWords(place).replace(/^t/, "T")} is damaged, or is no store: ${problem.reason}.`
  unusable(problem.code, sentence, "Restore it from a backup, or name another one with --data.", problem)
}

export type OpenedStore = { readonly store: Store; readonly place: string }

/** The options of every command that reads a store. */
export const storeOptions: Options = {
  ...dataOption,
  json: { help: "one JSON object on stdout, and nothing else" },
}

/** Opens the store, calls `ask`, and closes it. If this takes long, a line on the terminal says so, unless `isSilent`. */
export async function askStore<Answer>(
  args: Arguments,
  { env, stderr }: World,
  ask: (asked: OpenedStore) => Promise<Answer>,
  { make = false, isSilent = args.isOn("json") } = {},
): Promise<Answer> {
  const place = dataPlace(args.valueOf("data"), env)
  const stopProgress = startProgress(isSilent, stderr)
  let store: Store | undefined
  try {
    store = await openPlace(place, env, { make })
    return await ask({ store, place })
  } catch (error) {
    return damagedPlace(error, place)
  } finally {
    await store?.close()
    await stopProgress()
  }
}

export const policyOption: Options = {
  policy: {
    value: "DIR",
    help: "the policy directory; policy beside the store or in your configuration folder unless given",
  },
}

export const operatorOptions: Options = { ...policyOption, ...storeOptions }

/** The sources of operator rules: the store and the policy directory, each if it exists. */
export type AskedOperator = { readonly store?: Store; readonly directory?: string; readonly place: string }

/** The policy directory: `--policy`, else HOLDFAST_POLICY, else the default one. */
function policyPlace(args: Arguments, env: World["env"], place: string): string {
  const named = args.valueOf("policy") ?? given(env.HOLDFAST_POLICY)
  if (named === "" || named?.includes("\0") === true)
    return misuse("--policy names no folder.", "Give the folder in which the rules lie.")
  return named === undefined ? usualDirectory(place, env) : resolve(named)
}

/** The policy directory of a command: the named one, or the default for its store. */
export function policyDirectory(args: Arguments, env: World["env"]): string {
  return policyPlace(args, env, dataPlace(args.valueOf("data"), env))
}

/** The default policy directory: `policy` beside the store's file, or in the configuration folder for a database and the default store. */
export function usualDirectory(place: string, env: World["env"]): string {
  const { data, config } = usualFolders(env)
  if (!isPostgres(place)) return join(place === join(data, defaultFile) ? config : dirname(place), "policy")
  const former = resolve(formerFolder, "policy")
  return statOf(former) === undefined ? join(config, "policy") : former
}

const isNamed = (args: Arguments, env: World["env"]): boolean =>
  args.valueOf("policy") !== undefined || (env.HOLDFAST_POLICY ?? "") !== ""

/** Opens the store and the policy directory, as far as they exist, calls `ask`, and closes the store. A named directory has to exist. */
export async function askOperator(
  args: Arguments,
  { env }: World,
  ask: (asked: AskedOperator) => Promise<CommandAnswer>,
  { make = false } = {},
): Promise<CommandAnswer> {
  const place = dataPlace(args.valueOf("data"), env)
  const directory = policyPlace(args, env, place)
  const isThere = isNamed(args, env) || statSync(directory, { throwIfNoEntry: false }) !== undefined
  const store = make ? await openPlace(place, env, { make }) : await openIfThere(place, env)
  try {
    return await ask({ place, ...present({ store, directory: isThere ? directory : undefined }) })
  } catch (error) {
    checkLogDamage(error)
    return damagedPlace(error, place)
  } finally {
    await store?.close()
  }
}

/** Fails with specific advice for an invalid key or a damaged audit log, which cannot be deleted like a session. */
function checkLogDamage(error: unknown): void {
  if (!(error instanceof HoldfastError)) return
  const { problem } = error
  if (problem.code === "key-invalid" && /^[0-9a-f]{32}$/.test(problem.key)) {
    const next = "Put its .pub file where it belongs; until then nobody can say what stands."
    unusable(problem.code, describe(problem).sentence, next, problem)
  }
  if (problem.code !== "store-corrupt" || problem.session !== operatorLog) return
  const sentence = `The audit log of the operator's channel is damaged: ${problem.reason}.`
  const next =
    "Restore the store from a backup. Programs that run keep what stood when they last read it; restart none before."
  unusable(problem.code, sentence, next, problem)
}

export type AskedSession = OpenedStore & { readonly row: SessionRow; readonly session: Session }

/** Matches the ids of sessions beside a conversation: titles, checks, and its subagents. */
const besideMain = /~(?:side-|agent-|tools)/
/** Matches the fingerprint of the credential at the start of a session id made by a gateway: nobody types it. */
const tenantPart = /^[A-Za-z0-9_-]{1,32}\.~?/
/** Limit on the sessions listed when a prefix matches several. */
const maxNamed = 5

/** Finds a session by its id, by a unique prefix of it, or by `@last`, the conversation that was written to last. */
export async function findSession(store: Store, given: string): Promise<SessionRow> {
  const exact = given === "@last" ? undefined : await store.session(given)
  if (exact !== undefined) return exact
  const rows = await store.sessions()
  if (given === "@last") {
    const last = rows.find(({ id }) => !besideMain.test(id)) ?? rows[0]
    return last ?? unusable("session-unknown", "There is no session yet.", "One is made when a client first asks.")
  }
  const named = rows.filter(({ id }) => id.replace(tenantPart, "") === given)
  const fitting =
    named.length > 0
      ? named
      : rows.filter(({ id }) => id.startsWith(given) || id.replace(tenantPart, "").startsWith(given))
  const main = fitting.filter(({ id }) => !besideMain.test(id))
  const [only, ...others] = main.length === 1 ? main : fitting
  if (only === undefined) throw new HoldfastError({ code: "session-unknown", session: given })
  if (others.length === 0) return only
  const listed = [only, ...others].slice(0, maxNamed).map(({ id }) => id)
  return misuse(
    `${fitting.length} sessions begin with ${given}: ${listed.join(", ")}${fitting.length > maxNamed ? ", …" : ""}.`,
    "Write more of the name.",
  )
}

export async function sessionsNamed(
  store: Store,
  named: string | undefined,
  filter: SessionFilter = {},
): Promise<readonly SessionRow[]> {
  return named === undefined ? await store.sessions(filter) : [await findSession(store, named)]
}

/** Minimum length of a printed prefix; shorter ones are accepted as input. */
const minPrefix = 8

/** Returns the shortest unique prefix of a session's name, or its whole id; `findSession` accepts both. */
export function shortNames(rows: readonly SessionRow[]): (id: string) => string {
  const ids = rows.map(({ id }) => id)
  const [ofMain, ofAll] = [lengthsApart(ids.filter((id) => !besideMain.test(id))), lengthsApart(ids)]
  return (id) => {
    const bare = id.replace(tenantPart, "")
    const least = (besideMain.test(id) ? ofAll : ofMain).get(id) ?? 1
    if (least > bare.length) return id
    return bare.length - least < minPrefix ? bare : bare.slice(0, Math.max(minPrefix, least))
  }
}

/** The length of the unique prefix of each session's bare name. In a sorted list, the most similar names are its neighbours. */
function lengthsApart(ids: readonly string[]): ReadonlyMap<string, number> {
  const names = ids
    .flatMap((id) => [...new Set([id, id.replace(tenantPart, "")])].map((name) => ({ name, id })))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
  const neighbour = (from: number, step: 1 | -1): string => {
    let at = from
    while (names[at]?.id === names[from]?.id) at += step
    return names[at]?.name ?? ""
  }
  const apart = new Map<string, number>()
  for (const [at, { name, id }] of names.entries())
    if (name === id.replace(tenantPart, ""))
      apart.set(id, 1 + Math.max(commonStart(name, neighbour(at, 1)), commonStart(name, neighbour(at, -1))))
  return apart
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at += 1
  return at
}

/** The session named by the first argument; fails with advice if there is none. */
export const sessionNamed = ({ positionals: [id] }: Arguments): string =>
  needed(id, "which session", "Write its ID, its beginning or @last; holdfast sessions list names them.")

export const openSession = (store: Store, row: SessionRow): Session =>
  createHoldfast({ store, ...(row.agent === "" ? {} : { agent: row.agent }) }).session(row.id, ownerOfRow(row))

export async function askSession(
  args: Arguments,
  world: World,
  ask: (asked: AskedSession) => Promise<CommandAnswer>,
): Promise<CommandAnswer> {
  const id = sessionNamed(args)
  return askStore(args, world, async ({ store, place }) => {
    const row = await findSession(store, id)
    return ask({ store, place, row, session: openSession(store, row) })
  })
}
