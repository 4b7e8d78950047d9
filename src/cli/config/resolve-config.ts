import { resolve } from "node:path"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import type { SectionDefinition } from "../../compact/stack/stack.ts"
import { isLoopback } from "../../gateway/http/admission.ts"
import { usualGatewayLimits, usualTimes } from "../../gateway/settings/gateway-options.ts"
import type { StackRule } from "../../gateway/settings/stack-rules.ts"
import type { Upstream } from "../../gateway/settings/upstream.ts"
import { usualAskTimeoutMs } from "../../guard/judge-call.ts"
import { families } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { SummarizerOption } from "../../session/one-shot/summarizer.ts"
import type { HoldfastOptions } from "../../session/state/options.ts"
import { isPostgres } from "../../store/open-store.ts"
import type { SecretRef } from "./config-field.ts"
import type { Config } from "./config-schema.ts"
import { type ConfigFault, type ConfigPlace, faultAt, type Path, wrongValue } from "./fault.ts"
import { type Env, type Flags, type GivenSettings, readFlags } from "./flags.ts"
import type { Secrets, SecretUse } from "./open-secrets.ts"
import type { ConfigFile } from "./read-config.ts"
import type { ResolvedConfig } from "./resolved-config.ts"

export const usualPort = 4141
const defaultHost = "127.0.0.1"
/** Default interval of keep-alive comments: well below the minute after which routers drop a silent connection. */
const defaultKeepAliveMs = 15_000

/** The default upstreams: the well-known APIs, which get the client's own key. */
const defaultUpstreams: readonly UpstreamConfig[] = [
  { name: "anthropic", families: ["anthropic"], baseUrl: "https://api.anthropic.com" },
  { name: "openai", families: ["openai"], baseUrl: "https://api.openai.com" },
  { name: "gemini", families: ["gemini"], baseUrl: "https://generativelanguage.googleapis.com" },
]

type UpstreamConfig = NonNullable<Config["upstreams"]>[number]

/** The sources of settings, and the function that reads the secrets they refer to. */
type Sources = {
  readonly file?: ConfigFile
  readonly flags: Flags
  readonly env: Env
  readonly openSecret: Secrets["open"]
}

type Reader = {
  /** Resolves a path relative to the configuration file. */
  readonly below: (path: string) => string
  readonly secret: (value: Config["data"], path: Path, use: SecretUse) => string | undefined
}

type ResolveResult = { readonly resolved: ResolvedConfig } | { readonly faults: readonly ConfigFault[] }

/** Merges all sources: flags override variables, variables the file, and the file the defaults. */
export function resolveConfig({ file, flags, env, openSecret }: Sources): ResolveResult {
  const { given, faults } = readFlags(flags, env)
  const config = file?.config ?? {}
  const place = file?.place ?? { source: "the configuration", lineOf: () => undefined }
  const below = (path: string): string => (file === undefined ? path : resolve(file.folder, path))
  const reader: Reader = {
    below,
    secret: (ref, path, use) => {
      if (!isSecretRef(ref)) return undefined
      return openSecret("file" in ref ? { file: below(ref.file) } : ref, path, use)
    },
  }
  const recall = given.recall ?? config.recall ?? false
  const windowTokens = given.windowTokens ?? config.windowTokens
  const resolved: ResolvedConfig = {
    upstreams: upstreamsOf(config, given, reader),
    listen: listenOf(config, given, reader),
    recall,
    session: { ...sessionOf(config, reader, given), recall, ...present({ windowTokens }) },
    isUsual: given.upstream === undefined && config.upstreams === undefined,
    tenants: config.tenants ?? "by-key",
    whenStoreIsAway: given.whenStoreIsAway ?? config.whenStoreIsAway ?? "refuse",
    limits: { ...usualGatewayLimits, ...present(config.limits ?? {}) },
    admin: {
      origins: config.admin?.origins ?? [],
      ...present({ token: reader.secret(config.admin?.token, ["admin", "token"], "gateway") }),
    },
    operator: operatorOf(config, given, below),
    askTimeoutMs: config.guard?.askTimeoutMs ?? usualAskTimeoutMs,
    guardMode: config.guard?.mode ?? "enforce",
    unjudged: config.guard?.unjudged ?? "refuse",
    ...present({ windowTokens, fromRules: config.guard?.fromRules }),
    retention: retentionOf(config),
    log: {
      level: given.logLevel ?? config.log?.level ?? "info",
      format: given.logFormat ?? config.log?.format ?? "text",
    },
    ...present({ data: dataOf(config, given, reader), telemetry: telemetryOf(config, reader) }),
    stacks: stacksOf(config, file?.folder),
  }
  const all = [...faults, ...combinationFaults(resolved, config, place)]
  return all.length > 0 ? { faults: all } : { resolved }
}

