import type { Head, OutlineEntry } from "../../store/store.ts"

/** A message's position in the tree. */
type MessageNode = {
  readonly seq: number
  readonly parent: number
  readonly key: string
  readonly depth: number
}

/** The structure of a session's log without the bodies. It only grows; `extend` adds new entries. */
export type Outline = {
  readonly head: () => Head
  readonly extend: (entries: readonly OutlineEntry[]) => void
  readonly node: (seq: number) => MessageNode | undefined
  /** The child of `parent` with this content key; the newest if there are several. */
  readonly child: (parent: number, key: string) => number | undefined
  /** Did the conversation continue after this message, beyond one response? */
  readonly isContinued: (seq: number) => boolean
  /** The session's current message: the last one appended, on any branch. */
  readonly tip: () => number
  /** The messages of a branch after `after`, oldest first; undefined if `after` is not on it. */
  readonly path: (tip: number, after?: number) => readonly number[] | undefined
  /** The checkpoint in force at a message: the newest on its branch that was not undone; 0 if there is none. */
  readonly checkpointAt: (tip: number) => number
  readonly isUndone: (checkpoint: number) => boolean
  readonly nodeOf: (checkpoint: number) => number | undefined
  /** Entries of a type, oldest first; not for messages, which are found by branch. */
  readonly ofType: (type: string) => readonly number[]
  /** The entry that an entry refers to. */
  readonly reference: (seq: number) => number | undefined
  readonly typeOf: (seq: number) => string | undefined
}

export function createOutline(): Outline {
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

  const checkpointAt = (from: number): number => {
    for (let at = from; ; at = nodes.get(at)?.parent ?? 0) {
      const found = checkpoints.get(at)?.findLast((seq) => !undone.has(seq))
      if (found !== undefined || at === 0) return found ?? 0
    }
  }

  const path: Outline["path"] = (from, after = 0) => {
    const found: number[] = []
    let at = from
    for (; at > 0 && at !== after; at = nodes.get(at)?.parent ?? 0) found.push(at)
    return at === after ? found.reverse() : undefined
  }

  return {
    head: () => head,
    extend: (entries) => entries.forEach(extend),
    node: (seq) => nodes.get(seq),
    child: (parent, key) => {
      const last = newest.get(parent)
      return last !== undefined && nodes.get(last)?.key === key ? last : older.get(`${parent} ${key}`)
    },
    isContinued: (seq) => {
      const behind = newest.get(seq)
      return behind !== undefined && newest.has(behind)
    },
    tip: () => tip,
    path,
    checkpointAt,
    isUndone: (checkpoint) => undone.has(checkpoint),
    nodeOf: (checkpoint) => references.get(checkpoint),
    ofType: (type) => byType.get(type) ?? [],
    reference: (seq) => references.get(seq),
    typeOf: (seq) => types.get(seq),
  }
}

function listIn<Key>(lists: Map<Key, number[]>, key: Key): number[] {
  const found = lists.get(key) ?? []
  lists.set(key, found)
  return found
}
