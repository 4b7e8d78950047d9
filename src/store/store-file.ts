import { accessSync, closeSync, constants, mkdirSync, mkdtempSync, openSync, rmdirSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import type { StoreCause } from "../message/errors.ts"

/** The path at which a store fails, and why. */
export type PathFault = { readonly path: string; readonly cause: StoreCause; readonly reason: string }

type Words = { readonly cause: StoreCause; readonly reason: string }

const noPermission: Words = { cause: "permission", reason: "permission denied" }
const notAFolder: Words = { cause: "not-a-folder", reason: "it is a file, where a folder is needed" }
const notAFile: Words = { cause: "not-a-file", reason: "it is a folder or a device, where a file is needed" }
const noRoom: Words = { cause: "full", reason: "no space left" }
const badName: Words = { cause: "name", reason: "the path is too long or leads in a circle" }
const tooManyFiles: Words = { cause: "open-files", reason: "too many files are open" }

/** What the codes of the operating system mean for a store. */
const wordsOfCode: Readonly<Record<string, Words>> = {
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

/** Read an error of the file system; undefined if it is another kind of error. */
export function pathFaultOf(error: unknown, path: string): PathFault | undefined {
  if (!(error instanceof Error) || !("syscall" in error) || !("code" in error)) return undefined
  const code = String(error.code)
  const words = Object.hasOwn(wordsOfCode, code) ? wordsOfCode[code] : undefined
  const named = "path" in error && typeof error.path === "string" ? error.path : path
  return {
    path: named,
    cause: words?.cause ?? "other",
    reason: words === undefined ? `${String(error.syscall)} failed with ${code}` : `${words.reason} (${code})`,
  }
}

/** Create the folder if it is not there. `mkdir` with `recursive` never returns below folders such as /proc. */
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
 * Create a store's file and its folder if they are not there, for the owner alone: a session holds whatever was said in it. SQLite gives
 * its other files the rights of this one. Anything but a regular file is refused before it is opened: to open a pipe would block.
 */
export function makeStoreFile(path: string): PathFault | undefined {
  try {
    const fault = makeFolder(dirname(path)) ?? kindFault(path)
    if (fault === undefined) closeSync(openSync(path, "a", 0o600))
    return fault
  } catch (error) {
    return faultOrThrow(error, path)
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

/** Find out why a store's file cannot be written or created. A folder is tried out with a temporary one, which is removed again. */
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
