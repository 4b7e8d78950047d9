import type { Operator } from "../../guard/operator/operator.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { Store } from "../../store/store.ts"
import type { Upstream } from "../settings/upstream.ts"
import type { RecentExchanges } from "../telemetry/recent-exchanges.ts"
import type { Approvals } from "./approvals.ts"

/** All that the admin API tells of. */
export type AdminDeps = {
  readonly holdfast: Holdfast
  /** The store of the sessions. */
  readonly store: Store
  readonly operator?: Operator
  readonly recentExchanges: RecentExchanges
  readonly approvals: Approvals
  /** How long a call waits for a person. */
  readonly askTimeoutMs?: number
  readonly upstreams: readonly Upstream[]
  /** What every request has to carry, as `Authorization: Bearer`. Without one nothing is told. */
  readonly token?: string
  /** Web pages that may call it, beside those of the gateway's own address. */
  readonly origins: readonly string[]
  readonly version: string
  readonly now: () => number
  readonly status: () => GatewayStatus
  /** How often an event stream is told that it is alive. */
  readonly keepAliveMs?: number
  /** Tells the events of this program from those of another: the first part of their ids. */
  readonly newId?: () => string
  /** What is our own fault. */
  readonly onFault?: (error: unknown) => void
}

/** What only the gateway itself knows of its state. */
type GatewayStatus = {
  /** Requests that are being worked on. */
  readonly requestsInFlight: number
  /** It takes no more requests. */
  readonly closing: boolean
  /** When it was started; when the admin API was made, unless told. */
  readonly startedMs?: number
  /** Sessions that it has at hand, where it counts them. */
  readonly openSessions?: number
}
