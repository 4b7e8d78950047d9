import { createPerObject } from "../../message/recall.ts"
import { asPattern, unknownPart } from "../facts/shell-words.ts"
import { globMatches } from "../facts/words.ts"

/** A file or folder that belongs to the gateway. */
export type OwnFile = {
  /** Absolute. */
  readonly path: string
  /** A description that ends a sentence: `its data`. */
  readonly what: string
  /** True if everything below it counts as well. */
  readonly isFolder?: boolean
  /** True if it may be read, but not changed. */
  readonly isReadable?: boolean
  /** True if it does not exist yet: only its exact name refers to it, not a glob. */
  readonly isAbsent?: boolean
}

/** What a running gateway knows of itself. */
export type OwnProcess = {
  /** The working folder, in which agents beside it usually start, and the home folder. */
  readonly folder: string
  readonly home: string
  /** Environment variables that name a folder with our files. */
  readonly variables?: Readonly<Record<string, string>>
  readonly pid: number
  /** The command line as process lists show it, and the names of the program. */
  readonly commandLine: string
  readonly names: readonly string[]
  /** Known once it listens. */
  readonly port: () => number | undefined
  /** Names and addresses that reach it, beside those of this machine. */
  readonly hosts: readonly string[]
  readonly files: readonly OwnFile[]
  /** Returns the names of what is in one of its folders now. */
  readonly namesBelow: (folder: OwnFile) => readonly string[]
  /** Values that no call may contain: the admin token, a store's address. */
  readonly secrets: readonly string[]
  /** Environment variables that hold such values, and whether one of them is set in this process. */
  readonly secretNames: readonly string[]
  readonly isSecretSet: boolean
}

/** How a word of a call relates to our files: it names one, or a folder that contains one. */
export type Touch = { readonly relation: "own" | "holds"; readonly file: OwnFile }

/** Folders of this name are ours wherever they are. */
const usualFolder = ".holdfast"
const anyUsualFolder: OwnFile = { path: usualFolder, what: "its folder .holdfast", isFolder: true }

const isRooted = (path: string): boolean => /^(?:\/|[a-z]:\/)/i.test(path)

/** Splits a path into names from the root, resolves "..", and lowercases them because some disks ignore case. */
export function namesOf(path: string): readonly string[] {
  const names: string[] = []
  for (const name of path.toLowerCase().split("/")) {
    if (name === "" || name === ".") continue
    if (name === "..") names.pop()
    else names.push(name)
  }
  return names
}

/** The names of one of our paths. Cached, because every word of every call is compared with them. */
const namesOfFile = createPerObject(({ path }: OwnFile) => namesOf(path))

/** The default of an unset variable, as most programs take it. */
function usualValue(name: string, home: string): string | undefined {
  const below: Readonly<Record<string, string>> = {
    XDG_DATA_HOME: ".local/share",
    XDG_CONFIG_HOME: ".config",
    LOCALAPPDATA: "AppData/Local",
    APPDATA: "AppData/Roaming",
  }
  const folder = below[name.toUpperCase()]
  return folder === undefined ? undefined : `${home}/${folder}`
}

/** Makes a word an absolute path. A link in `/proc` to the folder or root of a process is resolved. */
export function absolutePath(
  word: string,
  base: string,
  { home, variables = {} }: Pick<OwnProcess, "home" | "variables">,
): string {
  const user = home.slice(home.lastIndexOf("/") + 1)
  const folderIn = (whole: string, name: string): string =>
    variables[name.toUpperCase()] ?? usualValue(name, home) ?? whole
  const bare = word
    .trim()
    .replace(/^file:\/\/(?:localhost)?(?=\/)/i, "")
    .replaceAll("\\", "/")
    .replace(/^(?:~|\$\{?HOME\}?|%(?:USERPROFILE|HOMEPATH)%|\$env:(?:USERPROFILE|HOME))(?=\/|$)/i, home)
    .replace(
      /^(?:\$\{?|%|\$env:)(XDG_DATA_HOME|XDG_CONFIG_HOME|LOCALAPPDATA|APPDATA)(?:\}|%|:-[^}]*\})?(?=\/|$)/i,
      folderIn,
    )
    .replaceAll("\\", "/")
    .replace(/^~([\w.-]+)(?=\/|$)/, (whole, name) => (name === user ? home : whole))
    .replace(/^\$\{?(?:PWD|OLDPWD|INIT_CWD)\}?(?=\/|$)/i, base)
    .replace(/^\/proc\/(?:self|thread-self|\d+)\/cwd(?=\/|$)/, base)
    .replace(/^\/proc\/(?:self|thread-self|\d+)\/root(?=\/|$)/, "/")
  return isRooted(bare) ? bare : `${base}/${bare}`
}

