import { anyOf } from "../../language/word-lists.ts"
import words from "./command-words.json" with { type: "json" }
import { afterOptions, firstTold, foundIn, operandsOf, optionValues, wordsAfter } from "./options.ts"
import { foundBy } from "./shell-output.ts"
import type { ShellCommand } from "./shell-syntax.ts"
import { unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

/** Commands that a wrapper program runs. */
export type WrappedRun = {
  /** Commands that are split into words already. */
  readonly argv: readonly (readonly string[])[]
  readonly scripts: readonly string[]
  readonly places: readonly string[]
  readonly unresolved?: string
}

const none: WrappedRun = { argv: [], scripts: [], places: [] }
const runs = (words: readonly string[], places: readonly string[] = []): WrappedRun => ({
  ...none,
  argv: words.length === 0 ? [] : [words],
  places,
})
const runsScripts = (scripts: readonly string[], unresolved?: string): WrappedRun => ({
  ...none,
  scripts,
  ...(unresolved === undefined ? {} : { unresolved }),
})

/** Entries of `prefixes` for programs whose options take no value. */
const withoutValues = (operands: number, names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, [/^$/, operands] as const]))

/** Programs that run the command after their own words: their options that take a value, and the number of operands before the command. */
const prefixes: Readonly<Record<string, readonly [valued: RegExp, operands: number] | undefined>> = {
  ...withoutValues(
    0,
    "nohup command builtin coproc busybox toybox setsid unbuffer fakeroot torsocks firejail dbus entr with-contenv tini cross-env",
  ),
  ...withoutValues(1, "chrt taskset setarch chroot"),
  sudo: [/^-[ugphCTRDr]$|^--(?:user|group|chdir|prompt|host)$/, 0],
  doas: [/^-[uC]$/, 0],
  time: [/^-[fo]$/, 0],
  timeout: [/^-[sk]$/, 1],
  gtimeout: [/^-[sk]$/, 1],
  nice: [/^-n$/, 0],
  ionice: [/^-[cnp]$/, 0],
  exec: [/^-a$/, 0],
  stdbuf: [/^-[ioe]$/, 0],
  strace: [/^-[eopsSuaPI]$/, 0],
  ltrace: [/^-[eopsSua]$/, 0],
  perf: [/^-[eop]$/, 1],
  proxychains: [/^-f$/, 0],
  proxychains4: [/^-f$/, 0],
  unshare: [/^-[SGRw]$/, 0],
  nsenter: [/^-[tSGr]$|^--(?:target|setuid|setgid)$/, 0],
  bwrap: [
    /^--(?:dev|proc|tmpfs|mqueue|dir|chdir|unsetenv|uid|gid|hostname|lock-file|seccomp|perms|size|cap-add|cap-drop)$/,
    0,
  ],
  proot: [/^-[brRSwqv]$/, 0],
  "systemd-run": [/^-[pMHuE]$|^--(?:unit|property|setenv|uid|gid)$/, 0],
  caffeinate: [/^-[tw]$/, 0],
  flock: [/^-[wE]$/, 1],
  direnv: [/^$/, 2],
  dotenv: [/^-[efv]$/, 0],
  dotenvx: [/^-[ef]$/, 1],
  doppler: [/^-[pc]$/, 1],
  wsl: [/^-[du]$|^--(?:distribution|user|cd)$/, 0],
  "start-process": [/^-(?:verb|workingdirectory|windowstyle)$/i, 0],
  npx: [/^-[pcw]$|^--package$/, 0],
  bunx: [/^-p$/, 0],
  uvx: [/^--(?:from|with|python)$/, 0],
  parallel: [/^-[jIaNLS]$|^--(?:jobs|arg-file|delay|joblog|colsep)$/, 0],
}

