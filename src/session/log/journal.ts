import { HoldfastError, type Problem, problemOrThrow } from "../../message/errors.ts"
import { namesIn, present } from "../../message/present.ts"
import { runPaced } from "../../store/pace.ts"
import { payloadsOf } from "../../store/reserved-log.ts"
import type { Head, MemoryOwner, SessionId, Store, StoredEntry } from "../../store/store.ts"
import { type ChainedEntries, chainEntries, readBody } from "./chain.ts"
import type { Entry, EntryBody, EntryType } from "./entry.ts"
import type { LogEvent } from "./event.ts"
import { createOutline, type Outline, rebase, type UnsavedEntry } from "./outline.ts"

/** The result of a write. `durable` means that the store has the entries; otherwise they are in memory, and `problem` says why. */
export type CommitResult = {
  readonly entries: readonly Entry[]
  readonly durable: boolean
  readonly problem?: Problem | undefined
}

/**
 * Returns the entries to write, given the current log; the first one gets the sequence number `next`. It may run in slices, and is called
 * again if others wrote meanwhile.
 */
type Write = (outline: Outline, next: number) => readonly EntryBody[] | Promise<readonly EntryBody[]>

export type Journal = ReturnType<typeof createJournal>

type JournalOptions = {
  readonly store: Store
  readonly session: SessionId
  /** The tenant and agent, for the store's list of sessions. */
  readonly owner: () => MemoryOwner
  readonly now: () => number
  readonly opening: () => EntryBody
  /** True if pending messages go after what others wrote meanwhile. */
  readonly follows: () => boolean
  readonly redact: <Data>(data: Data) => Data
  /** Limit on entries kept in memory while the store is unavailable; above it, writes throw. */
  readonly maxUnsaved: number
  /** Called when pending entries got new sequence numbers, by the map. Entries that are neither in the map nor in the log are gone. */
  readonly onMoved: (places: ReadonlyMap<number, number>) => void
}

/** Limit on lost write races in a row; more than that is a bug. */
const maxRaces = 50
/** Page size for reading a log's outline. */
const outlinePage = 20_000

/**
 * A session's log, as far as this process knows it. If another process wrote first, its entries are read and `write` is called again. If
 * the store fails, entries are kept in memory and written as soon as possible.
 *
 * `refresh` reads what others wrote; until the log was read (`isKnown`), only entries written here are known. `isSaved`: the store has the
 * entry. `problem` is that of the last read or write: without one, this process knows the whole log. `takeEvents` gives the durability
 * events since the last call, and `release` drops all cached bodies but those that are kept; they can be read again.
 */
export function createJournal(options: JournalOptions) {
  const { store, session } = options
  const backlog = createBacklog(store, session, options.owner)
  const bodies = createBodies(store, session)
  let outline = createOutline()
  const events: LogEvent[] = []
  let begun = false
  const { track, problem } = createProblemNotes()

  const refresh = async (): Promise<void> => {
    if (backlog.size() > 0) return
    const advance = (): void => (backlog.size() > 0 ? undefined : backlog.advance(outline.head()))
    const read = await track(() => readOutline(options, outline)).finally(advance)
    if (read === "another-log") await startOver().then(() => options.onMoved(new Map()))
    begun = true
  }

  /** Others wrote while the store was unavailable: their log stays, and the pending entries must be written after it. */
  const startOver = async (): Promise<readonly UnsavedEntry[]> => {
    const { fresh, there } = await readAgain(options, backlog)
    // Drop the old state only after everything was read.
    const withdrawn = backlog.withdraw()
    bodies.release(() => false)
    outline = fresh
    backlog.advance(fresh.head())
    begun = true
    return unsavedIn(withdrawn, there, session)
  }

  /** Synchronize with the store; returns the entries that must be written again. */
  const synchronize = async (): Promise<readonly UnsavedEntry[]> => {
    if (!begun) await refresh()
    const waiting = backlog.size()
    if (waiting === 0) return []
    const again = await track(async () => ((await backlog.save()) === "conflict" ? await startOver() : []))
    events.push({ type: "durability-restored", saved: waiting })
    return again
  }

  const write: CommitDeps["write"] = async (written, away) => {
    const chaining = chainBehind(() => outline, written, options)
    const chained = chaining instanceof Promise ? await chaining : chaining
    if (chained === undefined) return undefined
    backlog.add(chained.entries, chained.payloads)
    const saving = away === undefined ? await attempt(() => track(backlog.save)) : { problem: away, value: undefined }
    if (saving.value === "conflict") {
      backlog.withdraw()
      return attempt(refresh).then(() => undefined)
    }
    const { problem: failed } = saving
    if (failed !== undefined) events.push({ type: "durability-degraded", problem: failed, unsaved: backlog.size() })
    const entries = entriesOf(chained.entries, written)
    outline.extend(chained.entries)
    bodies.keep(entries)
    return { entries, durable: failed === undefined, problem: failed }
  }

  return {
    outline: () => outline,
    refresh,
    commit: (ask: Write) => commitTo({ outline: () => outline, backlog, synchronize, write, options }, ask),
    ...readsOf(() => outline, bodies.read),
    isDurable: () => backlog.size() === 0,
    isSaved: (seq: number) => seq <= backlog.saved().seq,
    problem,
    isKnown: () => begun,
    takeEvents: (): readonly LogEvent[] => events.splice(0),
    release: (isKept: (seq: number) => boolean) => bodies.release((seq) => isKept(seq) || seq > backlog.saved().seq),
  }
}

