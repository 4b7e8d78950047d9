import { readFile, stat } from "node:fs/promises"
import { systemCode } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import type { SecretRef } from "./config-field.ts"
import { type ConfigFault, type ConfigPlace, faultAt, type Path } from "./fault.ts"
import type { Env } from "./flags.ts"
import type { HeaderValues, ResolvedConfig } from "./resolved-config.ts"

export type OpenedConfig = ResolvedConfig<string>
type SecretsOpened = { readonly opened: OpenedConfig } | { readonly faults: readonly ConfigFault[] }

/** A secret is a line. */
const maxBytes = 64 * 1024

/** Characters of a token that nobody guesses: 64 bits if they are hexadecimal digits. */
const shortestToken = 16

/** A secret, or why it is missing. */
type Found = { readonly value: string } | { readonly missing: string }

/** Replace references by their secrets. All missing ones are reported at once; no message contains a secret. */
export async function openSecrets(config: ResolvedConfig, env: Env, place: ConfigPlace): Promise<SecretsOpened> {
  const faults: ConfigFault[] = []
  const open: Open = async (ref, path, use = "key") => {
    if (ref === undefined) return undefined
    const found = "env" in ref ? inEnv(ref.env, env) : await inFile(ref.file)
    const isShort = use === "token" && "value" in found && found.value.length < shortestToken
    if ("value" in found && !isShort) return found.value
    const missing = "missing" in found ? found.missing : shortToken(ref, found.value.length)
    const next = isShort ? "Make one with: openssl rand -hex 32" : nextFor(ref)
    const from = "env" in ref ? ref.from : undefined
    faults.push(
      from === undefined
        ? faultAt(place, path, missing, next)
        : faultAt({ source: from, lineOf: () => undefined }, [], missing, next),
    )
    return undefined
  }
  const headers = async (values: HeaderValues<SecretRef>, path: Path): Promise<HeaderValues<string>> => {
    const all: Record<string, HeaderValues<string>[string]> = {}
    for (const [name, value] of Object.entries(values))
      all[name] = "text" in value ? value : { secret: (await open(value.secret, [...path, "headers", name])) ?? "" }
    return all
  }
  const opened = await openAll(config, open, headers)
  return faults.length > 0 ? { faults } : { opened }
}

/** Open a secret. A token is what others have to send to us, so it must not be one that they can guess. */
type Open = (ref: SecretRef | undefined, path: Path, use?: "key" | "token") => Promise<string | undefined>
type OpenHeaders = (values: HeaderValues<SecretRef>, path: Path) => Promise<HeaderValues<string>>

async function openAll(config: ResolvedConfig, open: Open, headers: OpenHeaders): Promise<OpenedConfig> {
  const { listen, upstreams, data, summarizer, admin, telemetry, ...others } = config
  const { token: _listen, ...listening } = listen
  const opened: OpenedConfig["upstreams"][number][] = []
  for (const [n, { key: ref, ...upstream }] of upstreams.entries()) {
    const path: Path = ["upstreams", n]
    const key = await open(ref, [...path, "key"])
    opened.push({ ...upstream, headers: await headers(upstream.headers, path), ...present({ key }) })
  }
  return {
    ...others,
    listen: { ...listening, ...present({ token: await open(listen.token, ["listen", "token"], "token") }) },
    upstreams: opened,
    summarizer:
      typeof summarizer === "string" || "use" in summarizer
        ? summarizer
        : await openSummarizer(summarizer, open, headers),
    admin: { origins: admin.origins, ...present({ token: await open(admin.token, ["admin", "token"], "token") }) },
    ...present({
      data: data === undefined || "place" in data ? data : { place: (await open(data.secret, ["data"])) ?? "" },
      telemetry:
        telemetry === undefined
          ? undefined
          : { ...telemetry, headers: await headers(telemetry.headers, ["telemetry", "otlp"]) },
    }),
  }
}

async function openSummarizer(
  summarizer: Extract<ResolvedConfig["summarizer"], { readonly baseUrl: string }>,
  open: Open,
  headers: OpenHeaders,
): Promise<OpenedConfig["summarizer"]> {
  const { key: ref, ...others } = summarizer
  const key = await open(ref, ["summarizer", "key"])
  return { ...others, headers: await headers(summarizer.headers, ["summarizer"]), ...present({ key }) }
}

const shortToken = (ref: SecretRef, length: number): string => {
  const where = "env" in ref ? `the environment variable ${ref.env}` : `the file ${ref.file}`
  return `names ${where}, whose token has ${length} characters, where at least ${shortestToken} were expected`
}

const nextFor = (ref: SecretRef): string =>
  "env" in ref ? `Set ${ref.env}, or name another variable.` : "Check the path and who may read it."

function inEnv(name: string, env: Env): Found {
  const value = (env[name] ?? "").trim()
  if (value === "") return { missing: `names the environment variable ${name}, which is not set` }
  return checkLine(value, `names the environment variable ${name}`)
}

async function inFile(path: string): Promise<Found> {
  const says = `names the file ${path}`
  try {
    const { size } = await stat(path)
    if (size > maxBytes) return { missing: `${says}, which is too large to hold a secret` }
    const value = (await readFile(path, "utf8")).trim()
    return value === "" ? { missing: `${says}, which is empty` } : checkLine(value, says)
  } catch (error) {
    const code = systemCode(error) ?? "unknown"
    return { missing: `${says}, which ${code === "ENOENT" ? "is not there" : `cannot be read (${code})`}` }
  }
}

/** Secrets are put into headers and addresses, where a line break would start something else. */
const checkLine = (value: string, says: string): Found =>
  /^[\x21-\x7e\u00a0-\uffff]+$/.test(value) ? { value } : { missing: `${says}, which holds more than one word` }
