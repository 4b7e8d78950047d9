import { present } from "../../message/present.ts"
import type { ExchangeRecord } from "../exchange-record.ts"
import type { Attributes } from "./model-call.ts"

export type SpanEvent = { readonly name: string; readonly attributes: Attributes }

/** So many of a kind tell what happened; a model may make hundreds of calls in one answer. */
const maxOfKind = 16

/** What is worth seeing on the span itself: compactions, and calls that were denied. Tools and policies by name, no text of theirs. */
export function spanEventsOf({ trace, judged }: ExchangeRecord): readonly SpanEvent[] {
  const events: SpanEvent[] = []
  for (const event of trace) {
    if (event.type !== "remedy-installed" || events.length >= maxOfKind) continue
    const { remedy, beforeTokens, afterTokens } = event
    const attributes = {
      "holdfast.compaction.remedy": remedy,
      "holdfast.compaction.before_tokens": beforeTokens,
      "holdfast.compaction.after_tokens": afterTokens,
    }
    events.push({ name: "holdfast.compaction", attributes })
  }
  const denied = judged.filter(({ verdict }) => verdict.decision === "deny").slice(0, maxOfKind)
  return [...events, ...denied.map(deniedEvent)]
}

function deniedEvent({ callId, tool, enforced, verdict }: ExchangeRecord["judged"][number]): SpanEvent {
  const policy = verdict.reasons.find(({ decision }) => decision === "deny")?.policy
  const attributes = {
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
    "holdfast.guard.enforced": enforced,
    ...present({ "holdfast.guard.policy": policy }),
  }
  return { name: "holdfast.call-denied", attributes }
}
