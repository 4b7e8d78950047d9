import type { ToolCallPart } from "../../message/message.ts"
import { oneLine } from "./summary.ts"
import { type Task, tasksIn } from "./work.ts"

/** What a call does, as far as its name and input tell. */
export type CallDeed =
  | { readonly type: "command"; readonly command: string; readonly files: readonly FileDeed[] }
  | { readonly type: "files"; readonly files: readonly FileDeed[] }
  | { readonly type: "tasks"; readonly tasks: readonly Task[] }
  | { readonly type: "said"; readonly text: string; readonly asks: boolean }
  | { readonly type: "call"; readonly tool: string; readonly text: string; readonly changes: "yes" | "no" | "little" }
  | { readonly type: "nothing" }

const commandKeys = ["command", "cmd", "script", "shell", "commands", "code"]
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
const maxCommandLength = 160

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

/** What an agent says at the end stands under any key. */
function longestText(input: unknown): string | undefined {
  if (typeof input === "string") return input
  const texts = isRecord(input) ? Object.values(input).filter((value) => typeof value === "string") : []
  return texts.sort((one, other) => other.length - one.length)[0]
}

/** Of `["bash", "-lc", "npm test"]` the last word is what was run. */
const shellWords = (words: readonly string[]): string =>
  words.length === 3 && /^-\w{0,3}c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.slice(0, 40).join(" ")

/** The line of a command that says what it does: the first that is not a comment. */
export function commandLine(command: string): string {
  const lines = command.slice(0, 4_000).split("\n")
  const first = lines.find((line) => line.trim() !== "" && !line.trimStart().startsWith("#")) ?? ""
  return oneLine(first, maxCommandLength)
}

/** Read a call. Keys decide before names, because agents name their tools as they like. */
export function deedOf({ tool, input }: Pick<ToolCallPart, "tool" | "input">): CallDeed {
  const verb = toolVerb(tool)
  const tasks = verb === "list" || /task/i.test(tool) ? tasksIn(input) : []
  if (tasks.length > 0) return { type: "tasks", tasks }
  if (verb === "think" || verb === "list") return { type: "nothing" }
  const path = textUnder(input, pathKeys)
  const command = textUnder(input, commandKeys)
  if (command !== undefined && !(path !== undefined && editorCommand.test(command))) {
    return { type: "command", command: commandLine(command), files: filesInCommand(command) }
  }
  const patched = filesInPatch(typeof input === "string" ? input : (textUnder(input, patchKeys) ?? ""))
  if (patched.length > 0) return { type: "files", files: patched }
  const deed = fileDeed(`${tool} ${command ?? ""}`, input)
  if (path !== undefined && deed !== undefined) return { type: "files", files: [{ path: oneLine(path, 200), deed }] }
  if (path === undefined && deed === "edited" && /^(?:edit|insert|append|replace)/i.test(tool)) {
    return { type: "files", files: [{ path: "", deed }] }
  }
  if (verb === "finish" || verb === "ask") {
    const text = textUnder(input, sayKeys) ?? longestText(input)
    if (text !== undefined) return { type: "said", text, asks: verb === "ask" }
  }
  const changes = verb === "lookup" ? "no" : verb === "gesture" ? "little" : "yes"
  return { type: "call", tool, text: callText(tool, input), changes }
}

/** What is done to a file, by the words in the tool's name and the keys of its input. */
function fileDeed(name: string, input: unknown): FileDeed["deed"] | undefined {
  const keys = isRecord(input) ? Object.keys(input).join(" ") : ""
  if (/delete|remove|unlink/i.test(name)) return "deleted"
  if (/edit|replace|insert|patch|append|update|multi/i.test(name) && !/editor\s+(?:view|create)/i.test(name))
    return "edited"
  if (/create|write|save|new.?file/i.test(name)) return "created"
  if (/old_?str|old_?text|new_?str|edits|diff/i.test(keys)) return "edited"
  if (/read|view|open|cat|show|get|fetch|load/i.test(name)) return "read"
  return undefined
}

