import type { Operator } from "../../guard/operator/operator.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import type { Upstream } from "../settings/upstream.ts"
import type { RecentExchanges } from "../telemetry/recent-exchanges.ts"
import type { Approvals } from "./approvals.ts"

/** The dependencies of the admin API. */
export type AdminDeps = {
  readonly holdfast: Holdfast
  /** The store of the sessions. */
  readonly store: Store
  readonly operator?: Operator
  readonly recentExchanges: RecentExchanges
  readonly approvals: Approvals
  /** How long a tool call waits for a person. */
  readonly askTimeoutMs?: number
  readonly upstreams: readonly Upstream[]
  /** The configured window of every model. */
  readonly windowTokens?: number
  /** Token that every request must send as `Authorization: Bearer`. Without it the admin API is off. */
  readonly token?: string
  /** Origins of web pages that may call it, besides the gateway's own. */
  readonly origins: readonly string[]
  readonly version: string
  readonly now: () => number
  readonly status: () => GatewayStatus
  /** Interval of keep-alive comments in event streams. */
  readonly keepAliveMs?: number
  /** The first part of event ids, which distinguishes this process from others. */
  readonly newId?: () => string
  /** Called with unexpected errors. */
  readonly onFault?: (error: unknown) => void
}

/** State that only the gateway knows. */
type GatewayStatus = {
  /** Requests in progress. */
  readonly requestsInFlight: number
  /** It accepts no more requests. */
  readonly closing: boolean
  /** Start time; by default the time when the admin API was created. */
  readonly startedMs?: number
  /** Number of open sessions, if it is counted. */
  readonly openSessions?: number
}
