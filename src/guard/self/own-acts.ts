import { percentDecoded } from "../../language/encoding.ts"
import { firstTold, foundIn, operandsOf } from "../facts/options.ts"
import { unknownPart } from "../facts/shell-words.ts"
import { anyWord } from "../facts/words.ts"
import type { OwnCommand } from "./own-commands.ts"
import type { OwnProcess } from "./own-process.ts"

/** Returns what commands do to the gateway's process, admin API or program, as the end of a sentence: `would …`. */
export function actsOn(commands: readonly OwnCommand[], own: OwnProcess): string | undefined {
  for (const command of commands) {
    const act =
      endsProcess(command, commands, own) ??
      stopsService(command) ??
      debugs(command, own) ??
      connectsToPort(command, own) ??
      blocksPort(command, own) ??
      runsProgram(command, own) ??
      showsEnvironment(command, own)
    if (act !== undefined) return act
  }
  return undefined
}

const ending = "end or signal its process"

const isNumber = (word: string, number: number | undefined): boolean => number !== undefined && word === String(number)

/** True if a pattern that selects processes selects this one. An invalid regular expression is searched as plain text. */
function selects(pattern: string, texts: readonly string[], exact = false): boolean {
  if (pattern === "" || pattern.includes(unknownPart)) return false
  try {
    const expression = new RegExp(exact ? `^(?:${pattern})$` : pattern, "i")
    return texts.some((text) => expression.test(text.slice(0, 4_000)))
  } catch {
    return texts.some((text) => text.toLowerCase().includes(pattern.toLowerCase()))
  }
}

/** True for a word that is not a Windows switch such as `/PID`. */
const isNoSwitch = (word: string): boolean => !word.startsWith("/")

const killers = /^(?:kill|skill|snice|taskkill|stop-process|spps|tskill)$/
const byName = /^(?:pkill|killall|killall5|pgrep|pidof|slay)$/
const byPort = /^(?:fuser|kill-port|killport|kill-port-process|fkill|fkill-cli)$/

function endsProcess(command: OwnCommand, all: readonly OwnCommand[], own: OwnProcess): string | undefined {
  const { name, words } = command
  if (/^(?:shutdown|reboot|halt|poweroff)$/.test(name)) return "end the machine that it runs on"
  if (/^(?:init|telinit)$/.test(name) && /^[06]$/.test(words[0] ?? "")) return "end the machine that it runs on"
  if (killers.test(name)) return kills(command, all, own) ? ending : undefined
  if (name === "pkill" || name === "killall" || name === "killall5" || name === "slay")
    return selectsByName(command, own) ? ending : undefined
  if (byPort.test(name) && (name !== "fuser" || anyWord(words, /^-\w*k|^--kill$/)))
    return words.some((word) => isNumber(/\d+/.exec(word)?.[0] ?? "", own.port())) ||
      (name.startsWith("fkill") && selectsByName(command, own))
      ? ending
      : undefined
  return undefined
}

/** True for `kill` with our process id, with -1 for all, or with ids printed by a command that finds ours. */
function kills({ name, words, around }: OwnCommand, all: readonly OwnCommand[], own: OwnProcess): boolean {
  const signals = words.filter((word) => /^-(?:0|s|n|l|L)$|^--(?:signal|list)/.test(word))
  if (name === "kill" && words.includes("-0")) return false
  const operands = words.filter((word, at) => {
    const isSignal = at === 0 && /^-[A-Za-z\d]+$/.test(word) && words.length > 1
    return !isSignal && word !== "--" && !signals.includes(word) && !signals.includes(words[at - 1] ?? "")
  })
  if (operands.some((word) => isNumber(word.replace(/^-/, ""), own.pid))) return true
  if (name === "kill" && words.length > 1 && words.slice(1).includes("-1")) return true
  if (/^(?:taskkill|stop-process|spps|tskill)$/.test(name)) return selectsByName({ name: "killall", words }, own)
  const isIndirect =
    around.includes("xargs") ||
    around.includes("parallel") ||
    operands.some((word) => word.includes("$") || word.includes(unknownPart))
  return isIndirect && all.some((other) => findsProcess(other, own))
}

