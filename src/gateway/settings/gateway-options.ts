import type { Guard } from "../../guard/guard.ts"
import type { JudgedCall } from "../../guard/judge-call.ts"
import type { Operator } from "../../guard/operator/operator.ts"
import type { Problem } from "../../message/errors.ts"
import type { Format, Usage } from "../../message/message.ts"
import type { Receipt, WhenStoreIsAway } from "../../session/history/prepared.ts"
import type { Holdfast } from "../../session/holdfast.ts"
import type { Trace } from "../../session/log/event.ts"
import type { Store } from "../../store/store.ts"
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
  /** Time for open exchanges to finish when the gateway closes. */
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
  /** Time that a tool call waits for a person's approval. */
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
  /** Judges the tool calls of responses outside any session, beside the operator's policies. Sessions have it in their own options. */
  readonly guard?: Guard
  /** What to do with a request whose response may have tool calls that the guard cannot judge. The default is `refuse`. */
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
  /** Stops accepting requests, lets open ones finish, writes what is pending, and stops. */
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

/**
 * How a request was handled: `at-once`, forwarded unchanged and stored in the background; `prepared` by its session first; `passed`,
 * forwarded because it is not a model call or could not be read; `bypassed` because the client asked for that; `answered` by the gateway;
 * `refused` by the gateway.
 */
export type How = "at-once" | "prepared" | "passed" | "bypassed" | "answered" | "refused"

export type Ending = "complete" | "client-left" | "upstream-cut" | "upstream-failed" | "refused"

/** One request through the gateway, for the list of recent exchanges. It contains no key, no header and no text of the conversation. */
export type ExchangeRecord = {
  /** The id that the client gets as `x-holdfast-trace`. */
  readonly id: string
  readonly atMs: number
  /** A fingerprint of the client's credential. */
  readonly tenant: string
  readonly session?: string
  readonly agent?: string
  /** The client program: the first word of its User-Agent. */
  readonly client?: string
  /** The name of the folder that the client says it works in. */
  readonly project?: string
  readonly method: string
  /** Without the query, which may contain a key. */
  readonly path: string
  readonly format?: Format
  readonly model?: string
  readonly stream: boolean
  /** The W3C trace context that the client sent, for spans that join its own. */
  readonly traceparent?: string
  readonly upstream?: string
  readonly how: How
  readonly ending: Ending
  /** The status that the client received. */
  readonly status: number
  /** True if the request was changed before it was sent upstream. */
  readonly changed: boolean
  readonly receipt?: Receipt
  readonly trace: Trace
  readonly usage?: Usage
  readonly judged: readonly JudgedCall[]
  readonly problem?: Problem
  /** Requests sent upstream for this one: more than one after retries, a context error, or recalls. */
  readonly attempts: number
  readonly recalls: number
  readonly requestBytes: number
  readonly sentBytes: number
  readonly responseBytes: number
  /** Time until the request was sent, until the first byte of the response was relayed, and until the end. */
  readonly preparedMs: number
  readonly firstByteMs?: number
  readonly totalMs: number
}
