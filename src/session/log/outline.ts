import { present } from "../../message/present.ts"
import type { Head, OutlineEntry } from "../../store/store.ts"
import type { EntryBody } from "./entry.ts"

/** A message's position in the tree. */
type MessageNode = {
  readonly seq: number
  readonly parent: number
  readonly key: string
  readonly depth: number
}

export type Outline = ReturnType<typeof createOutline>

/** The structure of a session's log without the bodies. It only grows; `extend` adds new entries. */
export function createOutline() {
  let head: Head = { seq: 0, hash: "" }
  let tip = 0
  const nodes = new Map<number, MessageNode>()
  /** The newest child of each message; older children, which are rare, by parent and content key. */
  const newest = new Map<number, number>()
  const older = new Map<string, number>()
  const byType = new Map<string, number[]>()
  const types = new Map<number, string>()
  const references = new Map<number, number>()
  const checkpoints = new Map<number, number[]>()
  const undone = new Set<number>()

  const extend = (entry: OutlineEntry): void => {
    const { seq, hash, type, parent, key } = entry
    head = { seq, hash }
    types.set(seq, type)
    if (type !== "message-appended") listIn(byType, type).push(seq)
    if (parent !== undefined) references.set(seq, parent)
    if (type === "message-appended" && parent !== undefined && key !== undefined) {
      nodes.set(seq, { seq, parent, key, depth: (nodes.get(parent)?.depth ?? 0) + 1 })
      const before = nodes.get(newest.get(parent) ?? 0)
      if (before !== undefined) older.set(`${parent} ${before.key}`, before.seq)
      newest.set(parent, seq)
      tip = seq
    } else if (type === "branch-opened" && parent !== undefined) tip = parent
    else if (type === "checkpoint-installed" && parent !== undefined) listIn(checkpoints, parent).push(seq)
    else if (type === "checkpoint-undone" && parent !== undefined) undone.add(parent)
  }

  /** The checkpoint in force at a message: the newest on its branch that was not undone; 0 if there is none. */
  const checkpointAt = (from: number): number => {
    for (let at = from; ; at = nodes.get(at)?.parent ?? 0) {
      const found = checkpoints.get(at)?.findLast((seq) => !undone.has(seq))
      if (found !== undefined || at === 0) return found ?? 0
    }
  }

  /** The messages of a branch after `after`, oldest first; undefined if `after` is not on it. */
  const path = (from: number, after = 0): readonly number[] | undefined => {
    const found: number[] = []
    let at = from
    for (; at > 0 && at !== after; at = nodes.get(at)?.parent ?? 0) found.push(at)
    return at === after ? found.reverse() : undefined
  }

  return {
    head: (): Head => head,
    extend: (entries: readonly OutlineEntry[]): void => entries.forEach(extend),
    node: (seq: number): MessageNode | undefined => nodes.get(seq),
    /** The child of `parent` with this content key; the newest if there are several. */
    child: (parent: number, key: string): number | undefined => {
      const last = newest.get(parent)
      return last !== undefined && nodes.get(last)?.key === key ? last : older.get(`${parent} ${key}`)
    },
    /** True if the conversation continued after this message, beyond one response. */
    isContinued: (seq: number): boolean => newest.has(newest.get(seq) ?? -1),
    /** The session's current message: the last one appended, on any branch. */
    tip: (): number => tip,
    path,
    checkpointAt,
    isUndone: (checkpoint: number): boolean => undone.has(checkpoint),
    nodeOf: (checkpoint: number): number | undefined => references.get(checkpoint),
    /** Entries of a type, oldest first; not for messages, which are found by branch. */
    ofType: (type: string): readonly number[] => byType.get(type) ?? [],
    /** The entry that an entry refers to. */
    reference: (seq: number): number | undefined => references.get(seq),
    typeOf: (seq: number): string | undefined => types.get(seq),
  }
}

function listIn<Key>(lists: Map<Key, number[]>, key: Key): number[] {
  const found = lists.get(key) ?? []
  lists.set(key, found)
  return found
}

/** An entry that never reached the store, with the sequence number that it would have had. */
export type UnsavedEntry = { readonly seq: number; readonly body: EntryBody }

/**
 * Converts entries written while the store was unavailable, so that they can be appended after what others wrote. Messages get new parents,
 * and messages that others wrote too are dropped; rules and usage stay. Compactions are dropped, because their messages may have moved;
 * they are made again when needed.
 */
export function rebase(
  unsavedEntries: readonly UnsavedEntry[],
  outline: Outline,
  /** `follows`: true if messages go after what others wrote meanwhile. Those of a client's whole history keep their parent. */
  { opening, follows }: { readonly opening: () => EntryBody; readonly follows: () => boolean },
): { readonly bodies: readonly EntryBody[]; readonly places: ReadonlyMap<number, number> } {
  /** New sequence numbers by old ones. */
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
