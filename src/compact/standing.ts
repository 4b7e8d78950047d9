import { channelOf } from "../message/channel-of.ts"
import type { Group } from "../message/group.ts"
import type { Message, Transcript } from "../message/message.ts"
import { ownText } from "../message/own-text.ts"
import type { Part } from "../message/part.ts"

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

/** The digest or pins that this message is, if it is one of ours. */
export function ownMessage({ role, parts }: Message): ReturnType<typeof ownText> {
  const [only] = parts
  return role === "user" && parts.length === 1 && only?.type === "text" ? ownText(only.text) : undefined
}

const holdsCompaction = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === "opaque" && part.kind.startsWith("compaction"))

/** The last message that holds a provider's own compaction: what stands before it the model does not see. */
export const lastCompaction = (messages: Transcript): number => messages.findLastIndex(holdsCompaction)

/** May a strategy not choose whether this group stays? The latest words of the user, what is pending, the system's words, a provider's item, pins. */
export function isMandatory(group: Group, messages: Transcript, latest: number | undefined): boolean {
  if (latest !== undefined && group.start <= latest && latest < group.end) return true
  if (group.pending.length > 0 || group.type === "system" || group.type === "opaque") return true
  return messages
    .slice(group.start, group.end)
    .some((message) => holdsCompaction(message) || ownMessage(message) === "pins")
}
