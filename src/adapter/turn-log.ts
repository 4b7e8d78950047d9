import { type Format, type Message, messageId, type Transcript } from "../message/message.ts"
import { codecOf } from "../wire/codecs.ts"
import { readJson } from "../wire/json.ts"
import type { SteeringMessage } from "./steering.ts"

/**
 * Messages as they will stand after the earlier ones: in the format's own shape, with message and call ids that differ from all earlier
 * ones. One message may become several where the format has a message for each result.
 */
export function placeMessages(format: Format, earlier: Transcript, messages: Transcript): Transcript {
  const codec = codecOf(format)
  const all = [...earlier]
  for (const message of messages)
    for (const wire of codec.writeMessage(message)) all.push(codec.readMessage(readJson(wire, "request"), all))
  return all.slice(earlier.length)
}

/** User messages from texts or messages. */
export function userMessages(said: readonly SteeringMessage[]): Transcript {
  return said.map(
    (one): Message =>
      typeof one === "string" ? { id: messageId("said"), role: "user", parts: [{ type: "text", text: one }] } : one,
  )
}