/** Chains bodies to the end of a log, in slices; undefined if another write happened in between. */
function chainBehind(
  outline: () => Outline,
  bodies: readonly EntryBody[],
  { redact, now }: JournalOptions,
): ChainedEntries | Promise<ChainedEntries | undefined> {
  const head = outline().head()
  const chaining = runPaced(chainEntries(head, bodies, now(), redact))
  if (!(chaining instanceof Promise)) return chaining
  return chaining.then((chained) => (outline().head().hash === head.hash ? chained : undefined))
}

/** Remembers the problem of the last operation. */
function createProblemNotes() {
  let lastProblem: Problem | undefined
  return {
    problem: () => lastProblem,
    track: async <Value>(act: () => Promise<Value>): Promise<Value> => {
      try {
        const value = await act()
        lastProblem = undefined
        return value
      } catch (error) {
        if (error instanceof HoldfastError) lastProblem = error.problem
        throw error
      }
    },
  }
}

/** The log's outline, and the backlog entries that it has already, because a write succeeded and its reply was lost. */
async function readAgain(
  options: JournalOptions,
  backlog: Backlog,
): Promise<{ readonly fresh: Outline; readonly there: ReadonlySet<string> }> {
  const fresh = createOutline()
  await readOutline(options, fresh)
  const waiting = { from: backlog.saved().seq + 1, limit: backlog.size() }
  const stored = waiting.limit === 0 ? [] : await options.store.outline(options.session, waiting)
  return { fresh, there: new Set(stored.map(({ hash }) => hash)) }
}

const unsavedIn = (
  { entries, payloads }: ChainedEntries,
  there: ReadonlySet<string>,
  session: SessionId,
): readonly UnsavedEntry[] =>
  entries
    .filter(({ hash }) => !there.has(hash))
    .map((entry) => ({ seq: entry.seq, body: readBody(entry, payloads, session) }))

/** Reads the outline from the last known entry on; that entry shows whether it is still the same log. */
async function readOutline({ store, session }: JournalOptions, outline: Outline): Promise<"same-log" | "another-log"> {
  for (;;) {
    const { seq, hash } = outline.head()
    const page = await store.outline(session, { from: Math.max(1, seq), limit: outlinePage })
    if (seq > 0 && page[0]?.hash !== hash) return "another-log"
    outline.extend(seq > 0 ? page.slice(1) : page)
    if (page.length < outlinePage) return "same-log"
  }
}

