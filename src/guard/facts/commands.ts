import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import words from "./command-words.json" with { type: "json" }
import { emptyList, type Finished, maxCommands, maxScriptDepth, type OpenKind, open } from "./leaf.ts"
import { operandsOf, optionValues } from "./options.ts"
import { readScript, type ShellCommand } from "./shell-syntax.ts"
import { unknownPart } from "./shell-words.ts"
import { anyWord, fold } from "./words.ts"
import { runByVariable, type WrappedRun, wrapperOf } from "./wrappers.ts"

/** One command that a script runs, without the wrapper programs around it. */
export type RunCommand = ShellCommand & {
  /** Program name without its folder; empty for a redirection alone. */
  readonly name: string
  /** Programs that run it, such as `sudo`, `xargs` or `ssh`. */
  readonly around: readonly string[]
  /** Words of those programs that say where it runs: a host, a container. */
  readonly places: readonly string[]
  /** Working folder set by a `cd` before it. */
  readonly directory?: string
  /** True if it mainly runs other commands of the list. */
  readonly wraps: boolean
}

/** Source code in another language that a command runs. */
export type RunCode = { readonly language: string; readonly text: string; readonly directory?: string }

/** Everything that a script runs, including scripts within scripts. */
export type RunScript = Finished<Omit<Running, "directory">>

/** `directory` is where a `cd` has led. */
type Running = ReturnType<typeof newRun> & { directory?: string }

const newRun = () => ({
  commands: emptyList<RunCommand>(),
  code: emptyList<RunCode>(),
  /** SQL texts for a database client, each with the command that passes it on. */
  sql: emptyList<{ readonly text: string; readonly by: RunCommand }>(),
  /** What is known only when it runs, with the reason: everything, or only the input of database clients. */
  unresolved: new Map<OpenKind, string>(),
  /** Content that it writes into files, undefined if unknown: it may run them later. */
  files: new Map<string, string | undefined>(),
  tooMany: false,
})

type Nesting = { readonly around: readonly string[]; readonly places: readonly string[]; readonly depth: number }

/** Collects what a shell script runs. Never throws; what it cannot tell is `unresolved`, with the reason. */
export function runOf(text: string): RunScript {
  const running: Running = newRun()
  runScript(running, text, { around: [], places: [], depth: 0 }, new Map())
  return running
}

