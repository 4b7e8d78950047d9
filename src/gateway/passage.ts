import type { ModelRequest, ModelResponse } from "../message/request.ts"
import type { SessionGuarding } from "../session/judge.ts"
import type { Trace } from "../session/log/trace.ts"
import type { Receipt } from "../session/prepared.ts"
import type { Instead, RefusedCall } from "./server-state/instead.ts"
import type { OwnAnswer } from "./server-state/own-answer.ts"
import type { How } from "./settings/exchange-record.ts"

/** Why an upstream refused a request as too long, as far as it said; `answerTokens` where only the answer that it allows is too much. */
export type TooLong = {
  readonly windowTokens?: number
  readonly neededTokens?: number
  readonly answerTokens?: number
}

/** What is known of a call by now: of one that was sent on at once, little at first. */
export type Known = {
  readonly session?: string
  readonly model?: string
  readonly receipt?: Receipt
  readonly trace: Trace
}

/** One model call on its way through a session. */
export type Passage = {
  readonly how: How
  /** What to send; the client's own bytes where nothing was changed. */
  readonly bytes: Buffer
  readonly changed: boolean
  /** The request as it was read; nothing where it was sent on at once or could not be read. */
  readonly request?: ModelRequest
  readonly known: () => Known
  /** Who judges the calls of the answer. */
  readonly guarding: () => Promise<SessionGuarding | undefined>
  /** A smaller request, after this one was refused as too long; nothing if there is none. */
  readonly smaller: (refusal: TooLong) => Promise<Buffer | undefined>
  /** A body with all that the model sees, where what is sent is only what the provider does not hold yet. */
  readonly seen?: () => string
  /** The model is asked again before the client has its answer: what the provider keeps under the first answer's id is not all of it. */
  readonly repeated?: () => void
  /** What the client is told without asking the upstream. */
  readonly answer?: OwnAnswer
  /** What to do about a refusal that `smaller` does not help with; nothing if it is the client's to see. */
  readonly instead?: (refused: RefusedCall) => Promise<Instead | undefined>
  /** What came of it: the answer as the client got it, what there was of it, or nothing. It is written down later; only the first word on it counts. */
  readonly ended: (answer: ModelResponse | undefined, isCut?: boolean) => void
}
