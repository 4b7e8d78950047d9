import { statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { HoldfastError } from "../message/errors.ts"
import { migrateSqlite } from "./sqlite-migrate.ts"
import { GONE, isBusy, problemOfPath, sqliteError } from "./sqlite-problem.ts"
import type { SqliteRow } from "./sqlite-row.ts"
import { createSqliteWrites } from "./sqlite-writes.ts"
import { makeStoreFile } from "./store-file.ts"

type Value = string | number | null | Uint8Array
type Connection = import("node:sqlite").DatabaseSync
type Statement = import("node:sqlite").StatementSync

/** What a piece of work may do while it has the database to itself. Nothing in it waits. */
export type SqliteTables = {
  readonly all: (sql: string, ...values: readonly Value[]) => readonly SqliteRow[]
  readonly get: (sql: string, ...values: readonly Value[]) => SqliteRow | undefined
  /** How many rows it changed. */
  readonly run: (sql: string, ...values: readonly Value[]) => number
}

export type SqliteDatabase = {
  /** Look something up; all of it is of one moment. The session is the one to name if it is damaged. */
  readonly read: <Result>(session: string, work: (tables: SqliteTables) => Result) => Promise<Result>
  /** Change something: all of the work is done and durable, or none of it. */
  readonly write: <Result>(session: string, work: (tables: SqliteTables) => Result) => Promise<Result>
  /** Statements that cannot stand in a transaction. */
  readonly maintain: (sql: readonly string[]) => Promise<void>
  readonly close: () => void
}

export type SqliteSettings = {
  readonly path: string
  readonly busyMs: number
  readonly durability: "full" | "normal"
}

/** SQLite itself waits for a lock only this long, because nothing else happens in the process meanwhile; then it is tried again. */
const SLICE_MS = 1
const PAUSE_MS = 10

/** What the write-ahead log may keep of the disk after a checkpoint. */
const LOG_BYTES = 64 * 1024 * 1024

/** Open the file, make it if there is none, and bring its schema up to date. */
export async function openSqliteDatabase(settings: SqliteSettings): Promise<SqliteDatabase> {
  const { DatabaseSync } = await loadSqlite()
  const connect = (): Connection => {
    const fault = makeStoreFile(settings.path)
    if (fault !== undefined) throw new HoldfastError(problemOfPath(fault))
    const connection = new DatabaseSync(settings.path)
    try {
      prepare(connection, settings)
      migrateSqlite(connection)
      return connection
    } catch (error) {
      connection.close()
      throw error
    }
  }
  return guard(await createPatience(settings)(connect, "*"), settings)
}

function guard(connection: Connection, settings: SqliteSettings): SqliteDatabase {
  const { path } = settings
  // Whoever writes keeps nobody from reading: that a read got through says nothing of the lock.
  const reading = createPatience(settings)
  const patiently = createPatience(settings)
  const identity = identityOf(path)
  const statements = new Map<string, Statement>()
  const prepared = (sql: string): Statement => {
    const statement = statements.get(sql) ?? connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const tables: SqliteTables = {
    all: (sql, ...values) => prepared(sql).all(...values),
    get: (sql, ...values) => prepared(sql).get(...values),
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
  }
  const checkOpen = (): void => {
    if (!connection.isOpen) throw new HoldfastError({ code: "store-closed", store: "sqlite" })
  }
  const within = <Result>(begin: string, work: (tables: SqliteTables) => Result): Result => {
    checkOpen()
    prepared(begin).run()
    try {
      const result = work(tables)
      prepared("COMMIT").run()
      return result
    } catch (error) {
      if (connection.isTransaction) prepared("ROLLBACK").run()
      throw error
    }
  }
  const { write, flush } = createSqliteWrites((session, work) =>
    patiently(() => {
      checkOpen()
      if (identityOf(path) !== identity) {
        throw new HoldfastError({ code: "store-unavailable", store: "sqlite", reason: GONE, path })
      }
      return within("BEGIN IMMEDIATE", work)
    }, session),
  )
  return {
    read: (session, work) => reading(() => within("BEGIN", work), session),
    write,
    maintain: async (sql) => {
      for (const one of sql) {
        await patiently(() => {
          checkOpen()
          connection.exec(one)
        }, "*")
      }
    },
    close: () => {
      flush()
      if (connection.isOpen) connection.close()
    },
  }
}

type Patience = <Result>(work: () => Result, session: string) => Promise<Result>

/**
 * Try until nobody is in the way or the time is up; others get to work between two tries. Once somebody had the file for all of that time
 * nobody waits for them again, until something got through: or each of a request's calls would wait as long.
 */
function createPatience({ busyMs, path }: SqliteSettings): Patience {
  let isLocked = false
  return async (work, session) => {
    const untilMs = performance.now() + (isLocked ? 0 : busyMs)
    for (;;) {
      try {
        const result = work()
        isLocked = false
        return result
      } catch (error) {
        const isLast = performance.now() >= untilMs
        if (isBusy(error) && isLast) isLocked = true
        if (!isBusy(error) || isLast) throw sqliteError(error, { session, waitedMs: busyMs, path })
      }
      await sleep(PAUSE_MS)
    }
  }
}

/** Which file a path leads to now; empty if there is none. Writing to one that was deleted would look well and last no longer than we do. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}`
}

function prepare(connection: Connection, { durability }: SqliteSettings): void {
  connection.exec(`PRAGMA busy_timeout = ${SLICE_MS}`)
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`)
  connection.exec("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA secure_delete = FAST")
  connection.exec(`PRAGMA journal_size_limit = ${LOG_BYTES}; PRAGMA temp_store = MEMORY`)
}

async function loadSqlite() {
  try {
    return await import("node:sqlite")
  } catch (error) {
    const problem = { code: "package-missing", package: "node:sqlite", purpose: "the SQLite store" } as const
    throw new HoldfastError(problem, { cause: error })
  }
}
