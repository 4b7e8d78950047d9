import { anyOf } from "../../language/word-lists.ts"
import type { Steps } from "../../message/steps.ts"
import { type CallFacts, factsOf, type ToolCall } from "../facts/facts.ts"
import { type Leaf, leafOf, leavesOf, unreadMarks } from "../facts/leaf.ts"
import { foundIn } from "../facts/options.ts"
import { patchHeader } from "../facts/paths.ts"
import { foundBy } from "../facts/shell-output.ts"
import { anyWord, globMatches, wordsOf } from "../facts/words.ts"
import type { Guard, Verdict, VerdictReason } from "../guard.ts"
import { judgeOf } from "../join-guards.ts"
import { actsOn, callsAdmin, codeEnds } from "./own-acts.ts"
import {
  fileWords,
  isFed,
  type OwnCommand,
  type OwnScript,
  pathsIn,
  readCommands,
  wholeFolders,
} from "./own-commands.ts"
import { absolutePath, namesOf, type OwnProcess, type Touch, touchInText, touchOf } from "./own-process.ts"
import words from "./self-words.json" with { type: "json" }

export const selfProtectionId = "holdfast:self-protection"

/**
 * The built-in policy: an agent may not read or change the gateway that guards it, nor end it. It is no policy of a file, so none can take
 * it away. What a call would do is told in one sentence; of what cannot be read, only that it names something of ours.
 */
export function createSelfProtection(own: OwnProcess): Guard {
  return {
    policies: [],
    judge: judgeOf(function* (call) {
      const deed = yield* deedOf(call, own)
      return verdictOf(call, deed === undefined ? [] : [reasonFor(deed)])
    }),
  }
}

const reasonFor = (deed: string): VerdictReason => ({
  policy: selfProtectionId,
  rule: `This call would ${deed}. An agent may not touch the Holdfast gateway that guards it.`,
  decision: "deny",
  instead: "Leave it as it is, or ask the person who runs Holdfast to do it outside of the agent.",
  facts: {},
})

/** The facts of a call are worked out only if somebody asks for them. */
function verdictOf(call: ToolCall, reasons: readonly VerdictReason[]): Verdict {
  let facts: CallFacts | undefined
  return {
    decision: reasons.length > 0 ? "deny" : "allow",
    reasons,
    errors: [],
    get facts() {
      facts ??= factsOf(call)
      return facts
    },
  }
}

const touching = ({ file }: Touch): string =>
  `read or change ${file.what}${file.path.includes("/") ? ` (${file.path})` : ""}`

/** What a call would do to what is ours, if anything. Never throws: what could not be read in full is looked through for our names. */
function* deedOf(call: ToolCall, own: OwnProcess): Steps<string | undefined> {
  try {
    const { leaves, marks } = leavesOf(call.input)
    yield
    const deed = leavesDeed(String(call.tool), [...leaves, ...listLeaves(call.input)], own)
    if (deed !== undefined) return deed
    return unreadMarks.some((mark) => marks.has(mark)) ? unreadDeed(call.input, own) : undefined
  } catch {
    return unreadDeed(call.input, own)
  }
}

/** More is not looked through for names; no tool takes as much. */
const maxUnread = 20_000_000

function unreadDeed(input: unknown, own: OwnProcess): string | undefined {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "")
  if (text.length > maxUnread) return "do more than can be read"
  // A name that is a word of its own says more with the folder that it stands in.
  const names = [
    ".holdfast",
    ...own.files.map(({ path }) => path.slice(path.lastIndexOf("/") + 1)).filter((name) => /[^a-z]/i.test(name)),
    ...own.files.map(({ path }) => path.split("/").slice(-2).join("/")),
  ]
  const named = names.find((name) => name.length > 5 && text.toLowerCase().includes(name.toLowerCase()))
  return named === undefined ? undefined : `name ${named} in arguments that cannot be read in full`
}

/** Lists of words at the top of a call, each as one command: a tool that runs programs takes them so, whatever it calls them. */
function listLeaves(input: unknown): readonly Leaf[] {
  if (typeof input !== "object" || input === null) return []
  return Object.entries(input).flatMap(([key, list]) => {
    if (!Array.isArray(list) || list.length < 2 || !list.every((word) => typeof word === "string")) return []
    const text = list
      .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
      .join(" ")
      .slice(0, 100_000)
    return [leafOf([key.toLowerCase()], text, { role: "other", folded: text })]
  })
}

