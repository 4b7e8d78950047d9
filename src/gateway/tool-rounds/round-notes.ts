import type { JudgedCall } from "../../guard/judge-call.ts"
import type { Format } from "../../message/message.ts"
import type { SessionGuarding } from "../../session/record.ts"
import { type CollectState, startCollect } from "../../wire/collect.ts"
import type { SseEvent } from "../../wire/sse.ts"
import type { Recall } from "./bound-recall.ts"
import type { TakenRecalls } from "./without-recalls.ts"

/** One round of a streamed exchange: what came for what was sent, and what went before it. */
export type RoundSetup = {
  readonly format: Format
  readonly events: AsyncIterable<SseEvent>
  readonly sent: string
  readonly guarding?: SessionGuarding | undefined
  readonly recall?: Recall | undefined
  /** May another round follow? */
  readonly mayGoOn: boolean
  readonly isFirst: boolean
  /** Parts that earlier rounds have numbered. */
  readonly offset: number
  /** Have earlier rounds said something that the first words of this one would run into? */
  readonly spoken: boolean
  /** Hundredths that earlier rounds have spent. */
  readonly spentMinor: number
}

/** What is known of a round while it goes on. */
export type RoundNotes = {
  id: string | undefined
  parts: number
  spoken: boolean
  /** Calls that went out to the client. */
  released: number
  stopped: boolean
  /** The body of the next round, once there is to be one. */
  next: string | undefined
  collecting: CollectState
  readonly judged: JudgedCall[]
  readonly taken: TakenRecalls
  /** Those of them in whose place words stand. */
  readonly placed: Set<number>
}

export const openNotes = ({ format, offset }: RoundSetup): RoundNotes => ({
  id: undefined,
  parts: offset,
  spoken: false,
  released: 0,
  stopped: false,
  next: undefined,
  collecting: startCollect(format),
  judged: [],
  taken: new Map(),
  placed: new Set(),
})

export const isDenied = ({ result }: Pick<JudgedCall, "result">): boolean => result !== undefined
