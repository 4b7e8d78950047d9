import type { GatewayOptions } from "../gateway/settings/gateway-options.ts"
import type { Upstream } from "../gateway/settings/upstream.ts"
import { present } from "../message/present.ts"
import type { SummarizerOption } from "../session/one-shot/summarizer.ts"
import type { HoldfastOptions } from "../session/options.ts"
import { isPostgres } from "../store/open-store.ts"
import { dataOption, dataPlace, policyOption } from "./ask-store.ts"
import { type Arguments, failCommand, type Options } from "./command.ts"
import type { SecretRef } from "./config/config-field.ts"
import type { ConfigFault, ConfigPlace } from "./config/fault.ts"
import { type Flags, flagNames } from "./config/flags.ts"
import { type OpenedConfig, openSecrets } from "./config/open-secrets.ts"
import { type ConfigFile, readConfig } from "./config/read-config.ts"
import { resolveConfig } from "./config/resolve-config.ts"
import {
  type HeaderValues,
  logFormats,
  logLevels,
  namedSummarizers,
  type ResolvedConfig,
  storeAwayNames,
} from "./config/resolved-config.ts"
import type { World } from "./world.ts"

/** The configuration with its secrets, and the file that it came from, if one did. */
export type ServeSettings = {
  readonly config: OpenedConfig
  readonly file?: ConfigFile
  readonly secretRefs: readonly SecretSource[]
}

type SecretSource = { readonly ref: SecretRef; readonly of: "gateway" | "upstream" }

/** Tokens of clients are theirs to know, and no secret of the gateway's. */
function secretRefsOf({ admin, data, upstreams, summarizer }: ResolvedConfig): readonly SecretSource[] {
  const gateway = [admin.token, data !== undefined && "secret" in data ? data.secret : undefined]
  const model = typeof summarizer === "string" || "use" in summarizer ? undefined : summarizer.key
  return [
    ...gateway.flatMap((ref) => (ref === undefined ? [] : [{ ref, of: "gateway" } as const])),
    ...[...upstreams.map(({ key }) => key), model].flatMap((ref) =>
      ref === undefined ? [] : [{ ref, of: "upstream" } as const],
    ),
  ]
}

/** What every command about the gateway takes. Each has its variable: HOLDFAST_PORT, HOLDFAST_LOG_FORMAT. */
export const settingOptions: Options = {
  config: { value: "FILE", help: "the configuration; holdfast.config.ts, .json, .yaml or .yml here unless given" },
  port: { value: "N", help: "port to listen on; 4141 unless given, 0 for any" },
  host: { value: "H", help: "address to listen on; 127.0.0.1 unless given" },
  upstream: { value: "URL", help: "send every request to this API, instead of the vendors' own" },
  window: { value: "TOKENS", help: "context window of every model, instead of its own" },
  ...dataOption,
  ...policyOption,
  recall: { help: "offer models a tool that returns what was left out of their context" },
  "when-store-is-away": {
    value: "W",
    help: "if the store is away: refuse requests, or pass them on without rules; refuse unless given",
    oneOf: storeAwayNames,
  },
  summarizer: {
    value: "NAME",
    help: "who writes summaries; session: each session's own model, with the client's key",
    oneOf: namedSummarizers,
  },
  "token-env": { value: "NAME", help: "environment variable with the token that requests must have" },
  "log-format": { value: "F", help: "how to log", oneOf: logFormats },
  "log-level": { value: "L", help: "what to log", oneOf: logLevels },
}

