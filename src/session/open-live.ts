import { tokens } from "../message/message.ts"
import { createLock } from "../store/pace.ts"
import type { Queue } from "../store/queue/queue.ts"
import type { MemoryOwner, Store } from "../store/store.ts"
import { calibrate, uncalibrated } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import type { NewEvent } from "./events.ts"
import { placeToGoOn } from "./ingest.ts"
import { createJournal } from "./journal.ts"
import type { Live } from "./live.ts"
import type { EntryBody } from "./log/entry.ts"
import { createRedactor, wellKnownSecrets } from "./log/redact.ts"
import type { Memory } from "./memory/memory.ts"
import { meterOf } from "./one-shot/plan-request.ts"
import type { HoldfastOptions } from "./options.ts"
import { noSpending } from "./session-summary.ts"
import type { SharedRules } from "./shared-rules.ts"
import type { Spending } from "./spending.ts"
import type { StackReader } from "./stack/stack-options.ts"

/** State shared by all sessions of one process. */
export type Shared = {
  readonly store: Store
  readonly memoryOf: (owner: MemoryOwner) => Memory
  readonly queue: Queue | undefined
  /** The default owner of sessions. */
  readonly owner: MemoryOwner
  readonly options: HoldfastOptions
  readonly meters: Map<string, Meter>
  readonly emit: (session: string, event: NewEvent) => void
  readonly later: (session: string, work: string, act: () => Promise<void>) => void
  readonly newSecret: () => string
  readonly rules: SharedRules
  readonly spending: Spending
  readonly stacks: StackReader
}

/** Limit on entries in memory while the store is unavailable: a long day's work of one agent. */
const usualUnsaved = 10_000
/** Number of recent usage reports used to calibrate token counts. */
const usageReports = 8

/** A session's state in this process. The log is read at first use. */
export function openLive(shared: Shared, id: string, owner: MemoryOwner): Live {
  const { store, queue, options } = shared
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
    store,
    queue,
    options,
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
      maxUnsaved: options.unsavedEntries ?? usualUnsaved,
      follows: () => live.client === undefined,
      onMoved: (places) => onEntriesMoved(live, places),
    }),
    messages: new Map(),
    shared: shared.rules,
    inherited: async () => [],
    sharedPins: [],
    rules: new Map(),
    unpinned: new Map(),
    spent: new Map(),
    spending: shared.spending,
    judged: [],
    at: 0,
    seen: 0,
    opened: false,
    learned: false,
    removed: false,
    moves: 0,
    documents: new Set(),
    stack: "",
    callsMs: [],
    stacks: shared.stacks,
    reached: new Map(),
    unconfirmed: new Set(),
    calibrations: new Map(),
    answers: new Map(),
    answered: undefined,
    breaker: {},
    summaries: noSpending,
  }
  return live
}

/** Set the owner of a session that was opened without one. */
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

/** Entries got new sequence numbers: update references, and drop caches that used the old ones. */
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
  live.moves += 1
}

/** Read the session's state from the log: its current message, infrastructure, and model calibrations. */
export async function loadSession(live: Live): Promise<void> {
  await live.journal.refresh()
  const outline = live.journal.outline()
  // A client that sends its whole history may have continued in another process.
  const isElsewhere = live.client !== undefined && outline.tip() !== live.seen
  live.at = isElsewhere ? outline.tip() : placeToGoOn(live, outline)
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

/** Learn from a usage report: how far our token count was off, and how long the response was. */
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
