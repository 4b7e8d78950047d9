import { rejoin, type Separation, separateMade } from "../compact/stack/separate.ts"
import { applyEdits } from "../compact/stages/edit.ts"
import { assert } from "../message/assert.ts"
import { type CheckOptions, checkTranscript } from "../message/check.ts"
import type { Message, ModelRequest, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { commonLength, createRecall } from "../message/recall.ts"
import { type RepairEvent, repair } from "../message/repair.ts"
import { adjacencyOf } from "../wire/order.ts"
import type { Live } from "./live.ts"
import { type CheckpointBody, entryId, type Item } from "./log/entry.ts"
import { thaw } from "./log/frozen.ts"
import type { Outline } from "./log/outline.ts"

/** What is shown at one message of the log: what the checkpoint in force says, and every message since. */
export type View = {
  readonly at: number
  /** The checkpoint in force; 0 if none. */
  readonly checkpoint: number
  readonly items: readonly Item[]
  /** Entries that hold infrastructure and are not among the items. */
  readonly standing: readonly number[]
}

/** The view at a message: `since` are the entries behind the checkpoint, `retrieved` what memory had to say before some of them. */
function viewOf(
  at: number,
  checkpoint: { readonly seq: number; readonly body: CheckpointBody } | undefined,
  since: readonly number[],
  retrieved: ReadonlyMap<number, Message>,
): View {
  const items = [
    ...(checkpoint?.body.items ?? []),
    ...since.flatMap((entry) => sinceItems(entry, retrieved.get(entry))),
  ]
  const shown = new Set(items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])))
  const standing = (checkpoint?.body.standing ?? []).filter((entry) => !shown.has(entry))
  return { at, checkpoint: checkpoint?.seq ?? 0, items, standing }
}

const sinceItems = (entry: number, before: Message | undefined): readonly Item[] => [
  ...(before === undefined ? [] : [{ type: "made" as const, message: before }]),
  { type: "shown", entry },
]

/** The entries whose messages a view needs. */
export const entriesIn = ({ items, standing }: View): readonly number[] => [
  ...standing,
  ...items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])),
]

/** Where the messages of a view are had: those of entries by their id, and messages of ours as they are in what they stand in. */
type Places = {
  readonly find: (id: string) => Message | undefined
  readonly made: (message: Message) => Message | undefined
}

/** The messages of a view: those of which less is shown as they are shown, or whole. */
function showItems(items: readonly Item[], { find, made }: Places, how: "as-shown" | "whole"): Transcript {
  return items.flatMap((item): readonly Message[] => {
    if (item.type === "made") return [made(item.message) ?? []].flat()
    const message = find(entryId(item.entry))
    if (message === undefined) return []
    return item.edits === undefined || how === "whole" ? [message] : [shorten(message, item)]
  })
}

type Shown = Extract<Item, { type: "shown" }>

/** The same message and item give the same object, so that its tokens are counted once. */
const shortened = new WeakMap<Shown, { readonly of: Message; readonly as: Message }>()

function shorten(message: Message, item: Shown): Message {
  const known = shortened.get(item)
  if (known?.of === message) return known.as
  const [as = message] = applyEdits([message], item.edits ?? [])
  shortened.set(item, { of: message, as })
  return as
}

/** The last view of a log, and what decides over it: how many entries of each kind there were. */
type Read = { readonly view: View; readonly decided: string }

const lastRead = new WeakMap<Outline, Read>()

/** What may change what is shown of messages that were there: checkpoints, undone or not, and memory put before them. */
const deciding: readonly string[] = ["checkpoint-installed", "checkpoint-undone", "memory-retrieved"]

const decidedIn = (outline: Outline): string => deciding.map((type) => outline.ofType(type).length).join()

