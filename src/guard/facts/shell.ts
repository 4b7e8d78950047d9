import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { type Environment, environmentsIn, targetEnvironments } from "./action.ts"
import { readFiles, wordless } from "./command-files.ts"
import {
  environmentsOf,
  isBuild,
  pricedField,
  readHost,
  readHosts,
  readMail,
  readPayment,
  readRegions,
} from "./command-reach.ts"
import {
  changesSomething,
  deletesRefs,
  destructions,
  type Effect,
  effectsOf,
  fetchesPackages,
  isDryRun,
  isLocalProgram,
  selects,
} from "./command-table.ts"
import words from "./command-words.json" with { type: "json" }
import { type RunCode, type RunCommand, type RunScript, runOf } from "./commands.ts"
import { destroyedBy, mutationsIn } from "./graphql.ts"
import { isPaymentUrl } from "./hosts.ts"
import { emptyList, type OpenKind, open, openAll } from "./leaf.ts"
import { fromOperand } from "./options.ts"
import { type PathFact, pathFact } from "./paths.ts"
import { opensSecret, printsSecret, secretStore } from "./secrets.ts"
import { asPattern, unknownPart } from "./shell-words.ts"
import { maySendFiles, sendsFiles } from "./transfers.ts"
import { anyWord, fold } from "./words.ts"

/** One command of a script, without the wrapper programs around it. */
export type CommandFact = {
  readonly name: string
  /** The command with its words, as one line. */
  readonly line: string
  readonly effects: ReadonlySet<Effect>
  /** Standard input of a program that is no interpreter, if it is known. */
  readonly fed?: string
  /** True if it changes only files of this machine, none of which is named after production. */
  readonly isLocal?: boolean
}

/** What is destroyed, and in which environments. */
export type Destruction = { readonly kind: string; readonly environments: readonly Environment[] }

type Reading = ReturnType<typeof newReading>

const newReading = () => ({
  commands: emptyList<CommandFact>(),
  paths: emptyList<PathFact>(),
  hosts: emptyList<string>(),
  destructions: emptyList<Destruction>(),
  environments: emptyList<Environment>(),
  /** Addresses given to a mail program. */
  mailed: emptyList<string>(),
  /** Texts that its commands send to people. */
  told: emptyList<string>(),
  open: new Map<OpenKind, string>(),
  /** Environment of commands that do not name one, as an earlier command selected it. */
  selected: emptyList<Environment>(),
})

