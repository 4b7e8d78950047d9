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

/** The input of every draft of one compaction: the task, and what was found in its conversation. */
export type Scene = CompactTask & {
  readonly conversation: Transcript
  readonly groups: readonly Group[]
  /** True if the provider holds the earlier history: then every message stays, because no digest can replace what is not here. */
  readonly held: boolean
  /** For each group why it has to stay; undefined if it may be dropped. */
  readonly duties: readonly (KeepReason | undefined)[]
  /** For each group, true if it is one of our digests: a new digest replaces it. */
  readonly digests: readonly boolean[]
  /** For each group its tokens if each tool result were shortened to one line. */
  readonly barestTokens: readonly number[]
  /** Start of the first group after a provider's own compaction: none of our messages may be placed before it. */
  readonly firstSeen: number
  readonly outsideTokens: number
  /** Tokens outside the stack that are not conversation: documents among the user's messages. */
  readonly documentTokens: number
  /** Calls without a result when the request was made. */
  readonly waiting: ReadonlySet<CallId>
  /** Index of the first message that the model has not answered yet, and the calls whose results it has not read. */
  readonly unanswered: number
  readonly unread: ReadonlySet<CallId>
  /** Calls whose results stay whole because they were looked up again before, newest first until their share is used up. */
  readonly favored: ReadonlySet<CallId>
  /** Rules that have to be placed next to the stack because the stack does not contain them. */
  readonly pins: readonly PinnedRule[]
}

/** A document taken out of a message may need a message of its own. */
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
  const conversationTokens = conversation.reduce((sum, message) => sum + meter.message(message), 0)
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
    documentTokens: Math.max(0, outsideTokens - conversationTokens) + holders * framingTokens,
    pins: choices.pins.filter((pin) => !stack.some((text) => text.includes(pin.text))),
  }
}

/** Maximum share of the target size for results that were looked up again before. */
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
    const favoredCalls = calls.filter((call) => favored.has(call))
    const tokens = conversation.slice(start, end).reduce((sum, message) => sum + meter.message(message), 0)
    if (favoredCalls.length === 0 || tokens > left) continue
    left -= tokens
    for (const call of favoredCalls) kept.add(call)
  }
  return kept
}

/** Everything in the request is new to the provider, and its results may belong to calls that only the provider has. */
const heldReason: KeepReason = "what follows the history that the provider holds"

/** Maximum size of a prefilled answer: a longer last message is an answer that the model gave. */
const mostBegunTokens = 256

/** Returns the index of a prefilled answer, which Anthropic's models continue, if the request ends with one. */
function begunAnswer(
  { format, meter }: CompactTask,
  conversation: Transcript,
  groups: readonly Group[],
): number | undefined {
  const last = groups.at(-1)
  if (format !== "anthropic-messages" || last?.type !== "assistant") return undefined
  const answerTokens = conversation
    .slice(last.start, last.end)
    .reduce((sum, message) => sum + meter.message(message), 0)
  return answerTokens <= mostBegunTokens ? last.start : undefined
}

/** Tokens of a result that was shortened to one line. */
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
