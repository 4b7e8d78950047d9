import { ownText } from "../message/fence.ts"
import type { Group } from "../message/group.ts"
import type { CallId, Message, Part, Transcript } from "../message/message.ts"
import { createPerObject } from "../message/recall.ts"
import { parseDigest } from "./summary/digest-text.ts"
import type { Digest } from "./summary/summary.ts"

/** Which of our own messages this is: a digest or pins. A digest that was cut, edited or made up counts as any other message. */
export function ownMessage({ role, parts }: Message): ReturnType<typeof ownText> {
  const [only] = parts
  if (role !== "user" || parts.length !== 1 || only?.type !== "text") return undefined
  const own = ownText(only.text)
  return own === "digest" && digestIn(only) === undefined ? undefined : own
}

/** The digest that a part is, read once. */
const digestIn = createPerObject((part: Part): Digest | undefined =>
  part.type === "text" ? parseDigest(part.text) : undefined,
)

/** The digest that a message is, if it is one. */
export function digestOf(message: Message): Digest | undefined {
  const [only] = message.parts
  return only !== undefined && ownMessage(message) === "digest" ? digestIn(only) : undefined
}

/** Asks for a compaction and is none: the model still sees what comes before it. */
const trigger = "compaction_trigger"

/** Does a provider's own compaction stand in this message? */
export const holdsCompaction = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === "opaque" && part.kind.startsWith("compaction") && part.kind !== trigger)

/** Start of the first group that the model still sees: the one after the last compaction of the provider. */
export function firstSeen(groups: readonly Group[], messages: Transcript): number {
  const last = messages.findLastIndex(holdsCompaction)
  return last < 0 ? 0 : (groups.find(({ start, end }) => start <= last && last < end)?.end ?? 0)
}

export const pinsReason = "the pinned rules"

/** Why a group stays whatever the strategy, in words for an error message. */
export type KeepReason =
  | "the latest user message and what belongs to it"
  | "calls that wait for their results"
  | "what the model has not answered yet"
  | "system messages amid the conversation"
  | "the provider's own compaction"
  | typeof pinsReason
  | "the beginning of the answer"
  | "what follows the history that the provider holds"

/** Where the user spoke last, where an answer was begun, which calls still wait, and where what the model has not answered yet begins. */
type Landmarks = {
  readonly latest: number | undefined
  readonly begun: number | undefined
  readonly waiting: ReadonlySet<CallId>
  readonly unanswered: number
}

/** Why this group must stay; undefined if the strategy may choose. */
export function keepReasonOf(group: Group, messages: Transcript, landmarks: Landmarks): KeepReason | undefined {
  const { latest, begun, waiting, unanswered } = landmarks
  const holds = (at: number | undefined): boolean => at !== undefined && group.start <= at && at < group.end
  if (holds(latest)) return "the latest user message and what belongs to it"
  if (group.calls.some((call) => waiting.has(call))) return "calls that wait for their results"
  if (group.type === "system") return "system messages amid the conversation"
  const own = messages.slice(group.start, group.end)
  if (group.type === "opaque" || own.some(holdsCompaction)) return "the provider's own compaction"
  if (own.some((message) => ownMessage(message) === "pins")) return pinsReason
  if (holds(begun)) return "the beginning of the answer"
  const isOurs = own.every((message) => ownMessage(message) !== undefined)
  return group.start >= unanswered && !isOurs ? "what the model has not answered yet" : undefined
}
