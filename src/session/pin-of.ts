import { hashText } from "../message/hash-data.ts"
import { present } from "../message/present.ts"
import type { Pin } from "../rules/pin.ts"
import { entryId, type RuleBody } from "./log/entry.ts"

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
