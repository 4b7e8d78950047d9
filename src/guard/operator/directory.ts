import { constants } from "node:fs"
import { access, open, readdir, realpath, stat } from "node:fs/promises"
import { join, sep } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { HoldfastError, systemCode } from "../../message/errors.ts"
import { sha256Hex } from "../../message/sha256.ts"
import type { PolicyInput } from "../policy/templates.ts"
import { maxFileBytes, maxFiles, maxKeys, type PublicKey, readPublicKey } from "./command.ts"
import { faultIn, type OperatorRule, readPolicyFile, readRuleFile } from "./rule-file.ts"

export type FileHash = { readonly name: string; readonly sha256: string }

export type DirectoryContent = {
  /** Changes whenever the directory changes; computed without reading the files. */
  readonly stamp: string
  /** The identity of the folder; it changes when a disk is unmounted or the folder is replaced. */
  readonly identity: string
  readonly files: readonly FileHash[]
  readonly rules: readonly OperatorRule[]
  readonly policies: readonly PolicyInput[]
  readonly keys: readonly KeyText[]
}

/** The content of a channel without a directory. */
export const noDirectory: DirectoryContent = { stamp: "", identity: "", files: [], rules: [], policies: [], keys: [] }

/** Changes whenever a file of the directory changes. */
const stampOf = (files: readonly ListedFile[]): string => sha256Hex(JSON.stringify(files))

/** Reads the whole directory; throws the problem with its file and line. */
export async function readDirectory(directory: string): Promise<DirectoryContent> {
  const listed = await listFiles(directory)
  const { dev, ino } = await stat(directory)
  const files: FileHash[] = []
  const rules: OperatorRule[] = []
  const policies: PolicyInput[] = []
  const keys: KeyText[] = []
  for (const { name } of listed) {
    if (isFolder(name)) {
      await checkFolder(directory, name)
      continue
    }
    const text = await readPolicyText(directory, name)
    files.push({ name, sha256: sha256Hex(text) })
    if (name.endsWith(".pub")) keys.push({ text, source: name, state: stateOf(name) })
    else if (/\.(?:md|txt)$/.test(name)) rules.push(...readRuleFile(name, text))
    else policies.push(...readPolicyFile(name, text))
  }
  return { stamp: stampOf(listed), identity: `${dev}:${ino}`, files, rules, policies, keys }
}

/** A file of the policy directory: its relative name, and a stamp that changes with it. */
type ListedFile = { readonly name: string; readonly stamp: string }

/** The folders of keys; a key in a deeper one is trusted less. */
const keyFolders = ["keys", "keys/retired", "keys/revoked"] as const

const isIgnored = (name: string): boolean => /^\.|^readme|\.example$/i.test(name)

/** All relevant files of the directory, by name. A missing or suddenly empty directory is a fault. */
async function listFiles(directory: string): Promise<readonly ListedFile[]> {
  const found: ListedFile[] = [{ name: ".", stamp: await fileStampOf(directory, ".") }]
  const names = await namesIn(directory, ".", ["keys"])
  for (const folder of keyFolders) {
    if (folder === "keys" ? !names.includes("keys") : !found.some(({ name }) => name === folder)) continue
    const below = folder === "keys" ? ["retired", "revoked"] : []
    for (const name of await namesIn(join(directory, folder), folder, below))
      found.push({ name: `${folder}/${name}`, stamp: await fileStampOf(directory, `${folder}/${name}`) })
  }
  for (const name of names) found.push({ name, stamp: await fileStampOf(directory, name) })
  if (found.length > maxFiles) throw faultIn(directory, `at most ${maxFiles} files`, `more than ${maxFiles}`)
  return found.sort((one, other) => (one.name < other.name ? -1 : 1))
}

const endings = /\.(?:md|txt|cedar|json)$/

async function namesIn(folder: string, label: string, folders: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    throw faultIn(label === "." ? folder : label, undefined, absence(error))
  })
  const wanted = names.filter((name) => !isIgnored(name))
  const known = label === "." ? endings : /\.pub$/
  const stranger = wanted.find((name) => !known.test(name) && !folders.includes(name))
  const kinds = label === "." ? ".md, .txt, .cedar or .json, or the folder keys" : ".pub, a public key"
  if (stranger !== undefined)
    throw faultIn(
      label === "." ? stranger : `${label}/${stranger}`,
      `a name that ends in ${kinds}`,
      "a name of another kind",
    )
  return wanted
}

const absence = (error: unknown): string =>
  systemCode(error) === "ENOENT" ? "does not exist" : `cannot be read (${systemCode(error)})`

/** A stamp that changes with a file: its inode, size, times and permissions. */
async function fileStampOf(directory: string, name: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs, mode } = await stat(join(directory, name), { bigint: true })
    return isFolder(name) ? `${mode}` : `${ino}:${size}:${mtimeNs}:${ctimeNs}:${mode}`
  } catch (error) {
    throw faultIn(name === "." ? directory : name, undefined, absence(error))
  }
}

