import { constants, existsSync } from "node:fs"
import { access, rm, stat, statfs, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { connect as connectTcp, createServer, isIP, type Socket } from "node:net"
import { delimiter, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { connect as connectTls } from "node:tls"
import { inspectOperator } from "../guard/operator/inspect-operator.ts"
import { describe, HoldfastError, systemCode } from "../message/errors.ts"
import { namesIn } from "../message/present.ts"
import { createMask } from "../model/secret.ts"
import { isPostgres } from "../store/open-store.ts"
import { findPathFault, problemOfPath } from "../store/sqlite-file.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { movingWords, openIfThere, placeWords, usualDirectory } from "./ask-store.ts"
import { asTyped, type Command, commandFailure, failureOf, type Options } from "./command.ts"
import { readsTypes } from "./config/read-config.ts"
import { usualPort } from "./config/resolve-config.ts"
import { askEnforced, enforcedCounts } from "./running-gateway.ts"
import {
  configuredPlace,
  readSettingsOrFaults,
  type ServeSettings,
  secretsOf,
  settingOptions,
} from "./serve-settings.ts"
import { localUrl } from "./status-command.ts"
import { count, type Paper, sentenceOf } from "./terminal/output.ts"
import type { World } from "./world.ts"
import { clientLine, clientNames } from "./wrap-clients.ts"

export type Check = {
  readonly name: string
  readonly state: "ok" | "warn" | "fail"
  readonly says: string
  /** What to do about it, if anything. */
  readonly next?: string
}

const ok = (name: string, says: string): Check => ({ name, state: "ok", says })
const warn = (name: string, says: string, next: string): Check => ({ name, state: "warn", says, next })
const fail = (name: string, says: string, next: string): Check => ({ name, state: "fail", says, next })

/** Default time limit of a connection attempt: long enough for another continent. */
const defaultLimitMs = 3000
/** Limit on the characters read of a probe's response. */
const maxAnswer = 10_000

/** Checks whether the port is free, or a holdfast responds there already. */
export async function checkPort(host: string, port: number, limitMs = defaultLimitMs): Promise<Check> {
  const where = `${host}:${port}`
  const code = await tryPort(host, port)
  if (code === undefined) return ok("port", port === 0 ? "any free one is taken" : `${where} is free`)
  if (code !== "EADDRINUSE")
    return fail("port", `${where} cannot be opened (${code})`, "Choose another with --port or --host.")
  const version = await holdfastAt(host, port, limitMs)
  return version === undefined
    ? fail("port", `${where} is in use by another program`, "Choose another port with --port, or end that program.")
    : ok("port", `a holdfast ${version} answers at ${where} already`)
}

/** The error code if a port cannot be opened. */
function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "unknown"))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function holdfastAt(host: string, port: number, limitMs: number): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(limitMs)
    const response = await fetch(`${localUrl({ host, port })}/healthz`, { signal, redirect: "manual" })
    const answer = tryParse((await response.text()).slice(0, maxAnswer))
    if (!isObject(answer) || typeof answer.status !== "string" || typeof answer.version !== "string") return undefined
    return answer.version.slice(0, 40)
  } catch {
    return undefined
  }
}

/** Checks whether the host of an upstream resolves and accepts a connection. No request is sent, and so no key. */
export async function checkUpstream(
  { name, baseUrl }: { readonly name: string; readonly baseUrl: string },
  isNamed: boolean,
  limitMs = defaultLimitMs,
): Promise<Check> {
  const { hostname, port, protocol, host } = new URL(baseUrl)
  const bare = hostname.replace(/^\[|\]$/g, "")
  const isTls = protocol === "https:"
  const why = await whyUnreached(bare, Number(port) || (isTls ? 443 : 80), isTls, limitMs)
  if (why === undefined) return ok(`upstream ${name}`, `${host} answers`)
  const next = "Check the address, the network and a proxy on the way; --offline leaves this out."
  // Most of the default upstreams may not be used here, so an unreachable one is only a warning.
  return isNamed ? fail(`upstream ${name}`, `${host}: ${why}`, next) : warn(`upstream ${name}`, `${host}: ${why}`, next)
}

function whyUnreached(host: string, port: number, isTls: boolean, limitMs: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const servername = isIP(host) === 0 ? { servername: host } : {}
  const socket: Socket = isTls ? connectTls({ host, port, ...servername }) : connectTcp({ host, port })
  socket.once(isTls ? "secureConnect" : "connect", () => resolve(undefined))
  socket.once("error", ({ code, name }: NodeJS.ErrnoException) =>
    resolve(/^(?:ENOTFOUND|EAI_)/.test(code ?? "") ? "the name is not known" : `no connection (${code ?? name})`),
  )
  const late = sleep(limitMs, `no connection within ${limitMs} ms`, { ref: false })
  return Promise.race([promise, late]).finally(() => socket.destroy())
}

