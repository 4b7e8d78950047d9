import { statSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { HoldfastError } from "../message/errors.ts"
import { GONE, isBusy, makeStoreFile, problemOfPath, sqliteError } from "./sqlite-file.ts"
import { ANY_SESSION, type StoredRow } from "./stored-row.ts"

type Value = string | number | null | Uint8Array
type Connection = import("node:sqlite").DatabaseSync
type Statement = import("node:sqlite").StatementSync

/** The statements available inside a transaction. They are synchronous. */
export type SqliteTables = {
  readonly all: (sql: string, ...values: readonly Value[]) => readonly StoredRow[]
  readonly get: (sql: string, ...values: readonly Value[]) => StoredRow | undefined
  /** Returns the number of changed rows. */
  readonly run: (sql: string, ...values: readonly Value[]) => number
}

export type SqliteDatabase = {
  /** Reads in one consistent snapshot. `session` is named if data is damaged. */
  readonly read: <Result>(session: string, work: (tables: SqliteTables) => Result) => Promise<Result>
  /** Writes in one transaction: all of the work is durable, or none of it. */
  readonly write: <Result>(session: string, work: (tables: SqliteTables) => Result) => Promise<Result>
  /** Runs statements that are not allowed in a transaction. */
  readonly maintain: (sql: readonly string[]) => Promise<void>
  /** Writes the write-ahead log into the file and truncates it; gives up if another program keeps reading. */
  readonly truncateLog: () => Promise<void>
  readonly close: () => void
}

type SqliteSettings = {
  readonly path: string
  readonly busyMs: number
  readonly durability: "full" | "normal"
}

/** SQLite waits for a lock only this long, because it blocks the process meanwhile; then the call is retried. */
const SLICE_MS = 1
const PAUSE_MS = 10

/** Size limit of the write-ahead log after a checkpoint. */
const LOG_BYTES = 64 * 1024 * 1024

/** Attempts to truncate the write-ahead log: two seconds, in which every reader of ours has ended. */
const TRUNCATIONS = 200

/** Opens or creates the file, and migrates its schema. */
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
  return guard(await createRetryWhileBusy(settings)(connect, "*"), settings)
}

function guard(connection: Connection, settings: SqliteSettings): SqliteDatabase {
  const { path } = settings
  // Separate retry state for reads: a writer does not block readers, so a successful read says nothing about the write lock.
  const reading = createRetryWhileBusy(settings)
  const writing = createRetryWhileBusy(settings)
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
    writing(() => {
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
        await writing(() => {
          checkOpen()
          connection.exec(one)
        }, "*")
      }
    },
    truncateLog: async () => {
      for (let attempt = 0; attempt < TRUNCATIONS; attempt++) {
        const isDone = await writing(() => {
          checkOpen()
          return connection.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy === 0
        }, "*")
        if (isDone) return
        await sleep(PAUSE_MS)
      }
    },
    close: () => {
      flush()
      if (connection.isOpen) connection.close()
    },
  }
}

type RetryWhileBusy = <Result>(work: () => Result, session: string) => Promise<Result>

/**
 * Retries until the lock is free or the time is up, yielding between attempts. Once a call has waited the full time, later calls fail at
 * once until one succeeds; otherwise each call of a request would wait as long.
 */
function createRetryWhileBusy({ busyMs, path }: SqliteSettings): RetryWhileBusy {
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

/** The identity of a file, if there is one: writes to a deleted file seem to succeed, and are lost when the process ends. */
function identityOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? "" : `${stat.dev}:${stat.ino}`
}