// The values of a call

const endTools = /^(?:kill|terminate|stop|signal|end|interrupt|restart|disable)$/
const codeTools = /^(?:python|ipython|javascript|node|code|interpreter|eval|repl|notebook|jupyter)$/
const globTools = /^(?:glob|find|list|files|ls)$/

const runners = new RegExp(`^${anyOf(words.runners)}$`)
const searchTools =
  /^(?:search|grep|rg|web|google|websearch|lookup|query|ask|browse|memory|think|todo|task|agent|message|plan)$/
const ofFolders =
  /^(?:delete|remove|rm|rmdir|move|mv|rename|trash|unlink|wipe|clean|chmod|chown|archive|zip|compress|copy|cp|link|symlink|upload)$/
const changers =
  /^(?:write|edit|create|update|delete|remove|rm|move|mv|rename|patch|replace|insert|append|save|put|overwrite|truncate|chmod|modify|set|multiedit|str)$/
/** Fields whose values are words for people, for a search or for a file, and no names of files. */
const proseFields = new RegExp(`^${anyOf(words.proseFields)}$`)
const scriptFile = /\.(?:sh|bash|zsh|fish|command|ps1|bat|cmd)$|(?:^|\/)(?:makefile|justfile|dockerfile|crontab)$/i
const folderFields = /^(?:cwd|workdir|working_dir|working_directory|work_dir|root|base_dir|dir|directory|folder)$/

/** What a tool does, as its name says, and where. */
function settingOf(words: readonly string[], texts: readonly Leaf[], own: OwnProcess) {
  const folder = texts.find(({ field }) => folderFields.test(field))?.text
  const runs = anyWord(words, runners)
  return {
    own,
    base: folder === undefined || /[*$\n]/.test(folder) ? own.folder : absolutePath(folder, own.folder, own),
    runs,
    searches: !runs && anyWord(words, searchTools),
    takesFolders: anyWord(words, ofFolders),
    searchesFiles: anyWord(words, /^(?:grep|rg|search)$/),
    changes: anyWord(words, changers),
    /** It may run programs in other languages; a pattern of it stands for files. */
    runsCode: anyWord(words, codeTools),
    lists: anyWord(words, globTools) && !anyWord(words, /^(?:grep|content)$/),
    writesScript: texts.some(({ role, text }) => role === "path" && scriptFile.test(text.trim())),
  }
}

type Setting = Readonly<ReturnType<typeof settingOf>>

function leavesDeed(tool: string, leaves: readonly Leaf[], own: OwnProcess): string | undefined {
  const words = wordsOf(tool)
  const texts = leaves.filter(({ value }) => typeof value === "string")
  const isOurs = ({ text }: Leaf): boolean =>
    text.trim() === String(own.pid) || /^holdfast(?:\.service)?$/i.test(text.trim())
  if (anyWord(words, endTools) && leaves.some(isOurs)) return "end or signal its process"
  const setting = settingOf(words, texts, own)
  return firstDeed(texts, (leaf) => leafDeed(leaf, setting))
}

/** The first deed of several things, if one of them is one. */
function firstDeed<One>(all: readonly One[], deedOf: (one: One) => string | undefined): string | undefined {
  for (const one of all) {
    const deed = deedOf(one)
    if (deed !== undefined) return deed
  }
  return undefined
}

