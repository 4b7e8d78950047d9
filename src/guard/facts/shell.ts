import { destructions, type Effect, effectsOf } from "./command-table.ts"
import { hostOfWord } from "./hosts.ts"
import { maxCommands, maxScriptDepth } from "./leaf.ts"
import { type Access, type PathFact, pathFact } from "./paths.ts"
import { readScript, type ShellCommand } from "./shell-words.ts"
import { fold } from "./words.ts"

/** One command of a script, taken out of what wraps it. */
export type CommandFact = {
  readonly name: string
  /** The command with its words, as one line. */
  readonly line: string
  readonly effects: ReadonlySet<Effect>
}

type ShellFacts = {
  readonly commands: readonly CommandFact[]
  readonly paths: readonly PathFact[]
  readonly hosts: readonly string[]
  readonly destructive: ReadonlySet<string>
  /** Texts that another language reads: SQL for a database client, code for an interpreter. */
  readonly sql: readonly string[]
  readonly code: readonly string[]
  /** Addresses handed to a mail program. */
  readonly mailed: readonly string[]
  readonly obscured: boolean
  readonly tooMany: boolean
}

type Reading = {
  readonly commands: CommandFact[]
  readonly paths: PathFact[]
  readonly hosts: string[]
  readonly destructive: Set<string>
  readonly sql: string[]
  readonly code: string[]
  readonly mailed: string[]
  obscured: boolean
  tooMany: boolean
  directory: string | undefined
}

/** What a shell script does. */
export function shellFacts(text: string): ShellFacts {
  const reading: Reading = {
    commands: [],
    paths: [],
    hosts: [],
    destructive: new Set(),
    sql: [],
    code: [],
    mailed: [],
    obscured: false,
    tooMany: false,
    directory: undefined,
  }
  readInto(reading, text, 0)
  // The environment is full of keys, and goes where the network leads.
  const dumps = reading.commands.some(({ line }) => /^(?:printenv|env|set|export -p|declare -x)$/.test(line))
  if (dumps && reading.commands.some(({ effects }) => effects.has("network")))
    reading.paths.push(pathFact("/proc/self/environ", "read"))
  return reading
}

function readInto(reading: Reading, text: string, depth: number): void {
  if (depth > maxScriptDepth || reading.commands.length > maxCommands) {
    reading.tooMany = true
    return
  }
  const { commands, tooMany } = readScript(text)
  reading.tooMany ||= tooMany
  for (const command of commands) readCommand(reading, command, depth)
}

/** Programs that run the command behind them, with the options of theirs that take a value. */
const wrappers: Readonly<Record<string, RegExp | undefined>> = {
  sudo: /^-[ugphCT]$/,
  doas: /^-[uC]$/,
  env: /^-[uC]$/,
  nohup: undefined,
  time: undefined,
  timeout: /^-[sk]$/,
  nice: /^-n$/,
  ionice: /^-[cn]$/,
  command: undefined,
  builtin: undefined,
  exec: /^-a$/,
  xargs: /^-[aEIdLnPs]$/,
  parallel: /^-[jI]$/,
  busybox: undefined,
  toybox: undefined,
  stdbuf: /^-[ioe]$/,
  setsid: undefined,
  watch: /^-n$/,
  strace: /^-[eops]$/,
  unbuffer: undefined,
  chroot: undefined,
}

/** A word as commands are recognized by; only short options mean another thing in capitals. */
const plainWord = (word: string): string => (/^-[\w.=-]*$/.test(word) && !word.startsWith("--") ? word : fold(word))

export const baseName = (word: string): string =>
  fold(word.slice(-300))
    .replace(/^.*[/\\]/, "")
    .replace(/\.exe$/, "")

/** The command that is really run, and the programs around it. */
export function unwrap(words: readonly string[]): {
  readonly words: readonly string[]
  readonly around: readonly string[]
} {
  const around: string[] = []
  let rest = words
  for (let round = 0; round < 8; round++) {
    const name = baseName(rest[0] ?? "")
    if (!Object.hasOwn(wrappers, name)) break
    around.push(name)
    const valued = wrappers[name]
    let at = 1
    for (; at < rest.length; at++) {
      const word = rest[at] ?? ""
      if (valued?.test(word) === true) at++
      else if (!/^-|^\w+=|^\d+[smhd]?$/.test(word)) break
    }
    if (name === "chroot") at++
    rest = rest.slice(at)
  }
  // Alone it is a command of its own: `env` prints the environment.
  return { words: rest.length === 0 ? words.slice(0, 1) : rest, around }
}

