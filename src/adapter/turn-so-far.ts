import type { Transcript, Usage } from "../message/message.ts"
import type { Trace } from "../session/log/trace.ts"

/** What a turn has come to at some point. */
export type TurnSoFar = {
  /** The model's latest words; of a turn that broke off, as much of its last answer as had come. */
  readonly text: string
  /** Everything that was said since the turn began, every call with its result: good to begin another turn with. */
  readonly messages: Transcript
  /** Of all model calls together. */
  readonly usage: Usage
  /** How many model calls were answered. */
  readonly iterations: number
  /** What was done to the context and why, call by call; ids are those of the request that was made to fit. */
  readonly trace: Trace
  /** With a guard: hundredths spent by the purchases that ran, and before; good to begin another turn's circumstances with. */
  readonly spentMinor?: number
}

const known = new WeakMap<object, TurnSoFar>()

const isKey = (error: unknown): error is object => typeof error === "object" && error !== null

/** Keep what a turn had come to when this error ended it. */
export function keepSoFar(error: unknown, soFar: TurnSoFar): void {
  if (isKey(error)) known.set(error, soFar)
}

/** What a turn had come to when it threw this error; nothing for an error of anyone else's. */
export function turnSoFar(error: unknown): TurnSoFar | undefined {
  return isKey(error) ? known.get(error) : undefined
}
