import { HoldfastError, type Problem } from "../message/errors.ts"
import { findPathFault, type PathFault, pathFaultOf } from "./store-file.ts"

/** What went wrong, in which file, and how long it was waited for. */
export type Circumstance = { readonly session: string; readonly waitedMs: number; readonly path: string }

/** Stands for the session where a damage is not in one session alone. */
export const ANY_SESSION = "*"

/** What is said of a file that is not there any more, or is another one. */
export const GONE = "its file was deleted or replaced while it was open"

/** The error to throw for one of SQLite's or of the file system's; one that is nobody's fault but ours stays as it is. */
export function sqliteError(error: unknown, circumstance: Circumstance): unknown {
  const problem =
    error instanceof HoldfastError ? withPath(error.problem, circumstance) : problemOf(error, circumstance)
  return problem === undefined ? error : new HoldfastError(problem, { cause: error })
}

/** The same problem with the store's path, if it has none yet. */
function withPath(problem: Problem, { path }: Circumstance): Problem | undefined {
  const isOfFile = problem.code === "store-unavailable" || problem.code === "store-newer"
  return isOfFile && problem.path === undefined ? { ...problem, path } : undefined
}

/** The problem that a path's fault is. */
export function problemOfPath({ path, cause, reason }: PathFault): Problem {
  return cause === "full"
    ? { code: "store-full", store: "sqlite", path }
    : { code: "store-unavailable", store: "sqlite", path, cause, reason }
}

/** Whether another connection is in the way, so that trying again helps. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 6
}

function problemOf(error: unknown, { session, waitedMs, path }: Circumstance): Problem | undefined {
  const store = "sqlite"
  const reason = reasonOf(error)
  switch (primaryCode(error)) {
    case 5: // SQLITE_BUSY
    case 6: // SQLITE_LOCKED
      return { code: "store-locked", store, waitedMs, path }
    case 13: // SQLITE_FULL
      return { code: "store-full", store, path }
    case 1: // SQLITE_ERROR: our statements are fixed, so the schema is not the one that we made
    case 11: // SQLITE_CORRUPT
    case 19: // SQLITE_CONSTRAINT, which only a damaged index can bring about
    case 20: // SQLITE_MISMATCH, likewise
    case 26: // SQLITE_NOTADB
      return { code: "store-corrupt", store, session, reason, path }
    case 3: // SQLITE_PERM
    case 8: // SQLITE_READONLY
    case 10: // SQLITE_IOERR
    case 14: // SQLITE_CANTOPEN
      // SQLite does not say which file, nor what the operating system said.
      return problemOfPath(findPathFault(path) ?? { path, cause: "other", reason })
    case 7: // SQLITE_NOMEM
    case 15: // SQLITE_PROTOCOL
    case 18: // SQLITE_TOOBIG
    case 22: // SQLITE_NOLFS
      return { code: "store-unavailable", store, reason, path, cause: "other" }
  }
  if (isTooLarge(error)) return { code: "store-corrupt", store, session, reason, path }
  const fault = pathFaultOf(error, path)
  return fault === undefined ? undefined : problemOfPath(fault)
}

/** A number that none of ours can be: Node refuses to read it. */
function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE"
}

/** SQLite's result code without its extension, as `node:sqlite` reports it. */
function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined
  return error.errcode & 0xff
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