const shells = /^(?:ba|z|da|k|fi|a)?sh$|^(?:pwsh|powershell|cmd)$/
const interpreters = /^(?:python[\d.]*|node|deno|bun|ruby|perl|php|lua|rscript|osascript)$/
const clients =
  /^(?:psql|mysql|mariadb|sqlite3|sqlcmd|bq|snowsql|clickhouse-client|cqlsh|duckdb|usql|isql|sqlplus|cockroach)$/
/** Commands that print what a store of secrets holds. */
const secretStores =
  /^(?:security (?:find-(?:generic|internet)-password|dump-keychain)|pass (?:show|\w+\/)|gpg .*--export-secret|aws (?:\S+ )*(?:get-secret-value|get-parameters? .*--with-decryption)|vault (?:read|kv get)|op (?:read|item get)|gcloud secrets versions access|az keyvault secret show|kubectl (?:\S+ )*get secrets?\b|keyring get|gh auth token|secret-tool lookup|doppler secrets|heroku config\b)/
const secretStore: PathFact = { path: "secret-store", access: "read", secret: true, glob: false }
const mailers = /^(?:mail|mailx|sendmail|mutt|swaks|msmtp|ssmtp)$/

/** The text behind an option such as `-c`, alone or at the end of a bundle as in `-lc`. */
function optionValue(words: readonly string[], option: RegExp): string | undefined {
  const at = words.findIndex((word, index) => index > 0 && option.test(word))
  return at < 0 ? undefined : words.slice(at + 1).join(" ")
}

function readCommand(reading: Reading, command: ShellCommand, depth: number): void {
  const { words, around } = unwrap(command.words)
  const name = baseName(words[0] ?? "")
  const line = [name, ...words.slice(1).map(plainWord)].join(" ")
  const effects = new Set(effectsOf(name, line))
  if (around.some((wrapper) => /^(?:sudo|doas|chroot)$/.test(wrapper))) effects.add("privilege")
  if (command.writesTo.some((to) => !/^\/dev\/(?:null|std\w+|tty)$/.test(to) && to !== "")) effects.add("write")
  if (words.length === 0 && command.writesTo.length === 0 && command.readsFrom.length === 0) return
  reading.commands.push({ name, line: line.slice(0, 4_000), effects })
  for (const [kind, pattern] of destructions) if (pattern.test(line.slice(0, 2_000))) reading.destructive.add(kind)
  if (/[*]/.test(name) && !/^[*]$/.test(line)) reading.obscured = true
  readFiles(reading, command, words, effects)
  if (effects.has("network")) for (const word of words.slice(1)) readHost(reading, word)
  if (name === "curl" && line.includes("--mail-rcpt"))
    reading.mailed.push(...words.filter((word) => word.includes("@")))
  if (secretStores.test(line)) reading.paths.push(secretStore)
  if (mailers.test(name)) reading.mailed.push(...words.slice(1))
  readInner(reading, command, { name, words, effects }, depth)
}

