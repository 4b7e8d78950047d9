import type { Sizes } from "../../compact/plan/plan.ts"
import { startOfText } from "../../language/cut-text.ts"
import { type Message, type Tokens, tokens } from "../../message/message.ts"
import { namesIn, present } from "../../message/present.ts"
import { readBody } from "../../session/log/chain.ts"
import { type Caller, type CallVerdict, type EntryBody, entryId, eventsOfTrace, thaw } from "../../session/log/entry.ts"
import { createOutline, type Outline } from "../../session/log/outline.ts"
import { payloadsOf } from "../../store/reserved-log.ts"
import type { OutlineEntry, Store, StoredEntry } from "../../store/store.ts"
import { findModel } from "../../tokens/models.ts"
import { isObject } from "../../wire/json.ts"
import type { CompactionFigures, JudgedDecision } from "./answers.ts"

/** One request of a client that got a response, with the usage that its provider reported. Turns count from 1; sizes are per model call. */
export type Turn = {
  readonly turn: number
  readonly entry: string
  readonly atMs: number
  readonly model: string
  /** The input, in the provider's tokens. */
  readonly contextTokens: number
  /** The same by our own count. */
  readonly estimatedTokens: number
  readonly cacheReadTokens: number
  readonly cacheWriteTokens: number
  readonly outputTokens: number
  /** Number of model calls. More than 1 if the model was called again because a tool call was denied or was a recall. */
  readonly calls: number
  /** The cost of all its calls by the model table; missing for a model that is not in it. */
  readonly dollars?: number
}

/** Facts about a session, read only from its log, so that they are the same after a restart and on every replica. */
export type Profile = {
  readonly session: string
  readonly outline: Outline
  readonly entries: (seqs: readonly number[]) => Promise<LoggedEntries>
  /** The messages among these entries. */
  readonly messages: (seqs: readonly number[]) => Promise<ReadonlyMap<number, Message>>
  /** The first message of a person. */
  readonly title: string
  readonly caller: Caller
  readonly turns: readonly Turn[]
  readonly compactions: readonly CompactionFigures[]
  readonly decisions: readonly JudgedDecision[]
  /** The sequence numbers of the entries to list: all except usage and bookkeeping. */
  readonly events: readonly number[]
  /** The number of turns when an entry was written. */
  readonly turnAt: (seq: number) => number
  /** The compactions that made a turn's request smaller, the newest first. */
  readonly compactedIn: (turn: number) => readonly CompactionFigures[]
  /** The tokens that these compactions removed from it. */
  readonly removedIn: (turn: number) => number
  /** Rules that the newest compaction had no room for. */
  readonly rulesLeftOut: number
  readonly planned?: PlannedSizes
}

/** Sizes in our own count, and the factor that makes them the provider's. */
export type PlannedSizes = { readonly sizes: Sizes; readonly scale: number }

export type LoggedEntry = { readonly seq: number; readonly atMs: number; readonly body: EntryBody }
type LoggedEntries = ReadonlyMap<number, LoggedEntry>

type LogStore = Pick<Store, "outline" | "readEntries" | "payloads">

/** Limit on the entries of all cached profiles, some 200 bytes each; the least recently used are dropped. */
const maxEntries = 500_000
/** Number of outline entries read at a time. */
const readStep = 5000
const titleLength = 200
/** Number of messages searched for a title: a person's first message is among the first ones. */
const titleMessages = 12

/** Entry types that are not listed, because they only record usage and bookkeeping. */
const unlistedTypes: ReadonlySet<string> = new Set(
  namesIn(
    "session-opened stack-seen usage-reported calls-judged summary-begun memory-flushed memory-retrieved handoff-restored text-recalled",
  ),
)

export type Profiles = ReturnType<typeof createProfiles>

export function createProfiles(store: LogStore) {
  const known = new Map<string, GrowingProfile>()
  const reading = new Map<string, Promise<Profile>>()
  const read = async (session: string): Promise<Profile> => {
    const growing = known.get(session) ?? emptyProfile()
    await extend(store, session, growing)
    known.delete(session)
    known.set(session, growing)
    evict(known)
    return profileOf(growing, store, session)
  }
  return {
    /** The session's current profile; entries read before are not read again. */
    read: (session: string): Promise<Profile> => {
      const under = reading.get(session)
      if (under !== undefined) return under
      const started = read(session).finally(() => reading.delete(session))
      reading.set(session, started)
      return started
    },
  }
}