/** Matches package managers that run a program of the project after `run` or `exec`. */
const projectRunners =
  /^(?:poetry|uv|pipenv|pdm|hatch|rye|pixi|bundle|conda|mamba|micromamba|nix|mise|asdf|volta|fnm|rbenv|pyenv|yarn|pnpm|npm|bun|deno|dotnet|cargo|stack|cabal|op|aws-vault|teller|chamber)$/
const runsBehind = /^(?:run|exec|x|dlx|develop)$/

/** Commands that a program runs, after its own words or in its options; undefined for one that runs none. */
export function wrapperOf(name: string, words: readonly string[], command: ShellCommand): WrappedRun | undefined {
  if (name === "command" && /^-[vV]$/.test(words[0] ?? "")) return undefined
  const prefix = Object.hasOwn(prefixes, name) ? prefixes[name] : undefined
  if (prefix === undefined) {
    const read = readers.find(([names]) => names.test(name))?.[1]
    return read !== undefined
      ? read(words, command, name)
      : projectRunners.test(name)
        ? projectCommand(name, words)
        : undefined
  }
  const rest = afterOptions(name === "bwrap" ? withoutPairs(words) : words, ...prefix)
  // An option after the command belongs to the command.
  const own = name === "flock" ? words : words.slice(0, words.length - rest.length)
  const script = /^(?:npx|flock)$/.test(name) ? firstTold(own, /^(?:-c|--command|--call)$/) : undefined
  if (script !== undefined) return runsScripts([script])
  if (name === "parallel") return commandWithInput(rest, command)
  return runs(name === "chroot" ? belowRoot(words, rest) : rest)
}

/** Removes options of a sandbox that take two words: what is mounted, and where. */
const withoutPairs = (words: readonly string[]): readonly string[] =>
  words.filter(
    (_, at) =>
      ![0, 1, 2].some((back) =>
        /^--(?:(?:ro-|dev-)?bind(?:-try)?|symlink|setenv|file|bind-data)$/.test(words[at - back] ?? ""),
      ),
  )

/** A command in a chroot, with its paths as seen from outside. */
function belowRoot(words: readonly string[], rest: readonly string[]): readonly string[] {
  const root = (words.find((word) => !word.startsWith("-")) ?? "").replace(/\/+$/, "")
  return rest.map((word, at) => (at > 0 && word.startsWith("/") ? `${root}${word}` : word))
}

type Reader = (words: readonly string[], command: ShellCommand, name: string) => WrappedRun | undefined

/** Programs with their own ways to run others. */
const readers: readonly (readonly [names: RegExp, read: Reader])[] = [
  [/^env$/, envCommand],
  [/^xargs$/, (words, command) => commandWithInput(afterOptions(words, xargsValued, 0), command, words)],
  [/^watch$/, (words) => runsScripts([afterOptions(words, /^-n$|^--interval$/, 0).join(" ")])],
  [
    /^(?:script|su|runuser|nix-shell|nix|scl|sg)$/,
    (words) =>
      runsScripts(
        optionValues(words, /^-\w*c$|^--(?:command|run)$/)
          .slice(0, 1)
          .filter(isText),
      ),
  ],
  [/^(?:ssh|mosh|autossh)$/, sshCommand],
  [/^(?:docker|podman|nerdctl|docker-compose|kubectl|oc|lxc)$/, containerCommand],
  [/^(?:vagrant|gcloud|heroku|flyctl|fly)$/, cloudCommand],
  [/^find$/, findCommand],
  [/^fd(?:find)?$/, fdCommand],
  [/^git$/, gitCommand],
  [/^(?:tmux|screen)$/, terminalCommand],
  [/^(?:eval|iex|invoke-expression)$/, (words) => runsScripts([words.join(" ")].filter(isText))],
  [/^trap$/, (words) => runsScripts(words.slice(0, 1).filter((text) => !/^(?:-\w?|)$/.test(text)))],
  [/^alias$/, (words) => runsScripts(words.flatMap((word) => /^[\w-]+=(.*)$/s.exec(word)?.[1] ?? []))],
  [
    /^(?:at|batch)$/,
    (_, { given, piped }) =>
      runsScripts(given, piped ? "what is to be run later is known only when it runs" : undefined),
  ],
  [/^crontab$/, crontabCommand],
  [/^(?:tar|rsync|man|less|vim|vi|nvim|ex|ed|gdb|socat|nc|ncat|netcat|make|expect)$/, hiddenCommand],
]

