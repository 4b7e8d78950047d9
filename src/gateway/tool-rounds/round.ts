import type { Format } from "../../message/message.ts"
import type { SessionGuarding } from "../../session/record.ts"
import type { Recall } from "./bound-recall.ts"

/** The outcome of a finished round. */
export type Round = {
  /** The response's id. In a stream the client sees the id of the first round; the provider's state is under that of the last one. */
  readonly id?: string
  /**
   * Recalls that were answered, and calls whose refusal was reported to the model. Zero in the last round, because nothing is sent after
   * it.
   */
  readonly recalls: number
  readonly denied: number
  /** Does another round follow? */
  readonly continues: boolean
}

/** Options for tool rounds, streamed or not. */
export type RoundsOptions = {
  readonly format: Format
  /** The request body of the first response. */
  readonly sent: string
  /** The guard that judges the tool calls. */
  readonly guarding?: SessionGuarding
  /** Answers recalls; without it, no call counts as a recall. */
  readonly recall?: Recall
  /** How many rounds may follow the first. */
  readonly maxRounds?: number
  readonly onRound?: (round: Round) => void
}

/**
 * Limit on rounds after the first: enough for a recalled text of several pages, or a second try after a refusal. A model that needs more is
 * looping.
 */
export const usualRounds = 5
