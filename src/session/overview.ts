import { ownMessage } from "../compact/standing.ts"
import { present } from "../message/present.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import { readView } from "./read-view.ts"
import type { View } from "./view.ts"

/** A compaction of a session, for a reader. */
export type Checkpoint = {
  readonly id: string
  readonly atMs: number
  /** The last message that it covers. */
  readonly upTo: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly undone: boolean
  readonly inForce: boolean
  readonly focus?: string
}

/** One way that the history went: its last message, and how many there are from the first on. */
export type Branch = { readonly tip: string; readonly messages: number; readonly current: boolean }

/** How the messages of the branch that the session is on are shown to a model now. */
export type Shown = {
  readonly whole: number
  readonly shortened: number
  readonly leftOut: number
  /** Messages that hold the prompt stack and are there in any case. */
  readonly standing: number
  /** Messages of our own: digests, pinned rules, retrieved memory. */
  readonly made: Readonly<Record<"digest" | "pins" | "memory" | "other", number>>
}

/** What a session is, in figures. */
export type Overview = {
  readonly entries: number
  readonly types: Readonly<Record<string, number>>
  /** The one that the session is on first, then the newest. */
  readonly branches: readonly Branch[]
  /** The newest first. */
  readonly checkpoints: readonly Checkpoint[]
  readonly shown: Shown
  /** Does the store have all that this process knows of it? */
  readonly durable: boolean
}

export async function overview(live: Live): Promise<Overview> {
  const outline = live.journal.outline()
  const types: Record<string, number> = {}
  const parents = new Set<number>()
  for (let seq = 1; seq <= outline.head().seq; seq++) {
    const type = outline.typeOf(seq) ?? "unknown"
    types[type] = (types[type] ?? 0) + 1
    const parent = outline.node(seq)?.parent
    if (parent !== undefined) parents.add(parent)
  }
  const view = await readView(live, live.at)
  return {
    entries: outline.head().seq,
    types,
    branches: branchesOf(outline, parents, live.at),
    checkpoints: await checkpointsOf(live, view.checkpoint),
    shown: shownIn(view, outline.path(live.at) ?? []),
    durable: live.journal.isDurable(),
  }
}

function branchesOf(outline: Outline, parents: ReadonlySet<number>, at: number): readonly Branch[] {
  const branches: Branch[] = []
  const add = (seq: number): void => {
    const depth = outline.node(seq)?.depth
    if (depth !== undefined) branches.push({ tip: entryId(seq), messages: depth, current: seq === at })
  }
  add(at)
  for (let seq = outline.head().seq; seq > 0; seq--) if (seq !== at && !parents.has(seq)) add(seq)
  return branches
}

async function checkpointsOf({ journal }: Live, inForce: number): Promise<readonly Checkpoint[]> {
  const outline = journal.outline()
  const entries = await journal.entries(outline.ofType("checkpoint-installed"))
  return [...entries.values()].reverse().flatMap(({ seq, atMs, body }): readonly Checkpoint[] => {
    if (body.type !== "checkpoint-installed") return []
    const { node, remedy, beforeTokens, afterTokens, focus } = body
    const state = { undone: outline.isUndone(seq), inForce: seq === inForce }
    const sizes = { remedy, beforeTokens, afterTokens }
    return [{ id: entryId(seq), atMs, upTo: entryId(node), ...sizes, ...state, ...present({ focus }) }]
  })
}

function shownIn({ items, standing }: View, path: readonly number[]): Shown {
  const made = { digest: 0, pins: 0, memory: 0, other: 0 }
  const seen = new Set<number>(standing)
  let [whole, shortened] = [0, 0]
  for (const item of items) {
    if (item.type === "made") made[ownMessage(item.message) ?? "other"] += 1
    else if (item.edits === undefined) whole += 1
    else shortened += 1
    if (item.type === "shown") seen.add(item.entry)
  }
  const leftOut = path.filter((seq) => !seen.has(seq)).length
  return { whole, shortened, leftOut, standing: standing.length, made }
}