const headersOf = (
  headers: UpstreamConfig["headers"],
  path: Path,
  { secret }: Reader,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [
      name.toLowerCase(),
      typeof value === "string" ? value : (secret(value, [...path, "headers", name.toLowerCase()], "header") ?? ""),
    ]),
  )

function sessionOf(config: Config, reader: Reader, given: GivenSettings): HoldfastOptions {
  const { flush, retrieve, sessionRowsPerDay, agentRowsPerDay } = config.memory ?? {}
  const find = config.rules?.find
  return {
    ...present({ reserveTokens: config.reserveTokens, strategy: config.strategy, rules: find && { find } }),
    policy: present(config.policy ?? {}),
    summarizer: summarizerOf(config, given, reader),
    redact: (config.redact ?? []).map((rule) => {
      if (rule === "defaults") return rule
      const { pattern, by } = typeof rule === "string" ? { pattern: rule, by: undefined } : rule
      return { pattern: new RegExp(pattern, "gu"), ...present({ by }) }
    }),
    memory: present({
      flush,
      sessionRowsPerDay,
      agentRowsPerDay,
      retrieve:
        retrieve === undefined
          ? undefined
          : { budgetTokens: retrieve.budgetTokens, ...present({ trustedOnly: retrieve.trustedOnly }) },
    }),
  }
}

const dayMs = 86_400_000

function retentionOf({ retention: { maxAgeDays, maxBytes } = {} }: Config): ResolvedConfig["retention"] {
  return present({ maxAgeMs: maxAgeDays === undefined ? undefined : maxAgeDays * dayMs, maxBytes })
}

function listenOf({ listen = {} }: Config, given: GivenSettings, { secret }: Reader): ResolvedConfig["listen"] {
  const ref = given.tokenEnv === undefined ? listen.token : { env: given.tokenEnv, from: "--token-env" }
  const token = secret(ref, ["listen", "token"], "client")
  return {
    host: given.host ?? listen.host ?? defaultHost,
    port: given.port ?? listen.port ?? usualPort,
    allowedHosts: listen.allowedHosts ?? [],
    allowedOrigins: listen.allowedOrigins ?? [],
    keepAliveMs: listen.keepAliveMs ?? defaultKeepAliveMs,
    ...present({ token }),
  }
}

function upstreamsOf(config: Config, given: GivenSettings, reader: Reader): readonly Upstream[] {
  const upstreams: readonly UpstreamConfig[] =
    given.upstream === undefined
      ? (config.upstreams ?? defaultUpstreams)
      : [{ name: "upstream", baseUrl: given.upstream }]
  return upstreams.map((upstream, n) => ({
    name: upstream.name ?? `${new URL(upstream.baseUrl).host}#${n + 1}`,
    families: upstream.families ?? families,
    baseUrl: upstream.baseUrl,
    headers: headersOf(upstream.headers, ["upstreams", n], reader),
    ...usualTimes,
    ...present({ ...upstream.timeouts, retries: upstream.retries }),
    ...present({ models: upstream.models, windowTokens: upstream.windowTokens }),
    ...present({ apiKey: reader.secret(upstream.key, ["upstreams", n, "key"], "upstream") }),
  }))
}

