import { cutMiddle } from "../../language/cut-text.ts"
import { wordSet } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import type { ToolCallPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { toolNature } from "../stages/tool-kind.ts"
import { oneLine } from "../summary/summary.ts"
import { callText, maxMembers, statementText } from "./call-text.ts"
import {
  changesByVerb,
  changesForCertain,
  isProgram as isKnownProgram,
  looksOnly,
  programAndPlace,
  withoutPlace,
} from "./changing-commands.ts"
import { endsInSearch, idleStep, mainSteps, runsOf, triedRun } from "./command-runs.ts"
import {
  changeOf,
  type FileChange,
  type FileDeed,
  filesInCommand,
  filesInPatch,
  filesInProgram,
  joinChanges,
  placeholder,
} from "./file-change.ts"
import { type Task, type TaskChange, taskChangeIn, tasksIn } from "./task-list.ts"
import { toolVerb } from "./tool-verb.ts"
import lists from "./tool-verbs.json" with { type: "json" }

/** What a call does, as far as its tool name and input tell. */
export type CallDeed =
  | {
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
  | { readonly type: "files"; readonly files: readonly FileDeed[] }
  | { readonly type: "tasks"; readonly tasks: readonly Task[] }
  | { readonly type: "task"; readonly change: TaskChange }
  | { readonly type: "said"; readonly text: string; readonly asks: boolean }
  | {
      readonly type: "call"
      readonly tool: string
      readonly text: string
      /** The whole input. */
      readonly input: unknown
      readonly changes: "yes" | "no" | "little" | "maybe"
    }
  | { readonly type: "nothing" }

type CommandStep = { readonly text: string; readonly files: readonly FileDeed[] }

const commandKeys = ["command", "cmd", "shell", "commands"]
const pathKeys = [
  "path",
  "file_path",
  "filePath",
  "filename",
  "file_name",
  "file",
  "target_file",
  "notebook_path",
  "absolute_path",
  "TargetFile",
]
const patchKeys = ["patch", "input", "diff", "patch_text"]
const sayKeys = ["message", "result", "summary", "answer", "text", "output", "question", "response"]

/** Maximum length of a command line in characters. */
const maxCommandLength = 180

/** A line number, range or display mode after a path: `a.ts:301`, `a.ts:424-440`, `a.ts:raw`. */
const lineSuffix = /(?<=\.\w{1,10}):(?:\d{1,7}(?:[-:+,]\d{1,7})?|[a-z]{2,8})$/

/** A first line that names the file that the following lines are for: `§src/a.ts`, `@@ src/a.ts`. */
const headPath = /^[^\w\s./~]{0,4}\s?((?:[\w@.+~-]{0,80}\/){0,20}[\w@.+-]{1,80}\.\w{1,10})\s*$/

/** Commands of an editor tool, which some agents pass under the key `command` too. */
const editorCommand = /^(?:view|create|str_replace|insert|undo_edit|delete|rename|write|append|edit|read|open)$/

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function textAt(input: unknown, keys: readonly string[]): string | undefined {
  if (!isRecord(input)) return undefined
  for (const key of keys) {
    const value: unknown = Reflect.get(input, key)
    if (typeof value === "string" && value.trim() !== "") return value
    if (Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")) {
      return shellWords(value)
    }
  }
  return undefined
}

/**
 * Returns a program from the key `code`, which may also hold the code of a country, a voucher or a lock, or from the key `script` of a
 * tool that runs code.
 */
function programIn(tool: string, input: unknown): string | undefined {
  const script = isShell(tool) || runsCode.test(tool) ? textAt(input, ["script"]) : undefined
  const text = textAt(input, runsCode.test(tool) ? codeKeys : ["code"])
  // A short code, such as one that the user reads out, is no program.
  const isProgram = text !== undefined && (runsCode.test(tool) ? /[^\w-]/.test(text) : /[\n(=]/.test(text))
  return script ?? (isProgram ? text : undefined)
}
const codeKeys = ["code", "cell", "source"]
const runsCode = /python|code|exec|run|eval|repl|interpret|script|node|js|jupyter|notebook|cell/i

/** Joins the texts of a list of questions with options. */
function questionsIn(input: unknown): string | undefined {
  const list: unknown = isRecord(input) ? Reflect.get(input, "questions") : undefined
  const asked = Array.isArray(list) ? list.flatMap((one) => textAt(one, ["question", "text", "title"]) ?? []) : []
  return asked.length === 0 ? undefined : asked.join(" ")
}

/** Returns the longest text of the input: agents pass a final message under any key. */
function longestText(input: unknown): string | undefined {
  if (typeof input === "string") return input
  const texts = isRecord(input) ? Object.values(input).filter((value) => typeof value === "string") : []
  return texts.sort((one, other) => other.length - one.length)[0]
}

/** Returns `npm test` for `["bash", "-lc", "npm test"]`; otherwise joins the words. */
const shellWords = (words: readonly string[]): string =>
  words.length === 3 && /^-\w{0,3}c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.slice(0, 40).join(" ")

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
const maxProgram = 20_000
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

/** Prepends the program to a command passed to a tool named after it: `kubectl(command="-n shop get pods")`. */
function withProgram(tool: string, command: string): string {
  const name = (tool.split(/__|\./).at(-1) ?? "").toLowerCase()
  return isKnownProgram(name) && !command.trimStart().startsWith(name) ? `${name} ${command.trimStart()}` : command
}

/** Prepends the host or cluster to a command run elsewhere, so that it differs from the same command in another place. */
function atPlace(input: unknown, deed: CallDeed): CallDeed {
  const place = textAt(input, placeKeys)
  if (deed.type !== "command" || place === undefined || !/^[\w.:@/-]{1,60}$/.test(place)) return deed
  if (deed.command.includes(place)) return deed
  const [command, tried] = [`${place}: ${deed.command}`, `${place} ${deed.tried}`]
  return { ...deed, command, tried, runs: deed.runs.map((run) => `${place} ${run}`) }
}
const placeKeys = ["context", "cluster", "host", "hostname", "server", "machine", "node", "container", "environment"]

/** Prepends the folder to a command run in another folder than `home`, because the same words did something else there. */
export function inFolder(deed: CallDeed, input: unknown, home: string | undefined): CallDeed {
  const folder = folderOf(input)
  if (deed.type !== "command" || home === undefined || folder === undefined || folder === home) return deed
  // The folder keeps its last shared parent: "prod" alone would be ambiguous.
  const place = folder.slice(home.lastIndexOf("/") + 1)
  if (deed.command.includes(folder) || deed.command.includes(`cd ${place}`)) return deed
  const there = (run: string): string => `${run} in ${place}`
  return { ...deed, command: `cd ${place} && ${deed.command}`, tried: there(deed.tried), runs: deed.runs.map(there) }
}

/** Returns the folder that a call names beside its command. */
const folderOf = (input: unknown): string | undefined => textAt(input, folderKeys)?.replace(/(?<=.)\/$/, "")
const folderKeys = ["workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "directory"]

/**
 * Returns the common parent of all folders that calls name: undefined if there are fewer than two folders, empty if they share only the
 * root.
 */
export function homeOf(inputs: readonly unknown[]): string | undefined {
  const [first = "", ...others] = new Set(inputs.flatMap((input) => folderOf(input) ?? []))
  if (others.length === 0) return undefined
  const steps = first.split("/")
  const shared = steps.findIndex((step, n) => others.some((other) => other.split("/")[n] !== step))
  return steps.slice(0, shared < 0 ? steps.length : shared).join("/")
}

/** Tools that accept a command to be run later: submitting is what was done, whatever the command does. */
const submitsForLater =
  /(?:^|[_.-]|(?<=[a-z]))(?:submit|schedule|queue|enqueue|launch|dispatch|deploy|create|register|cron)/i
const runsNow = /run|exec|eval|invoke|interpret/i

/**
 * Reads a call. Keys of the input are checked before tool names, because agents name their tools as they like. The file is long because
 * every form of call is distinguished from the others here, in a fixed order.
 */
export function deedOf({ tool, input }: Pick<ToolCallPart, "tool" | "input">): CallDeed {
  const verb = toolVerb(tool)
  const tasks = verb === "list" || /task|plan/i.test(tool) ? tasksIn(input) : []
  if (tasks.length > 0) return { type: "tasks", tasks }
  if (itemTool.test(tool)) return { type: "task", change: taskChangeIn(input) }
  if (verb === "think" || verb === "list") return { type: "nothing" }
  const path = textAt(input, pathKeys)
  const command = textAt(input, commandKeys) ?? programIn(tool, input)
  const isSubmitted = verb === "change" && submitsForLater.test(tool) && !isShell(tool) && !runsNow.test(tool)
  if (command !== undefined && !isSubmitted && !(path !== undefined && editorCommand.test(command)))
    return atPlace(input, commandDeed(tool, input, withProgram(tool, command)))
  const patched = filesInPatch(typeof input === "string" ? input : (textAt(input, patchKeys) ?? ""))
  if (patched.length > 0) return { type: "files", files: patched }
  const action = textAt(input, actionKeys)
  const deed = fileDeed(
    `${tool} ${command ?? ""} ${action !== undefined && /^\w{2,20}$/.test(action) ? action : ""}`,
    input,
  )
  const change = deed === "edited" || deed === "created" ? changeIn(input) : undefined
  const content = deed === "created" ? textAt(input, newKeys) : undefined
  const told = present({ change, content, swap: deed === "edited" ? swapIn(input) : undefined })
  if (path !== undefined && deed !== undefined)
    return { type: "files", files: [{ path: oneLine(path.replace(lineSuffix, ""), 200), deed, ...told }] }
  if (path === undefined && deed === "edited" && /^(?:edit|insert|append|replace)/i.test(tool)) {
    const [head = "", ...rest] = (textAt(input, patchKeys) ?? "").slice(0, maxProgram).split("\n")
    const file = headPath.exec(head.slice(0, 240))?.[1]
    if (file !== undefined)
      return { type: "files", files: [{ path: file, deed, change: changeOf("", rest.join("\n")) }] }
    return { type: "files", files: [{ path: "", deed, ...told }] }
  }
  if (verb === "finish" || verb === "ask") {
    const text = textAt(input, sayKeys) ?? questionsIn(input) ?? longestText(input)
    // A tool that confirms something by its number asks the user nothing.
    if (text !== undefined && (verb === "finish" || inWords.test(text)))
      return { type: "said", text, asks: verb === "ask" }
  }
  if (isReadRequest(input) || isDryRun(input))
    return { type: "call", tool, text: callText(tool, input), input, changes: "no" }
  const statement = textAt(input, ["query", "sql", "statement", "stmt", "q"])
  if (statement !== undefined && (readsData.test(statement) || changesData.test(statement.slice(0, 4_000)))) {
    // A tool that makes a view or report from a statement changes something, even if the statement only reads.
    const makes = verb === "change" && !/^(?:run|execute|exec)/i.test(tool)
    const changes = makes || changesData.test(statement.slice(0, 4_000)) ? "yes" : "no"
    const text = makes ? callText(tool, input) : statementText(tool, input, statement)
    return { type: "call", tool, text, input, changes }
  }
  // `file(action=list)` and `manage_order(action=view)` only read: the action says more than such a tool name.
  const asked = toolVerb(action ?? "")
  const does = verb === undefined || verb === "service" || asked === "lookup" ? (asked ?? verb) : verb
  const isGesture = does === "gesture" || (handles.test(tool) && onElement(input))
  const changes = does === "lookup" ? "no" : isGesture ? "little" : does === undefined ? "maybe" : "yes"
  return { type: "call", tool, text: callText(tool, input), input, changes }
}

const inWords = /\p{L}\s+\S|[?？]|[\u2e80-\u9fff\uac00-\ud7af]/u

/** Typing into a field or choosing a value has no effect before it is submitted. */
const handles =
  /^(?:\w{0,20}?_)?(?:type|select|fill|input|check|uncheck|choose|set_value|select_option|fill_form|clear)(?:_\w{1,20})?$/i
const onElement = (input: unknown): boolean =>
  isRecord(input) &&
  Object.keys(input).some((key) => /^(?:ref|element|selector|uid|bid|element_?id|fields)$/i.test(key))

const actionKeys = ["action", "method", "operation", "command", "op", "verb"]

/** True if a call only previews what it would do. */
const isDryRun = (input: unknown): boolean =>
  isRecord(input) &&
  Object.entries(input).some(([key, value]) => dryRunKey.test(key) && /^(?:true|yes|1)$/i.test(String(value)))
const dryRunKey = /^(?:dry_?run|simulate|preview_?only|validate_?only|what_?if|test_?mode)$/i

/** True for an HTTP request with a method that changes nothing. */
const isReadRequest = (input: unknown): boolean =>
  /^(?:GET|HEAD|OPTIONS)$/i.test(textAt(input, ["method", "http_method", "verb"]) ?? "") ||
  /^(?:GET|HEAD|OPTIONS) \S{1,2000} HTTP\/\d/.test(textAt(input, ["content", "request", "raw", "data", "body"]) ?? "")

/** A query that only reads. */
const readsData = /^\s{0,20}(?:select\s|with\s+\w+\s+as\s|explain\s|show\s+\w+\s*;?$|describe\s+\w)/i

const statements = anyOf(
  "insert\\s+(?:or\\s+\\w+\\s+)?into|update\\s+\\S+\\s+(?:\\w+\\s+)?set|delete\\s+from",
  "create\\s+(?!(?:\\w+\\s+)?temp)(?:or\\s+replace\\s+)?(?:\\w+\\s+){0,2}(?:table|view|index|schema|database|function|sequence|type|user|role|trigger|extension)",
  "drop\\s+\\w+|alter\\s+\\w+|truncate\\s+\\w|merge\\s+(?:into|\\()|replace\\s+into|refresh\\s+materialized|grant\\s+\\w",
  "revoke\\s+\\w|mutation\\b",
)
/** A query with a changing statement, at its beginning or after others. */
const changesData = new RegExp(`(?:^|;)\\s{0,20}(?:--[^\\n]{0,200}\\n\\s{0,20}){0,8}${statements}`, "i")

/**
 * Tools that keep the agent's own task list item by item (`TaskCreate`, `todo_update`); a task tool of a service has the service's name
 * before it.
 */
const itemTool = /^(?:task|todo)_?(?:create|add|new|update|set|complete|done|finish|delete|remove|get|list|read)s?$/i

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
export function commandDeed(tool: string, input: unknown, command: string): CallDeed {
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

const isShell = (tool: string): boolean =>
  /bash|shell|sh$|terminal|command|cmd|exec(?!ute_python|.*code)/i.test(tool) &&
  !/python|node|code|repl|notebook/i.test(tool)

const oldKeys = ["old_string", "old_str", "oldText", "old_text", "oldString", "search", "find", "old"]
const newKeys = [
  ...[
    "new_string",
    "new_str",
    "newText",
    "new_text",
    "newString",
    "replace",
    "new",
    "content",
    "contents",
    "file_text",
  ],
  ...["text", "replacement_text", "new_content", "code_edit", "new_source", "insert_text", "replacement"],
]

/** Sums up the lines that an edit or a write adds and removes. */
function changeIn(input: unknown): FileChange | undefined {
  if (!isRecord(input)) return undefined
  const edits: unknown = Reflect.get(input, "edits") ?? Reflect.get(input, "changes")
  const list: readonly unknown[] = Array.isArray(edits) ? edits : [input]
  const changes = list.slice(0, maxMembers).flatMap((edit) => {
    const [old, fresh] = [textAt(edit, oldKeys), textAt(edit, newKeys)]
    if ((old === undefined && fresh === undefined) || placeholder.test(fresh ?? "")) return []
    return [changeOf(old ?? "", fresh ?? "")]
  })
  return changes.reduce<FileChange | undefined>((older, newer) => joinChanges(older, newer), undefined)
}

/** Returns the old and new text of one edit, if they are short enough to compare later. */
function swapIn(input: unknown): FileDeed["swap"] {
  const [old = "", fresh = ""] = [textAt(input, oldKeys), textAt(input, newKeys)]
  return old === "" || old.length + fresh.length > maxSwap ? undefined : { old, fresh }
}
const maxSwap = 8_000

/** Returns what is done to a file, from the words in the tool's name and the keys of its input. */
function fileDeed(name: string, input: unknown): FileDeed["deed"] | undefined {
  const keys = isRecord(input) ? Object.keys(input).join(" ") : ""
  if (/\b(?:undo_?edit|revert_?edit)\b|\bundo$/i.test(name)) return "undone"
  if (/delete|remove|unlink/i.test(name)) return "deleted"
  if (/edit|replace|insert|patch|append|update|multi/i.test(name) && !/editor\s+(?:view|create)/i.test(name))
    return showsOnly(name, keys) ? "read" : "edited"
  if (/create|write|save|new.?file/i.test(name)) return "created"
  if (/old_?str|old_?text|new_?str|edits|diff/i.test(keys)) return "edited"
  if (/read|view|open|cat|show|get|fetch|load/i.test(name)) return "read"
  return undefined
}

/** True for an editor tool called without new text, which only shows the file. */
const showsOnly = (name: string, keys: string): boolean =>
  /edit(?:or|_tool|_file)?\s*$/i.test(name) &&
  /(?:^| )(?:view_range|start|end|offset|limit|line|lines|start_line|end_line)(?: |$)/i.test(keys) &&
  !/old|new|content|text|edit|diff|patch|insert|replac|code/i.test(keys)