function evict(known: Map<string, GrowingProfile>): void {
  let held = 0
  for (const { outline } of known.values()) held += outline.head().seq
  for (const [session, { outline }] of known) {
    if (held <= maxEntries || known.size === 1) return
    held -= outline.head().seq
    known.delete(session)
  }
}

type GrowingCompaction = Omit<CompactionFigures, "undone" | "rereads"> & { readonly seq: number; readonly base: number }

const emptyList = <Item>(): Item[] => []

const emptyLists = () => ({
  outline: createOutline(),
  turns: emptyList<Turn>(),
  turnSeqs: emptyList<number>(),
  compactions: emptyList<GrowingCompaction>(),
  /** For each turn, the checkpoint in force when its usage was logged; 0 if there was none. */
  turnCheckpoints: emptyList<number>(),
  rereads: new Map<number, number>(),
  decisions: emptyList<JudgedDecision>(),
  events: emptyList<number>(),
})

/** A profile that is being extended. */
type GrowingProfile = Readonly<ReturnType<typeof emptyLists>> & {
  title: string
  titleTries: number
  caller: Caller
  checkpoint: number
  tip: number
  rulesLeftOut: number
  planned?: PlannedSizes
}

const emptyProfile = (): GrowingProfile => ({
  ...emptyLists(),
  ...{ title: "", titleTries: 0, caller: {}, checkpoint: 0, tip: 0, rulesLeftOut: 0 },
})

function profileOf(growing: GrowingProfile, store: LogStore, session: string): Profile {
  const { outline, title, caller, turns, turnSeqs, compactions, decisions, events, planned, rulesLeftOut } = growing
  const figures = compactions.map(({ seq, base: _, ...one }, n) => ({
    ...one,
    turn: turnsBefore(one, turns, compactions[n + 1]?.turn),
    undone: outline.isUndone(seq),
    rereads: growing.rereads.get(seq) ?? 0,
  }))
  const entries: Profile["entries"] = (seqs) => readWhole(store, session, seqs)
  return {
    session,
    outline,
    entries,
    messages: async (seqs) => {
      const messages = new Map<number, Message>()
      for (const { seq, body } of (await entries(seqs)).values())
        if (body.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
      return messages
    },
    title,
    caller,
    turns,
    compactions: figures,
    decisions,
    events,
    rulesLeftOut,
    turnAt: (seq) => countBelow(turnSeqs, seq),
    ...compactionsByTurn(growing, figures),
    ...present({ planned }),
  }
}

function compactionsByTurn(
  { compactions, turnCheckpoints }: GrowingProfile,
  figures: readonly CompactionFigures[],
): Pick<Profile, "compactedIn" | "removedIn"> {
  const places = new Map(compactions.map(({ seq }, n) => [seq, n]))
  const removed: number[] = []
  for (const [n, { undone, beforeTokens, afterTokens }] of figures.entries()) {
    const below = removed[places.get(compactions[n]?.base ?? 0) ?? -1] ?? 0
    removed.push(below + (undone ? 0 : beforeTokens - afterTokens))
  }
  const below = (at: number): number | undefined => places.get(compactions[at]?.base ?? 0)
  /** The newest compaction that made a turn smaller. One that was made after the turn's request was sent affects only later turns. */
  const newestIn = (turn: number): number | undefined => {
    let at = places.get(turnCheckpoints[turn - 1] ?? 0)
    while (at !== undefined && (figures[at]?.turn ?? 0) >= turn) at = below(at)
    return at
  }
  return {
    compactedIn: (turn) => {
      const chain: CompactionFigures[] = []
      for (let at = newestIn(turn); at !== undefined; at = below(at)) {
        const one = figures[at]
        if (one !== undefined && !one.undone) chain.push(one)
      }
      return chain
    },
    removedIn: (turn) => removed[newestIn(turn) ?? -1] ?? 0,
  }
}

/** Limit on the requests that are forwarded while a compaction is made in the background. */
const maxInBackground = 8
/** A request with at least this share of the size before a compaction was sent without the compaction. */
const sameSize = 0.97

/** The number of turns before the first request that a compaction made smaller. One made in the background affects only a later request. */
function turnsBefore(
  { turn, beforeTokens, afterTokens, tookMs, ahead }: Omit<CompactionFigures, "undone" | "rereads">,
  turns: readonly Turn[],
  end = turns.length,
): number {
  // Logs that say how long a compaction took also say whether its request waited for it.
  const waited = tookMs !== undefined && ahead !== true
  if (waited || afterTokens > sameSize * sameSize * beforeTokens) return turn
  const last = Math.min(end, turn + maxInBackground)
  let at = turn
  while (at < last && (turns[at]?.contextTokens ?? 0) >= sameSize * beforeTokens) at++
  return at === last && at !== end ? turn : at
}

function countBelow(list: readonly number[], limit: number): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((list[middle] ?? 0) < limit) low = middle + 1
    else high = middle
  }
  return low
}

