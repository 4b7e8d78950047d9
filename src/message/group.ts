import { assert } from "./assert.ts"
import type { CallId, CallKind, Message, MessageId, Part, ToolCallPart, ToolResultPart, Transcript } from "./message.ts"
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
  /** Calls of this group without a result, including calls that need approval. */
  readonly pending: readonly CallId[]
}

const knownGroups = createRecall<readonly Group[]>()

/** Groups a transcript. Earlier groups that cannot change any more are reused. */
export function groupTurns(messages: Transcript, earlier?: readonly Group[]): readonly Group[] {
  if (earlier !== undefined) return groupOn(messages, earlier)
  const known = knownGroups.find(messages)
  if (known !== undefined && known.common === messages.length && known.of.length === messages.length) return known.made
  const groups = groupOn(messages, known === undefined ? [] : groupsWithin(known.made, known.common))
  knownGroups.keep(messages, groups)
  return groups
}

/** Returns the groups that end within the first `length` messages. */
const groupsWithin = (groups: readonly Group[], length: number): readonly Group[] =>
  groups.slice(0, groups.findLastIndex(({ end }) => end <= length) + 1)

/** Groups a transcript; `earlier` are the groups of a prefix, of which only those that can still change are computed again. */
function groupOn(messages: Transcript, earlier: readonly Group[]): readonly Group[] {
  const waiting = earlier.findIndex(({ pending }) => pending.length > 0)
  // If no call waits, only the last group can still grow: the end at -1 leaves it out.
  const settled = earlier.slice(0, waiting)
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

/**
 * Returns the end of the group at `start`. Consecutive assistant messages form one group, and so do a call, its result and everything
 * between them.
 */
function endOfGroup(messages: Transcript, start: number, reach: ReadonlyMap<number, number>): number {
  let last = start
  if (isAssistantTurn(messages[start])) while (isAssistantTurn(messages[last + 1])) last++
  for (let at = start; at <= last; at++) last = Math.max(last, reach.get(at) ?? 0)
  return last + 1
}

const isAssistantTurn = (message: Message | undefined): boolean => message?.role === "assistant" && !isOpaque(message)

/** True for a provider's compaction item, which belongs to no turn. */
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

/** Finds the unanswered end. An unfinished response, from message `begun` on, does not count as an answer. */
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
  /** Results without a call before them, or whose call already has a result. */
  readonly orphans: readonly PartPlace[]
}

/** Pairs each result with the latest unanswered call of the same id before it. Starts at message `from`. */
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

/** Returns the key that a call and its result share: the id, and whether the provider runs the call. */
export const pairKey = ({ callId, kind }: Pick<PartPlace, "callId" | "kind">): string =>
  kind === "provider" ? `provider ${callId}` : `client ${callId}`

function placeOf({ callId, kind }: ToolCallPart | ToolResultPart, message: number, part: number): PartPlace {
  return { callId, message, part, kind }
}

/**
 * Where results have to follow: right after the message with the call (`own`), or after the whole assistant turn with the call (`turn`).
 */
export type Adjacency = "own" | "turn"

/** Returns a test whether something between a call and its result does not belong there. One pass over the messages, then O(1) per pair. */
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

/** A fault that no request to a provider should have, with its position. */
export type TranscriptFault = {
  readonly code:
    | "call-without-result"
    | "result-without-call"
    | "result-before-call"
    | "result-repeated"
    | "result-not-adjacent"
    | "call-id-repeated"
    | "result-misplaced"
    | "call-misplaced"
    | "message-id-repeated"
    | "message-empty"
  readonly messageId: MessageId
  readonly callId?: CallId
}

/**
 * Returns all faults of a transcript; empty if it is valid. Calls of the last group may still lack their results. If the transcript
 * continues one that was valid, only what is new is checked.
 */
export function checkTranscript(messages: Transcript, options: CheckOptions = {}): readonly TranscriptFault[] {
  if (isStillValid(messages, options)) return []
  const faults = faultsIn(messages, options)
  if (faults.length === 0) keepFrom(messages, options.adjacent, { ids: new Set(), calls: new Set(), starts: [] }, 0)
  return faults
}

function faultsIn(messages: Transcript, options: CheckOptions): readonly TranscriptFault[] {
  return [...repeatedIds(messages), ...pairFaults(messages, options)]
}

const idAt = (messages: Transcript, at: number): MessageId => {
  const message = messages[at]
  assert(message !== undefined, `no message at ${at}`)
  return message.id
}

function repeatedIds(messages: Transcript): readonly TranscriptFault[] {
  const seen = new Set<MessageId>()
  const calls = new Set<CallId>()
  const faults: TranscriptFault[] = []
  for (const { id, parts } of messages) {
    if (seen.has(id)) faults.push({ code: "message-id-repeated", messageId: id })
    seen.add(id)
    for (const part of parts) {
      if (part.type !== "tool-call") continue
      if (calls.has(part.callId)) faults.push({ code: "call-id-repeated", messageId: id, callId: part.callId })
      calls.add(part.callId)
    }
  }
  return faults
}

