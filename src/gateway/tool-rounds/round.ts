import type { Format } from "../../message/message.ts"
import type { SessionGuarding } from "../../session/record.ts"
import type { Recall } from "./bound-recall.ts"

/** What a round came to, once it is over. */
export type Round = {
  /** The answer's own id. The client of a stream knows the first one's, and what it builds on is the last one's. */
  readonly id?: string
  /** Recalls that were answered, and calls whose refusal the model was told. None of a last round: nothing follows it. */
  readonly recalls: number
  readonly denied: number
  /** Does another round follow? */
  readonly goesOn: boolean
}

/** What every exchange in rounds needs, streamed or not. */
export type RoundsOptions = {
  readonly format: Format
  /** The body that was sent for the first answer. */
  readonly sent: string
  /** Who judges the calls. */
  readonly guarding?: SessionGuarding
  /** Answers the recalls; without it no call is taken for one. */
  readonly recall?: Recall
  /** How many rounds may follow the first. */
  readonly maxRounds?: number
  readonly onRound?: (round: Round) => void
}

/** Rounds behind the first: a text of some pages, or a second try after a refusal; more is a model that runs in circles. */
export const usualRounds = 5
