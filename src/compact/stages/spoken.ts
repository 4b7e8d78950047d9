import { channelOf } from "../../message/fence.ts"
import type { Message, Part, Transcript } from "../../message/message.ts"

/** Does someone speak in this message? Results, injected documents and our own texts are no one's words. */
export const isSpoken = (message: Message): boolean =>
  message.role === "user" && message.parts.some((part) => isSpokenPart(message, part))

export function isSpokenPart({ role }: Message, part: Part): boolean {
  if (part.type === "text") return part.text.trim() !== "" && channelOf(role, part) === "user"
  return part.type === "image" && channelOf(role, part) === "user"
}

/** Where the user spoke last, or nothing. */
export function latestSpoken(messages: Transcript): number | undefined {
  const at = messages.findLastIndex(isSpoken)
  return at < 0 ? undefined : at
}
