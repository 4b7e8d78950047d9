import { resolve } from "node:path"
import { HoldfastError } from "../message/errors.ts"
import { reserveLog } from "./reserved-log.ts"
import { createSqliteAliases } from "./sqlite-aliases.ts"
import { appendToSqlite } from "./sqlite-append.ts"
import { openSqliteDatabase, type SqliteDatabase } from "./sqlite-database.ts"
import { createSqliteJobs } from "./sqlite-jobs.ts"
import { createSqliteLogReader } from "./sqlite-log.ts"
import { createSqliteMemory } from "./sqlite-memory.ts"
import { ANY_SESSION } from "./sqlite-problem.ts"
import { textOf } from "./sqlite-row.ts"
import { createSqliteSessions } from "./sqlite-sessions.ts"
import type { Store } from "./store.ts"

export type SqliteOptions = {
  /** The file; it and its folder are made if they are not there. */
  readonly path: string
  readonly now?: () => number
  /** How long a call waits for another program that has the file locked. */
  readonly busyMs?: number
  /** With `normal` a loss of power may take the last appends; a crash of the process takes nothing. */
  readonly durability?: "full" | "normal"
}

/** Longer than any call of ours holds the lock, shorter than a person waits. */
const BUSY_MS = 5000

/** A store in one file, which several processes may have open at once. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, now = Date.now, busyMs = BUSY_MS, durability = "full" } = options
  if (path === "" || path.includes("\0") || !path.isWellFormed()) {
    throw new HoldfastError({ code: "option-invalid", option: "path", expected: "a file name", found: "none" })
  }
  return createSqliteStore(await openSqliteDatabase({ path: resolve(path), busyMs, durability }), now)
}

/** So many damages are told; what comes after them is mostly more of the same. */
const maxDamages = 100

/** Every page and every index, which takes as long as reading all of the file. */
async function checkSqlite(database: SqliteDatabase): Promise<readonly string[]> {
  try {
    const rows = await database.read(ANY_SESSION, ({ all }) => all(`PRAGMA integrity_check(${maxDamages})`))
    const words = rows.map((row) => textOf(row, "integrity_check"))
    return words.length === 1 && words[0] === "ok" ? [] : words
  } catch (error) {
    // Some damages end the check itself.
    if (!(error instanceof HoldfastError) || error.problem.code !== "store-corrupt") throw error
    return [error.problem.reason]
  }
}

/** The store on a database that is open. */
export function createSqliteStore(database: SqliteDatabase, now: () => number): Store {
  return reserveLog({
    kind: "sqlite",
    isShared: false,
    append: (session, batch) => appendToSqlite(database, session, batch, now()),
    ...createSqliteLogReader(database),
    ...createSqliteSessions(database, now),
    ...createSqliteAliases(database),
    jobs: createSqliteJobs(database),
    memory: createSqliteMemory(database),
    check: () => checkSqlite(database),
    vacuum: () =>
      database.maintain([
        "INSERT INTO memory_words (memory_words) VALUES ('optimize')",
        "VACUUM",
        "PRAGMA wal_checkpoint(TRUNCATE)",
      ]),
    close: async () => database.close(),
  })
}
