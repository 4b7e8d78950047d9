import { rejoin } from "../../compact/stack/rejoin.ts"
import { type Separation, separateMade } from "../../compact/stack/separate.ts"
import { applyEdits } from "../../compact/stages/edit.ts"
import { assert } from "../../message/assert.ts"
import type { Message, ModelRequest, Transcript } from "../../message/message.ts"
import { namesIn } from "../../message/present.ts"
import { createRecall } from "../../message/recall.ts"
import { type RepairEvent, repair } from "../../message/repair.ts"
import { adjacencyOf } from "../../wire/codecs.ts"
import { entryId, type Item, seqOf, thaw } from "../log/entry.ts"
import type { Outline } from "../log/outline.ts"
import type { Live } from "../state/live.ts"

/** What is shown at one message of the log: the items of the checkpoint in force, and every message since. */
export type View = {
  readonly at: number
  /** The checkpoint in force; 0 if none. */
  readonly checkpoint: number
  readonly items: readonly Item[]
  /** Entries with infrastructure that are not among the items. */
  readonly standing: readonly number[]
}

/** The entries whose messages a view needs. */
export const entriesIn = ({ items, standing }: View): readonly number[] => [
  ...standing,
  ...items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])),
]

/** Looks up the messages of a view: entries by id, and generated messages as they are in the request. */
type Places = {
  readonly find: (id: string) => Message | undefined
  readonly made: (message: Message) => Message | undefined
}

/** The messages of a view: shortened ones as shown, or in full. */
function showItems(items: readonly Item[], { find, made }: Places, how: "as-shown" | "whole"): Transcript {
  return items.flatMap((item): readonly Message[] => {
    if (item.type === "made") return [made(item.message) ?? []].flat()
    const message = find(entryId(item.entry))
    if (message === undefined) return []
    return item.edits === undefined || how === "whole" ? [message] : [shorten(message, item)]
  })
}

type ShownItem = Extract<Item, { type: "shown" }>

/** The same message and item give the same object, so that its tokens are counted only once. */
const shortened = new WeakMap<ShownItem, { readonly of: Message; readonly as: Message }>()

function shorten(message: Message, item: ShownItem): Message {
  const known = shortened.get(item)
  if (known?.of === message) return known.as
  const [as = message] = applyEdits([message], item.edits ?? [])
  shortened.set(item, { of: message, as })
  return as
}

const lastRead = new WeakMap<Outline, { readonly view: View; readonly determined: string }>()

/** Entry types that may change how existing messages are shown. */
const viewChangingTypes: readonly string[] = namesIn(
  "checkpoint-installed checkpoint-undone memory-retrieved handoff-restored text-recalled",
)

/** Types of entries with a generated message that is shown next to a message of the log. */
const withOwnMessage = ["memory-retrieved", "handoff-restored", "text-recalled"] as const

const determinedBy = (outline: Outline): string => viewChangingTypes.map((type) => outline.ofType(type).length).join()

/** The view at a message, from memory or the log; the last one is extended if only messages were added since. */
export async function readView(live: Live, at: number): Promise<View> {
  const outline = live.journal.outline()
  const determined = determinedBy(outline)
  const known = lastRead.get(outline)
  const more = known?.determined === determined && known.view.at > 0 ? pathOn(outline, known.view.at, at) : undefined
  const view =
    known !== undefined && more !== undefined ? extended(known.view, at, more) : await readWhole(live, outline, at)
  // Do not cache a view if entries were written while it was read.
  if (determinedBy(outline) === determined) lastRead.set(outline, { view, determined })
  return view
}

/** The entries from one message to a later one; undefined if it is off the branch, far, or a checkpoint or memory lies between. */
function pathOn(outline: Outline, from: number, to: number): readonly number[] | undefined {
  const path: number[] = []
  let at = to
  for (; at > from && path.length < maxStep; at = outline.node(at)?.parent ?? 0) path.push(at)
  const isDecided = viewChangingTypes.some((type) =>
    outline.ofType(type).some((seq) => path.includes(outline.reference(seq) ?? 0)),
  )
  return at === from && !isDecided ? path.reverse() : undefined
}

