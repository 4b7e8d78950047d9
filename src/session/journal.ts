import { HoldfastError, type Problem } from "../message/errors.ts"
import { present } from "../message/present.ts"
import { createPace } from "../store/pace.ts"
import type { Head, MemoryOwner, SessionId, Store, StoredEntry } from "../store/store.ts"
import { chainEntries, payloadsOf, readBody } from "./log/chain.ts"
import type { Entry, EntryBody } from "./log/entry.ts"
import type { LogEvent } from "./log/event.ts"
import { createOutline, type Outline } from "./log/outline.ts"

/** How a writing went. `durable` means that the store has it; otherwise it is in memory, and `problem` says why. */
export type Committed = { readonly entries: readonly Entry[]; readonly durable: boolean; readonly problem?: Problem }

/** Says what is to be written, given the log as it is; the first of it will have the place `next`. */
type Write = (outline: Outline, next: number) => readonly EntryBody[]

/**
 * A session's log, as far as this process knows it. If someone else wrote first, what they wrote is taken in and the writing is asked
 * for again; if the store fails, it is kept in memory and written as soon as that is possible.
 */
export type Journal = {
  readonly outline: () => Outline
  /** Take in what others wrote. */
  readonly refresh: () => Promise<void>
  readonly commit: (write: Write) => Promise<Committed>
  readonly entries: (seqs: readonly number[]) => Promise<ReadonlyMap<number, Entry>>
  readonly isDurable: () => boolean
  /** Does the store have this entry? */
  readonly isSaved: (seq: number) => boolean
  /** Why the store could not be read or written when it was last tried. Without a problem, what is known here is the whole log. */
  readonly problem: () => Problem | undefined
  /** Was the log ever read? Before that, what is known of it is only what was written here. */
  readonly isKnown: () => boolean
  /** What happened to durability since someone asked last. */
  readonly takeEvents: () => readonly LogEvent[]
  /** Let go of all bodies but these: they can be read again. */
  readonly release: (isKept: (seq: number) => boolean) => void
}

type JournalOptions = {
  readonly store: Store
  readonly session: SessionId
  /** Whose log it is, for the store's list of sessions. */
  readonly owner: () => MemoryOwner
  readonly now: () => number
  readonly opening: () => EntryBody
  /** Do messages that waited go behind what others wrote meanwhile? */
  readonly follows: () => boolean
  readonly redact: <Data>(data: Data) => Data
  /** So many entries may wait in memory while the store is away; after that the caller hears of it. */
  readonly maxUnsaved: number
  /** What was written here has other places now, as the map says; what it does not name, and is not in the log, is gone. */
  readonly onMoved: (places: ReadonlyMap<number, number>) => void
}

/** Someone else wins a race now and then; this often in a row is no race any more. */
const maxRaces = 50
/** Of a log's shape so much is read at once. */
const outlinePage = 20_000

export function createJournal(options: JournalOptions): Journal {
  const { store, session } = options
  const backlog = createBacklog(store, session, options.owner)
  const bodies = createBodies(store, session)
  let outline = createOutline()
  const events: LogEvent[] = []
  let begun = false
  const { noting, problem } = createTrouble()

  const refresh = async (): Promise<void> => {
    if (backlog.size() > 0) return
    const advance = (): void => (backlog.size() > 0 ? undefined : backlog.advance(outline.head()))
    const read = await noting(() => readOutline(options, outline)).finally(advance)
    if (read === "another-log") await startOver().then(() => options.onMoved(new Map()))
    begun = true
  }

  /** Others wrote while the store was away: their log goes on, and what waited here is to be written behind it. */
  const startOver = async (): Promise<readonly Stranded[]> => {
    const { fresh, there } = await readAgain(options, backlog)
    // Only now that all of it was read is anything let go of.
    const withdrawn = backlog.withdraw()
    bodies.release(() => false)
    outline = fresh
    backlog.advance(fresh.head())
    begun = true
    return strandedIn(withdrawn, there, session)
  }

  /** Bring the store and this process together; what has to be written again comes back. */
  const meet = async (): Promise<readonly Stranded[]> => {
    if (!begun) await refresh()
    const waiting = backlog.size()
    if (waiting === 0) return []
    const again = await noting(async () => ((await backlog.save()) === "conflict" ? await startOver() : []))
    events.push({ type: "durability-restored", saved: waiting })
    return again
  }

  const write: Committing["write"] = async (written, away) => {
    const chaining = chainBehind(() => outline, written, options)
    const chained = chaining instanceof Promise ? await chaining : chaining
    if (chained === undefined) return undefined
    backlog.add(chained.entries, chained.payloads)
    const saving = away === undefined ? await attempt(() => noting(backlog.save)) : { problem: away }
    if ("value" in saving && saving.value === "conflict") {
      backlog.withdraw()
      return attempt(refresh).then(() => undefined)
    }
    const failed = problemIn(saving)
    if (failed !== undefined) events.push(degraded(failed, backlog))
    const entries = entriesOf(chained.entries, written)
    outline.extend(chained.entries)
    bodies.keep(entries)
    return { entries, durable: failed === undefined, ...present({ problem: failed }) }
  }

  return {
    outline: () => outline,
    refresh,
    commit: (ask) => commitTo({ outline: () => outline, backlog, meet, write, options }, ask),
    entries: bodies.read,
    isDurable: () => backlog.size() === 0,
    isSaved: (seq) => seq <= backlog.saved().seq,
    problem,
    isKnown: () => begun,
    takeEvents: () => events.splice(0),
    release: (isKept) => bodies.release((seq) => isKept(seq) || seq > backlog.saved().seq),
  }
}

