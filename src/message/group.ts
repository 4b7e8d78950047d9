import type { CallId, CallKind, Message, ToolCallPart, ToolResultPart, Transcript } from "./message.ts"
import { createRecall } from "./recall.ts"

/**
 * The unit that a compaction keeps or drops whole: a user message, an assistant message, or a tool round, from the assistant's first
 * message before its calls to the last of their results. Groups cover the transcript without gap or overlap.
 */
export type Group = {
  readonly type: "system" | "user" | "assistant" | "tool-round" | "opaque"
  /** The messages from `start` up to, not including, `end`. */
  readonly start: number
  readonly end: number
  readonly calls: readonly CallId[]
  /** Calls of this group that wait for a result, approvals included. */
  readonly pending: readonly CallId[]
}

const recall = createRecall<readonly Group[]>()

/** Group a transcript. Groups of an earlier call that cannot change any more are reused. */
export function groupTurns(messages: Transcript, earlier?: readonly Group[]): readonly Group[] {
  if (earlier !== undefined) return groupOn(messages, earlier)
  const known = recall.find(messages)
  if (known !== undefined && known.common === messages.length && known.of.length === messages.length) return known.made
  const groups = groupOn(messages, known === undefined ? [] : groupsWithin(known.made, known.common))
  recall.keep(messages, groups)
  return groups
}

/** The groups that end within the first messages. */
const groupsWithin = (groups: readonly Group[], length: number): readonly Group[] =>
  groups.slice(0, groups.findLastIndex(({ end }) => end <= length) + 1)

/** `earlier` are the groups of a prefix: only what can still change is looked at again. */
function groupOn(messages: Transcript, earlier: readonly Group[]): readonly Group[] {
  const waiting = earlier.findIndex(({ pending }) => pending.length > 0)
  const settled = earlier.slice(0, waiting < 0 ? Math.max(0, earlier.length - 1) : waiting)
  const from = settled.at(-1)?.end ?? 0
  const { pairs, open } = pairCalls(messages, from)
  const reach = new Map<number, number>()
  for (const { call, result } of pairs) reach.set(call.message, Math.max(reach.get(call.message) ?? 0, result.message))
  const unanswered = new Set(open.map(({ message, part }) => `${message}.${part}`))
  const groups = [...settled]
  for (let start = from; start < messages.length; ) {
    const end = endOfGroup(messages, start, reach)
    groups.push(makeGroup(messages, start, end, unanswered))
    start = end
  }
  return groups
}

/** Consecutive assistant messages form one group, and so do a call, its result and everything between them. */
function endOfGroup(messages: Transcript, start: number, reach: ReadonlyMap<number, number>): number {
  let last = start
  if (isTurnOfAssistant(messages[start])) while (isTurnOfAssistant(messages[last + 1])) last++
  for (let at = start; at <= last; at++) last = Math.max(last, reach.get(at) ?? 0)
  return last + 1
}

const isTurnOfAssistant = (message: Message | undefined): boolean => message?.role === "assistant" && !isOpaque(message)

/** A provider's compaction item belongs to no turn. */
const isOpaque = ({ parts }: Message): boolean =>
  parts.length > 0 && parts.every((part) => part.type === "opaque" && part.kind.startsWith("compaction"))

function makeGroup(messages: Transcript, start: number, end: number, unanswered: ReadonlySet<string>): Group {
  const calls: CallId[] = []
  const pending: CallId[] = []
  for (const [at, { parts }] of messages.slice(start, end).entries()) {
    for (const [n, part] of parts.entries()) {
      if (part.type !== "tool-call") continue
      calls.push(part.callId)
      if (unanswered.has(`${start + at}.${n}`)) pending.push(part.callId)
    }
  }
  const first = messages[start]
  const type = calls.length > 0 ? "tool-round" : first === undefined || isOpaque(first) ? "opaque" : first.role
  return { type, start, end, calls, pending }
}

/** The end of a transcript that the model has not answered yet: the last tool round with its results, and every message since. */
type Unanswered = {
  /** Index of its first group; the number of groups if everything is answered. */
  readonly firstGroup: number
  /** The calls whose results the model has not read yet. */
  readonly unread: ReadonlySet<CallId>
}

/** Find the unanswered end. An unfinished response, from message `begun` on, answers nothing. */
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

/** Position of a call or a result: message and part. */
export type PartPlace = {
  readonly callId: CallId
  readonly message: number
  readonly part: number
  readonly kind: CallKind
}

export type Pairing = {
  readonly pairs: readonly { readonly call: PartPlace; readonly result: PartPlace }[]
  /** Calls without a result. */
  readonly open: readonly PartPlace[]
  /** Results without a call before them, or with one that was answered already. */
  readonly orphans: readonly PartPlace[]
}

/** Match each result with the latest unanswered call of the same id before it. Reading starts at message `from`. */
export function pairCalls(messages: Transcript, from = 0): Pairing {
  const pairs: { readonly call: PartPlace; readonly result: PartPlace }[] = []
  const orphans: PartPlace[] = []
  const open = new Map<string, PartPlace[]>()
  for (let message = from; message < messages.length; message++) {
    for (const [part, content] of (messages[message]?.parts ?? []).entries()) {
      if (content.type !== "tool-call" && content.type !== "tool-result") continue
      const place = placeOf(content, message, part)
      const waiting = open.get(pairKey(place))
      if (content.type === "tool-call") {
        if (waiting === undefined) open.set(pairKey(place), [place])
        else waiting.push(place)
        continue
      }
      const call = waiting?.pop()
      if (call === undefined) orphans.push(place)
      else pairs.push({ call, result: place })
    }
  }
  return { pairs, open: [...open.values()].flat(), orphans }
}

/** The key that a call and its result share: the id, and whether the provider runs the call. */
export const pairKey = ({ callId, kind }: Pick<PartPlace, "callId" | "kind">): string =>
  kind === "provider" ? `provider ${callId}` : `client ${callId}`

function placeOf({ callId, kind }: ToolCallPart | ToolResultPart, message: number, part: number): PartPlace {
  return { callId, message, part, kind }
}

/** Where results must follow: directly behind the message with the call (`own`), or behind the whole assistant turn with the call (`turn`). */
export type Adjacency = "own" | "turn"

/** Whether anything between a call and its result does not belong there. One pass over the messages, then O(1) per pair. */
export function findParted(messages: Transcript, adjacent: Adjacency): (pair: Pairing["pairs"][number]) => boolean {
  // Prefix count of messages that may not be between a call and its result.
  const strange = [0]
  // Prefix count of calls that directly follow a result, where a new turn begins.
  const restarts = [0]
  for (const [at, message] of messages.entries()) {
    const calls = adjacent === "turn" && !isAnswers(message) && isCalls(message)
    const before = messages[at - 1]
    strange.push((strange[at] ?? 0) + (isAnswers(message) || calls ? 0 : 1))
    restarts.push((restarts[at] ?? 0) + (calls && before !== undefined && isAnswers(before) ? 1 : 0))
  }
  const between = (sums: readonly number[], from: number, to: number): number => (sums[to] ?? 0) - (sums[from] ?? 0)
  return ({ call, result }) => {
    if (call.message === result.message) return false
    const before = messages[result.message]?.parts.slice(0, result.part) ?? []
    if (before.some(({ type }) => type !== "tool-result")) return true
    const first = call.message + 1
    return between(strange, first, result.message) > 0 || between(restarts, first, result.message) > 0
  }
}

const isAnswers = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-result")

const isCalls = ({ parts }: Message): boolean => parts.every(({ type }) => type === "tool-call" || type === "reasoning")
