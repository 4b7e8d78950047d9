import { createHash } from "node:crypto"
import type { MemoryQuery, MemoryRow } from "./memory-row.ts"
import { toStorable } from "./storable-text.ts"

/** What a row can be filtered by without being read. The columns decide; a tag only has to let no row of theirs out. */
export function sqliteTags({ agent, session, kind, day, trusted }: MemoryRow): readonly string[] {
  return [tag("a", agent), tag("s", session), tag("k", kind), tag("d", day), ...(trusted ? ["t"] : [])]
}

/**
 * A question in the language of the index, on these days or on all. Terms and tags are letters and numbers, so
 * nothing in them can be an operator.
 */
export function sqliteMatch(
  { agent, session, kind, trustedOnly }: MemoryQuery,
  phrases: readonly (readonly string[])[],
  days: readonly string[] | undefined,
): string {
  const tags = [
    tag("a", agent),
    ...(session === undefined ? [] : [tag("s", session)]),
    ...(kind === undefined ? [] : [tag("k", kind)]),
    ...(trustedOnly === true ? ["t"] : []),
  ]
  return [
    ...phrases.map((phrase) => `terms : "${phrase.join(" ")}"`),
    ...tags.map((one) => `tags : "${one}"`),
    ...(days === undefined ? [] : [`tags : (${days.map((day) => `"${tag("d", day)}"`).join(" OR ")})`]),
  ].join(" AND ")
}

function tag(letter: string, name: string): string {
  return letter + createHash("sha256").update(toStorable(name)).digest("hex").slice(0, 16)
}
