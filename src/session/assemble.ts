import { rejoin } from "../compact/stack/rejoin.ts"
import { type InjectedDocument, type Separation, separate } from "../compact/stack/separate.ts"
import { type CheckOptions, checkTranscript } from "../message/check.ts"
import type { Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { commonLength, createRecall } from "../message/recall.ts"
import { type RepairEvent, repair } from "../message/repair.ts"
import type { ModelRequest } from "../message/request.ts"
import { adjacencyOf } from "../wire/order.ts"
import { entryId, type Item } from "./log/entry.ts"
import { showItems, type View } from "./view.ts"

/** A view put together for one call: the request that it stands in, what it was parted into, and the messages to be sent. */
export type Assembled = {
  /** The request whose messages these are of: the client's own, or the log's messages in a frame. */
  readonly frame: ModelRequest
  readonly messages: Transcript
  /** Nothing is left out, shortened or put in: what differs from the frame was mended. */
  readonly showsAll: boolean
  /** The conversation's messages as they came in, by id, before anything was shortened or mended. */
  readonly known: ReadonlyMap<string, Message>
  readonly events: readonly RepairEvent[]
  /** The documents that stand in it. */
  readonly documents: readonly InjectedDocument[]
}

/**
 * Put a view together: what it shows, with everything that stands back in its place, fit to be sent. A view that changes nothing gives
 * the very messages of the frame.
 */
export function assemble(
  frame: ModelRequest,
  view: View,
  documents: ReadonlySet<string>,
  how: "as-shown" | "whole" = "as-shown",
): Assembled {
  const separation = separate(frame, { standing: documents })
  const { conversation, infrastructure } = separation
  let byId: ReadonlyMap<string, Message> | undefined
  const known = (): ReadonlyMap<string, Message> => {
    byId ??= new Map(conversation.map((message) => [message.id, message]))
    return byId
  }
  const isAll = showsAll(view.items, conversation)
  const { messages } = isAll ? frame : joined(separation, frame, view, known(), how)
  return {
    frame,
    showsAll: isAll,
    // Asked for when it is compacted.
    get known() {
      return known()
    },
    documents: infrastructure.documents,
    ...mend(frame, messages),
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
function mend(frame: ModelRequest, messages: Transcript): Pick<Assembled, "messages" | "events"> {
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
