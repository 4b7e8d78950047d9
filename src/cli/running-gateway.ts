import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { Upstream } from "../gateway/settings/upstream.ts"
import { systemCode } from "../message/errors.ts"
import { families } from "../message/message.ts"
import { hashText } from "../message/sha256.ts"
import { isPostgres } from "../store/open-store.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { count } from "./terminal/output.ts"

/** A running gateway, as described by a file beside its store, which only users with write access there can create. */
export type RunningGateway = {
  readonly url: string
  readonly pid: number
  readonly startedMs: number
  readonly version: string
  readonly tokenFile?: string
  /** It was started by `wrap`, for one client, and ends with it. */
  readonly wraps?: string
  /** The fingerprint of its only upstream, if it has one for all requests. */
  readonly upstream?: string
}

/** The fingerprint of the API that all requests are sent to; undefined if there are several. */
export function upstreamPrint([only, ...others]: readonly Upstream[]): string | undefined {
  if (only === undefined || others.length > 0 || only.models !== undefined) return undefined
  if (families.some((family) => !only.families.includes(family))) return undefined
  return hashText(only.baseUrl.replace(/\/+$/, ""))
}

const isNote = (name: string): boolean => /^gateway-\d+\.json$/.test(name)

/** Writes a file beside the store that says a gateway runs; the returned function removes it. For a database no file is written. */
export function noteGateway(place: string, gateway: RunningGateway): () => void {
  if (isPostgres(place)) return () => {}
  const folder = dirname(place)
  const path = join(folder, `gateway-${gateway.pid}.json`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, `${JSON.stringify(gateway)}\n`, { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

const clientName = (gateway: number, client: number): string => `gateway-${gateway}-client-${client}`

/** Writes a file that says this process uses another process's gateway; the returned function removes it. */
export function joinGateway(place: string, { pid }: RunningGateway): () => void {
  const path = join(dirname(place), clientName(pid, process.pid))
  writeFileSync(path, "", { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** The number of other processes that use this process's gateway. */
export function clientsOf(place: string): number {
  if (isPostgres(place)) return 0
  const folder = dirname(place)
  const mine = clientName(process.pid, 0).slice(0, -1)
  return fileNamesIn(folder).filter((name) => {
    const isClient = name.startsWith(mine)
    if (isClient && isAlive(Number(name.slice(mine.length)))) return true
    if (isClient) rmSync(join(folder, name), { force: true })
    return false
  }).length
}

/** The gateways that run on a store, newest first. Files of killed processes are removed. */
export function findGateways(place: string): readonly RunningGateway[] {
  if (isPostgres(place)) return []
  const folder = dirname(place)
  return fileNamesIn(folder)
    .filter(isNote)
    .flatMap((name) => {
      const gateway = readNote(join(folder, name))
      if (gateway !== undefined && isAlive(gateway.pid)) return [gateway]
      rmSync(join(folder, name), { force: true })
      return []
    })
    .sort((one, other) => other.startedMs - one.startedMs)
}

function readNote(path: string): RunningGateway | undefined {
  const note = tryParse(readFileSync(path, "utf8"))
  if (!isObject(note)) return undefined
  const { url, pid, startedMs, version, tokenFile, wraps, upstream } = note
  if (typeof url !== "string" || typeof pid !== "number" || typeof startedMs !== "number") return undefined
  return {
    ...{ url, pid, startedMs, version: typeof version === "string" ? version : "" },
    ...(typeof tokenFile === "string" ? { tokenFile } : {}),
    ...(typeof wraps === "string" ? { wraps } : {}),
    ...(typeof upstream === "string" ? { upstream } : {}),
  }
}

/** The names in a folder; empty if it cannot be read. */
export function fileNamesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (error instanceof Error && "code" in error) return []
    throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    // The process is alive and belongs to another user.
    return systemCode(error) === "EPERM"
  }
}

/** Calls a gateway's admin API with the token in its file; undefined if that fails. */
export async function askAdmin(
  gateway: RunningGateway,
  path: string,
  { signal, method = "GET" }: { readonly signal?: AbortSignal; readonly method?: "GET" | "POST" } = {},
): Promise<Response | undefined> {
  try {
    const token = gateway.tokenFile === undefined ? undefined : readFileSync(gateway.tokenFile, "utf8").trim()
    if (token === undefined) return undefined
    const limit = signal ?? AbortSignal.timeout(askMs)
    const answer = await fetch(`${gateway.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      signal: limit,
    })
    return answer.ok ? answer : undefined
  } catch (error) {
    if (error instanceof Error) return undefined
    throw error
  }
}

/** The same, with the response as an object; undefined if it is none. */
export async function readAdmin(
  gateway: RunningGateway,
  path: string,
  method: "GET" | "POST" = "GET",
): Promise<AdminFields | undefined> {
  const told: unknown = await (await askAdmin(gateway, path, { method }))?.json()
  return isObject(told) ? told : undefined
}

export type AdminFields = Readonly<Record<string, unknown>>

/** Time limit of an admin call: a gateway on this machine responds at once, or not at all. */
const askMs = 3000

/** What a running gateway enforces, according to its admin API; `rules` is missing if that could not be called. */
export type Enforced = {
  readonly gateway: RunningGateway
  /** Ids of the operator's rules. */
  readonly rules?: ReadonlySet<string>
  /** Ids of the policies that judge calls. */
  readonly policies?: ReadonlySet<string>
  /** Why it refuses requests, or uses older rules. */
  readonly problem?: string
  /** Nothing listens at its address: it has ended without removing its file. */
  readonly isGone?: true
}

export async function askEnforced(place: string): Promise<readonly Enforced[]> {
  const asked = findGateways(place).map(async (gateway): Promise<Enforced> => {
    const told = await readAdmin(gateway, "/admin/pins")
    if (told === undefined) return (await isRefused(gateway.url)) ? { gateway, isGone: true } : { gateway }
    const problem = isObject(told.problem) ? told.problem.sentence : undefined
    return {
      gateway,
      rules: idsIn(told.rules),
      policies: idsIn(told.judging),
      ...(typeof problem === "string" ? { problem } : {}),
    }
  })
  return await Promise.all(asked)
}

/** True if the connection is refused. A gateway that is busy, or requires another token, still accepts it. */
async function isRefused(url: string): Promise<boolean> {
  try {
    await (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(askMs), redirect: "manual" })).body?.cancel()
    return false
  } catch (error) {
    const { cause } = error instanceof Error ? error : { cause: undefined }
    return isObject(cause) && cause.code === "ECONNREFUSED"
  }
}

const idsIn = (list: unknown): ReadonlySet<string> =>
  new Set(
    (Array.isArray(list) ? list : []).flatMap((one: unknown) =>
      isObject(one) && typeof one.id === "string" ? [one.id] : [],
    ),
  )

/** The numbers of rules and policies that a gateway enforces, in words. */
export const enforcedCounts = (rules: number, policies: number): string =>
  `${count(rules, "rule")} and ${count(policies, "policy", "policies")} of the operator`

export type EnforcedIds = { readonly rules: readonly string[]; readonly policies: readonly string[] }

/** Lines for people about which of the expected rules and policies each gateway of a store enforces. */
export function enforcedLines(place: string, all: readonly Enforced[], expected: EnforcedIds): readonly string[] {
  if (isPostgres(place)) return ["Gateways on a database are not known here: ask each at its /admin/pins."]
  if (all.length === 0) return ["No gateway runs on this store: nothing of it is enforced until one is started."]
  return all.map(({ gateway: { url }, rules, policies, problem, isGone }) => {
    if (isGone === true) return `The gateway at ${url} is gone: nothing is enforced until one is started.`
    if (rules === undefined || policies === undefined)
      return `The gateway at ${url} does not say what it enforces: its admin API cannot be entered from here.`
    const missing = [
      ...expected.rules.filter((id) => !rules.has(id)),
      ...expected.policies.filter((id) => !policies.has(id)),
    ]
    const why = problem === undefined ? "" : ` ${problem}`
    return missing.length === 0
      ? `The gateway at ${url} enforces ${expected.rules.length + expected.policies.length === 1 ? "it" : "all of it"}.${why}`
      : `The gateway at ${url} does not enforce ${missing.join(", ")}.${why}`
  })
}
