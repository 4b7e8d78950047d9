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

/** What a call does, as far as its name and input tell. */
export type CallDeed =
  | {
      readonly type: "command"
      readonly command: string
      /** What its last chain of steps runs, and what it is about where it fails. */
      readonly runs: readonly string[]
      readonly tried: string
      readonly files: readonly FileDeed[]
      /** `check`: tests, builds and whatever else says how things stand; `maybe`: a program that nobody here knows. */
      readonly changes: "yes" | "no" | "check" | "maybe"
      /** It ends in a search. */
      readonly searches?: true
      /** Its exit code says how all of it went: no step is followed by another whatever it ended in. */
      readonly isOneChain?: true
      /** It prints in the end how the step before exited, behind these words: `echo "rc=$?"`. */
      readonly codeLabel?: string
      /** What the agent said beside it that it does, where it says that it changes something. */
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
      /** What it was given, whole. */
      readonly input: unknown
      readonly changes: "yes" | "no" | "little" | "maybe"
    }
  | { readonly type: "nothing" }

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

/** Longest command shown, on its first line. */
const maxCommandLength = 180

/** The lines of a file that are asked for, or how it is to be shown, behind its path: `a.ts:301`, `a.ts:424-440`, `a.ts:raw`. */
const lineSuffix = /(?<=\.\w{1,10}):(?:\d{1,7}(?:[-:+,]\d{1,7})?|[a-z]{2,8})$/

/** A first line that names the file which the lines behind it are for: `§src/a.ts`, `@@ src/a.ts`. */
const headPath = /^[^\w\s./~]{0,4}\s?((?:[\w@.+~-]{0,80}\/){0,20}[\w@.+-]{1,80}\.\w{1,10})\s*$/

/** Names of an editor's own commands, which some agents pass under the key of a shell's. */
const editorCommand = /^(?:view|create|str_replace|insert|undo_edit|delete|rename|write|append|edit|read|open)$/

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