/** Reads what a script does, and what others have to read in turn: statements, programs, and the files that it writes. */
export function shellFacts(text: string) {
  const run = runOf(text)
  const reading = newReading()
  openAll(reading.open, run.unresolved)
  for (const command of run.commands) readCommand(reading, command)
  readEnvironmentDump(reading, run)
  // A build tool that is given a file which the script has written runs what is in it.
  const isWritten = (word: string): boolean => run.files.has(word.replace(/^-{1,2}[\w-]*=?/, "")) || run.files.has(word)
  for (const { name, words } of run.commands)
    if (runsGivenFile.test(name) && words.slice(1).some(isWritten))
      open(reading.open, "everything", `${name} runs a file that was written before, and what that does is not known`)
  // Source files that a script writes and then builds or tests are run.
  const builds = run.commands.some(({ name }) => building.test(name))
  const sources = [...run.files].flatMap(([path, source]): readonly RunCode[] =>
    builds && source !== undefined && sourceFile.test(path) ? [{ language: "other", text: source }] : [],
  )
  if (printsSecret(text)) reading.paths.push(secretStore)
  const sql = run.sql.map((one) => ({ text: one.text, environments: environmentsOf(one.by) }))
  /** What it writes into system settings, each as the path and the content. */
  const settings = [...run.files].flatMap(([path, text]) => {
    if (/^\/(?:sys|proc|etc)\//.test(path)) return [`${path} ${text ?? ""}`]
    return path.startsWith("/var/log/") ? [`overwrite ${path}`] : []
  })
  return { ...reading, sql, code: [...run.code, ...sources], written: run.files, settings, tooMany: run.tooMany }
}

const runsGivenFile =
  /^(?:g?make|just|task|ninja|rake|ant|mvn|gradle|cmake|bazel|docker|expect|ansible-playbook|act|skaffold|tilt)$/
const building = new RegExp(`^${anyOf(words.builders)}$`)
const sourceFile =
  /\.(?:go|rs|java|kt|kts|c|cc|cpp|cxx|h|hpp|cs|swift|scala|hs|zig|ts|tsx|mts|js|jsx|mjs|cjs|py|rb|php)$/i

/** Reads secrets that leave by the network or are searched for in a dump of the environment, which is full of keys. */
function readEnvironmentDump(reading: Reading, { commands }: RunScript): void {
  const dumps = reading.commands.some(({ line }) =>
    /^(?:printenv|env|set|export -p|declare -[px]+|export|typeset -p)$/.test(line),
  )
  const sought = reading.commands.find(({ name }) => /^(?:[ef]?grep|rg|awk|sed|findstr|select-string)$/.test(name))
  if (dumps && sought !== undefined && /key|secret|token|passw|credential|auth/i.test(sought.line))
    reading.paths.push(pathFact("/proc/self/environ", "read"))
  const leaves = reading.commands.some(({ effects }) => effects.has("network"))
  if (dumps && leaves) reading.paths.push(pathFact("/proc/self/environ", "read"))
  if (!leaves) return
  const secret = commands.some(
    ({ words, given, name }) =>
      isSending(name, words) && [...words, ...given].some((word) => word.includes(unknownPart)),
  )
  if (secret) open(reading.open, "secrets", "what it sends is in a variable")
  if (commands.some(sendsData))
    open(reading.open, "personal", "what it sends is in a file, or comes from another command")
}

/** True if what a command sends is not in its words: a file that it uploads, or what another command prints. */
const sendsData = ({ name, words, piped, readsFrom }: RunCommand): boolean => {
  if (!isSending(name, words)) return false
  const isFed = piped || readsFrom.length > 0
  if (
    /^(?:ftp|sftp)$/.test(name) ||
    maySendFiles(name, words.slice(1)) ||
    (isFed && !/^(?:curl|wget|http|https|xh)$/.test(name))
  )
    return true
  return words.some(
    (word, at) =>
      /^(?:-[a-zA-Z]*T|--upload-file|--post-file|--body-file)/.test(word) ||
      /(?:^|=)[@<][\w./~-]/.test(words[at - 1]?.startsWith("-") === true || /^--?\w[\w-]*=/.test(word) ? word : ""),
  )
}

const isSending = (name: string, words: readonly string[]): boolean =>
  maySendFiles(name, words.slice(1)) ||
  /^(?:nc|ncat|netcat|socat|telnet|mail|mailx|sendmail|mutt|ftp|sftp)$/.test(name) ||
  (/^(?:curl|wget|http|https|xh)$/.test(name) &&
    anyWord(words, /^-[a-zA-Z]*[dFT]$|^--(?:data|form|upload|json|post|body)/))

/** Normalizes a word to recognize commands; capitals are kept only in short options, where they have a meaning. */
const plainWord = (word: string): string => {
  const known = asPattern(word)
  return /^-[\w.=-]*$/.test(known) && !known.startsWith("--") ? known : fold(known)
}

/** A command as one line; for git, the options before its verb are dropped. */
function lineOf(name: string, words: readonly string[]): string {
  if (name !== "git" && name !== "hub") return [name, ...words.map(plainWord)].join(" ")
  const own = fromOperand(words, /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path))$/)
  return ["git", ...(own.length === 0 ? words : own).map(plainWord)].join(" ")
}

