import type { JudgedCall } from "../../guard/judge-call.ts"
import type { Problem } from "../../message/errors.ts"
import type { Format, Usage } from "../../message/message.ts"
import type { Trace } from "../../session/log/event.ts"
import type { Receipt } from "../../session/prepared.ts"

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
  /** Was the request changed before it was sent upstream? */
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