/** The view at a message, read from the log as far as it is not in memory. One that only went on since is gone on with. */
export async function readView(live: Live, at: number): Promise<View> {
  const outline = live.journal.outline()
  const decided = decidedIn(outline)
  const known = lastRead.get(outline)
  const more = known?.decided === decided && known.view.at > 0 ? pathOn(outline, known.view.at, at) : undefined
  const view =
    known !== undefined && more !== undefined ? goneOn(known.view, at, more) : await readWhole(live, outline, at)
  // Read while others wrote: what it goes by is not known then.
  if (decidedIn(outline) === decided) lastRead.set(outline, { view, decided })
  return view
}

/** The few entries from one message to a later one behind it; nothing if it is not behind it, or far, or something was decided there. */
function pathOn(outline: Outline, from: number, to: number): readonly number[] | undefined {
  const path: number[] = []
  let at = to
  for (; at > from && path.length < maxStep; at = outline.node(at)?.parent ?? 0) path.push(at)
  const isDecided = deciding.some((type) =>
    outline.ofType(type).some((seq) => path.includes(outline.reference(seq) ?? 0)),
  )
  return at === from && !isDecided ? path.reverse() : undefined
}

/** A turn adds a few messages; a longer way is looked for from its beginning. */
const maxStep = 100

const goneOn = (view: View, at: number, more: readonly number[]): View =>
  more.length === 0
    ? view
    : { ...view, at, items: [...view.items, ...more.map((entry) => ({ type: "shown" as const, entry }))] }

async function readWhole({ journal }: Live, outline: Outline, at: number): Promise<View> {
  const seq = outline.checkpointAt(at)
  const since = outline.path(at, outline.nodeOf(seq) ?? 0)
  assert(since !== undefined, `no way from checkpoint ${seq} to entry ${at}`)
  const wanted = new Set(since)
  const retrievals = outline.ofType("memory-retrieved").filter((entry) => wanted.has(outline.reference(entry) ?? 0))
  const entries = await journal.entries([...(seq === 0 ? [] : [seq]), ...retrievals])
  const retrieved = new Map<number, Message>()
  for (const { body } of entries.values())
    if (body.type === "memory-retrieved") retrieved.set(body.before, body.message)
  const body = entries.get(seq)?.body
  assert(seq === 0 || body?.type === "checkpoint-installed", `entry ${seq} is no checkpoint`)
  return viewOf(at, body?.type === "checkpoint-installed" ? { seq, body } : undefined, since, retrieved)
}

