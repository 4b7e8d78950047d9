import { createHash } from "node:crypto"
import type { MemoryOwner, MemoryQuery, MemoryRow } from "./memory-row.ts"
import { toStorable } from "./storable-text.ts"

/** What a row can be filtered by without being read. The columns decide; a tag only has to let no row of theirs out. */
export function sqliteTags({ session, kind, day, trusted, ...owner }: MemoryRow): readonly string[] {
  return [ownerTag(owner), tag("s", session), tag("k", kind), tag("d", day), ...(trusted ? ["t"] : [])]
}

/**
 * A question in the language of the index, on these days or on all. Terms and tags are letters and numbers, so
 * nothing in them can be an operator.
 */
export function sqliteMatch(
  { session, kind, trustedOnly, ...owner }: MemoryQuery,
  phrases: readonly (readonly string[])[],
  days: readonly string[] | undefined,
): string {
  const tags = [
    ...(session === undefined ? [] : [tag("s", session)]),
    ...(kind === undefined ? [] : [tag("k", kind)]),
    ...(trustedOnly === true ? ["t"] : []),
  ]
  return [
    ...phrases.map((phrase) => `terms : "${phrase.join(" ")}"`),
    `tags : (${ownerTags(owner)
      .map((one) => `"${one}"`)
      .join(" OR ")})`,
    ...tags.map((one) => `tags : "${one}"`),
    ...(days === undefined ? [] : [`tags : (${days.map((day) => `"${tag("d", day)}"`).join(" OR ")})`]),
  ].join(" AND ")
}

/** Rows from before there were tenants have the agent's tag alone. */
const ownerTag = ({ tenant, agent }: MemoryOwner): string =>
  tag("a", tenant === "" ? agent : JSON.stringify([tenant, agent]))

const ownerTags = ({ tenant, agent }: MemoryOwner): readonly string[] => [
  ...new Set([ownerTag({ tenant, agent }), ownerTag({ tenant: "", agent })]),
]

function tag(letter: string, name: string): string {
  return letter + createHash("sha256").update(toStorable(name)).digest("hex").slice(0, 16)
}
