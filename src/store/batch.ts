import { assert } from "../message/assert.ts"
import type { Batch, Head, Range } from "./store.ts"

/** Where the log of a session ends that nobody wrote to. */
export const noHead: Head = { seq: 0, hash: "" }

/** Loud if a batch does not follow on `after`: a log with a gap is the writer's bug. */
export function checkBatch({ after, entries }: Batch): void {
  assert(Number.isSafeInteger(after) && after >= 0, `not a place in a log: ${after}`)
  for (const [at, { seq }] of entries.entries()) assert(seq === after + 1 + at, `entry ${seq} behind ${after + at}`)
}

/** Whether a batch is the one that stands there already, by the hashes of the entries behind its `after`. */
export function isSameBatch({ entries }: Batch, hashes: readonly string[]): boolean {
  return entries.every(({ hash }, at) => hash === hashes[at])
}

/** The messages of a batch that may be in the log already, by parent and key; those behind a message of the batch itself cannot be. */
export function possibleDuplicates({ after, entries, isCopy }: Batch): readonly MessagePlace[] {
  if (isCopy) return []
  return entries.flatMap(({ parent, key }) =>
    key === undefined || parent === undefined || parent > after ? [] : [{ parent, key }],
  )
}

export type MessagePlace = { readonly parent: number; readonly key: string }

/** A range in full: every field said, none out of bounds. */
export function wholeRange({ from, to, limit }: Range = {}): Required<Range> {
  const whole = (value: number): number => Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)
  return {
    from: Math.max(1, whole(from ?? 1)),
    to: whole(to ?? Number.MAX_SAFE_INTEGER),
    limit: Math.max(0, whole(limit ?? Number.MAX_SAFE_INTEGER)),
  }
}
