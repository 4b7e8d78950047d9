import { entryId, type RuleBody } from "../log/entry.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../pin/pin.ts"
import { hashText } from "../prompt/hash.ts"

/** The rule that an entry pinned. */
export function pinOf(seq: number, body: RuleBody): Pin {
  const { text, channel, by, kind, place, document, explicitness, source, context, expiresAtMs } = body
  const at = place === undefined ? undefined : { ...place, entry: entryId(place.entry) }
  return {
    id: entryId(seq),
    text,
    hash: hashText(text),
    channel,
    by,
    kind,
    scope: "session",
    ...present({
      explicitness,
      source,
      context,
      expiresAtMs,
      place: at ?? (document === undefined ? undefined : { document }),
    }),
  }
}
