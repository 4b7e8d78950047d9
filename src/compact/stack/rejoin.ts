import type { Message, MessageId, Part, Transcript } from "../../message/message.ts"
import type { RequestPieces } from "./breakpoints.ts"
import type { Separation } from "./separate.ts"

/**
 * Puts infrastructure and conversation together again. An unchanged conversation gives the original request's pieces. In a changed one
 * every removed piece is placed, unaltered, before the first thing that came after it, and so before a summary of that.
 */
export function rejoin(separation: Separation, conversation: Transcript = separation.conversation): RequestPieces {
  const { request, infrastructure } = separation
  if (conversation === separation.conversation) return request
  const origins = originsOf(separation)
  const places = conversation.map(({ id }) => origins.get(id)?.at)
  const kept = new Set(conversation.map(({ id }) => id))
  const whole = new Set(infrastructure.messages)
  const alone = request.messages.flatMap((message, at): readonly Removed<Message>[] => {
    const lifted = origins.get(message.id)?.lifted ?? []
    if (whole.has(message)) return [{ at, item: message }]
    if (lifted.length === 0 || kept.has(message.id)) return []
    const parts = lifted.map(({ item }) => item)
    return [{ at, item: parts.length === message.parts.length ? message : { ...message, parts } }]
  })
  const restored = conversation.map((message) => restore(message, origins.get(message.id)))
  return { system: request.system, tools: request.tools, messages: weave(alone, restored, places) }
}

/** A message as the client sent it: its index, the parts removed from it, and its form in the conversation. */
type Origin = {
  readonly at: number
  readonly sent: Message
  readonly lifted: readonly Removed<Part>[]
  readonly separated?: Message
}

function originsOf({ request, infrastructure, conversation }: Separation): ReadonlyMap<MessageId, Origin> {
  const documents = Map.groupBy(infrastructure.documents, ({ place }) => place.message)
  const separated = new Map(conversation.map((message) => [message.id, message]))
  return new Map(
    request.messages.map((sent, at): [MessageId, Origin] => {
      const lifted = (documents.get(at) ?? []).flatMap(({ place }): readonly Removed<Part>[] => {
        const item = sent.parts[place.part]
        return item === undefined ? [] : [{ at: place.part, item }]
      })
      const left = separated.get(sent.id)
      return [sent.id, { at, sent, lifted, ...(left === undefined ? {} : { separated: left }) }]
    }),
  )
}

/** Returns the message as sent or, if a stage changed it, the changed one with its documents back in place. */
function restore(message: Message, origin: Origin | undefined): Message {
  if (origin === undefined) return message
  const { sent, lifted, separated } = origin
  if (message === separated) return sent
  if (lifted.length === 0) return message
  const gone = new Set(lifted.map(({ at }) => at))
  const left = [...sent.parts.keys()].filter((at) => !gone.has(at))
  const known = new Map(separated?.parts.map((part, n) => [part, left[n]]))
  const inPlace = message.parts.length === left.length
  const places = message.parts.map((part, n) => known.get(part) ?? (inPlace ? left[n] : undefined))
  return { ...message, parts: weave(lifted, message.parts, places) }
}

/** An item that was removed from a list, and its index there. */
type Removed<Item> = { readonly at: number; readonly item: Item }

/**
 * Inserts each removed item before the first kept one that came after it. A kept item without a place is new: it gets the place of the next
 * one that has one.
 */
function weave<Item>(
  lifted: readonly Removed<Item>[],
  kept: readonly Item[],
  placesOfKept: readonly (number | undefined)[],
): readonly Item[] {
  const places = [...placesOfKept]
  let next = Number.POSITIVE_INFINITY
  for (let n = places.length - 1; n >= 0; n--) {
    next = places[n] ?? next
    places[n] = next
  }
  const woven: Item[] = []
  let done = 0
  for (const [n, item] of kept.entries()) {
    const before = places[n] ?? next
    for (let piece = lifted[done]; piece !== undefined && piece.at < before; piece = lifted[++done]) {
      woven.push(piece.item)
    }
    woven.push(item)
  }
  return [...woven, ...lifted.slice(done).map(({ item }) => item)]
}
