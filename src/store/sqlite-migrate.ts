import { HoldfastError } from "../message/errors.ts"
import { SQLITE_APPLICATION, sqliteMigrations } from "./sqlite-migrations.ts"

type Connection = import("node:sqlite").DatabaseSync

/** Bring the schema up to date, all steps or none. A file of a newer version, or of another program, is left as it is. */
export function migrateSqlite(connection: Connection): void {
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