const isText = (text: string): boolean => text !== ""

const xargsValued = /^-[aEeIidLlnPs]$|^--(?:arg-file|delimiter|max-\w+|replace)$/

function cloudCommand(words: readonly string[]): WrappedRun {
  const text = firstTold(words, /^(?:-c|-C|--command)$/) ?? firstTold(words, /^--command=(.*)$/s)
  const split = words.indexOf("--")
  return { ...none, argv: split < 0 ? [] : [words.slice(split + 1)], scripts: text === undefined ? [] : [text] }
}

function fdCommand(words: readonly string[]): WrappedRun | undefined {
  const at = words.findIndex((word) => /^-[xX]$|^--exec/.test(word))
  if (at < 0) return undefined
  const valued =
    /^-[eEtdgcjoS]$|^--(?:extension|exclude|type|max-depth|min-depth|size|changed-\w+|owner|color|threads|base-directory|search-path)$/
  const own = words.slice(0, at)
  const endings = wordsAfter(own, /^(?:-e|--extension)$/)
  const [pattern = ""] = operandsOf(own, valued)
  // A pattern of letters, digits and dashes matches anywhere in a name.
  const piece = /^[\w-]+$/.test(pattern) ? `*${pattern}*` : "*"
  const names =
    endings.length > 0 ? endings.map((ending) => `**/${piece === "*" ? "" : piece}*.${ending}`) : [`**/${piece}`]
  return runs([...words.slice(at + 1), ...(names.join() === "**/*" ? ["**"] : names)])
}

/** `env -S "a b"`, `env X=1 a b`. */
function envCommand(words: readonly string[]): WrappedRun {
  const at = words.findIndex((word) => /^-\w*S|^--split-string/.test(word))
  if (at < 0) return runs(afterOptions(words, /^-[uC]$|^--(?:unset|chdir)$/, 0))
  const inside = (words[at] ?? "").replace(/^(?:--split-string=?|-\w*?S)/, "")
  return runsScripts([[inside, ...words.slice(at + 1)].join(" ")])
}

/** A command followed by the words from its input, or by `unknownPart` if those are not known. */
function commandWithInput(
  rest: readonly string[],
  { given, fed, piped }: ShellCommand,
  options: readonly string[] = [],
): WrappedRun {
  const known = given.flatMap((text) => text.split(/\s+/)).filter(isText)
  const words = fed ?? (known.length > 0 && !piped ? known : [unknownPart])
  const sign = wordsAfter(options, /^-I$|^--replace$/)[0] ?? "{}"
  if (!rest.some((word) => word.includes(sign))) return rest.length === 0 ? none : runs([...rest, ...words])
  return { ...none, argv: words.slice(0, 64).map((one) => rest.map((word) => word.replaceAll(sign, one))) }
}

function sshCommand(words: readonly string[], { given, piped }: ShellCommand): WrappedRun {
  const rest = afterOptions(words, /^-[bBcDEeFIiJLlmOoPpQRSWw]$/, 0)
  const [host = "", ...told] = rest[0] === "--" ? rest.slice(1) : rest
  const options = [...wordsAfter(words, /^-o$/), ...words.filter((word) => /^-o./.test(word))]
  const proxied = options.flatMap((word) => /(?:Proxy|Local)Command[= ](.*)/i.exec(word)?.[1] ?? [])
  const script = (told[0] === "--" ? told.slice(1) : told).join(" ")
  const scripts = [...proxied, script, ...(script === "" ? given : [])].filter(isText)
  const isFed = script === "" && piped
  return {
    ...runsScripts(scripts, isFed ? "what is run on the other machine is known only when it runs" : undefined),
    places: [host],
  }
}

