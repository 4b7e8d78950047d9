import { anyOf } from "../../language/word-lists.ts"
import words from "./command-words.json" with { type: "json" }
import { foundBy } from "./shell-output.ts"
import type { ShellCommand } from "./shell-syntax.ts"
import { unknownPart } from "./shell-words.ts"
import { anyWord } from "./words.ts"

/** What a program runs that wraps others. */
export type Wrapped = {
  /** Commands that are split into words already. */
  readonly argv: readonly (readonly string[])[]
  readonly scripts: readonly string[]
  readonly places: readonly string[]
  readonly unresolved?: string
}

const none: Wrapped = { argv: [], scripts: [], places: [] }

/** Such programs whose options take no value. */
const taking = (operands: number, names: string) =>
  Object.fromEntries(names.split(" ").map((name) => [name, [/^$/, operands] as const]))

/** Programs that run the command behind them: options of theirs that take a value, and words before the command. */
const prefixes: Readonly<Record<string, readonly [valued: RegExp, operands: number] | undefined>> = {
  ...taking(
    0,
    "nohup command builtin coproc busybox toybox setsid unbuffer fakeroot torsocks firejail dbus entr with-contenv tini cross-env",
  ),
  ...taking(1, "chrt taskset setarch chroot"),
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
  aws_vault: [/^$/, 2],
  wsl: [/^-[du]$|^--(?:distribution|user|cd)$/, 0],
  "start-process": [/^-(?:verb|workingdirectory|windowstyle)$/i, 0],
  npx: [/^-[pcw]$|^--package$/, 0],
  bunx: [/^-p$/, 0],
  uvx: [/^--(?:from|with|python)$/, 0],
  parallel: [/^-[jIaNLS]$|^--(?:jobs|arg-file|delay|joblog|colsep)$/, 0],
}

/** Package managers that run a program of the project behind `run` or `exec`. */
const projectRunners =
  /^(?:poetry|uv|pipenv|pdm|hatch|rye|pixi|bundle|conda|mamba|micromamba|nix|mise|asdf|volta|fnm|rbenv|pyenv|yarn|pnpm|npm|bun|deno|dotnet|cargo|stack|cabal|op|aws-vault|teller|chamber)$/
const runsBehind = /^(?:run|exec|x|dlx|develop)$/

function afterOptions(words: readonly string[], valued: RegExp, operands: number): readonly string[] {
  let at = 0
  for (let left = operands; at < words.length; at++) {
    const word = words[at] ?? ""
    if (word === "--") {
      at += 1 + left
      break
    }
    if (valued.test(word)) at++
    else if (/^-|^\w+=/.test(word)) continue
    else if (left === 0) break
    else left--
  }
  return words.slice(at)
}

/** The commands that a program runs behind its own words or in its options; absent for one that runs none. */
export function wrapperOf(name: string, words: readonly string[], command: ShellCommand): Wrapped | undefined {
  const prefix = Object.hasOwn(prefixes, name) ? prefixes[name] : undefined
  if (name === "command" && /^-[vV]$/.test(words[0] ?? "")) return undefined
  if (prefix !== undefined) {
    const rest = afterOptions(name === "bwrap" ? withoutPairs(words) : words, prefix[0], prefix[1])
    // An option behind the command is the command's own.
    const own = name === "flock" ? words : words.slice(0, words.length - rest.length)
    const script = optionText(own, /^(?:-c|--command|--call)$/)
    if (name === "parallel") return fedCommand(rest, command)
    if (name === "chroot") return { ...none, argv: rest.length === 0 ? [] : [belowRoot(words, rest)] }
    if (name === "npx" && script !== undefined) return { ...none, scripts: [script] }
    if (name === "flock" && script !== undefined) return { ...none, scripts: [script] }
    return { ...none, argv: rest.length === 0 ? [] : [rest] }
  }
  const known = readers.find(([names]) => names.test(name))?.[1]
  if (known !== undefined) return known(words, command, name)
  return projectRunners.test(name) ? projectCommand(name, words) : undefined
}

/** Words without the options of a sandbox that take two: what is bound, and where to. */
const withoutPairs = (words: readonly string[]): readonly string[] =>
  words.filter(
    (_, at) =>
      ![0, 1, 2].some((back) =>
        /^--(?:(?:ro-|dev-)?bind(?:-try)?|symlink|setenv|file|bind-data)$/.test(words[at - back] ?? ""),
      ),
  )

