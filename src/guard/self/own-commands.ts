import { anyOf } from "../../language/word-lists.ts"
import { codeFacts } from "../facts/code.ts"
import { type RunCommand, runOf } from "../facts/commands.ts"
import { firstTold, operandsOf } from "../facts/options.ts"
import { unknownPart } from "../facts/shell-words.ts"
import { anyWord } from "../facts/words.ts"
import { absolutePath, type OwnProcess } from "./own-process.ts"
import words from "./self-words.json" with { type: "json" }

/** One command of a script, without the commands that wrap it, and the folder it runs in. */
export type OwnCommand = Pick<RunCommand, "name" | "writesTo" | "readsFrom" | "around"> & {
  /** The words after the name. */
  readonly words: readonly string[]
  readonly base: string
}

export type OwnScript = {
  readonly commands: readonly OwnCommand[]
  /** Programs in other languages, as source text, with the folder they run in. */
  readonly code: readonly { readonly text: string; readonly base: string }[]
  readonly tooMany: boolean
}

/** Programs that run other commands and also name files in their own words. */
const runsAndNamesFiles =
  /^(?:docker|podman|nerdctl|kubectl|find|git|tar|rsync|script|vim?|nvim|less|holdfast|npx|npm|pnpm|yarn|bun|deno|systemctl|service|pm2|su)$/

/** Reads the commands of a script, including those in nested scripts. */
export function readCommands(text: string, base: string, own: OwnProcess, depth = 0): OwnScript {
  const run = runOf(text)
  const baseOf = ({ directory }: { readonly directory?: string }): string =>
    directory === undefined || directory.includes(unknownPart) ? base : absolutePath(directory, base, own)
  const commands = run.commands
    .filter(({ wraps, name }) => !wraps || runsAndNamesFiles.test(name))
    .map((command): OwnCommand => ({ ...command, words: command.words.slice(1), base: baseOf(command) }))
  const code = run.code.map((one) => ({ text: one.text, base: baseOf(one) }))
  if (depth > 2) return { commands, code, tooMany: true }
  const inner = code.flatMap((one) =>
    codeFacts(one.text).scripts.map((script) => readCommands(script, one.base, own, depth + 1)),
  )
  return {
    commands: [...commands, ...inner.flatMap((one) => one.commands)],
    code: [...code, ...inner.flatMap((one) => one.code)],
    tooMany: run.tooMany || inner.some(({ tooMany }) => tooMany),
  }
}

/** True for programs that read words and pass them to a command. */
export const isFed = (name: string): boolean => name === "xargs" || name === "parallel"

// Words that name files

/** Options that name what is excluded. */
const excludes = /^--?(?:exclude|ignore|skip|omit)[\w-]*/
const searchers = /^(?:[efz]?grep|rg|ag|ack|git-grep|findstr|select-string)$/
const printers = /^(?:echo|printf|write-host|write-output)$/
/** Programs whose first operand is a program of their own, which names files only if it matches `namesFiles`. */
const editors = /^(?:sed|gsed|jq|yq|perl)$/
const namesFiles = /(?:^|[;}\d$/\s])[rRwWe]\s+\S|\b(?:getline|system|open|input_filename)\b|[<>]/

/** Options of search programs that take the next word as their value. */
const searchValues = new RegExp(`^${anyOf("-[ABCmdDgtTjMr]|-\\w*[ABCm]", `--${anyOf(words.searchOptions)}`)}$`)

/** Returns the words of a command that may name files, and those that name what it excludes. */
export function fileWords({ name, words }: OwnCommand): Readonly<Record<"words" | "leftOut", readonly string[]>> {
  const kept: string[] = []
  const leftOut: string[] = []
  if (printers.test(name)) return { words: [], leftOut: [] }
  const isGit = name === "git"
  const verb = isGit ? (words.find((word) => /^[a-z]/.test(word)) ?? "") : ""
  const isSearch = searchers.test(name) || verb === "grep"
  let isFirst = true
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ""
    const next = words[at + 1] ?? ""
    if (excludes.test(word) || (verb === "clean" && /^-e$/.test(word))) {
      leftOut.push(word.includes("=") ? word.slice(word.indexOf("=") + 1) : next)
      if (!word.includes("=")) at++
    } else if (/^:[!^]/.test(word)) leftOut.push(word.slice(2))
    else if (name === "find" && (word === "!" || word === "-not") && /^-i?(?:name|path|wholename)$/.test(next)) {
      leftOut.push(words[at + 2] ?? "")
      at += 2
    } else if (name === "find" && /^-i?(?:name|path|wholename)$/.test(word) && words[at + 2] === "-prune") {
      leftOut.push(next)
      at += 2
    } else if (isGit && /^(?:-m|--message|--grep|-S|-G|--author)$/.test(word)) at++
    else if (isGit && /^(?:--message|--grep|--author)=|^-m./.test(word)) continue
    else if (isSearch && /^(?:-e|--regexp)$/.test(word)) {
      isFirst = false
      at++
    } else if (isSearch && isValued(name, word)) at++
    else if ((isSearch || (editors.test(name) && !namesFiles.test(word))) && isFirst && isOperand(word, verb))
      isFirst = false
    else kept.push(word)
  }
  return { words: verb === "check-ignore" ? [] : kept, leftOut }
}

