import type { Transcript, Usage } from "../message/message.ts"
import type { Trace } from "../session/log/trace.ts"

/** The state of a turn at some moment. */
export type TurnSoFar = {
  /** The model's latest text; after an error, as much of its last answer as arrived. */
  readonly text: string
  /** All messages since the turn began, every call with its result: another turn can start from them. */
  readonly messages: Transcript
  /** The sum over all model calls. */
  readonly usage: Usage
  /** Number of model calls that were answered. */
  readonly iterations: number
  /** What was done to the context and why, for each call; ids are those of the request that was compacted. */
  readonly trace: Trace
  /** With a guard: hundredths spent by purchases that ran, and before the turn. Pass it to the next turn. */
  readonly spentMinor?: number
}

const known = new WeakMap<object, TurnSoFar>()

const isKey = (error: unknown): error is object => typeof error === "object" && error !== null

/** Attaches the state of the turn to the error that ended it. */
export function keepSoFar(error: unknown, soFar: TurnSoFar): void {
  if (isKey(error)) known.set(error, soFar)
}

/** The state of the turn that threw this error; undefined for any other error. */
export function turnSoFar(error: unknown): TurnSoFar | undefined {
  return isKey(error) ? known.get(error) : undefined
}
