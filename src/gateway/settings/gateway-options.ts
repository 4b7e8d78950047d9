import type { Guard } from "../../guard/guard.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { WhenStoreIsAway } from "../../session/prepared.ts"
import type { Store } from "../../store/store.ts"
import type { ExchangeRecord } from "./exchange-record.ts"
import type { StackRule } from "./stack-rules.ts"
import type { Upstream } from "./upstream.ts"

/** What one client, one process and one store may be asked for. */
export type GatewayLimits = {
  readonly bodyBytes: number
  /** What a compressed body may come to. */
  readonly unpackedBytes: number
  readonly headerBytes: number
  readonly connections: number
  /** Connections from one address, unless it is this machine: behind a proxy, all clients have the proxy's address. */
  readonly connectionsPerAddress: number
  /** Connections from any one address whose request arrives slowly; the oldest gives way to a new connection. */
  readonly halfSentPerAddress: number
  /** Requests that are worked on at a time; one more is told to come again. */
  readonly requests: number
  /** Sessions that one tenant may begin in an hour. */
  readonly newSessions: number
  /** For the headers of a request to arrive, and for all of it. */
  readonly headersMs: number
  readonly bodyMs: number
  /** How long exchanges that are under way may take to end when the gateway closes. */
  readonly graceMs: number
}

export type AdminOptions = {
  /** What every request to it has to carry, as `Authorization: Bearer`. Without one the admin API is not there. */
  readonly token?: string
  /** Web pages that may call it; none unless given. */
  readonly origins: readonly string[]
}

/** All that a gateway is made of. The command line builds it from the configuration; a test writes it out. */
export type GatewayOptions = {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** What every request has to carry in `x-holdfast-token`, or as its bearer token where upstreams have keys of their own. */
  readonly token?: string
  /** Names by which it may be called, beside addresses and `localhost`. */
  readonly allowedHosts: readonly string[]
  /** Web pages that may call it; none unless given. */
  readonly allowedOrigins: readonly string[]
  readonly upstreams: readonly Upstream[]
  /** Whose sessions are whose: each credential has its own, or all who can reach the gateway are one. */
  readonly tenants: "by-key" | "one"
  /** The window of every model, whatever the table of models says, but for upstreams that say it themselves. */
  readonly windowTokens?: number
  /** Offer the model a tool by which it gets back what was cut. */
  readonly recall: boolean
  readonly limits: GatewayLimits
  readonly admin: AdminOptions
  /** The folder with the pages of the inspector, as built; without it there is only a page that says so. */
  readonly inspector?: string
  /** How long a call that a policy wants a person to see waits for one. */
  readonly askTimeoutMs: number
  /** Silence in a stream after which a comment is sent, so that nobody on the way takes it for dead. */
  readonly keepAliveMs: number
  readonly holdfast: Holdfast
  /**
   * What becomes of a request whose session may have rules that this process cannot know, because the store cannot be read: it is refused,
   * and the client told to try again, or it is passed on without them. `refuse` unless given.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
  /** The store of the sessions; the gateway closes neither it nor the sessions. */
  readonly store: Store
  readonly operator?: Operator
  /** Prompt stacks that are put into requests: the first rule that fits a call gives it its stack. */
  readonly stacks?: readonly StackRule[]
  /** Judges the calls of answers that belong to no session, beside the operator's policies; those of sessions have it from their options. */
  readonly guard?: Guard
  readonly version: string
  readonly now: () => number
  readonly onRecord?: (record: ExchangeRecord) => void
  /** What went wrong and was nobody's request. */
  readonly onFault: (error: unknown) => void
}

export type Gateway = {
  readonly url: string
  readonly port: number
  /** Take no more requests, let those under way end, write down what is known, and stop. */
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

/** An upstream's limits in time: a model may think for minutes before its first byte, and for as long between two. */
export const usualTimes: Pick<Upstream, "connectMs" | "answerMs" | "idleMs" | "retries"> = {
  connectMs: 10_000,
  answerMs: 600_000,
  idleMs: 300_000,
  retries: 2,
}