type CommitDeps = {
  readonly outline: () => Outline
  readonly backlog: Backlog
  readonly synchronize: () => Promise<readonly UnsavedEntry[]>
  /** Writes these bodies; undefined if another process was faster, and then its entries have been read. */
  readonly write: (written: readonly EntryBody[], away: Problem | undefined) => Promise<CommitResult | undefined>
  readonly options: JournalOptions
}

async function commitTo(
  { outline, backlog, synchronize, write, options }: CommitDeps,
  ask: Write,
): Promise<CommitResult> {
  let unsavedEntries: readonly UnsavedEntry[] = []
  let moved = false
  for (let race = 0; race < maxRaces; race++) {
    const synced = await attempt(synchronize)
    unsavedEntries = [...unsavedEntries, ...(synced.value ?? [])]
    let away = synced.problem
    if (unsavedEntries.length > 0) {
      const { bodies: again, places } = rebase(unsavedEntries, outline(), options)
      const rewritten = again.length === 0 ? undefined : await write(again, away)
      if (again.length > 0 && rewritten === undefined) continue
      options.onMoved(places)
      moved = true
      unsavedEntries = []
      away ??= rewritten?.problem
    }
    const { seq: head, hash } = outline().head()
    const asking = ask(outline(), head + (head === 0 ? 2 : 1))
    const answer = asking instanceof Promise ? await asking : asking
    // Others wrote while the entries were computed.
    if (outline().head().hash !== hash) continue
    const asked = answer.filter(({ type }) => !moved || withoutReferences.has(type))
    if (asked.length === 0) return { entries: [], durable: backlog.size() === 0, ...present({ problem: away }) }
    if (away !== undefined && backlog.size() + asked.length > options.maxUnsaved) throw new HoldfastError(away)
    const committed = await write(head === 0 ? [options.opening(), ...asked] : asked, away)
    if (committed !== undefined) return committed
  }
  throw new HoldfastError({ code: "store-locked", store: options.store.kind, waitedMs: 0 })
}

/** Types of entries that stay valid once entries have moved. The others refer to entries by sequence numbers that are then invalid. */
const withoutReferences: ReadonlySet<EntryBody["type"]> = new Set(
  namesIn(
    "session-opened message-appended branch-opened stack-seen stack-installed rule-pinned usage-reported calls-judged",
  ),
)

/** The written entries with their original bodies, before redaction. */
const entriesOf = (stored: readonly StoredEntry[], written: readonly EntryBody[]): readonly Entry[] =>
  stored.flatMap(({ seq, hash, atMs }, n) => {
    const body = written[n]
    return body === undefined ? [] : [{ seq, hash, atMs, body }]
  })

type BodyOf<Type extends EntryType> = Extract<EntryBody, { type: Type }>
type EntryOf<Type extends EntryType> = Entry & { readonly body: BodyOf<Type> }

function readsOf(outline: () => Outline, entries: (seqs: readonly number[]) => Promise<ReadonlyMap<number, Entry>>) {
  /** Entries of one type: these, or all of the log. */
  const ofType = async <Type extends EntryType>(
    type: Type,
    seqs: readonly number[] = outline().ofType(type),
  ): Promise<readonly EntryOf<Type>[]> =>
    seqs.length === 0 ? [] : [...(await entries(seqs)).values()].filter((entry) => isOfType(entry, type))
  return {
    entries,
    ofType,
    /** Converts each entry of a type once, because entries never change; `made` caches the results by entry. */
    each: async <Type extends EntryType, Made>(
      type: Type,
      make: (body: BodyOf<Type>, seq: number) => Made,
      made: Map<number, Made>,
    ): Promise<readonly Made[]> => {
      const seqs = outline().ofType(type)
      const missing = seqs.filter((seq) => !made.has(seq))
      for (const { seq, body } of await ofType(type, missing)) made.set(seq, make(body, seq))
      return seqs.flatMap((seq) => made.get(seq) ?? [])
    },
  }
}
const isOfType = <Type extends EntryType>(entry: Entry, type: Type): entry is EntryOf<Type> => entry.body.type === type

