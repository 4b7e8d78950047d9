import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { type Effect, isDryRun } from "./command-table.ts"
import words from "./command-words.json" with { type: "json" }
import { attachedProgram, type RunCommand } from "./commands.ts"
import { type Open, open } from "./leaf.ts"
import { foundIn, fromOperand, optionValues, wordsAfter } from "./options.ts"
import { type Access, type PathFact, patchedFiles, pathFact } from "./paths.ts"
import { foundBy } from "./shell-output.ts"
import { asPattern, unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

/** Collects what is known of the files of a script. */
type Files = { readonly paths: PathFact[]; readonly open: Open }

/** True for programs that pack the files whose names they read from their input. */
const takesNames = (name: string, words: readonly string[]): boolean =>
  (/^(?:cpio|pax|afio)$/.test(name) && !anyWord(words, /^-\w*[ir]/)) ||
  (name === "zip" && words.includes("-@")) ||
  (/^(?:tar|bsdtar)$/.test(name) && wordsAfter(words, /^(?:-T|--files-from)$/).includes("-"))

/** Matches programs that show names, sizes and dates, and no content of files. */
const namesOnly = /^(?:ls|dir|stat|du|tree|realpath|readlink|eza|exa|lsd)$/

/** Matches programs whose words are not files. */
export const wordless = new RegExp(`^${anyOf(words.wordless)}$`)
export function readFiles(reading: Files, command: RunCommand, effects: ReadonlySet<Effect>): void {
  const { name, directory, writesTo, readsFrom } = command
  const words = command.words.slice(1)
  const isDry = isDryRun(name, words)
  const add = (written: string, access: Access, more: Pick<PathFact, "tree" | "mayChange" | "isFresh"> = {}): void => {
    if (written === "" || written === "-" || written.length > 4_096) return
    // A name with a known beginning is kept as a pattern.
    if (written.startsWith(unknownPart) || (written.includes(unknownPart) && written.includes(".."))) {
      open(reading.open, "paths", `a file that ${name || "it"} uses is known only when it runs`)
      if (access !== "read")
        open(reading.open, "changedPaths", `a file that ${name || "it"} changes is known only when it runs`)
      if (written.replaceAll(unknownPart, "") === "") return
    }
    if (access !== "read" && /^\/etc\/(?:hosts|resolv\.conf|nsswitch\.conf)$/.test(written))
      open(reading.open, "hosts", "it changes what names of hosts lead to")
    const isRelative = directory !== undefined && !/^(?:[/~$]|[a-z]:)/i.test(written)
    const fact = pathFact(asPattern(isRelative ? `${directory}/${written}` : written), access)
    reading.paths.push({
      ...fact,
      ...more,
      ...(namesOnly.test(name) && fact.access === "read" ? { secret: false } : {}),
    })
  }
  for (const to of writesTo) if (!/^\/dev\/(?:null|std\w+|tty|fd\/)/.test(to)) add(to, "write", { isFresh: true })
  if (takesNames(name, words)) {
    for (const file of command.fed ?? []) add(file, "read", { tree: "files" })
    if (command.fed === undefined) open(reading.open, "paths", `the files that ${name} packs are named when it runs`)
  }
  for (const from of readsFrom) add(from, "read")
  if (/^apply_?patch$/.test(name))
    for (const path of patchedFiles([...command.given, ...words].join("\n"))) add(path, "write")
  if (/[/\\]/.test(command.words[0] ?? "")) add(command.words[0] ?? "", "read")
  if (command.wraps || wordless.test(name)) {
    for (const folder of boundFolders(name, words)) add(folder, "unknown", { tree: "files" })
    if (/^(?:xargs|parallel)$/.test(name))
      for (const list of optionValues(words, /^(?:-a|--arg-file)$|^--arg-file=(.+)/)) add(list, "read")
    return
  }
  // An unknown program may have a language of its own, in which files are named.
  if (effects.has("unknown"))
    for (const word of words.filter((one) => /\s/.test(one)))
      for (const file of foundIn(word, /(?:^|[\s"'=(,])((?:~?\/|\.{1,2}\/)[\w./~-]{2,200})/g)) add(file, "unknown")
  for (const { word, access, tree, mayChange, isFresh } of filesOf(name, words, effects))
    add(pathInArchiveFolder(name, words, word), isDry ? "read" : access, present({ tree, mayChange, isFresh }))
}

/** Folders that are mounted into a sandbox or a container. */
function boundFolders(name: string, words: readonly string[]): readonly string[] {
  const bound = optionValues(words, /^(?:--property=)?(?:RootDirectory|RootImage|Bind(?:ReadOnly)?Paths)=([^:]+)/)
  const mounted = /^(?:bwrap|proot|firejail)$/.test(name)
    ? wordsAfter(words, /^(?:--(?:ro-|dev-)?bind(?:-try)?|-[brR])$/)
    : /^(?:docker|podman)$/.test(name)
      ? optionValues(words, /^(?:-v|--volume|--mount)$|^--?(?:v|volume|mount)=(.*)$/s).map((told) =>
          told.replace(/^.*(?:source|src)=([^,]+).*$/, "$1"),
        )
      : []
  return [...bound, ...mounted.map((folder) => folder.replace(/:.*$/, ""))]
}

/** Path of a file below the folder that the archiver changes to before it: `tar -c -C /home .ssh`. */
function pathInArchiveFolder(name: string, words: readonly string[], word: string): string {
  if (!/^(?:bsd)?tar$/.test(name) || /^[/~$]/.test(word)) return word
  const before = words.slice(0, Math.max(0, words.indexOf(word)))
  const folder = optionValues(before, /^(?:-\w*C|--(?:directory|cd))$|^(?:--directory=|-C(?=.))(.+)/).findLast(
    (one) => one !== "",
  )
  return folder === undefined ? word : `${folder}/${word}`
}

const filters = /^(?:e|f|z)?grep$|^(?:rg|ag|ack|sed|awk|gawk|mawk|jq|yq|perl)$/
const textOptions = new RegExp(`^${anyOf("-[mnkeEABCtjdscwulFiIpxyr]", `--${anyOf(words.textOptions)}`)}$`)

type FileWord = {
  readonly word: string
  readonly access: Access
  readonly tree?: PathFact["tree"]
  readonly mayChange?: true
  readonly isFresh?: true
  /** True if it is the value of an option for the working folder. */
  readonly isFolder?: boolean
}

const folderOption = /^--?(?:chdir|directory|cwd|prefix|work-tree|workdir|dir|C)=/

/** Words of a command that name files, with what it does to each. */
function filesOf(name: string, words: readonly string[], effects: ReadonlySet<Effect>): readonly FileWord[] {
  if (name === "git") return gitFiles(words)
  if (name === "find") return foundFiles(words, effects)
  const formatted = /^(?:terraform|tofu)$/.test(name) && !anyWord(words, /^--?check$/) ? words.indexOf("fmt") : -1
  const folder = formatted < 0 ? undefined : words.slice(formatted + 1).find((word) => !/^-./.test(word))
  if (folder !== undefined) return [{ word: folder, access: "write", tree: "files" }]
  if (name === "patch") return [{ word: ".", access: "write", tree: "files" }]
  if (/^(?:curl|wget)$/.test(name)) return downloads(name, words)
  const access: Access = effects.has("delete") ? "delete" : effects.has("write") ? "write" : "read"
  const isPatternInOption = (word: string): boolean =>
    /^-[ef]$|^--(?:regexp|file)/.test(word) || (name === "perl" && attachedProgram.test(word))
  const pattern =
    filters.test(name) && !words.some(isPatternInOption) ? words.findIndex((word) => !word.startsWith("-")) : -1
  const { operands, found } = namedFiles(words, pattern, access, effects)
  if (name === "sed") found.push(...sedFiles(words))
  const looked: Looking = { name, words, sought: words[pattern] ?? "", operands: operands.length }
  // An unknown program may use a folder with everything in it; so may a script.
  const isOpaque = effects.has("unknown") || effects.has("execute")
  const placed = operands.map((word, at): FileWord => {
    const file = {
      ...placedFile(word, at, looked, access),
      ...(effects.has("unknown") ? { mayChange: true as const } : {}),
    }
    return isOpaque && file.tree === undefined && /^[/~]/.test(word) && !isPlainFile(word)
      ? { ...file, tree: "files" }
      : file
  })
  if (operands.length === 0 && filters.test(name) && isRecursive(looked) && !skipsHidden(looked))
    placed.push({ word: included(words, "."), access: "read", ...treeOf(".", looked) })
  return [
    ...found.map((file): FileWord => {
      const isChanged = file.isFolder === true && (file.access !== "read" || effects.has("deploy"))
      return isChanged ? { ...file, access: "write", tree: "files" } : file
    }),
    ...placed,
  ]
}

/** Finds words that are files themselves, and files in options: `--file=x`, `if=x`, `@x`. */
function namedFiles(
  words: readonly string[],
  pattern: number,
  access: Access,
  effects: ReadonlySet<Effect>,
): { readonly operands: readonly string[]; readonly found: FileWord[] } {
  const writes = effects.has("write") && !effects.has("execute") && !effects.has("network")
  const isFileProgram = effects.has("read") || effects.has("delete") || writes
  const operands: string[] = []
  const found: FileWord[] = []
  for (const [at, word] of words.entries()) {
    const [, option, value = ""] = /^(--?[\w-]+=|(?:if|of)=|[^@\s]*?=?@(?=[/~.\w]))(.*)$/s.exec(word) ?? []
    const isText = textOptions.test(words[at - 1] ?? "") && !looksLikeFile(word)
    if (isExclusion(word, words[at - 1] ?? "")) continue
    if (option !== undefined)
      found.push({
        word: value,
        access: /^of=|out|dest|write/.test(option) ? "write" : option === "if=" ? "read" : access,
        isFolder: folderOption.test(option),
      })
    else if (word.startsWith("-") || at === pattern || word.includes("\n")) continue
    else if (isFileProgram ? !isText : looksLikeFile(word)) operands.push(word)
  }
  return { operands, found }
}

/** True if a word is the pattern of an exclusion. */
const isExclusion = (word: string, before: string): boolean =>
  /^--(?:i?glob|exclude\S*|ignore\S*)=/.test(word)
    ? /^--i?glob=[^!]/.test(word) === false
    : (/^(?:-g|--i?glob)$/.test(before) && word.startsWith("!")) || /^--(?:exclude|exclude-dir|ignore)$/.test(before)

/** Files that a sed program reads and writes: `1r FILE`, `w FILE`. */
const sedFiles = (words: readonly string[]): readonly FileWord[] =>
  words.flatMap((word) =>
    [...word.matchAll(/(?:^|[\s;{}/\d$,])([rRwW])\s+([^\s;}]+)/g)].map(
      ([, verb = "", file = ""]): FileWord => ({ word: file, access: /w/i.test(verb) ? "write" : "read" }),
    ),
  )

type Looking = {
  readonly name: string
  readonly words: readonly string[]
  /** Pattern that a search looks for. */
  readonly sought: string
  /** Number of files that it names. */
  readonly operands: number
}

const isRecursive = ({ name, words }: Looking): boolean =>
  anyWord(words, /^-\w*[rRa]\w*$|^--(?:recursive|archive)$/) || /^(?:rg|ag|ack|tar|zip|7z|rsync|du|tree)$/.test(name)

/** True for searches that skip hidden files unless an option includes them. */
const skipsHidden = ({ name, words }: Looking): boolean =>
  /^(?:rg|ag|ack)$/.test(name) && !anyWord(words, /^-\w*u|^--(?:hidden|no-ignore|unrestricted)/)

const broad = /^(?:\.{1,2}|~|\*+|\/|\$\w+|\/(?:etc|home|root|users|srv|var|opt)\b.*|~\/.*)\/?$/i
const secretWords = /passw|secret|token|api.?key|credential|private|begin /i

/** Marks a folder as used with everything below it, and as `secrets` where secrets are searched for or the folder is copied as a whole. */
function treeOf(word: string, { name, words, sought }: Looking): { readonly tree?: "files" | "secrets" } {
  if (hasInclude(words)) return {}
  const packs = /^(?:tar|zip|7z|cp|rsync|scp|mv|copy-item)$/.test(name)
  const isSecret = broad.test(word) && (packs || (filters.test(name) && secretWords.test(sought)))
  return { tree: isSecret ? "secrets" : "files" }
}

/** Access to one file; the last of several may be the target that is written. */
function placedFile(word: string, at: number, looked: Looking, access: Access): FileWord {
  const { name, words, operands } = looked
  const hasTarget =
    /^(?:cp|mv|install|rsync|scp|ln|copy-item|move-item)$/.test(name) &&
    operands > 1 &&
    !anyWord(words, /^(?:-t|--target-directory)/)
  const isTarget = hasTarget && at === operands - 1
  const source: Access = /^mv|^move/.test(name) ? "delete" : name === "ln" ? "unknown" : "read"
  const own = hasTarget ? (isTarget ? "write" : source) : tarAccess(name, words, word, access)
  if (isTarget) return { word, access: own, isFresh: true }
  if (!isRecursive(looked) || isPlainFile(word)) return { word, access: own }
  return { word: filters.test(name) ? included(words, word) : word, access: own, ...treeOf(word, looked) }
}

const looksLikeFile = (word: string): boolean => /[/\\~]|^\.|\.\w{1,8}$/.test(word) && !/^[a-z]+:\/\/|\s/.test(word)
const isPlainFile = (word: string): boolean => /[^/.]\.[a-z]\w{0,5}$/i.test(word)

/** Access to a file of an archiver: the archive is read or written as its options say, packed files are read. */
function tarAccess(name: string, words: readonly string[], word: string, access: Access): Access {
  if (!/^(?:tar|bsdtar|zip|7z|unzip)$/.test(name)) return access
  const archive = words.findIndex((one) => /^-?\w*f$|^--file$/.test(one))
  const unpacks = anyWord(words, /^-?\w*x\w*$|^--extract$/) || name === "unzip"
  if (name === "zip" || name === "7z")
    return word === words.find((one) => !one.startsWith("-") && one !== "a") ? "write" : "read"
  if (words[archive + 1] === word)
    return unpacks || words.some((one) => /^-?\w*t\w*$/.test(one) && one !== word) ? "read" : "write"
  return unpacks ? "write" : "read"
}

const hasInclude = (words: readonly string[]): boolean => anyWord(words, /^--include|^-g$|^--glob|^-t$|^--type/)

/** Where a search looks: below a folder, limited to the names that an option gives. */
function included(words: readonly string[], folder: string): string {
  const globs = optionValues(words, /^(?:--include|--glob|-g)(?:=?(.+))?$/)
  const glob = globs.find((one) => one !== "" && !one.startsWith("!"))
  return glob === undefined ? folder : `${folder}/**/${glob}`
}

function foundFiles(words: readonly string[], effects: ReadonlySet<Effect>): readonly FileWord[] {
  const { roots, names } = foundBy(words)
  if (effects.has("delete"))
    return roots.flatMap((root) =>
      names.map(
        (name): FileWord => ({
          word: `${root}/**/${name}`,
          access: "delete",
          ...(name === "*" ? { tree: "files" } : {}),
        }),
      ),
    )
  // It prints only names; what is done to those files is a command of its own.
  const written = optionValues(words, /^-fprint\w*$/).map((word): FileWord => ({ word, access: "write" }))
  return [...roots.map((word): FileWord => ({ word, access: "read" })), ...written]
}

/** Git commands that replace files of the working folder. */
const treeVerbs = /^(?:apply|am|reset|restore|clean)$/
const wholeTree = /^(?:apply|am|reset)$/
const gitTexts = /^(?:-[mFnLSGUbB]|--(?:author|grep|since|until|format|pretty|max-count|message|date|branch|depth))$/

function gitFiles(words: readonly string[]): readonly FileWord[] {
  const own = fromOperand(words, /^-[cC]$|^--(?:git-dir|work-tree)$/)
  const before = words.slice(0, words.length - own.length)
  const [verb = "", ...rest] = own.length === 0 ? ["", ...words] : own
  const folders = optionValues(before, /^(?:-C|--git-dir|--work-tree)$|^--(?:git-dir|work-tree)=(.+)$/)
  const folder = before.includes("-C") ? `${before[before.indexOf("-C") + 1] ?? ""}/` : ""
  const whole = folder === "" ? "." : folder
  // `git restore --staged` changes the index and no file.
  const isIndexOnly =
    verb === "restore" && anyWord(rest, /^(?:--staged|-S)$/) && !anyWord(rest, /^(?:--worktree|-\w*W\w*)$/)
  const changes = /^(?:checkout|restore|rm|mv|clean|apply|am|reset)$/.test(verb) && !isIndexOnly
  const changed: Access = !changes ? "read" : verb === "rm" || verb === "mv" ? "delete" : "write"
  // What git shows of a repository elsewhere is the content of its files.
  const outside = folders.map((word): FileWord => ({ word, access: "read", tree: "files" }))
  // These show only names.
  if (/^(?:check-ignore|check-attr|ls-files)$/.test(verb)) return outside
  const named = gitOperands(verb, rest).map(({ word, isInside }): FileWord => {
    const file: FileWord = { word: `${folder}${word}`, access: isInside ? "read" : changed }
    // A folder is restored or cleaned with everything in it.
    const isTree = /^(?:checkout|restore|clean)$/.test(verb) && file.access === "write" && !isPlainFile(file.word)
    return isTree ? { ...file, tree: "files" } : file
  })
  const found = [...outside, ...named]
  const keepsTree =
    /^(?:-b|-B|-c|-C|--abort|--soft|--mixed|list|show|drop|--staged|--cached|-n|--dry-run|--check|--stat)$/
  // A pull from a URL, an address or a path brings in files from outside the configured remotes.
  const isForeign = verb === "pull" && anyWord(rest, /^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|^[/~.]/i)
  const isTree = (treeVerbs.test(verb) && !anyWord(rest, keepsTree)) || isForeign
  if (isTree && (wholeTree.test(verb) || named.length === 0))
    found.push({ word: whole, access: verb === "clean" ? "delete" : "write", tree: "files" })
  if (/^(?:grep|archive)$/.test(verb) && named.every(({ word }) => !/[/.]/.test(word)))
    found.push({ word: ".", access: "read", tree: verb === "archive" ? "secrets" : "files" })
  // Shows what commits changed in all files, whatever else limits the search.
  const showsAll = /^(?:log|whatchanged|reflog)$/.test(verb) && anyWord(rest, /^(?:-p|-u|--patch\S*|-[SG].*)$/)
  if (showsAll && named.length === 0) found.push({ word: whole, access: "read", tree: "files" })
  return found
}

type GitWord = { readonly word: string; readonly isInside: boolean }

/** Words of a git command that name files, including a file in a commit: `HEAD:path`. */
function gitOperands(verb: string, rest: readonly string[]): readonly GitWord[] {
  const split = rest.indexOf("--")
  const showsFiles = /^(?:show|cat-file|archive|grep|diff|log|blame|ls-tree|rev-parse|checkout|restore)$/.test(verb)
  const takesFiles = /^(?:add|rm|mv|blame|restore)$/.test(verb)
  return rest.flatMap((word, at): readonly GitWord[] => {
    const before = rest[at - 1] ?? ""
    if (word.startsWith("-") || gitTexts.test(before)) return []
    if (verb === "clean" && /^(?:-\w*e|--exclude)$/.test(before)) return []
    const inside = showsFiles ? /^[^:\s]*:(?!\/\/)(.+)$/.exec(word)?.[1] : undefined
    if (inside !== undefined) return [{ word: inside, isInside: true }]
    return (split >= 0 && at > split) || looksLikeFile(word) || takesFiles ? [{ word, isInside: false }] : []
  })
}

const curlWrites =
  /^(?:-[ocDP]|--output|--output-document|--cookie-jar|--dump-header|--directory-prefix|--output-dir|--trace\S*|--stderr|--append-output)$/
const curlReads =
  /^(?:-[TKEbi]|--upload-file|--config|--cert|--key|--cacert|--cookie|--post-file|--body-file|--input-file|--netrc-file)$/
const curlSends = /^(?:-d|--data\S*|-F|--form\S*|--json|-H|--header|--url-query)$/

/** Files that a download writes or an upload reads. */
function downloads(name: string, words: readonly string[]): readonly FileWord[] {
  return words.flatMap((word, at): readonly FileWord[] => {
    const before = words[at - 1] ?? ""
    if (curlWrites.test(before) || (name === "wget" && /^-[Oa]$/.test(before)))
      return word === "-" || word === "/dev/null" ? [] : [{ word, access: "write" }]
    if (curlReads.test(before)) return before === "-b" && word.includes("=") ? [] : [{ word, access: "read" }]
    const sent = curlSends.test(before)
      ? /(?:^|=)[@<](.+)$/.exec(word)?.[1]
      : /^--(?:data\S*|form)=(?:.*=)?@(.+)$/.exec(word)?.[1]
    const read = sent?.replace(/;type=.*$/, "") ?? /^file:\/\/(?:localhost)?(.+)$/i.exec(word)?.[1]
    return read === undefined ? [] : [{ word: read, access: "read" }]
  })
}
