import { type Format, type Message, messageId, wireText } from "../../message/message.ts"
import { decodeMessage, isAsRead } from "../../wire/decode.ts"

/** A message as the log keeps it: its wire text where that says all, otherwise the whole message. */
export type FrozenMessage =
  | { readonly format: Format; readonly wire: string }
  | { readonly message: Omit<Message, "id"> }

/** Formats in which a call id may stand for a place in the request: there the message is kept as it was read. */
const placeIds = /^#/

export function freeze(message: Message): FrozenMessage {
  const { id: _, ...rest } = message
  const { format, wire, parts } = message
  const byPlace = parts.some((part) => "callId" in part && placeIds.test(part.callId))
  const untouched = format !== undefined && wire !== undefined && format !== "gemini" && !byPlace
  return untouched && readsBack(message, format, wire) ? { format, wire } : { message: rest }
}

/** Only a message that nobody changed since it was read is what its wire text says. */
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