/** The result, or the store's Problem. Any other error is a bug and is thrown. */
async function attempt<Value>(
  act: () => Promise<Value>,
): Promise<{ readonly value?: Value; readonly problem?: Problem }> {
  try {
    return { value: await act() }
  } catch (error) {
    return { problem: problemOrThrow(error) }
  }
}

/** Cached entries, and access to the others in the store. */
function createBodies(store: Store, session: SessionId) {
  const known = new Map<number, Entry>()
  const fetch = async (seqs: readonly number[]): Promise<void> => {
    const stored = await store.readEntries(session, seqs)
    const names = new Set(stored.flatMap(({ body }) => payloadsOf(body)))
    const texts = names.size === 0 ? new Map<string, string>() : await store.payloads(session, [...names])
    for (const entry of stored) {
      const { seq, hash, atMs } = entry
      known.set(seq, { seq, hash, atMs, body: readBody(entry, texts, session) })
    }
  }
  return {
    keep: (entries: readonly Entry[]): void => {
      for (const entry of entries) known.set(entry.seq, entry)
    },
    /** Entries by sequence number; those that are not cached are read from the store. */
    read: async (seqs: readonly number[]): Promise<ReadonlyMap<number, Entry>> => {
      const missing = seqs.filter((seq) => !known.has(seq))
      if (missing.length > 0) await fetch(missing)
      return new Map(seqs.flatMap((seq) => known.get(seq) ?? []).map((entry) => [entry.seq, entry]))
    },
    /** Drops all except these. */
    release: (isKept: (seq: number) => boolean): void => {
      for (const seq of known.keys()) if (!isKept(seq)) known.delete(seq)
    },
  }
}

type Backlog = ReturnType<typeof createBacklog>

/** Limit on entries saved in one transaction: an embedded store blocks its process while it writes. A save continues with the rest. */
const savedAtOnce = 1000

function payloadsIn(entries: readonly StoredEntry[], payloads: ReadonlyMap<string, string>) {
  const named = new Set(entries.flatMap(({ body }) => payloadsOf(body)))
  return new Map([...payloads].filter(([hash]) => named.has(hash)))
}

/** Entries that the store does not have yet, in order. */
function createBacklog(store: Store, session: SessionId, owner: () => MemoryOwner) {
  let saved: Head = { seq: 0, hash: "" }
  let entries: readonly StoredEntry[] = []
  let payloads: ReadonlyMap<string, string> = new Map()

  /** Notes that the store has everything up to here. */
  const advance = (head: Head): void => {
    saved = head
    entries = entries.filter(({ seq }) => seq > head.seq)
    if (entries.length === 0) payloads = new Map()
  }
  /** Writes all entries. `conflict` if another process wrote in their place; if the store fails, the backlog stays unchanged. */
  const save = async (upTo = entries.at(-1)?.seq ?? 0): Promise<"saved" | "conflict"> => {
    const part = entries.filter(({ seq }) => seq <= upTo).slice(0, savedAtOnce)
    const last = part.at(-1)
    if (last === undefined) return "saved"
    const texts = part.length === entries.length ? payloads : payloadsIn(part, payloads)
    const written = await store.append(session, { after: saved.seq, entries: part, payloads: texts, ...owner() })
    if (written.type === "appended") {
      advance({ seq: last.seq, hash: last.hash })
      return save(upTo)
    }
    // Another process recorded the same message: match ours to it.
    if (written.type === "duplicate") return "conflict"
    // If the store's last entry is one of ours, an earlier write succeeded but its reply was lost.
    const { head } = written
    if (!entries.some(({ seq, hash }) => seq === head.seq && hash === head.hash)) return "conflict"
    advance(head)
    return save(upTo)
  }
  return {
    size: (): number => entries.length,
    saved: (): Head => saved,
    advance,
    add: (more: readonly StoredEntry[], texts: ReadonlyMap<string, string>): void => {
      entries = [...entries, ...more]
      payloads = new Map([...payloads, ...texts])
    },
    save: () => save(),
    /** Removes all entries, to be written differently. */
    withdraw: (): ChainedEntries => {
      const withdrawn = { entries, payloads }
      entries = []
      payloads = new Map()
      return withdrawn
    },
  }
}
