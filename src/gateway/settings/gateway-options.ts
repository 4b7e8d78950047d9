import type { Guard } from "../../guard/guard.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { WhenStoreIsAway } from "../../session/prepared.ts"
import type { Store } from "../../store/store.ts"
import type { ExchangeRecord } from "./exchange-record.ts"
import type { StackRule } from "./stack-rules.ts"
import type { Upstream } from "./upstream.ts"

/** Limits on requests, connections and times. */
export type GatewayLimits = {
  readonly bodyBytes: number
  /** Limit on a body after decompression. */
  readonly unpackedBytes: number
  readonly headerBytes: number
  readonly connections: number
  /** Connections from one address, except this machine. Behind a proxy, all clients have the proxy's address. */
  readonly connectionsPerAddress: number
  /** Connections from one address whose request arrives slowly; the oldest is closed for a new connection. */
  readonly halfSentPerAddress: number
  /** Concurrent requests; one more is refused with the advice to retry. */
  readonly requests: number
  /** Sessions that one tenant may begin in an hour. */
  readonly newSessions: number
  /** Time for a request's headers to arrive, and for the whole request (`bodyMs`). */
  readonly headersMs: number
  readonly bodyMs: number
  /** How long open exchanges may take to finish when the gateway closes. */
  readonly graceMs: number
}

export type AdminOptions = {
  /** Token that every admin request must send as `Authorization: Bearer`. Without it the admin API is disabled. */
  readonly token?: string
  /** Origins of web pages that may call it; none by default. */
  readonly origins: readonly string[]
}

/** The settings and dependencies of a gateway. The command line builds them from the configuration; tests write them out. */
export type GatewayOptions = {
  readonly host: string
  /** 0 picks any free port. */
  readonly port: number
  /** Token that every request must send in `x-holdfast-token`, or as its bearer token if all upstreams have their own keys. */
  readonly token?: string
  /** Host names that requests may use, besides IP addresses and `localhost`. */
  readonly allowedHosts: readonly string[]
  /** Origins of web pages that may call it; none by default. */
  readonly allowedOrigins: readonly string[]
  readonly upstreams: readonly Upstream[]
  /** How sessions are separated: by credential, or shared by all clients of the gateway. */
  readonly tenants: "by-key" | "one"
  /** The window of every model, in place of the model table, except for upstreams that set their own. */
  readonly windowTokens?: number
  /** Offer the model a tool that fetches text that was removed. */
  readonly recall: boolean
  readonly limits: GatewayLimits
  readonly admin: AdminOptions
  /** The folder with the built inspector; without it, a single page says that it is missing. */
  readonly inspector?: string
  /** How long a tool call that needs a person's approval waits for it. */
  readonly askTimeoutMs: number
  /** Time without data after which a comment is sent in a stream, so that no proxy closes the connection. */
  readonly keepAliveMs: number
  readonly holdfast: Holdfast
  /**
   * What to do with a request whose session may have rules that cannot be read because the store is unavailable: refuse it, so that the
   * client retries, or forward it without them. The default is `refuse`.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
  /** The store of the sessions. The gateway does not close it. */
  readonly store: Store
  readonly operator?: Operator
  /** Prompt stacks that are added to requests: the first rule that matches a call decides. */
  readonly stacks?: readonly StackRule[]
  /**
   * Judges the tool calls of responses outside any session, in addition to the operator's policies. Sessions have it in their own options.
   */
  readonly guard?: Guard
  /** What to do with a request that may bring tool calls which the guard cannot judge, while there is a guard. The default is `refuse`. */
  readonly unjudged?: "refuse" | "pass"
  readonly version: string
  readonly now: () => number
  readonly onRecord?: (record: ExchangeRecord) => void
  /** Called with errors that are not reported to a client. */
  readonly onFault: (error: unknown) => void
}

export type Gateway = {
  readonly url: string
  readonly port: number
  /** Stop accepting requests, let open ones finish, write what is pending, and stop. */
  readonly close: () => Promise<void>
}

export const usualGatewayLimits: GatewayLimits = {
  bodyBytes: 100 * 1024 * 1024,
  unpackedBytes: 100 * 1024 * 1024,
  headerBytes: 64 * 1024,
  connections: 2000,
  connectionsPerAddress: 500,
  halfSentPerAddress: 250,
  requests: 500,
  newSessions: 2000,
  headersMs: 15_000,
  bodyMs: 120_000,
  graceMs: 10_000,
}

/** Default timeouts of an upstream: a model may take minutes before its first byte, and between two bytes. */
export const usualTimes: Pick<Upstream, "connectMs" | "answerMs" | "idleMs" | "retries"> = {
  connectMs: 10_000,
  answerMs: 600_000,
  idleMs: 300_000,
  retries: 2,
}
