import type { Mark } from "./mark-of.ts"

/**
 * What a provider has under the id of an answer: a mark of it, if it is what was sent and answered; nothing, as it was asked to keep
 * nothing; or something else than the client has, as a call of the answer was withheld or nobody sent it.
 */
export type Upstream = Mark | "unstored" | "other"

/** A conversation up to an answer, by which clients go on from it without sending it again. */
export type Chain = {
  /** All of it as the client has it: every element that it sent, with nothing left as a reference, and every answer. */
  readonly elements: readonly string[]
  readonly upstream: Upstream
  /** Does the session's log have every element, so that it can be had again from there? */
  readonly logged: boolean
  /** The body that opened an Anthropic thread: its system part and tools are not sent again. */
  readonly frame?: string
}