const hasGlob = (name: string): boolean => /[*?[]/.test(name)

/**
 * True if one component of a glob matches a name. As in a shell, a leading star does not match a dot. An unknown component matches
 * nothing.
 */
function nameMatches(written: string, name: string): boolean {
  if (asPattern(written) === "*" && written !== "*") return false
  const pattern = asPattern(written)
  if (!hasGlob(pattern)) return pattern === name
  if (name.startsWith(".") && !/^[.[]/.test(pattern)) return false
  return globMatches(pattern, name)
}

type Place = "same" | "above" | "below" | "elsewhere"

/** Compares a path, which may be a glob, with one of ours. */
function placeOf(pattern: readonly string[], own: readonly string[]): Place {
  for (const [at, name] of own.entries()) {
    const wanted = pattern[at]
    if (wanted === undefined) return "above"
    if (wanted.includes("**")) {
      const [written, rest] = [pattern.slice(at).join("/"), own.slice(at).join("/")]
      return globMatches(written, rest) ? "same" : globMatches(`${written}/**`, rest) ? "above" : "elsewhere"
    }
    if (!nameMatches(wanted, name)) return "elsewhere"
  }
  return pattern.length > own.length ? "below" : "same"
}

function isUsualFolder(written: string): boolean {
  const name = asPattern(written)
  return name === usualFolder || (hasGlob(name) && /^\.(?:h|\[)/.test(name) && globMatches(name, usualFolder))
}

/** For a path with an unknown beginning, returns the file of ours that has its last name. */
function fileWithSameEnd(word: string, { files }: OwnProcess): OwnFile | undefined {
  if (!word.startsWith(unknownPart)) return undefined
  const last = word.slice(word.lastIndexOf("/") + 1).toLowerCase()
  return files.find(({ path }) => last.length > 5 && path.toLowerCase().endsWith(`/${last}`))
}

/** Returns how a word relates to the files of a process, if it is the path of one or of a folder that contains one. */
export function touchOf(word: string, base: string, own: OwnProcess): Touch | undefined {
  if (word === "" || word.length > 4_096 || word.includes("\n")) return undefined
  if (word.toLowerCase().split(/[\\/]/).some(isUsualFolder)) return { relation: "own", file: anyUsualFolder }
  const named = fileWithSameEnd(word, own)
  if (named !== undefined) return { relation: "own", file: named }
  const names = namesOf(absolutePath(word, base, own))
  let holds: OwnFile | undefined
  for (const file of own.files) {
    const place = file.isAbsent === true && names.some(hasGlob) ? "elsewhere" : placeOf(names, namesOfFile(file))
    if (place === "same" || (place === "below" && file.isFolder === true)) return { relation: "own", file }
    if (place === "above" && file.isReadable !== true && file.isAbsent !== true) holds ??= file
  }
  return holds === undefined ? processTouch(names, own) : { relation: "holds", file: holds }
}

/** Entries of `/proc/<pid>` that expose or change a process. */
const exposedEntries = /^(?:environ|mem|maps|fd|root|cwd|auxv|pagemap|syscall|stack|task|map_files)$/

function processTouch(names: readonly string[], { pid, port, isSecretSet }: OwnProcess): Touch | undefined {
  const [first = "", second = "", third = ""] = names
  if (first === "dev" && second === "tcp" && names.at(-1) === String(port() ?? ""))
    return { relation: "own", file: { path: names.join("/"), what: "its port" } }
  if (first !== "proc" || !exposedEntries.test(third)) return undefined
  const asked = asPattern(second)
  const isOurs = hasGlob(asked) ? globMatches(asked, String(pid)) : asked === String(pid)
  const isShared = isSecretSet && /^(?:self|thread-self|\d+)$/.test(second) && third === "environ"
  return isOurs || isShared ? { relation: "own", file: { path: names.join("/"), what: "its process" } } : undefined
}

/** Characters of file names and globs. */
const pathRun = /[\w.~$%{}*?[\]@\\/:+-]+/g

/**
 * Returns the first of our files that a text names. For programs in other languages, which are not parsed: adjacent string literals are
 * joined first.
 */
export function touchInText(text: string, base: string, own: OwnProcess): Touch | undefined {
  const joined = text.replace(/(["'`])\s*(?:\+|\.|,|\|\|)?\s*\1/g, "").slice(0, 200_000)
  const seen = new Set<string>()
  for (const source of joined === text ? [text] : [text, joined])
    for (const run of source.match(pathRun) ?? []) {
      if (seen.has(run) || !/[./\\~$*]/.test(run)) continue
      seen.add(run)
      for (const piece of run.split(/[:@]/)) {
        const touch = touchOf(piece.replace(/[.:]+$/, "") || piece, base, own)
        if (touch?.relation === "own") return touch
      }
    }
  return undefined
}
