import type { JudgedCall } from "../../guard/judge-call.ts"
import type { Format } from "../../message/message.ts"
import type { SessionGuarding } from "../../session/record.ts"
import { type CollectState, startCollect } from "../../wire/collect.ts"
import type { SseEvent } from "../../wire/sse.ts"
import type { Recall } from "./bound-recall.ts"
import type { RoundUsage, UsageAdder } from "./round-usage.ts"
import type { TakenRecalls } from "./without-recalls.ts"

/** The inputs of one round of a streamed exchange: the request body, its response events, and the state after the earlier rounds. */
export type RoundSetup = {
  readonly format: Format
  readonly events: AsyncIterable<SseEvent>
  readonly sent: string
  readonly guarding?: SessionGuarding | undefined
  readonly recall?: Recall | undefined
  /** May another round follow? */
  readonly mayGoOn: boolean
  readonly isFirst: boolean
  /** Number of parts in earlier rounds; parts of this round are numbered from here. */
  readonly offset: number
  /** Did earlier rounds contain text, so that the text of this round needs a separator? */
  readonly spoken: boolean
  /** Money spent by calls of earlier rounds, in hundredths of the currency. */
  readonly spentMinor: number
  /** What the provider counted for earlier rounds. */
  readonly usage: RoundUsage | undefined
}

/** The state of a round in progress. */
export type RoundNotes = {
  id: string | undefined
  parts: number
  spoken: boolean
  /** Tool calls that were sent to the client. */
  released: number
  stopped: boolean
  /** The request body of the next round, if there is one. */
  next: string | undefined
  collecting: CollectState
  usage: UsageAdder | undefined
  readonly judged: JudgedCall[]
  readonly taken: TakenRecalls
  /** The taken recalls that were replaced by text. */
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
  usage: undefined,
  judged: [],
  taken: new Map(),
  placed: new Set(),
})

export const isDenied = ({ result }: Pick<JudgedCall, "result">): boolean => result !== undefined
