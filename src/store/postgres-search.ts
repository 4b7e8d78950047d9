import { sha256Hex } from "../message/sha256.ts"
import { toStorable } from "./packed-text.ts"
import { type Database, postgresRows, type QueryResult } from "./postgres-database.ts"
import { ownerName, ownerNames, type QueryWord, searchRows, searchTerms, stemsOf } from "./search-terms.ts"
import { memoryColumns, memoryValues } from "./sql-calls.ts"
import type { MemoryOwner, MemoryQuery, MemoryRow, MemoryStore } from "./store.ts"
import type { StoredRow } from "./stored-row.ts"

/** Limit on hits taken from the index and sorted, which takes a few milliseconds. */
const fewHits = 2_000

/** A word with more hits is searched among this many of the newest rows: a few tenths of a second at most. */
const walkedRows = 100_000

/** For a word that is common only in older rows: limit on the hits sorted, so that it does not take seconds. */
const manyHits = 50_000

/** Rare words are found by the index, common ones by scanning from the newest row, so that neither takes long. */
export function createMemorySearch(database: Database, schema: string): MemoryStore["search"] {
  const table = `${schema}.memory`
  return (query) =>
    searchRows(query.text ?? "", query.limit, (words, limit) =>
      newestHits(database, { table, query, words, limit: Math.trunc(limit) }),
    )
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
  readonly words: readonly QueryWord[]
  readonly limit: number
}

/** Whether the index can filter by more than the owner. */
function isSelective({ query, words }: Search): boolean {
  return words.length > 0 || query.session !== undefined || query.kind !== undefined || query.trustedOnly === true
}

/** The newest hits from the index. If there are more than `most`: undefined, or with `evenIfMore` the newest of the first ones found. */
async function askIndex(
  database: Database,
  { table, query, words, limit }: Search,
  most: number,
  evenIfMore = false,
): Promise<readonly MemoryRow[] | undefined> {
  const { values, days, rest } = conditionsOf(query, words)
  const text = `select ${memoryColumns}, (count(*) over ())::integer as hits from (
      select * from ${table} where ${[...rest, ...days].join(" and ")} limit ${most + 1}
    ) as hit order by ${newestFirst} limit ${limit}`
  const { rows } = await database.transact(async (ask): Promise<QueryResult> => {
    // The planner assumes that two common words often occur together, and would scan the whole table.
    await ask({ text: "set local enable_seqscan = off" })
    await ask({ text: "set local enable_indexscan = off" })
    return ask({ text, values })
  })
  const [first] = rows
  const more = first !== undefined && postgresRows.number(first, "hits") > most
  return more && !evenIfMore ? undefined : rows.map(postgresRows.memory)
}

/** Hits among the newest rows. */
async function walk(database: Database, { table, query, words, limit }: Search): Promise<readonly MemoryRow[]> {
  const { values, days, rest } = conditionsOf(query, words)
  const text = `select ${memoryColumns} from (
      select * from ${table} where ${days.join(" and ")} order by ${newestFirst} limit ${walkedRows}
    ) as newest where ${rest.join(" and ")} order by ${newestFirst} limit ${limit}`
  const { rows } = await database.call((ask) => ask({ text, values }))
  return rows.map(postgresRows.memory)
}

type Conditions = {
  readonly values: readonly unknown[]
  readonly days: readonly string[]
  readonly rest: readonly string[]
}

/** The conditions on owner and days, and separately those on content. */
function conditionsOf(query: MemoryQuery, words: Search["words"]): Conditions {
  const values: unknown[] = []
  const value = (given: unknown): string => `$${values.push(given)}`
  const days = [`tenant = ${value(toStorable(query.tenant))}`, `agent = ${value(toStorable(query.agent))}`]
  if (query.fromDay !== undefined) days.push(`day >= ${value(toStorable(query.fromDay))}`)
  if (query.toDay !== undefined) days.push(`day <= ${value(toStorable(query.toDay))}`)
  const rest = [`words @@ ${value(wordsOfQuery(query, words))}::tsquery`]
  for (const { terms } of words) if (terms.length > 1) rest.push(`strpos(terms, ${value(joinedTerms(terms))}) > 0`)
  if (query.withSuperseded !== true) rest.push("superseded_by is null")
  return { values, days, rest }
}

/** The newer rows followed by the older ones, without duplicates. */
function joined(newer: readonly MemoryRow[], older: readonly MemoryRow[]): readonly MemoryRow[] {
  const nameOf = ({ session, id }: MemoryRow): string => JSON.stringify([session, id])
  const known = new Set(newer.map(nameOf))
  return [...newer, ...older.filter((row) => !known.has(nameOf(row)))]
}

/** Of two rows with the same time, the one written later is newer. */
const newestFirst = "at_ms desc, put_at desc, put_no desc"

/** Rows are passed as one JSON list, because PostgreSQL has no other form for nested lists. The first row of an id stays. */
export function writeRows(schema: string): string {
  return `insert into ${schema}.memory (${memoryColumns}, terms, words, put_at, put_no)
    select ${memoryColumns}, terms, array_to_tsvector(words), statement_timestamp(), put_no
    from json_to_recordset($1::json) as r (session text, id text, tenant text, agent text, day text, at_ms double precision,
      kind text, text text, channel text, trusted boolean, sources text[], subject text, superseded_by text, terms text, words text[],
      put_no integer)
    on conflict do nothing`
}

export function encodeMemory(row: MemoryRow, position: number): StoredRow {
  const terms = searchTerms(row.text)
  return { ...memoryValues(row), terms: joinedTerms(terms), words: wordsOfRow(row, terms), put_no: position }
}

/** Joined words: a phrase occurs in a row if its joined text is part of the row's. */
function joinedTerms(terms: readonly string[]): string {
  return toStorable(` ${terms.join(" ")} `)
}

/** PostgreSQL indexes words of up to 2 KB and 1 MB for each row: 4,000 words of 64 characters are 768 KB. */
const wordCharacters = 64

/** A row in the full-text index: its terms, and tags with a colon for owner and kind, so that a word common elsewhere costs nothing. */
function wordsOfRow(row: MemoryRow, terms: readonly string[]): readonly string[] {
  const { session, kind, trusted } = row
  const tags = tagsOf({ session, kind, trustedOnly: trusted })
  return [...new Set([tag("agent", ownerName(row)), ...tags, ...terms.map(wordOf), ...stemsOf(terms).map(stemTag)])]
}

/** The index query: all of these words, each in any of its forms; everything quoted, so that nothing is an operator. */
function wordsOfQuery(query: MemoryQuery, words: readonly QueryWord[]): string {
  const quote = (word: string): string => `'${word.replaceAll("\\", "\\\\").replaceAll("'", "''")}'`
  const anyOf = (names: readonly string[]): string => `(${names.map(quote).join(" | ")})`
  const wanted = words.flatMap(({ terms, stem }) =>
    stem === undefined ? terms.map((term) => quote(wordOf(term))) : [anyOf([...terms.map(wordOf), stemTag(stem)])],
  )
  return [
    anyOf(ownerNames(query).map((name) => tag("agent", name))),
    ...tagsOf(query).map(quote),
    ...new Set(wanted),
  ].join(" & ")
}

/** Rows of versions without stems are found only by the exact word. */
const stemTag = (stem: string): string => `stem:${stem}`

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
  return `${name}:${sha256Hex(toStorable(value)).slice(0, 32)}`
}