/** A command under another root, with its files as they are called outside of it. */
function belowRoot(words: readonly string[], rest: readonly string[]): readonly string[] {
  const root = (words.find((word) => !word.startsWith("-")) ?? "").replace(/\/+$/, "")
  return rest.map((word, at) => (at > 0 && word.startsWith("/") ? `${root}${word}` : word))
}

type Reader = (words: readonly string[], command: ShellCommand, name: string) => Wrapped | undefined

/** Programs that run others in ways of their own. */
const readers: readonly (readonly [names: RegExp, read: Reader])[] = [
  [/^env$/, envCommand],
  [/^xargs$/, (words, command) => fedCommand(afterOptions(words, xargsValued, 0), command, words)],
  [/^watch$/, (words) => ({ ...none, scripts: [afterOptions(words, /^-n$|^--interval$/, 0).join(" ")] })],
  [/^(?:script|su|runuser|nix-shell|nix|scl|sg)$/, (words) => optionScript(words, /^-\w*c$|^--(?:command|run)$/)],
  [/^(?:ssh|mosh|autossh)$/, sshCommand],
  [/^(?:docker|podman|nerdctl|docker-compose|kubectl|oc|lxc)$/, containerCommand],
  [/^(?:vagrant|gcloud|heroku|flyctl|fly)$/, cloudCommand],
  [/^find$/, findCommand],
  [/^fd(?:find)?$/, fdCommand],
  [/^git$/, gitCommand],
  [/^(?:tmux|screen)$/, terminalCommand],
  [/^(?:trap|alias|eval|iex|invoke-expression|at|batch)$/, (words, command, name) => evaluated(name, words, command)],
  [
    /^(?:tar|rsync|man|less|vim|vi|nvim|ex|ed|gdb|socat|nc|ncat|netcat|crontab|make|expect)$/,
    (words, command, name) => hiddenCommand(name, words, command),
  ],
]

const xargsValued = /^-[aEeIidLlnPs]$|^--(?:arg-file|delimiter|max-\w+|replace)$/

const optionScript = (words: readonly string[], option: RegExp): Wrapped => ({
  ...none,
  scripts: [optionText(words, option) ?? ""].filter((text) => text !== ""),
})

function cloudCommand(words: readonly string[]): Wrapped {
  const text = optionText(words, /^(?:-c|-C|--command)$/) ?? afterEqual(words, "--command")
  const behind = words.includes("--") ? [words.slice(words.indexOf("--") + 1)] : []
  return { ...none, argv: behind, scripts: text === undefined ? [] : [text] }
}

function fdCommand(words: readonly string[]): Wrapped | undefined {
  const at = words.findIndex((word) => /^-[xX]$|^--exec/.test(word))
  if (at < 0) return undefined
  const valued =
    /^-[eEtdgcjoS]$|^--(?:extension|exclude|type|max-depth|min-depth|size|changed-\w+|owner|color|threads|base-directory|search-path)$/
  const own = words.slice(0, at)
  const endings = own.filter((_, index) => /^(?:-e|--extension)$/.test(own[index - 1] ?? ""))
  const [pattern = ""] = own.filter((word, index) => !word.startsWith("-") && !valued.test(own[index - 1] ?? ""))
  // A pattern of letters, digits and dashes matches anywhere in the name.
  const piece = /^[\w-]+$/.test(pattern) ? `*${pattern}*` : "*"
  const names =
    endings.length > 0 ? endings.map((ending) => `**/${piece === "*" ? "" : piece}*.${ending}`) : [`**/${piece}`]
  return { ...none, argv: [[...words.slice(at + 1), ...(names.join() === "**/*" ? ["**"] : names)]] }
}

/** `env -S "a b"`, `env X=1 a b`. */
function envCommand(words: readonly string[]): Wrapped {
  const at = words.findIndex((word) => /^-\w*S|^--split-string/.test(word))
  if (at >= 0) {
    const word = words[at] ?? ""
    const inside = word.startsWith("--") ? word.replace(/^--split-string=?/, "") : word.replace(/^-\w*?S/, "")
    return { ...none, scripts: [[inside, ...words.slice(at + 1)].join(" ")] }
  }
  const rest = afterOptions(words, /^-[uC]$|^--(?:unset|chdir)$/, 0)
  return { ...none, argv: rest.length === 0 ? [] : [rest] }
}

