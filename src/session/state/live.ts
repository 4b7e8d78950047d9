import type { Breaker } from "../../compact/plan/breaker.ts"
import type { JudgedCall } from "../../guard/judge-call.ts"
import { type Format, type Message, type ModelRequest, type Transcript, tokens } from "../../message/message.ts"
import type { Pin } from "../../rules/pin.ts"
import type { PinLedger, StandingPin } from "../../rules/pin-ledger.ts"
import { createLock, type Lock } from "../../store/pace.ts"
import type { Queue } from "../../store/queue/queue.ts"
import type { MemoryOwner, Store } from "../../store/store.ts"
import { type Calibration, calibrate, uncalibrated } from "../../tokens/calibrate.ts"
import type { Meter } from "../../tokens/meter.ts"
import type { Caller, EntryBody } from "../log/entry.ts"
import { createJournal, type Journal } from "../log/journal.ts"
import type { Outline } from "../log/outline.ts"
import { createRedactor, wellKnownSecrets } from "../log/redact.ts"
import type { Memory } from "../memory/memory.ts"
import { meterOf } from "../one-shot/plan-request.ts"
import type { StackInForce, StackReader, WaitingStack } from "../stack/stack-options.ts"
import type { NewEvent } from "./events.ts"
import type { HoldfastOptions } from "./options.ts"
import type { SharedRules } from "./shared-rules.ts"
import type { Spending } from "./spending.ts"

/** State shared by all sessions of one process. */
export type Shared = {
  readonly store: Store
  readonly memoryOf: (owner: MemoryOwner) => Memory
  /** The queue of background summaries, if there is a summarizer. */
  readonly queue: Queue | undefined
  readonly owner: MemoryOwner
  readonly options: HoldfastOptions
  readonly meters: Map<string, Meter>
  readonly emit: (session: string, event: NewEvent) => void
  readonly later: (session: string, work: string, act: () => Promise<void>) => void
  readonly newSecret: () => string
  readonly rules: SharedRules
  /** What all sessions of the store spend. */
  readonly spending: Spending
  readonly stacks: StackReader
}

const emptyList = <Item>(): Item[] => []

/** A session's caches of log entries, and its notes about recent calls. */
const emptyCaches = () => ({
  /** Decoded messages by entry: the same object from call to call, so that nothing is counted twice. */
  messages: new Map<number, Message>(),
  rules: new Map<number, Pin>(),
  /** Entries that withdrew rules: whether the user went back before the rule, and the message that withdrew it. */
  unpinned: new Map<number, { readonly rewound: boolean; readonly said: number | undefined }>(),
  /** Money spent by tool calls, by the log entries that record it. */
  spent: new Map<number, number>(),
  /** Calls that were judged while streaming, and are not in the log yet. */
  judged: emptyList<JudgedCall>(),
  /** Times of the last calls in milliseconds; they tell how long a cache entry must last. */
  callsMs: emptyList<number>(),
  /** By branch entry: the message that the conversation had reached when its client rewrote the history; 0 for other branches. */
  reached: new Map<number, number>(),
  /** Recorded responses that the client has not sent back yet. */
  unconfirmed: new Set<number>(),
  calibrations: new Map<string, Calibration>(),
  /** Lengths of the latest responses by model, in the provider's tokens. */
  answers: new Map<string, readonly number[]>(),
})

