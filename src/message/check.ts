import { assert } from "./assert.ts"
import { type Adjacency, findParted, groupTurns, type Pairing, type PartPlace, pairCalls, pairKey } from "./group.ts"
import type { CallId, Message, MessageId, Part, Transcript } from "./message.ts"
import { createRecall } from "./recall.ts"

/** Something that no provider should be sent, by name and place. */
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
 * Everything that is wrong with a transcript; nothing for a good one. Calls of the last group may still wait for their results. Of one
 * that was good and goes on, only what is new is looked at.
 */
export function checkTranscript(messages: Transcript, options: CheckOptions = {}): readonly TranscriptFault[] {
  if (isStillGood(messages, options, faultsIn)) return []
  const faults = faultsIn(messages, options)
  if (faults.length === 0) keepGood(messages, options)
  return faults
}

function faultsIn(messages: Transcript, { adjacent, ended = false }: CheckOptions): readonly TranscriptFault[] {
  const pairing = pairCalls(messages)
  return [
    ...repeatedIds(messages),
    ...pairFaults(messages, pairing, ended),
    ...misplacedCalls(messages),
    ...(adjacent === undefined ? [] : partedResults(messages, pairing, adjacent)),
  ]
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

function pairFaults(
  messages: Transcript,
  { pairs, open, orphans }: Pairing,
  ended: boolean,
): readonly TranscriptFault[] {
  const opened = new Set(open.map(pairKey))
  const answered = new Set(pairs.map(({ call }) => pairKey(call)))
  const unanswered = abandonedCalls(messages, open, ended)
  return [
    ...unanswered.map(
      ({ callId, message }): TranscriptFault => ({
        code: "call-without-result",
        messageId: idAt(messages, message),
        callId,
      }),
    ),
    ...orphans.map((place): TranscriptFault => {
      const key = pairKey(place)
      const code = opened.has(key)
        ? "result-before-call"
        : answered.has(key)
          ? "result-repeated"
          : "result-without-call"
      return { code, messageId: idAt(messages, place.message), callId: place.callId }
    }),
    ...pairs
      .filter((pair) => isMisplaced(messages, pair))
      .map(
        ({ result: { callId, message } }): TranscriptFault => ({
          code: "result-misplaced",
          messageId: idAt(messages, message),
          callId,
        }),
      ),
    ...messages.filter(isEmpty).map(({ id }): TranscriptFault => ({ code: "message-empty", messageId: id })),
  ]
}

/** The open calls that will get no result: all but those of the last group, if the user has not spoken since. */
export function abandonedCalls(messages: Transcript, open: readonly PartPlace[], ended: boolean): readonly PartPlace[] {
  if (open.length === 0) return []
  const lastGroup = groupTurns(messages, []).at(-1)?.start ?? 0
  const relayed = new Set(open.filter(({ kind }) => kind === "other").map(({ message }) => message))
  const lastSpoken = messages.findLastIndex(({ role, parts }, at) => {
    const spoken = parts.some(({ type }) => type !== "tool-result" && type !== "tool-call" && type !== "reasoning")
    return ended ? spoken || relayed.has(at) : spoken && role !== "assistant"
  })
  const waitingFrom = ended ? lastSpoken : Math.max(lastGroup, lastSpoken + 1)
  // What the provider goes on with, or a person has yet to allow, may wait even in a request.
  return open.filter(
    ({ message, kind }) => message < waitingFrom || (ended && kind !== "provider" && kind !== "approval"),
  )
}

/** Results come from the user's side; only a provider answers its calls inside the assistant's own turn. */
export function isMisplaced(messages: Transcript, { call, result }: Pairing["pairs"][number]): boolean {
  const role = messages[result.message]?.role
  return (
    messages[call.message]?.role === "assistant" &&
    role !== "user" &&
    !(call.kind === "provider" && role === "assistant")
  )
}

/** Nothing to say: no parts, or texts without a character. */
export const isEmpty = ({ parts }: Message): boolean => parts.every((part) => part.type === "text" && part.text === "")

function misplacedCalls(messages: Transcript): readonly TranscriptFault[] {
  return messages.flatMap(({ id, role, parts }) =>
    parts.flatMap((part): readonly TranscriptFault[] => {
      const wrong = part.type === "tool-call" && role !== "assistant"
      return wrong ? [{ code: "call-misplaced", messageId: id, callId: part.callId }] : []
    }),
  )
}

function partedResults(messages: Transcript, { pairs }: Pairing, adjacent: Adjacency): readonly TranscriptFault[] {
  return pairs.filter(findParted(messages, adjacent)).map(({ call, result }) => ({
    code: "result-not-adjacent",
    messageId: idAt(messages, result.message),
    callId: call.callId,
  }))
}

export type CheckOptions = {
  /** Also name results that come too late for the letter of an API; many accept them. */
  readonly adjacent?: Adjacency | undefined
  /** Nobody will answer any more: a request about to be sent, a finished recording. Otherwise the last calls may still run. */
  readonly ended?: boolean
}

/** A transcript without a fault, up to a place where a group begins and no call before it waits. */
type Good = {
  readonly options: CheckOptions
  readonly settled: number
  /** The places where its groups begin, up to the last of them. */
  readonly starts: readonly number[]
  readonly seen: Seen
}

/** The ids of messages and of calls before that place. Handed on, not copied: they belong to the one whose `starts` they have. */
type Seen = { readonly ids: Set<string>; readonly calls: Set<string>; starts: readonly number[] }

const recall = createRecall<Good>()

/**
 * Does a transcript go on from one without a fault, and has none in what is new? No call is open where the new begins and a group begins
 * there, so nothing before it can change what is wrong behind it; only an id may stand on both sides.
 */
function isStillGood(
  messages: Transcript,
  options: CheckOptions,
  faultsIn: (messages: Transcript, options: CheckOptions) => readonly unknown[],
): boolean {
  const known = recall.find(messages, ({ options: { adjacent, ended }, seen, starts }) => {
    return adjacent === options.adjacent && (ended ?? false) === (options.ended ?? false) && seen.starts === starts
  })
  if (known === undefined) return false
  const { made, of, common } = known
  // The message there is the same one: it still begins a group.
  const from = made.starts.findLast((start) => start < common) ?? 0
  if (from === 0) return false
  const news = messages.slice(from)
  if (faultsIn(news, options).length > 0) return false
  const { seen } = made
  forget(seen, of.slice(from, made.settled))
  seen.starts = []
  const isNew = news.every(({ id, parts }) => !seen.ids.has(id) && parts.every((part) => !isSeen(part, seen)))
  if (isNew) keepFrom(messages, options, seen, from)
  return isNew
}

const isSeen = (part: Part, { calls }: Seen): boolean => part.type === "tool-call" && calls.has(part.callId)

/** There is no fault in it. */
const keepGood = (messages: Transcript, options: CheckOptions): void =>
  keepFrom(messages, options, { ids: new Set(), calls: new Set(), starts: [] }, 0)

function keepFrom(messages: Transcript, options: CheckOptions, seen: Seen, from: number): void {
  const groups = groupTurns(messages)
  const open = groups.findIndex(({ pending }) => pending.length > 0)
  const last = groups[open < 0 ? groups.length - 1 : open]
  const settled = last?.start ?? 0
  note(seen, messages.slice(from, settled))
  seen.starts = groups.flatMap(({ start }) => (start <= settled ? start : []))
  recall.keep(messages, { options, settled, starts: seen.starts, seen })
}

function note({ ids, calls }: Seen, messages: Transcript): void {
  for (const { id, parts } of messages) {
    ids.add(id)
    for (const part of parts) if (part.type === "tool-call") calls.add(part.callId)
  }
}

function forget({ ids, calls }: Seen, messages: Transcript): void {
  for (const { id, parts } of messages) {
    ids.delete(id)
    for (const part of parts) if (part.type === "tool-call") calls.delete(part.callId)
  }
}
