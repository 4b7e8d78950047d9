import { constants } from "node:fs"
import { access, open, readdir, realpath, stat } from "node:fs/promises"
import { join, sep } from "node:path"
import { maxFileBytes, maxFiles } from "./limits.ts"
import { faultIn } from "./rule-file.ts"

/** A file of the policy directory: its name below it, and by what a change of it is noticed. */
export type ListedFile = { readonly name: string; readonly stamp: string }

/** The folders in which keys lie; what lies in a deeper one is worth less. */
export const keyFolders = ["keys", "keys/retired", "keys/revoked"] as const

const isLeftAlone = (name: string): boolean => /^\.|^readme|\.example$/i.test(name)

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error ? String(error.code) : undefined

/** All files of the directory that mean something, by name. A directory that is not there, or is empty all at once, is a fault. */
export async function listFiles(directory: string): Promise<readonly ListedFile[]> {
  const found: ListedFile[] = [{ name: ".", stamp: await stampOf(directory, ".") }]
  const names = await namesIn(directory, ".", ["keys"])
  for (const folder of keyFolders) {
    if (folder === "keys" ? !names.includes("keys") : !found.some(({ name }) => name === folder)) continue
    const below = folder === "keys" ? ["retired", "revoked"] : []
    for (const name of await namesIn(join(directory, folder), folder, below))
      found.push({ name: `${folder}/${name}`, stamp: await stampOf(directory, `${folder}/${name}`) })
  }
  for (const name of names) found.push({ name, stamp: await stampOf(directory, name) })
  if (found.length > maxFiles) throw faultIn(directory, undefined, `at most ${maxFiles} files`, `more than ${maxFiles}`)
  return found.sort((one, other) => (one.name < other.name ? -1 : 1))
}

const endings = /\.(?:md|txt|cedar|json)$/

async function namesIn(folder: string, label: string, folders: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    const found = codeOf(error) === "ENOENT" ? "none" : `one that cannot be read (${codeOf(error)})`
    throw faultIn(label === "." ? folder : label, undefined, "the policy directory", found)
  })
  const wanted = names.filter((name) => !isLeftAlone(name))
  const known = label === "." ? endings : /\.pub$/
  const stranger = wanted.find((name) => !known.test(name) && !folders.includes(name))
  const kinds = label === "." ? ".md, .txt, .cedar or .json, or the folder keys" : ".pub, a public key"
  if (stranger !== undefined)
    throw faultIn(
      label === "." ? stranger : `${label}/${stranger}`,
      undefined,
      `a name that ends in ${kinds}`,
      "a name of another kind",
    )
  return wanted
}

/** What changes when a file changes: its place on the disk, its size, its moments, who may write it. */
async function stampOf(directory: string, name: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = await stat(join(directory, name), { bigint: true })
    return name === "." || isKeyFolder(name) ? `${mode}` : `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`
  } catch (error) {
    const found = codeOf(error) === "ENOENT" ? "nothing" : String(codeOf(error))
    throw faultIn(name === "." ? directory : name, undefined, "a file or folder that is there", found)
  }
}

const isKeyFolder = (name: string): boolean => keyFolders.some((folder) => folder === name)

/** Refuse what others than its owner may change: whoever can write a rule is the operator. Nobody can on a disk that is read only. */
async function refuseWritable(path: string, name: string, mode: number, what: string): Promise<void> {
  if (process.platform === "win32" || (mode & 0o022) === 0) return
  const readOnly = await access(path, constants.W_OK).then(
    () => false,
    (error: unknown) => codeOf(error) === "EROFS",
  )
  if (readOnly) return
  const shown = (mode & 0o777).toString(8)
  throw faultIn(name, undefined, `a ${what} that only its owner may write (chmod go-w ${path})`, `mode ${shown}`)
}

/** Refuse a directory, or a folder of keys in it, that others may put files into. */
export async function checkFolder(directory: string, name: string): Promise<void> {
  const path = join(directory, name)
  const found = await stat(path)
  if (!found.isDirectory()) throw faultIn(name === "." ? directory : name, undefined, "a folder", "a file")
  await refuseWritable(path, name === "." ? directory : name, found.mode, "folder")
}

/** Read one file as text. A link may lead to another place in the directory, and not out of it. */
export async function readPolicyText(directory: string, name: string): Promise<string> {
  return readWithin(directory, name).catch((error: unknown) => {
    const code = codeOf(error)
    throw code === undefined ? error : faultIn(name, undefined, "a file that can be read", code)
  })
}

async function readWithin(directory: string, name: string): Promise<string> {
  const root = await realpath(directory)
  const path = await realpath(join(directory, name))
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep))
    throw faultIn(
      name,
      undefined,
      "a file in the policy directory itself (copy it there)",
      "a link that leads out of it",
    )
  if (!(await stat(path)).isFile()) throw faultIn(name, undefined, "a file", "something else")
  const file = await open(path, "r")
  try {
    const before = await file.stat()
    await refuseWritable(path, name, before.mode, "file")
    if (before.size > maxFileBytes)
      throw faultIn(name, undefined, `at most ${maxFileBytes} bytes`, `${before.size} bytes`)
    const bytes = Buffer.alloc(maxFileBytes + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length)
      length += bytesRead
      if (bytesRead === 0 || length > maxFileBytes) break
    }
    return decode(name, bytes.subarray(0, length), length > maxFileBytes)
  } finally {
    await file.close()
  }
}

function decode(name: string, bytes: Uint8Array, tooLong: boolean): string {
  if (tooLong) throw faultIn(name, undefined, `at most ${maxFileBytes} bytes`, "more")
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw faultIn(name, undefined, "text in UTF-8", "other bytes")
  }
}
