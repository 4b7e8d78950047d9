import type { Message, MessageId, Part, Transcript } from "../../message/message.ts"
import type { RequestPieces } from "./breakpoints.ts"
import type { Separation } from "./separate.ts"

/**
 * Put infrastructure and conversation together again. An unchanged conversation gives the very pieces of the request; in a changed
 * one every lifted piece stands, unaltered, before the first thing that came after it, and so before any summary of what it led.
 */
export function rejoin(separation: Separation, conversation: Transcript = separation.conversation): RequestPieces {
  const { request, infrastructure } = separation
  if (conversation === separation.conversation) return request
  const origins = originsOf(separation)
  const places = conversation.map(({ id }) => origins.get(id)?.at)
  const kept = new Set(conversation.map(({ id }) => id))
  const whole = new Set(infrastructure.messages)
  const alone = request.messages.flatMap((message, at): readonly Lifted<Message>[] => {
    const lifted = origins.get(message.id)?.lifted ?? []
    if (whole.has(message)) return [{ at, item: message }]
    if (lifted.length === 0 || kept.has(message.id)) return []
    const parts = lifted.map(({ item }) => item)
    return [{ at, item: parts.length === message.parts.length ? message : { ...message, parts } }]
  })
  const restored = conversation.map((message) => restore(message, origins.get(message.id)))
  return { system: request.system, tools: request.tools, messages: weave(alone, restored, places) }
}

/** A message as the client sent it: where it stood, what was lifted out of it, and what it is in the conversation. */
type Origin = {
  readonly at: number
  readonly sent: Message
  readonly lifted: readonly Lifted<Part>[]
  readonly separated?: Message
}

function originsOf({ request, infrastructure, conversation }: Separation): ReadonlyMap<MessageId, Origin> {
  const documents = Map.groupBy(infrastructure.documents, ({ place }) => place.message)
  const separated = new Map(conversation.map((message) => [message.id, message]))
  return new Map(
    request.messages.map((sent, at): [MessageId, Origin] => {
      const lifted = (documents.get(at) ?? []).flatMap(({ place }): readonly Lifted<Part>[] => {
        const item = sent.parts[place.part]
        return item === undefined ? [] : [{ at: place.part, item }]
      })
      const left = separated.get(sent.id)
      return [sent.id, { at, sent, lifted, ...(left === undefined ? {} : { separated: left }) }]
    }),
  )
}

/** The message that was sent, or, if a stage changed it, the changed one with its documents back among its parts. */
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

/** Something that was lifted out of a list, and where it stood. */
type Lifted<Item> = { readonly at: number; readonly item: Item }

/**
 * Put each lifted item before the first kept one that stood after it. A kept item without a place is new: it stands for what led
 * to the next one that has a place.
 */
function weave<Item>(
  lifted: readonly Lifted<Item>[],
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
