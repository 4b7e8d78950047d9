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
 * The built-in policy: an agent may not read, change or end the gateway that guards it. It is not read from a file, so it cannot be
 * removed. The verdict says in one sentence what the call would do; for arguments that cannot be parsed, only which of our names they
 * contain.
 */
export function createSelfProtection(own: OwnProcess): Guard {
  return {
    policies: [],
    judge: judgeOf(function* (call) {
      const deed = yield* findingIn(call, own)
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

/** The facts of a call are computed only when they are read. */
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

const touchSentence = ({ file }: Touch): string =>
  `read or change ${file.what}${file.path.includes("/") ? ` (${file.path})` : ""}`

/** Returns what a call would do to the gateway, if anything. Never throws: what cannot be parsed in full is searched for our names. */
function* findingIn(call: ToolCall, own: OwnProcess): Steps<string | undefined> {
  try {
    const { leaves, marks } = leavesOf(call.input)
    yield
    const deed = findingInLeaves(String(call.tool), [...leaves, ...listLeaves(call.input)], own)
    if (deed !== undefined) return deed
    return unreadMarks.some((mark) => marks.has(mark)) ? unparsedFinding(call.input, own) : undefined
  } catch {
    return unparsedFinding(call.input, own)
  }
}

/** Maximum length of unparsed arguments in characters; no tool takes as much. */
const maxUnread = 20_000_000

function unparsedFinding(input: unknown, own: OwnProcess): string | undefined {
  const text = typeof input === "string" ? input : (JSON.stringify(input) ?? "")
  if (text.length > maxUnread) return "do more than can be read"
  // A name of plain letters is too common, so it is searched only together with its folder.
  const names = [
    ".holdfast",
    ...own.files.map(({ path }) => path.slice(path.lastIndexOf("/") + 1)).filter((name) => /[^a-z]/i.test(name)),
    ...own.files.map(({ path }) => path.split("/").slice(-2).join("/")),
  ]
  const named = names.find((name) => name.length > 5 && text.toLowerCase().includes(name.toLowerCase()))
  return named === undefined ? undefined : `name ${named} in arguments that cannot be read in full`
}

/**
 * Lists of strings at the top level of a call, each as one command: tools that run programs take their arguments so, in a field of any
 * name.
 */
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
const folderTools =
  /^(?:delete|remove|rm|rmdir|move|mv|rename|trash|unlink|wipe|clean|chmod|chown|archive|zip|compress|copy|cp|link|symlink|upload)$/
const changers =
  /^(?:write|edit|create|update|delete|remove|rm|move|mv|rename|patch|replace|insert|append|save|put|overwrite|truncate|chmod|modify|set|multiedit|str)$/
/** Fields whose values are prose, search terms or file content, not file names. */
const proseFields = new RegExp(`^${anyOf(words.proseFields)}$`)
const scriptFile = /\.(?:sh|bash|zsh|fish|command|ps1|bat|cmd)$|(?:^|\/)(?:makefile|justfile|dockerfile|crontab)$/i
const folderFields = /^(?:cwd|workdir|working_dir|working_directory|work_dir|root|base_dir|dir|directory|folder)$/

/** Classifies a tool by the words of its name, and finds the folder it works in. */
function classifyTool(words: readonly string[], texts: readonly Leaf[], own: OwnProcess) {
  const folder = texts.find(({ field }) => folderFields.test(field))?.text
  const runs = anyWord(words, runners)
  return {
    own,
    base: folder === undefined || /[*$\n]/.test(folder) ? own.folder : absolutePath(folder, own.folder, own),
    runs,
    searches: !runs && anyWord(words, searchTools),
    takesFolders: anyWord(words, folderTools),
    searchesFiles: anyWord(words, /^(?:grep|rg|search)$/),
    changes: anyWord(words, changers),
    /** It may run programs in other languages. */
    runsCode: anyWord(words, codeTools),
    lists: anyWord(words, globTools) && !anyWord(words, /^(?:grep|content)$/),
    writesScript: texts.some(({ role, text }) => role === "path" && scriptFile.test(text.trim())),
  }
}

type ToolClass = Readonly<ReturnType<typeof classifyTool>>

function findingInLeaves(tool: string, leaves: readonly Leaf[], own: OwnProcess): string | undefined {
  const words = wordsOf(tool)
  const texts = leaves.filter(({ value }) => typeof value === "string")
  const isOurs = ({ text }: Leaf): boolean =>
    text.trim() === String(own.pid) || /^holdfast(?:\.service)?$/i.test(text.trim())
  if (anyWord(words, endTools) && leaves.some(isOurs)) return "end or signal its process"
  const setting = classifyTool(words, texts, own)
  return firstFinding(texts, (leaf) => findingInLeaf(leaf, setting))
}

/** Returns the first finding among several items. */
function firstFinding<One>(all: readonly One[], deedOf: (one: One) => string | undefined): string | undefined {
  for (const one of all) {
    const deed = deedOf(one)
    if (deed !== undefined) return deed
  }
  return undefined
}

function findingInLeaf(leaf: Leaf, setting: ToolClass): string | undefined {
  const { text, role, keys, field } = leaf
  const { own, base, runs } = setting
  if (own.secrets.some((secret) => text.includes(secret))) return "use its token or the address of its store"
  const patched = foundIn(text, patchHeader).map((path) => path.replace(/\t.*$/, "").trim())
  if (patched.length > 0) {
    const deed = firstFinding(patched, (path) =>
      findingInPath(path.split(" b/")[0] ?? path, { ...setting, changes: true }),
    )
    if (deed !== undefined || !runs || /^\s*\*\*\* Begin Patch/.test(text)) return deed
  }
  const isProgram = role === "command" || role === "code" || keys.length === 0
  if (isProgram || (runs && role !== "path" && role !== "url")) return findingInProgram(text, setting, role === "code")
  if (role === "url" || /^\s*https?:\/\//i.test(text)) return callsAdmin(text, own) ? "call its admin API" : undefined
  const isPattern = setting.lists && field === "pattern"
  if (!isPattern && role !== "path" && (role === "body" || role === "subject" || proseFields.test(field))) {
    if (setting.writesScript || /^#!/.test(text)) return findingInProgram(text, setting, false)
    if (/\b(?:attach|readfile|writefile|load_extension|copy|vacuum into)\b/i.test(text) && role === "sql")
      return findingInText(text, base, own)
    return undefined
  }
  if (setting.searches && role !== "path" && !/^(?:glob|include|path)/.test(field)) return undefined
  if (/\s/.test(text.trim()) && role !== "path") return findingInText(text, base, own)
  return firstFinding(text.split("\n"), (line) => findingInPath(line.trim(), setting))
}

/** True if a folder is the other one or above it. */
function isAbove(folder: string, other: string): boolean {
  const [above, below] = [namesOf(folder), namesOf(other)]
  return above.every((name, at) => name === below[at])
}

function findingInPath(
  path: string,
  { own, base, takesFolders, changes, searchesFiles }: ToolClass,
): string | undefined {
  for (const from of base === own.folder ? [base] : [base, own.folder]) {
    const touch = touchOf(path, from, own)
    if (touch === undefined || (touch.file.isReadable === true && !changes)) continue
    // A search prints what it finds below a folder; the agent's own working folder is allowed.
    const isSearched = searchesFiles && !isAbove(absolutePath(path, from, own), own.folder)
    if (touch.relation === "own" || takesFolders || isSearched) return touchSentence(touch)
  }
  return undefined
}

function findingInText(text: string, base: string, own: OwnProcess): string | undefined {
  const touch = touchInText(text, base, own)
  return touch === undefined || touch.file.isReadable === true ? undefined : touchSentence(touch)
}

// Programs

function findingInProgram(text: string, setting: ToolClass, isCode: boolean): string | undefined {
  const { own, base } = setting
  if (callsAdmin(text, own)) return "call its admin API"
  // Windows paths: the shell parser would read the backslashes as escapes.
  if (/\.\\+\.holdfast\b|\.holdfast\\+\w/i.test(text)) return "read or change its folder .holdfast"
  const named = own.secretNames.find((name) =>
    new RegExp(`\\$\\{?${name}\\b|(?:environ|env|getenv)\\W{1,3}${name}\\b`).test(text),
  )
  if (named !== undefined) return "read the variable that holds its token"
  const script = readCommands(text, base, own)
  const deed = isCode ? undefined : findingInScript(script, own)
  const programs = isCode || setting.runsCode ? [{ text, base }, ...script.code] : script.code
  return (
    deed ??
    firstFinding(programs, (program) => findingInCode(program.text, program.base, own)) ??
    (script.tooMany ? unparsedFinding(text, own) : undefined)
  )
}

const findingInScript = ({ commands }: OwnScript, own: OwnProcess): string | undefined =>
  firstFinding(commands, (command) => findingInCommand(command, commands, own)) ?? actsOn(commands, own)

/** Commands that show only names and sizes of files. */
const listers = /^(?:ls|du|wc|stat|file|tree|dir|basename|dirname|realpath|readlink)$/

/** Commands that change the files they name. */
const writers =
  /^(?:rm|mv|cp|tee|truncate|ln|chmod|chown|dd|install|patch|rsync|unlink|shred|sponge|touch|ed|ex|vi|vim|nano|rimraf|del)$/

function findingInCommand(command: OwnCommand, all: readonly OwnCommand[], own: OwnProcess): string | undefined {
  const { base, name } = command
  const { words, leftOut } = fileWords(command)
  const changes = writers.test(name) || (/^(?:sed|perl)$/.test(name) && anyWord(command.words, /^-\w*i/))
  const touchesOf = (list: readonly string[]): readonly Touch[] =>
    (listers.test(name) ? list.filter((word) => !/(?:^|\/)[.*]+$/.test(word) || !word.includes("*")) : list)
      .flatMap((word) => pathsIn(word))
      .flatMap((path) => touchOf(path, base, own) ?? [])
  const written = touchesOf(command.writesTo).find(({ relation }) => relation === "own")
  if (written !== undefined) return touchSentence(written)
  const named = touchesOf([...words, ...command.readsFrom]).find(
    ({ relation, file }) => relation === "own" && (file.isReadable !== true || changes),
  )
  if (named !== undefined) return touchSentence(named)
  if (touchesOf(leftOut).some(({ relation }) => relation === "own")) return undefined
  const whole =
    name === "find"
      ? foundFolders(command, all, own)
      : wholeFolders(command, [...words, ...listedFolders(command, all)])
  const searched = isRecursiveSearch(command)
    ? words.filter((word) => !word.startsWith("-") && !isAbove(absolutePath(word, base, own), own.folder))
    : []
  const held = touchesOf([...whole, ...searched]).find(({ relation }) => relation === "holds")
  return held === undefined ? undefined : touchSentence(held)
}

const isRecursiveSearch = ({ name, words }: OwnCommand): boolean =>
  /^(?:rg|ag|ack)$/.test(name) ||
  (/^[efz]?grep$/.test(name) && anyWord(words, /^-\w*[rR]|^--(?:dereference-)?recursive$/))

/** Folders that `ls` lists with hidden names and passes to a command. */
function listedFolders({ around }: OwnCommand, all: readonly OwnCommand[]): readonly string[] {
  if (!around.some(isFed)) return []
  return all.flatMap(({ name, words }) => {
    if (name !== "ls" || !anyWord(words, /^-\w*[aA]|^--(?:almost-)?all$/)) return []
    const folders = words.filter((word) => !word.startsWith("-"))
    return folders.length === 0 ? ["."] : folders
  })
}

/** Folders in which `find` passes its results to a command or deletes them, if they may include our files. */
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
  return filters.length === 0
    ? roots
    : roots.filter((root) => filters.some((filter) => mayFind(filter, root, base, own)))
}

/** True if a filter of `find` may match one of our files below a folder. */
function mayFind(filter: string, root: string, base: string, own: OwnProcess): boolean {
  const above = namesOf(absolutePath(root, base, own))
  return own.files.some((file) => {
    const names = namesOf(file.path)
    if (file.isReadable === true || file.isAbsent === true || !above.every((name, at) => name === names[at]))
      return false
    const below = names.slice(above.length)
    return [...below, ...(file.isFolder === true ? own.namesBelow(file) : [])].some((name) =>
      filterMatches(filter, name),
    )
  })
}

/** True if a filter of `find` matches a name. Its stars match dots as well. */
const filterMatches = (filter: string, name: string): boolean =>
  globMatches((filter.slice(filter.lastIndexOf("/") + 1) || filter).toLowerCase(), name.toLowerCase())

/** Matches calls in other languages that take a whole folder, with their argument. */
const folderCalls = new RegExp(
  `\\b${anyOf(words.folderCalls)}\\s*\\(\\s*(process\\.cwd\\(\\)|os\\.getcwd\\(\\)|Dir\\.pwd|["'\`][^"'\`\\n]{0,1000}["'\`])`,
  "g",
)

function findingInCode(text: string, base: string, own: OwnProcess): string | undefined {
  if (codeEnds(text, own)) return "end or signal its process"
  const deed = findingInText(text, base, own)
  if (deed !== undefined) return deed
  for (const given of foundIn(text, folderCalls)) {
    const touch = touchOf(/^["'`]/.test(given) ? given.slice(1, -1) || "." : ".", base, own)
    if (touch?.relation === "holds") return touchSentence(touch)
  }
  return undefined
}