/** A command with the words that it is fed behind it, or that nobody knows which. */
function fedCommand(
  rest: readonly string[],
  { given, fed, piped }: ShellCommand,
  options: readonly string[] = [],
): Wrapped {
  const known = given.flatMap((text) => text.split(/\s+/)).filter((word) => word !== "")
  const words = fed ?? (known.length > 0 && !piped ? known : [unknownPart])
  const marker = options.findIndex((word) => /^-I$|^--replace$/.test(word))
  const sign = marker < 0 ? (anyWord(options, /^-i$/) ? "{}" : "{}") : (options[marker + 1] ?? "{}")
  if (rest.some((word) => word.includes(sign)))
    return { ...none, argv: words.slice(0, 64).map((one) => rest.map((word) => word.replaceAll(sign, one))) }
  return { ...none, argv: rest.length === 0 ? [] : [[...rest, ...words]] }
}

/** The words behind an option, up to the next one, as one text: `-c "…"`, also at the end of a bundle as in `-lc`. */
function optionText(words: readonly string[], option: RegExp): string | undefined {
  const at = words.findIndex((word) => option.test(word))
  return at < 0 ? undefined : (words[at + 1] ?? "")
}

const afterEqual = (words: readonly string[], option: string): string | undefined =>
  words.find((word) => word.startsWith(`${option}=`))?.slice(option.length + 1)

function sshCommand(words: readonly string[], { given, piped }: ShellCommand): Wrapped {
  const rest = afterOptions(words, /^-[bBcDEeFIiJLlmOoPpQRSWw]$/, 0)
  const [host = "", ...behind] = rest[0] === "--" ? rest.slice(1) : rest
  const options = words
    .filter((_, at) => /^-o$/.test(words[at - 1] ?? ""))
    .concat(words.filter((word) => /^-o./.test(word)))
  const proxied = options.flatMap(
    (word) => /ProxyCommand[= ](.*)/i.exec(word)?.[1] ?? /LocalCommand[= ](.*)/i.exec(word)?.[1] ?? [],
  )
  const script = (behind[0] === "--" ? behind.slice(1) : behind).join(" ")
  const scripts = [...proxied, script, ...(script === "" ? given : [])].filter((text) => text !== "")
  const isFed = script === "" && piped
  return {
    argv: [],
    scripts,
    places: [host],
    ...(isFed ? { unresolved: "what is run on the other machine is known only when it runs" } : {}),
  }
}

const containerVerbs = /^(?:exec|run|debug)$/

function containerCommand(words: readonly string[]): Wrapped | undefined {
  const at = words.findIndex((word) => containerVerbs.test(word))
  if (at < 0) return undefined
  const split = words.indexOf("--", at)
  const places = words.slice(0, split < 0 ? words.length : split)
  if (split > 0) return { ...none, argv: [words.slice(split + 1)], places }
  const valued =
    /^-[eupvwlhnmc]$|^--(?:env|user|publish|volume|workdir|name|network|mount|entrypoint|label|hostname|env-file|platform|memory|cpus|gpus|container|namespace)$/
  const rest = afterOptions(words.slice(at + 1), valued, 1)
  const entry = optionText(words, /^--entrypoint$/) ?? afterEqual(words, "--entrypoint")
  const inner = entry === undefined ? rest : [entry, ...rest]
  return { ...none, argv: inner.length === 0 ? [] : [inner], places }
}

function findCommand(words: readonly string[]): Wrapped | undefined {
  const { roots, names } = foundBy(words)
  const found = roots.flatMap((root) => names.map((name) => `${root}/**/${name}`))
  const argv: string[][] = []
  for (const [at, word] of words.entries()) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) continue
    const end = words.findIndex((one, index) => index > at && /^[;+]$/.test(one))
    const inner = words.slice(at + 1, end < 0 ? undefined : end)
    argv.push(inner.flatMap((one) => (one === "{}" ? found : [one.replaceAll("{}", found[0] ?? "**")])))
  }
  return argv.length === 0 ? undefined : { ...none, argv }
}

