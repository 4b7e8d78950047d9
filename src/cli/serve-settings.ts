import type { GatewayOptions } from "../gateway/settings/gateway-options.ts"
import { present } from "../message/present.ts"
import { isPostgres } from "../store/open-store.ts"
import { dataOption, dataPlace, policyOption } from "./ask-store.ts"
import { type Arguments, failCommand, type Options } from "./command.ts"
import type { ConfigFault } from "./config/fault.ts"
import { type Flags, flagNames } from "./config/flags.ts"
import { createSecrets, type OpenedSecret, type Secrets } from "./config/open-secrets.ts"
import { type ConfigFile, readConfig } from "./config/read-config.ts"
import { resolveConfig } from "./config/resolve-config.ts"
import {
  logFormats,
  logLevels,
  namedSummarizers,
  type ResolvedConfig,
  storeAwayNames,
} from "./config/resolved-config.ts"
import type { World } from "./world.ts"

/** The configuration with its secrets, and its file, if there is one. */
export type ServeSettings = {
  readonly config: ResolvedConfig
  readonly file?: ConfigFile
  readonly secrets: readonly OpenedSecret[]
}

/** The options of every command about the gateway. Each has its variable: HOLDFAST_PORT, HOLDFAST_LOG_FORMAT. */
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

/** The flags given on the command line; one without a value is `true`. */
const flagsOf = (args: Arguments): Flags =>
  Object.fromEntries(
    flagNames.flatMap((name) => {
      const value = name !== "recall" ? args.valueOf(name) : args.isOn(name) ? "true" : undefined
      return value === undefined ? [] : [[name, value]]
    }),
  )

/** Reads the configuration file: `--config`, else HOLDFAST_CONFIG, else the one with a default name, if there is one. */
async function readSettingsFile(
  args: Arguments,
  env: World["env"],
): Promise<ConfigFile | undefined | { readonly faults: readonly ConfigFault[] }> {
  const named = args.valueOf("config") ?? (env.HOLDFAST_CONFIG === "" ? undefined : env.HOLDFAST_CONFIG)
  return await readConfig(named, process.cwd())
}

/** The configuration without its secrets, for commands that only show it. */
export async function readResolved(args: Arguments, env: World["env"]): Promise<ResolvedConfig> {
  const settings = await readSettingsOrFaults(args, env, { open: () => "", faults: [], opened: [] })
  return "faults" in settings ? failSettings(settings.faults) : settings.config
}

/** Reads the configuration, with its secrets. */
export async function readSettings(args: Arguments, env: World["env"]): Promise<ServeSettings> {
  const settings = await readSettingsOrFaults(args, env)
  return "faults" in settings ? failSettings(settings.faults) : settings
}

/** The same, or all faults of the configuration. */
export async function readSettingsOrFaults(
  args: Arguments,
  env: World["env"],
  given?: Secrets,
): Promise<ServeSettings | { readonly faults: readonly ConfigFault[] }> {
  const file = await readSettingsFile(args, env)
  if (file !== undefined && "faults" in file) return file
  const secrets = given ?? createSecrets(env, file?.place ?? { source: "the configuration", lineOf: () => undefined })
  const result = resolveConfig({ flags: flagsOf(args), env, openSecret: secrets.open, ...present({ file }) })
  if ("faults" in result) return result
  if (secrets.faults.length > 0) return { faults: secrets.faults }
  return { config: result.resolved, secrets: secrets.opened, ...present({ file }) }
}

/** Fails with all faults at once: as lines for people, and in one object for programs. */
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

/** The token of the admin API, and the file that it is kept in. Without a token the API is off. */
export type AdminAccess = { readonly token?: string; readonly file?: string }

export function gatewayOptions(
  config: ResolvedConfig,
  ground: Pick<GatewayOptions, "store" | "holdfast" | "operator" | "guard"> & { readonly admin: AdminAccess },
): Omit<GatewayOptions, "version" | "now" | "onFault"> {
  const { listen, tenants, windowTokens, recall, limits, askTimeoutMs, whenStoreIsAway, unjudged, stacks } = config
  const { store, holdfast, operator, guard, admin } = ground
  return {
    ...listen,
    ...{ store, holdfast, tenants, recall, limits, askTimeoutMs, whenStoreIsAway, unjudged },
    upstreams: config.upstreams,
    admin: { origins: config.admin.origins, ...present({ token: admin.token }) },
    ...present({ windowTokens, operator, guard, stacks: stacks.length === 0 ? undefined : stacks }),
  }
}

/** Every secret of a configuration, to be masked in all output; the place of a store is one if it is an address. */
export const secretsOf = ({ config: { data }, secrets }: ServeSettings, admin: AdminAccess): readonly string[] => [
  ...secrets.flatMap(({ use, value }) => (use === "store" ? [] : [value])),
  ...(data !== undefined && isPostgres(data) ? [data] : []),
  ...(admin.token === undefined ? [] : [admin.token]),
]

export const configuredPlace = ({ data }: ResolvedConfig, env: World["env"]): string => dataPlace(data, env)
