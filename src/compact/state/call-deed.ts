import type { ToolCallPart } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { oneLine } from "../summary/summary.ts"
import { codeKeys, isRecord, isShell, textAt } from "./call-input.ts"
import { callText, maxMembers, statementText } from "./call-text.ts"
import { isProgram as isKnownProgram } from "./changing-commands.ts"
import { type CommandDeed, changesData, commandDeed, maxProgram } from "./command-deed.ts"
import { changeOf, type FileChange, type FileDeed, filesInPatch, joinChanges, placeholder } from "./file-change.ts"
import { type Task, type TaskChange, taskChangeIn, tasksIn } from "./task-list.ts"
import { toolVerb } from "./tool-verb.ts"

/** What a call does, as far as its tool name and input tell. */
export type CallDeed =
  | CommandDeed
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

/** A line number, range or display mode after a path: `a.ts:301`, `a.ts:424-440`, `a.ts:raw`. */
const lineSuffix = /(?<=\.\w{1,10}):(?:\d{1,7}(?:[-:+,]\d{1,7})?|[a-z]{2,8})$/

/** A first line that names the file that the following lines are for: `§src/a.ts`, `@@ src/a.ts`. */
const headPath = /^[^\w\s./~]{0,4}\s?((?:[\w@.+~-]{0,80}\/){0,20}[\w@.+-]{1,80}\.\w{1,10})\s*$/

/** Commands of an editor tool, which some agents pass under the key `command` too. */
const editorCommand = /^(?:view|create|str_replace|insert|undo_edit|delete|rename|write|append|edit|read|open)$/

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
 * Reads a call. Keys of the input are checked before tool names, because agents name their tools as they like.
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

/**
 * Tools that keep the agent's own task list item by item (`TaskCreate`, `todo_update`); a task tool of a service has the service's name
 * before it.
 */
const itemTool = /^(?:task|todo)_?(?:create|add|new|update|set|complete|done|finish|delete|remove|get|list|read)s?$/i

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