/** `git -c alias.x='!cmd' x`, `git -c core.pager=cmd`, `git bisect run cmd`, `git submodule foreach cmd`, `git rebase --exec cmd`. */
function gitCommand(words: readonly string[]): Wrapped | undefined {
  const scripts: string[] = []
  for (const [at, word] of words.entries()) {
    const setting =
      words[at - 1] === "-c" || /^--config-env=/.test(word) ? /^(?:--config-env=)?([\w.-]+)=(.*)$/s.exec(word) : null
    const [, key = "", value = ""] = setting ?? []
    if (/^alias\./i.test(key)) scripts.push(value.startsWith("!") ? value.slice(1) : `git ${value}`)
    else if (
      /(?:pager|editor|command|sshcommand|askpass|fsmonitor|hookspath|textconv|external|clean|smudge|process|helper|tool\.\w+\.cmd|program)$/i.test(
        key,
      ) &&
      value !== "" &&
      value !== "cat" &&
      !/^(?:true|false|less.*|vim|nano|store|cache|osxkeychain|.*hooks)$/.test(value)
    )
      scripts.push(value.replace(/^!/, ""))
    if (
      /^(?:-x|--exec|--tree-filter|--index-filter|--msg-filter|--env-filter|--extcmd|--upload-pack|--receive-pack)$/.test(
        word,
      ) &&
      anyWord(words, /^(?:rebase|filter-branch|difftool|clone|fetch|pull|push|ls-remote)$/)
    )
      scripts.push(words[at + 1] ?? "")
    else if (/^--(?:exec|upload-pack|receive-pack|extcmd)=/.test(word)) scripts.push(word.slice(word.indexOf("=") + 1))
  }
  const run = words[0] === "bisect" && words[1] === "run" ? [words.slice(2)] : []
  const each = words.indexOf("foreach")
  if (each > 0 && words.includes("submodule"))
    scripts.push(
      words
        .slice(each + 1)
        .filter((word) => !/^--/.test(word))
        .join(" "),
    )
  for (const [at, word] of words.entries())
    if (/^alias\./i.test(word) && words[at - 1] !== "-c" && words.includes("config")) {
      const value = words[at + 1] ?? ""
      scripts.push(value.startsWith("!") ? value.slice(1) : `git ${value}`)
    }
  const config = words.indexOf("config")
  if (config >= 0 && anyWord(words.slice(config), /^!|sshcommand|hookspath|fsmonitor/i))
    scripts.push(
      ...words
        .slice(config)
        .filter((word) => word.startsWith("!"))
        .map((word) => word.slice(1)),
    )
  return scripts.length + run.length === 0 ? undefined : { ...none, argv: run, scripts }
}

/** A terminal that runs a command, or gets its keys sent. */
function terminalCommand(words: readonly string[]): Wrapped | undefined {
  const keys = words.indexOf("send-keys")
  const valued = /^-[tsncFxyLSf]$/
  if (keys >= 0)
    return {
      ...none,
      scripts: [
        afterOptions(words.slice(keys + 1), valued, 0)
          .filter((word) => !/^(?:C-\w|Enter|C-m)$/i.test(word))
          .join(" "),
      ],
    }
  const at = words.findIndex((word) =>
    /^(?:new-session|new|new-window|neww|split-window|splitw|run-shell|run|respawn-pane|if-shell)$/.test(word),
  )
  const rest = afterOptions(at < 0 ? words : words.slice(at + 1), valued, 0)
  if (at < 0 && !anyWord(words, /^-\w*[dm]/)) return undefined
  return rest.length === 0 ? undefined : { ...none, scripts: [rest.join(" ")] }
}

function evaluated(name: string, words: readonly string[], { given, piped }: ShellCommand): Wrapped | undefined {
  if (/^(?:eval|iex|invoke-expression)$/.test(name))
    return { ...none, scripts: [words.join(" ")].filter((text) => text !== "") }
  if (name === "trap") return { ...none, scripts: words.slice(0, 1).filter((text) => !/^(?:-\w?|)$/.test(text)) }
  if (name === "alias") return { ...none, scripts: words.flatMap((word) => /^[\w-]+=(.*)$/s.exec(word)?.[1] ?? []) }
  return {
    ...none,
    scripts: given,
    ...(piped ? { unresolved: "what is to be run later is known only when it runs" } : {}),
  }
}

