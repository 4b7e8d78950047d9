import type { Wire } from "../message/ids.ts"
import type { Format } from "../message/message.ts"
import type { ModelResponse, StopReason, Usage } from "../message/request.ts"
import type { SseEvent } from "./sse.ts"
import type { PartStart, ResponseStart, Said, StreamEvent } from "./stream.ts"

/** A part that has begun and not ended, as the reader sees it. */
export type OpenPart = {
  readonly start: PartStart
  /** Have pieces of its content come? */
  readonly fed: boolean
  /** The input that stood in its beginning, for a server that streams none. */
  readonly input?: Wire
}

/** Where the reading of a stream stands. One shape for every format; each uses what it needs. */
export type DecodeState = {
  readonly format: Format
  /** How many events of the wire were read. */
  readonly count: number
  /** The last of them, by name: where a cut happened. */
  readonly after: string
  readonly started: boolean
  /** How many parts have begun, and how many of them were calls that the client runs. */
  readonly parts: number
  readonly calls: number
  /** The parts that are open, by the wire's own name for them. */
  readonly open: ReadonlyMap<string, OpenPart>
  readonly usage?: Usage
  /** The wire's own usage so far, where later events complete it. */
  readonly usageWire?: Wire
  readonly stop?: StopReason
  /** Nothing more is due: the closing event came, or an error took its place. */
  readonly closed: boolean
}

/** Something that an event of the wire says, and which element of its list says it. */
export type Piece = { readonly said: Said; readonly slot?: number }
export type Read = readonly [DecodeState, readonly Piece[]]

/** A part that has begun and not ended, as the writer sees it. */
export type WrittenPart = {
  readonly start: StreamEvent & PartStart
  /** Its number, and among calls its number, in the stream that goes out. */
  readonly index: number
  readonly call: number
  /** What it said so far, kept only for a part of our own. */
  readonly text: string
  readonly input: string
  readonly signature?: string
}

/** Where the writing of a stream stands. */
export type EncodeState = {
  readonly format: Format
  /** Everything so far was relayed as it came, and none of it left out. */
  readonly intact: boolean
  readonly count: number
  /** Pieces of one wire event that wait for the rest of it. */
  readonly held: readonly StreamEvent[]
  readonly start?: StreamEvent & ResponseStart
  readonly parts: number
  readonly calls: number
  /** By the number that each part came with. */
  readonly open: ReadonlyMap<number, WrittenPart>
  /** The parts that have ended: the event that ended each, or what it came to if it is ours. */
  readonly ended: readonly (SseEvent | Wire)[]
  readonly usage?: Usage
  readonly stop?: StopReason
  /** The last numbered event of the wire that was relayed while everything was intact. */
  readonly last?: SseEvent
  /** The next sequence number, once they are ours to give. */
  readonly sequence?: number
}

export type Written = readonly [EncodeState, readonly SseEvent[]]

/** A list that grows at its end without a copy. */
export type Chain<Item> = { readonly item: Item; readonly before: Chain<Item> } | undefined

export function listOf<Item>(chain: Chain<Item>): readonly Item[] {
  const items: Item[] = []
  for (let link = chain; link !== undefined; link = link.before) items.push(link.item)
  return items.reverse()
}

/** A part that was collected. */
export type PartDraft = {
  readonly start: StreamEvent & PartStart
  readonly text: string
  readonly input: string
  readonly signature?: string
  /** What came for it that has no field of its own. */
  readonly others: readonly StreamEvent[]
  readonly end?: StreamEvent
}

/** All that a stream said, put together but not yet in the format's own shape. */
export type Collected = {
  readonly start?: StreamEvent & ResponseStart
  /** In the order in which they began; a call that did not end is not among them. */
  readonly parts: readonly PartDraft[]
  readonly others: readonly StreamEvent[]
  readonly stop: StopReason
  readonly usage?: Usage
  readonly end?: StreamEvent
}

/** One wire format's way to stream. The files of every format have the same functions. */
export type StreamCodec = {
  readonly format: Format
  /** What an event says; what cannot be read is thrown as a Problem, and becomes an `error` event that keeps its wire. */
  readonly read: (state: DecodeState, sse: SseEvent) => Read
  /** What a stream that stops here has said by that; only asked when nothing closed it. */
  readonly readEnd: (state: DecodeState) => readonly Said[]
  /** Write those pieces of one wire event that are left, laid over it. The state has counted them already. */
  readonly rewrite: (state: EncodeState, kept: readonly StreamEvent[]) => Written
  /** Write an event of our own. The state has counted it already. */
  readonly write: (state: EncodeState, event: StreamEvent) => Written
  /** Put together what a client would send back in its next request. */
  readonly assemble: (collected: Collected) => ModelResponse
  /** Can a part of our own be said on this wire so that the client does with it what it should? */
  readonly canWrite: (start: PartStart) => boolean
  /** Does the event carry a number of its place in the stream? */
  readonly isNumbered: (sse: SseEvent) => boolean
  /** Which `other` events are needed to put the answer together. */
  readonly collectsOthers: "none" | "of-parts" | "all"
}