/** A session's state in this process. All of it can be rebuilt from the log; it is changed only under its lock. */
export type Live = Pick<Shared, "store" | "queue" | "options" | "spending" | "stacks"> &
  Readonly<ReturnType<typeof emptyCaches>> & {
    readonly id: string
    owner: MemoryOwner
    /** The program that creates the session, if known. */
    caller?: Caller
    memory: Memory
    readonly journal: Journal
    readonly lock: Lock
    readonly emit: (event: NewEvent) => void
    readonly redact: <Data>(data: Data) => Data
    readonly newId: () => string
    /** Runs something after the call, under the lock; errors are reported and break nothing. */
    readonly later: (work: string, act: () => Promise<void>) => void
    /** Runs something long without the lock; it takes the lock itself where it changes the session. */
    readonly beside: (work: string, act: () => Promise<void>) => void
    readonly meterFor: (model: string | undefined, format: Format) => Meter
    readonly shared: SharedRules
    /** Reads the user's rules in the conversations that this one is part of. */
    inherited: () => Promise<readonly Pin[]>
    /** The shared rules of this session, as last read. */
    sharedPins: readonly Pin[]
    ledger?:
      | { readonly of: readonly Pin[]; readonly pins: readonly StandingPin[]; readonly comparing: PinLedger }
      | undefined
    /** The current message of the conversation. */
    at: number
    /** The end of the log when `at` was read: later entries were written by others. */
    seen: number
    /** True if `at` was read from the log. */
    opened: boolean
    /** True if the infrastructure and the model calibrations were read from the log. */
    learned: boolean
    /** The session was deleted: nothing is written any more. */
    removed: boolean
    /** How often pending entries got new sequence numbers. */
    moves: number
    /** The last message that was flushed to memory by this process; the log notes only flushes with something to remember. */
    flushed: number
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

/** The number and token usage of summary requests to a session's own model. */
export type SummarySpending = {
  /** Tokens of the one that is due, or was requested last, by our count; nearly all are in the provider's cache. */
  readonly expectedTokens?: number
  readonly asked: number
  /** The sum of what the provider reported. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly outputTokens: number
}

/** A summary that is due: its request continues the one that was sent last. */
export type SummaryDue = {
  readonly key: string
  readonly format: Format
  readonly wire: string
  readonly model: string | undefined
  readonly contextTokens: number
  readonly conversation: Transcript
}

const noSpending: SummarySpending = { asked: 0, inputTokens: 0, cacheReadTokens: 0, outputTokens: 0 }

/** Default limit on entries in memory while the store is unavailable: a long day's work of one agent. */
const defaultUnsaved = 10_000
/** Number of recent usage reports used to calibrate token counts. */
const usageReports = 8

/** A session's state in this process. The log is read at first use. */
export function openLive(shared: Shared, id: string, owner: MemoryOwner): Live {
  const { store, queue, options, spending, stacks } = shared
  const redact = redactorOf(options)
  const opening = (): EntryBody => ({
    type: "session-opened",
    agent: live.owner.agent,
    secret: shared.newSecret(),
    ...live.caller,
  })
  const lock = createLock()
  const live: Live = {
    id,
    owner,
    memory: shared.memoryOf(owner),
    ...{ store, queue, options, spending, stacks },
    lock,
    redact,
    newId: shared.newSecret,
    emit: (event) => shared.emit(id, event),
    later: (work, act) => shared.later(id, work, () => lock(() => (live.removed ? Promise.resolve() : act()))),
    beside: (work, act) => shared.later(id, work, act),
    meterFor: (model, format) => {
      const name = `${format} ${model ?? ""}`
      const known = shared.meters.get(name) ?? meterOf(model, format)
      shared.meters.set(name, known)
      return known
    },
    journal: createJournal({
      store,
      session: id,
      owner: () => live.owner,
      now: options.now ?? Date.now,
      opening,
      redact,
      maxUnsaved: options.unsavedEntries ?? defaultUnsaved,
      follows: () => live.client === undefined,
      onMoved: (places) => onEntriesMoved(live, places),
    }),
    shared: shared.rules,
    inherited: async () => [],
    sharedPins: [],
    ...emptyCaches(),
    at: 0,
    seen: 0,
    opened: false,
    learned: false,
    removed: false,
    moves: 0,
    flushed: 0,
    documents: new Set(),
    stack: "",
    answered: undefined,
    breaker: {},
    summaries: noSpending,
  }
  return live
}

/** Sets the owner of a session that was opened without one. */
export function setOwner(shared: Shared, live: Live, owner: MemoryOwner): void {
  if (live.owner.tenant === owner.tenant && live.owner.agent === owner.agent) return
  live.owner = owner
  live.memory = shared.memoryOf(owner)
}

export const redactorOf = ({ redact = [] }: HoldfastOptions): Live["redact"] =>
  createRedactor(
    redact.flatMap((rule) =>
      rule === "defaults" ? wellKnownSecrets : rule instanceof RegExp ? { pattern: rule } : rule,
    ),
  )

/** Updates references after entries got new sequence numbers, and drops caches that used the old ones. */
function onEntriesMoved(live: Live, places: ReadonlyMap<number, number>): void {
  const outline = live.journal.outline()
  const at = places.get(live.at) ?? live.at
  live.at = outline.node(at) === undefined ? outline.tip() : at
  if (live.sent !== undefined) live.sent = { ...live.sent, at: places.get(live.sent.at) ?? live.sent.at }
  live.messages.clear()
  live.rules.clear()
  live.unpinned.clear()
  live.spent.clear()
  live.reached.clear()
  const unconfirmed = [...live.unconfirmed].map((seq) => places.get(seq) ?? seq)
  live.unconfirmed.clear()
  for (const seq of unconfirmed) live.unconfirmed.add(seq)
  live.learned = false
  live.flushed = 0
  live.moves += 1
}

/** Reads the session's state from the log: its current message, infrastructure, and model calibrations. */
export async function loadSession(live: Live): Promise<void> {
  await live.journal.refresh()
  const outline = live.journal.outline()
  // A client that sends its whole history may have continued in another process.
  const isElsewhere = live.client !== undefined && outline.tip() !== live.seen
  live.at = isElsewhere ? outline.tip() : nextParent(live, outline)
  live.seen = outline.tip()
  if (live.learned) return
  const stack = outline.ofType("stack-seen").at(-1)
  const reports = outline.ofType("usage-reported").slice(-usageReports)
  const undone = outline.ofType("checkpoint-undone").at(-1)
  const entries = await live.journal.entries([...(stack === undefined ? [] : [stack]), ...reports])
  live.calibrations.clear()
  live.answers.clear()
  for (const { body } of entries.values()) {
    if (body.type === "stack-seen") {
      live.stack = body.hash
      live.documents = new Set(body.documents)
    } else if (body.type === "usage-reported") learnFromUsage(live, body)
  }
  if (undone !== undefined && undone > (outline.ofType("checkpoint-installed").at(-1) ?? 0)) live.undoneAt = undone
  live.opened = true
  live.learned = true
}

/** The parent of the next message: the one that the client returned to, or what others appended to it meanwhile. */
export function nextParent({ at, seen, opened }: Live, outline: Outline): number {
  const tip = outline.tip()
  const isKnown = opened && (at === 0 || outline.node(at) !== undefined)
  return isKnown && (tip === seen || outline.path(tip, at) === undefined) ? at : tip
}

/** Learns from a usage report: how far our token count was off, and how long the response was. */
export function learnFromUsage(
  { calibrations, answers }: Live,
  { model, estimatedTokens, usage }: Extract<EntryBody, { type: "usage-reported" }>,
): void {
  if (estimatedTokens === 0) return
  const sample = { estimated: tokens(estimatedTokens), reported: usage.inputTokens }
  // Keep only the ratio: counts of a prefix are invalid once it is rewritten.
  const { ratio } = calibrate(calibrations.get(model) ?? uncalibrated, sample)
  calibrations.set(model, { ratio })
  if (usage.outputTokens > 0)
    answers.set(model, [...(answers.get(model) ?? []), usage.outputTokens].slice(-usageReports))
}