function readCommand(reading: Reading, command: RunCommand): void {
  const { name, around, writesTo, readsFrom } = command
  const words = command.words.slice(1)
  const line = lineOf(name, words)
  const isDry = isDryRun(name, words)
  const wraps = command.wraps && !/^(?:npm|pnpm|yarn|bun) (?:pkg set|set-script) /.test(line)
  const ofProgram = effectsOf(name, line)
  const known = sendsFiles(name, words) ? new Set<Effect>([...ofProgram, "send"]) : ofProgram
  const effects = new Set(
    wraps || isDry
      ? [...known].filter(
          (effect) =>
            effect === "network" ||
            effect === "privilege" ||
            effect === "read" ||
            // A package fetched to be run once counts as an install; what npx runs is usually installed already.
            (effect === "install" &&
              (/^(?:uvx|pipx)$/.test(name) ||
                /^\S+ (?:.* )?(?:-y|--yes|create-\S+|\S+@(?:latest|next|\d)\S*)(?= |$)/.test(line))),
        )
      : known,
  )
  if (isDry) effects.add("read")
  if (command.words.length === 0) effects.clear()
  if (around.some((wrapper) => /^(?:sudo|doas|chroot|su|nsenter|runuser)$/.test(wrapper))) effects.add("privilege")
  if (name === "tee" && words.every((word) => /^-|^\/dev\/(?:null|std\w+|tty)$/.test(word))) effects.delete("write")
  const named = environmentsOf(command)
  const isHere = command.places.length === 0 && around.every((wrapper) => localWrappers.test(wrapper))
  const isLocal = isHere && (!changesSomething(effects) || (localChange.test(name) && !named.includes("production")))
  if (writesTo.some((to) => !/^\/dev\/(?:null|std\w+|tty|fd\/\d+)$/.test(to) && to !== "")) effects.add("write")
  if (command.words.length === 0 && writesTo.length + readsFrom.length === 0) return
  const environments = named.length > 0 ? named : reading.selected
  const chosen = selects.exec(line)?.[1]
  if (chosen !== undefined) reading.selected = [...targetEnvironments([chosen])]
  const isPlace = [...writesTo, command.directory ?? ""].some((to) =>
    environmentsIn(to.toLowerCase(), false).includes("production"),
  )
  reading.commands.push({
    name,
    line: line.slice(0, 4_000),
    effects,
    isLocal: isLocal && !isPlace,
    ...present({ fed: inputOf(command) }),
  })
  reading.environments.push(...named)
  readDestructions(reading, command, line, environments)
  if (systemFiles.test(name)) reading.paths.push(pathFact("/etc/passwd", "write"))
  if (!isInline(name, words))
    readProductionActs(
      reading,
      line,
      isLocal ? new Set([...effects].filter((effect) => effect !== "write")) : effects,
      environments,
    )
  readUnknownEffects(reading, command, effects)
  readFiles(reading, command, effects)
  readReachedHosts(reading, command, words, effects)
  if (opensSecret(name, words, line)) reading.paths.push(secretStore)
  if (effects.has("send") && words.some(isPaymentUrl)) effects.add("pay")
  readMail(reading, command, words, line, effects)
  if (effects.has("send"))
    reading.told.push(...[...words, ...command.given].filter((word) => /\s\S+\s/.test(word)).slice(0, maxTold))
  readRegions(reading, command, line, effects)
  if (fetchesPackages(line, [...command.sets.keys()]))
    open(reading.open, ["network", "hosts"], `${name} fetches the packages that it does not have yet`)
  if (effects.has("send") && [...words, ...command.given].some((word) => pricedField.test(word))) effects.add("pay")
  readPayment(reading, name, words, effects)
}