/** What was said on the command line; an option that is on or off says `true`. */
const flagsOf = (args: Arguments): Flags =>
  Object.fromEntries(
    flagNames.flatMap((name) => {
      const value = name !== "recall" ? args.valueOf(name) : args.isOn(name) ? "true" : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** The file that is read: `--config`, else HOLDFAST_CONFIG, else the one of the usual name, if there is one. */
async function readSettingsFile(
  args: Arguments,
  env: World["env"],
): Promise<ConfigFile | undefined | { readonly faults: readonly ConfigFault[] }> {
  const named = args.valueOf("config") ?? (env.HOLDFAST_CONFIG === "" ? undefined : env.HOLDFAST_CONFIG)
  return await readConfig(named, process.cwd())
}

/** The configuration without its secrets: enough for whoever only looks at it. */
export async function readResolved(args: Arguments, env: World["env"]): Promise<ResolvedConfig> {
  const result = await resolveSettings(args, env)
  return "faults" in result ? failSettings(result.faults) : result.resolved
}

async function resolveSettings(
  args: Arguments,
  env: World["env"],
): Promise<
  { readonly resolved: ResolvedConfig; readonly file?: ConfigFile } | { readonly faults: readonly ConfigFault[] }
> {
  const file = await readSettingsFile(args, env)
  if (file !== undefined && "faults" in file) return file
  const result = resolveConfig({ flags: flagsOf(args), env, ...present({ file }) })
  return "faults" in result ? result : { ...result, ...present({ file }) }
}

/** Read, resolve and open the configuration. */
export async function readSettings(args: Arguments, env: World["env"]): Promise<ServeSettings> {
  const settings = await readSettingsOrFaults(args, env)
  return "faults" in settings ? failSettings(settings.faults) : settings
}

/** The same, or all that is wrong with it. */
export async function readSettingsOrFaults(
  args: Arguments,
  env: World["env"],
): Promise<ServeSettings | { readonly faults: readonly ConfigFault[] }> {
  const result = await resolveSettings(args, env)
  if ("faults" in result) return result
  const { file } = result
  const nowhere: ConfigPlace = { source: "the configuration", lineOf: () => undefined }
  const opened = await openSecrets(result.resolved, env, file?.place ?? nowhere)
  const secretRefs = secretRefsOf(result.resolved)
  return "faults" in opened ? opened : { config: opened.opened, secretRefs, ...present({ file }) }
}

/** All faults at once. People read the lines first; a program has them in one object. */
function failSettings(faults: readonly ConfigFault[]): never {
  const [first] = faults
  const isSpoken = faults.every(({ source }) => /^(?:--|HOLDFAST_|The host)/.test(source))
  const told = { exit: isSpoken ? 2 : 1, code: "config-invalid", problem: { faults } } as const
  if (faults.length === 1 && first !== undefined) failCommand({ ...told, sentence: first.sentence, next: first.next })
  failCommand({
    ...told,
    sentence: `The configuration has ${faults.length} faults, and nothing was started.`,
    next: "Fix them; holdfast serve --print-schema prints all that a configuration may say.",
    lines: faults.map(({ sentence, next }) => `${sentence} ${next}`),
  })
}

/** By what the admin API is entered, and the file that the token is kept in. Without a token it is not there. */
export type AdminAccess = { readonly token?: string; readonly file?: string }

/** How sessions are compacted and what of them is stored. */
export function sessionOptions(config: OpenedConfig): HoldfastOptions {
  const { windowTokens, reserveTokens, policy, strategy, recall, redact, memory, findRules } = config
  return {
    ...present({ windowTokens, reserveTokens, strategy }),
    ...present({ rules: findRules === undefined ? undefined : { find: findRules } }),
    policy,
    recall,
    redact,
    memory,
    summarizer: summarizerOf(config),
  }
}

function summarizerOf({ summarizer }: OpenedConfig): SummarizerOption {
  if (typeof summarizer === "string" || "use" in summarizer) return summarizer
  const { key, headers, ...others } = summarizer
  return { ...others, headers: plainHeaders(headers), ...present({ apiKey: key }) }
}

export const plainHeaders = (headers: HeaderValues<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, "text" in value ? value.text : value.secret]),
  )

const upstreamsOf = ({ upstreams }: OpenedConfig): readonly Upstream[] =>
  upstreams.map(({ key, headers, ...others }) => ({
    ...others,
    headers: plainHeaders(headers),
    ...present({ apiKey: key }),
  }))

/** What the gateway is given beside its configuration. */
type Standing = Pick<GatewayOptions, "store" | "holdfast" | "operator" | "guard"> & { readonly admin: AdminAccess }

/** What of the gateway's options stands in the configuration. */
export function gatewayOptions(
  config: OpenedConfig,
  ground: Standing,
): Omit<GatewayOptions, "version" | "now" | "onFault"> {
  const { listen, tenants, windowTokens, recall, limits, askTimeoutMs, whenStoreIsAway, unjudged, stacks } = config
  const { store, holdfast, operator, guard, admin } = ground
  return {
    ...listen,
    ...{ store, holdfast, tenants, recall, limits, askTimeoutMs, whenStoreIsAway, unjudged },
    upstreams: upstreamsOf(config),
    admin: { origins: config.admin.origins, ...present({ token: admin.token }) },
    ...present({ windowTokens, operator, guard, stacks: stacks.length === 0 ? undefined : stacks }),
  }
}

/** Every secret of a configuration, to be hidden wherever it might turn up. */
export function secretsOf(
  { listen, upstreams, summarizer, telemetry, data }: OpenedConfig,
  admin: AdminAccess,
): readonly string[] {
  const held = (headers: HeaderValues<string>): readonly string[] =>
    Object.values(headers).flatMap((value) => ("secret" in value ? [value.secret] : []))
  const place = data !== undefined && "place" in data && isPostgres(data.place) ? data.place : undefined
  return [
    listen.token,
    admin.token,
    place,
    ...upstreams.flatMap(({ key, headers }) => [key, ...held(headers)]),
    ...(typeof summarizer === "string" || "use" in summarizer ? [] : [summarizer.key, ...held(summarizer.headers)]),
    ...(telemetry === undefined ? [] : held(telemetry.headers)),
  ].flatMap((secret) => (secret === undefined ? [] : [secret]))
}

/** Where the store of a configuration is. */
export const configuredPlace = ({ data }: OpenedConfig, env: World["env"]): string =>
  dataPlace(data === undefined ? undefined : "place" in data ? data.place : data.secret, env)