function textUnder(input: unknown, keys: readonly string[]): string | undefined {
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
 * A program under the key `code`, where a short word is the code of a country, a voucher or a lock; or a script, unless it is handed in
 * somewhere.
 */
function programIn(tool: string, input: unknown): string | undefined {
  const script = isShell(tool) || runsCode.test(tool) ? textUnder(input, ["script"]) : undefined
  const text = textUnder(input, runsCode.test(tool) ? codeKeys : ["code"])
  // A code that somebody reads out is no program.
  const isProgram = text !== undefined && (runsCode.test(tool) ? /[^\w-]/.test(text) : /[\n(=]/.test(text))
  return script ?? (isProgram ? text : undefined)
}
const codeKeys = ["code", "cell", "source"]
const runsCode = /python|code|exec|run|eval|repl|interpret|script|node|js|jupyter|notebook|cell/i

/** What is asked in a list of questions with their options. */
function questionsIn(input: unknown): string | undefined {
  const list: unknown = isRecord(input) ? Reflect.get(input, "questions") : undefined
  const asked = Array.isArray(list) ? list.flatMap((one) => textUnder(one, ["question", "text", "title"]) ?? []) : []
  return asked.length === 0 ? undefined : asked.join(" ")
}

/** What an agent says at the end stands under any key. */
function longestText(input: unknown): string | undefined {
  if (typeof input === "string") return input
  const texts = isRecord(input) ? Object.values(input).filter((value) => typeof value === "string") : []
  return texts.sort((one, other) => other.length - one.length)[0]
}

/** Of `["bash", "-lc", "npm test"]` the last word is what was run. */
const shellWords = (words: readonly string[]): string =>
  words.length === 3 && /^-\w{0,3}c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.slice(0, 40).join(" ")

/** A program given to an interpreter on its standard input or as an argument. */
const interpreted = /(?:^|[\s;&|])(?:python3?|node|ruby|perl|php|deno|bun)\s(?:-\s?|-[ce]\s|[^\n]{0,40}<<)/

/** The line of a command that says what it does: the first that is not a comment; of a program the line that tells most. */
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
  // What is changed behind the text is as much of the command as what takes it.
  const end = written.findIndex((line, n) => n > at && line.trim() === mark)
  const rest = end < 0 ? [] : written.slice(end + 1).filter(changesForCertain)
  return steppedLine([`${told} (${oneLine(typed, rest.length === 0 ? maxTyped : maxTyped / 2)})`, ...rest].join("; "))
}

/** Of what is typed into the client of a database the line that changes something, or the first that does more than open a transaction. */
const mainStatement = (lines: readonly string[]): string | undefined =>
  lines.find((line) => changesData.test(line)) ?? lines.find((line) => !opensStatement.test(line))
const asksDatabase =
  /(?:^|[\s;&|/])(?:psql|mysql|mariadb|sqlite3|duckdb|sqlcmd|sqlplus|snowsql|clickhouse-client)\s[^\n]*<</
const opensStatement = /^\s*(?:begin|start transaction|commit|set|use|pragma|\\\w|--|\.\w)(?![\w.])/i

/** What is typed into a command says what it is about with its first words. */
const maxTyped = 80

/** How much of an output is shown, and where errors go: nothing about what was done. */
const settingUp = /^(?:\s*(?:set [-+]\w+|(?:\.|source) \S+|export [^;&|]{1,200})\s*(?:;|&&))+\s*(?=\S)/
const trimming = /\s2>(?:&1|\/dev\/null)|\s{0,3}\|\s{0,3}(?:tail|head)(?:\s-n)?\s-?\d{1,5}(?=\s{0,3}(?:$|&&|;|\|\|))/g

/** A command line that is too long is told without the steps that only prepare or announce, and each other step by its beginning. */
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

/** Where several steps call one program on the same cluster or folder, it is named with the first. */
function withoutRepeats(steps: readonly string[]): readonly string[] {
  const heads = steps.map((step) => programAndPlace.exec(step)?.[0])
  return steps.map((step, n) => {
    const head = heads[n]
    return head === undefined || head !== heads[n - 1] ? step : `${/^\S+/.exec(head)} … ${step.slice(head.length)}`
  })
}

/** A step is told in no fewer characters. */
const minStep = 30

const comment = /^\s*(?:#|\/\/)\s*(?!!|-\*-)(\S.{8,})$/
const idleLine =
  /^\s*(?:import\b|from\b|using\b|require\(|const .{1,60}= require|["'`]{3}|[)\]}]|$|\w+\s*=\s*(?:\[|\{|None|""|''|\d)|print\((?:f?["'][^"']*["'])?\)\s*$|def |class |for |if |else|try|except|with )/

/** What a program says of itself: its first comment, or the line that changes something outside it, or the first that calls something. */
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

/** Files and addresses that a program names, as far as it is read; the last ones are what it works on. */
const namedInProgram =
  /["'`]((?:https?:\/\/|[~.\w-]*\/)[\w./?=&%@:+~-]{3,120}|[\w-]{2,60}\.(?:[a-z]{1,4}\d?|html|json|yaml|jsonl))["'`]/gi
const maxProgram = 20_000
const maxNamed = 3

/** Without the name of a file the table is only turned into text. */
const writesTable =
  "\\.to_(?:csv|excel|json|parquet)\\((?!\\s*(?:\\)|(?:index|sep|header|columns|orient)=|sys\\.stdout))"

/** What a program does outside itself. */
const programWrites = new RegExp(
  anyOf(
    "\\bopen\\([^)\\n]{1,120}[\"'][wax]b?\\+?[\"']|\\.write(?:_text|_bytes|lines|File(?:Sync)?)?\\(",
    `${writesTable}|savefig\\(|\\bos\\.(?:remove|rename|system)\\(|shutil\\.|subprocess\\.`,
    "requests\\.(?:post|put|patch|delete)\\(|\\bfetch\\([^)]{0,200}method:\\s*[\"'](?:POST|PUT|PATCH|DELETE)|smtplib",
    "\\.(?:commit|send_message|sendmail|unlink|rmdir)\\(",
  ),
)

/** The same beside files that it writes. */
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

/** A request that sends something or keeps what it gets; the letters of its options mean other things in small. */
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
  // What a program does to files that it names is said of the files.
  const acts = isTold ? programActs.test(program) : programWrites.test(program)
  if (isProgram) return acts ? "yes" : isTold ? "check" : "no"
  if (asksDatabase.test(program)) {
    const typed = program.slice(program.indexOf("\n", program.indexOf("<<")) + 1)
    if (changesData.test(typed) && !/^\s*rollback\b/im.test(typed)) return "yes"
  }
  // What is run on another host stands in quotes.
  const bare = command
    .slice(0, 4_000)
    .replace(
      /(^|[;&|\n]\s{0,3})(?:ssh\s[^'"\n]{1,120}|ansible\s[^'"\n]{1,120}\s-a\s?)(?:'([^'\n]{1,600})'|"((?:[^"\\\n]|\\.){1,600})")/g,
      "$1$2$3",
    )
    .replace(/'[^'\n]{0,600}'/g, "_")
  if (changesForCertain(bare) || curlChanges.test(bare) || (interpreted.test(bare) && acts)) return "yes"
  const { kind, writes } = toolNature(tool, input)
  if (kind === "test") return "check"
  if (changesByVerb(bare)) return "yes"
  if (isTold && interpreted.test(bare)) return "check"
  return writes && !looksOnly(bare) ? "maybe" : "no"
}

/** A tool that is named after a program takes what stands behind its name: `kubectl(command="-n shop get pods")`. */
function withProgram(tool: string, command: string): string {
  const name = (tool.split(/__|\./).at(-1) ?? "").toLowerCase()
  return isKnownProgram(name) && !command.trimStart().startsWith(name) ? `${name} ${command.trimStart()}` : command
}

/** A command that is run elsewhere is told with the place: the same one on another host or cluster is another. */
function atPlace(input: unknown, deed: CallDeed): CallDeed {
  const place = textUnder(input, placeKeys)
  if (deed.type !== "command" || place === undefined || !/^[\w.:@/-]{1,60}$/.test(place)) return deed
  if (deed.command.includes(place)) return deed
  const [command, tried] = [`${place}: ${deed.command}`, `${place} ${deed.tried}`]
  return { ...deed, command, tried, runs: deed.runs.map((run) => `${place} ${run}`) }
}
const placeKeys = ["context", "cluster", "host", "hostname", "server", "machine", "node", "container", "environment"]

/** A command that ran in another folder than the `home` of all is told with it: the same words did something else there. */
export function inFolder(deed: CallDeed, input: unknown, home: string | undefined): CallDeed {
  const folder = folderOf(input)
  if (deed.type !== "command" || home === undefined || folder === undefined || folder === home) return deed
  // The name of that folder stays: "prod" alone may be anywhere.
  const place = folder.slice(home.lastIndexOf("/") + 1)
  if (deed.command.includes(folder) || deed.command.includes(`cd ${place}`)) return deed
  const there = (run: string): string => `${run} in ${place}`
  return { ...deed, command: `cd ${place} && ${deed.command}`, tried: there(deed.tried), runs: deed.runs.map(there) }
}

/** The folder that a call names beside its command. */
const folderOf = (input: unknown): string | undefined => textUnder(input, folderKeys)?.replace(/(?<=.)\/$/, "")
const folderKeys = ["workdir", "cwd", "working_directory", "workingDirectory", "dir_path", "directory"]

/** The folder that holds all folders which calls name, where they name several: empty where they share only the root. */
export function homeOf(inputs: readonly unknown[]): string | undefined {
  const [first = "", ...others] = new Set(inputs.flatMap((input) => folderOf(input) ?? []))
  if (others.length === 0) return undefined
  const steps = first.split("/")
  const shared = steps.findIndex((step, n) => others.some((other) => other.split("/")[n] !== step))
  return steps.slice(0, shared < 0 ? steps.length : shared).join("/")
}

/** Who hands a command in has it run later, under a number: that is done, whatever the command does. */
const handsIn = /(?:^|[_.-]|(?<=[a-z]))(?:submit|schedule|queue|enqueue|launch|dispatch|deploy|create|register|cron)/i
const runsNow = /run|exec|eval|invoke|interpret/i

/**
 * Read a call. Keys decide before names, because agents name their tools as they like. The file is long because every shape of a call is
 * told from the others here, in one order.
 */
export function deedOf({ tool, input }: Pick<ToolCallPart, "tool" | "input">): CallDeed {
  const verb = toolVerb(tool)
  const tasks = verb === "list" || /task|plan/i.test(tool) ? tasksIn(input) : []
  if (tasks.length > 0) return { type: "tasks", tasks }
  if (itemTool.test(tool)) return { type: "task", change: taskChangeIn(input) }
  if (verb === "think" || verb === "list") return { type: "nothing" }
  const path = textUnder(input, pathKeys)
  const command = textUnder(input, commandKeys) ?? programIn(tool, input)
  const isHandedIn = verb === "change" && handsIn.test(tool) && !isShell(tool) && !runsNow.test(tool)
  if (command !== undefined && !isHandedIn && !(path !== undefined && editorCommand.test(command)))
    return atPlace(input, commandDeed(tool, input, withProgram(tool, command)))
  const patched = filesInPatch(typeof input === "string" ? input : (textUnder(input, patchKeys) ?? ""))
  if (patched.length > 0) return { type: "files", files: patched }
  const action = textUnder(input, actionKeys)
  const deed = fileDeed(
    `${tool} ${command ?? ""} ${action !== undefined && /^\w{2,20}$/.test(action) ? action : ""}`,
    input,
  )
  const change = deed === "edited" || deed === "created" ? changeIn(input) : undefined
  const content = deed === "created" ? textUnder(input, newKeys) : undefined
  const told = present({ change, content, swap: deed === "edited" ? swapIn(input) : undefined })
  if (path !== undefined && deed !== undefined)
    return { type: "files", files: [{ path: oneLine(path.replace(lineSuffix, ""), 200), deed, ...told }] }
  if (path === undefined && deed === "edited" && /^(?:edit|insert|append|replace)/i.test(tool)) {
    const [head = "", ...rest] = (textUnder(input, patchKeys) ?? "").slice(0, maxProgram).split("\n")
    const file = headPath.exec(head.slice(0, 240))?.[1]
    if (file !== undefined)
      return { type: "files", files: [{ path: file, deed, change: changeOf("", rest.join("\n")) }] }
    return { type: "files", files: [{ path: "", deed, ...told }] }
  }
  if (verb === "finish" || verb === "ask") {
    const text = textUnder(input, sayKeys) ?? questionsIn(input) ?? longestText(input)
    // A tool that confirms something by its number asks nobody.
    if (text !== undefined && (verb === "finish" || inWords.test(text)))
      return { type: "said", text, asks: verb === "ask" }
  }
  if (asksOnly(input) || triesOnly(input))
    return { type: "call", tool, text: callText(tool, input), input, changes: "no" }
  const statement = textUnder(input, ["query", "sql", "statement", "stmt", "q"])
  if (statement !== undefined && (asksData.test(statement) || changesData.test(statement.slice(0, 4_000)))) {
    // Who makes a view or a report of what a statement asks for changes something by that.
    const makes = verb === "change" && !/^(?:run|execute|exec)/i.test(tool)
    const changes = makes || changesData.test(statement.slice(0, 4_000)) ? "yes" : "no"
    const text = makes ? callText(tool, input) : statementText(tool, input, statement)
    return { type: "call", tool, text, input, changes }
  }
  // `file(action=list)` and `manage_order(action=view)` look: what is asked of the tool says more than such a name.
  const asked = toolVerb(action ?? "")
  const does = verb === undefined || verb === "service" || asked === "lookup" ? (asked ?? verb) : verb
  const isGesture = does === "gesture" || (handles.test(tool) && onElement(input))
  const changes = does === "lookup" ? "no" : isGesture ? "little" : does === undefined ? "maybe" : "yes"
  return { type: "call", tool, text: callText(tool, input), input, changes }
}

const inWords = /\p{L}\s+\S|[?？]|[\u2e80-\u9fff\uac00-\ud7af]/u

/** What is typed into a field or chosen in it does nothing before it is sent off. */
const handles =
  /^(?:\w{0,20}?_)?(?:type|select|fill|input|check|uncheck|choose|set_value|select_option|fill_form|clear)(?:_\w{1,20})?$/i
const onElement = (input: unknown): boolean =>
  isRecord(input) &&
  Object.keys(input).some((key) => /^(?:ref|element|selector|uid|bid|element_?id|fields)$/i.test(key))

const actionKeys = ["action", "method", "operation", "command", "op", "verb"]

/** Is a call only to show what it would do? */
const triesOnly = (input: unknown): boolean =>
  isRecord(input) &&
  Object.entries(input).some(([key, value]) => tryKey.test(key) && /^(?:true|yes|1)$/i.test(String(value)))
const tryKey = /^(?:dry_?run|simulate|preview_?only|validate_?only|what_?if|test_?mode)$/i

/** A request over HTTP that changes nothing, by its method or its first word. */
const asksOnly = (input: unknown): boolean =>
  /^(?:GET|HEAD|OPTIONS)$/i.test(textUnder(input, ["method", "http_method", "verb"]) ?? "") ||
  /^(?:GET|HEAD|OPTIONS) \S{1,2000} HTTP\/\d/.test(
    textUnder(input, ["content", "request", "raw", "data", "body"]) ?? "",
  )

/** A statement in a language of databases that only asks. */
const asksData = /^\s{0,20}(?:select\s|with\s+\w+\s+as\s|explain\s|show\s+\w+\s*;?$|describe\s+\w)/i

const statements = anyOf(
  "insert\\s+(?:or\\s+\\w+\\s+)?into|update\\s+\\S+\\s+(?:\\w+\\s+)?set|delete\\s+from",
  "create\\s+(?!(?:\\w+\\s+)?temp)(?:or\\s+replace\\s+)?(?:\\w+\\s+){0,2}(?:table|view|index|schema|database|function|sequence|type|user|role|trigger|extension)",
  "drop\\s+\\w+|alter\\s+\\w+|truncate\\s+\\w|merge\\s+(?:into|\\()|replace\\s+into|refresh\\s+materialized|grant\\s+\\w",
  "revoke\\s+\\w|mutation\\b",
)
/** One that changes what it names, at its beginning or behind others. */
const changesData = new RegExp(`(?:^|;)\\s{0,20}(?:--[^\\n]{0,200}\\n\\s{0,20}){0,8}${statements}`, "i")

/** Tools that keep the agent's own list item by item (`TaskCreate`, `todo_update`); a task of a service has the service's name before it. */
const itemTool = /^(?:task|todo)_?(?:create|add|new|update|set|complete|done|finish|delete|remove|get|list|read)s?$/i

/** A command as it is told; a program that a tool takes as its argument is told by the line that says what it does. */
export function commandDeed(tool: string, input: unknown, command: string): CallDeed {
  const shell = shellLines(command)
  if (shell !== undefined) return commandDeed("bash", input, shell)
  const isProgram = !isShell(tool) && (command.includes("\n") || textUnder(input, codeKeys) === command)
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
    changes: isOpen && files.length === 0 && purpose !== undefined ? "yes" : nature,
    ...present({ purpose }),
    ...(!isProgram && endsInSearch(command) ? { searches: true } : {}),
    ...(isProgram || hidesCode.test(command) ? {} : { isOneChain: true }),
    ...present({ codeLabel: printedCode.exec(command.slice(-200))?.[1] }),
  }
}
const printedCode = /(?:^|[\n;|&]\s{0,3})echo ["']?([\w .:=-]{0,30}?)\$\{?(?:\?|PIPESTATUS\[0\])\}?["']?\s*$/
/** In a text in quotes too: it may be what is run. */
const hidesCode = /[|;\n]/

/** What the agent says beside a command that changes something: "Flash rig A on separate ports", "Rebuild and restart the worker". */
function purposeIn(input: unknown): string | undefined {
  const told = oneLine(textUnder(input, purposeKeys) ?? "", maxPurpose)
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

/** What a cell of a notebook gives to a shell, if that is all of it. */
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

/** What an edit or a write puts in, and what it takes out for it. */
function changeIn(input: unknown): FileChange | undefined {
  if (!isRecord(input)) return undefined
  const edits: unknown = Reflect.get(input, "edits") ?? Reflect.get(input, "changes")
  const list: readonly unknown[] = Array.isArray(edits) ? edits : [input]
  const changes = list.slice(0, maxMembers).flatMap((edit) => {
    const [old, fresh] = [textUnder(edit, oldKeys), textUnder(edit, newKeys)]
    if ((old === undefined && fresh === undefined) || placeholder.test(fresh ?? "")) return []
    return [changeOf(old ?? "", fresh ?? "")]
  })
  return changes.reduce<FileChange | undefined>((older, newer) => joinChanges(older, newer), undefined)
}

/** The texts of one edit, where neither is long. */
function swapIn(input: unknown): FileDeed["swap"] {
  const [old = "", fresh = ""] = [textUnder(input, oldKeys), textUnder(input, newKeys)]
  return old === "" || old.length + fresh.length > maxSwap ? undefined : { old, fresh }
}
const maxSwap = 8_000

/** What is done to a file, by the words in the tool's name and the keys of its input. */
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

/** An editor that is given nothing to put in shows the file. */
const showsOnly = (name: string, keys: string): boolean =>
  /edit(?:or|_tool|_file)?\s*$/i.test(name) &&
  /(?:^| )(?:view_range|start|end|offset|limit|line|lines|start_line|end_line)(?: |$)/i.test(keys) &&
  !/old|new|content|text|edit|diff|patch|insert|replac|code/i.test(keys)
