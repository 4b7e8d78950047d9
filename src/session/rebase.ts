import type { EntryBody } from "../log/entry.ts"
import type { Outline } from "../log/outline.ts"

/** An entry that never reached the store, with the place that it would have had. */
export type Stranded = { readonly seq: number; readonly body: EntryBody }

/**
 * What was written while the store was out of reach, as it can be written behind what others wrote meanwhile. Messages find their place
 * anew, and those that others wrote too are left out; rules and usage stay. A compaction is not carried over: its messages may have
 * other places now, and it is made again when it is needed.
 */
export function rebase(stranded: readonly Stranded[], outline: Outline): readonly EntryBody[] {
  const moved = new Map<number, number>()
  const bodies: EntryBody[] = []
  let next = outline.head().seq
  for (const { seq, body } of stranded) {
    const written = rewrite(body, moved, outline)
    if (typeof written === "number") moved.set(seq, written)
    else if (written !== undefined) {
      next += 1
      moved.set(seq, next)
      bodies.push(written)
    }
  }
  return bodies
}

/** The body with its new place, the entry that says the same already, or nothing. */
function rewrite(
  body: EntryBody,
  moved: ReadonlyMap<number, number>,
  outline: Outline,
): EntryBody | number | undefined {
  switch (body.type) {
    case "message-appended": {
      const parent = moved.get(body.parent) ?? body.parent
      return outline.child(parent, body.key) ?? { ...body, parent }
    }
    case "rule-unpinned":
      return { ...body, pin: moved.get(body.pin) ?? body.pin }
    case "rule-pinned":
    case "usage-reported":
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
