import { groupTurns } from "./group.ts"
import type { Transcript } from "./message.ts"
import type { Part } from "./part.ts"
import type { Adjacency } from "./parted.ts"
import { createRecall } from "./recall.ts"

export type CheckOptions = {
  /** Also name results that come too late for the letter of an API; many accept them. */
  readonly adjacent?: Adjacency
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
export function isStillGood(
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
export const keepGood = (messages: Transcript, options: CheckOptions): void =>
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
