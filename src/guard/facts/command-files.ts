import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { type Effect, isDryRun } from "./command-table.ts"
import words from "./command-words.json" with { type: "json" }
import { attachedProgram, type RunCommand } from "./commands.ts"
import { type Open, open } from "./leaf.ts"
import { type Access, type PathFact, patchedFiles, pathFact } from "./paths.ts"
import { foundBy } from "./shell-output.ts"
import { asPattern, unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

/** What is known of the files of a script. */
type Files = { readonly paths: PathFact[]; readonly open: Open }

/** Programs that pack the files whose names they are told by another command. */
const takesNames = (name: string, words: readonly string[]): boolean =>
  (/^(?:cpio|pax|afio)$/.test(name) && !anyWord(words, /^-\w*[ir]/)) ||
  (name === "zip" && words.includes("-@")) ||
  (/^(?:tar|bsdtar)$/.test(name) &&
    words.some((word, at) => /^(?:-T|--files-from)$/.test(words[at - 1] ?? "") && word === "-"))

/** Programs that show names, sizes and dates, and nothing of what is in a file. */
const namesOnly = /^(?:ls|dir|stat|du|tree|realpath|readlink|eza|exa|lsd)$/

/** Programs whose words are no files. */
export const wordless = new RegExp(`^${anyOf(words.wordless)}$`)
export function readFiles(reading: Files, command: RunCommand, effects: ReadonlySet<Effect>): void {
  const { name, directory, writesTo, readsFrom } = command
  const words = command.words.slice(1)
  const isDry = isDryRun(name, words)
  const add = (written: string, access: Access, more: Pick<PathFact, "tree" | "mayChange" | "isFresh"> = {}): void => {
    if (written === "" || written === "-" || written.length > 4_096) return
    // A name with a known beginning is a pattern.
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
    for (const [at, word] of words.entries()) {
      const bound = /^(?:RootDirectory|RootImage|Bind(?:ReadOnly)?Paths)=([^:]+)/.exec(
        word.replace(/^--property=/, ""),
      )?.[1]
      if (bound !== undefined) add(bound, "unknown", { tree: "files" })
      else if (
        /^(?:bwrap|proot|firejail)$/.test(name) &&
        /^(?:--(?:ro-|dev-)?bind(?:-try)?|-[brR])$/.test(words[at - 1] ?? "")
      )
        add(word.replace(/:.*$/, ""), "unknown", { tree: "files" })
    }
    if (/^(?:xargs|parallel)$/.test(name))
      for (const [at, word] of words.entries()) {
        const list = /^(?:-a|--arg-file)$/.test(words[at - 1] ?? "") ? word : /^--arg-file=(.+)/.exec(word)?.[1]
        if (list !== undefined) add(list, "read")
      }
    if (/^(?:docker|podman)$/.test(name))
      for (const [at, word] of words.entries())
        if (/^-v$|^--volume$|^--mount$/.test(words[at - 1] ?? "") || /^--?(?:v|volume|mount)=/.test(word))
          add(
            word
              .replace(/^--?[\w-]+=/, "")
              .replace(/^.*(?:source|src)=([^,]+).*$/, "$1")
              .replace(/:.*$/, ""),
            "unknown",
            { tree: "files" },
          )
    return
  }
  // A program that nobody has told of may have a language of its own, in which files are named.
  if (effects.has("unknown"))
    for (const word of words.filter((one) => /\s/.test(one)))
      for (const [, file = ""] of word.matchAll(/(?:^|[\s"'=(,])((?:~?\/|\.{1,2}\/)[\w./~-]{2,200})/g))
        add(file, "unknown")
  for (const { word, access, tree, mayChange, isFresh } of filesOf(name, words, effects))
    add(below(name, words, word), isDry ? "read" : access, present({ tree, mayChange, isFresh }))
}

/** A file by the folder that the archiver is told to change to before it: `tar -c -C /home .ssh`. */
function below(name: string, words: readonly string[], word: string): string {
  if (!/^(?:bsd)?tar$/.test(name) || /^[/~$]/.test(word)) return word
  const folder = words
    .slice(0, Math.max(0, words.indexOf(word)))
    .flatMap((one, at) =>
      /^(?:-\w*C|--(?:directory|cd))$/.test(words[at - 1] ?? "")
        ? [one]
        : (/^(?:--directory=|-C(?=.))(.+)/.exec(one)?.[1] ?? []),
    )
    .at(-1)
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
  /** An option says that it is the folder to work in. */
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
  const pattern =
    filters.test(name) &&
    !words.some((word) => /^-[ef]$|^--(?:regexp|file)/.test(word) || (name === "perl" && attachedProgram.test(word)))
      ? words.findIndex((word) => !word.startsWith("-"))
      : -1
  const { operands, found } = namedFiles(words, pattern, access, effects)
  if (name === "sed") found.push(...sedFiles(words))
  const looked: Looking = { name, words, sought: words[pattern] ?? "", operands: operands.length }
  // An unknown program may take a folder with everything in it; so may a script.
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
    ...found.map((file) =>
      file.isFolder === true && (file.access !== "read" || effects.has("deploy"))
        ? { ...file, access: "write" as const, tree: "files" as const }
        : file,
    ),
    ...placed,
  ]
}

/** Words that are files by themselves, and those in options: `--file=x`, `if=x`, `@x`. */
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
    if (leavesOut(word, words[at - 1] ?? "")) continue
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

/** Is a word the pattern of what is left out? */
const leavesOut = (word: string, before: string): boolean =>
  /^--(?:i?glob|exclude\S*|ignore\S*)=/.test(word)
    ? /^--i?glob=[^!]/.test(word) === false
    : (/^(?:-g|--i?glob)$/.test(before) && word.startsWith("!")) || /^--(?:exclude|exclude-dir|ignore)$/.test(before)

/** Files that a program for sed reads and writes by itself: `1r FILE`, `w FILE`. */
const sedFiles = (words: readonly string[]): readonly FileWord[] =>
  words.flatMap((word) =>
    [...word.matchAll(/(?:^|[\s;{}/\d$,])([rRwW])\s+([^\s;}]+)/g)].map(
      ([, verb = "", file = ""]): FileWord => ({ word: file, access: /w/i.test(verb) ? "write" : "read" }),
    ),
  )

type Looking = {
  readonly name: string
  readonly words: readonly string[]
  /** What a search looks for. */
  readonly sought: string
  /** How many files it names. */
  readonly operands: number
}

const isRecursive = ({ name, words }: Looking): boolean =>
  anyWord(words, /^-\w*[rRa]\w*$|^--(?:recursive|archive)$/) || /^(?:rg|ag|ack|tar|zip|7z|rsync|du|tree)$/.test(name)

/** Searches that leave hidden files out unless they are told otherwise. */
const skipsHidden = ({ name, words }: Looking): boolean =>
  /^(?:rg|ag|ack)$/.test(name) && !anyWord(words, /^-\w*u|^--(?:hidden|no-ignore|unrestricted)/)

const broad = /^(?:\.{1,2}|~|\*+|\/|\$\w+|\/(?:etc|home|root|users|srv|var|opt)\b.*|~\/.*)\/?$/i
const secretWords = /passw|secret|token|api.?key|credential|private|begin /i

/** What is below a folder is meant, and secrets are where it is searched for them or carried off as a whole. */
function treeOf(word: string, { name, words, sought }: Looking): { readonly tree?: "files" | "secrets" } {
  if (hasInclude(words)) return {}
  const packs = /^(?:tar|zip|7z|cp|rsync|scp|mv|copy-item)$/.test(name)
  const isSecret = broad.test(word) && (packs || (filters.test(name) && secretWords.test(sought)))
  return { tree: isSecret ? "secrets" : "files" }
}

/** The last of several files may be the one that is written. */
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

/** An archive is read or written as its options say; what is packed is read. */
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

/** Where a search looks: below a folder, at names that an option limits it to. */
function included(words: readonly string[], folder: string): string {
  const glob = words
    .map(
      (word, at) =>
        /^(?:--include|--glob|-g)=?(.*)$/.exec(word)?.[1] ||
        (/^(?:--include|-g|--glob)$/.test(words[at - 1] ?? "") ? word : ""),
    )
    .find((one) => one !== "" && !one.startsWith("!"))
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
  // It prints names alone; what is done to them is a command of its own.
  const written = words.flatMap((word, at): readonly FileWord[] =>
    /^-fprint\w*$/.test(word) ? [{ word: words[at + 1] ?? "", access: "write" }] : [],
  )
  return [...roots.map((root): FileWord => ({ word: root, access: "read" })), ...written]
}

/** Ways of git that put other contents into the files of the working folder. */
const treeVerbs = /^(?:apply|am|reset|restore|clean)$/
const wholeTree = /^(?:apply|am|reset)$/
const gitTexts = /^(?:-[mFnLSGUbB]|--(?:author|grep|since|until|format|pretty|max-count|message|date|branch|depth))$/

function gitFiles(words: readonly string[]): readonly FileWord[] {
  const at = words.findIndex(
    (word, index) => !word.startsWith("-") && !/^-[cC]$|^--(?:git-dir|work-tree)$/.test(words[index - 1] ?? ""),
  )
  const before = at < 0 ? words : words.slice(0, at)
  const folders = before.flatMap(
    (word, index) =>
      /^--(?:git-dir|work-tree)=(.+)$/.exec(word)?.[1] ??
      (/^-C$|^--(?:git-dir|work-tree)$/.test(before[index - 1] ?? "") ? word : []),
  )
  const folder = before.includes("-C") ? `${before[before.indexOf("-C") + 1] ?? ""}/` : ""
  const verb = words[at] ?? ""
  const rest = words.slice(at + 1)
  const split = rest.indexOf("--")
  const changes = /^(?:checkout|restore|rm|mv|clean|apply|am|reset)$/.test(verb)
  // `git restore --staged` changes the index and no file.
  const isIndexOnly =
    verb === "restore" && anyWord(rest, /^(?:--staged|-S)$/) && !anyWord(rest, /^(?:--worktree|-\w*W\w*)$/)
  // What git tells of a repository elsewhere is what is in its files.
  const found: FileWord[] = folders.map((word) => ({ word, access: "read", tree: "files" }))
  // Of these git tells names alone.
  if (/^(?:check-ignore|check-attr|ls-files)$/.test(verb)) return found
  for (const [index, word] of rest.entries()) {
    if (word.startsWith("-") || gitTexts.test(rest[index - 1] ?? "")) continue
    if (verb === "clean" && /^(?:-\w*e|--exclude)$/.test(rest[index - 1] ?? "")) continue
    const inside = /^[^:\s]*:(?!\/\/)(.+)$/.exec(word)?.[1]
    if (
      /^(?:show|cat-file|archive|grep|diff|log|blame|ls-tree|rev-parse|checkout|restore)$/.test(verb) &&
      inside !== undefined
    )
      found.push({ word: `${folder}${inside}`, access: "read" })
    else if ((split >= 0 && index > split) || looksLikeFile(word) || /^(?:add|rm|mv|blame|restore)$/.test(verb))
      found.push({
        word: `${folder}${word}`,
        access: changes && !isIndexOnly ? (verb === "rm" || verb === "mv" ? "delete" : "write") : "read",
      })
  }
  // What is put back, or cleaned away, in a folder is all that is in it.
  if (/^(?:checkout|restore|clean)$/.test(verb) && !isIndexOnly)
    for (const [index, file] of found.entries())
      if (file.access === "write" && !isPlainFile(file.word)) found[index] = { ...file, tree: "files" }
  const spares = /^(?:-b|-B|-c|-C|--abort|--soft|--mixed|list|show|drop|--staged|--cached|-n|--dry-run|--check|--stat)$/
  // What others have put into a repository that is known here came by their way; what is pulled from any other place did not.
  const isForeign = verb === "pull" && anyWord(rest, /^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:|^[/~.]/i)
  const isTree = (treeVerbs.test(verb) && !anyWord(rest, spares)) || isForeign
  const isWhole = wholeTree.test(verb) || found.length === folders.length
  if (isTree && isWhole)
    found.push({ word: folder === "" ? "." : folder, access: verb === "clean" ? "delete" : "write", tree: "files" })
  if (/^(?:grep|archive)$/.test(verb) && found.slice(folders.length).every(({ word }) => !/[/.]/.test(word)))
    found.push({ word: ".", access: "read", tree: verb === "archive" ? "secrets" : "files" })
  // What commits changed in all files, whatever else they are searched for.
  const showsAll = /^(?:log|whatchanged|reflog)$/.test(verb) && anyWord(rest, /^(?:-p|-u|--patch\S*|-[SG].*)$/)
  if (showsAll && found.length === folders.length)
    found.push({ word: folder === "" ? "." : folder, access: "read", tree: "files" })
  return found
}

/** Files that a download writes or an upload reads. */
function downloads(name: string, words: readonly string[]): readonly FileWord[] {
  return words.flatMap((word, at): readonly FileWord[] => {
    const before = words[at - 1] ?? ""
    if (
      /^(?:-o|--output|-O|--output-document|-c|--cookie-jar|-D|--dump-header|-P|--directory-prefix|--output-dir|--trace\S*|--stderr|-a|--append-output)$/.test(
        before,
      ) &&
      !(name === "curl" && before === "-O") &&
      !(name === "curl" && before === "-a")
    )
      return word === "-" || word === "/dev/null" ? [] : [{ word, access: "write" }]
    if (
      /^(?:-T|--upload-file|-K|--config|-E|--cert|--key|--cacert|-b|--cookie|--post-file|--body-file|-i|--input-file|--netrc-file)$/.test(
        before,
      )
    )
      return before === "-b" && word.includes("=") ? [] : [{ word, access: "read" }]
    const sent = /^(?:-d|--data\S*|-F|--form\S*|--json|-H|--header|--url-query)$/.test(before)
      ? /(?:^|=)[@<](.+)$/.exec(word)?.[1]
      : /^--(?:data\S*|form)=(?:.*=)?@(.+)$/.exec(word)?.[1]
    if (sent !== undefined) return [{ word: sent.replace(/;type=.*$/, ""), access: "read" }]
    const local = /^file:\/\/(?:localhost)?(.+)$/i.exec(word)?.[1]
    return local === undefined ? [] : [{ word: local, access: "read" }]
  })
}
