import type { Readers } from "../../compact/stack/stack.ts"

/** Reads the files of a stack; unchanged files are cached. */
export type StackFiles = Required<Pick<Readers, "readFile" | "listFiles">>

type KnownFile = { readonly version: string; readonly text: string }

/** Far more than fits any window; a larger file is a mistake in the path. */
const maxFileBytes = 64_000_000
/** Limit on the folders searched for a pattern; more is a mistake in the pattern. */
const maxFolders = 20_000

/** Node's built-in modules; a browser has none. */
const builtIns = () => {
  const load = globalThis.process?.getBuiltinModule
  if (load === undefined) throw new Error("there are no files here; give the text itself")
  return { fs: load("node:fs/promises"), path: load("node:path") }
}

/** Reads files relative to a folder, by default the working directory. */
export function createStackFiles(folder = "."): StackFiles {
  const known = new Map<string, KnownFile>()
  return {
    readFile: async (name) => {
      const { fs, path } = builtIns()
      const file = path.resolve(folder, name)
      const { mtimeNs, ctimeNs, size, ino } = await fs.stat(file, { bigint: true })
      const version = [mtimeNs, ctimeNs, size, ino].join()
      const before = known.get(file)
      if (before?.version === version) return before.text
      if (size > maxFileBytes) throw new Error(`${name} is larger than ${maxFileBytes} bytes`)
      const text = readUtf8(await fs.readFile(file), name)
      known.set(file, { version, text })
      return text
    },
    listFiles: (pattern) => listFiles(folder, pattern),
  }
}

function readUtf8(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`${name} is not UTF-8 text`)
  }
}

/** Is it a pattern, not the path of one file? */
export const isPattern = (path: string): boolean => /[*?]/.test(path)

type Search = { readonly root: string; folders: number; readonly found: Set<string> }

/**
 * The files that match a pattern: `*` is any part of a name, `?` one character, `**` any folders. Names that begin with a dot, and
 * node_modules, match only if the pattern spells them out.
 */
async function listFiles(root: string, pattern: string): Promise<readonly string[]> {
  const search: Search = { root, folders: 0, found: new Set() }
  const absolute = pattern.startsWith("/")
  await walk(
    search,
    absolute ? "/" : "",
    pattern.split("/").filter((segment) => segment !== "" && segment !== "."),
  )
  if (search.found.size === 0) throw new Error(`the pattern ${pattern} finds no file`)
  return [...search.found]
}

async function walk(search: Search, below: string, segments: readonly string[]): Promise<void> {
  const [segment, ...rest] = segments
  if (segment === undefined) return
  const join = (name: string): string => (below === "" || below === "/" ? `${below}${name}` : `${below}/${name}`)
  if (segment === "**") {
    await walk(search, below, rest)
    for (const { name, isFolder } of await entriesOf(search, below))
      if (isFolder && !isHidden(name)) await walk(search, join(name), segments)
    return
  }
  if (!isPattern(segment) && rest.length > 0) return walk(search, join(segment), rest)
  const fits = matcher(segment)
  for (const { name, isFolder } of await entriesOf(search, below)) {
    if (!fits(name) || (isHidden(name) && isPattern(segment) && !segment.startsWith("."))) continue
    if (rest.length > 0 && isFolder) await walk(search, join(name), rest)
    else if (rest.length === 0 && !isFolder) search.found.add(join(name))
  }
}

const isHidden = (name: string): boolean => name.startsWith(".") || name === "node_modules"

const matcher = (segment: string): ((name: string) => boolean) => {
  const source = segment
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
  const pattern = new RegExp(`^${source}$`, "u")
  return (name) => pattern.test(name)
}

type FolderEntry = { readonly name: string; readonly isFolder: boolean }

/** The entries of a folder; a missing folder is empty. Symbolic links count as files and are not followed into folders. */
async function entriesOf(search: Search, below: string): Promise<readonly FolderEntry[]> {
  const { fs, path } = builtIns()
  if (++search.folders > maxFolders) throw new Error(`a pattern leads through more than ${maxFolders} folders`)
  const folder = path.resolve(search.root, below)
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsent(error)) return []
    throw error
  })
  return entries.flatMap((entry) =>
    entry.isDirectory() || entry.isFile() || entry.isSymbolicLink()
      ? [{ name: entry.name, isFolder: entry.isDirectory() }]
      : [],
  )
}

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR")
