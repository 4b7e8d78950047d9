import { resolve } from "node:path"
import { defaultPolicy } from "../../compact/plan/policy.ts"
import type { SectionDefinition } from "../../compact/stack/stack.ts"
import { isLoopback } from "../../gateway/http/admission.ts"
import { usualGatewayLimits, usualTimes } from "../../gateway/settings/gateway-options.ts"
import type { StackRule } from "../../gateway/settings/stack-rules.ts"
import { usualAskTimeoutMs } from "../../guard/judge-call.ts"
import { families } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { isPostgres } from "../../store/open-store.ts"
import type { SecretRef } from "./config-field.ts"
import type { Config } from "./config-schema.ts"
import { type ConfigFault, type ConfigPlace, faultAt, wrongValue } from "./fault.ts"
import { type Env, type Flags, type GivenSettings, readFlags } from "./flags.ts"
import type { ConfigFile } from "./read-config.ts"
import type { HeaderValues, ResolvedConfig, ResolvedUpstream } from "./resolved-config.ts"

export const usualPort = 4141
const usualHost = "127.0.0.1"
/** Well below the minute after which routers on the way forget a silent connection. */
const usualKeepAliveMs = 15_000

/** The well-known APIs, to which the client's own key is passed on. */
const usualUpstreams: readonly UpstreamConfig[] = [
  { name: "anthropic", families: ["anthropic"], baseUrl: "https://api.anthropic.com" },
  { name: "openai", families: ["openai"], baseUrl: "https://api.openai.com" },
  { name: "gemini", families: ["gemini"], baseUrl: "https://generativelanguage.googleapis.com" },
]

type UpstreamConfig = NonNullable<Config["upstreams"]>[number]

/** Where settings come from. */
type Sources = { readonly file?: ConfigFile; readonly flags: Flags; readonly env: Env }

type Resolved = { readonly resolved: ResolvedConfig } | { readonly faults: readonly ConfigFault[] }

/** All sources taken together: a flag before a variable, that before the file, and that before the default. Nothing is read here. */
export function resolveConfig({ file, flags, env }: Sources): Resolved {
  const { given, faults } = readFlags(flags, env)
  const config = file?.config ?? {}
  const place = file?.place ?? { source: "the configuration", lineOf: () => undefined }
  const below = (path: string): string => (file === undefined ? path : resolve(file.folder, path))
  const resolved: ResolvedConfig = {
    ...contextOf(config, given),
    listen: listenOf(config, given, below),
    upstreams: upstreamsOf(config, given, below),
    isUsual: given.upstream === undefined && config.upstreams === undefined,
    tenants: config.tenants ?? "by-key",
    whenStoreIsAway: given.whenStoreIsAway ?? config.whenStoreIsAway ?? "refuse",
    limits: { ...usualGatewayLimits, ...present(config.limits ?? {}) },
    admin: {
      origins: config.admin?.origins ?? [],
      ...present({ token: secretBelow(config.admin?.token, below) }),
    },
    operator: operatorOf(config, given, below),
    askTimeoutMs: config.guard?.askTimeoutMs ?? usualAskTimeoutMs,
    guardMode: config.guard?.mode ?? "enforce",
    unjudged: config.guard?.unjudged ?? "refuse",
    ...present({ fromRules: config.guard?.fromRules, findRules: config.rules?.find }),
    retention: retentionOf(config),
    log: {
      level: given.logLevel ?? config.log?.level ?? "info",
      format: given.logFormat ?? config.log?.format ?? "text",
    },
    ...present({ data: dataOf(config, given, below), telemetry: telemetryOf(config, below) }),
    summarizer: summarizerOf(config, given, below),
    stacks: stacksOf(config, file?.folder),
  }
  const all = [...faults, ...objectionsTo(resolved, config, place)]
  return all.length > 0 ? { faults: all } : { resolved }
}

type Below = (path: string) => string

/** The path of a file is relative to the configuration; the name of a variable stays as it is. */
function secretBelow(ref: Config["data"], below: Below): SecretRef | undefined {
  if (!isSecretRef(ref)) return undefined
  return "file" in ref ? { file: below(ref.file) } : { env: ref.env }
}

function headersBelow(headers: UpstreamConfig["headers"], below: Below): HeaderValues<SecretRef> {
  const all: Record<string, HeaderValues<SecretRef>[string]> = {}
  for (const [name, value] of Object.entries(headers ?? {})) {
    const secret = secretBelow(value, below)
    if (secret !== undefined) all[name.toLowerCase()] = { secret }
    else if (typeof value === "string") all[name.toLowerCase()] = { text: value }
  }
  return all
}

