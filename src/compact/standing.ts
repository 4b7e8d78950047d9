import { ownText } from "../message/fence.ts"
import type { Group } from "../message/group.ts"
import type { CallId, Message, Part, Transcript } from "../message/message.ts"
import { createPerObject } from "../message/recall.ts"
import { parseDigest } from "./summary/digest-text.ts"
import type { Digest } from "./summary/summary.ts"

/** Tells whether a message is one of ours: a digest or pins. A digest that was cut, edited or forged counts as any other message. */
export function ownMessage({ role, parts }: Message): ReturnType<typeof ownText> {
  const [only] = parts
  if (role !== "user" || parts.length !== 1 || only?.type !== "text") return undefined
  const groupMessages = ownText(only.text)
  return groupMessages === "digest" && digestIn(only) === undefined ? undefined : groupMessages
}

/** Returns the digest that a part contains, parsed once. */
const digestIn = createPerObject((part: Part): Digest | undefined =>
  part.type === "text" ? parseDigest(part.text) : undefined,
)

/** Returns the digest that a message contains, if any. */
export function digestOf(message: Message): Digest | undefined {
  const [only] = message.parts
  return only !== undefined && ownMessage(message) === "digest" ? digestIn(only) : undefined
}

/** This part requests a compaction but is none: the model still sees what comes before it. */
const trigger = "compaction_trigger"

/** True if the message contains a provider's own compaction. */
export const holdsCompaction = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === "opaque" && part.kind.startsWith("compaction") && part.kind !== trigger)

/** Start of the first group that the model still sees: the one after the provider's last compaction. */
export function firstSeen(groups: readonly Group[], messages: Transcript): number {
  const last = messages.findLastIndex(holdsCompaction)
  return last < 0 ? 0 : (groups.find(({ start, end }) => start <= last && last < end)?.end ?? 0)
}

export const pinsReason = "the pinned rules"

/** Why a group stays with any strategy, in words for an error message. */
export type KeepReason =
  | "the latest user message and what belongs to it"
  | "calls that wait for their results"
  | "what the model has not answered yet"
  | "system messages amid the conversation"
  | "the provider's own compaction"
  | typeof pinsReason
  | "the beginning of the answer"
  | "what follows the history that the provider holds"

/** Index of the user's latest message, of a prefilled answer and of the first unanswered message, and the calls without a result. */
type Landmarks = {
  readonly latest: number | undefined
  readonly begun: number | undefined
  readonly waiting: ReadonlySet<CallId>
  readonly unanswered: number
}

/** Returns why this group must stay; undefined if the strategy may choose. */
export function keepReasonOf(group: Group, messages: Transcript, landmarks: Landmarks): KeepReason | undefined {
  const { latest, begun, waiting, unanswered } = landmarks
  const holds = (at: number | undefined): boolean => at !== undefined && group.start <= at && at < group.end
  if (holds(latest)) return "the latest user message and what belongs to it"
  if (group.calls.some((call) => waiting.has(call))) return "calls that wait for their results"
  if (group.type === "system") return "system messages amid the conversation"
  const groupMessages = messages.slice(group.start, group.end)
  if (group.type === "opaque" || groupMessages.some(holdsCompaction)) return "the provider's own compaction"
  if (groupMessages.some((message) => ownMessage(message) === "pins")) return pinsReason
  if (holds(begun)) return "the beginning of the answer"
  const isOurs = groupMessages.every((message) => ownMessage(message) !== undefined)
  return group.start >= unanswered && !isOurs ? "what the model has not answered yet" : undefined
}
