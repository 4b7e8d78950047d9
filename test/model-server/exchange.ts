import type { IncomingHttpHeaders } from "node:http"
import type { Json } from "./json.ts"
import type { Measured } from "./measure.ts"

/** One request as it was received and what was sent back. */
export type Exchange = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body's bytes as they came. */
  readonly body: Uint8Array
  /** The same, parsed; `null` where it is no JSON. */
  readonly json: Json
  /** Its size, and what a prompt cache would have made of it, where the server measures. */
  readonly measured?: Measured
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    /** The body's bytes sent so far, without HTTP's own framing. */
    readonly bytes: Uint8Array
    /** `false` while it is being sent, and for ever if the connection died on the way. */
    readonly complete: boolean
  }
}

/** Fold repeated headers as HTTP reads them. */
export function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  )
}
