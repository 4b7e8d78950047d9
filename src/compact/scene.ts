import { latestSpoken } from "../message/fence.ts"
import { type Group, groupTurns, unansweredIn } from "../message/group.ts"
import { type CallId, type Message, type Transcript, textOf } from "../message/message.ts"
import type { PinnedRule } from "../rules/pin.ts"
import type { Meter } from "../tokens/meter.ts"
import { isHeld } from "./held.ts"
import type { Separation } from "./stack/separate.ts"
import { firstSeen, type KeepReason, keepReasonOf, ownMessage } from "./standing.ts"
import type { CompactTask } from "./task.ts"
import { tokensOutsideStack } from "./verify.ts"

/** What every draft of one compaction starts from: the task, and what was found in its conversation. */
export type Scene = CompactTask & {
  readonly conversation: Transcript
  readonly groups: readonly Group[]
  /** Does the provider hold what came before? Then all of it stays and no digest can stand for any. */
  readonly held: boolean
  /** Why each group has to stay; nothing for one that may go. */
  readonly duties: readonly (KeepReason | undefined)[]
  /** Groups that are a digest of ours: a new digest takes them over. */
  readonly digests: readonly boolean[]
  /** What each group would still take if its tool results were down to a line each. */
  readonly barestTokens: readonly number[]
  /** The first message behind a provider's own compaction: nothing of ours may stand before it. */
  readonly firstSeen: number
  readonly outsideTokens: number
  /** What is outside the stack and no conversation either: documents among the user's words. */
  readonly documentTokens: number
  /** Calls that nobody had answered when the request was made. */
  readonly waiting: ReadonlySet<CallId>
  /** Where what the model has not answered yet begins, and the calls whose results it has not read. */
  readonly unanswered: number
  readonly unread: ReadonlySet<CallId>
  /** Calls whose results stay whole because they were looked up again before, the newest as far as their share goes. */
  readonly favored: ReadonlySet<CallId>
  /** Rules that must stand beside the stack because they do not stand in it. */
  readonly pins: readonly PinnedRule[]
}

/** A lifted document may have to stand in a message of its own. */
const framingTokens = 8

export function setScene(task: CompactTask): Scene {
  const { request, messages, separation, meter, choices } = task
  const { conversation, infrastructure } = separation
  const groups = groupTurns(conversation)
  const waiting = new Set(groupTurns(request.messages).at(-1)?.pending ?? [])
  const begun = begunAnswer(task, conversation, groups)
  const { firstGroup, unread } = unansweredIn(conversation, groups, begun)
  const unanswered = groups[firstGroup]?.start ?? conversation.length
  const landmarks = { latest: latestSpoken(conversation), begun, waiting, unanswered }
  const outsideTokens = tokensOutsideStack({ messages, infrastructure, conversation }, meter)
  const said = conversation.reduce((sum, message) => sum + meter.message(message), 0)
  const holders = new Set(infrastructure.documents.map(({ place }) => place.message)).size
  const stack = stackTexts(separation)
  const held = isHeld(request)
  return {
    ...task,
    conversation,
    groups,
    held,
    waiting,
    unanswered,
    unread,
    favored: favoredIn(task, conversation, groups),
    duties: groups.map((group) => (held ? heldReason : keepReasonOf(group, conversation, landmarks))),
    digests: groups.map(({ start, end }) =>
      conversation.slice(start, end).every((message) => ownMessage(message) === "digest"),
    ),
    barestTokens: groups.map(({ start, end }) =>
      conversation.slice(start, end).reduce((sum, message) => sum + barest(message, meter), 0),
    ),
    firstSeen: firstSeen(groups, conversation),
    outsideTokens,
    documentTokens: Math.max(0, outsideTokens - said) + holders * framingTokens,
    pins: choices.pins.filter((pin) => !stack.some((text) => text.includes(pin.text))),
  }
}

/** Of the room that is aimed at, the most that results take which were looked up again before. */
const favoredShare = 0.2

function favoredIn(
  { choices: { favored }, limits, meter }: CompactTask,
  conversation: Transcript,
  groups: readonly Group[],
): ReadonlySet<CallId> {
  const kept = new Set<CallId>()
  if (favored === undefined || favored.size === 0) return kept
  let left = limits.targetTokens * favoredShare
  for (const { start, end, calls } of groups.toReversed()) {
    const own = calls.filter((call) => favored.has(call))
    const tokens = conversation.slice(start, end).reduce((sum, message) => sum + meter.message(message), 0)
    if (own.length === 0 || tokens > left) continue
    left -= tokens
    for (const call of own) kept.add(call)
  }
  return kept
}

/** The provider has not seen any of it: it is all new, and its results may belong to calls that only the provider has. */
const heldReason: KeepReason = "what follows the history that the provider holds"

/** Longer last words are an answer that was given rather than one begun. */
const mostBegunTokens = 256

/** The answer's first words, which Anthropic's models go on from, if the request ends with such. */
function begunAnswer(
  { format, meter }: CompactTask,
  conversation: Transcript,
  groups: readonly Group[],
): number | undefined {
  const last = groups.at(-1)
  if (format !== "anthropic-messages" || last?.type !== "assistant") return undefined
  const said = conversation.slice(last.start, last.end).reduce((sum, message) => sum + meter.message(message), 0)
  return said <= mostBegunTokens ? last.start : undefined
}

/** What a result takes of which only a line is left. */
const markerTokens = 12

function barest(message: Message, meter: Meter): number {
  let tokens: number = meter.message(message)
  for (const part of message.parts)
    if (part.type === "tool-result") tokens -= Math.max(0, meter.part(part) - markerTokens)
  return tokens
}

function stackTexts({ infrastructure: { system, messages, documents } }: Separation): readonly string[] {
  return [system, ...messages.map(({ parts }) => parts), documents.map(({ part }) => part)].flat().map(textOf)
}