function prepare(connection: Connection, { durability }: SqliteSettings): void {
  connection.exec(`PRAGMA busy_timeout = ${SLICE_MS}`)
  connection.exec("PRAGMA journal_mode = WAL")
  connection.exec(`PRAGMA synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`)
  connection.exec("PRAGMA foreign_keys = ON; PRAGMA cell_size_check = ON; PRAGMA secure_delete = ON")
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

/** Migrates the schema, all steps or none. A file of a newer version, or of another program, is left unchanged. */
function migrateSqlite(connection: Connection): void {
  if (versionOf(connection) === sqliteMigrations.length) return
  connection.exec("BEGIN IMMEDIATE")
  try {
    const version = versionOf(connection)
    for (const [at, sql] of sqliteMigrations.entries()) if (at >= version) connection.exec(sql)
    connection.exec(`PRAGMA user_version = ${sqliteMigrations.length}`)
    connection.exec("COMMIT")
  } catch (error) {
    if (connection.isTransaction) connection.exec("ROLLBACK")
    throw error
  }
}

function versionOf(connection: Connection): number {
  const pragma = (name: string): number => Number(connection.prepare(`PRAGMA ${name}`).get()?.[name])
  const tables = Number(connection.prepare("SELECT count(*) AS count FROM sqlite_schema").get()?.count)
  if (tables > 0 && pragma("application_id") !== SQLITE_APPLICATION) {
    const reason = "the file is the database of another program"
    throw new HoldfastError({ code: "store-unavailable", store: "sqlite", reason })
  }
  const version = pragma("user_version")
  const known = sqliteMigrations.length
  if (version > known) throw new HoldfastError({ code: "store-newer", store: "sqlite", version, known })
  return version
}

type Write = SqliteDatabase["write"]
type Waiting = {
  readonly session: string
  readonly work: (tables: SqliteTables) => void
  readonly done: () => void
  readonly failed: (error: unknown) => void
}

/** Limits on the writes of one transaction, because other calls wait for it. What is left over is written in the next turn. */
const maxTogether = 64
const maxTogetherMs = 10

/**
 * Combines simultaneous writes into one transaction, because each transaction waits for the disk. If it fails, each write is retried
 * separately, so that no write fails because of another.
 */
export function createSqliteWrites(alone: Write): { readonly write: Write; readonly flush: () => void } {
  let waiting: Waiting[] = []
  let isPlanned = false
  const plan = (): void => {
    if (isPlanned || waiting.length === 0) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      writeSome(maxTogetherMs)
    })
  }
  const writeSome = (limitMs: number): void => {
    const some = waiting.slice(0, maxTogether)
    waiting = waiting.slice(maxTogether)
    const giveBack = (left: readonly Waiting[]): void => {
      waiting = [...left, ...waiting]
      plan()
    }
    plan()
    void together(alone, some, { limitMs, giveBack })
  }
  const write = <Result>(session: string, work: (tables: SqliteTables) => Result): Promise<Result> => {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    let settle = (): void => {}
    const keep = (tables: SqliteTables): void => {
      const result = work(tables)
      settle = () => resolve(result)
    }
    waiting.push({ session, work: keep, done: () => settle(), failed: reject })
    plan()
    return promise
  }
  const flush = (): void => {
    while (waiting.length > 0) writeSome(Number.POSITIVE_INFINITY)
  }
  return { write, flush }
}

type TransactionLimit = {
  readonly limitMs: number
  /** Called with the writes that there was no time for. */
  readonly giveBack: (left: readonly Waiting[]) => void
}

async function together(alone: Write, all: readonly Waiting[], { limitMs, giveBack }: TransactionLimit): Promise<void> {
  let batch = all
  const [first] = all
  if (first === undefined) return
  const each = (tables: SqliteTables): void => {
    const untilMs = performance.now() + limitMs
    for (const [n, { work }] of batch.entries()) {
      if (n > 0 && performance.now() >= untilMs) {
        giveBack(batch.slice(n))
        batch = batch.slice(0, n)
        return
      }
      work(tables)
    }
  }
  try {
    await alone(batch.length === 1 ? first.session : ANY_SESSION, each)
  } catch (error) {
    // Retrying is pointless if there was only one write, or if the database is still locked.
    const isFinal = all.length === 1 || (error instanceof HoldfastError && error.problem.code === "store-locked")
    for (const one of batch) {
      if (isFinal) one.failed(error)
      else await alone(one.session, one.work).then(one.done, one.failed)
    }
    return
  }
  for (const { done } of batch) done()
}

