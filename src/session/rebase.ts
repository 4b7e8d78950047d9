import { present } from "../message/present.ts"
import type { EntryBody } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"

/** An entry that never reached the store, with the place that it would have had. */
export type Stranded = { readonly seq: number; readonly body: EntryBody }

export type Rebased = {
  readonly bodies: readonly EntryBody[]
  /** The new place of each entry that has one, by its old. */
  readonly places: ReadonlyMap<number, number>
}

export type RebaseOptions = {
  readonly opening: () => EntryBody
  /** Do messages go behind what others wrote meanwhile? Those of a client's whole history stay where that has them. */
  readonly follows: () => boolean
}

/**
 * What was written while the store was out of reach, as it can be written behind what others wrote meanwhile. Messages find their place
 * anew, and those that others wrote too are left out; rules and usage stay. A compaction is not carried over: its messages may have
 * other places now, and it is made again when it is needed.
 */
export function rebase(stranded: readonly Stranded[], outline: Outline, { opening, follows }: RebaseOptions): Rebased {
  const places = new Map<number, number>()
  const isEmpty = outline.head().seq === 0
  const bodies: EntryBody[] = isEmpty && stranded.length > 0 ? [opening()] : []
  const placeOf = createPlacing(stranded, outline, places)
  for (const { seq, body } of stranded) {
    const written = rewrite(body, placeOf, outline, follows())
    if (typeof written === "number") places.set(seq, written)
    else if (written !== undefined) places.set(seq, outline.head().seq + bodies.push(written))
  }
  return { bodies, places }
}

/**
 * Where an entry stands now. The first message of a process that never saw the log goes behind the log's end, unless it begins a
 * client's whole history: that one begins at the beginning, after the stack that was seen with it.
 */
function createPlacing(
  stranded: readonly Stranded[],
  outline: Outline,
  places: ReadonlyMap<number, number>,
): (seq: number) => number {
  const opened = stranded.some(({ body }) => body.type === "session-opened")
  const first = stranded.find(({ body }) => body.type === "message-appended" || body.type === "stack-seen")
  const start = opened && first?.body.type === "message-appended" ? outline.tip() : 0
  return (seq) => {
    if (seq === 0) return start
    return places.get(seq) ?? (outline.typeOf(seq) === undefined ? start : seq)
  }
}

/** The body with its new place, the entry that says the same already, or nothing. */
function rewrite(
  body: EntryBody,
  placeOf: (seq: number) => number,
  outline: Outline,
  follows: boolean,
): EntryBody | number | undefined {
  switch (body.type) {
    case "message-appended": {
      const parent = placeOf(body.parent)
      const isFree = follows && parent <= outline.head().seq && outline.path(outline.tip(), parent) !== undefined
      return outline.child(parent, body.key) ?? { ...body, parent: isFree ? outline.tip() : parent }
    }
    case "rule-unpinned":
      return {
        ...body,
        pin: placeOf(body.pin),
        ...present({ said: body.said === undefined ? undefined : placeOf(body.said) }),
      }
    case "rule-pinned": {
      const { place } = body
      return place === undefined ? body : { ...body, place: { ...place, entry: placeOf(place.entry) } }
    }
    case "usage-reported":
    case "calls-judged":
    case "stack-seen":
      return body
    case "session-opened":
    case "branch-opened":
    case "checkpoint-installed":
    case "checkpoint-undone":
    case "summary-begun":
    case "memory-flushed":
    case "memory-retrieved":
      return undefined
  }
}
