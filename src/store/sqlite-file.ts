import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import { HoldfastError, type Problem, type StoreCause } from "../message/errors.ts"
import { present } from "../message/present.ts"

/** The path at which a store fails, and why. */
type PathFault = { readonly path: string; readonly cause: StoreCause; readonly reason: string }

type FaultText = { readonly cause: StoreCause; readonly reason: string }

const noPermission: FaultText = { cause: "permission", reason: "permission denied" }
const notAFolder: FaultText = { cause: "not-a-folder", reason: "it is a file, where a folder is needed" }
const notAFile: FaultText = { cause: "not-a-file", reason: "it is a folder or a device, where a file is needed" }
const noRoom: FaultText = { cause: "full", reason: "no space left" }
const badName: FaultText = { cause: "name", reason: "the path is too long or leads in a circle" }
const tooManyFiles: FaultText = { cause: "open-files", reason: "too many files are open" }

/** Causes and reasons for system error codes. */
const faultsByCode: Readonly<Record<string, FaultText>> = {
  EACCES: noPermission,
  EPERM: noPermission,
  EROFS: { cause: "read-only", reason: "the file system is read-only" },
  ENOTDIR: notAFolder,
  EISDIR: notAFile,
  ENXIO: notAFile,
  ENOSPC: noRoom,
  EDQUOT: noRoom,
  EMFILE: tooManyFiles,
  ENFILE: tooManyFiles,
  ENAMETOOLONG: badName,
  ELOOP: badName,
  ENOENT: { cause: "missing", reason: "it does not exist and cannot be created" },
  EIO: { cause: "disk", reason: "the disk reports an error" },
}

/** The fault of a file system error; undefined for other errors. */
function pathFaultOf(error: unknown, path: string): PathFault | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined
  const code = String(error.code)
  const words = Object.hasOwn(faultsByCode, code) ? faultsByCode[code] : undefined
  const named = "path" in error && typeof error.path === "string" ? error.path : path
  return {
    path: named,
    cause: words?.cause ?? "other",
    reason: words === undefined ? `${String(error.syscall)} failed with ${code}` : `${words.reason} (${code})`,
  }
}

/** Creates the folder if it does not exist. `mkdir` with `recursive` never returns below folders such as /proc. */
function makeFolder(path: string): PathFault | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return undefined
  if (found !== undefined) return { path, ...notAFolder }
  const parent = dirname(path)
  const fault = parent === path ? undefined : makeFolder(parent)
  if (fault !== undefined) return fault
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
  return undefined
}

/**
 * Creates a store's file and folder if they do not exist, readable only by the owner, because sessions contain private text. SQLite gives
 * its other files the same permissions. Anything but a regular file is refused before it is opened: opening a pipe would block.
 */
export function makeStoreFile(path: string): PathFault | undefined {
  try {
    const folder = dirname(path)
    const isNew = statSync(folder, { throwIfNoEntry: false }) === undefined
    const fault = makeFolder(folder) ?? kindFault(path)
    if (fault !== undefined) return fault
    if (isNew || basename(folder) === ".holdfast") keepOutOfGit(folder)
    closeSync(openSync(path, "a", 0o600))
    return undefined
  } catch (error) {
    return faultOrThrow(error, path)
  }
}

/** Keeps conversations out of a repository. Only in a folder of our own: elsewhere it would hide files that are not ours. */
function keepOutOfGit(folder: string): void {
  try {
    writeFileSync(join(folder, ".gitignore"), "*\n", { flag: "wx", mode: 0o600 })
  } catch (error) {
    // It exists already, or the folder cannot be written, which opening the store will report.
    if (!(error instanceof Error && "code" in error)) throw error
  }
}

function kindFault(path: string): PathFault | undefined {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined || found.isFile() ? undefined : { path, ...notAFile }
}

function faultOrThrow(error: unknown, path: string): PathFault {
  const fault = pathFaultOf(error, path)
  if (fault === undefined) throw error
  return fault
}

