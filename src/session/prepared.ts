import type { Occasion } from "../compact/plan/plan.ts"
import type { Format } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { ModelRequest } from "../message/request.ts"
import type { Trace } from "./log/trace.ts"

/** What one model call needs. */
export type PrepareOptions = {
  readonly format?: Format
  /**
   * The client's own body. With messages it is the whole history as the client has it, and is matched to the log; without, it is what
   * the log's messages are put into.
   */
  readonly body?: string | object
  readonly model?: string
  /** Where there is no body: the system part, and tools in the wire's own shape. */
  readonly system?: string | readonly Part[]
  readonly tools?: readonly unknown[]
  readonly maxOutputTokens?: number
  readonly stream?: boolean
  readonly windowTokens?: number
  readonly reserveTokens?: number
  /** What matters to whoever asks, if this call compacts. */
  readonly focus?: string
  readonly occasion?: Occasion
  readonly maxWaitMs?: number
  /**
   * Mend a client's history always, so that every call has its result, or only where it is changed anyway: providers differ in what they
   * take, and one that took it as it came has it in its cache. Always unless given.
   */
  readonly mend?: "always" | "when-changed"
  /**
   * What to do about a session that may have rules which this process cannot know, because its store cannot be read: refuse the call with
   * the store's Problem, or go on with what is known. `pass` unless given.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
}

export type WhenStoreIsAway = "refuse" | "pass"

/** What a prepared request is, for the books. */
export type Receipt = {
  readonly session: string
  /** The last message of the log that it has in it. */
  readonly entry: string
  readonly checkpoint?: string
  /** What it will be reported as, by our count and what we learned of this model. */
  readonly contextTokens: number
  readonly stackTokens: number
  readonly windowTokens: number
  /** Above this a request is compacted. */
  readonly compactAtTokens: number
  /** The same for a request that ends in tool results: what the model has not read goes out whole while it fits. */
  readonly compactUnreadAtTokens: number
  /** What stands at its beginning exactly as in the request before, and so can be read from the provider's cache. */
  readonly stableTokens: number
  /** Did the request go out other than it came in? */
  readonly changed: boolean
  /** Does the store have everything that is in it? */
  readonly durable: boolean
}

export type Prepared = {
  /** Text if the body came as text, otherwise parsed. */
  readonly body: string | object
  readonly wire: string
  /** The same, read: system, tools and messages. */
  readonly context: Pick<ModelRequest, "format" | "system" | "tools" | "messages">
  readonly trace: Trace
  readonly receipt: Receipt
}