function containerCommand(words: readonly string[]): WrappedRun | undefined {
  const at = words.findIndex((word) => /^(?:exec|run|debug)$/.test(word))
  if (at < 0) return undefined
  const split = words.indexOf("--", at)
  if (split > 0) return { ...none, argv: [words.slice(split + 1)], places: words.slice(0, split) }
  const valued =
    /^-[eupvwlhnmc]$|^--(?:env|user|publish|volume|workdir|name|network|mount|entrypoint|label|hostname|env-file|platform|memory|cpus|gpus|container|namespace)$/
  const rest = afterOptions(words.slice(at + 1), valued, 1)
  const entry = firstTold(words, /^--entrypoint$/) ?? firstTold(words, /^--entrypoint=(.*)$/s)
  return runs(entry === undefined ? rest : [entry, ...rest], words)
}

function findCommand(words: readonly string[]): WrappedRun {
  const { roots, names } = foundBy(words)
  const found = roots.flatMap((root) => names.map((name) => `${root}/**/${name}`))
  const argv: string[][] = []
  for (const [at, word] of words.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) continue
    const end = words.findIndex((one, index) => index > at && /^[;+]$/.test(one))
    const inner = words.slice(at + 1, end < 0 ? undefined : end)
    argv.push(inner.flatMap((one) => (one === "{}" ? found : [one.replaceAll("{}", found[0] ?? "**")])))
  }
  return { ...none, argv }
}

const ofAlias = (value: string): string => (value.startsWith("!") ? value.slice(1) : `git ${value}`)
/** Match settings of git whose value it runs, and values that are harmless. */
const runSetting =
  /(?:pager|editor|command|sshcommand|askpass|fsmonitor|hookspath|textconv|external|clean|smudge|process|helper|tool\.\w+\.cmd|program)$/i
const harmlessValue = /^(?:|cat|true|false|less.*|vim|nano|store|cache|osxkeychain|.*hooks)$/

/** `git -c alias.x='!cmd' x`, `git -c core.pager=cmd`, `git bisect run cmd`, `git submodule foreach cmd`, `git rebase --exec cmd`. */
function gitCommand(words: readonly string[]): WrappedRun {
  const settings = [...wordsAfter(words, /^-c$/), ...words.filter((word) => /^--config-env=/.test(word))]
  const set = settings.flatMap((setting) => {
    const [, key = "", value = ""] = /^(?:--config-env=)?([\w.-]+)=(.*)$/s.exec(setting) ?? []
    if (/^alias\./i.test(key)) return [ofAlias(value)]
    return runSetting.test(key) && !harmlessValue.test(value) ? [value.replace(/^!/, "")] : []
  })
  const takesCommand = anyWord(words, /^(?:rebase|filter-branch|difftool|clone|fetch|pull|push|ls-remote)$/)
  const options =
    /^(?:-x|--exec|--tree-filter|--index-filter|--msg-filter|--env-filter|--extcmd|--upload-pack|--receive-pack)$/
  const each = words.includes("submodule") ? words.indexOf("foreach") : -1
  const config = words.indexOf("config")
  const configured = config < 0 ? [] : words.slice(config)
  return {
    ...none,
    argv: words[0] === "bisect" && words[1] === "run" ? [words.slice(2)] : [],
    scripts: [
      ...set,
      ...optionValues(words, /^--(?:exec|upload-pack|receive-pack|extcmd)=(.*)$/s),
      ...(takesCommand ? optionValues(words, options) : []),
      ...(each > 0
        ? [
            words
              .slice(each + 1)
              .filter((word) => !/^--/.test(word))
              .join(" "),
          ]
        : []),
      ...(config < 0 ? [] : words.flatMap((word, at) => aliasAt(words, word, at))),
      ...configured.flatMap((word) => (word.startsWith("!") ? [word.slice(1)] : [])),
    ],
  }
}