const openTelemetry = namesIn(
  "api exporter-metrics-otlp-http exporter-trace-otlp-http resources sdk-metrics sdk-trace",
).map((name) => `@opentelemetry/${name}`)

/** Checks the optional packages: a missing one is a fault only if something needs it. */
export function checkPackages(
  { postgres, telemetry }: { readonly postgres: boolean; readonly telemetry: boolean },
  isInstalled: (name: string) => boolean = isFound,
): readonly Check[] {
  const all: readonly { readonly name: string; readonly purpose: string; readonly isNeeded: boolean }[] = [
    { name: "pg", purpose: "a store in PostgreSQL", isNeeded: postgres },
    { name: "@cedar-policy/cedar-wasm", purpose: "policies that judge tool calls", isNeeded: false },
    { name: "@modelcontextprotocol/sdk", purpose: "holdfast mcp", isNeeded: false },
    ...openTelemetry.map((name) => ({ name, purpose: "telemetry", isNeeded: telemetry })),
  ]
  const missing = all.filter(({ name }) => !isInstalled(name))
  const needed = missing.filter(({ isNeeded }) => isNeeded)
  if (needed.length > 0)
    return needed.map(({ name, purpose }) =>
      fail(`package ${name}`, `not installed, and needed for ${purpose}`, `npm install ${name}`),
    )
  if (missing.length === 0) return [ok("packages", "all optional ones are installed")]
  const words = missing.map(({ name, purpose }) => `${name} (${purpose})`).join(", ")
  return [ok("packages", `not installed and not needed now: ${words}`)]
}

function isFound(name: string): boolean {
  const folders = createRequire(import.meta.url).resolve.paths(name) ?? []
  return folders.some((folder) => existsSync(join(folder, name, "package.json")))
}

/** The minimum version of Node.js; earlier ones have SQLite only behind a flag. */
const minNode = [22, 13] as const

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  if (major < minNode[0] || (major === minNode[0] && minor < minNode[1]))
    return fail("node", `Node.js ${version}; ${minNode.join(".")} or newer is needed`, "Update Node.js.")
  return readsTypes(version)
    ? ok("node", `Node.js ${version}`)
    : warn(
        "node",
        `Node.js ${version} reads no TypeScript`,
        "Write the configuration as YAML or JSON, or update to 22.18.",
      )
}

/** The plausible range of times: not before the first release of this program. */
const earliestMs = Date.UTC(2026, 0, 1)
const latestMs = Date.UTC(2100, 0, 1)
/** Allowed difference between the clocks of two machines on one store. */
const skewMs = 600_000

/** Checks the clock: a wrong one makes signed commands expire and puts memory under the wrong day. */
export function checkClock(nowMs: number, newestMs: number | undefined): Check {
  const next = "Set the clock of this machine, by NTP if it can be."
  if (!(nowMs >= earliestMs && nowMs < latestMs)) return fail("clock", "it says a year that cannot be", next)
  const day = new Date(nowMs).toISOString().slice(0, 16).replace("T", " ")
  if (newestMs !== undefined && newestMs > nowMs + skewMs)
    return warn("clock", `it says ${day} UTC, and the store has sessions from later`, next)
  return ok("clock", `${day} UTC`)
}

/** Lists the agents on this machine, and how to connect each to the gateway. */
async function checkClients(env: World["env"], url: string): Promise<readonly Check[]> {
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== "")
  const found: Check[] = []
  for (const program of clientNames) {
    if (await isOnPath(program, folders)) found.push(ok(`client ${program}`, clientLine(program, url)))
  }
  if (found.length > 0) return found
  const next = "Any client or SDK whose base URL can be set works; holdfast serve prints how."
  return [warn("clients", `none of ${clientNames.join(", ")} is on the PATH`, next)]
}

const endings = process.platform === "win32" ? [".cmd", ".exe", ".ps1"] : [""]

async function isOnPath(program: string, folders: readonly string[]): Promise<boolean> {
  const files = folders.flatMap((folder) => endings.map((ending) => join(folder, `${program}${ending}`)))
  return await Promise.any(files.map((file) => access(file, constants.X_OK))).then(
    () => true,
    () => false,
  )
}

/** The checks of a store, and the time when a session in it last changed. */
type StoreChecks = { readonly checks: readonly Check[]; readonly newestMs?: number }

