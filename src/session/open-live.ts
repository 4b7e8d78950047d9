import { tokens } from "../message/message.ts"
import type { Queue } from "../store/queue/queue.ts"
import type { MemoryOwner, Store } from "../store/store.ts"
import { calibrate, uncalibrated } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import type { NewEvent } from "./events.ts"
import { placeToGoOn } from "./ingest.ts"
import { createJournal } from "./journal.ts"
import { createLock, type Live } from "./live.ts"
import type { EntryBody } from "./log/entry.ts"
import { createRedactor } from "./log/redact.ts"
import type { Memory } from "./memory/memory.ts"
import { meterOf } from "./one-shot/meter-for.ts"
import type { HoldfastOptions } from "./options.ts"
import { noSpending } from "./session-summary.ts"
import type { SharedRules } from "./shared-rules.ts"
import type { StackReader } from "./stack/stack-options.ts"

/** What sessions of one process share. */
export type Shared = {
  readonly store: Store
  readonly memoryOf: (owner: MemoryOwner) => Memory
  readonly queue: Queue | undefined
  /** Whose sessions are that were opened without saying whose. */
  readonly owner: MemoryOwner
  readonly options: HoldfastOptions
  readonly meters: Map<string, Meter>
  readonly emit: (session: string, event: NewEvent) => void
  readonly later: (session: string, work: string, act: () => Promise<void>) => void
  readonly newSecret: () => string
  readonly rules: SharedRules
  readonly stacks: StackReader
}

/** While the store is away: so many entries are a long day's work of one agent. */
const usualUnsaved = 10_000
/** The newest reports of usage tell how far counts are off. */
const usageReports = 8

/** A session as this process holds it. What the log says of it is read at its first use. */
export function openLive(shared: Shared, id: string, owner: MemoryOwner): Live {
  const { store, queue, options } = shared
  const redact = redactorOf(options)
  const opening = (): EntryBody => ({ type: "session-opened", agent: live.owner.agent, secret: shared.newSecret() })
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
      onMoved: (places) => follow(live, places),
    }),
    messages: new Map(),
    shared: shared.rules,
    sharedPins: [],
    rules: new Map(),
    unpinned: new Map(),
    spent: new Map(),
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

/** Say whose a session is that was opened without knowing it. */
export function setOwner(shared: Shared, live: Live, owner: MemoryOwner): void {
  if (live.owner.tenant === owner.tenant && live.owner.agent === owner.agent) return
  live.owner = owner
  live.memory = shared.memoryOf(owner)
}

/** Fewer answers say little about the next. */
const tellingAnswers = 3

/** The longest of the newest answers, once there are enough to go by. */
export function longestAnswer({ answers }: Live, model: string): number | undefined {
  const lengths = answers.get(model) ?? []
  return lengths.length < tellingAnswers ? undefined : Math.max(...lengths)
}

/** What must never be written, as the options have it. */
export const redactorOf = ({ redact = [] }: HoldfastOptions): Live["redact"] =>
  createRedactor(redact.map((rule) => (rule instanceof RegExp ? { pattern: rule } : rule)))

/** Entries have other places now: go by those, and read again what went by the old ones. */
function follow(live: Live, places: ReadonlyMap<number, number>): void {
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

/** Take from the log what a session goes on from: where it is, what stands, and what was learned of its models. */
export async function wake(live: Live): Promise<void> {
  await live.journal.refresh()
  const outline = live.journal.outline()
  // A client that sends its whole history goes on where it went on last, in whichever process that was.
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

/** How far our count of a request was from what the provider reported, and how long its answer was. */
export function learnFromUsage(
  { calibrations, answers }: Live,
  { model, estimatedTokens, usage }: Extract<EntryBody, { type: "usage-reported" }>,
): void {
  const sample = { estimated: tokens(estimatedTokens), reported: usage.inputTokens }
  // What one prefix took is void once it is rewritten; the ratio is not.
  const { ratio } = calibrate(calibrations.get(model) ?? uncalibrated, sample)
  calibrations.set(model, { ratio })
  if (usage.outputTokens > 0)
    answers.set(model, [...(answers.get(model) ?? []), usage.outputTokens].slice(-usageReports))
}
