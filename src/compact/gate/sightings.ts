import { normalize } from "../../language/normalize.ts"
import { survey } from "../../language/survey.ts"
import { originalSpan } from "../../language/view.ts"
import { decodings } from "./decodings.ts"
import type { Sighting } from "./finding.ts"
import { literalsIn } from "./literal.ts"
import { signalsIn } from "./signals.ts"

/** An encoding inside an encoding is followed this far. */
const maxDepth = 3

/** Every attempt in a text, in the order of the text: in its words, its control tokens and its encoded blobs. */
export function sightingsIn(text: string, depth = 0): readonly Sighting[] {
  const seen = survey(text)
  const view = normalize(text, seen)
  const spoken = signalsIn(view.text).map(({ kind, strength, start, end }): Sighting => {
    return { kind, strength, span: originalSpan(view, { start, end }) }
  })
  const encoded =
    depth >= maxDepth
      ? []
      : decodings(text, seen).flatMap(({ span, text: decoded }): readonly Sighting[] => {
          return sightingsIn(decoded, depth + 1).length === 0
            ? []
            : [{ kind: "encoded-payload", strength: "strong", span }]
        })
  return [...spoken, ...literalsIn(text), ...encoded].sort((one, other) => one.span.start - other.span.start)
}
