import { present } from "../../message/present.ts"
import type { EntryBody } from "./entry.ts"
import type { Outline } from "./outline.ts"

/** An entry that never reached the store, with the sequence number that it would have had. */
export type UnsavedEntry = { readonly seq: number; readonly body: EntryBody }

type RebaseResult = {
  readonly bodies: readonly EntryBody[]
  /** New sequence numbers by old ones. */
  readonly places: ReadonlyMap<number, number>
}

type RebaseOptions = {
  readonly opening: () => EntryBody
  /** Do messages go after what others wrote meanwhile? Those of a client's whole history keep their parent. */
  readonly follows: () => boolean
}

/**
 * Convert entries written while the store was unavailable, so that they can be appended after what others wrote. Messages get new parents,
 * and messages that others wrote too are dropped; rules and usage stay. Compactions are dropped, because their messages may have moved;
 * they are made again when needed.
 */
export function rebase(
  unsavedEntries: readonly UnsavedEntry[],
  outline: Outline,
  { opening, follows }: RebaseOptions,
): RebaseResult {
  const places = new Map<number, number>()
  const isEmpty = outline.head().seq === 0
  const bodies: EntryBody[] = isEmpty && unsavedEntries.length > 0 ? [opening()] : []
  const placeOf = createPlacing(unsavedEntries, outline, places)
  for (const { seq, body } of unsavedEntries) {
    const written = rewrite(body, placeOf, outline, follows())
    if (typeof written === "number") places.set(seq, written)
    else if (written !== undefined) places.set(seq, outline.head().seq + bodies.push(written))
  }
  return { bodies, places }
}

/**
 * The new sequence number of an entry. The first message of a process that never read the log goes after the log's end, unless it begins a
 * client's whole history: that begins at the root, after the infrastructure that was seen with it.
 */
function createPlacing(
  unsavedEntries: readonly UnsavedEntry[],
  outline: Outline,
  places: ReadonlyMap<number, number>,
): (seq: number) => number {
  const opened = unsavedEntries.some(({ body }) => body.type === "session-opened")
  const first = unsavedEntries.find(({ body }) => body.type === "message-appended" || body.type === "stack-seen")
  const start = opened && first?.body.type === "message-appended" ? outline.tip() : 0
  return (seq) => {
    if (seq === 0) return start
    return places.get(seq) ?? (outline.typeOf(seq) === undefined ? start : seq)
  }
}

/** The body with new references, the number of an existing equal entry, or undefined to drop it. */
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
    case "stack-installed":
      return body
    case "session-opened":
    case "branch-opened":
    case "checkpoint-installed":
    case "checkpoint-undone":
    case "summary-begun":
    case "memory-flushed":
    case "memory-retrieved":
    case "handoff-restored":
    case "text-recalled":
    case "lookups-repeated":
      return undefined
  }
}
