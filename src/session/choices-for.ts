import type { CompactChoices } from "../compact/task.ts"
import type { CallId } from "../message/ids.ts"
import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../rules/pin.ts"
import { readInherited } from "./inherit.ts"
import { seqOf } from "./log/entry.ts"
import { handleFor } from "./log/handle.ts"
import { choicesOf } from "./one-shot/choices.ts"
import { createSummarizer } from "./one-shot/summarizer.ts"
import { operatorRules } from "./operator-rules.ts"
import type { Preparing } from "./preparing.ts"
import { readySummarizer } from "./ready-summary.ts"
import { readSecret } from "./secret.ts"

/** How a view is compacted: the session's options, its rules and inherited facts, handles where the store has the originals. */
export async function choicesFor(
  preparing: Preparing,
  messages: Transcript,
  pins: readonly Pin[],
  before: { readonly focus?: string; readonly summary?: string },
): Promise<CompactChoices> {
  const { live, call, meter, options } = preparing
  const focus = before.focus ?? options.focus ?? options.occasion?.asked?.focus
  const { summarizer: wanted, policy: _, ...shape } = live.options
  const none = wanted === "none" ? { summarizer: wanted } : {}
  const { summarizer: __, ...choices } = choicesOf(
    { format: call.frame.format, ...contextOnly(shape), ...none, ...present({ focus }) },
    meter,
  )
  const { summary } = before
  const summarizer =
    summary === undefined
      ? await readySummarizer(preparing)
      : createSummarizer({ format: call.frame.format, summarizer: async () => summary }, meter)
  const earlier = await readInherited(live)
  const handleOf =
    live.options.recall === true && live.journal.isDurable() ? await handles(preparing, messages) : undefined
  const rules = [...operatorRules(live), ...pins].map(({ text }) => text)
  return { ...choices, pins, ownPins: true, rules, earlier, ...present({ summarizer, handleOf }) }
}

type Shape = Omit<Preparing["live"]["options"], "summarizer" | "policy">

const contextOnly = ({ strategy, strategyOptions, schema, language, toolBudgets }: Shape) =>
  present({ strategy, strategyOptions, schema, language, toolBudgets })

/** The handle of each result, by the entry that has it whole. */
async function handles(
  { live }: Preparing,
  messages: Transcript,
): Promise<((callId: CallId) => string | undefined) | undefined> {
  const secret = await readSecret(live)
  if (secret === undefined) return undefined
  const places = new Map<CallId, number>()
  for (const { id, parts } of messages) {
    const seq = seqOf(id)
    if (seq !== undefined) for (const part of parts) if (part.type === "tool-result") places.set(part.callId, seq)
  }
  return (callId) => {
    const seq = places.get(callId)
    return seq === undefined ? undefined : handleFor(secret, seq, callId)
  }
}