function dataOf({ data }: Config, given: GivenSettings, { below, secret }: Reader): string | undefined {
  if (given.data !== undefined) return given.data
  if (typeof data !== "string") return secret(data, ["data"], "store")
  return isPostgres(data) ? data : below(data)
}

function operatorOf(
  { operator = {} }: Config,
  given: GivenSettings,
  below: Reader["below"],
): ResolvedConfig["operator"] {
  const directory = given.policy ?? (operator.directory === undefined ? undefined : below(operator.directory))
  return {
    keys: (operator.keys ?? []).map(below),
    ...present({ directory, audience: operator.audience }),
  }
}

function summarizerOf(config: Config, given: GivenSettings, reader: Reader): SummarizerOption {
  const summarizer = given.summarizer ?? config.summarizer ?? "extractive"
  if (summarizer === "session") return { use: summarizer }
  if (typeof summarizer === "string") return summarizer
  if ("use" in summarizer) {
    const { use, model: own, budgetTokens } = summarizer
    return { use, ...present({ model: own, budgetTokens }) }
  }
  const { format, baseUrl, model, maxOutputTokens, inputTokens } = summarizer
  const apiKey = reader.secret(summarizer.key, ["summarizer", "key"], "upstream")
  const headers = headersOf(summarizer.headers, ["summarizer"], reader)
  return { format, baseUrl, model, headers, ...present({ apiKey, maxOutputTokens, inputTokens }) }
}

/** The stacks in the order of the file, each with the common documents first. The common documents alone are the stack of other calls. */
function stacksOf({ stack = [], documents = [] }: Config, folder: string | undefined): readonly StackRule[] {
  const from = present({ folder })
  const rules = stack.map(
    ({ when, sections = [], documents: own = [], maxTokens, changes }): StackRule => ({
      ...present({ when: when === undefined ? undefined : present(when) }),
      stack: {
        ...from,
        sections: sections.map(sectionOf),
        documents: [...documents, ...own],
        ...present({ maxTokens, changes }),
      },
    }),
  )
  return documents.length === 0 ? rules : [...rules, { stack: { ...from, documents } }]
}

type SectionConfig = NonNullable<NonNullable<Config["stack"]>[number]["sections"]>[number]

function sectionOf({ text, file, files, shrink, shorter, ...section }: SectionConfig): SectionDefinition {
  const path = file ?? ""
  const source =
    files !== undefined ? { type: "files" as const, pattern: files } : (text ?? { type: "file" as const, path })
  const variants = shorter?.map((from) =>
    typeof from === "string" ? from : { type: "file" as const, path: from.file },
  )
  const gives: SectionDefinition["shrink"] =
    variants !== undefined ? { type: "swap", variants } : shrink && { type: shrink }
  const { layer, name, ...others } = section
  return { layer, name, source, ...present(others), ...present({ shrink: gives }) }
}

function telemetryOf({ telemetry }: Config, reader: Reader): ResolvedConfig["telemetry"] {
  if (telemetry === undefined) return undefined
  const { endpoint, headers, service: serviceName = "holdfast" } = telemetry.otlp
  return { endpoint, headers: headersOf(headers, ["telemetry", "otlp"], reader), serviceName }
}

/** Faults in the combination of settings. */
function combinationFaults({ listen }: ResolvedConfig, config: Config, place: ConfigPlace): readonly ConfigFault[] {
  const faults: ConfigFault[] = []
  if (!isLoopback(listen.host) && listen.token === undefined)
    faults.push(
      faultAt(
        { source: `The host ${JSON.stringify(listen.host.slice(0, 80))}`, lineOf: () => undefined },
        [],
        "can be reached by others than this machine, and no token was given that they have to know",
        "Put a token in an environment variable and name it with --token-env NAME or listen.token, or listen on 127.0.0.1.",
      ),
    )
  const { lowWater, compactAt } = config.policy ?? {}
  if (lowWater !== undefined && lowWater >= (compactAt ?? defaultPolicy.compactAt))
    faults.push(wrongValue(place, ["policy", "lowWater"], lowWater, "less than policy.compactAt"))
  return faults
}

const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === "object" && value !== null && ("env" in value || "file" in value)