const aliasAt = (words: readonly string[], word: string, at: number): readonly string[] =>
  /^alias\./i.test(word) && words[at - 1] !== "-c" ? [ofAlias(words[at + 1] ?? "")] : []

/** Commands that a terminal multiplexer runs, or that are typed into it. */
function terminalCommand(words: readonly string[]): WrappedRun | undefined {
  const valued = /^-[tsncFxyLSf]$/
  const keys = words.indexOf("send-keys")
  if (keys >= 0) {
    const typed = afterOptions(words.slice(keys + 1), valued, 0)
    return runsScripts([typed.filter((word) => !/^(?:C-\w|Enter|C-m)$/i.test(word)).join(" ")])
  }
  const at = words.findIndex((word) =>
    /^(?:new-session|new|new-window|neww|split-window|splitw|run-shell|run|respawn-pane|if-shell)$/.test(word),
  )
  if (at < 0 && !anyWord(words, /^-\w*[dm]/)) return undefined
  const rest = afterOptions(words.slice(at + 1), valued, 0)
  return rest.length === 0 ? undefined : runsScripts([rest.join(" ")])
}

/** Options with a command in their value, of programs that are no wrappers; `read` extracts it where it is not the whole value. */
const commandOptions: readonly (readonly [
  names: RegExp,
  option: RegExp,
  read?: (told: string) => readonly string[],
])[] = [
  [
    /^tar$/,
    /^--(?:checkpoint-action=exec|to-command|use-compress-program|rsh-command|rmt-command)=(.*)$|^(?:-I|--to-command|--use-compress-program)$/s,
  ],
  [/^rsync$/, /^(?:-e|--rsh|--rsync-path)$/, (told) => (/^ssh(?: -[pi] \S+)*$/.test(told) ? [] : [told])],
  [/^man$/, /^-P$/],
  [/^(?:n?vim?|ex|less)$/, /^-S$/, (told) => editorScripts(`source ${told}`)],
  [/^(?:n?vim?|ex|less)$/, /^\+(.*)$|^(?:-c|--cmd|-S.)/s, editorScripts],
  [/^gdb$/, /^-(?:ex|eval-command)$/, (told) => foundIn(told, /^(?:!|shell )(.*)/g)],
  [/^socat$/, /^(.*)$/s, (told) => foundIn(told, /(?:exec|system):["']?([^,"']+)/gi)],
  [/^n(?:c|cat|etcat)$/, /^(?:-\w*[ec]|--exec|--sh-exec)$/],
  [/^make$/, /^(?:SHELL|\w+(?==.*\$\(shell))=(.*)$/s],
  [/^expect$/, /^-c$/, (told) => foundIn(told, /\b(?:spawn|exec|system)\s+([^;\n]+)/g)],
]

/** Commands in the options and the input of programs that are no wrappers. */
function hiddenCommand(words: readonly string[], { given }: ShellCommand, name: string): WrappedRun {
  const scripts = commandOptions.flatMap(([names, option, read = (told) => [told]]) =>
    names.test(name) ? optionValues(words, option).flatMap(read) : [],
  )
  if (/^(?:n?vim?|ex|ed)$/.test(name)) scripts.push(...given.flatMap(editorScripts))
  if (name === "make" && (words.includes("-") || words.includes("/dev/stdin")))
    scripts.push(...given.map((text) => text.replace(/^[^\t\n]*:.*$/gm, "").replace(/^\t@?/gm, "")))
  return runsScripts(scripts)
}

function crontabCommand(words: readonly string[], { given, piped }: ShellCommand): WrappedRun | undefined {
  if (anyWord(words, /^-[lr]/)) return undefined
  const jobs = given.flatMap((text) => text.split("\n")).map((line) => line.replace(/^(?:\S+\s+){5}|^@\w+\s+/, ""))
  return runsScripts(jobs, piped ? "the table of jobs is known only when it runs" : undefined)
}

/** Converts commands of an editor to shell commands: those that it runs, and `cat` and `tee` for the files that it reads and writes. */
function editorScripts(text: string): readonly string[] {
  const scripts: string[] = []
  for (const line of text.split(/[\n|]/).slice(0, 200)) {
    const bare = line.replace(/^[\s:]+(?:silent!?\s+)?|^silent!?\s+/, "")
    const shell = /^(?:\d|[,.$%])*(?:r(?:ead)?\s*|w(?:rite)?\s*)?!(.*)$/.exec(bare)?.[1]
    const [, verb = "", file = ""] =
      /^(?:(?:\d|[,.$%])*)(r|read|e|edit|so|source|sp|split|vs|vsplit|tabe|tabedit|view|n|next|f|file|w|wq|write|sav|saveas|x)!?\s+(\S+)/.exec(
        bare,
      ) ?? []
    if (shell !== undefined) scripts.push(shell)
    else if (file !== "")
      scripts.push(`${/^(?:w|wq|write|sav|saveas|x)$/.test(verb) ? "tee" : "cat"} '${file.replaceAll("'", "")}'`)
  }
  const files = foundIn(text, /\b(?:readfile|writefile)\([^'"]*['"]([^'"]*)/g)
  return [
    ...scripts,
    ...foundIn(text, /\b(?:system|systemlist)\(\s*['"]([^'"]*)/g),
    ...files.map((file) => `cat '${file}'`),
  ]
}

/** Matches variables that hold a command which other programs run. */
const commandVariables = new RegExp(`^${anyOf(words.commandVariables)}$`)
/** Matches variables that make other programs load a file or a module first, or take more options. */
const loadingVariables = new RegExp(`^${anyOf(words.loadingVariables)}$`, "i")

/** What a variable makes programs run besides: a script, or something that is not known. */
export function runByVariable(name: string, value: string): { readonly script?: string; readonly unresolved?: string } {
  if (value === "" || value === unknownPart) return {}
  if (commandVariables.test(name)) return { script: value.replace(/^\|/, "") }
  const loads =
    loadingVariables.test(name) || (name === "NODE_OPTIONS" && /--(?:require|import|loader|eval)|-r /.test(value))
  const isPlain =
    /^(?:GIT_CONFIG_(?:NOSYSTEM|GLOBAL|SYSTEM))$/.test(name) && /^(?:\d+|\/dev\/null|true|false)$/.test(value)
  return loads && !isPlain ? { unresolved: `${name} makes programs do more than their commands say` } : {}
}

function projectCommand(name: string, words: readonly string[]): WrappedRun | undefined {
  // A script that is added to package.json is judged as if it were run.
  const set = words.flatMap((word) => /^scripts[.[][\w:.\]-]+=(.*)$/s.exec(word)?.[1] ?? [])
  if (words[0] === "set-script") return runsScripts(words.slice(2, 3))
  if (set.length > 0) return runsScripts(set)
  const at = words.findIndex((word) => runsBehind.test(word))
  const split = words.indexOf("--")
  if (at < 0 || (/^(?:npm|yarn|pnpm|bun|cargo|dotnet|deno)$/.test(name) && words[at] === "run")) return undefined
  const script = firstTold(words, /^(?:-c|--command)$/)
  if (script !== undefined) return runsScripts([script])
  if (split > at && /^(?:op|aws-vault|teller|chamber|npm|mise)$/.test(name)) return runs(words.slice(split + 1))
  const valued = /^-[npCc]$|^--(?:name|prefix|with|python|extra|group|directory|project|package)$/
  return runs(afterOptions(words.slice(at + 1), valued, /^(?:aws-vault|chamber|fnm|volta)$/.test(name) ? 1 : 0))
}
