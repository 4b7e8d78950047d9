import type { MemoryQuery, MemoryRow, MemoryStore } from "./memory-row.ts"
import type { Database } from "./postgres-database.ts"
import { decodeMemory, inARow, memoryColumns, newestFirst } from "./postgres-memory-row.ts"
import type { Answer } from "./postgres-persist.ts"
import { numberIn } from "./postgres-row.ts"
import { wordsOfQuery } from "./postgres-words.ts"
import { hitLimits, rankHits } from "./rank-hits.ts"
import { phrasesOf } from "./search-terms.ts"
import { toStorable } from "./storable-text.ts"

/** So many hits are taken from the index and put in order, which takes a few milliseconds. */
const fewHits = 2_000

/** A word with more hits is looked for among so many of the newest rows: a few tenths of a second at most. */
const walkedRows = 100_000

/** A word that is common but only in older rows: so many of its hits are put in order, and no more, lest it take seconds. */
const manyHits = 50_000

/** Rare words are found by the index, common ones by walking from the newest row on, so that neither takes long. */
export function createMemorySearch(database: Database, schema: string): MemoryStore["search"] {
  return async (query) => {
    const phrases = phrasesOf(query.text ?? "")
    const { show, fetch } = hitLimits(query.limit)
    const search = { table: `${schema}.memory`, query, phrases, limit: Math.trunc(fetch) }
    return rankHits(await newestHits(database, search), phrases, show)
  }
}

async function newestHits(database: Database, search: Search): Promise<readonly MemoryRow[]> {
  if (!isSelective(search)) return walk(database, search)
  const few = await askIndex(database, search, fewHits)
  if (few !== undefined) return few
  const walked = await walk(database, search)
  if (walked.length === search.limit) return walked
  const many = await askIndex(database, search, manyHits, true)
  return joined(walked, many ?? []).slice(0, search.limit)
}

type Search = {
  readonly table: string
  readonly query: MemoryQuery
  readonly phrases: readonly (readonly string[])[]
  readonly limit: number
}

/** Whether the index can say more than whose rows they are. */
function isSelective({ query, phrases }: Search): boolean {
  return phrases.length > 0 || query.session !== undefined || query.kind !== undefined || query.trustedOnly === true
}

/** The newest hits that the index knows; if there are more than `most` in all, `undefined`, or the newest of the first that it knows. */
async function askIndex(
  database: Database,
  { table, query, phrases, limit }: Search,
  most: number,
  evenIfMore = false,
): Promise<readonly MemoryRow[] | undefined> {
  const { values, days, rest } = conditionsOf(query, phrases)
  const text = `select ${memoryColumns}, (count(*) over ())::integer as hits from (
      select * from ${table} where ${[...rest, ...days].join(" and ")} limit ${most + 1}
    ) as hit order by ${newestFirst} limit ${limit}`
  const { rows } = await database.transact(async (ask): Promise<Answer> => {
    // The planner holds two common words for common together, and would read the whole table in vain.
    await ask({ text: "set local enable_seqscan = off" })
    await ask({ text: "set local enable_indexscan = off" })
    return ask({ text, values })
  })
  const [first] = rows
  const more = first !== undefined && numberIn(first, "hits") > most
  return more && !evenIfMore ? undefined : rows.map(decodeMemory)
}

/** Hits among the newest rows. */
async function walk(database: Database, { table, query, phrases, limit }: Search): Promise<readonly MemoryRow[]> {
  const { values, days, rest } = conditionsOf(query, phrases)
  const text = `select ${memoryColumns} from (
      select * from ${table} where ${days.join(" and ")} order by ${newestFirst} limit ${walkedRows}
    ) as newest where ${rest.join(" and ")} order by ${newestFirst} limit ${limit}`
  const { rows } = await database.call((ask) => ask({ text, values }))
  return rows.map(decodeMemory)
}

type Conditions = {
  readonly values: readonly unknown[]
  readonly days: readonly string[]
  readonly rest: readonly string[]
}

/** Whose and which days on the one hand, what the rows must say and be on the other. */
function conditionsOf(query: MemoryQuery, phrases: Search["phrases"]): Conditions {
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const days = [`tenant = ${value(toStorable(query.tenant))}`, `agent = ${value(toStorable(query.agent))}`]
  if (query.fromDay !== undefined) days.push(`day >= ${value(toStorable(query.fromDay))}`)
  if (query.toDay !== undefined) days.push(`day <= ${value(toStorable(query.toDay))}`)
  const rest = [`words @@ ${value(wordsOfQuery(query, phrases.flat()))}::tsquery`]
  for (const phrase of phrases) rest.push(`strpos(terms, ${value(inARow(phrase))}) > 0`)
  if (query.withSuperseded !== true) rest.push("superseded_by is null")
  return { values, days, rest }
}

/** The older ones behind the newer ones, none twice. */
function joined(newer: readonly MemoryRow[], older: readonly MemoryRow[]): readonly MemoryRow[] {
  const nameOf = ({ session, id }: MemoryRow): string => JSON.stringify([session, id])
  const known = new Set(newer.map(nameOf))
  return [...newer, ...older.filter((row) => !known.has(nameOf(row)))]
}
