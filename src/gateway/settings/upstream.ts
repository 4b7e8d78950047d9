import type { Family } from "./family.ts"

/** A model's API behind the gateway. It comes from the configuration alone: nothing in a request can name another. */
export type Upstream = {
  readonly name: string
  readonly families: readonly Family[]
  /** Which models it serves, `*` for any piece of a name; all of them unless given. The first upstream that fits is taken. */
  readonly models?: readonly string[]
  readonly baseUrl: string
  /** The window of its models, whatever the table of models says. */
  readonly windowTokens?: number
  /** Its own key, in place of whatever the client sends; the client's is passed on unless given. */
  readonly apiKey?: string
  /** Sent beside the client's, and over those of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly connectMs: number
  /** Until the first byte of the answer. */
  readonly answerMs: number
  /** Between two bytes of the answer. */
  readonly idleMs: number
  /** How often a request is sent again that came to nothing before the first byte of an answer. */
  readonly retries: number
}
