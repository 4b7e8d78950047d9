import { type Channel, instructs } from "../../message/channel.ts"
import type { Span } from "../../message/request.ts"
import type { Finding } from "./finding.ts"
import { sightingsIn } from "./sightings.ts"
import { mergeSpans, spanBeforeWithholding, withhold } from "./withhold.ts"

export type Scanned = { readonly findings: readonly Finding[]; readonly text: string }

/** Taking one attempt out can bring the halves of another together; so often is the rest looked at again. */
const maxRounds = 6

/**
 * Look for attempts to steer the model that will read this text. In a channel that may not instruct they are withheld, and the rest
 * stays to the letter; the operator, the system and the user may say what they like, and are only reported on.
 */
export function scan(text: string, { channel }: { readonly channel: Channel }): Scanned {
  const findings: Finding[] = []
  let spans: readonly Span[] = []
  let withheld = text
  for (let round = 0; round < maxRounds; round++) {
    const hidden = spans
    const found = sightingsIn(withheld).map((sighting): Finding => {
      return { ...sighting, span: spanBeforeWithholding(hidden, sighting.span), channel }
    })
    findings.push(...found)
    if (found.length === 0 || instructs(channel)) break
    // Whatever the last round still finds is not negotiated with: the text ends there.
    const last = round === maxRounds - 1
    spans = mergeSpans([...spans, ...found.map(({ span }) => (last ? { ...span, end: text.length } : span))])
    withheld = withhold(text, spans)
  }
  return { findings: findings.sort((one, other) => one.span.start - other.span.start), text: withheld }
}