/** Commands that hide in options of programs that have other work to do. */
function hiddenCommand(name: string, words: readonly string[], { given, piped }: ShellCommand): Wrapped | undefined {
  const scripts: string[] = []
  for (const [at, word] of words.entries()) {
    const next = words[at + 1] ?? ""
    if (name === "tar") {
      const action =
        /^--checkpoint-action=exec=(.*)$/s.exec(word)?.[1] ??
        /^--(?:to-command|use-compress-program|rsh-command|rmt-command)=(.*)$/s.exec(word)?.[1]
      if (action !== undefined) scripts.push(action)
      if (/^(?:-I|--to-command|--use-compress-program)$/.test(word)) scripts.push(next)
    }
    if (name === "rsync" && /^(?:-e|--rsh|--rsync-path)$/.test(word) && !/^ssh(?: -[pi] \S+)*$/.test(next))
      scripts.push(next)
    if (name === "man" && /^-P$/.test(word)) scripts.push(next)
    if (/^(?:n?vim?|ex|less)$/.test(name) && /^(?:-c|--cmd|-S|\+)/.test(word))
      scripts.push(...editorScripts(word === "-S" ? `source ${next}` : word.startsWith("+") ? word.slice(1) : next))
    if (name === "gdb" && /^-(?:ex|eval-command)$/.test(word))
      for (const [, shell = ""] of next.matchAll(/^(?:!|shell )(.*)/g)) scripts.push(shell)
    if (name === "socat")
      for (const [, shell = ""] of word.matchAll(/(?:exec|system):["']?([^,"']+)/gi)) scripts.push(shell)
    if (/^n(?:c|cat|etcat)$/.test(name) && /^(?:-\w*[ec]|--exec|--sh-exec)$/.test(word)) scripts.push(next)
    if (name === "make" && /^SHELL=|^\w+=.*\$\(shell/.test(word)) scripts.push(word.slice(word.indexOf("=") + 1))
    if (name === "expect" && word === "-c")
      for (const [, shell = ""] of next.matchAll(/\b(?:spawn|exec|system)\s+([^;\n]+)/g)) scripts.push(shell)
  }
  if (name === "crontab" && !anyWord(words, /^-[lr]/)) {
    for (const text of given)
      for (const line of text.split("\n")) scripts.push(line.replace(/^(?:\S+\s+){5}|^@\w+\s+/, ""))
    if (piped) return { ...none, scripts, unresolved: "the table of jobs is known only when it runs" }
  }
  if (/^(?:n?vim?|ex|ed)$/.test(name)) for (const text of given) scripts.push(...editorScripts(text))
  if (name === "make" && (words.includes("-") || words.includes("/dev/stdin")))
    scripts.push(...given.map((text) => text.replace(/^[^\t\n]*:.*$/gm, "").replace(/^\t@?/gm, "")))
  return scripts.length === 0 ? undefined : { ...none, scripts }
}

/** What commands of an editor do, as commands of a shell: those that it runs, and the files that it reads and writes. */
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
  for (const [, shell = ""] of text.matchAll(/\b(?:system|systemlist)\(\s*['"]([^'"]*)/g)) scripts.push(shell)
  for (const [, file = ""] of text.matchAll(/\b(?:readfile|writefile)\([^'"]*['"]([^'"]*)/g))
    scripts.push(`cat '${file}'`)
  return scripts
}

/** Variables that hold a command which other programs run. */
const commandVariables = new RegExp(`^${anyOf(words.commandVariables)}$`)
/** Variables that make other programs load a file or a module first, or take more options. */
const loadingVariables = new RegExp(`^${anyOf(words.loadingVariables)}$`, "i")

/** What a variable that is set for a command makes it run beside: a script, or something that is not known. */
export function runByVariable(name: string, value: string): { readonly script?: string; readonly unresolved?: string } {
  if (value === "" || value === unknownPart) return {}
  if (commandVariables.test(name)) return { script: value.replace(/^\|/, "") }
  const loads =
    loadingVariables.test(name) || (name === "NODE_OPTIONS" && /--(?:require|import|loader|eval)|-r /.test(value))
  const isPlain =
    /^(?:GIT_CONFIG_(?:NOSYSTEM|GLOBAL|SYSTEM))$/.test(name) && /^(?:\d+|\/dev\/null|true|false)$/.test(value)
  return loads && !isPlain ? { unresolved: `${name} makes programs do more than their commands say` } : {}
}

function projectCommand(name: string, words: readonly string[]): Wrapped | undefined {
  // A script that is added to package.json is judged as if it were run.
  const set = words.flatMap((word) => /^scripts[.[][\w:.\]-]+=(.*)$/s.exec(word)?.[1] ?? [])
  if (words[0] === "set-script") return { ...none, scripts: words.slice(2, 3) }
  if (set.length > 0) return { ...none, scripts: set }
  const at = words.findIndex((word) => runsBehind.test(word))
  const split = words.indexOf("--")
  if (at < 0 || (/^(?:npm|yarn|pnpm|bun|cargo|dotnet|deno)$/.test(name) && words[at] === "run")) return undefined
  const rest =
    split > at && /^(?:op|aws-vault|teller|chamber|npm|mise)$/.test(name)
      ? words.slice(split + 1)
      : afterOptions(
          words.slice(at + 1),
          /^-[npCc]$|^--(?:name|prefix|with|python|extra|group|directory|project|package)$/,
          /^(?:aws-vault|chamber|fnm|volta)$/.test(name) ? 1 : 0,
        )
  const script = optionText(words, /^(?:-c|--command)$/)
  return script === undefined ? { ...none, argv: rest.length === 0 ? [] : [rest] } : { ...none, scripts: [script] }
}