/** How sessions are compacted. */
function contextOf(
  config: Config,
  given: GivenSettings,
): Pick<ResolvedConfig, "windowTokens" | "reserveTokens" | "policy" | "strategy" | "recall" | "redact" | "memory"> {
  const { flush, retrieve, sessionRowsPerDay, agentRowsPerDay } = config.memory ?? {}
  return {
    ...present({
      windowTokens: given.windowTokens ?? config.windowTokens,
      reserveTokens: config.reserveTokens,
      strategy: config.strategy,
    }),
    policy: present(config.policy ?? {}),
    recall: given.recall ?? config.recall ?? false,
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

function listenOf({ listen = {} }: Config, given: GivenSettings, below: Below): ResolvedConfig["listen"] {
  const token =
    given.tokenEnv === undefined ? secretBelow(listen.token, below) : { env: given.tokenEnv, from: "--token-env" }
  return {
    host: given.host ?? listen.host ?? usualHost,
    port: given.port ?? listen.port ?? usualPort,
    allowedHosts: listen.allowedHosts ?? [],
    allowedOrigins: listen.allowedOrigins ?? [],
    keepAliveMs: listen.keepAliveMs ?? usualKeepAliveMs,
    ...present({ token }),
  }
}

function upstreamsOf(config: Config, given: GivenSettings, below: Below): readonly ResolvedUpstream<SecretRef>[] {
  const upstreams: readonly UpstreamConfig[] =
    given.upstream === undefined
      ? (config.upstreams ?? usualUpstreams)
      : [{ name: "upstream", baseUrl: given.upstream }]
  return upstreams.map((upstream, n) => ({
    name: upstream.name ?? `${new URL(upstream.baseUrl).host}#${n + 1}`,
    families: upstream.families ?? families,
    baseUrl: upstream.baseUrl,
    headers: headersBelow(upstream.headers, below),
    ...usualTimes,
    ...present({ ...upstream.timeouts, retries: upstream.retries }),
    ...present({ models: upstream.models, windowTokens: upstream.windowTokens, key: secretBelow(upstream.key, below) }),
  }))
}

function dataOf({ data }: Config, given: GivenSettings, below: Below): ResolvedConfig["data"] {
  if (given.data !== undefined) return { place: given.data }
  const secret = secretBelow(data, below)
  if (secret !== undefined) return { secret }
  return typeof data === "string" ? { place: isPostgres(data) ? data : below(data) } : undefined
}

function operatorOf({ operator = {} }: Config, given: GivenSettings, below: Below): ResolvedConfig["operator"] {
  const directory = given.policy ?? (operator.directory === undefined ? undefined : below(operator.directory))
  return {
    keys: (operator.keys ?? []).map(below),
    ...present({ directory, audience: operator.audience }),
  }
}

function summarizerOf(config: Config, given: GivenSettings, below: Below): ResolvedConfig["summarizer"] {
  const summarizer = given.summarizer ?? config.summarizer ?? "extractive"
  if (summarizer === "session") return { use: summarizer }
  if (typeof summarizer === "string") return summarizer
  if ("use" in summarizer) {
    const { use, model: own, budgetTokens } = summarizer
    return { use, ...present({ model: own, budgetTokens }) }
  }
  const { format, baseUrl, model, maxOutputTokens, inputTokens } = summarizer
  const key = secretBelow(summarizer.key, below)
  const headers = headersBelow(summarizer.headers, below)
  return { format, baseUrl, model, headers, ...present({ key, maxOutputTokens, inputTokens }) }
}

/** The stacks in the order of the file, each behind the documents named for all; those are a stack of their own where no other fits. */
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
  const gives: SectionDefinition["shrink"] = variants !== undefined ? { type: "swap", variants } : shrinkOf(shrink)
  const { layer, name, ...others } = section
  return { layer, name, source, ...present(others), ...present({ shrink: gives }) }
}

const shrinkOf = (type: SectionConfig["shrink"]): SectionDefinition["shrink"] =>
  type === undefined ? undefined : { type }

function telemetryOf({ telemetry }: Config, below: Below): ResolvedConfig["telemetry"] {
  if (telemetry === undefined) return undefined
  const { endpoint, headers, service = "holdfast" } = telemetry.otlp
  return { endpoint, headers: headersBelow(headers, below), service }
}

/** Faults that show only when all settings are taken together. */
function objectionsTo({ listen, policy }: ResolvedConfig, config: Config, place: ConfigPlace): readonly ConfigFault[] {
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
  const { lowWater, compactAt } = policy
  if (lowWater !== undefined && lowWater >= (compactAt ?? defaultPolicy.compactAt))
    faults.push(wrongValue(place, ["policy", "lowWater"], config.policy?.lowWater, "less than policy.compactAt"))
  return faults
}

const isSecretRef = (value: unknown): value is SecretRef =>
  typeof value === "object" && value !== null && ("env" in value || "file" in value)