function selectsByName({ name, words }: Pick<OwnCommand, "name" | "words">, own: OwnProcess): boolean {
  if (name === "killall5") return true
  const isFull = anyWord(words, /^-\w*f\w*$|^--full$/) && name !== "killall"
  const isExact = name === "killall" ? !anyWord(words, /^-\w*r|^--regexp$/) : words.includes("-x")
  const patterns = operandsOf(words, /^-(?:[uUGgPst]|-signal|-user|-uid|-group|-parent)$/)
    .filter(isNoSwitch)
    .map((word) => word.replace(/\.exe$/i, ""))
  // All processes of a user, a group or a terminal.
  if (patterns.length === 0) return anyWord(words, /^-\w*[uUGgts]$|^--(?:user|uid|euid|group|session|terminal)/)
  const texts = isFull ? [own.commandLine, ...own.names] : own.names
  return patterns.some((pattern) => selects(pattern, texts, isExact && !isFull))
}

/** True if a command may print our process id. */
function findsProcess({ name, words }: OwnCommand, own: OwnProcess): boolean {
  const isOurs = (pattern: string): boolean => selects(pattern, [own.commandLine, ...own.names])
  if (byName.test(name)) return selectsByName({ name: name === "pidof" ? "killall" : name, words }, own)
  const port = own.port()
  if (/^(?:lsof|ss|netstat|fuser|grep|egrep|awk|gawk|rg|get-nettcpconnection)$/.test(name) && port !== undefined)
    if (words.some((word) => new RegExp(`(?<!\\d)${port}(?!\\d)`).test(word))) return true
  if (/^(?:[ef]?grep|rg|ag)$/.test(name) && !anyWord(words, /^-\w*v/))
    return operandsOf(words, /^-[ABCmef]$/)
      .filter(isNoSwitch)
      .slice(0, 1)
      .some(isOurs)
  if (/^g?awk$/.test(name)) return foundIn(words[0] ?? "", /\/((?:[^/\\]|\\.)+)\//g).some(isOurs)
  return name === "ps" && selects(firstTold(words, /^-\w*C$/) ?? "", own.names)
}

const managers =
  /^(?:systemctl|service|rc-service|initctl|supervisorctl|pm2|forever|launchctl|brew|docker|docker-compose|podman|nerdctl|kubectl|oc|helm|nomad|sc|net|sv|s6-svc|monit|snap)$/
const stops =
  /^(?:stop|kill|restart|reload|disable|mask|rm|remove|delete|del|down|unload|bootout|pause|scale|uninstall|reload-or-restart|try-restart|terminate|rollout)$/

/** Finds commands that stop a service, container or deployment of our name. */
function stopsService({ name, words }: OwnCommand): string | undefined {
  if (!managers.test(name)) return undefined
  if (name === "systemctl" && anyWord(words, /^(?:poweroff|reboot|halt|kexec)$/))
    return "end the machine that it runs on"
  const isStopped = words.some((word) => stops.test(word.toLowerCase()))
  const isOurs = anyWord(words, /(?<![a-z\d])holdfast(?![a-z\d])/i)
  const isAll = name === "pm2" && words.includes("all")
  return isStopped && (isOurs || isAll) ? "stop the service that it runs as" : undefined
}

function debugs({ name, words }: OwnCommand, own: OwnProcess): string | undefined {
  const isDebugger =
    /^(?:gdb|lldb|strace|ltrace|gcore|dtruss|ptrace|reptyr|node-inspect|perf|renice|prlimit|nsenter)$/.test(name)
  return isDebugger && words.some((word) => isNumber(word.replace(/^-\w|^--\w+=/, ""), own.pid))
    ? "look into or change its process"
    : undefined
}

const rawClients = /^(?:nc|ncat|netcat|telnet|socat|openssl)$/

function connectsToPort({ name, words }: OwnCommand, own: OwnProcess): string | undefined {
  const port = own.port()
  if (!rawClients.test(name) || port === undefined || anyWord(words, /^-\w*z/)) return undefined
  return words.some((word) => new RegExp(`(?:^|[:/])${port}$`).test(word)) ? "speak to its port by hand" : undefined
}

/** A firewall rule that names our port. */
function blocksPort({ name, words }: OwnCommand, own: OwnProcess): string | undefined {
  if (!/^(?:iptables|ip6tables|nft|ufw|firewall-cmd|pfctl|netsh|tc)$/.test(name)) return undefined
  return words.some((word) => word.split(/\D+/).some((number) => isNumber(number, own.port())))
    ? "shut off its port"
    : undefined
}

/** Subcommands of the gateway's program that change or show what it stores. */
const operatorCommands = /^(?:pin|unpin|keys|sessions|memory)$/

/**
 * Finds uses of the gateway's own program that only the operator may run: setting rules, trusting keys, reading or deleting stored data.
 */
function runsProgram({ name, words }: OwnCommand, own: OwnProcess): string | undefined {
  const isNode = /^(?:node|nodejs|bun|deno|tsx)$/.test(name)
  const at = words.findIndex((word) => !word.startsWith("-") && word !== "run")
  const script = isNode ? (words[at] ?? "") : ""
  const isOwnScript =
    script !== "" &&
    (own.commandLine.includes(script.replace(/^\.\//, "")) || /(?:^|[\\/])holdfast(?:$|[\\/])/i.test(script))
  const isThroughNpm = /^(?:npm|pnpm|yarn)$/.test(name) && anyWord(words, /^holdfast(?:@.*)?$/)
  if (name !== "holdfast" && !(isNode && isOwnScript) && !isThroughNpm) return undefined
  const from = isNode ? at + 1 : isThroughNpm ? words.findIndex((word) => /^holdfast(?:@.*)?$/.test(word)) + 1 : 0
  const [verb = "", part = ""] = words.slice(from).filter((word) => !word.startsWith("-"))
  if (isThroughNpm && !anyWord(words.slice(0, from), /^(?:exec|x|dlx|run)$/)) return undefined
  const isPolicy = verb === "policy" && part !== "check"
  return operatorCommands.test(verb) || isPolicy ? `run the operator's command "holdfast ${verb}"` : undefined
}

/** Finds commands that print all environment variables, which include a token; `ps` can print them too. */
function showsEnvironment({ name, words }: OwnCommand, own: OwnProcess): string | undefined {
  const named = words.some((word) => own.secretNames.some((secret) => new RegExp(`\\b${secret}\\b`).test(word)))
  if (named && /^(?:printenv|env|export|set|declare|unset|[ef]?grep|rg|awk|sed|compgen)$/.test(name))
    return "read the variable that holds its token"
  if (!own.isSecretSet) return undefined
  const isDump =
    (/^(?:env|printenv|set|gci|get-childitem)$/.test(name) &&
      words.every((word) => /^-0$|^--null$|^env:$/i.test(word))) ||
    (/^(?:export|declare|typeset)$/.test(name) && words.length > 0 && words.every((word) => /^-[px]+$/.test(word))) ||
    (name === "ps" && words.some((word) => /^[a-z]*e[a-z]*$/.test(word) || /^-E/.test(word)))
  return isDump ? "read the environment, in which its token is" : undefined
}

// Addresses

const urls = /https?:\/\/[^\s"'`<>()|;]+/gi

const local = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f.*\]|host\.docker\.internal|.*\.localhost)$/

/** True if a text calls the admin API, by its URL, or by its port and path in separate places. */
export function callsAdmin(text: string, own: OwnProcess): boolean {
  const port = own.port()
  if (port === undefined) return false
  for (const [written] of text.matchAll(urls)) {
    const url = URL.canParse(written) ? new URL(written) : undefined
    if (url === undefined || (url.port || (url.protocol === "https:" ? "443" : "80")) !== String(port)) continue
    const path = percentDecoded(url.pathname).replace(/\/{2,}/g, "/")
    if ((local.test(url.hostname) || own.hosts.includes(url.hostname)) && /^\/admin(?:\/|$)/i.test(path)) return true
  }
  return (
    new RegExp(`(?<!\\d)${port}(?!\\d)`).test(text) &&
    /["'`\s/}]\/?admin\/(?:status|sessions|operator|approvals|events|stand)/i.test(text)
  )
}

/** True if a program in another language names our process id together with a word for ending, or selects us by name. */
export function codeEnds(text: string, own: OwnProcess): boolean {
  if (!/kill|terminate|signal|SIG[A-Z]{3,}/i.test(text)) return false
  if (new RegExp(`(?<![\\w.])${own.pid}(?![\\w.])`).test(text)) return true
  return /\b(?:pkill|killall|taskkill|process_iter|pgrep)\b/.test(text) && /holdfast/i.test(text)
}