/** What a tool does by its name: looks something up, changes something, moves about on a screen, thinks, ends the work, keeps a list. */
type ToolVerb = "lookup" | "change" | "gesture" | "think" | "finish" | "ask" | "list"

const verbs: Readonly<Record<ToolVerb, string>> = {
  lookup:
    "get list search find read fetch query lookup view show check describe calculate compute count browse retrieve inspect status grep glob ls cat open visit navigate goto extract download load recall ask_model verify validate estimate analyze info details weather translate websearch webfetch",
  change:
    "create update delete cancel book send add remove set modify transfer pay refund post put exchange return approve assign close move rename upload publish schedule register insert change edit write execute deploy start stop restart enable disable merge commit push reserve order purchase issue grant revoke reset apply toggle save invite reply notify run make patch replace install submit_order",
  gesture: "click type press scroll wait hover screenshot snapshot drag key mouse tap swipe focus back forward",
  think: "think thought reason reflect ponder",
  finish: "finish submit complete completion done final answer exit terminate",
  ask: "ask question clarify followup confirm",
  list: "todo todos plan tasks checklist todowrite",
}

const verbOf = new Map<string, ToolVerb>()
const order: readonly ToolVerb[] = ["lookup", "change", "gesture", "think", "finish", "ask", "list"]
for (const verb of order) for (const word of verbs[verb].split(" ")) if (!verbOf.has(word)) verbOf.set(word, verb)

/** Names longer than this are nobody's tool. */
const maxNameLength = 120

/** By the first word of the name that is known; a list wins over everything because `update_plan` changes nothing but the plan. */
function toolVerb(tool: string): ToolVerb | undefined {
  const words = tool
    .slice(0, maxNameLength)
    .replace(/([a-z\d])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/)
  const known = words.flatMap((word) => verbOf.get(word) ?? [])
  return known.includes("list") ? "list" : known[0]
}

/** Longest argument shown: ids, addresses and short sentences whole. */
const maxValueLength = 64

/** Longest call shown. */
const maxCallLength = 240

/** Members of a list or record that are looked at. */
const maxMembers = 12

/** Lists and records inside one another that are looked into. */
const maxDepth = 4

/** A JSON value in few characters: texts as they are, lists in brackets, the rest left out as `…`. */
export function valueText(value: unknown, room: number, depth = 0): string {
  if (typeof value === "string") return oneLine(value, Math.min(room, maxValueLength))
  if (value === null || typeof value !== "object") return String(value)
  if (depth >= maxDepth) return "…"
  const isList = Array.isArray(value)
  const text = joinWithin(isList ? listed(value, room, depth) : entriesOf(value, room, depth), room - 2)
  return isList ? `[${text}]` : `{${text}}`
}

function* listed(items: readonly unknown[], room: number, depth: number): Generator<string> {
  for (const item of items.slice(0, maxMembers)) yield bareRecord(item) ?? valueText(item, room, depth + 1)
  if (items.length > maxMembers) yield "…"
}

/** Members of a record so small that its values speak without their keys. */
const maxBareMembers = 4

function bareRecord(item: unknown): string | undefined {
  if (item === null || typeof item !== "object" || Array.isArray(item)) return undefined
  const values: readonly unknown[] = Object.values(item)
  const isBare = (value: unknown): boolean =>
    (typeof value === "string" && value.length <= 32) || typeof value === "number"
  if (values.length === 0 || values.length > maxBareMembers || !values.every(isBare)) return undefined
  return oneLine(values.join(" "), 2 * maxValueLength)
}

function* entriesOf(record: object, room: number, depth: number): Generator<string> {
  let count = 0
  for (const key in record) {
    const value: unknown = Reflect.get(record, key)
    if (value === null || value === undefined || value === "") continue
    if (++count > maxMembers) return yield "…"
    yield `${oneLine(key, maxValueLength)}=${valueText(value, room, depth + 1)}`
  }
}

function joinWithin(pieces: Iterable<string>, room: number): string {
  let text = ""
  for (const piece of pieces) {
    const joined = text === "" ? piece : `${text}, ${piece}`
    if (joined.length > room) return text === "" ? oneLine(piece, Math.max(1, room)) : `${text}, …`
    text = joined
  }
  return text
}

