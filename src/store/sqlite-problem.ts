import { HoldfastError, type Problem } from "../errors.ts"

/** What went wrong, where, and how long it was waited for. */
export type Circumstance = { readonly session: string; readonly waitedMs: number }

/** Stands for the session where a damage is not in one session alone. */
export const ANY_SESSION = "*"

/** What is said of a file that is not there any more, or is another one. */
export const GONE = "its file was deleted or replaced while it was open"

/** The error to throw for one of SQLite's or of the file system's; one that is nobody's fault but ours stays as it is. */
export function sqliteError(error: unknown, circumstance: Circumstance): unknown {
  const problem = error instanceof HoldfastError ? undefined : problemOf(error, circumstance)
  return problem === undefined ? error : new HoldfastError(problem, { cause: error })
}

/** Whether another connection is in the way, so that trying again helps. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 6
}

function problemOf(error: unknown, { session, waitedMs }: Circumstance): Problem | undefined {
  const store = "sqlite"
  const reason = reasonOf(error)
  switch (primaryCode(error)) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return { code: "store-locked", store, waitedMs }
    case 13: // SQLITE_FULL
      return { code: "store-full", store }
    case 1: // SQLITE_ERROR: our statements are fixed, so the schema is not the one that we made
    case 11: // SQLITE_CORRUPT
    case 19: // SQLITE_CONSTRAINT, which only a damaged index can bring about
    case 20: // SQLITE_MISMATCH, likewise
    case 26: // SQLITE_NOTADB
      return { code: "store-corrupt", store, session, reason }
    case 3: // SQLITE_PERM
    case 7: // SQLITE_NOMEM
    case 8: // SQLITE_READONLY
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
    case 15: // SQLITE_PROTOCOL
    case 18: // SQLITE_TOOBIG
    case 22: // SQLITE_NOLFS
      return { code: "store-unavailable", store, reason }
  }
  return isTooLarge(error) ? { code: "store-corrupt", store, session, reason } : fileProblem(error)
}

/** A number that none of ours can be: Node refuses to read it. */
function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE"
}

function fileProblem(error: unknown): Problem | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined
  if (error.code === "ENOSPC" || error.code === "EDQUOT") return { code: "store-full", store: "sqlite" }
  return { code: "store-unavailable", store: "sqlite", reason: `${error.syscall} failed with ${error.code}` }
}

/** SQLite's result code without its extension, as `node:sqlite` reports it. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined
  return error.errcode & 0xff
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
