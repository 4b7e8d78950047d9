import type { JudgedCall } from "../../guard/judge-call.ts"
import type { Problem } from "../../message/errors.ts"
import type { Format, Usage } from "../../message/message.ts"
import type { Trace } from "../../session/log/trace.ts"
import type { Receipt } from "../../session/prepared.ts"

/**
 * How a request was dealt with: sent on at once as it came and taken into the log meanwhile; prepared by its session first; passed
 * through because it is no model call; passed because the client asked for that; answered here; refused here.
 */
export type How = "at-once" | "prepared" | "passed" | "bypassed" | "answered" | "refused"

/** How it ended for the client. */
export type Ending = "complete" | "client-left" | "upstream-cut" | "upstream-failed" | "refused"

/** One request through the gateway, for the recent exchanges: no key, no header and no text of the conversation is in it. */
export type ExchangeRecord = {
  /** The id that the client is told as `x-holdfast-trace`. */
  readonly id: string
  readonly atMs: number
  /** A fingerprint of the credential that it came with. */
  readonly tenant: string
  readonly session?: string
  readonly agent?: string
  /** The program that sent it, by the first word of its User-Agent. */
  readonly client?: string
  readonly method: string
  /** Without its query, which may hold a key. */
  readonly path: string
  readonly format?: Format
  readonly model?: string
  readonly stream: boolean
  /** The W3C trace context that the client sent, for spans that join its own. */
  readonly traceparent?: string
  readonly upstream?: string
  readonly how: How
  readonly ending: Ending
  /** As the client got it. */
  readonly status: number
  /** Did it go upstream other than it came? */
  readonly changed: boolean
  readonly receipt?: Receipt
  readonly trace: Trace
  readonly usage?: Usage
  readonly judged: readonly JudgedCall[]
  readonly problem?: Problem
  /** Requests sent upstream for it: more than one after retries, a context error, or recalls. */
  readonly attempts: number
  readonly recalls: number
  readonly requestBytes: number
  readonly sentBytes: number
  readonly responseBytes: number
  /** Until it was sent on, until the first byte of the answer was passed on, and until its end. */
  readonly preparedMs: number
  readonly firstByteMs?: number
  readonly totalMs: number
}