/** A call as one would write it: `tool(name=value, …)`. */
function callText(tool: string, input: unknown): string {
  const name = oneLine(tool, maxValueLength)
  const inner =
    input === null || input === undefined
      ? ""
      : typeof input === "object" && !Array.isArray(input)
        ? joinWithin(entriesOf(input, maxCallLength, 0), maxCallLength)
        : valueText(input, maxCallLength)
  return `${name}(${inner})`
}

/** Something done to one file. `path` is empty for the file that was opened last. */
export type FileDeed = { readonly path: string; readonly deed: "created" | "edited" | "deleted" | "read" }

/** How much of a patch or script is read for the files that it names. */
const maxRead = 60_000

/** Files that one call is read to touch. */
const maxFiles = 24

const maxPathLength = 200

const patchHeads: readonly (readonly [RegExp, FileDeed["deed"]])[] = [
  [/^\*\*\* Add File: (\S.{0,300})$/, "created"],
  [/^\*\*\* Update File: (\S.{0,300})$/, "edited"],
  [/^\*\*\* Delete File: (\S.{0,300})$/, "deleted"],
  [/^\+\+\+ b\/(\S.{0,300})$/, "edited"],
]

/** The files that a patch names, in the form of `apply_patch` or of a unified diff. */
function filesInPatch(text: string): readonly FileDeed[] {
  if (!/^(?:\*\*\*|\+\+\+) /m.test(text.slice(0, maxRead))) return []
  const found: FileDeed[] = []
  for (const line of text.slice(0, maxRead).split("\n")) {
    for (const [head, deed] of patchHeads) {
      const path = head.exec(line)?.[1]
      if (path !== undefined && found.length < maxFiles) found.push({ path: oneLine(path, maxPathLength), deed })
    }
  }
  return found
}

const path = `(["']?)([\\w@~./+-]{2,200})\\1`
const printing = "(?:^|[\\s;&|])(?:cat|echo|printf|tee)\\s[^>|\\n]{0,400}"
const writes = new RegExp(`${printing}(?<!>)>(?!>)\\s{0,3}${path}`, "g")
const appends = new RegExp(`${printing}>>\\s{0,3}${path}`, "g")
const teed = new RegExp(`\\|\\s{0,3}tee\\s{1,3}(?:-a\\s{1,3})?${path}`, "g")
const removes = new RegExp(`(?:^|[;&|\\n]\\s{0,3})(?:git )?rm\\s{1,3}(?:-\\w{1,4}\\s{1,3})?${path}`, "g")
const streams = new RegExp(
  `(?:^|[;&|\\n]\\s{0,3})sed\\s{1,3}-i\\S{0,6}\\s[^\\n;&|]{0,400}?\\s${path}\\s{0,3}(?:$|[;&|\\n])`,
  "g",
)

/** How much of a script is read: what it does to files stands near its start or in its patch. */
const maxShell = 2_000

/** Words in quotes: what is printed, not where to. */
const quotedWords = /'[^'\n]{0,600}'|"[^"\n]{0,600}"/g

/** A shell can do anything; these are the ways in which agents write, change and delete files with one. */
export function filesInCommand(command: string): readonly FileDeed[] {
  const text = command.slice(0, maxRead)
  const patched = filesInPatch(text)
  if (patched.length > 0) return patched
  const head = text.slice(0, maxShell).replace(quotedWords, (quotation) => (/[\s>]/.test(quotation) ? "_" : quotation))
  const found: FileDeed[] = []
  const look = (pattern: RegExp, deed: FileDeed["deed"]): void => {
    for (const { 2: named = "" } of head.matchAll(pattern)) {
      if (named.startsWith("/dev/") || /^[\d&]+$/.test(named) || found.length >= maxFiles) continue
      found.push({ path: named, deed })
    }
  }
  look(writes, "created")
  look(appends, "edited")
  look(teed, "created")
  look(streams, "edited")
  look(removes, "deleted")
  return found
}
