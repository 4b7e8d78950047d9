import { randomBytes } from "node:crypto"
import { existsSync, readdirSync, realpathSync } from "node:fs"
import { mkdir, open } from "node:fs/promises"
import { hostname, networkInterfaces } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import type { Guard } from "../guard/guard.ts"
import { onTrial } from "../guard/join-guards.ts"
import { maxKeyBytes } from "../guard/operator/command.ts"
import { type Operator, openOperator } from "../guard/operator/operator.ts"
import type { Standing } from "../guard/operator/rule-file.ts"
import type { OwnFile, OwnProcess } from "../guard/self/own-process.ts"
import { createSelfProtection } from "../guard/self/self-protection.ts"
import { codeOrThrow, systemCode } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { createHoldfast, type Holdfast } from "../session/holdfast.ts"
import { isPostgres } from "../store/open-store.ts"
import { claimFile, type FileClaim } from "../store/sqlite-file.ts"
import type { Store } from "../store/store.ts"
import { openPlace, storeKeyNames, usualDirectory, usualFolders } from "./ask-store.ts"
import { unusable } from "./command.ts"
import { configNames } from "./config/read-config.ts"
import type { ResolvedConfig } from "./config/resolved-config.ts"
import { readOwnFile } from "./read-input.ts"
import { type AdminAccess, configuredPlace, type ServeSettings } from "./serve-settings.ts"
import { checkStacks } from "./stack-command.ts"
import type { World } from "./world.ts"

/** The opened resources of a gateway. */
export type ServeResources = {
  readonly place: string
  readonly store: Store
  readonly holdfast: Holdfast
  readonly operator: Operator
  /** The built-in policy: no call of an agent touches the gateway itself. */
  readonly guard: Guard
  readonly directory: string
  readonly admin: AdminAccess
  /** Closes sessions, then the operator's channel, then the store that both write to. */
  readonly close: () => Promise<void>
}

type ResourceOptions = Pick<OwnPlaces, "env" | "port"> & {
  readonly now: () => number
  /** Serve without the rules and policies of a policy folder that no longer exists. */
  readonly withoutPolicyFolder?: boolean
}

/** Time that a request waits for a locked store file; after that it continues with what is in memory. */
const servingBusyMs = 500

/** Opens the store, the operator's channel and the sessions. If one cannot be opened, the others are closed again. */
export async function openResources(
  settings: ServeSettings,
  { now, env, port, withoutPolicyFolder = false }: ResourceOptions,
): Promise<ServeResources> {
  const { config } = settings
  await checkStacks(config)
  const place = configuredPlace(config, env)
  const store = await openPlace(place, env, { make: true, busyMs: servingBusyMs })
  let claim: FileClaim | undefined
  let operator: Operator | undefined
  try {
    claim = isPostgres(place) ? undefined : await claimFile(place)
    const admin = await adminOf(config, place)
    const channel = await operatorAt(config, place, env)
    const opened = await openOperator({
      store,
      now,
      ...channel,
      withoutDirectory: withoutPolicyFolder,
      ...present({ audience: config.operator.audience }),
    })
    operator = config.guardMode === "observe" ? observing(opened) : opened
    const places = { settings, place, policyFolder: channel.directory, admin, env, port }
    const guard = createSelfProtection(ownProcess(places))
    const holdfast = createHoldfast({
      ...config.session,
      store,
      now,
      operator,
      guard: { guard, ...present({ fromRules: config.fromRules }) },
    })
    await holdfast.open()
    const close = async (): Promise<void> => {
      try {
        await holdfast.close()
      } finally {
        await opened.close()
        await store.close()
        claim?.release()
      }
    }
    return { place, store, holdfast, guard, admin, close, operator, directory: channel.directory }
  } catch (error) {
    await operator?.close()
    await store.close()
    claim?.release()
    throw error
  }
}

/** Puts the operator's policies into observe mode; rules in words stay in force. */
function observing(operator: Operator): Operator {
  const tried = (standing: Standing): Standing =>
    standing.guard === undefined ? standing : { ...standing, guard: onTrial(standing.guard) }
  return {
    ...operator,
    get audience() {
      return operator.audience
    },
    standing: () => tried(operator.standing()),
    refresh: async () => tried(await operator.refresh()),
  }
}