function leafDeed(leaf: Leaf, setting: Setting): string | undefined {
  const { text, role, keys, field } = leaf
  const { own, base, runs } = setting
  if (own.secrets.some((secret) => text.includes(secret))) return "use its token or the address of its store"
  const patched = foundIn(text, patchHeader).map((path) => path.replace(/\t.*$/, "").trim())
  if (patched.length > 0) {
    const deed = firstDeed(patched, (path) => pathDeed(path.split(" b/")[0] ?? path, { ...setting, changes: true }))
    if (deed !== undefined || !runs || /^\s*\*\*\* Begin Patch/.test(text)) return deed
  }
  const isProgram = role === "command" || role === "code" || keys.length === 0
  if (isProgram || (runs && role !== "path" && role !== "url")) return programDeed(text, setting, role === "code")
  if (role === "url" || /^\s*https?:\/\//i.test(text)) return callsAdmin(text, own) ? "call its admin API" : undefined
  const isPattern = setting.lists && field === "pattern"
  if (!isPattern && role !== "path" && (role === "body" || role === "subject" || proseFields.test(field))) {
    if (setting.writesScript || /^#!/.test(text)) return programDeed(text, setting, false)
    if (/\b(?:attach|readfile|writefile|load_extension|copy|vacuum into)\b/i.test(text) && role === "sql")
      return textDeed(text, base, own)
    return undefined
  }
  if (setting.searches && role !== "path" && !/^(?:glob|include|path)/.test(field)) return undefined
  if (/\s/.test(text.trim()) && role !== "path") return textDeed(text, base, own)
  return firstDeed(text.split("\n"), (line) => pathDeed(line.trim(), setting))
}

/** Is a folder another one, or above it? */
function isAbove(folder: string, other: string): boolean {
  const [above, below] = [namesOf(folder), namesOf(other)]
  return above.every((name, at) => name === below[at])
}

function pathDeed(path: string, { own, base, takesFolders, changes, searchesFiles }: Setting): string | undefined {
  for (const from of base === own.folder ? [base] : [base, own.folder]) {
    const touch = touchOf(path, from, own)
    if (touch === undefined || (touch.file.isReadable === true && !changes)) continue
    // A search prints what it finds below a folder; the one that the agent works in is its own.
    const isSearched = searchesFiles && !isAbove(absolutePath(path, from, own), own.folder)
    if (touch.relation === "own" || takesFolders || isSearched) return touching(touch)
  }
  return undefined
}

function textDeed(text: string, base: string, own: OwnProcess): string | undefined {
  const touch = touchInText(text, base, own)
  return touch === undefined || touch.file.isReadable === true ? undefined : touching(touch)
}

// Programs

function programDeed(text: string, setting: Setting, isCode: boolean): string | undefined {
  const { own, base } = setting
  if (callsAdmin(text, own)) return "call its admin API"
  // A path of Windows: a shell's reader takes its signs for something else.
  if (/\.\\+\.holdfast\b|\.holdfast\\+\w/i.test(text)) return "read or change its folder .holdfast"
  const named = own.secretNames.find((name) =>
    new RegExp(`\\$\\{?${name}\\b|(?:environ|env|getenv)\\W{1,3}${name}\\b`).test(text),
  )
  if (named !== undefined) return "read the variable that holds its token"
  const script = readCommands(text, base, own)
  const deed = isCode ? undefined : scriptDeed(script, own)
  const programs = isCode || setting.runsCode ? [{ text, base }, ...script.code] : script.code
  return (
    deed ??
    firstDeed(programs, (program) => codeDeed(program.text, program.base, own)) ??
    (script.tooMany ? unreadDeed(text, own) : undefined)
  )
}

const scriptDeed = ({ commands }: OwnScript, own: OwnProcess): string | undefined =>
  firstDeed(commands, (command) => commandDeed(command, commands, own)) ?? actsOn(commands, own)

/** Commands that tell of files no more than their names and sizes. */
const listers = /^(?:ls|du|wc|stat|file|tree|dir|basename|dirname|realpath|readlink)$/

/** Commands that change the files that they name. */
const writers =
  /^(?:rm|mv|cp|tee|truncate|ln|chmod|chown|dd|install|patch|rsync|unlink|shred|sponge|touch|ed|ex|vi|vim|nano|rimraf|del)$/

function commandDeed(command: OwnCommand, all: readonly OwnCommand[], own: OwnProcess): string | undefined {
  const { base, name } = command
  const { words, leftOut } = fileWords(command)
  const changes = writers.test(name) || (/^(?:sed|perl)$/.test(name) && anyWord(command.words, /^-\w*i/))
  const touchesOf = (list: readonly string[]): readonly Touch[] =>
    (listers.test(name) ? list.filter((word) => !/(?:^|\/)[.*]+$/.test(word) || !word.includes("*")) : list)
      .flatMap((word) => pathsIn(word))
      .flatMap((path) => touchOf(path, base, own) ?? [])
  const written = touchesOf(command.writesTo).find(({ relation }) => relation === "own")
  if (written !== undefined) return touching(written)
  const named = touchesOf([...words, ...command.readsFrom]).find(
    ({ relation, file }) => relation === "own" && (file.isReadable !== true || changes),
  )
  if (named !== undefined) return touching(named)
  if (touchesOf(leftOut).some(({ relation }) => relation === "own")) return undefined
  const whole =
    name === "find" ? foundFolders(command, all, own) : wholeFolders(command, [...words, ...fedFolders(command, all)])
  const searched = isRecursiveSearch(command)
    ? words.filter((word) => !word.startsWith("-") && !isAbove(absolutePath(word, base, own), own.folder))
    : []
  const held = touchesOf([...whole, ...searched]).find(({ relation }) => relation === "holds")
  return held === undefined ? undefined : touching(held)
}

const isRecursiveSearch = ({ name, words }: OwnCommand): boolean =>
  /^(?:rg|ag|ack)$/.test(name) ||
  (/^[efz]?grep$/.test(name) && anyWord(words, /^-\w*[rR]|^--(?:dereference-)?recursive$/))

/** What `ls` lists, hidden names included, and hands to a command. */
function fedFolders({ around }: OwnCommand, all: readonly OwnCommand[]): readonly string[] {
  if (!around.some(isFed)) return []
  return all.flatMap(({ name, words }) => {
    if (name !== "ls" || !anyWord(words, /^-\w*[aA]|^--(?:almost-)?all$/)) return []
    const folders = words.filter((word) => !word.startsWith("-"))
    return folders.length === 0 ? ["."] : folders
  })
}

/** The folders in which `find` hands what it finds to another command, or deletes it, if that may be ours. */
function foundFolders({ words, base }: OwnCommand, all: readonly OwnCommand[], own: OwnProcess): readonly string[] {
  const acts =
    anyWord(words, /^-(?:delete|exec|execdir|ok|okdir|fprint\w*)$/) || all.some(({ around }) => around.some(isFed))
  if (!acts) return []
  const filters = words.flatMap((word, at) =>
    /^-i?(?:name|path|wholename|regex)$/.test(word) && !/^(?:!|-not)$/.test(words[at - 1] ?? "")
      ? [words[at + 1] ?? ""]
      : [],
  )
  const { roots } = foundBy(words)
  return filters.length === 0 ? roots : roots.filter((root) => filters.some((filter) => finds(filter, root, base, own)))
}

/** May a filter of `find` find something of ours below a folder? */
function finds(filter: string, root: string, base: string, own: OwnProcess): boolean {
  const above = namesOf(absolutePath(root, base, own))
  return own.files.some((file) => {
    const names = namesOf(file.path)
    if (file.isReadable === true || file.isAbsent === true || !above.every((name, at) => name === names[at]))
      return false
    const below = names.slice(above.length)
    return [...below, ...(file.isFolder === true ? own.namesBelow(file) : [])].some((name) => touchesName(filter, name))
  })
}

/** Does a filter of `find` stand for a name? Its stars stand for dots as well. */
const touchesName = (filter: string, name: string): boolean =>
  globMatches((filter.slice(filter.lastIndexOf("/") + 1) || filter).toLowerCase(), name.toLowerCase())

/** Calls of other languages that take a whole folder, and what they take. */
const folderCalls = new RegExp(
  `\\b${anyOf(words.folderCalls)}\\s*\\(\\s*(process\\.cwd\\(\\)|os\\.getcwd\\(\\)|Dir\\.pwd|["'\`][^"'\`\\n]{0,1000}["'\`])`,
  "g",
)

function codeDeed(text: string, base: string, own: OwnProcess): string | undefined {
  if (codeEnds(text, own)) return "end or signal its process"
  const deed = textDeed(text, base, own)
  if (deed !== undefined) return deed
  for (const given of foundIn(text, folderCalls)) {
    const touch = touchOf(/^["'`]/.test(given) ? given.slice(1, -1) || "." : ".", base, own)
    if (touch?.relation === "holds") return touching(touch)
  }
  return undefined
}
