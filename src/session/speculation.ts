import type { Policy } from "../compact/plan/policy.ts"
import type { SchemaName } from "../compact/summary/summary.ts"
import { groupTurns } from "../message/group.ts"
import { hashData } from "../message/hash-data.ts"
import type { Transcript } from "../message/message.ts"
import { ownText } from "../message/own-text.ts"
import { textOf } from "../message/text.ts"
import type { Meter } from "../tokens/meter.ts"
import { entryId, seqOf } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"

/** What a background summary is of: these entries, as they stand behind this checkpoint. */
export type Speculation = {
  readonly key: string
  readonly node: number
  readonly base: number
  readonly covered: readonly number[]
}

/** Less than this is said without a model as well as with one. */
const leastTokens = 2000

/** The part of what a compaction leaves that is the newest messages; the rest is the digest. */
const tailShare = 0.8

/**
 * What to summarize ahead of time: everything but what will still be shown when the compaction comes. Between now and then the context
 * grows by what lies between the two marks, and that much less of today's messages will be among the newest.
 */
export function chooseSpeculation(
  outline: Outline,
  shown: { readonly conversation: Transcript; readonly checkpoint: number },
  room: { readonly meter: Meter; readonly roomTokens: number; readonly policy: Policy; readonly schema: SchemaName },
): Speculation | undefined {
  const { meter, roomTokens, policy, schema } = room
  const { conversation, checkpoint: base } = shown
  const growth = policy.compactAt - policy.speculateAt
  const tailTokens = Math.max(0, (policy.lowWater - growth) * tailShare * roomTokens)
  const groups = groupTurns(conversation)
  let end = groups.length
  for (let left = tailTokens; end > 0; end--) {
    const group = groups[end - 1]
    if (group === undefined || group.pending.length > 0) continue
    for (let n = group.start; n < group.end; n++) left -= tokensOf(meter, conversation, n)
    if (left < 0) break
  }
  const covered = conversation.slice(0, groups[end - 1]?.end ?? 0).filter((message) => {
    const [only] = message.parts
    return !(message.parts.length === 1 && only?.type === "text" && ownText(textOf(only)) !== undefined)
  })
  const seqs = covered.flatMap(({ id }) => seqOf(id) ?? [])
  const node = seqs.at(-1)
  const weight = covered.reduce((sum, message) => sum + meter.message(message), 0)
  if (node === undefined || weight < leastTokens) return undefined
  return { key: prefixKey(outline, node, base, schema), node, base, covered: seqs }
}

function tokensOf(meter: Meter, conversation: Transcript, n: number): number {
  const message = conversation[n]
  return message === undefined ? 0 : meter.message(message)
}

/** The hash of the very history that ends with this message, and of what its summary is to look like. */
export function prefixKey(outline: Outline, node: number, base: number, schema: SchemaName): string {
  const said = (outline.path(node) ?? []).map((seq) => outline.node(seq)?.key ?? "")
  return hashData([schema, base, entryId(node), said])
}

/** Is this still the session's history, compacted no further than when the summary was asked for? */
export function isStillWanted(
  outline: Outline,
  at: number,
  { node, base }: Omit<Speculation, "key" | "covered">,
): boolean {
  return outline.path(at, node) !== undefined && outline.checkpointAt(at) === base
}
