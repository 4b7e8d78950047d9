import { assert } from "../message/assert.ts"
import type { Message } from "../message/message.ts"
import type { Live } from "./live.ts"
import { entryId } from "./log/entry.ts"
import { thaw } from "./log/frozen.ts"
import type { Outline } from "./log/outline.ts"
import { type View, viewOf } from "./view.ts"

/** The last view of a log, and what decides over it: how many entries of each kind there were. */
type Read = { readonly view: View; readonly decided: string }

const lastRead = new WeakMap<Outline, Read>()

/** What may change what is shown of messages that were there: checkpoints, undone or not, and memory put before them. */
const deciding: readonly string[] = ["checkpoint-installed", "checkpoint-undone", "memory-retrieved"]

const decidedIn = (outline: Outline): string => deciding.map((type) => outline.ofType(type).length).join()

/** The view at a message, read from the log as far as it is not in memory. One that only went on since is gone on with. */
export async function readView(live: Live, at: number): Promise<View> {
  const outline = live.journal.outline()
  const decided = decidedIn(outline)
  const known = lastRead.get(outline)
  const more = known?.decided === decided && known.view.at > 0 ? pathOn(outline, known.view.at, at) : undefined
  const view =
    known !== undefined && more !== undefined ? goneOn(known.view, at, more) : await readWhole(live, outline, at)
  // Read while others wrote: what it goes by is not known then.
  if (decidedIn(outline) === decided) lastRead.set(outline, { view, decided })
  return view
}

/** The few entries from one message to a later one behind it; nothing if it is not behind it, or far, or something was decided there. */
function pathOn(outline: Outline, from: number, to: number): readonly number[] | undefined {
  const path: number[] = []
  let at = to
  for (; at > from && path.length < maxStep; at = outline.node(at)?.parent ?? 0) path.push(at)
  const isDecided = deciding.some((type) =>
    outline.ofType(type).some((seq) => path.includes(outline.reference(seq) ?? 0)),
  )
  return at === from && !isDecided ? path.reverse() : undefined
}

/** A turn adds a few messages; a longer way is looked for from its beginning. */
const maxStep = 100

const goneOn = (view: View, at: number, more: readonly number[]): View =>
  more.length === 0
    ? view
    : { ...view, at, items: [...view.items, ...more.map((entry) => ({ type: "shown" as const, entry }))] }

async function readWhole({ journal }: Live, outline: Outline, at: number): Promise<View> {
  const seq = outline.checkpointAt(at)
  const since = outline.path(at, outline.nodeOf(seq) ?? 0)
  assert(since !== undefined, `no way from checkpoint ${seq} to entry ${at}`)
  const wanted = new Set(since)
  const retrievals = outline.ofType("memory-retrieved").filter((entry) => wanted.has(outline.reference(entry) ?? 0))
  const entries = await journal.entries([...(seq === 0 ? [] : [seq]), ...retrievals])
  const retrieved = new Map<number, Message>()
  for (const { body } of entries.values())
    if (body.type === "memory-retrieved") retrieved.set(body.before, body.message)
  const body = entries.get(seq)?.body
  assert(seq === 0 || body?.type === "checkpoint-installed", `entry ${seq} is no checkpoint`)
  return viewOf(at, body?.type === "checkpoint-installed" ? { seq, body } : undefined, since, retrieved)
}

/** The messages of these entries, as they came in. */
export async function readMessages({ journal, messages }: Live, seqs: readonly number[]): Promise<readonly Message[]> {
  const missing = seqs.filter((seq) => !messages.has(seq))
  const entries = missing.length === 0 ? new Map() : await journal.entries(missing)
  for (const seq of missing) {
    const body = entries.get(seq)?.body
    if (body?.type === "message-appended") messages.set(seq, thaw(body.message, entryId(seq)))
  }
  return seqs.flatMap((seq) => messages.get(seq) ?? [])
}
