import type { Format } from "../../src/message/message.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import type { HoldfastOptions } from "../../src/session/state/options.ts"

export const system = "You keep the books of a harbour."
/** Stands in every request of every session. */
export const rule = "Never close an account without a second signature."

/** Every other session speaks another format. */
export const formatOf = (session: string): Format =>
  session.charCodeAt(session.length - 1) % 2 === 0 ? "openai-chat" : "anthropic-messages"

/** Small enough to be compacted every few turns, large enough for a summary to be begun before that. */
const windowTokens = 6000

/** A Holdfast as every process here opens it. Who writes the summaries is said by those who do. */
export const openDurable = (store: HoldfastOptions["store"], options: HoldfastOptions = {}): Holdfast =>
  createHoldfast({
    ...(store === undefined ? {} : { store }),
    windowTokens,
    reserveTokens: 200,
    pins: [rule],
    recall: true,
    ...options,
  })