/** Opens the store if there is one, lists a session, and checks that it can be written; nothing is left behind. */
export async function checkStore(
  place: string,
  env: World["env"] = {},
  tryWriting: (folder: string) => Promise<string | undefined> = whyUnwritten,
): Promise<StoreChecks> {
  const disk = isPostgres(place) ? [] : [await checkDisk(place)]
  try {
    const fault = isPostgres(place) ? undefined : findPathFault(place)
    if (fault !== undefined) throw new HoldfastError(problemOfPath(fault))
    // Check this first: if nothing can be written, opening the store may fail with a less precise error.
    const why = isPostgres(place) || !existsSync(place) ? undefined : await tryWriting(dirname(place))
    if (why !== undefined) {
      const next = "Free some space or give it the rights to write, or move the store with --data."
      return { checks: [fail("store", `${placeWords(place)} cannot be written: ${why}`, next), ...disk] }
    }
    const store = await openIfThere(place, env)
    if (store === undefined)
      return { checks: [ok("store", `${placeWords(place)} is not there yet, and is made at the first start`), ...disk] }
    try {
      const [newest] = await store.sessions({ limit: 1 })
      const [damage, ...more] = await store.check()
      if (damage !== undefined) {
        const others = more.length === 0 ? "" : `, and ${count(more.length, "more fault")}`
        const next = "Restore it from a backup; holdfast sessions verify says which sessions are damaged."
        return { checks: [fail("store", `${placeWords(place)} is damaged: ${damage}${others}`, next), ...disk] }
      }
      const says = newest === undefined ? "it has no session yet" : "it can be read and written"
      return {
        checks: [ok("store", `${placeWords(place)}: ${says}`), ...disk],
        ...(newest === undefined ? {} : { newestMs: newest.updatedMs }),
      }
    } finally {
      await store.close()
    }
  } catch (error) {
    const { sentence, next, code } = commandFailure(error)
    if (code === "fault") throw error
    return { checks: [fail("store", sentence, next), ...disk] }
  }
}

/** Bytes written by the probe: a turn of an agent with a large result, and the pages that SQLite writes for it. */
const probeBytes = 1024 ** 2

/** Why nothing can be written beside a store, or undefined. A probe file is written, because only that reveals full disks and quotas. */
async function whyUnwritten(folder: string): Promise<string | undefined> {
  const path = join(folder, `.holdfast-doctor-${process.pid}`)
  try {
    await writeFile(path, Buffer.alloc(probeBytes, 1), { mode: 0o600, flush: true })
    return undefined
  } catch (error) {
    const code = systemCode(error) ?? "unknown"
    return /^(?:ENOSPC|EDQUOT)$/.test(code)
      ? `there is no room left (${code})`
      : `a file beside it cannot be written (${code})`
  } finally {
    await rm(path, { force: true })
  }
}

async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    (error: unknown) => !(error instanceof Error && "code" in error && /^(?:ENOENT|ENOTDIR)$/.test(String(error.code))),
  )
  return isThere || dirname(path) === path ? path : await nearestThere(dirname(path))
}

/** Free space below which to warn (a day of busy agents writes a gigabyte) and to fail (SQLite cannot even roll back without some). */
const scarceBytes = 1024 ** 3
const minBytes = 50 * 1024 ** 2

async function checkDisk(place: string): Promise<Check> {
  const next = "Free some space, prune old sessions with holdfast sessions prune, or move the store with --data."
  try {
    const { bavail, bsize } = await statfs(await nearestThere(place))
    return diskCheck(bavail * bsize, next)
  } catch {
    return warn("disk", "nobody says how much room is left", "See to it yourself.")
  }
}

/** Checks the free space on the store's disk. */
export function diskCheck(freeBytes: number, next: string): Check {
  const says =
    freeBytes >= 1024 ** 3
      ? `${(freeBytes / 1024 ** 3).toFixed(1)} GB free`
      : `${Math.floor(freeBytes / 1024 ** 2)} MB free`
  if (freeBytes < minBytes) return fail("disk", says, next)
  return freeBytes < scarceBytes ? warn("disk", says, next) : ok("disk", says)
}

/** Reads the operator's directory as the gateway would. A named one has to exist. */
export async function checkOperator(named: string | undefined, usual: string, now: () => number): Promise<Check> {
  const isThere = await stat(usual).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const directory = named ?? (isThere ? usual : undefined)
  if (directory === undefined) return ok("operator", "no policy directory: no rules from outside the conversation")
  try {
    const { standing, keys } = await inspectOperator({ directory, now })
    const policies = count(standing.guard?.policies.length ?? 0, "policy", "policies")
    return ok("operator", `${count(standing.rules.length, "rule")}, ${policies}, ${count(keys.size, "key")}`)
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error
    const { sentence, next } = describe(error.problem)
    return fail("operator", sentence, next)
  }
}

