import type { StrategyName } from "../../compact/stages/strategies.ts"
import type { GatewayOptions } from "../../gateway/settings/gateway-options.ts"
import type { StackRule } from "../../gateway/settings/stack-rules.ts"
import type { OpenTelemetryOptions } from "../../gateway/telemetry/open-telemetry.ts"
import type { FromRules } from "../../guard/from-rules/compile-rules.ts"
import { namesIn } from "../../message/present.ts"
import type { WhenStoreIsAway } from "../../session/history/prepared.ts"
import type { HoldfastOptions } from "../../session/state/options.ts"
import type { RetentionLimits } from "../../store/prune.ts"

export const strategyNames = namesIn(
  "staged hierarchical recency oldest-drop middle-drop head-tail tool-rounds hybrid",
) satisfies readonly StrategyName[]

/** Summarizers that are configured only by their name. */
export const namedSummarizers = ["extractive", "none", "session"] as const

/** What to do with a request whose session cannot be read. */
export const storeAwayNames = ["refuse", "pass"] as const
export const logLevels = ["error", "warn", "info", "debug"] as const
export const logFormats = ["text", "json"] as const

export type LogLevel = (typeof logLevels)[number]
export type LogFormat = (typeof logFormats)[number]

/** The settings of a gateway, merged from flags, variables, file and defaults, with the secrets that they name. */
export type ResolvedConfig = Pick<
  GatewayOptions,
  "upstreams" | "windowTokens" | "recall" | "tenants" | "limits" | "admin" | "askTimeoutMs"
> & {
  readonly whenStoreIsAway: WhenStoreIsAway
  /** What to do with requests whose responses may have tool calls that the guard cannot judge. */
  readonly unjudged: "refuse" | "pass"
  readonly listen: Pick<GatewayOptions, "host" | "port" | "token" | "allowedHosts" | "allowedOrigins" | "keepAliveMs">
  /** The options of sessions: how they are compacted and stored. */
  readonly session: HoldfastOptions
  /** True for the default upstreams, if none were configured. */
  readonly isUsual: boolean
  /** The place of the store; the default one if missing. */
  readonly data?: string
  readonly operator: {
    readonly directory?: string
    /** Files of public keys. */
    readonly keys: readonly string[]
    readonly audience?: string
  }
  /** Whether the operator's policies are enforced, or only observed. The built-in policy is always enforced. */
  readonly guardMode: "enforce" | "observe"
  /** The mode of policies that are made from a session's rules. */
  readonly fromRules?: FromRules
  /** Limits on the age and total size of stored sessions. */
  readonly retention: RetentionLimits
  readonly log: { readonly level: LogLevel; readonly format: LogFormat }
  /** The endpoint for metrics and spans. */
  readonly telemetry?: Pick<OpenTelemetryOptions, "endpoint" | "headers" | "serviceName">
  /** Prompt stacks: the first that matches a call is added to it. */
  readonly stacks: readonly StackRule[]
}