/** Reads the hosts that a command reaches: by its words, by a proxy, by a file that is a connection. */
function readReachedHosts(reading: Reading, command: RunCommand, words: readonly string[], effects: Set<Effect>): void {
  const { name, writesTo, readsFrom } = command
  if (effects.has("network") || effects.has("install")) readHosts(reading, command, words)
  else if (!wordless.test(name) && (effects.has("unknown") || effects.has("execute")))
    for (const word of words)
      if (/^[a-z][a-z\d+.-]*:\/\/[^/]/i.test(word)) readHost(reading, word, { name, before: "", isFirst: false })
  // With a proxy, the proxy is the host that is contacted.
  for (const [key, values] of command.sets)
    if (/_proxy$/i.test(key)) for (const value of values) readHost(reading, value, { name, before: "", isFirst: false })
  for (const word of words) {
    const proxy = /^\w*_proxy=(.+)$/i.exec(word)?.[1] ?? /^url\.(.+)\.insteadof=/i.exec(word)?.[1]
    if (proxy !== undefined) readHost(reading, proxy, { name, before: "", isFirst: false })
  }
  for (const to of [...writesTo, ...readsFrom]) {
    const host = /^\/dev\/(?:tcp|udp)\/([^/]+)/.exec(to)?.[1]
    if (host?.includes(unknownPart) === true) open(reading.open, "hosts", "the host of a connection is in a variable")
    else if (host !== undefined) reading.hosts.push(host)
    if (host !== undefined) effects.add("network")
  }
}

const inputOf = ({ name, given }: RunCommand): string | undefined =>
  given.length === 0 ||
  /^(?:cat|tee|\w*sh|python[\d.]*|node|ruby|perl|php|psql|mysql|sqlite3|mail\w*|git|curl|jq|grep|sed|awk)$/.test(name)
    ? undefined
    : given.join(" ").slice(0, 2_000)

/** Matches wrappers that run a command on this machine. */
const localWrappers =
  /^(?:sudo|env|nohup|time|timeout|nice|ionice|stdbuf|bash|sh|zsh|dash|ksh|xargs|find|fd|trap|eval)$/
/** Matches programs that change files of this machine and nothing else. */
const localChange =
  /^(?:cp|mv|rm|rmdir|unlink|touch|mkdir|mktemp|tee|truncate|ln|chmod|g?sed|awk|gawk|sort|split|csplit|tar|gzip|gunzip|zip|unzip|bzip2|xz|zstd|patch|dos2unix|sponge)$/

/** Maximum number of texts of one command whose language is detected. */
const maxTold = 50

/** Reads what a command destroys, by its words, by options of git or by a GraphQL mutation in it. */
function readDestructions(
  reading: Reading,
  command: RunCommand,
  line: string,
  environments: readonly Environment[],
): void {
  const { name } = command
  const words = command.words.slice(1)
  const isDry = isDryRun(name, words)
  for (const [kind, pattern] of destructions)
    if (!isDry && pattern.test(line.slice(0, 2_000))) reading.destructions.push({ kind, environments })
  // Items that come through a pipe are deleted with everything in them.
  if (command.piped && /^(?:remove-item|ri|del|erase)$/.test(name))
    reading.destructions.push({ kind: "files", environments })
  for (const word of words)
    if (word.includes("mutation") && !isDry)
      for (const kind of mutationsIn(word.replaceAll('\\"', '"')).flatMap((one) => destroyedBy(one) ?? []))
        reading.destructions.push({ kind, environments })
  if (name === "git") readGitOptions(reading, words, line)
  if (name === "git" && (deletesRefs.test(line) || !readOnlyGit.test(line)) && isSharedRepository(command))
    reading.destructions.push({ kind: "repository", environments })
}

/** Matches programs that change the accounts and settings of the system, whose files are in one place. */
const systemFiles = new RegExp(`^${anyOf(words.systemFiles)}$`)

/** Reads `-c` options of git as if they had been configured before, and a push whose words are not all known. */
function readGitOptions(reading: Reading, words: readonly string[], line: string): void {
  for (const [at, word] of words.entries()) {
    const [, key = "", value = ""] = words[at - 1] === "-c" ? (/^([^=]+)=(.*)$/s.exec(word) ?? []) : []
    if (key === "") continue
    const set = `git config ${key.toLowerCase()} ${value}`
    for (const [kind, pattern] of destructions)
      if (pattern.test(set)) reading.destructions.push({ kind, environments: [] })
  }
  if (!/^git (?:push|send-pack)\b/.test(line) || !words.some((word) => word.startsWith(unknownPart))) return
  open(reading.open, "statements", "what git pushes, and how, is known only when it runs")
}