/** Reports what the gateways that run on the store enforce, according to their admin API. */
export async function checkGateways(place: string): Promise<readonly Check[]> {
  if (isPostgres(place)) return []
  const all = await askEnforced(place)
  if (all.length === 0) return [ok("gateway", "none runs on this store")]
  return all.map(({ gateway: { url }, rules, policies, problem, isGone }) => {
    if (isGone === true)
      return warn("gateway", `the one at ${url} is gone: nothing listens there`, "Start it again with holdfast serve.")
    if (rules === undefined || policies === undefined)
      return warn(
        "gateway",
        `the one at ${url} does not say what it enforces`,
        "Check its admin token, and whether it answers.",
      )
    const enforces = enforcedCounts(rules.size, policies.size)
    return problem === undefined
      ? ok("gateway", `the one at ${url} enforces ${enforces}`)
      : fail(
          "gateway",
          `the one at ${url} enforces ${enforces}: ${problem}`,
          "Fix the policy directory; it is watched.",
        )
  })
}

const options: Options = {
  ...settingOptions,
  offline: { help: "do not try to reach the upstreams" },
  json: { help: "one JSON object on stdout, and nothing else" },
}

/** Checks everything that a gateway needs, and reports what is wrong. */
export const doctorCommand: Command = {
  options,
  run: async (args, world) => {
    const settings = await readSettingsOrFaults(args, world.env)
    const checks =
      "faults" in settings
        ? [
            checkNode(process.versions.node),
            ...settings.faults.map(({ sentence, next }) => fail("config", sentence, next)),
            ...(await checkClients(world.env, `http://127.0.0.1:${usualPort}`)),
          ]
        : await checkAll(settings, world, args.isOn("offline"))
    const failed = checks.filter(({ state }) => state === "fail").length
    const warned = checks.filter(({ state }) => state === "warn").length
    const words =
      failed === 0
        ? "Nothing stands in the way"
        : `${count(failed, "thing")} stand${failed === 1 ? "s" : ""} in the way`
    const sentence = `${words}${warned === 0 ? "" : `; ${count(warned, "warning")}`}.`
    const next = "Do what is said beside each, and look again."
    const failure = { exit: 1, code: "doctor-failed", sentence, next, problem: { checks } } as const
    return {
      json: { ok: failed === 0, checks },
      text: (paper: Paper) => [
        ...checks.flatMap((check) => linesOf(check, paper)).map((line) => asTyped(line, world.env)),
        ...(failed === 0 ? ["", sentence] : [""]),
      ],
      ...(failed === 0 ? {} : { failure }),
    }
  },
}

function linesOf({ name, state, says, next }: Check, { bold, dim }: Paper): readonly string[] {
  const mark = state === "ok" ? dim(state.padEnd(4)) : bold(state.padEnd(4))
  return [
    `${mark}  ${sentenceOf(name)}: ${sentenceOf(says)}`,
    ...(next === undefined ? [] : [`      ${sentenceOf(next)}`]),
  ]
}

async function checkAll(settings: ServeSettings, world: World, isOffline: boolean): Promise<readonly Check[]> {
  const { config, file } = settings
  const { listen, upstreams, isUsual, operator, telemetry } = config
  const found = failureOf(() => configuredPlace(config, world.env))
  const place = typeof found === "string" ? found : ""
  const stored: StoreChecks =
    typeof found === "string"
      ? await checkStore(found, world.env)
      : { checks: [fail("store", found.sentence, found.next)] }
  const usual = usualDirectory(place, world.env)
  const moving = movingWords(place, world.env)
  const url = localUrl({ host: listen.host, port: listen.port || usualPort })
  const mask = createMask(secretsOf(settings, config.admin))
  const checks = [
    checkNode(process.versions.node),
    ok("config", file === undefined ? "none; the usual values hold" : `${file.name} is valid`),
    ...stored.checks,
    ...(moving === undefined
      ? []
      : [warn("data folder", moving, "Agents that work here meet it; theirs is another folder.")]),
    await checkOperator(operator.directory, usual, world.dateMs),
    ...(place === "" ? [] : await checkGateways(place)),
    await checkPort(listen.host, listen.port),
    ...(isOffline ? [] : await Promise.all(upstreams.map((upstream) => checkUpstream(upstream, !isUsual)))),
    ...checkPackages({ postgres: isPostgres(place), telemetry: telemetry !== undefined }),
    checkClock(world.dateMs(), stored.newestMs),
    ...(await checkClients(world.env, url)),
  ]
  return checks.map((check) => ({ ...check, says: mask(check.says) }))
}
