import type { Format } from "../../src/message/message.ts"
import { createHoldfast, type Holdfast } from "../../src/session/holdfast.ts"
import type { HoldfastOptions } from "../../src/session/state/options.ts"

export const system = "You keep the books of a harbour."
/** Contained in every request of every session. */
export const rule = "Never close an account without a second signature."

/** Sessions alternate between two formats. */
export const formatOf = (session: string): Format =>
  session.charCodeAt(session.length - 1) % 2 === 0 ? "openai-chat" : "anthropic-messages"

/** Small enough for a compaction every few turns, large enough for a summary to be started before that. */
const windowTokens = 6000

/** Opens Holdfast as every process here does. Callers that write summaries pass a summarizer. */
export const openDurable = (store: HoldfastOptions["store"], options: HoldfastOptions = {}): Holdfast =>
  createHoldfast({
    ...(store === undefined ? {} : { store }),
    windowTokens,
    reserveTokens: 200,
    pins: [rule],
    recall: true,
    ...options,
  })