/** Matches git commands that change nothing. */
const readOnlyGit = new RegExp(`^git(?: --?\\S+)*${anyOf(` ${anyOf(words.gitLooks)}(?= |$)`, "$")}`)

/** True if git runs in a shared repository: over ssh, or in a bare one (`x.git`). */
const isSharedRepository = ({ around, directory = "", words }: RunCommand): boolean =>
  around.includes("ssh") ||
  [directory, ...words].some((word) => /[\w-]\.git\/?$/.test(word) && !/^[a-z+]+:\/\/|@/.test(word))

/** True for a shell or an interpreter with its program in its words: that program is read separately. */
const isInline = (name: string, words: readonly string[]): boolean =>
  /^(?:\w*sh|cmd|python[\d.]*|node|nodejs|bun|deno|ruby|perl|php|lua|rscript|osascript|julia|pwsh|powershell)$/.test(
    name,
  ) && anyWord(words, /^(?:-\w*[ceEpr]|--(?:eval|print|command)|-command|\/c|eval)$/i)

const deletingWords = new RegExp(
  anyOf(`(?:^|[\\s_:-])${anyOf(words.takesAway)}(?:[\\s_:-]|$)`, "-X ?delete|--clean\\b|\\bdown\\b.*-v\\b|--delete\\b"),
  "i",
)

/** Matches sub-commands that transfer something over a network. */
const networkSubcommands =
  /\s(?:upload|download|push|pull|publish|sync|deploy|fetch|clone|connect|send|login|share|tunnel|expose|submit|export-to|mirror)\s/

/**
 * Reads commands that act on production and are not known to only look: they may destroy something, and a word for deleting says that they
 * do.
 */
function readProductionActs(
  reading: Reading,
  line: string,
  effects: ReadonlySet<Effect>,
  environments: readonly Environment[],
): void {
  const acts =
    (["unknown", "deploy", "delete", "send", "execute"] as const).some((effect) => effects.has(effect)) ||
    (effects.has("network") && effects.has("write"))
  const isFile = /^(?:rm|rmdir|unlink|del|rd|shred|remove-item|ri|find|git)\b/.test(line)
  if (effects.has("unknown") && networkSubcommands.test(` ${line.split(" ", 6).slice(1).join(" ")} `))
    open(reading.open, "hosts", "nobody has said which host it reaches")
  // An unknown program with a word for deleting in the place of a sub-command.
  const subcommand = line
    .split(" ", 5)
    .slice(1)
    .filter((word) => !word.startsWith("-"))
    .slice(0, 3)
    .join(" ")
  if (effects.has("unknown") && deletingWords.test(` ${subcommand} `) && !isBuild(line)) {
    open(reading.open, "statements", "it takes something away, and nobody has said what")
    reading.destructions.push({ kind: "unknown", environments })
  }
  if (!environments.includes("production") || !acts || isFile || isBuild(line)) return
  if (deletingWords.test(line)) reading.destructions.push({ kind: "infrastructure", environments })
  else open(reading.open, "statements", "it acts on production, and nobody has said what it does")
}

const namesSecret = /secret|credential|passw(?:or)?d|private.?key|api.?key|keychain|keystore/i

/** Marks facts as unresolved for unknown programs, which may change something or use the network, and for files that are run. */
function readUnknownEffects({ open: into }: Reading, { name, words }: RunCommand, effects: Set<Effect>): void {
  if (effects.has("unknown")) {
    open(into, ["changes", "network", "hosts"], `what ${name} does is not known`)
    if (anyWord(words.slice(1), namesSecret) && !anyWord(words, /^(?:list|ls|status|names)$/))
      open(into, "paths", `what ${name} does with what is named after a secret is not known`)
  } else if (
    effects.size === 1 &&
    effects.has("execute") &&
    words.length > 1 &&
    !isLocalProgram(name) &&
    !isInline(name, words)
  )
    open(into, ["changes", "network"], `${name} runs a program`)
}