/** Finds out why a store's file cannot be written or created. A folder is tested with a temporary one, which is removed again. */
export function findPathFault(path: string): PathFault | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false })
    if (found !== undefined && !found.isFile()) return { path, ...notAFile }
    if (found !== undefined) accessSync(path, constants.R_OK | constants.W_OK)
    return findFolderFault(dirname(path))
  } catch (error) {
    return faultOrThrow(error, path)
  }
}

function findFolderFault(folder: string): PathFault | undefined {
  const found = statSync(folder, { throwIfNoEntry: false })
  const parent = dirname(folder)
  if (found === undefined && parent !== folder) return findFolderFault(parent)
  if (found?.isDirectory() === false) return { path: folder, ...notAFolder }
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    rmdirSync(mkdtempSync(join(folder, ".holdfast-")))
  } catch (error) {
    return { ...faultOrThrow(error, folder), path: folder }
  }
  return undefined
}

/** The context of an error: session, waiting time and file. */
type ErrorContext = { readonly session: string; readonly waitedMs: number; readonly path: string }

export const GONE = "its file was deleted or replaced while it was open"

/** Converts an error of SQLite or the file system into a HoldfastError; other errors are bugs and stay unchanged. */
export function sqliteError(error: unknown, context: ErrorContext): unknown {
  const problem = error instanceof HoldfastError ? withPath(error.problem, context) : problemOf(error, context)
  return problem === undefined ? error : new HoldfastError(problem, { cause: error })
}

/** The same problem with the store's path, if it has none yet. */
function withPath(problem: Problem, { path }: ErrorContext): Problem | undefined {
  const isOfFile = problem.code === "store-unavailable" || problem.code === "store-newer"
  return isOfFile && problem.path === undefined ? { ...problem, path } : undefined
}

export function problemOfPath({ path, cause, reason }: PathFault): Problem {
  return cause === "full"
    ? { code: "store-full", store: "sqlite", path }
    : { code: "store-unavailable", store: "sqlite", path, cause, reason }
}

/** True if the database is locked by another connection, so that a retry helps. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === 5 || code === 6
}

function problemOf(error: unknown, { session, waitedMs, path }: ErrorContext): Problem | undefined {
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
      // SQLite reports neither the file nor the system error, so look at the path.
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

/** A number too large for Node to read, which we never write. */
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

/** An exclusive claim of this process on a store's file. It ends with the process in any case. */
export type FileClaim = { readonly release: () => void }

/**
 * Claims the file of a store for one gateway: two would each keep state in memory that the other does not know. The claim is an operating
 * system lock on a file next to the store, taken through SQLite; a second file names the owner, for people to read. Other programs that
 * read or write the store are not affected.
 */
export async function claimFile(path: string): Promise<FileClaim> {
  const { DatabaseSync } = await import("node:sqlite")
  const lockPath = `${path}.serving`
  const ownerPath = `${path}.serving-by`
  try {
    const lock = new DatabaseSync(lockPath)
    try {
      chmodSync(lockPath, 0o600)
      lock.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE")
    } catch (error) {
      lock.close()
      throw error
    }
    const owner = `process ${process.pid} on ${hostname()}, since ${new Date().toISOString()}`
    writeFileSync(ownerPath, `${owner}\n`, { mode: 0o600 })
    return {
      release: () => {
        rmSync(ownerPath, { force: true })
        if (lock.isOpen) lock.close()
      },
    }
  } catch (error) {
    if (!isBusy(error)) throw sqliteError(error, { session: "*", waitedMs: 0, path })
    throw new HoldfastError({ code: "store-in-use", store: "sqlite", path, ...present({ owner: ownerIn(ownerPath) }) })
  }
}

/** Limit on the owner line. */
const maxOwner = 300

function ownerIn(path: string): string | undefined {
  try {
    const [line = ""] = readFileSync(path, "utf8").slice(0, maxOwner).split("\n", 1)
    return /^process \d+ on [\w.-]+, since [\dTZ:.-]+$/.test(line) ? line : undefined
  } catch {
    // The owner line is only informative: a process that just started has not written it yet.
    return undefined
  }
}