/** The configured admin token, else one kept beside the store's file; none for a database. */
async function adminOf({ admin }: ResolvedConfig, place: string): Promise<AdminAccess> {
  if (admin.token !== undefined) return { token: admin.token }
  return isPostgres(place) ? {} : await keepAdminToken(place)
}

type ChannelPlace = {
  readonly directory: string
  readonly directoryIs: "expected" | "optional"
  readonly keys: readonly string[]
}

/** A configured directory must exist; the default one may be created later. */
async function operatorAt({ operator }: ResolvedConfig, place: string, env: World["env"]): Promise<ChannelPlace> {
  const keys: string[] = []
  for (const path of operator.keys) {
    const key = await readOwnFile(path, maxKeyBytes).catch(() => undefined)
    if (key?.text === undefined)
      return unusable(
        "input-unreadable",
        `The public key ${path} cannot be read.`,
        "Check operator.keys in the configuration.",
      )
    keys.push(key.text)
  }
  const { directory } = operator
  if (directory !== undefined) return { directory: resolve(directory), directoryIs: "expected", keys }
  return { directory: usualDirectory(place, env), directoryIs: "optional", keys }
}

type AdminToken = { readonly token: string; readonly file: string }

const maxBytes = 1000

/** The token in a file beside the store, readable by its owner only; created at the first start. */
async function keepAdminToken(
  storeFile: string,
  newToken: () => string = () => randomBytes(32).toString("base64url"),
): Promise<AdminToken> {
  const file = join(dirname(storeFile), "admin-token")
  try {
    return (await readAdminToken(file)) ?? (await makeToken(file, newToken()))
  } catch (error) {
    const code = codeOrThrow(error)
    return unusable(
      "admin-token-unusable",
      `The token of the admin API cannot be kept in ${file} (${code}).`,
      "Check who may write there, or name a token in the configuration: admin.token.",
    )
  }
}

/** The token in a file; undefined if there is no file. */
export async function readAdminToken(path: string): Promise<AdminToken | undefined> {
  const file = await readOwnFile(path, maxBytes).catch(unless("ENOENT"))
  if (file === undefined) return undefined
  const token = (file.text ?? "").trim()
  const refuse = (why: string, next: string): never =>
    unusable("admin-token-unusable", `The admin token in ${path} is not used: ${why}.`, next)
  if (!file.isPrivate)
    return refuse("others than its owner may read it", `chmod 600 ${path}, or delete it: a new one is made.`)
  if (!/^[\x21-\x7e]{16,500}$/.test(token))
    return refuse("a word of at least 16 characters was expected", "Delete the file: a new one is made.")
  return { token, file: path }
}

/** Handles a system error with this code as a missing value; any other error is thrown again. */
const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if (systemCode(error) !== code) throw error
  }

