import { cutMiddle } from "../../language/cut-text.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import { present } from "../../message/present.ts"
import { toolNature } from "../stages/tool-kind.ts"
import { oneLine } from "../summary/summary.ts"
import { codeKeys, isShell, textAt } from "./call-input.ts"
import { changesByVerb, changesForCertain, looksOnly, programAndPlace, withoutPlace } from "./changing-commands.ts"
import { endsInSearch, idleStep, mainSteps, runsOf, triedRun } from "./command-runs.ts"
import { type FileDeed, filesInCommand, filesInProgram } from "./file-change.ts"
import lists from "./tool-verbs.json" with { type: "json" }

/** What a command line or program does: how it is told in one line, which files it changes, and whether it changes anything. */
export type CommandDeed = {
  readonly type: "command"
  readonly command: string
  /** `runs`: what its last chain of steps runs; `tried`: what it attempted, if it fails. */
  readonly runs: readonly string[]
  readonly tried: string
  readonly files: readonly FileDeed[]
  /** Steps that run only if the one before succeeded, with the files that each changes, if any does. */
  readonly steps?: readonly CommandStep[]
  /** `check`: tests, builds and other commands that report a state; `maybe`: an unknown program. */
  readonly changes: "yes" | "no" | "check" | "maybe"
  /** True if its last step is a search, whose exit code 1 only means that nothing was found. */
  readonly searches?: true
  /** True if its exit code covers the whole command: no step runs regardless of the one before. */
  readonly isOneChain?: true
  /** The text printed before the exit code by its last step: `rc=` in `echo "rc=$?"`. */
  readonly codeLabel?: string
  /** The purpose that the agent stated beside the call, if it names a change. */
  readonly purpose?: string
}

type CommandStep = { readonly text: string; readonly files: readonly FileDeed[] }

/** Maximum length of a command line in characters. */
const maxCommandLength = 180

/** A program passed to an interpreter as standard input or as an argument. */
const interpreted = /(?:^|[\s;&|])(?:python3?|node|ruby|perl|php|deno|bun)\s(?:-\s?|-[ce]\s|[^\n]{0,40}<<)/

/**
 * Returns the line that says what a command does: the first that is not a comment; of a program passed to an interpreter, its most telling
 * line.
 */
function commandLine(command: string): string {
  const text = command.slice(0, 4_000)
  const lines = text.split("\n")
  const written = lines.filter((line) => line.trim() !== "" && !line.trimStart().startsWith("#"))
  const first = written.find((line) => !idleStep.test(line)) ?? written[0] ?? lines[0] ?? ""
  if (lines.length > 1 && interpreted.test(first)) {
    const told = programLine(lines.slice(lines.indexOf(first) + 1).join("\n"))
    const program = /(?:python3?|node|ruby|perl|php|deno|bun)/.exec(first)?.[0] ?? "program"
    if (told !== "") return oneLine(`${program}: ${told}`, maxCommandLength)
  }
  const mark = /(?<!<)<<-?\s{0,3}["']?(\w{1,40})/.exec(first)?.[1]
  const told = first.replace(settingUp, "").replace(trimming, "")
  if (mark === undefined) return steppedLine(told)
  const at = written.indexOf(first)
  const typed = (asksDatabase.test(first) ? mainStatement(written.slice(at + 1)) : undefined) ?? written[at + 1] ?? ""
  // Changing commands after the heredoc are shown too.
  const end = written.findIndex((line, n) => n > at && line.trim() === mark)
  const rest = end < 0 ? [] : written.slice(end + 1).filter(changesForCertain)
  return steppedLine([`${told} (${oneLine(typed, rest.length === 0 ? maxTyped : maxTyped / 2)})`, ...rest].join("; "))
}

/**
 * Returns the first statement that changes data from the input of a database client, or the first that does more than open a transaction
 * or set options.
 */
const mainStatement = (lines: readonly string[]): string | undefined =>
  lines.find((line) => changesData.test(line)) ?? lines.find((line) => !opensStatement.test(line))
const asksDatabase =
  /(?:^|[\s;&|/])(?:psql|mysql|mariadb|sqlite3|duckdb|sqlcmd|sqlplus|snowsql|clickhouse-client)\s[^\n]*<</
const opensStatement = /^\s*(?:begin|start transaction|commit|set|use|pragma|\\\w|--|\.\w)(?![\w.])/i

/** Maximum number of characters shown of a heredoc: its first words say what it is about. */
const maxTyped = 80

/** Redirections, output limits and shell setup, which say nothing about what was done. */
const settingUp = /^(?:\s*(?:set [-+]\w+|(?:\.|source) \S+|export [^;&|]{1,200})\s*(?:;|&&))+\s*(?=\S)/
const trimming = /\s2>(?:&1|\/dev\/null)|\s{0,3}\|\s{0,3}(?:tail|head)(?:\s-n)?\s-?\d{1,5}(?=\s{0,3}(?:$|&&|;|\|\|))/g

/** Shortens a long command line: omits steps that only prepare or announce, and each remaining step keeps only its beginning. */
function steppedLine(told: string): string {
  if (told.length <= maxCommandLength) return oneLine(told, maxCommandLength)
  const steps = told.match(/(?:"(?:\\.|[^"\\]){0,2000}"|'[^']{0,2000}'|(?<!&)&(?!&)|[^&;"']|["'])+/g) ?? [told]
  const left = steps.map((step) => step.trim()).filter((step) => step !== "" && !idleStep.test(step))
  const main = left.some(changesForCertain) ? left.filter((step) => changesForCertain(step) || !looksOnly(step)) : left
  const doing = withoutRepeats(main)
  const each = Math.floor(maxCommandLength / Math.max(1, doing.length)) - 2
  const all = doing.join("; ")
  if (all.length <= maxCommandLength) return oneLine(all === "" ? told : all, maxCommandLength)
  if (each < minStep) return cutMiddle(oneLine(mainSteps(all), all.length), maxCommandLength, () => " … ", 0.4)
  const long = doing.filter((step) => step.length > each).length
  const unused = doing.reduce((sum, step) => sum + Math.max(0, each - step.length), 0) / long
  const room = Math.floor(each + unused)
  return doing.map((step) => oneLine(step.length > room ? withoutPlace(step) : step, room)).join("; ")
}

