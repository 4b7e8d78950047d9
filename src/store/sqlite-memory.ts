import { createRecent } from "../message/recall.ts"
import { sha256Hex } from "../message/sha256.ts"
import { toStorable } from "./packed-text.ts"
import { ownerName, ownerNames, type QueryWord, searchRows, searchTerms, stemsOf } from "./search-terms.ts"
import { boundLimit, createMemoryReader, memoryColumns, memoryValues, type SqlDialect } from "./sql-calls.ts"
import type { SqliteDatabase, SqliteTables } from "./sqlite-database.ts"
import { sqliteRows } from "./sqlite-dialect.ts"
import type { MemoryQuery, MemoryRow, MemoryStore } from "./store.ts"
import { ANY_SESSION, type StoredRow } from "./stored-row.ts"

/** Maximum number of days that a search lists; with more it does not filter by day in the index. */
const NAMED_DAYS = 100

/** Size of the cache of tags: those of some active sessions, with their agents, kinds and days. */
const maxTagNames = 256

/** The last millisecond whose `place` fits an SQLite integer. */
const LAST_MS = 2 ** 43 - 1

export function createSqliteMemory(database: SqliteDatabase, dialect: SqlDialect<string>): MemoryStore {
  return {
    ...createMemoryReader(dialect),
    write: async (rows) => {
      if (rows.length === 0) return database.read(ANY_SESSION, () => {})
      await database.write(rows[0]?.session ?? ANY_SESSION, (tables) => {
        for (const row of rows) write(tables, row)
      })
    },
    search: (query) =>
      searchRows(query.text ?? "", query.limit, async (words, limit) => {
        const rows = await database.read(query.session ?? ANY_SESSION, (tables) => find(tables, query, words, limit))
        return rows.map(sqliteRows.memory)
      }),
  }
}

function write({ run }: SqliteTables, row: MemoryRow): void {
  const values = memoryValues(row)
  const ms = Math.max(0, Math.min(Math.trunc(row.atMs), LAST_MS))
  const written = run(
    `INSERT INTO memory (place, ${memoryColumns}) VALUES (
      (SELECT coalesce(max(place), ? << 20) + 1 FROM memory WHERE place > ? << 20 AND place < (? + 1) << 20),
      ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (session, id) DO NOTHING`,
    ...[ms, ms, ms],
    ...Object.values({ ...values, trusted: values.trusted ? 1 : 0, sources: JSON.stringify(values.sources) }),
  )
  if (written === 0) return
  const terms = searchTerms(row.text)
  run(
    "INSERT INTO memory_words (rowid, tags, terms) SELECT place, ?, ? FROM memory WHERE session = ? AND id = ?",
    ...[[...sqliteTags(row), ...stemsOf(terms).map(stemTag)].join(" "), terms.join(" ")],
    ...[values.session, values.id],
  )
}

/**
 * Finds rows, newest first, in the word index, whose tags include the filters; for the newest rows of an agent or of days it is not
 * needed.
 */
function find(
  tables: SqliteTables,
  query: MemoryQuery,
  words: readonly QueryWord[],
  limit: number,
): readonly StoredRow[] {
  const { tenant, agent, session, kind, fromDay, toDay, trustedOnly, withSuperseded } = query
  const filters: readonly (readonly [sql: string, value: string | undefined])[] = [
    ["memory.tenant = ?", tenant],
    ["memory.agent = ?", agent],
    ["memory.session = ?", session],
    ["memory.kind = ?", kind],
    ["memory.day >= ?", fromDay],
    ["memory.day <= ?", toDay],
  ]
  const asked = filters.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value: toStorable(value) }]))
  const conditions = [
    ...asked.map(({ sql }) => sql),
    ...(trustedOnly === true ? ["memory.trusted = 1"] : []),
    ...(withSuperseded === true ? [] : ["memory.superseded_by IS NULL"]),
  ].join(" AND ")
  const values = asked.map(({ value }) => value)
  const columns = memoryColumns.replace(/\w+/g, "memory.$&")
  if (words.length === 0 && kind === undefined && session === undefined && trustedOnly !== true) {
    const sql = `SELECT ${columns} FROM memory WHERE ${conditions} ORDER BY memory.day DESC, memory.place DESC ${boundLimit}`
    return tables.all(sql, ...values, limit)
  }
  const sql = `SELECT ${columns} FROM memory_words CROSS JOIN memory ON memory.place = memory_words.rowid
    WHERE memory_words MATCH ? AND ${conditions} ORDER BY memory_words.rowid DESC ${boundLimit}`
  const days = daysIn(tables, query)
  return days?.length === 0 ? [] : tables.all(sql, sqliteMatch(query, words, days), ...values, limit)
}

/** The days of a query that have rows; undefined if it asks for all days, or for too many to list. */
function daysIn({ get }: SqliteTables, { tenant, agent, fromDay, toDay }: MemoryQuery): readonly string[] | undefined {
  if (fromDay === undefined && toDay === undefined) return undefined
  const days: string[] = []
  const sql = "SELECT min(day) AS day FROM memory WHERE tenant = ? AND agent = ? AND day >= ? AND day > ?"
  for (;;) {
    const row = get(sql, ...[tenant, agent, fromDay ?? "", days.at(-1) ?? ""].map(toStorable))
    const day = row === undefined ? undefined : sqliteRows.maybe(row, "day", sqliteRows.text)
    if (day === undefined || (toDay !== undefined && day > toDay)) return days
    days.push(day)
    if (days.length > NAMED_DAYS) return undefined
  }
}

/** Tags to filter rows without reading them. The columns decide; a tag must only never exclude a matching row. */
function sqliteTags({ session, kind, day, trusted, ...owner }: MemoryRow): readonly string[] {
  return [tag("a", ownerName(owner)), tag("s", session), tag("k", kind), tag("d", day), ...(trusted ? ["t"] : [])]
}

/** The index query, for these days or all. Terms and tags are letters and numbers, so none is an operator. */
export function sqliteMatch(
  { session, kind, trustedOnly, ...owner }: MemoryQuery,
  words: readonly QueryWord[],
  days: readonly string[] | undefined,
): string {
  const tags = [
    ...(session === undefined ? [] : [tag("s", session)]),
    ...(kind === undefined ? [] : [tag("k", kind)]),
    ...(trustedOnly === true ? ["t"] : []),
  ]
  return [
    ...words.map(({ terms, stem }) => {
      const same = `terms : "${terms.join(" ")}"`
      return stem === undefined ? same : `(${same} OR tags : "${stemTag(stem)}")`
    }),
    `tags : (${ownerNames(owner)
      .map((name) => `"${tag("a", name)}"`)
      .join(" OR ")})`,
    ...tags.map((one) => `tags : "${one}"`),
    ...(days === undefined ? [] : [`tags : (${days.map((day) => `"${tag("d", day)}"`).join(" OR ")})`]),
  ].join(" AND ")
}

/**
 * Rows of versions without stems are found only by the exact word. The letter differs from those of tags, and a stem is never 16 hex
 * digits.
 */
const stemTag = (stem: string): string => `w${stem}`

const tag = (letter: string, name: string): string => letter + tagName(name)

/** The rows of a session share all names but their kind. */
const tagName = createRecent((name) => sha256Hex(toStorable(name)).slice(0, 16), maxTagNames)
