import type { ShortenReason } from "../../compact/stages/edit.ts"
import { parseDigest } from "../../compact/summary/digest-text.ts"
import type { Message } from "../../message/message.ts"
import { type CheckpointBody, seqOf } from "../../session/log/entry.ts"
import type { Session } from "../../session/session.ts"
import { isObject, tryParse } from "../../wire/json.ts"

/** A compaction as the session's log tells it. */
export type ToldCompaction = {
  readonly checkpoint: string
  /** The whole context before and after, in the provider's own tokens. */
  readonly beforeTokens: number
  readonly afterTokens: number
  /** Why: the model refused the request as too long, or it came to a share of its room at which it is compacted. Absent if neither. */
  readonly reason?: "refused" | { readonly share: number; readonly limit: number }
  /** Messages shown to the letter, and those of which less is shown. */
  readonly whole: number
  readonly shortened: number
  /** What is left of those, as a share, and why less of them is shown. */
  readonly shortenedTo: number
  readonly shortenedWhy: readonly ShortenReason[]
  /** Messages that the digest stands for, those of earlier digests included. */
  readonly covered: number
  readonly digest: string
  /** Does it say the first request of the user to the letter? */
  readonly goalWhole: boolean
  readonly summaryLines: number
  readonly factLines: number
}

/** What a checkpoint did, read from the log; nothing if there is none of that name. */
export async function tellCompaction(session: Session, checkpoint: string): Promise<ToldCompaction | undefined> {
  const seq = seqOf(checkpoint)
  if (seq === undefined) return undefined
  const [entry] = await session.history({ from: seq, limit: 1 })
  return entry?.body?.type === "checkpoint-installed" ? tell(checkpoint, entry.body) : undefined
}

function tell(checkpoint: string, { items, trace, beforeTokens, afterTokens }: CheckpointBody): ToldCompaction {
  const shown = items.filter((item) => item.type === "shown")
  const edits = shown.flatMap((item) => item.edits ?? [])
  const sum = (of: (edit: (typeof edits)[number]) => number): number => edits.reduce((all, edit) => all + of(edit), 0)
  const shortened = shown.filter((item) => item.edits !== undefined).length
  const texts = items.flatMap((item) => (item.type === "made" ? textsOf(item.message) : []))
  const digest = texts.find((text) => parseDigest(text) !== undefined) ?? ""
  const read = parseDigest(digest)
  const reason = reasonIn(tryParse(trace))
  return {
    checkpoint,
    beforeTokens,
    afterTokens,
    whole: shown.length - shortened,
    shortened,
    shortenedTo:
      sum((edit) => edit.afterTokens) /
      Math.max(
        1,
        sum((edit) => edit.beforeTokens),
      ),
    shortenedWhy: [...new Set(edits.map((edit) => edit.reason))],
    covered: read?.covered ?? 0,
    digest,
    goalWhole: read?.goal?.whole === true,
    summaryLines: read?.summary.sections.reduce((all, { lines }) => all + lines.length, 0) ?? 0,
    factLines: read === undefined || read.ledger.text === "" ? 0 : read.ledger.text.split("\n").length,
    ...(reason === undefined ? {} : { reason }),
  }
}

const textsOf = ({ parts }: Message): readonly string[] =>
  parts.flatMap((part) => (part.type === "text" ? [part.text] : []))

/** How full it was when the plan was made, whichever way its tokens were counted. */
function reasonIn(trace: unknown): ToldCompaction["reason"] {
  const events = Array.isArray(trace) ? trace.filter(isObject) : []
  const made = events.find(({ type }) => type === "plan-made")
  if (made === undefined || !isObject(made.plan) || !isObject(made.sizes) || !Array.isArray(made.plan.reasons))
    return undefined
  const room = Number(made.sizes.windowTokens) - Number(made.sizes.reserveTokens)
  const reasons = made.plan.reasons.filter(isObject)
  if (reasons.some(({ trigger }) => trigger === "provider-refused")) return "refused"
  const reason = reasons.find(({ trigger }) => trigger === "window-share")
  if (reason === undefined || !(room > 0)) return undefined
  return { share: Number(reason.value) / room, limit: Number(reason.limit) / room }
}