/** Bodies that are chained at once: with more, others are served in between. */
const chainedAtOnce = 50

type Chained = ReturnType<typeof chainEntries>

/** Chain bodies behind the end of a log. Many are chained in slices; nothing if someone else wrote in between. */
function chainBehind(
  outline: () => Outline,
  bodies: readonly EntryBody[],
  { redact, now }: JournalOptions,
): Chained | Promise<Chained | undefined> {
  const head = outline().head()
  if (bodies.length <= chainedAtOnce) return chainEntries(head, bodies.map(redact), now())
  const atMs = now()
  return chainInSlices(head, bodies, (slice, behind) => chainEntries(behind, slice.map(redact), atMs)).then(
    (chained) => (outline().head().hash === head.hash ? chained : undefined),
  )
}

async function chainInSlices(
  head: Head,
  bodies: readonly EntryBody[],
  chain: (slice: readonly EntryBody[], behind: Head) => Chained,
): Promise<Chained> {
  const entries: StoredEntry[] = []
  const payloads = new Map<string, string>()
  const pace = createPace()
  for (let at = 0; at < bodies.length; at += chainedAtOnce) {
    const chained = chain(bodies.slice(at, at + chainedAtOnce), entries.at(-1) ?? head)
    entries.push(...chained.entries)
    for (const [hash, text] of chained.payloads) payloads.set(hash, text)
    if (pace.isDue()) await pace.rest()
  }
  return { entries, payloads }
}

const degraded = (problem: Problem, backlog: Backlog): LogEvent => ({
  type: "durability-degraded",
  problem,
  unsaved: backlog.size(),
})

/** Remembers what went wrong when something was last tried. */
function createTrouble(): {
  readonly noting: <Value>(act: () => Promise<Value>) => Promise<Value>
  readonly problem: () => Problem | undefined
} {
  let trouble: Problem | undefined
  return {
    problem: () => trouble,
    noting: async (act) => {
      try {
        const value = await act()
        trouble = undefined
        return value
      } catch (error) {
        if (error instanceof HoldfastError) trouble = error.problem
        throw error
      }
    },
  }
}

/** The log's shape from its beginning, and what of the backlog is in it already: a writing whose answer got lost. */
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

const strandedIn = (
  { entries, payloads }: Withdrawn,
  there: ReadonlySet<string>,
  session: SessionId,
): readonly Stranded[] =>
  entries
    .filter(({ hash }) => !there.has(hash))
    .map((entry) => ({ seq: entry.seq, body: readBody(entry, payloads, session) }))

/** Take in the log's shape from where it is known on; its last known entry says whether it is still the same log. */
async function readOutline({ store, session }: JournalOptions, outline: Outline): Promise<"same-log" | "another-log"> {
  for (;;) {
    const { seq, hash } = outline.head()
    const page = await store.outline(session, { from: Math.max(1, seq), limit: outlinePage })
    if (seq > 0 && page[0]?.hash !== hash) return "another-log"
    outline.extend(seq > 0 ? page.slice(1) : page)
    if (page.length < outlinePage) return "same-log"
  }
}

type Committing = {
  readonly outline: () => Outline
  readonly backlog: Backlog
  readonly meet: () => Promise<readonly Stranded[]>
  /** Write these bodies; nothing if someone else was faster, and then what they wrote has been taken in. */
  readonly write: (written: readonly EntryBody[], away: Problem | undefined) => Promise<Committed | undefined>
  readonly options: JournalOptions
}

