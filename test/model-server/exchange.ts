import type { IncomingHttpHeaders } from "node:http"
import type { Json } from "./json.ts"
import type { Measured } from "./measure.ts"

/** One request as received, and what was sent back. */
export type Exchange = {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** The body's bytes as they came. */
  readonly body: Uint8Array
  /** The body parsed; `null` if it is not JSON. */
  readonly json: Json
  /** Its size, and what a prompt cache would have made of it, if the server measures. */
  readonly measured?: Measured
  readonly response: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    /** Body bytes sent so far, without HTTP framing. */
    readonly bytes: Uint8Array
    /** `false` while it is being sent, and forever if the connection died on the way. */
    readonly complete: boolean
  }
}

/** Joins repeated headers as HTTP defines it. */
export function flatHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  )
}