/** The messages of these entries, as they came in. */
export async function readMessages({ journal, messages }: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  const missing = seqs.filter((seq) => !messages.has(seq))
  const entries = missing.length === 0 ? new Map() : await journal.entries(missing)
  for (const seq of missing) {
    const body = entries.get(seq)?.body
    if (body?.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
  }
  return seqs.flatMap((seq) => messages.get(seq) ?? [])
}

/** Entries that are small and asked for on every call. */
const lasting: ReadonlySet<string> = new Set([
  "session-opened",
  "calls-judged",
  "stack-seen",
  "branch-opened",
  "summary-begun",
])

/** Let go of what is no longer shown: however long a session lasts, it takes the memory of its view. It can all be read again. */
export function release({ journal, messages }: Live, view: View): void {
  const shown = new Set(entriesIn(view))
  for (const seq of messages.keys()) if (!shown.has(seq)) messages.delete(seq)
  const outline = journal.outline()
  journal.release((seq) => seq === view.checkpoint || lasting.has(outline.typeOf(seq) ?? ""))
}

/** A view in the request that it is put into, and what the messages of that were separated into. */
export type Framed = { readonly frame: ModelRequest; readonly separation: Separation; readonly view: View }

/** A view put together for one call: the request that it stands in, what it was parted into, and the messages to be sent. */
export type Assembled = {
  /** The request whose messages these are of: the client's own, or the log's messages in a frame. */
  readonly frame: ModelRequest
  readonly messages: Transcript
  /** Nothing is left out, shortened or put in: what differs from the frame was fixed. */
  readonly showsAll: boolean
  /** The conversation's messages as they came in, by id, before anything was shortened or fixed. */
  readonly known: ReadonlyMap<string, Message>
  readonly events: readonly RepairEvent[]
  /** What the messages are separated into. */
  readonly separation: Separation
}

/**
 * Put a view together: what it shows, with everything that stands back in its place, fit to be sent. A view that changes nothing gives
 * the very messages of the frame.
 */
export function assemble({ frame, separation, view }: Framed, how: "as-shown" | "whole" = "as-shown"): Assembled {
  const { conversation } = separation
  let byId: ReadonlyMap<string, Message> | undefined
  const known = (): ReadonlyMap<string, Message> => {
    byId ??= new Map(conversation.map((message) => [message.id, message]))
    return byId
  }
  const isAll = showsAll(view.items, conversation)
  const { messages } = isAll ? frame : joined(separation, frame, view, known(), how)
  const repaired = repairFrame(frame, messages)
  return {
    frame,
    showsAll: isAll,
    // Asked for when it is compacted.
    get known() {
      return known()
    },
    separation: separateMade(separation, { ...frame, messages: repaired.messages }),
    ...repaired,
  }
}

/** What a view shows, with everything that stands back in its place. */
function joined(
  separation: Separation,
  frame: ModelRequest,
  { items }: View,
  byId: ReadonlyMap<string, Message>,
  how: "as-shown" | "whole",
): Pick<ModelRequest, "messages"> {
  // A message of ours that stands in the frame was parted with it: what was lifted out of it comes back by itself.
  const made = (message: Message): Message | undefined =>
    frame.messages.includes(message) ? byId.get(message.id) : message
  const shown = showItems(items, { find: (id) => byId.get(id), made }, how)
  return isSame(shown, separation.conversation) ? frame : rejoin(separation, shown)
}

const shownWhole = createRecall<readonly Item[]>()

/** Does a view show the whole conversation as it is, message by message? What was seen to before is not looked at again. */
function showsAll(items: readonly Item[], conversation: Transcript): boolean {
  if (items.length !== conversation.length) return false
  const known = shownWhole.find(conversation)
  let at = known === undefined ? 0 : Math.min(known.common, commonLength(known.made, items))
  for (let last = lastEntry(items[at - 1]); at < items.length; at++) {
    const item = items[at]
    // Entries rise along a branch: none of them is there twice.
    if (item?.type !== "shown" || item.edits !== undefined || item.entry <= last) return false
    if (conversation[at]?.id !== entryId(item.entry)) return false
    last = item.entry
  }
  shownWhole.keep(conversation, items)
  return true
}

const lastEntry = (item: Item | undefined): number => (item?.type === "shown" ? item.entry : 0)

/** Pairs made whole, where they are not: a call that is sent on without a result is refused. What the provider holds the other half of is whole as it is. */
function repairFrame(frame: ModelRequest, messages: Transcript): Pick<Assembled, "messages" | "events"> {
  const check: CheckOptions = { ended: true, ...present({ adjacent: adjacencyOf[frame.format] }) }
  if (frame.held !== undefined || checkTranscript(messages, check).length === 0) return { messages, events: [] }
  return repair(messages, check)
}

const isSame = (one: Transcript, other: Transcript): boolean =>
  one.length === other.length && one.every((message, n) => message === other[n])

/** The log's messages in a frame: what stands, then what the view shows. */
export function frameMessages(
  frame: ModelRequest,
  view: View,
  find: (seq: number) => Message | undefined,
): ModelRequest {
  const standing = view.standing.flatMap((seq) => find(seq) ?? [])
  const shown = view.items.flatMap((item) => (item.type === "made" ? [item.message] : (find(item.entry) ?? [])))
  return { ...frame, messages: [...frame.messages, ...standing, ...shown] }
}

/** The entries of a separation that hold infrastructure: whole messages that stand, and those that documents were lifted out of. */
export function standingEntries(
  { infrastructure, request }: Separation,
  seqOf: (id: string) => number | undefined,
): readonly number[] {
  const holders = infrastructure.documents.flatMap(({ place }) => request.messages[place.message]?.id ?? [])
  const ids = new Set([...infrastructure.messages.map(({ id }) => id), ...holders])
  return [...ids].flatMap((id) => seqOf(id) ?? [])
}