const isFolder = (name: string): boolean => name === "." || keyFolders.some((folder) => folder === name)

/** Refuses files that others than the owner may write, because they could change rules. On a read-only disk nobody can. */
async function refuseWritable(path: string, name: string, mode: number, what: string): Promise<void> {
  if (process.platform === "win32" || (mode & 0o022) === 0) return
  const readOnly = await access(path, constants.W_OK).then(
    () => false,
    (error: unknown) => systemCode(error) === "EROFS",
  )
  if (readOnly) return
  const shown = (mode & 0o777).toString(8)
  throw faultIn(name, `a ${what} that only its owner may write (chmod go-w ${path})`, `mode ${shown}`)
}

/** Refuses a directory or key folder that others may add files to. */
async function checkFolder(directory: string, name: string): Promise<void> {
  const path = join(directory, name)
  const found = await stat(path)
  if (!found.isDirectory()) throw faultIn(name === "." ? directory : name, "a folder", "a file")
  await refuseWritable(path, name === "." ? directory : name, found.mode, "folder")
}

/** Reads one file as text. A link may point to another place in the directory, but not out of it. */
async function readPolicyText(directory: string, name: string): Promise<string> {
  return readWithin(directory, name).catch((error: unknown) => {
    const code = systemCode(error)
    throw code === undefined ? error : faultIn(name, "a file that can be read", code)
  })
}

async function readWithin(directory: string, name: string): Promise<string> {
  const root = await realpath(directory)
  const path = await realpath(join(directory, name))
  if (!path.startsWith(root.endsWith(sep) ? root : root + sep))
    throw faultIn(name, "a file in the policy directory itself (copy it there)", "a link that leads out of it")
  if (!(await stat(path)).isFile()) throw faultIn(name, "a file", "something else")
  const file = await open(path, "r")
  try {
    const before = await file.stat()
    await refuseWritable(path, name, before.mode, "file")
    if (before.size > maxFileBytes) throw faultIn(name, `at most ${maxFileBytes} bytes`, `${before.size} bytes`)
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
  if (tooLong) throw faultIn(name, `at most ${maxFileBytes} bytes`, "more")
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw faultIn(name, "text in UTF-8", "other bytes")
  }
}

/** How long a directory must stay unchanged before it is read: an editor empties a file before it fills it. */
const usualSettleMs = 80
/** Limit on attempts: after half a second the old content stays until the next check. */
const maxTries = 6

/** True if nothing exists at this path. */
export async function isAbsent(directory: string): Promise<boolean> {
  return stat(directory).then(
    () => false,
    (error: unknown) => systemCode(error) === "ENOENT",
  )
}

/** True if the names in this folder can be read. */
export async function isListable(directory: string): Promise<boolean> {
  return readdir(directory).then(
    () => true,
    () => false,
  )
}

/** The stamp of a directory, without reading a file. A directory that cannot be listed has a stamp of its fault. */
export async function stampIn(directory: string): Promise<string> {
  try {
    return stampOf(await listFiles(directory))
  } catch (error) {
    if (error instanceof HoldfastError) return `fault: ${error.message}`
    throw error
  }
}

/** Reads a directory that is not being changed: it, or its fault, is the same before and after reading. */
export async function readSettled(directory: string, settleMs = usualSettleMs): Promise<DirectoryContent> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const before = await stampIn(directory)
    if (settleMs > 0) await wait(settleMs)
    const read = await readDirectory(directory).then(
      (content) => ({ content }),
      (error: unknown) => ({ error }),
    )
    const after = await stampIn(directory)
    if (after !== before) continue
    if ("error" in read) throw read.error
    if (read.content.stamp === before) return read.content
  }
  throw faultIn(directory, "a directory that stays the same for a moment", "one that keeps changing")
}

/** `trusted`: its commands are executed. `retired`: its old commands stay, new ones are refused. `revoked`: none of them is in force. */
type KeyState = "trusted" | "retired" | "revoked"

export type KnownKey = PublicKey & { readonly state: KeyState; readonly source: string }

/** The keys of a channel by fingerprint. */
export type KeyRing = ReadonlyMap<string, KnownKey>

const rank: Readonly<Record<KeyState, number>> = { trusted: 0, retired: 1, revoked: 2 }

export type KeyText = { readonly text: string; readonly source: string; readonly state: KeyState }

/** The key ring of these keys. If a key occurs more than once, the least trusted state counts. */
export function makeKeyRing(texts: readonly KeyText[]): KeyRing {
  const ring = new Map<string, KnownKey>()
  for (const { text, source, state } of texts) {
    const key = readPublicKey(text, source)
    const known = ring.get(key.fingerprint)
    if (known === undefined || rank[state] > rank[known.state]) ring.set(key.fingerprint, { ...key, state, source })
  }
  if (ring.size > maxKeys) throw faultIn("keys", `at most ${maxKeys} keys`, `${ring.size}`)
  return ring
}

const stateOf = (name: string): KeyState =>
  name.startsWith("keys/revoked/") ? "revoked" : name.startsWith("keys/retired/") ? "retired" : "trusted"