async function extend(store: LogStore, session: string, growing: GrowingProfile): Promise<void> {
  for (;;) {
    const from = growing.outline.head().seq + 1
    const added = await store.outline(session, { from, limit: readStep })
    if (added.length === 0) return
    const told = await readFigureEntries(store, session, growing, added)
    growing.outline.extend(added)
    for (const { seq, type, parent } of added) {
      if (type === "message-appended") updateCheckpoint(growing, seq, parent ?? 0)
      const entry = told.get(seq)
      if (entry !== undefined) addEntry(growing, entry)
      if (!unlistedTypes.has(type) || hasToldCall(entry)) growing.events.push(seq)
    }
    if (added.length < readStep) return
  }
}

/** Updates the checkpoint in force: a message that does not follow the last one is on another branch, which may have another or none. */
function updateCheckpoint(growing: GrowingProfile, seq: number, parent: number): void {
  if (parent !== growing.tip) {
    const found = growing.outline.checkpointAt(parent)
    growing.checkpoint = found < seq ? found : 0
  }
  growing.tip = seq
}

/** True if a call was stopped or asked about, or would have been by a policy that only observes. */
export const isToldCall = ({ decision, policies, observed = [] }: CallVerdict): boolean =>
  decision !== "allow" || policies.length + observed.length > 0

/** True if at least one call is to be told; only then the entry is listed. */
const hasToldCall = (entry: LoggedEntry | undefined): boolean =>
  entry?.body.type === "calls-judged" && entry.body.calls.some(isToldCall)

/** Reads the entries with figures. Of messages only the first ones are read, for the title, and most compactions without their texts. */
async function readFigureEntries(
  store: LogStore,
  session: string,
  growing: GrowingProfile,
  added: readonly OutlineEntry[],
): Promise<LoggedEntries> {
  const ofType = (type: string): readonly number[] => added.flatMap((entry) => (entry.type === type ? entry.seq : []))
  const small = ["session-opened", "usage-reported", "calls-judged", "lookups-repeated"].flatMap(ofType)
  const checkpoints = ofType("checkpoint-installed")
  const stored = await store.readEntries(session, [...small, ...checkpoints.slice(0, -1)])
  const first = growing.title === "" ? ofType("message-appended").slice(0, titleMessages - growing.titleTries) : []
  growing.titleTries += first.length
  const whole = await readWhole(store, session, [...first, ...checkpoints.slice(-1)])
  return new Map([...stored.map((entry) => [entry.seq, withoutTexts(entry, session)] as const), ...whole])
}

function withoutTexts(entry: StoredEntry, session: string): LoggedEntry {
  const blank = new Map(payloadsOf(entry.body).map((hash) => [hash, ""]))
  return { seq: entry.seq, atMs: entry.atMs, body: readBody(entry, blank, session) }
}

async function readWhole(store: LogStore, session: string, seqs: readonly number[]): Promise<LoggedEntries> {
  if (seqs.length === 0) return new Map()
  const stored = await store.readEntries(session, seqs)
  const payloads = await store.payloads(session, [...new Set(stored.flatMap(({ body }) => payloadsOf(body)))])
  return new Map(
    stored.map((entry) => [entry.seq, { seq: entry.seq, atMs: entry.atMs, body: readBody(entry, payloads, session) }]),
  )
}

function addEntry(growing: GrowingProfile, { seq, atMs, body }: LoggedEntry): void {
  const turn = growing.turns.length
  switch (body.type) {
    case "usage-reported":
      growing.turnSeqs.push(seq)
      growing.turnCheckpoints.push(growing.checkpoint)
      growing.turns.push(turnOf(body, { entry: entryId(seq), atMs, turn: turn + 1 }))
      return
    case "checkpoint-installed": {
      const { node, base, remedy, beforeTokens, afterTokens, tookMs, ahead } = body
      const place = { id: entryId(seq), seq, base, atMs, turn, upTo: entryId(node) }
      growing.compactions.push({ ...place, remedy, beforeTokens, afterTokens, ...present({ tookMs, ahead }) })
      growing.checkpoint = seq
      const trace = eventsOfTrace(body)
      const planned = plannedIn(trace, beforeTokens)
      if (planned !== undefined) growing.planned = planned
      growing.rulesLeftOut = leftOutIn(trace)
      return
    }
    case "session-opened": {
      const { client, project } = body
      growing.caller = present({ client, project })
      return
    }
    case "lookups-repeated":
      growing.rereads.set(body.checkpoint, (growing.rereads.get(body.checkpoint) ?? 0) + body.lookups.length)
      return
    case "calls-judged":
      for (const call of body.calls) growing.decisions.push({ ...call, entry: entryId(seq), atMs, turn: turn + 1 })
      return
    case "message-appended":
      if (growing.title === "") growing.title = titleIn(thaw(body.message, entryId(seq)))
      return
    default:
  }
}

