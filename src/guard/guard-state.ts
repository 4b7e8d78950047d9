import type { Format } from "../message/message.ts"
import type { Chain, PartStart, StreamEvent } from "../wire/stream.ts"
import type { ToolCall } from "./facts/facts.ts"
import type { Guard, Verdict } from "./guard.ts"
import type { GuardUse } from "./guard-use.ts"
import type { JudgedCall } from "./judge-call.ts"

/** Bytes of the wire that one call may take: the longest answer of any model (128,000 tokens) in events of 250 bytes each. */
export const maxHeldBytes = 32_000_000
/** Bytes that may wait in one stream, calls and whatever came behind them. */
export const maxQueueBytes = 64_000_000
/** Calls held at one time; models make some dozens in one answer at most. */
export const maxHeldCalls = 256

/** A part that is or may be a call, from its beginning to its verdict. */
export type WatchedPart = {
  readonly start: StreamEvent & PartStart
  /** Does it wait for its verdict, or has it gone out already because no one can stop it? */
  readonly held: boolean
  readonly events: Chain<StreamEvent>
  readonly input: string
  readonly bytes: number
  readonly outcome: "open" | "asked" | "released" | "withheld"
  /** What stands in its place once it is withheld. */
  readonly instead?: string
  /** The provider's seal of a withheld call before it, which it bears from now on. */
  readonly seal?: string
}

/** A call that a person has to decide on. */
export type AskedCall = { readonly index: number; readonly call: ToolCall; readonly verdict: Verdict }

/** Where the guarding of a stream stands. */
export type GuardState = {
  readonly format: Format
  readonly guard: Guard
  readonly use: GuardUse
  readonly parts: ReadonlyMap<number, WatchedPart>
  /** Events that wait, because a call before them does; they go out in the order in which they came. */
  readonly queue: Chain<StreamEvent>
  readonly queuedBytes: number
  /** The first of them. */
  readonly first: StreamEvent | undefined
  readonly asked: ReadonlyMap<number, AskedCall & { readonly callId: string; readonly tool: string }>
  /** How many calls that a client would run went out, and how many did not. */
  readonly released: number
  readonly withheld: number
  /** The provider's seal of a call that was withheld, until another call bears it. */
  readonly seal?: string | undefined
  /** Hundredths that those which went out spend. */
  readonly spentMinor: number
  /** Calls that were let through, so that a copy of one is known when it comes. Only grows, in place: an answer may have many. */
  readonly allowed: Set<string>
  /** The model has said why it stopped: no call may begin after that. */
  readonly stopped: boolean
  /** Something came that may not go out; nothing that follows does. */
  readonly closed: boolean
}

/** What one step lets out, what it judged, and whom a person has to decide on before more goes out. */
export type GuardOutput = {
  readonly events: readonly StreamEvent[]
  readonly judged: readonly JudgedCall[]
  readonly asks: readonly AskedCall[]
}