/** Creates the token file. If two processes start at once, both use the token that was created first. */
async function makeToken(path: string, token: string): Promise<AdminToken> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, "wx", 0o600).catch(unless("EEXIST"))
  if (file === undefined)
    return (await readAdminToken(path)) ?? unusable("admin-token-unusable", `${path} comes and goes.`, "Try again.")
  try {
    await file.writeFile(`${token}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return { token, file: path }
}

/** The places of a gateway that agents must not touch. */
type OwnPlaces = {
  readonly settings: Pick<ServeSettings, "config" | "file" | "secrets">
  /** The store's file or address. */
  readonly place: string
  readonly policyFolder: string
  readonly admin: AdminAccess
  readonly env: World["env"]
  readonly port: () => number | undefined
}

/** The running process, as the built-in policy knows it. */
function ownProcess(places: OwnPlaces): OwnProcess {
  const { settings, place, admin, env, port } = places
  const [program = process.execPath, script = "", ...argv] = process.argv
  const files = ownFiles(places)
  const secretNames = [
    "HOLDFAST_ADMIN_TOKEN",
    storeKeyNames.key,
    ...settings.secrets.flatMap(({ ref, use }) => ("env" in ref && /^(?:gateway|store)$/.test(use) ? [ref.env] : [])),
  ]
  return {
    folder: process.cwd(),
    home: env.HOME ?? env.USERPROFILE ?? process.cwd(),
    variables: present({
      XDG_DATA_HOME: env.XDG_DATA_HOME,
      XDG_CONFIG_HOME: env.XDG_CONFIG_HOME,
      LOCALAPPDATA: env.LOCALAPPDATA,
      APPDATA: env.APPDATA,
    }),
    pid: process.pid,
    commandLine: [program, script, ...argv].join(" "),
    names: [...new Set([basename(program).replace(/\.exe$/i, ""), process.title, "node", "holdfast"])],
    port,
    hosts: ownHosts(settings.config),
    files,
    namesBelow: namesIn,
    secrets: [admin.token, isPostgres(place) ? place : undefined].filter((secret) => secret !== undefined),
    secretNames,
    isSecretSet: secretNames.some((name) => (env[name] ?? "") !== ""),
  }
}

/** Host names and addresses that lead to this machine. */
function ownHosts({ listen }: ResolvedConfig): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [
    listen.host,
    ...listen.allowedHosts,
    hostname(),
    ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  ].map((host) => host.toLowerCase())
}

function ownFiles({ settings, place, policyFolder, admin, env }: OwnPlaces): readonly OwnFile[] {
  const { file, secrets } = settings
  const files: OwnFile[] = [{ path: policyFolder, what: "its policy folder", isFolder: true }]
  if (!isPostgres(place)) {
    const folder = dirname(place)
    for (const ending of ["", "-wal", "-shm", "-journal"]) files.push({ path: `${place}${ending}`, what: "its data" })
    files.push({ path: join(folder, "admin-token"), what: "its admin token" })
    if (basename(folder) === ".holdfast") files.push({ path: folder, what: "its data folder", isFolder: true })
  }
  // Also the default folders, which the next start may use.
  const usual = usualFolders(env)
  files.push({ path: usual.data, what: "its data folder", isFolder: true, isAbsent: !existsSync(usual.data) })
  files.push({ path: usual.config, what: "the operator's keys and policies", isFolder: true })
  if (admin.file !== undefined) files.push({ path: admin.file, what: "its admin token" })
  // Also configurations that do not exist yet: the next start would read them.
  const configs =
    file === undefined ? configNames.map((name) => resolve(name)) : [resolve(file.folder, basename(file.name))]
  for (const path of configs) files.push({ path, what: "its configuration", isAbsent: !existsSync(path) })
  // Clients know their tokens, so these are not secrets of the gateway.
  for (const { ref, use } of secrets)
    if ("file" in ref && use !== "client") files.push({ path: resolve(ref.file), what: "one of its secrets" })
  const keyFile = env[storeKeyNames.file]
  if (keyFile !== undefined && keyFile !== "") files.push({ path: resolve(keyFile), what: "the key of its store" })
  for (const path of settings.config.operator.keys) files.push({ path: resolve(path), what: "a key that it trusts" })
  const privateKeys = [resolve("operator.key"), ...(env.HOLDFAST_KEY === undefined ? [] : [resolve(env.HOLDFAST_KEY)])]
  for (const path of privateKeys) files.push({ path, what: "the operator's private key", isAbsent: !existsSync(path) })
  const program = programFolder()
  if (program !== undefined) files.push({ path: program, what: "its own program", isFolder: true, isReadable: true })
  return withRealPaths(files)
}

/** The folder of the installed package; undefined in a source checkout, which agents may work on. */
function programFolder(): string | undefined {
  const path = import.meta.dirname.replaceAll("\\", "/")
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(`${path}/`)?.[1]
}

/** Each file under its given path, and under its real path if links lead elsewhere. */
function withRealPaths(files: readonly OwnFile[]): readonly OwnFile[] {
  return files.flatMap((file) => {
    const paths = [file.path, realPath(file.path)].map((path) => path.replaceAll("\\", "/"))
    return [...new Set(paths)].map((path) => ({ ...file, path }))
  })
}

/** The real path of a file; for one that does not exist yet, based on its nearest existing folder. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(realPath(folder), basename(path))
  }
}

/** Limit on file names read; a policy folder has a few, a data folder four. */
const maxNames = 1000

function namesIn({ path }: OwnFile): readonly string[] {
  try {
    return readdirSync(path, { recursive: true, encoding: "utf8" })
      .slice(0, maxNames)
      .flatMap((name) => name.split(/[\\/]/))
  } catch {
    return []
  }
}
