import { type Format, type Message, messageId, wireText } from "../../message/message.ts"
import { decodeMessage, isAsRead } from "../../wire/decode.ts"

/** A message as stored in the log: only its wire text if that is enough to decode it, otherwise the whole message. */
export type FrozenMessage =
  | { readonly format: Format; readonly wire: string }
  | { readonly message: Omit<Message, "id"> }

/** Call ids that are positions in the request; such a message is stored decoded. */
const placeIds = /^#/

export function freeze(message: Message): FrozenMessage {
  const { id: _, ...rest } = message
  const { format, wire, parts } = message
  const byPlace = parts.some((part) => "callId" in part && placeIds.test(part.callId))
  const untouched = format !== undefined && wire !== undefined && format !== "gemini" && !byPlace
  return untouched && readsBack(message, format, wire) ? { format, wire } : { message: rest }
}

/** Does decoding the wire text give this message? Only if it was not changed since it was decoded. */
function readsBack(message: Message, format: Format, wire: string): boolean {
  const { parts, role } = message
  if (isAsRead(message)) return true
  const again = decodeMessage(format, wire)
  return again.role === role && JSON.stringify(again.parts) === JSON.stringify(parts)
}

export function thaw(frozen: FrozenMessage, id: string): Message {
  if ("message" in frozen) return { ...frozen.message, id: messageId(id) }
  return { ...decodeMessage(frozen.format, wireText(frozen.wire)), id: messageId(id) }
}
