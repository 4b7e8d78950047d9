import { existsSync, readdirSync, realpathSync } from "node:fs"
import { hostname, networkInterfaces } from "node:os"
import { basename, dirname, join, resolve } from "node:path"
import type { OwnFile, OwnProcess } from "../guard/self/own-process.ts"
import { isPostgres } from "../store/open-store.ts"
import type { OpenedConfig } from "./config/open-secrets.ts"
import type { AdminAccess } from "./serve-options.ts"
import type { Settings } from "./serve-settings.ts"
import type { World } from "./world.ts"

/** What is known of a gateway before and after it was opened, as far as an agent must keep its hands off it. */
export type OwnPlaces = {
  readonly settings: Pick<Settings, "config" | "file" | "secretRefs">
  /** The store's file or address. */
  readonly place: string
  readonly policyFolder: string
  readonly admin: AdminAccess
  readonly env: World["env"]
  readonly port: () => number | undefined
}

/** The running process, as the built-in policy knows it. */
export function ownProcess(places: OwnPlaces): OwnProcess {
  const { settings, place, admin, env, port } = places
  const [program = process.execPath, script = "", ...argv] = process.argv
  const files = ownFiles(places)
  const secretNames = [
    "HOLDFAST_ADMIN_TOKEN",
    ...settings.secretRefs.flatMap(({ ref, of }) => ("env" in ref && of !== "upstream" ? [ref.env] : [])),
  ]
  return {
    folder: process.cwd(),
    home: env.HOME ?? env.USERPROFILE ?? process.cwd(),
    pid: process.pid,
    commandLine: [program, script, ...argv].join(" "),
    names: [...new Set([basename(program).replace(/\.exe$/i, ""), process.title, "node", "holdfast"])],
    port,
    hosts: ownHosts(settings.config),
    files,
    namesBelow: () =>
      files.filter(({ isFolder, isReadable }) => isFolder === true && isReadable !== true).flatMap(namesIn),
    secrets: [admin.token, isPostgres(place) ? place : undefined].filter((secret) => secret !== undefined),
    secretNames,
    isSecretSet: secretNames.some((name) => (env[name] ?? "") !== ""),
  }
}

/** Names by which this machine reaches itself. */
function ownHosts({ listen }: OpenedConfig): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return [
    listen.host,
    ...listen.allowedHosts,
    hostname(),
    ...addresses.map(({ address, family }) => (family === "IPv6" ? `[${address}]` : address)),
  ].map((host) => host.toLowerCase())
}

const usualConfigs = ["ts", "json", "yaml", "yml"].map((ending) => `holdfast.config.${ending}`)

function ownFiles({ settings, place, policyFolder, admin, env }: OwnPlaces): readonly OwnFile[] {
  const { file, secretRefs } = settings
  const files: OwnFile[] = [{ path: policyFolder, what: "its policy folder", isFolder: true }]
  if (!isPostgres(place)) {
    const folder = dirname(place)
    for (const ending of ["", "-wal", "-shm", "-journal"]) files.push({ path: `${place}${ending}`, what: "its data" })
    files.push({ path: join(folder, "admin-token"), what: "its admin token" })
    if (basename(folder) === ".holdfast") files.push({ path: folder, what: "its data folder", isFolder: true })
  }
  if (admin.file !== undefined) files.push({ path: admin.file, what: "its admin token" })
  // One that is not there yet would be read at the next start.
  const configs =
    file === undefined ? usualConfigs.map((name) => resolve(name)) : [resolve(file.folder, basename(file.name))]
  for (const path of configs) files.push({ path, what: "its configuration", isAbsent: !existsSync(path) })
  for (const { ref } of secretRefs)
    if ("file" in ref) files.push({ path: resolve(ref.file), what: "one of its secrets" })
  for (const path of settings.config.operator.keys) files.push({ path: resolve(path), what: "a key that it trusts" })
  const privateKeys = [resolve("operator.key"), ...(env.HOLDFAST_KEY === undefined ? [] : [resolve(env.HOLDFAST_KEY)])]
  for (const path of privateKeys) files.push({ path, what: "the operator's private key", isAbsent: !existsSync(path) })
  const home = env.HOME ?? env.USERPROFILE
  if (home !== undefined)
    files.push({ path: join(home, ".config", "holdfast"), what: "the operator's keys", isFolder: true })
  const program = programFolder()
  if (program !== undefined) files.push({ path: program, what: "its own program", isFolder: true, isReadable: true })
  return withRealPaths(files)
}

/** Where the package is installed; a checkout that somebody works on is theirs to change. */
function programFolder(): string | undefined {
  const path = import.meta.dirname.replaceAll("\\", "/")
  return /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(`${path}/`)?.[1]
}

/** A file goes by the name that it was given, and by the one that links lead to. */
function withRealPaths(files: readonly OwnFile[]): readonly OwnFile[] {
  return files.flatMap((file) => {
    const path = file.path.replaceAll("\\", "/")
    const real = realPath(file.path).replaceAll("\\", "/")
    return real === path
      ? [{ ...file, path }]
      : [
          { ...file, path },
          { ...file, path: real },
        ]
  })
}

/** Of what is not there yet, its nearest folder that is. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(realPath(folder), basename(path))
  }
}

/** More are not looked at: a policy folder has some, and a data folder four. */
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
