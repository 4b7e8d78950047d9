import { createHash } from "node:crypto"
import type { MemoryOwner, MemoryQuery, MemoryRow } from "./memory-row.ts"
import { toStorable } from "./storable-text.ts"

/** PostgreSQL indexes words of up to 2 KB and 1 MB for each row: 4,000 words of 64 characters are 768 KB. */
const wordCharacters = 64

/**
 * What the full-text index holds of a row: its words, and whose and of what kind it is, so that a word that is common elsewhere costs
 * nothing here. No term of a text has a colon.
 */
export function wordsOfRow(row: MemoryRow, terms: readonly string[]): readonly string[] {
  const { session, kind, trusted } = row
  const tags = tagsOf({ session, kind, trustedOnly: trusted })
  return [...new Set([ownerTag(row), ...tags, ...terms.map(wordOf)])]
}

/** What the index is asked for: every one of these, each in quotes, so that nothing in it is an operator. */
export function wordsOfQuery(query: MemoryQuery, terms: readonly string[]): string {
  const words = new Set([...tagsOf(query), ...terms.map(wordOf)])
  const owner = ownerTags(query).map((tag) => `'${tag}'`)
  const quoted = [...words].map((word) => `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`)
  return [`(${owner.join(" | ")})`, ...quoted].join(" & ")
}

/** Rows from before there were tenants have the agent's tag alone. */
const ownerTag = ({ tenant, agent }: MemoryOwner): string =>
  tag("agent", tenant === "" ? agent : JSON.stringify([tenant, agent]))

const ownerTags = ({ tenant, agent }: MemoryOwner): readonly string[] => [
  ...new Set([ownerTag({ tenant, agent }), ownerTag({ tenant: "", agent })]),
]

function tagsOf({ session, kind, trustedOnly }: Omit<MemoryQuery, keyof MemoryOwner>): readonly string[] {
  return [
    ...(session === undefined ? [] : [tag("session", session)]),
    ...(kind === undefined ? [] : [tag("kind", kind)]),
    ...(trustedOnly === true ? ["trusted:"] : []),
  ]
}

function wordOf(term: string): string {
  return toStorable(term.slice(0, wordCharacters))
}

function tag(name: string, value: string): string {
  return `${name}:${createHash("sha256").update(toStorable(value)).digest("hex").slice(0, 32)}`
}