async function commitTo({ outline, backlog, meet, write, options }: Committing, ask: Write): Promise<Committed> {
  let stranded: readonly Stranded[] = []
  let moved = false
  for (let race = 0; race < maxRaces; race++) {
    const met = await attempt(meet)
    if ("value" in met) stranded = [...stranded, ...met.value]
    const { bodies: again, places } = rebase(stranded, outline(), options)
    const rewritten = again.length === 0 ? undefined : await write(again, problemIn(met))
    if (again.length > 0 && rewritten === undefined) continue
    if (stranded.length > 0) {
      options.onMoved(places)
      moved = true
    }
    stranded = []
    const away = problemIn(met) ?? rewritten?.problem
    const head = outline().head().seq
    const asked = ask(outline(), head + (head === 0 ? 2 : 1)).filter((body) => !moved || !isPlaced(body))
    if (asked.length === 0) return { entries: [], durable: backlog.size() === 0, ...present({ problem: away }) }
    if (away !== undefined && backlog.size() + asked.length > options.maxUnsaved) throw new HoldfastError(away)
    const committed = await write(head === 0 ? [options.opening(), ...asked] : asked, away)
    if (committed !== undefined) return committed
  }
  throw new HoldfastError({ code: "store-locked", store: options.store.kind, waitedMs: 0 })
}

const problemIn = (met: Attempted<unknown>): Problem | undefined => ("problem" in met ? met.problem : undefined)

/** Does it name entries by places that were known before it was asked for? Those are void once entries have moved. */
const isPlaced = ({ type }: EntryBody): boolean => !placeless.has(type)

const placeless: ReadonlySet<EntryBody["type"]> = new Set([
  "session-opened",
  "message-appended",
  "branch-opened",
  "stack-seen",
  "stack-installed",
  "rule-pinned",
  "usage-reported",
  "calls-judged",
])

/** What was written, as it was before anything was taken out of it for the store. */
const entriesOf = (stored: readonly StoredEntry[], written: readonly EntryBody[]): readonly Entry[] =>
  stored.flatMap(({ seq, hash, atMs }, n) => {
    const body = written[n]
    return body === undefined ? [] : [{ seq, hash, atMs, body }]
  })

type Attempted<Value> = { readonly value: Value } | { readonly problem: Problem }

/** What came of it, or what the store says went wrong. Anything else is a bug, and loud. */
async function attempt<Value>(act: () => Promise<Value>): Promise<Attempted<Value>> {
  try {
    return { value: await act() }
  } catch (error) {
    if (error instanceof HoldfastError) return { problem: error.problem }
    throw error
  }
}

/** Entries that were read or written by this process, and the way to the others. */
type Bodies = {
  readonly keep: (entries: readonly Entry[]) => void
  /** Entries by place, from the store where they are not at hand. */
  readonly read: (seqs: readonly number[]) => Promise<ReadonlyMap<number, Entry>>
  /** Let go of all but these. */
  readonly release: (isKept: (seq: number) => boolean) => void
}

function createBodies(store: Store, session: SessionId): Bodies {
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
    keep: (entries) => {
      for (const entry of entries) known.set(entry.seq, entry)
    },
    read: async (seqs) => {
      const missing = seqs.filter((seq) => !known.has(seq))
      if (missing.length > 0) await fetch(missing)
      return new Map(seqs.flatMap((seq) => pairOf(seq, known.get(seq))))
    },
    release: (isKept) => {
      for (const seq of known.keys()) if (!isKept(seq)) known.delete(seq)
    },
  }
}

const pairOf = (seq: number, entry: Entry | undefined): readonly (readonly [number, Entry])[] =>
  entry === undefined ? [] : [[seq, entry]]

/** Entries that the store does not have yet, in the order in which they were written. */
type Backlog = {
  readonly size: () => number
  readonly saved: () => Head
  /** The store is known to have everything up to here. */
  readonly advance: (head: Head) => void
  readonly add: (entries: readonly StoredEntry[], payloads: ReadonlyMap<string, string>) => void
  /** Write all of it. `conflict` if someone else wrote in its place; a store that fails leaves it as it is. */
  readonly save: () => Promise<"saved" | "conflict">
  /** Take everything back: it will be written differently. */
  readonly withdraw: () => Withdrawn
}

type Withdrawn = { readonly entries: readonly StoredEntry[]; readonly payloads: ReadonlyMap<string, string> }

/** Entries that are saved in one go: an embedded store holds up its process while it writes. What was begun is gone on with. */
const savedAtOnce = 1000

