import { type Group, groupTurns } from "./group.ts"
import type { CallId } from "./ids.ts"
import type { Transcript } from "./message.ts"

/** The end of a transcript that the model has not answered yet: the last tool round with its results, and every message since. */
export type Unanswered = {
  /** The first group of it; the number of groups where everything is answered. */
  readonly firstGroup: number
  /** The calls whose results the model has not read yet. */
  readonly unread: ReadonlySet<CallId>
}

/** Find it. An answer that was only begun, from message `begun` on, answers nothing. */
export function unansweredIn(
  messages: Transcript,
  groups: readonly Group[] = groupTurns(messages),
  begun = messages.length,
): Unanswered {
  const last = groups.findLastIndex(
    ({ type, start }) => (type === "assistant" || type === "tool-round") && start < begun,
  )
  const firstGroup = groups[last]?.type === "tool-round" ? last : last + 1
  const from = groups[firstGroup]?.start ?? messages.length
  const results = messages.slice(from).flatMap(({ parts }) => parts.filter((part) => part.type === "tool-result"))
  return { firstGroup, unread: new Set(results.filter(({ kind }) => kind !== "provider").map(({ callId }) => callId)) }
}