/** True if the next word is the value of an option. In `grep`, `-r`, `-d` and others mean something else than in newer programs. */
const isValued = (name: string, word: string): boolean =>
  searchValues.test(word) && !(/^(?:[efz]?grep|git|git-grep)$/.test(name) && /^-[gtTjMr]$/.test(word))

const isOperand = (word: string, verb: string): boolean => !word.startsWith("-") && (verb === "" || word !== verb)

/** Returns the paths that a word may contain: `--file=x`, `of=x`, `@x`, and each side of `a:b`. */
export function pathsIn(word: string): readonly string[] {
  const bare = word.replace(/^(?:--?[\w-]+=|[\w-]+=)/, "").replace(/^[^@\s/]*@(?=[/~.$])/, "")
  const pieces = /^[a-z]:[\\/]/i.test(bare) ? [bare] : bare.split(/[:,;]/)
  return [...new Set([word, bare, ...pieces])].filter((piece) => piece !== "" && !piece.startsWith("-"))
}

// Commands that act on a whole folder, and so on Holdfast's files in it

/** Commands that delete, move, pack or change everything in a folder: the option that is needed, and whether the last word is a target. */
const ofWholeFolders: readonly (readonly [name: RegExp, option: RegExp | undefined, hasTarget: boolean])[] = [
  [/^rm$/, /^-\w*[rR]|^--recursive$/, false],
  [/^(?:rimraf|del|rd|remove-item|ri|trash|trash-put|srm|shred|wipe)$/, undefined, false],
  [/^(?:mv|move|move-item|ren|rename|ln|mklink)$/, undefined, true],
  [/^(?:cp|copy-item)$/, /^-\w*[rRa]|^--(?:recursive|archive)$/i, true],
  [/^(?:rsync|scp|robocopy|xcopy)$/, undefined, true],
  [/^(?:chmod|chown|chgrp|setfacl|chattr|icacls)$/, /^-\w*R|^--recursive$|^\/t$/i, false],
  [/^(?:tar|bsdtar)$/, /^-?\w*[cru]\w*$|^--(?:create|append|update)$/, false],
  [/^(?:zip|7z|7za|rar)$/, undefined, false],
  [/^(?:mount|umount)$/, undefined, false],
]

/** Returns the words that name folders whose whole content a command deletes, moves, packs or changes. */
export function wholeFolders({ name, words }: OwnCommand, named: readonly string[]): readonly string[] {
  const entry = ofWholeFolders.find(([pattern]) => pattern.test(name))
  if (entry === undefined) return name === "git" ? gitFolders(words, named) : []
  const [, option, hasTarget] = entry
  if (option !== undefined && !anyWord(words, option)) return []
  const isTar = /tar$/.test(name)
  const from = isTar ? firstTold(words, /^-C$|^--directory$/) : undefined
  // The first options of tar may have no dash.
  const given = isTar && /^\w+$/.test(named[0] ?? "") ? named.slice(1) : named
  const operands = operandsOf(given, isTar ? /^-C$|^--directory$/ : /(?!)/)
  if (from !== undefined) return operands.map((word) => `${from || "."}/${word}`)
  const hasTargetFirst = anyWord(words, /^(?:-t|--target-directory)/)
  const emptiesTarget = anyWord(words, /^--delete/)
  return hasTarget && !hasTargetFirst && !emptiesTarget && operands.length > 1 ? operands.slice(0, -1) : operands
}

/**
 * Returns the folders from which `git clean`, or `git stash` with untracked files, removes files: the named paths, or the current folder.
 */
function gitFolders(words: readonly string[], named: readonly string[]): readonly string[] {
  const isClean = words.includes("clean") && anyWord(words, /^-\w*f|^--force$/)
  const isDry = anyWord(words, /^-\w*n|^--dry-run$/)
  const takesFolders = anyWord(words, /^-\w*[dxX]/)
  const isStash = words.includes("stash") && anyWord(words, /^-\w*[ua]$|^--(?:include-untracked|all)$/)
  const elsewhere = firstTold(words, /^-C$/)
  const from = elsewhere || "."
  // These print content of the repository, which may include Holdfast's files.
  if (elsewhere !== undefined && anyWord(words, /^(?:log|show|diff|grep|archive|stash|cat-file|blame)$/)) return [from]
  if (!isStash && (!isClean || isDry || !takesFolders)) return []
  const verb = named.findIndex((word) => word === "clean" || word === "stash")
  const paths = named.slice(verb + 1).filter((word) => !word.startsWith("-") && !/^(?:push|save)$/.test(word))
  return paths.length === 0 ? [from] : paths.map((path) => (elsewhere === undefined ? path : `${from}/${path}`))
}