function pairFaults(messages: Transcript, { adjacent, ended = false }: CheckOptions): readonly TranscriptFault[] {
  const { pairs, open, orphans } = pairCalls(messages)
  const opened = new Set(open.map(pairKey))
  const answered = new Set(pairs.map(({ call }) => pairKey(call)))
  const fault = (code: TranscriptFault["code"], { message, callId }: PartPlace): TranscriptFault => ({
    code,
    messageId: idAt(messages, message),
    callId,
  })
  const orphanCode = (key: string): TranscriptFault["code"] =>
    opened.has(key) ? "result-before-call" : answered.has(key) ? "result-repeated" : "result-without-call"
  const separated = adjacent === undefined ? [] : pairs.filter(findParted(messages, adjacent))
  return [
    ...abandonedCalls(messages, open, ended).map((place) => fault("call-without-result", place)),
    ...orphans.map((place) => fault(orphanCode(pairKey(place)), place)),
    ...pairs.filter((pair) => isMisplaced(messages, pair)).map(({ result }) => fault("result-misplaced", result)),
    ...messages.filter(isEmpty).map(({ id }): TranscriptFault => ({ code: "message-empty", messageId: id })),
    ...misplacedCalls(messages),
    ...separated.map(({ result }) => fault("result-not-adjacent", result)),
  ]
}

/** Returns the open calls that will get no result: all but those of the last group, if the user has not spoken since. */
export function abandonedCalls(messages: Transcript, open: readonly PartPlace[], ended: boolean): readonly PartPlace[] {
  if (open.length === 0) return []
  const lastGroup = groupTurns(messages, []).at(-1)?.start ?? 0
  const relayed = new Set(open.filter(({ kind }) => kind === "other").map(({ message }) => message))
  const lastSpoken = messages.findLastIndex(({ role, parts }, at) => {
    const spoken = parts.some(({ type }) => type !== "tool-result" && type !== "tool-call" && type !== "reasoning")
    return ended ? spoken || relayed.has(at) : spoken && role !== "assistant"
  })
  const waitingFrom = ended ? lastSpoken : Math.max(lastGroup, lastSpoken + 1)
  // Calls that the provider continues, or that a person has yet to approve, may be open even in a request.
  return open.filter(
    ({ message, kind }) => message < waitingFrom || (ended && kind !== "provider" && kind !== "approval"),
  )
}

/**
 * True if a result is in the wrong place: results belong in user messages, except for a provider's own calls, which it answers inside the
 * assistant's turn.
 */
export function isMisplaced(messages: Transcript, { call, result }: Pairing["pairs"][number]): boolean {
  const role = messages[result.message]?.role
  return (
    messages[call.message]?.role === "assistant" &&
    role !== "user" &&
    !(call.kind === "provider" && role === "assistant")
  )
}

/** True for a message without content: no parts, or only empty texts. */
export const isEmpty = ({ parts }: Message): boolean => parts.every((part) => part.type === "text" && part.text === "")

function misplacedCalls(messages: Transcript): readonly TranscriptFault[] {
  return messages.flatMap(({ id, role, parts }) =>
    parts.flatMap((part): readonly TranscriptFault[] => {
      const wrong = part.type === "tool-call" && role !== "assistant"
      return wrong ? [{ code: "call-misplaced", messageId: id, callId: part.callId }] : []
    }),
  )
}

export type CheckOptions = {
  /** Also report results that do not follow their call as the API requires; many providers accept them. */
  readonly adjacent?: Adjacency | undefined
  /** No more results will come: a request about to be sent, a finished recording. Otherwise the last calls may still run. */
  readonly ended?: boolean
}

/** A transcript without a fault, up to a position where a group begins and no earlier call is open. */
type ValidTranscript = {
  readonly adjacent: Adjacency | undefined
  readonly settled: number
  /** The indexes at which its groups begin, up to the last of them. */
  readonly starts: readonly number[]
  readonly seen: Seen
}

/**
 * The ids of messages and calls before that position. The next check extends the same sets; `starts` identifies the check that they belong
 * to.
 */
type Seen = { readonly ids: Set<string>; readonly calls: Set<string>; starts: readonly number[] }

const knownValid = createRecall<ValidTranscript>()

/**
 * True if a transcript continues a valid one and its new messages have no fault. They start a group and no earlier call is open, so nothing
 * earlier can affect them, except an id that is used on both sides. `ended` only concerns open calls.
 */
function isStillValid(messages: Transcript, options: CheckOptions): boolean {
  const known = knownValid.find(
    messages,
    ({ adjacent, seen, starts }) => adjacent === options.adjacent && seen.starts === starts,
  )
  if (known === undefined) return false
  const { made, of, common } = known
  // The message at that position is the same one, so it still begins a group.
  const from = made.starts.findLast((start) => start < common) ?? 0
  if (from === 0) return false
  const newMessages = messages.slice(from)
  if (faultsIn(newMessages, options).length > 0) return false
  const { seen } = made
  note(seen, of.slice(from, made.settled), "delete")
  seen.starts = []
  const isNew = newMessages.every(({ id, parts }) => !seen.ids.has(id) && parts.every((part) => !isSeen(part, seen)))
  if (isNew) keepFrom(messages, options.adjacent, seen, from)
  return isNew
}

const isSeen = (part: Part, { calls }: Seen): boolean => part.type === "tool-call" && calls.has(part.callId)

function keepFrom(messages: Transcript, adjacent: Adjacency | undefined, seen: Seen, from: number): void {
  const groups = groupTurns(messages)
  const open = groups.findIndex(({ pending }) => pending.length > 0)
  const last = groups[open < 0 ? groups.length - 1 : open]
  const settled = last?.start ?? 0
  note(seen, messages.slice(from, settled), "add")
  seen.starts = groups.flatMap(({ start }) => (start <= settled ? start : []))
  knownValid.keep(messages, { adjacent, settled, starts: seen.starts, seen })
}

function note({ ids, calls }: Seen, messages: Transcript, how: "add" | "delete"): void {
  for (const { id, parts } of messages) {
    ids[how](id)
    for (const part of parts) if (part.type === "tool-call") calls[how](part.callId)
  }
}
