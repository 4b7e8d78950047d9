import type { ShortenReason } from "../compact/stages/edit.ts"
import { HoldfastError } from "../message/errors.ts"
import { tryParse } from "../wire/json.ts"
import type { Live } from "./live.ts"
import { type CheckpointBody, entryId, seqOf } from "./log/entry.ts"
import { readView } from "./read-view.ts"
import { readSummary } from "./stored-summary.ts"

/** What became of an entry. */
export type Explanation = {
  readonly entry: string
  readonly type: string
  /** How the model sees it now: whole, in part, only through what a digest says of it, or not at all. */
  readonly state: "shown" | "shortened" | "summarized" | "other-branch" | "not-a-message"
  /** The compactions that changed how it is shown, oldest first, and why. */
  readonly changes: readonly Change[]
  /** The lines of the digest in force that rest on it. */
  readonly lines: readonly string[]
  /** For a checkpoint: the trace of the call that made it. */
  readonly trace?: unknown
}

export type Change = {
  readonly checkpoint: string
  readonly atMs: number
  readonly undone: boolean
  readonly what: "shortened" | "left-out"
  readonly reason: ShortenReason | string
}

/** Why an entry is shown as it is. */
export async function explain(live: Live, id: string): Promise<Explanation> {
  const { journal } = live
  const outline = journal.outline()
  const seq = seqOf(id)
  const type = seq === undefined ? undefined : outline.typeOf(seq)
  if (seq === undefined || type === undefined)
    throw new HoldfastError({ code: "entry-unknown", session: live.id, entry: id })
  const checkpoints = [...(await journal.entries(outline.ofType("checkpoint-installed"))).values()]
  const changes = checkpoints.flatMap(({ seq: at, atMs, body }): readonly Change[] => {
    if (body.type !== "checkpoint-installed") return []
    const undone = outline.isUndone(at)
    return changesIn(body, id).map((change) => ({ checkpoint: entryId(at), atMs, undone, ...change }))
  })
  if (type !== "message-appended") {
    const own = checkpoints.find((entry) => entry.seq === seq)?.body
    const trace = own?.type === "checkpoint-installed" ? { trace: tryParse(own.trace) } : {}
    return { entry: id, type, state: "not-a-message", changes: [], lines: [], ...trace }
  }
  const view = await readView(live, live.at)
  const item = view.items.find((one) => one.type === "shown" && one.entry === seq)
  const inForce = (await journal.entries(view.checkpoint === 0 ? [] : [view.checkpoint])).get(view.checkpoint)?.body
  const lines = inForce?.type === "checkpoint-installed" ? linesOn(inForce.summary, id) : []
  const onBranch = (outline.path(live.at) ?? []).includes(seq)
  const state =
    item?.type === "shown"
      ? item.edits === undefined
        ? "shown"
        : "shortened"
      : onBranch
        ? "summarized"
        : "other-branch"
  return { entry: id, type, state, changes, lines }
}

type Edited = Pick<Change, "what" | "reason">

/** What a checkpoint's trace says was done to this message. */
function changesIn({ trace }: CheckpointBody, id: string): readonly Edited[] {
  const events = tryParse(trace)
  if (!Array.isArray(events)) return []
  return events.flatMap((event): readonly Edited[] => {
    if (event?.messageId === id && typeof event.reason === "string")
      return [{ what: "shortened", reason: event.reason }]
    const dropped =
      event?.type === "messages-dropped" && Array.isArray(event.messageIds) && event.messageIds.includes(id)
    return dropped && typeof event.reason === "string" ? [{ what: "left-out", reason: event.reason }] : []
  })
}

/** The lines of a digest that name this entry among what they rest on. */
function linesOn(json: string | undefined, id: string): readonly string[] {
  const summary = json === undefined ? undefined : readSummary(json)
  const lines = summary?.sections.flatMap((section) => section.lines) ?? []
  return lines.filter(({ sources }) => sources.includes(id)).map((line) => line.text)
}