const payloadsIn = (
  entries: readonly StoredEntry[],
  payloads: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> =>
  new Map(
    entries
      .flatMap(({ body }) => payloadsOf(body))
      .flatMap((hash) => {
        const text = payloads.get(hash)
        return text === undefined ? [] : [[hash, text] as const]
      }),
  )

function createBacklog(store: Store, session: SessionId, owner: () => MemoryOwner): Backlog {
  let saved: Head = { seq: 0, hash: "" }
  let entries: readonly StoredEntry[] = []
  let payloads: ReadonlyMap<string, string> = new Map()

  const advance = (head: Head): void => {
    saved = head
    entries = entries.filter(({ seq }) => seq > head.seq)
    if (entries.length === 0) payloads = new Map()
  }
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
    // Someone else recorded the same message: it is matched to theirs.
    if (written.type === "duplicate") return "conflict"
    // A writing whose answer got lost: the store's end is one of ours.
    const { head } = written
    if (!entries.some(({ seq, hash }) => seq === head.seq && hash === head.hash)) return "conflict"
    advance(head)
    return save(upTo)
  }
  return {
    size: () => entries.length,
    saved: () => saved,
    advance,
    add: (more, texts) => {
      entries = [...entries, ...more]
      payloads = new Map([...payloads, ...texts])
    },
    save,
    withdraw: () => {
      const withdrawn = { entries, payloads }
      entries = []
      payloads = new Map()
      return withdrawn
    },
  }
}

/** An entry that never reached the store, with the place that it would have had. */
type Stranded = { readonly seq: number; readonly body: EntryBody }

type Rebased = {
  readonly bodies: readonly EntryBody[]
  /** The new place of each entry that has one, by its old. */
  readonly places: ReadonlyMap<number, number>
}

type RebaseOptions = {
  readonly opening: () => EntryBody
  /** Do messages go behind what others wrote meanwhile? Those of a client's whole history stay where that has them. */
  readonly follows: () => boolean
}

/**
 * What was written while the store was out of reach, as it can be written behind what others wrote meanwhile. Messages find their place
 * anew, and those that others wrote too are left out; rules and usage stay. A compaction is not carried over: its messages may have
 * other places now, and it is made again when it is needed.
 */
function rebase(stranded: readonly Stranded[], outline: Outline, { opening, follows }: RebaseOptions): Rebased {
  const places = new Map<number, number>()
  const isEmpty = outline.head().seq === 0
  const bodies: EntryBody[] = isEmpty && stranded.length > 0 ? [opening()] : []
  const placeOf = createPlacing(stranded, outline, places)
  for (const { seq, body } of stranded) {
    const written = rewrite(body, placeOf, outline, follows())
    if (typeof written === "number") places.set(seq, written)
    else if (written !== undefined) places.set(seq, outline.head().seq + bodies.push(written))
  }
  return { bodies, places }
}

/**
 * Where an entry stands now. The first message of a process that never saw the log goes behind the log's end, unless it begins a
 * client's whole history: that one begins at the beginning, after the stack that was seen with it.
 */
function createPlacing(
  stranded: readonly Stranded[],
  outline: Outline,
  places: ReadonlyMap<number, number>,
): (seq: number) => number {
  const opened = stranded.some(({ body }) => body.type === "session-opened")
  const first = stranded.find(({ body }) => body.type === "message-appended" || body.type === "stack-seen")
  const start = opened && first?.body.type === "message-appended" ? outline.tip() : 0
  return (seq) => {
    if (seq === 0) return start
    return places.get(seq) ?? (outline.typeOf(seq) === undefined ? start : seq)
  }
}

/** The body with its new place, the entry that says the same already, or nothing. */
function rewrite(
  body: EntryBody,
  placeOf: (seq: number) => number,
  outline: Outline,
  follows: boolean,
): EntryBody | number | undefined {
  switch (body.type) {
    case "message-appended": {
      const parent = placeOf(body.parent)
      const isFree = follows && parent <= outline.head().seq && outline.path(outline.tip(), parent) !== undefined
      return outline.child(parent, body.key) ?? { ...body, parent: isFree ? outline.tip() : parent }
    }
    case "rule-unpinned":
      return {
        ...body,
        pin: placeOf(body.pin),
        ...present({ said: body.said === undefined ? undefined : placeOf(body.said) }),
      }
    case "rule-pinned": {
      const { place } = body
      return place === undefined ? body : { ...body, place: { ...place, entry: placeOf(place.entry) } }
    }
    case "usage-reported":
    case "calls-judged":
    case "stack-seen":
    case "stack-installed":
      return body
    case "session-opened":
    case "branch-opened":
    case "checkpoint-installed":
    case "checkpoint-undone":
    case "summary-begun":
    case "memory-flushed":
    case "memory-retrieved":
      return undefined
  }
}
