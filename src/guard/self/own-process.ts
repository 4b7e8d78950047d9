import { createPerObject } from "../../message/recall.ts"
import { asPattern, unknownPart } from "../facts/shell-words.ts"
import { globMatches } from "../facts/words.ts"

/** A file or folder that the gateway rests on. */
export type OwnFile = {
  /** Absolute. */
  readonly path: string
  /** What it is, in words that end a sentence: `its data`. */
  readonly what: string
  /** All that is below it counts as well. */
  readonly isFolder?: boolean
  /** It may be read, and not changed. */
  readonly isReadable?: boolean
  /** It is not there yet: only its very name means it, and no pattern. */
  readonly isAbsent?: boolean
}

/** What a running gateway knows of itself. */
export type OwnProcess = {
  /** The working folder, from which agents that run beside it mostly start, and the home folder. */
  readonly folder: string
  readonly home: string
  /** Variables that name a folder in which ours are. */
  readonly variables?: Readonly<Record<string, string>>
  readonly pid: number
  /** As process lists show it, and the names that the program itself goes by. */
  readonly commandLine: string
  readonly names: readonly string[]
  /** Known once it listens. */
  readonly port: () => number | undefined
  /** Names and addresses by which it is reached, beside those of this machine. */
  readonly hosts: readonly string[]
  readonly files: readonly OwnFile[]
  /** Names of what lies in one of the folders among them just now. */
  readonly namesBelow: (folder: OwnFile) => readonly string[]
  /** Values that no call has any business to carry: the admin token, a store's address. */
  readonly secrets: readonly string[]
  /** Environment variables that hold such values; `isSet` tells whether one of them is set in this very process. */
  readonly secretNames: readonly string[]
  readonly isSecretSet: boolean
}

/** How a word of a call stands to what is ours: it names it, or a folder that holds it. */
export type Touch = { readonly relation: "own" | "holds"; readonly file: OwnFile }

/** Folders of this name are ours wherever they are. */
const usualFolder = ".holdfast"
const anyUsualFolder: OwnFile = { path: usualFolder, what: "its folder .holdfast", isFolder: true }

const isRooted = (path: string): boolean => /^(?:\/|[a-z]:\/)/i.test(path)

/** Names of a path from the root on, ways up followed; in small letters, for there are disks that know no others. */
export function namesOf(path: string): readonly string[] {
  const names: string[] = []
  for (const name of path.toLowerCase().split("/")) {
    if (name === "" || name === ".") continue
    if (name === "..") names.pop()
    else names.push(name)
  }
  return names
}

/** The names of a path of ours: they are asked for every word of every call. */
const ownNames = createPerObject(({ path }: OwnFile) => namesOf(path))

/** Where a variable leads that is not set, as most programs take it. */
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

/** A word as an absolute path from a folder; of a link into another process's view of the disk, where it leads. */
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

/** Does one name of a pattern stand for a name? As in a shell, a star at the beginning stands for no dot; of an unknown name nothing is said. */
function nameMatches(written: string, name: string): boolean {
  if (asPattern(written) === "*" && written !== "*") return false
  const pattern = asPattern(written)
  if (!hasGlob(pattern)) return pattern === name
  if (name.startsWith(".") && !/^[.[]/.test(pattern)) return false
  return globMatches(pattern, name)
}

type Place = "same" | "above" | "below" | "elsewhere"

/** Where a path, which may be a pattern, is as seen from one of ours. */
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

/** Of a path that begins nobody knows where: the file of ours whose name it ends with. */
function endsLike(word: string, { files }: OwnProcess): OwnFile | undefined {
  if (!word.startsWith(unknownPart)) return undefined
  const last = word.slice(word.lastIndexOf("/") + 1).toLowerCase()
  return files.find(({ path }) => last.length > 5 && path.toLowerCase().endsWith(`/${last}`))
}

/** How a word stands to the files of a process, if it is the path of one, or of a folder that holds one. */
export function touchOf(word: string, base: string, own: OwnProcess): Touch | undefined {
  if (word === "" || word.length > 4_096 || word.includes("\n")) return undefined
  if (word.toLowerCase().split(/[\\/]/).some(isUsualFolder)) return { relation: "own", file: anyUsualFolder }
  const named = endsLike(word, own)
  if (named !== undefined) return { relation: "own", file: named }
  const names = namesOf(absolutePath(word, base, own))
  let holds: OwnFile | undefined
  for (const file of own.files) {
    const place = file.isAbsent === true && names.some(hasGlob) ? "elsewhere" : placeOf(names, ownNames(file))
    if (place === "same" || (place === "below" && file.isFolder === true)) return { relation: "own", file }
    if (place === "above" && file.isReadable !== true && file.isAbsent !== true) holds ??= file
  }
  return holds === undefined ? processTouch(names, own) : { relation: "holds", file: holds }
}

/** What `/proc` shows of a process beside its name and its state. */
const shownOfProcess = /^(?:environ|mem|maps|fd|root|cwd|auxv|pagemap|syscall|stack|task|map_files)$/

function processTouch(names: readonly string[], { pid, port, isSecretSet }: OwnProcess): Touch | undefined {
  const [first = "", second = "", third = ""] = names
  if (first === "dev" && second === "tcp" && names.at(-1) === String(port() ?? ""))
    return { relation: "own", file: { path: names.join("/"), what: "its port" } }
  if (first !== "proc" || !shownOfProcess.test(third)) return undefined
  const asked = asPattern(second)
  const isOurs = hasGlob(asked) ? globMatches(asked, String(pid)) : asked === String(pid)
  const isShared = isSecretSet && /^(?:self|thread-self|\d+)$/.test(second) && third === "environ"
  return isOurs || isShared ? { relation: "own", file: { path: names.join("/"), what: "its process" } } : undefined
}

/** Signs of which names of files are made, and of patterns for them. */
const pathRun = /[\w.~$%{}*?[\]@\\/:+-]+/g

/**
 * The first thing of ours that a text names, whatever the text is. For programs in other languages, which are not read: names that are put
 * together from several texts are joined first.
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
