import { crc32 } from "node:zlib"
import { HoldfastError } from "../message/errors.ts"
import { isPayload, type PackedText, toStorable, unpackText } from "./packed-text.ts"
import { BOUND_LIMIT, type SqliteDatabase, type SqliteTables } from "./sqlite-database.ts"
import {
  type Head,
  noHead,
  type OutlineEntry,
  type Range,
  type SessionId,
  type Store,
  type StoredEntry,
  wholeRange,
} from "./store.ts"
import { createRowReader, type StoredRow } from "./stored-row.ts"

export const sqliteRows = createRowReader("sqlite")

/** The calls of a store that read a session's log. */
type LogReader = Pick<Store, "head" | "read" | "readEntries" | "outline" | "payloads">

const RANGE = `FROM entries WHERE session = ? AND seq >= ? AND seq <= ? ORDER BY seq ${BOUND_LIMIT}`
const BY_NUMBER = "FROM entries WHERE session = ? AND seq IN (SELECT value FROM json_each(?)) ORDER BY seq"
const ROWS = `SELECT * ${RANGE}`
const OUTLINES = `SELECT seq, hash, type, at_ms, parent, key ${RANGE}`

export function createSqliteLogReader(database: SqliteDatabase): LogReader {
  const entries = async (session: SessionId, rows: Promise<readonly StoredRow[]>): Promise<readonly StoredEntry[]> =>
    Promise.all((await rows).map((row) => entryOf(session, row)))
  const rowsIn = (session: SessionId, sql: string, range: Range | undefined): Promise<readonly StoredRow[]> =>
    database.read(session, (tables) => {
      const { from, to, limit } = wholeRange(range)
      const rows = tables.all(sql, toStorable(session), from, to, limit)
      const last = Math.min(to, sqliteHead(tables, session).seq, from - 1 + limit)
      if (rows.length === Math.max(0, last - from + 1)) return rows
      throw corrupt(session, "entries are missing")
    })
  return {
    head: (session) => database.read(session, (tables) => sqliteHead(tables, session)),
    read: (session, range) => entries(session, rowsIn(session, ROWS, range)),
    outline: async (session, range) => (await rowsIn(session, OUTLINES, range)).map(sqliteRows.outline),
    readEntries: (session, seqs) => {
      const asked = JSON.stringify(seqs)
      const rows = database.read(session, ({ all }) => all(`SELECT * ${BY_NUMBER}`, toStorable(session), asked))
      return entries(session, rows)
    },
    payloads: async (session, hashes) => {
      const asked = JSON.stringify(hashes.map(toStorable))
      const sql = "SELECT hash, body FROM payloads WHERE session = ? AND hash IN (SELECT value FROM json_each(?))"
      const rows = await database.read(session, ({ all }) => all(sql, toStorable(session), asked))
      const found = new Map(await Promise.all(rows.map((row) => payloadOf(session, row))))
      const missing = hashes.find((hash) => !found.has(hash))
      if (missing !== undefined) throw corrupt(session, `payload ${missing} is missing`)
      return found
    },
  }
}

/** The end of a session's log. */
export function sqliteHead({ get }: SqliteTables, session: SessionId): Head {
  const row = get("SELECT head_seq, head_hash FROM sessions WHERE session = ?", toStorable(session))
  return row === undefined ? noHead : sqliteRows.head(row)
}

/** A checksum over a whole entry, so that damage is detected when it is read. */
export function checksum({ seq, hash, type, atMs, parent, key }: OutlineEntry, body: PackedText): number {
  return crc32(body, crc32(toStorable(JSON.stringify([seq, hash, type, atMs, parent, key]))))
}

async function entryOf(session: SessionId, row: StoredRow): Promise<StoredEntry> {
  const outline = sqliteRows.outline(row)
  const packed = sqliteRows.packed(row, "body")
  const reason = `entry ${outline.seq} is not what it was`
  if (checksum(outline, packed) !== sqliteRows.number(row, "checksum")) throw corrupt(session, reason)
  return { ...outline, body: await unpacked(session, packed, reason) }
}

async function payloadOf(session: SessionId, row: StoredRow): Promise<readonly [string, string]> {
  const hash = sqliteRows.text(row, "hash")
  const reason = `payload ${hash} is not what it was`
  const text = await unpacked(session, sqliteRows.packed(row, "body"), reason)
  if (!isPayload(text, hash)) throw corrupt(session, reason)
  return [hash, text]
}

async function unpacked(session: SessionId, packed: PackedText, reason: string): Promise<string> {
  try {
    return await unpackText(packed)
  } catch (error) {
    throw corrupt(session, reason, error)
  }
}

function corrupt(session: SessionId, reason: string, cause?: unknown): HoldfastError {
  return new HoldfastError({ code: "store-corrupt", store: "sqlite", session, reason }, { cause })
}