/** Maximum number of messages by which a view is extended; a turn adds a few. For more, it is read from the beginning. */
const maxStep = 100

const extended = (view: View, at: number, more: readonly number[]): View =>
  more.length === 0
    ? view
    : { ...view, at, items: [...view.items, ...more.map((entry) => ({ type: "shown" as const, entry }))] }

async function readWhole({ journal }: Live, outline: Outline, at: number): Promise<View> {
  const seq = outline.checkpointAt(at)
  const since = outline.path(at, outline.nodeOf(seq) ?? 0)
  assert(since !== undefined, `no path from checkpoint ${seq} to entry ${at}`)
  // Text recalled for the last message of a checkpoint, after the checkpoint was written, is shown after the checkpoint.
  const wanted = new Set([...since, ...(seq === 0 ? [] : [outline.nodeOf(seq) ?? 0])])
  const isWanted = (entry: number): boolean => entry > seq && wanted.has(outline.reference(entry) ?? 0)
  const own = withOwnMessage.flatMap((type) => outline.ofType(type)).filter(isWanted)
  const entries = await journal.entries([...(seq === 0 ? [] : [seq]), ...own])
  const before = new Map<number, Item[]>()
  const behind = new Map<number, Item[]>()
  const add = (items: Map<number, Item[]>, entry: number, message: Message): void => {
    items.set(entry, [...(items.get(entry) ?? []), { type: "made", message }])
  }
  for (const { body } of entries.values()) {
    if (body.type === "memory-retrieved" || body.type === "handoff-restored") add(before, body.before, body.message)
    if (body.type === "text-recalled") add(behind, body.after, body.message)
  }
  const body = entries.get(seq)?.body
  assert(seq === 0 || body?.type === "checkpoint-installed", `entry ${seq} is not a checkpoint`)
  const checkpoint = body?.type === "checkpoint-installed" ? body : undefined
  const items = [
    ...(checkpoint === undefined ? [] : [...checkpoint.items, ...(behind.get(checkpoint.node) ?? [])]),
    ...since.flatMap((entry): readonly Item[] => [
      ...(before.get(entry) ?? []),
      { type: "shown", entry },
      ...(behind.get(entry) ?? []),
    ]),
  ]
  const shown = new Set(items.flatMap((item) => (item.type === "shown" ? [item.entry] : [])))
  return { at, checkpoint: seq, items, standing: (checkpoint?.standing ?? []).filter((entry) => !shown.has(entry)) }
}

export async function readMessages({ journal, messages }: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  const missing = seqs.filter((seq) => !messages.has(seq))
  const entries = missing.length === 0 ? new Map() : await journal.entries(missing)
  for (const seq of missing) {
    const body = entries.get(seq)?.body
    if (body?.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
  }
  return seqs.flatMap((seq) => messages.get(seq) ?? [])
}

/** Types of small entries that every call needs. */
const keptTypes: ReadonlySet<string> = new Set(
  namesIn("session-opened calls-judged stack-seen branch-opened lookups-repeated summary-begun"),
)

/** Drops messages that are no longer shown, so that memory use depends on the view. They can be read again. */
export function release({ journal, messages }: Live, view: View): void {
  const shown = new Set(entriesIn(view))
  for (const seq of messages.keys()) if (!shown.has(seq)) messages.delete(seq)
  const outline = journal.outline()
  journal.release((seq) => seq === view.checkpoint || keptTypes.has(outline.typeOf(seq) ?? ""))
}

/** A view, the request that it is put into, and that request's separation. */
export type FramedView = { readonly frame: ModelRequest; readonly separation: Separation; readonly view: View }

/** A view assembled for one call: its request, its separation, and the messages to send. */
export type AssembledView = {
  /** The request that the messages belong to: the client's own, or the log's messages in a frame. */
  readonly frame: ModelRequest
  readonly messages: Transcript
  /** Nothing is left out, shortened or added; only repairs differ from the frame. */
  readonly showsAll: boolean
  /** The conversation's original messages by id, before shortening and repair. */
  readonly known: ReadonlyMap<string, Message>
  readonly events: readonly RepairEvent[]
  readonly separation: Separation
}

/** The messages that a view shows, with infrastructure in its place, repaired; the frame's own if nothing changes. */
export function assemble(
  { frame, separation, view }: FramedView,
  how: "as-shown" | "whole" = "as-shown",
): AssembledView {
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
    // Computed on demand: only a compaction needs it.
    get known() {
      return known()
    },
    separation:
      repaired.messages === separation.request.messages
        ? separation
        : separateMade(separation, { ...frame, messages: repaired.messages }),
    ...repaired,
  }
}