function readHost(reading: Reading, word: string): void {
  for (const piece of word.split(/[=,]/)) {
    const host = hostOfWord(piece.replace(/^['"]+|['"]+$/g, "").slice(0, 2_048))
    if (
      host !== undefined &&
      !/^[\w-]+\.(?:py|js|ts|sh|json|ya?ml|txt|md|tf|toml|log|csv|html?|tar|gz|zip|sql|conf)$/.test(host)
    )
      reading.hosts.push(host)
  }
}

function readFiles(
  reading: Reading,
  command: ShellCommand,
  words: readonly string[],
  effects: ReadonlySet<Effect>,
): void {
  const access: Access = effects.has("delete") ? "delete" : effects.has("write") ? "write" : "read"
  const name = baseName(words[0] ?? "")
  if (name === "cd" || name === "pushd") reading.directory = words[1]
  const add = (written: string, how: Access): void => {
    if (written === "" || written === "-") return
    const relative = reading.directory !== undefined && !/^(?:[/~$]|[a-z]:)/i.test(written)
    reading.paths.push(pathFact(relative ? `${reading.directory}/${written}` : written, how))
  }
  for (const to of command.writesTo) add(to, "write")
  for (const from of command.readsFrom) add(from, "read")
  const pattern = /^(?:e|f|z)?grep$|^(?:rg|ag|ack|sed|awk|gawk|jq|yq|perl)$/.test(name)
    ? words.findIndex((word, at) => at > 0 && !word.startsWith("-"))
    : -1
  for (const [at, word] of words.entries()) {
    if (at === 0 ? !/[/\\]/.test(word) : at === pattern) continue
    // `--file=x`, `if=x` and `@x` name a file too.
    const bare = word.replace(/^(?:--?[\w-]+=|(?:if|of)=|[^@\s]*?=?@(?=[/~.\w]))/, "")
    if (bare.startsWith("-") || bare.includes("\n") || bare.length > 4_096) continue
    if (name !== "echo" && name !== "printf") add(bare, access)
  }
}

type Inner = { readonly name: string; readonly words: readonly string[]; readonly effects: Set<Effect> }

/** What a command hands on to be run: a script, code, SQL, a command on another machine. */
function readInner(reading: Reading, command: ShellCommand, { name, words, effects }: Inner, depth: number): void {
  const next = (script: string | undefined): void => {
    if (script !== undefined && script.trim() !== "") readInto(reading, script, depth + 1)
    if (script?.trim() === "*") reading.obscured = true
  }
  if (shells.test(name)) {
    const script = optionValue(words, name === "cmd" ? /^\/c$/i : /^-\w*c$|^-(?:command|encodedcommand|enc|e|ec)$/i)
    next(script)
    const fed = command.given.filter((text) => text.trim() !== "")
    for (const text of fed) next(text)
    // Fed by something whose output nobody knows: a download, a decoder.
    if (script === undefined && command.piped) {
      effects.add("remote-code")
      reading.obscured = true
    }
  } else if (name === "eval") next(words.slice(1).join(" "))
  else if (name === "su") next(optionValue(words, /^(?:-c|--command)$/))
  else if (name === "ssh") next(afterHost(words))
  else if (/^(?:docker|podman|kubectl|oc)$/.test(name)) next(afterExec(words))
  else if (name === "find") next(optionValue(words, /^-exec(?:dir)?$|^-ok$/)?.replace(/ (?:;|\+)(?: .*)?$/s, ""))
  else if (interpreters.test(name)) {
    const code = optionValue(words, /^-(?:c|e|E|r|ne|pe|pi|le)$|^--(?:eval|print)$/)
    for (const one of code === undefined ? command.given : [code]) reading.code.push(one)
    if (code === undefined && command.piped && words.length < 2 && command.given.every((text) => text.trim() === ""))
      reading.obscured = true
  } else if (/^awk$|^gawk$/.test(name)) reading.code.push(words.slice(1).join(" "))
  else if (name === "make" && command.given.length > 0) next(command.given.join("\n"))
  if (clients.test(name)) reading.sql.push(...words.slice(1), ...command.given)
  if (/^(?:mongo|mongosh|redis-cli)$/.test(name)) reading.code.push(words.slice(1).join(" "), ...command.given)
}

function afterHost(words: readonly string[]): string | undefined {
  let at = 1
  while (at < words.length && (words[at] ?? "").startsWith("-"))
    at += /^-[bcDEeFIiJLlmOopQRSWw]$/.test(words[at] ?? "") ? 2 : 1
  return at + 1 < words.length ? words.slice(at + 1).join(" ") : undefined
}

function afterExec(words: readonly string[]): string | undefined {
  const split = words.indexOf("--")
  if (split > 0)
    return words
      .slice(split + 1)
      .map(quoteWord)
      .join(" ")
  const at = words.findIndex((word, index) => index > 0 && (word === "exec" || word === "run"))
  if (at < 0) return undefined
  let inner = at + 1
  while (inner < words.length && (words[inner] ?? "").startsWith("-")) inner++
  return inner + 1 < words.length
    ? words
        .slice(inner + 1)
        .map(quoteWord)
        .join(" ")
    : undefined
}

const quoteWord = (word: string): string =>
  /[\s;&|<>()'"$`\\]/.test(word) ? `'${word.replaceAll("'", "'\\''")}'` : word