/** Names the program and its place (cluster, folder) only in the first of consecutive steps that share them. */
function withoutRepeats(steps: readonly string[]): readonly string[] {
  const heads = steps.map((step) => programAndPlace.exec(step)?.[0])
  return steps.map((step, n) => {
    const head = heads[n]
    return head === undefined || head !== heads[n - 1] ? step : `${/^\S+/.exec(head)} … ${step.slice(head.length)}`
  })
}

/** Minimum number of characters shown of a step. */
const minStep = 30

const comment = /^\s*(?:#|\/\/)\s*(?!!|-\*-)(\S.{8,})$/
const idleLine =
  /^\s*(?:import\b|from\b|using\b|require\(|const .{1,60}= require|["'`]{3}|[)\]}]|$|\w+\s*=\s*(?:\[|\{|None|""|''|\d)|print\((?:f?["'][^"']*["'])?\)\s*$|def |class |for |if |else|try|except|with )/

/** Describes a program by its first comment, else by the line that changes something outside the program, else by its first call. */
function programLine(program: string): string {
  const lines = program.split("\n")
  const said = lines.map((line) => comment.exec(line)?.[1]).find((line) => line !== undefined)
  const calling = lines.filter((line) => !idleLine.test(line) && line.includes("("))
  const writing = lines.find((line) => programWrites.test(line) && !/^\s*return\b/.test(line))
  const main = writing ?? calling.find((line) => !/^\s/.test(line)) ?? calling[0]
  const told = said ?? main?.trim() ?? ""
  const named = [...new Set([...program.slice(0, maxProgram).matchAll(namedInProgram)].map(([, name = ""]) => name))]
  const others = named.filter((name) => !told.includes(name)).slice(-maxNamed)
  return others.length === 0 ? told : `${oneLine(told, maxCommandLength / 2)} (${others.join(", ")})`
}

/** Files and URLs named in the part of a program that is read; the last ones are usually what it works on. */
const namedInProgram =
  /["'`]((?:https?:\/\/|[~.\w-]*\/)[\w./?=&%@:+~-]{3,120}|[\w-]{2,60}\.(?:[a-z]{1,4}\d?|html|json|yaml|jsonl))["'`]/gi
export const maxProgram = 20_000
const maxNamed = 3

/** Without a file name, these only convert the table to text. */
const writesTable =
  "\\.to_(?:csv|excel|json|parquet)\\((?!\\s*(?:\\)|(?:index|sep|header|columns|orient)=|sys\\.stdout))"

/** Effects of a program outside itself. */
const programWrites = new RegExp(
  anyOf(
    "\\bopen\\([^)\\n]{1,120}[\"'][wax]b?\\+?[\"']|\\.write(?:_text|_bytes|lines|File(?:Sync)?)?\\(",
    `${writesTable}|savefig\\(|\\bos\\.(?:remove|rename|system)\\(|shutil\\.|subprocess\\.`,
    "requests\\.(?:post|put|patch|delete)\\(|\\bfetch\\([^)]{0,200}method:\\s*[\"'](?:POST|PUT|PATCH|DELETE)|smtplib",
    "\\.(?:commit|send_message|sendmail|unlink|rmdir)\\(",
  ),
)

/** Effects of a program other than on files that it names. */
const programActs = new RegExp(
  anyOf(
    "\\bos\\.(?:remove|rename|system)\\(",
    "shutil\\.",
    "subprocess\\.",
    "requests\\.(?:post|put|patch|delete)\\(",
    "\\bfetch\\([^)]{0,200}method:\\s*[\"'](?:POST|PUT|PATCH|DELETE)",
    "smtplib",
    "\\.(?:commit|send_message|sendmail|unlink|rmdir)\\(",
    writesTable,
    "savefig\\(",
  ),
)

/** A curl request that sends data or saves the response. Case-sensitive, because the lower-case letters are other options. */
const curlChanges =
  /(?:^|[;&|(\n]|\bdo |\bthen )\s*curl (?![^|;&\n]{0,400}(?<=\s)(?:-\w{0,4}G\w{0,4}|--get)\s)[^|;&\n]{0,400}?\s(?:(?:-X|--request)[ =]?(?:POST|PUT|PATCH|DELETE)|--data|-d[ '"]|-F |--form|-T |--upload-file|-O|(?:-o|--output)(?![ =]?(?:\/dev\/null|\/tmp\/|-?$)))/

function commandNature(
  tool: string,
  input: unknown,
  command: string,
  isProgram: boolean,
  isTold: boolean,
): "yes" | "no" | "check" | "maybe" {
  const program = command.slice(0, 20_000)
  // Effects on files that a program names are reported with the files.
  const acts = isTold ? programActs.test(program) : programWrites.test(program)
  if (isProgram) return acts ? "yes" : isTold ? "check" : "no"
  if (asksDatabase.test(program)) {
    const typed = program.slice(program.indexOf("\n", program.indexOf("<<")) + 1)
    if (changesData.test(typed) && !/^\s*rollback\b/im.test(typed)) return "yes"
  }
  // A command run on another host stands in quotes.
  const bare = command
    .slice(0, 4_000)
    .replace(
      /(^|[;&|\n]\s{0,3})(?:ssh\s[^'"\n]{1,120}|ansible\s[^'"\n]{1,120}\s-a\s?)(?:'([^'\n]{1,600})'|"((?:[^"\\\n]|\\.){1,600})")/g,
      "$1$2$3",
    )
    .replace(databaseQuery, "$1$2")
    .replace(/'[^'\n]{0,600}'/g, "_")
  if (changesForCertain(bare) || curlChanges.test(bare) || (interpreted.test(bare) && acts)) return "yes"
  const { kind, writes } = toolNature(tool, input)
  if (kind === "test") return "check"
  if (changesByVerb(bare)) return "yes"
  if (isTold && interpreted.test(bare)) return "check"
  return writes && !looksOnly(bare) ? "maybe" : "no"
}

/** The statement that a database client is given on its command line. */
const databaseQuery =
  /(\b(?:psql|mysql|mariadb|sqlite3|clickhouse-client|sqlcmd)\s[^'\n;&|]{0,200}-\w{0,4}[ceQ]\s{0,3})'([^'\n]{0,600})'/g

const statements = anyOf(
  "insert\\s+(?:or\\s+\\w+\\s+)?into|update\\s+\\S+\\s+(?:\\w+\\s+)?set|delete\\s+from",
  "create\\s+(?!(?:\\w+\\s+)?temp)(?:or\\s+replace\\s+)?(?:\\w+\\s+){0,2}(?:table|view|index|schema|database|function|sequence|type|user|role|trigger|extension)",
  "drop\\s+\\w+|alter\\s+\\w+|truncate\\s+\\w|merge\\s+(?:into|\\()|replace\\s+into|refresh\\s+materialized|grant\\s+\\w",
  "revoke\\s+\\w|mutation\\b",
)
/** A query with a changing statement, at its beginning or after others. */
export const changesData = new RegExp(`(?:^|;)\\s{0,20}(?:--[^\\n]{0,200}\\n\\s{0,20}){0,8}${statements}`, "i")

/** Returns the steps of a plain chain with `&&` and the files that each changes; undefined if the command has any other structure. */
function chainedSteps(command: string): readonly CommandStep[] | undefined {
  if (command.length > maxCommandRead) return undefined
  const bare = command.replace(/"(?:\\.|[^"\\]){0,600}"|'[^']{0,600}'/g, "_")
  if (!bare.includes(" && ") || /;|\|\||\n|<<|&\s*$/.test(bare)) return undefined
  const texts = command.split(" && ")
  if (texts.length !== bare.split(" && ").length || texts.length > maxChained) return undefined
  return texts.map((text) => ({ text, files: filesInCommand(text) }))
}
const [maxChained, maxCommandRead] = [20, 4_000]

/** Reads a command; a program passed as an argument is shown by the line that says what it does. */
export function commandDeed(tool: string, input: unknown, command: string): CommandDeed {
  const shell = shellLines(command)
  if (shell !== undefined) return commandDeed("bash", input, shell)
  const isProgram = !isShell(tool) && (command.includes("\n") || textAt(input, codeKeys) === command)
  const line = isProgram ? oneLine(programLine(command), maxCommandLength) : ""
  const written = isProgram || interpreted.test(command.slice(0, 4_000)) ? filesInProgram(command) : []
  const files = isProgram ? written : [...filesInCommand(command), ...written]
  const nature = commandNature(tool, input, command, isProgram, written.length > 0)
  const purpose = nature === "no" ? undefined : purposeIn(input)
  const isOpen = nature === "maybe" || nature === "check"
  return {
    type: "command",
    command: line === "" ? commandLine(command) : line,
    ...(isProgram ? { runs: [line], tried: line } : { runs: runsOf(command), tried: triedRun(command) }),
    files,
    ...present({ steps: isProgram || files.length === 0 ? undefined : chainedSteps(command) }),
    changes: isOpen && files.length === 0 && purpose !== undefined ? "yes" : nature,
    ...present({ purpose }),
    ...(!isProgram && endsInSearch(command) ? { searches: true } : {}),
    ...(isProgram || hidesCode.test(command) ? {} : { isOneChain: true }),
    ...present({ codeLabel: printedCode.exec(command.slice(-200))?.[1] }),
  }
}
const printedCode = /(?:^|[\n;|&]\s{0,3})echo ["']?([\w .:=-]{0,30}?)\$\{?(?:\?|PIPESTATUS\[0\])\}?["']?\s*$/
/** Matched inside quoted text too, because that may be executed. */
const hidesCode = /[|;\n]/

/** Returns the purpose stated beside a command if it names a change: "Flash rig A on separate ports", "Rebuild and restart the worker". */
function purposeIn(input: unknown): string | undefined {
  const told = oneLine(textAt(input, purposeKeys) ?? "", maxPurpose)
  const plain = told
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
  const clauses = plain.split(/(?:,|;|&|(?<!\p{L})(?:and|then|et|puis|und|dann|y|e|luego|poi|en|och)(?!\p{L}))\s*/u)
  const isMeant =
    clauses.some((clause) => purposes.has(/\p{L}+/u.exec(clause)?.[0] ?? "")) || purposesElsewhere.test(told)
  return isMeant ? told : undefined
}
const purposeKeys = ["description", "explanation", "purpose", "intent", "_i"]
const maxPurpose = 90
const purposes = wordSet(...lists.purposes)
const purposesElsewhere = new RegExp(anyOf(lists.purposesIdeographic))

/** Returns the shell commands of a notebook cell that consists only of them. */
function shellLines(command: string): string | undefined {
  if (!/^\s{0,8}[!%]/.test(command)) return undefined
  const lines = command.split("\n").filter((line) => line.trim() !== "")
  if (/^%%(?:bash|sh)\b/.test(lines[0] ?? "")) return lines.slice(1).join("\n")
  return lines.every((line) => /^\s{0,8}!(?!=)\S/.test(line))
    ? lines.map((line) => line.trim().slice(1)).join("\n")
    : undefined
}
