import { type CheckOptions, checkTranscript } from "../message/check.ts"
import type { Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type RepairEvent, repair } from "../message/repair.ts"
import type { ModelRequest } from "../message/request.ts"
import { rejoin } from "../prompt/rejoin.ts"
import { type InjectedDocument, type Separation, separate } from "../prompt/separate.ts"
import { adjacencyOf } from "../wire/order.ts"
import { showItems, type View } from "./view.ts"

/** A view put together for one call: the request that it stands in, what it was parted into, and the messages to be sent. */
export type Assembled = {
  /** The request whose messages these are of: the client's own, or the log's messages in a frame. */
  readonly frame: ModelRequest
  readonly messages: Transcript
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
  const byId = new Map<string, Message>(separation.conversation.map((message) => [message.id, message]))
  // A message of ours that stands in the frame was parted with it: what was lifted out of it comes back by itself.
  const framed = new Set(frame.messages)
  const made = (message: Message): Message | undefined => (framed.has(message) ? byId.get(message.id) : message)
  const shown = showItems(view.items, { find: (id) => byId.get(id), made }, how)
  const same = isSame(shown, separation.conversation)
  const { messages } = same ? frame : rejoin(separation, shown)
  return { frame, known: byId, documents: separation.infrastructure.documents, ...mend(frame, messages) }
}

/** Pairs made whole, where they are not. What the provider holds the other half of is whole as it is. */
function mend(frame: ModelRequest, messages: Transcript): Pick<Assembled, "messages" | "events"> {
  const check: CheckOptions = present({ adjacent: adjacencyOf[frame.format] })
  if (frame.held !== undefined || checkTranscript(messages, check).length === 0) return { messages, events: [] }
  return repair(messages, { ended: true, ...check })
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