function runScript(running: Running, text: string, where: Nesting, names: ShellCommand["sets"]): void {
  if (text.trim() === "") return
  if (where.depth > maxScriptDepth || running.commands.length > maxCommands) {
    running.tooMany = true
    return
  }
  const { commands, unparsed, tooMany } = readScript(text, names)
  running.tooMany ||= tooMany
  for (const command of commands) runCommand(running, command, where)
  if (!unparsed) return
  unresolved(running, "a part of the script is not in the grammar of the shell")
  if (text.length > maxPieces * 100) return
  // Read the pieces that can be parsed all the same, command by command.
  for (const piece of text.split(/[;\n&|]+/).slice(0, maxPieces)) {
    const bare = piece.replace(/^\s*(?:(?:if|then|elif|else|while|until|do|time|!|\{|\()\s*)+/, "")
    if (bare.trim() === "" || bare === text) continue
    for (const command of readScript(bare, names).commands) runCommand(running, command, deeper(where))
  }
}

/** Maximum number of pieces read of a script that the parser rejects. */
const maxPieces = 200

/** File name of a program's path, in lower case and without `.exe`. */
const baseName = (word: string): string =>
  fold(word.slice(-300))
    .replace(/^.*[/\\]/, "")
    .replace(/\.exe$/, "")

const unresolved = (running: Running, why: string, kind: "everything" | "statements" = "everything"): void =>
  open(running.unresolved, kind, why)

const isUnknown = (text: string): boolean => text.includes(unknownPart)

function runCommand(running: Running, command: ShellCommand, where: Nesting): void {
  const [head = "", ...rest] = command.words
  const name = baseName(head)
  if (isUnknown(head) || (/[*?[]/.test(head) && head !== "[" && head !== "[[")) {
    unresolved(running, "the program that it runs is known only when it runs")
    running.commands.push({ ...command, name: "", wraps: true, ...placeOf(running, where) })
    return
  }
  const wrapped = wrapperOf(name, rest, command)
  const isReplaced = wrapped !== undefined && wrapped.argv.length + wrapped.scripts.length > 0
  // A wrapper without a command to run is a command of its own: `env` prints the environment.
  const wraps = isReplaced && !hasOwnWork.test(name)
  running.commands.push({ ...command, name, wraps, ...placeOf(running, where) })
  writeFiles(running, command)
  if (name === "cd" || name === "pushd" || name === "chdir" || name === "set-location") changeDirectory(running, rest)
  if (isReplaced) runInner(running, command, wrapped, { ...where, around: [...where.around, name] })
  else if (wrapped?.unresolved !== undefined) unresolved(running, wrapped.unresolved)
  runPrograms(running, command, name, where)
  runVariables(running, command, name, where)
}

/** Reads what variables make programs run, whether set for one command or for all that follow. */
function runVariables(running: Running, { sets, words }: ShellCommand, name: string, where: Nesting): void {
  const given = /^(?:export|declare|typeset|env|set|setx)$/.test(name) ? words.slice(1) : []
  const named = given.flatMap((word): readonly (readonly [string, string])[] => {
    const [, key = "", value = ""] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(word) ?? []
    return key === "" ? [] : [[key, value]]
  })
  const set = [...sets].flatMap(([key, values]) => values.map((value): readonly [string, string] => [key, value]))
  for (const [key, value] of [...set, ...named]) {
    const { script, unresolved: why } = runByVariable(key, value)
    if (why !== undefined) unresolved(running, why)
    if (script !== undefined && where.depth < maxScriptDepth)
      runScript(running, script, deeper(where, [key]), new Map())
  }
}

/** Matches programs that do something themselves beside the commands that their options run. */
const hasOwnWork = /^(?:git|tar|rsync|man|less|n?vim?|ex|ed|gdb|socat|nc|ncat|netcat|make|crontab|expect)$/

const placeOf = ({ directory }: Running, { around, places }: Nesting) => ({ around, places, ...present({ directory }) })

function changeDirectory(running: Running, words: readonly string[]): void {
  const to = words.find((word) => !/^[-+]/.test(word)) ?? "~"
  const isRooted = /^(?:[/~$]|[a-z]:)/i.test(to) || isUnknown(to)
  running.directory = isRooted || running.directory === undefined ? to : `${running.directory}/${to}`
}

/** Records what a command writes into a file, as far as that is known. */
function writeFiles(running: Running, { words, writesTo, prints, given, piped }: ShellCommand): void {
  const name = baseName(words[0] ?? "")
  const rest = words.slice(1)
  const known = given.length > 0 ? given.join("\n") : undefined
  const teed = name === "tee" ? rest.filter((word) => !word.startsWith("-")) : []
  for (const path of [...writesTo, ...teed]) running.files.set(bareFile(path), prints ?? known)
  const isGiven = given.length > 0 || piped
  if (!isGiven && !/^(?:curl|wget|aria2c|http|https|xh)$/.test(name)) return
  const isCompiler = /^(?:gcc|g\+\+|cc|c\+\+|clang|clang\+\+|rustc|tcc|ghc)$/.test(name)
  const named = optionValues(rest, /^(?:-o|-O|--output|--output-document|-out|--outfile)$|^(?:--output=|of=)(.+)/)
  const copied = isGiven && /^(?:cp|install|mv|ln)$/.test(name) && anyWord(rest, /^\/dev\/(?:stdin|fd\/0)$|^-$/)
  const target = copied ? [rest.at(-1) ?? ""] : isGiven && isCompiler && named.length === 0 ? ["a.out"] : []
  for (const path of [...named, ...target]) running.files.set(bareFile(path), isCompiler ? undefined : known)
}

const bareFile = (path: string): string => path.replace(/^\.\//, "")

function runInner(running: Running, command: ShellCommand, inner: WrappedRun, where: Nesting): void {
  const within = { ...deeper(where), places: [...where.places, ...inner.places] }
  if (inner.unresolved !== undefined) unresolved(running, inner.unresolved)
  for (const words of inner.argv) {
    if (where.depth >= maxScriptDepth) running.tooMany = true
    else runCommand(running, { ...command, writesTo: [], readsFrom: [], words }, within)
  }
  for (const script of inner.scripts) runKnown(running, script, within, command.sets)
}

// Shells, interpreters, database clients

const shells = /^(?:r?ba|z|da|k|mk|fi|a|c|tc|el|x?on)?sh$|^(?:pwsh|powershell|cmd)$/
const interpreters = new RegExp(`^${anyOf(words.interpreters)}$`)
const clients = new RegExp(`^${anyOf(words.databaseClients)}$`)
const documentClients = /^(?:mongo|mongosh|redis-cli|valkey-cli|couchbase-cli|cbq|etcdctl|influx)$/

function runPrograms(running: Running, command: ShellCommand, name: string, where: Nesting): void {
  if (shells.test(name)) runShell(running, command, name, where)
  else if (name === "source" || name === ".") runFile(running, command.words[1] ?? "", where)
  else if (interpreters.test(name)) runInterpreter(running, command, name)
  else if (/^\.?\.?\/|\.(?:sh|bash|zsh)$/.test(command.words[0] ?? "")) runFile(running, command.words[0] ?? "", where)
  if (clients.test(name)) runClient(running, command, name, where)
  if (documentClients.test(name)) {
    running.code.push(
      { language: "document", text: command.words.slice(1).join(" ") },
      ...command.given.map((text) => ({ language: "document", text })),
    )
    const isRead = anyWord(
      command.words.slice(1),
      /^(?:get|mget|keys|info|ttl|(?:--)?scan|hget|hgetall|lrange|llen|smembers|zrange|dbsize|ping|exists|type|strlen|select)$/i,
    )
    if (
      command.piped ||
      command.words.some(isUnknown) ||
      (/^(?:redis|valkey)-cli$/.test(name) && !isRead && command.words.length > 1)
    )
      unresolved(running, `what ${name} is told is known only when it runs`, "statements")
  }
}

const hiddenScript = "a script that it runs is known only when it runs"
const hiddenFile = "it runs a file that it has written, and what is in it is known only when it runs"

/** Reads a file that is run, if the script wrote it before. */
function runFile(running: Running, path: string, where: Nesting): void {
  const bare = bareFile(path)
  if (isUnknown(path) || /^\/(?:dev\/(?:fd|stdin|tcp|udp)|proc\/self\/fd)/.test(path)) {
    unresolved(running, hiddenScript)
    return
  }
  if (!running.files.has(bare)) return
  const text = running.files.get(bare)
  if (text === undefined) unresolved(running, hiddenFile)
  else runScript(running, text, deeper(where), new Map())
}

const deeper = ({ around, places, depth }: Nesting, by: readonly string[] = []): Nesting => ({
  around: [...around, ...by],
  places,
  depth: depth + 1,
})

/** Reads a script whose first word at least is known. */
function runKnown(running: Running, script: string, where: Nesting, sets: ShellCommand["sets"]): void {
  if (isUnknown(script.trim().split(/\s/)[0] ?? "")) unresolved(running, hiddenScript)
  else runScript(running, script, where, sets)
}

function runShell(running: Running, command: ShellCommand, name: string, where: Nesting): void {
  const words = command.words.slice(1)
  const option = name === "cmd" ? /^\/[ck]$/i : /^-\w*c$|^--command$|^-(?:command|encodedcommand|enc|ec|e)$/i
  const at = words.findIndex((word) => option.test(word))
  const within = deeper(where, [name])
  if (at >= 0) {
    const isWindows = /^(?:cmd|pwsh|powershell)$/.test(name)
    const given = words.slice(at + 1)
    if (/^-e(?:nc|c|ncodedcommand)?$/i.test(words[at] ?? "") && isWindows)
      unresolved(running, "the script is given in an encoding")
    const script = isWindows ? given.join(" ") : (given.find((word) => word !== "-o") ?? "")
    runKnown(running, script, within, command.sets)
    return
  }
  const [file] = operandsOf(words, /^[-+]o$|^--(?:rcfile|init-file)$/).filter((word) => !word.startsWith("+"))
  const readsInput = file === undefined || anyWord(words, /^-\w*s/) || file === "/dev/stdin" || file === "-"
  if (file !== undefined && !readsInput) runFile(running, file, within)
  if (!readsInput) return
  for (const text of command.given) runKnown(running, text, within, command.sets)
  if (command.piped) unresolved(running, `${name} runs what another command prints`)
  for (const path of command.readsFrom) runFile(running, path, within)
}

const inlineOptions: readonly (readonly [programs: RegExp, option: RegExp])[] = [
  [/^(?:python|pypy)/, /^-\w*c$/],
  [/^(?:node|nodejs|tsx|ts-node|bun)$/, /^-(?:e|p|pe|r)$|^--(?:eval|print|require|import)$/],
  [/^deno$/, /^eval$/],
  [
    /^(?:ruby|perl|raku|lua|elixir|osascript|julia|groovy|r|rscript|scala|guile|racket|sbcl|ghc|erl)/,
    /^-\w*[eE]$|^--e(?:val)?$/,
  ],
  [/^php/, /^-[rBRE]$/],
  [/^emacs$/, /^--(?:eval|execute)$/],
]

/** Matches a program in the same word as its option, after letters of options without a value. */
export const attachedProgram = /^-[acnlpswuW]*[eE](.+)$/s

const languageOf = (name: string): string =>
  /^(?:python|pypy)/.test(name) ? "python" : /^(?:node|nodejs|deno|bun|tsx|ts-node)$/.test(name) ? "javascript" : name

function runInterpreter(running: Running, command: ShellCommand, name: string): void {
  const words = command.words.slice(1)
  const hidden = `the program that ${name} runs is known only when it runs`
  const add = (text: string): void => {
    const { directory } = running
    if (isUnknown(text.trim().slice(0, 1))) unresolved(running, hidden)
    else running.code.push({ language: languageOf(name), text, ...present({ directory }) })
  }
  if (/awk$/.test(name)) {
    operandsOf(words, /^-[vFf]$/)
      .slice(0, 1)
      .forEach(add)
    return
  }
  const option = inlineOptions.find(([programs]) => programs.test(name))?.[1]
  const texts = option === undefined ? [] : optionValues(words, option)
  // Perl and Ruby take a program in the same word as its option: `-pe1`.
  const attached = /^(?:perl|ruby)/.test(name) ? words.flatMap((word) => attachedProgram.exec(word)?.[1] ?? []) : []
  // Modules that are loaded by an option (`perl -MSocket`) are part of the program.
  const modules = words.flatMap((word) => /^-[Mr]([\w:./-]+)/.exec(word)?.[1] ?? [])
  const loaded = modules.map((module) => `${module}::\n`).join("")
  const inline = attached.length > 0 ? attached : texts.map((text) => `${loaded}${text}`)
  for (const text of inline) add(text)
  if (inline.length > 0) return
  const file = words.find((word) => !word.startsWith("-") && word !== "run")
  const readsInput = file === undefined || file === "/dev/stdin"
  if (readsInput && !words.includes("-m") && !anyWord(words, /^-(?:V|v|h)$|^--(?:version|help)/)) {
    for (const text of command.given) add(text)
    if (command.piped) unresolved(running, `${name} runs what another command prints`)
  } else if (file !== undefined && running.files.has(bareFile(file))) {
    const text = running.files.get(bareFile(file))
    if (text === undefined) unresolved(running, hiddenFile)
    else add(text)
  } else if (file !== undefined && (isUnknown(file) || /^\/dev\/fd/.test(file))) unresolved(running, hidden)
}

/** Options of database clients whose value is not a statement. */
const clientOptions =
  /^-[hpUdPuSDwWfoLvs]$|^--(?:host|port|user|username|dbname|database|password|file|output|server|account|warehouse|role|schema|format)$/

function runClient(running: Running, command: ShellCommand, name: string, where: Nesting): void {
  const by = { ...command, name, wraps: false, ...placeOf(running, where) }
  const words = command.words.slice(1)
  const isSqlite = /^(?:sqlite3?|duckdb|litecli)$/.test(name)
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? ""
    const inside = /^(?:--(?:command|execute|query|sql|eval)=|-[ceQq](?=.))(.*)$/s.exec(word)?.[1]
    const isStatement = /^-[ceQq]$|^--(?:command|execute|query|sql|eval)$/.test(before) || inside !== undefined
    const isOperand = !word.startsWith("-") && !clientOptions.test(before) && /\s|^\./.test(word)
    if (!isStatement && !isOperand && !(isUnknown(word) && !clientOptions.test(before) && isSqlite)) continue
    const text = inside ?? word
    if (isUnknown(text)) unresolved(running, `the statement for ${name} is known only when it runs`, "statements")
    if (text.trim() !== unknownPart) running.sql.push({ text: text.replaceAll(unknownPart, "?"), by })
  }
  for (const text of [...words, ...command.given]) runClientCommands(running, text, where)
  running.sql.push(...command.given.map((text) => ({ text, by })))
  const reads = command.readsFrom.length > 0 || anyWord(words, /^-f$|^--file|^-i$/)
  if (command.piped || reads) unresolved(running, `the statements for ${name} come from elsewhere`, "statements")
}

/** Reads commands of the clients themselves: `.shell` and `\\!` run a program, `.read` and `\\i` read statements from a file. */
function runClientCommands(running: Running, text: string, where: Nesting): void {
  for (const line of text.split("\n").slice(0, 200)) {
    const shell =
      /^\s*(?:\.(?:shell|system)|\\!|system\s)\s*(.+)$/.exec(line)?.[1] ??
      /\b(?:to|from)\s+program\s+'([^']+)'/i.exec(line)?.[1]
    if (shell !== undefined) runScript(running, shell, deeper(where, ["client"]), new Map())
    const path = /^\s*(?:[.\\](?:\w+)|source)\s+(?:\S+\s+(?:from|to)\s+)?['"]?([^\s'"]+)/i.exec(line)?.[1]
    if (
      path === undefined ||
      !/^\s*(?:\.(?:read|import|output|once|open|backup|restore|save)|\\(?:i|ir|o|include|copy|out)|source)\b/i.test(
        line,
      )
    )
      continue
    const name = /^\s*[.\\]?(?:read|i|ir|include|source)\b/i.test(line) ? "cat" : "tee"
    running.commands.push({
      words: [name, path],
      name,
      writesTo: [],
      readsFrom: [],
      given: [],
      piped: false,
      sets: new Map(),
      wraps: false,
      ...placeOf(running, where),
    })
    if (name === "cat") unresolved(running, "statements come from a file", "statements")
  }
}
