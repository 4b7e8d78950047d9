import type { Breaker } from "../compact/plan/breaker.ts"
import type { JudgedCall } from "../guard/judge-call.ts"
import type { Format, Message, ModelRequest, Transcript } from "../message/message.ts"
import type { Pin } from "../rules/pin.ts"
import type { PinLedger, StandingPin } from "../rules/pin-ledger.ts"
import type { Lock } from "../store/pace.ts"
import type { Queue } from "../store/queue/queue.ts"
import type { MemoryOwner, Store } from "../store/store.ts"
import type { Calibration } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import type { NewEvent } from "./events.ts"
import type { Journal } from "./journal.ts"
import type { Caller } from "./log/entry.ts"
import type { Memory } from "./memory/memory.ts"
import type { HoldfastOptions } from "./options.ts"
import type { StackInForce, WaitingStack } from "./session-stack.ts"
import type { SummaryDue, SummarySpending } from "./session-summary.ts"
import type { SharedRules } from "./shared-rules.ts"
import type { Spending } from "./spending.ts"
import type { StackReader } from "./stack/stack-options.ts"

/** A session's state in this process. All of it can be rebuilt from the log; it is changed only under its lock. */
export type Live = {
  readonly id: string
  /** The tenant and agent of the session, and their memory. */
  owner: MemoryOwner
  /** Who begins the session, where somebody said so. */
  caller?: Caller
  memory: Memory
  readonly journal: Journal
  readonly options: HoldfastOptions
  readonly lock: Lock
  readonly emit: (event: NewEvent) => void
  readonly redact: <Data>(data: Data) => Data
  readonly store: Store
  /** The queue of background summaries, if there is a summarizer. */
  readonly queue: Queue | undefined
  readonly newId: () => string
  /** Run something after the call, under the lock; errors are reported and break nothing. */
  readonly later: (work: string, act: () => Promise<void>) => void
  /** Run something long without the lock; it takes the lock itself where it changes the session. */
  readonly beside: (work: string, act: () => Promise<void>) => void
  readonly meterFor: (model: string | undefined, format: Format) => Meter
  /** Decoded messages by entry: the same object from call to call, so that nothing is counted twice. */
  readonly messages: Map<number, Message>
  /** Rules of several sessions. */
  readonly shared: SharedRules
  /** The user's rules in the conversations that this one is part of. */
  inherited: () => Promise<readonly Pin[]>
  /** The shared rules of this session, as last read. */
  sharedPins: readonly Pin[]
  readonly rules: Map<number, Pin>
  /** Entries that withdrew rules: whether the user went back before the rule, and the message that withdrew it. */
  readonly unpinned: Map<number, { readonly rewound: boolean; readonly said: number | undefined }>
  /** Money spent by tool calls, by the log entries that record it. */
  readonly spent: Map<number, number>
  /** What all sessions of the store spend. */
  readonly spending: Spending
  /** Calls that were judged while streaming, and are not in the log yet. */
  readonly judged: JudgedCall[]
  ledger?:
    | { readonly of: readonly Pin[]; readonly pins: readonly StandingPin[]; readonly comparing: PinLedger }
    | undefined
  /** The current message of the conversation. */
  at: number
  /** The end of the log when `at` was read: later entries were written by others. */
  seen: number
  /** Whether `at` was read from the log. */
  opened: boolean
  /** Whether the infrastructure and the model calibrations were read from the log. */
  learned: boolean
  /** The session was deleted: nothing is written any more. */
  removed: boolean
  /** How often pending entries got new sequence numbers. */
  moves: number
  /** The last request of a client that sends its whole history, with entry ids. */
  client?: ModelRequest
  frame?: ModelRequest
  /** The frame made from the last call's options, before the prompt stack and the operator's rules were added. */
  bareFrame?: ModelRequest
  /** Hashes of the documents that opened the session, and of the infrastructure last seen. */
  documents: ReadonlySet<string>
  stack: string
  /** The prompt stack in force, the one that waits for the next compaction, and what was last reported about them. */
  promptStack?: StackInForce
  waitingStack?: WaitingStack
  toldStack?: string
  /** Times of the last calls in milliseconds; they tell how long a cache entry must last. */
  readonly callsMs: number[]
  readonly stacks: StackReader
  /** By branch entry: the message that the conversation had reached when its client rewrote the history; 0 for other branches. */
  readonly reached: Map<number, number>
  /** Recorded responses that the client has not sent back yet. */
  readonly unconfirmed: Set<number>
  readonly calibrations: Map<string, Calibration>
  /** Lengths of the latest responses by model, in the provider's tokens. */
  readonly answers: Map<string, readonly number[]>
  /** The last prepared request: its model, our token count, its content, and its last message. */
  sent?: {
    readonly at: number
    readonly model: string
    readonly tokens: number
    readonly system: ModelRequest["system"]
    readonly messages: Transcript
    readonly held: boolean
  }
  /** The newest response known to this process. */
  answered: Message | undefined
  breaker: Breaker
  /** The usage of summaries by the session's own model, and the next summary request, if one is due. */
  summaries: SummarySpending
  summaryDue?: SummaryDue
  /** After an undo, the view is not compacted again before it has to be. */
  undoneAt?: number
}
