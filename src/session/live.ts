import type { Breaker } from "../compact/plan/breaker.ts"
import type { JudgedCall } from "../guard/judge-call.ts"
import type { Format, Message, ModelRequest, Transcript } from "../message/message.ts"
import type { Pin } from "../rules/pin.ts"
import type { PinLedger, StandingPin } from "../rules/pin-ledger.ts"
import type { Queue } from "../store/queue/queue.ts"
import type { MemoryOwner, Store } from "../store/store.ts"
import type { Calibration } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import type { NewEvent } from "./events.ts"
import type { Journal } from "./journal.ts"
import type { Memory } from "./memory/memory.ts"
import type { HoldfastOptions } from "./options.ts"
import type { StackInForce, WaitingStack } from "./session-stack.ts"
import type { SummaryDue, SummarySpending } from "./session-summary.ts"
import type { SharedRules } from "./shared-rules.ts"
import type { StackReader } from "./stack/stack-options.ts"

/** What one process holds of a session that is in use. All of it can be had again from the log; only one thing at a time changes it. */
export type Live = {
  readonly id: string
  /** The tenant and the agent that it belongs to, and their memory. */
  owner: MemoryOwner
  memory: Memory
  readonly journal: Journal
  readonly options: HoldfastOptions
  readonly lock: Lock
  readonly emit: (event: NewEvent) => void
  readonly redact: <Data>(data: Data) => Data
  readonly store: Store
  /** Where background summaries are made, if someone is there to write them. */
  readonly queue: Queue | undefined
  /** A name that nobody has thought of before. */
  readonly newId: () => string
  /** Do something once the call is over; what goes wrong in it is told, and breaks nothing. */
  readonly later: (work: string, act: () => Promise<void>) => void
  /** Do something that takes long beside the session; it takes the lock itself where it changes anything. */
  readonly beside: (work: string, act: () => Promise<void>) => void
  readonly meterFor: (model: string | undefined, format: Format) => Meter
  /** Messages as they were read, by entry: the same object from call to call, so that nothing is counted twice. */
  readonly messages: Map<number, Message>
  /** Rules that hold in other sessions too. */
  readonly shared: SharedRules
  /** Those of them that hold in this one, as they were last read. */
  sharedPins: readonly Pin[]
  /** Rules by the entries that pinned them, and how they stand to one another. */
  readonly rules: Map<number, Pin>
  /** Entries that took rules back: whether the user went back behind them, and the message that said so. */
  readonly unpinned: Map<number, { readonly rewound: boolean; readonly said: number | undefined }>
  /** What was spent with the calls of an answer, by the entries that say so. */
  readonly spent: Map<number, number>
  /** Calls that were judged as they streamed in, and are still to be written down. */
  readonly judged: JudgedCall[]
  ledger?: { readonly of: readonly Pin[]; readonly pins: readonly StandingPin[]; readonly comparing: PinLedger }
  /** The message that the conversation is at. */
  at: number
  /** Where the log ended when `at` was taken: what stands behind that was written by others since. */
  seen: number
  /** Whether `at` was taken from the log. */
  opened: boolean
  /** Whether what stands and what was learned of its models were taken from the log. */
  learned: boolean
  /** It was deleted: nothing is written of it any more. */
  removed: boolean
  /** How often entries that waited for the store had to be written in other places. */
  moves: number
  /** The last request of a client that sends its whole history, under our ids. */
  client?: ModelRequest
  /** What the last call was written in. */
  frame?: ModelRequest
  /** Documents that opened the session, by hash, and the hash of the stack that was last seen. */
  documents: ReadonlySet<string>
  stack: string
  /** The prompt stack that is sent, the one that waits for the next compaction, and what was told of either. */
  promptStack?: StackInForce
  waitingStack?: WaitingStack
  toldStack?: string
  /** When the last calls were made, in milliseconds: tells how long a cache has to last. */
  readonly callsMs: number[]
  readonly stacks: StackReader
  /** Messages that the conversation had reached where its client wrote the history anew, by the entry that says so; 0 for other ways. */
  readonly reached: Map<number, number>
  /** Answers that were recorded and not sent back by the client yet. */
  readonly unconfirmed: Set<number>
  readonly calibrations: Map<string, Calibration>
  /** How long the newest answers were, by model, in the provider's tokens. */
  readonly answers: Map<string, readonly number[]>
  /** The last request that was prepared: for whom, what it takes by our count, what is in it, and the message that it ends with. */
  sent?: {
    readonly at: number
    readonly model: string
    readonly tokens: number
    readonly system: ModelRequest["system"]
    readonly messages: Transcript
    readonly held: boolean
  }
  /** The key of the newest answer that this process knows of. */
  answered: string | undefined
  breaker: Breaker
  /** What its own model was asked for summaries, and the next question, where one is due. */
  summaries: SummarySpending
  summaryDue?: SummaryDue
  /** A compaction that someone took back is not made again before it has to be. */
  undoneAt?: number
}

/** Runs one thing at a time, in the order in which they were asked for. */
type Lock = <Value>(act: () => Promise<Value>) => Promise<Value>

export function createLock(): Lock {
  let last: Promise<unknown> = Promise.resolve()
  return (act) => {
    const run = last.then(act, act)
    last = run.catch(() => undefined)
    return run
  }
}