/** The application id in the file header, which identifies our files. */
const SQLITE_APPLICATION = 0x484f4c44

/** The schema migrations. A released step never changes; new ones are added at the end. */
export const sqliteMigrations: readonly string[] = [
  `
  PRAGMA application_id = ${SQLITE_APPLICATION};

  CREATE TABLE sessions (
    session TEXT NOT NULL PRIMARY KEY,
    agent TEXT NOT NULL,
    head_seq INTEGER NOT NULL,
    head_hash TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
  ) WITHOUT ROWID;
  -- Every append writes to this index too, so it is the only one.
  CREATE INDEX sessions_by_update ON sessions (updated_ms);

  -- body comes last: an outline stops reading before it. checksum covers the row, packed says that body is deflated.
  CREATE TABLE entries (
    session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL,
    type TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    parent INTEGER,
    key TEXT,
    checksum INTEGER NOT NULL,
    packed INTEGER NOT NULL,
    body NOT NULL,
    PRIMARY KEY (session, seq)
  );

  CREATE TABLE payloads (
    session TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE,
    hash TEXT NOT NULL,
    packed INTEGER NOT NULL,
    body NOT NULL,
    PRIMARY KEY (session, hash)
  );

  CREATE TABLE summaries (
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    json TEXT NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;

  -- place is the order in which jobs were put.
  CREATE TABLE jobs (
    session TEXT NOT NULL,
    key TEXT NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    due_ms INTEGER NOT NULL,
    leased_until_ms INTEGER NOT NULL,
    PRIMARY KEY (session, key)
  ) WITHOUT ROWID;

  -- place is the row's moment in its upper bits, a number within that millisecond in its lower 20: its order is the order of age.
  CREATE TABLE memory (
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    place INTEGER NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    day TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    channel TEXT NOT NULL,
    trusted INTEGER NOT NULL,
    sources TEXT NOT NULL,
    subject TEXT,
    superseded_by TEXT,
    text TEXT NOT NULL,
    PRIMARY KEY (session, id)
  ) WITHOUT ROWID;
  CREATE INDEX memory_by_day ON memory (agent, day, place);
  CREATE INDEX memory_by_id ON memory (agent, id);

  -- terms are cut by termsOf and only have to be parted at spaces; tags stand for agent, session, kind and trust.
  CREATE VIRTUAL TABLE memory_words USING fts5 (
    tags, terms, content = '', contentless_delete = 1, tokenize = 'ascii'
  );
  `,
  `
  -- A session may have names before it has a log, so this table refers to no other.
  CREATE TABLE aliases (
    name TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    entry TEXT
  ) WITHOUT ROWID;
  CREATE INDEX aliases_by_session ON aliases (session);
  `,
  `
  -- Whether a message is there already, under the same parent.
  CREATE INDEX entries_by_parent ON entries (session, parent) WHERE key IS NOT NULL;
  `,
  `
  -- Only a gateway gives its sessions aliases, and the names of those begin with their tenant and a dot.
  ALTER TABLE sessions ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
  ALTER TABLE memory ADD COLUMN tenant TEXT NOT NULL DEFAULT '';
  UPDATE sessions SET tenant = substr(session, 1, instr(session, '.') - 1)
    WHERE instr(session, '.') BETWEEN 2 AND 33 AND session IN (SELECT session FROM aliases);
  UPDATE memory SET tenant = substr(session, 1, instr(session, '.') - 1)
    WHERE instr(session, '.') BETWEEN 2 AND 33 AND session IN (SELECT session FROM aliases);
  DROP INDEX memory_by_day;
  DROP INDEX memory_by_id;
  CREATE INDEX memory_by_day ON memory (tenant, agent, day, place);
  CREATE INDEX memory_by_id ON memory (tenant, agent, id);
  `,
  `
  -- With trust (a table without rowid has its key in every index) a day is counted without reading its rows.
  DROP INDEX memory_by_day;
  CREATE INDEX memory_by_day ON memory (tenant, agent, day, place, trusted);
  `,
]
