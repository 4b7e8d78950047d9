import type { MemoryHit, MemoryRow } from "../../store/memory-row.ts"
import { type MemorySearch, maxHits } from "./check-search.ts"

type Find = (search: MemorySearch) => Promise<readonly MemoryHit[]>

/**
 * The rows of the session that may hold the place of an offered one: its newest, and in a session that has more of them also those that
 * name the subject of a row that is new or no longer stands.
 */
export async function rivalsOf(
  offered: readonly MemoryRow[],
  known: readonly MemoryRow[],
  find: Find,
): Promise<readonly MemoryRow[]> {
  const about = offered.filter(({ subject }) => subject !== undefined)
  const session = about[0]?.session
  if (session === undefined) return []
  const rivals = (await find({ session, withSuperseded: true, limit: maxHits })).map(({ row }) => row)
  if (rivals.length < maxHits) return rivals
  const standing = new Set(known.filter(({ supersededBy }) => supersededBy === undefined).map(({ id }) => id))
  const asked = new Map(
    about
      .filter(({ id }) => !standing.has(id))
      .map(({ kind, subject = "" }) => [`${kind} ${subject}`, { kind, text: `"${subject.replace(/["“”„]/g, " ")}"` }]),
  )
  for (const { kind, text } of asked.values())
    for (const { row } of await find({ session, kind, text, withSuperseded: true, limit: maxHits })) rivals.push(row)
  return rivals
}