/** The messages of a view, with infrastructure back in its place. */
function joined(
  separation: Separation,
  frame: ModelRequest,
  { items }: View,
  byId: ReadonlyMap<string, Message>,
  how: "as-shown" | "whole",
): Pick<ModelRequest, "messages"> {
  // A generated message that is in the frame was separated with it: use the separated one, and `rejoin` restores its documents.
  const made = (message: Message): Message | undefined =>
    frame.messages.includes(message) ? byId.get(message.id) : message
  const shown = showItems(items, { find: (id) => byId.get(id), made }, how)
  return isSame(shown, separation.conversation) ? frame : rejoin(separation, shown)
}

const shownWhole = createRecall<readonly Item[]>()

/** True if a view shows the whole conversation unchanged. The part that was checked in the last call is skipped. */
function showsAll(items: readonly Item[], conversation: Transcript): boolean {
  if (items.length !== conversation.length) return false
  const known = shownWhole.find(conversation)
  let at = 0
  while (known !== undefined && at < known.common && known.made[at] === items[at]) at++
  for (let last = lastEntry(items[at - 1]); at < items.length; at++) {
    const item = items[at]
    // Entry numbers rise along a branch, so no entry occurs twice.
    if (item?.type !== "shown" || item.edits !== undefined || item.entry <= last) return false
    if (conversation[at]?.id !== entryId(item.entry)) return false
    last = item.entry
  }
  shownWhole.keep(conversation, items)
  return true
}

const lastEntry = (item: Item | undefined): number => (item?.type === "shown" ? item.entry : 0)

/**
 * Repairs incomplete tool pairs: providers refuse a call without a result. A request that continues history at the provider is left
 * unchanged, because the provider has the other half.
 */
function repairFrame(frame: ModelRequest, messages: Transcript): Pick<AssembledView, "messages" | "events"> {
  if (frame.held !== undefined) return { messages, events: [] }
  return repair(messages, { ended: true, adjacent: adjacencyOf[frame.format] })
}

const isSame = (one: Transcript, other: Transcript): boolean =>
  one.length === other.length && one.every((message, n) => message === other[n])

/** The log's messages in a frame: infrastructure first, then what the view shows. */
export function frameMessages(
  frame: ModelRequest,
  view: View,
  find: (seq: number) => Message | undefined,
): ModelRequest {
  const standing = view.standing.flatMap((seq) => find(seq) ?? [])
  return { ...frame, messages: [...frame.messages, ...standing, ...messagesOf(view, find)] }
}

export const messagesOf = ({ items }: View, find: (seq: number) => Message | undefined): Transcript =>
  items.flatMap((item) => (item.type === "made" ? [item.message] : (find(item.entry) ?? [])))

/** The entries with infrastructure: whole messages, and messages that documents were separated from. */
export function standingEntries({ infrastructure, request }: Separation): readonly number[] {
  const holders = infrastructure.documents.flatMap(({ place }) => request.messages[place.message]?.id ?? [])
  const ids = new Set([...infrastructure.messages.map(({ id }) => id), ...holders])
  return [...ids].flatMap((id) => seqOf(id) ?? [])
}
