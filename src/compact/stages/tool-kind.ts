import { nameWords, wordSet, wordSetsOf } from "../../language/word-forms.ts"
import { anyOf } from "../../language/word-lists.ts"
import type { ToolCallPart } from "../../message/message.ts"
import { createPerObject } from "../../message/recall.ts"
import { isObject } from "../../wire/json.ts"
import toolWords from "./tool-words.json" with { type: "json" }

/** What sort of output a tool gives, which decides how much of it, and which lines, are worth keeping. */
export type ToolKind = "read" | "search" | "shell" | "test" | "web" | "json" | "diff" | "list" | "other"

export type ToolNature = {
  readonly kind: ToolKind
  /** True if the call may have changed something outside: a file, a booking, a sent mail. */
  readonly writes: boolean
}

/** In the order in which they are tried: more specific words first. */
const kindWords = wordSetsOf(toolWords.kinds)

/** Tool names that change a file or, without content arguments, show it. */
const editWords = wordSet(toolWords.edit)
const writeWords = wordSet(toolWords.write)
/** Matches arguments with the content to insert or replace. */
const contentFields = new RegExp(`^${anyOf(toolWords.contentFields)}$`, "i")

/** Maximum number of characters of a tool name that are read. */
const maxToolName = 200

/** Returns the shell command in a call's input: a string, or a list of words as in `["bash", "-lc", "ls"]`. */
export function commandOf(input: unknown): string | undefined {
  if (typeof input === "string") return input
  if (!isObject(input)) return undefined
  const command = input.command ?? input.cmd ?? input.script ?? input.code
  if (typeof command === "string") return command
  if (!Array.isArray(command)) return undefined
  const words = command.filter((word) => typeof word === "string")
  const shell = /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? "") && words[1]?.startsWith("-") === true
  return (shell ? words.slice(2) : words).join(" ")
}

/** Classifies a tool call by the tool's name and its input. */
export function toolNature(tool: string, input: unknown): ToolNature {
  const words = nameWords(tool.slice(0, maxToolName))
  const kind = kindWords.find(([, known]) => words.some((word) => known.has(word)))?.[0] ?? "other"
  if (kind === "shell" || (kind === "test" && words.includes("run"))) {
    const command = commandOf(input)
    return command === undefined
      ? { kind, writes: kind === "shell" }
      : { ...commandNature(command), ...(kind === "test" ? { kind } : {}) }
  }
  const verb = isObject(input) && typeof input.command === "string" ? input.command : ""
  if (/^(?:view|read|show|open|list)$/.test(verb)) return { kind: "read", writes: false }
  if (words.some((word) => writeWords.has(word)) || /^(?:create|write|insert|str_replace|undo_edit|delete)$/.test(verb))
    return { kind: kind === "read" || kind === "list" || kind === "search" ? "other" : kind, writes: true }
  if (words.some((word) => editWords.has(word))) {
    const hasContent = !isObject(input) || Object.keys(input).some((field) => contentFields.test(field))
    return hasContent ? { kind: kind === "diff" ? "diff" : "other", writes: true } : { kind: "read", writes: false }
  }
  return { kind, writes: false }
}

/** The same for a call part, cached. */
export const callNature = createPerObject(({ tool, input }: ToolCallPart): ToolNature => toolNature(tool, input))

/** Maximum number of characters of a command that are examined; a longer one is a script, which may do anything. */
const maxSeen = 2_000

/** Matches what writes even though the command before it only reads. */
const writing =
  />(?!\s*(?:&|\/dev\/null))|\btee\b|\bsed -i|\bfind\b.{0,400}-(?:delete|exec(?:dir)? +(?!echo|cat|grep|ls|head|tail|wc|stat|file))|\bcurl\b.{0,400}(?:-X ?(?:POST|PUT|PATCH|DELETE)|--data|-d )|\bxargs\b.{0,40}\brm\b/

/** Matches a quoted text, which is one word whatever characters it contains. */
const quoted = /'[^'\n]{0,600}'|"(?:[^"\\\n$`]|\\.){0,600}"/g

/** Classifies a shell command by the first words of each of its steps: its kind, and whether it can change anything. */
function commandNature(command: string): ToolNature {
  const seen = command.slice(0, maxSeen)
  const steps = seen
    .replace(quoted, "_")
    .split(/&&|\|\||[;|\n]/)
    .map((step) => step.trim().replace(/^(?:\w+=\S* |sudo |time |timeout \S+ |command |exec )+/, ""))
    .filter((step) => step !== "")
  const kinds = steps.map(stepKind)
  const writes = command.length > maxSeen || kinds.includes(undefined) || writing.test(seen)
  const firstKind = kinds.find((kind): kind is ToolNature["kind"] => kind !== "idle" && kind !== undefined)
  // A test run writes caches at most, wherever its output is piped to.
  if (kinds.includes("test")) return { kind: "test", writes: false }
  return { kind: writes || firstKind === undefined ? "shell" : firstKind, writes }
}

/** Kinds of a command's step by its first words; the first match counts. */
const stepKinds: readonly (readonly [ToolNature["kind"] | "idle", RegExp])[] = [
  ["diff", /^git (?:-\S+ )*(?:diff|show|log|blame|stash show)\b|^diff\b/],
  ["search", /^(?:grep|egrep|fgrep|rg|ag|ack|git grep|find|fd|locate|which|whereis|Select-String)\b/],
  ["test", new RegExp(`^${anyOf(toolWords.testCommands)}\\b`)],
  ["read", new RegExp(`^${anyOf(toolWords.readCommands)}\\b`)],
  ["list", /^(?:ls|dir|tree|pwd|du|df|git ls-files|git branch|git tag|Get-ChildItem)\b/],
  ["web", /^(?:curl|wget|http|lynx|Invoke-WebRequest)\b/],
  ["idle", new RegExp(`^${anyOf(toolWords.idleCommands)}\\b`)],
]

const stepKind = (step: string): ToolNature["kind"] | "idle" | undefined =>
  stepKinds.find(([, pattern]) => pattern.test(step))?.[0]