function turnOf(
  { model, estimatedTokens, usage, calls = 1 }: Extract<EntryBody, { type: "usage-reported" }>,
  { entry, atMs, turn }: Pick<Turn, "entry" | "atMs" | "turn">,
): Turn {
  const ofOne = (tokens: number | undefined): number => Math.round((tokens ?? 0) / calls)
  const counted = {
    contextTokens: ofOne(usage.inputTokens ?? estimatedTokens),
    cacheReadTokens: ofOne(usage.cacheReadTokens),
    cacheWriteTokens: ofOne(usage.cacheWriteTokens),
    outputTokens: ofOne(usage.outputTokens),
  }
  const price = priceOf(model, counted)
  const dollars = price === undefined ? undefined : price * calls
  return { turn, entry, atMs, model, estimatedTokens, calls, ...counted, ...present({ dollars }) }
}

export type Counted = Pick<Turn, "contextTokens" | "cacheReadTokens" | "cacheWriteTokens" | "outputTokens">

/** The cost of a call by the model table; undefined for a model that is not in it. */
export function priceOf(model: string, counted: Counted): number | undefined {
  const prices = pricesOf(model, counted.contextTokens)
  if (prices === undefined) return undefined
  const { contextTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = counted
  const plain = Math.max(0, contextTokens - cacheReadTokens - cacheWriteTokens)
  const cents =
    plain * prices.input +
    cacheReadTokens * prices.cacheRead +
    cacheWriteTokens * prices.cacheWrite +
    outputTokens * prices.output
  return cents / 1_000_000
}

/** The prices for a request of this size, in dollars per million tokens. */
export function pricesOf(model: string, contextTokens: number) {
  const { known, prices, long } = findModel(model)
  if (!known) return undefined
  return long !== undefined && contextTokens > long.aboveTokens ? long.prices : prices
}

type ReadTrace = ReturnType<typeof eventsOfTrace>

function leftOutIn(trace: ReadTrace): number {
  const pins = trace.find(({ type }) => type === "pins-left-out")?.pins
  return Array.isArray(pins) ? pins.length : 0
}

/** The sizes of a compaction's plan are in our tokens, those of its result in the provider's. */
function plannedIn(trace: ReadTrace, beforeTokens: number): PlannedSizes | undefined {
  const made = trace.find(({ type }) => type === "plan-made")
  const told: Readonly<Record<string, unknown>> = isObject(made?.sizes) ? made.sizes : {}
  const size = (name: keyof Sizes): Tokens => {
    const value = told[name]
    return tokens(typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0)
  }
  const sizes: Sizes = {
    contextTokens: size("contextTokens"),
    windowTokens: size("windowTokens"),
    reserveTokens: size("reserveTokens"),
    floorTokens: size("floorTokens"),
    unreadTokens: size("unreadTokens"),
    toolOutputTokens: size("toolOutputTokens"),
    toolRounds: size("toolRounds"),
  }
  if (sizes.contextTokens === 0 || sizes.windowTokens === 0) return undefined
  return { sizes, scale: beforeTokens / sizes.contextTokens }
}

/** Matches a tagged block that clients add before a person's text. */
const taggedBlock = /^\s*<([A-Za-z][\w-]*)(?:\s[^>]*)?>[\s\S]*?<\/\1>\s*/

/** The person's own text in a message, without blocks added by a client. */
export function wordsIn({ role, parts }: Pick<Message, "role" | "parts">): string {
  if (role !== "user") return ""
  return parts
    .flatMap((part) => (part.type === "text" ? withoutBlocks(part.text) : []))
    .filter((text) => text !== "")
    .join("\n")
}

function withoutBlocks(text: string): string {
  let left = text
  for (let found = taggedBlock.exec(left); found !== null; found = taggedBlock.exec(left))
    left = left.slice(found[0].length)
  return left.trim()
}

function titleIn(message: Message): string {
  const words = wordsIn(message).replace(/\s+/g, " ")
  return words.length <= titleLength ? words : `${startOfText(words, titleLength).replace(/\s+\S*$/, "")} …`
}
