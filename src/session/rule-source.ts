import type { ToolCallPart } from "../message/part.ts"
import { isObject } from "../wire/json.ts"

/** Arguments by which tools name what they read, the likeliest first. */
const named = ["file_path", "filePath", "path", "file", "filename", "uri", "url", "document", "key", "name", "query"]
/** A file at the end of a command or argument, or the first that a command reads. */
const fileName = /(?:^|[\s"'=])([\w.@~/-]+\.[A-Za-z][\w]{0,7})["']?\s*$/
const fileRead =
  /\b(?:cat|head|tail|sed|less|more|bat|nl)\b[^|;&\n]{0,80}?[\s"'=]([\w.@~/-]+\.[A-Za-z][\w]{0,7}|[A-Z][A-Z_-]{3,20})\b/
const maxLength = 120

/** What a result is of, in words for a reader: the tool, and the file or address that its call named. */
export function sourceOf(call: ToolCallPart | undefined): string | undefined {
  if (call === undefined) return undefined
  const argument = argumentOf(call.input)
  return (argument === undefined ? call.tool : `${call.tool} ${argument}`).slice(0, maxLength)
}

function argumentOf(input: unknown): string | undefined {
  if (typeof input === "string") return fileIn(input)
  if (!isObject(input)) return undefined
  for (const name of named) {
    const value = input[name]
    if (typeof value === "string" && value !== "" && !value.includes("\n")) return value.slice(-maxLength)
  }
  for (const value of Object.values(input)) {
    const file = typeof value === "string" ? fileIn(value) : undefined
    if (file !== undefined) return file
  }
  return undefined
}

const fileIn = (text: string): string | undefined =>
  fileName.exec(text.slice(-maxLength))?.[1] ?? fileRead.exec(text.slice(0, maxCommand))?.[1]
/** A command that reads a file says so early. */
const maxCommand = 400

/** Files that agents take their instructions from. */
const forAgents =
  /^(?:(?:agents?|claude|gemini|qwen|codex|conventions)(?:\.(?:local|override))?\.md|\.(?:cursor|windsurf|cline|roo|goose)rules(?:-\w+)?(?:\.md)?|\.goosehints|copilot-instructions\.md|.{1,80}\.instructions\.md)$/i
/** Files whose name says that they hold rules for whoever works here. */
const forWork =
  /^(?:.{0,60}[-_. ])?(?:polic(?:y|ies)|rules|guidelines?|instructions?|conventions?|politicas?|reglas|normas|richtlinien|regeln|规则|政策|规范)(?:[-_. ].{0,40})?\.(?:mdx?|mdc|txt|rst|adoc)$/i
/** Folders of rules, and what lies in them. */
const ruleFolder =
  /(?:^|\/)(?:\.[\w-]{2,20}\/(?:rules(?:-\w+)?|instructions)|\.clinerules|rules|policies|guidelines)\//i
const prose = /(?:^|\/)[^/]*\.(?:mdx?|mdc|txt)$/i
/** Rules of programs, things of others, and what is about the text beside it. */
const ofMachines = /(?:lint|firewall|build|css|retry|cache|routing|proguard|iptables|cors)[-_. ]?(?:rules|polic)/i
const ofDependencies =
  /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|third[_-]party|\.?venv|\.cargo|skills?|usr\/(?:share|lib)|opt)\//i

/** Does a file hold instructions for the agent, by its path? Any folder, either kind of slash. */
export function isInstructionFile(path: string): boolean {
  const bare = path
    .trim()
    .replace(/^file:\/\//, "")
    .replaceAll("\\", "/")
  if (/^[a-z][\w+.-]+:\/\//i.test(bare) || ofDependencies.test(bare)) return false
  const name = bare.slice(bare.lastIndexOf("/") + 1)
  if (forAgents.test(name)) return true
  if (ofMachines.test(name) || /^readme/i.test(name)) return false
  return forWork.test(name) || (ruleFolder.test(bare) && prose.test(bare))
}

/** Arguments that name the files which a tool reads, and those by which it reads them elsewhere. */
const pathNames = [
  "file_path",
  "filePath",
  "path",
  "file",
  "filename",
  "absolute_path",
  "target_file",
  "paths",
  "files",
]
const elsewhere = ["url", "owner", "repo", "repository", "host", "bucket"]
const commandNames = ["command", "cmd", "script", "input"]

/** Did a call only read files of instructions: with a tool that names them, or with a shell's cat, head, tail or sed? */
export function readsInstructions(call: ToolCallPart | undefined): boolean {
  const input = call?.input
  if (typeof input === "string") return isInstructionCommand(input)
  if (!isObject(input) || elsewhere.some((name) => name in input)) return false
  const paths = pathNames.flatMap((name) => stringsIn(input[name]))
  if (paths.length > 0) return paths.every(isInstructionFile)
  const [command] = commandNames.flatMap((name) => {
    const value = input[name]
    return Array.isArray(value) ? [stringsIn(value).at(-1) ?? ""] : stringsIn(value)
  })
  return command !== undefined && isInstructionCommand(command)
}

const stringsIn = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [value]).flatMap((one) => {
    if (typeof one === "string") return [one]
    return isObject(one) && typeof one.path === "string" ? [one.path] : []
  })

const reader = /^(?:cat|bat|batcat|head|tail|less|more|nl|sed|type|gc|get-content)(?:\.exe)?\s/i
const idle = /^(?:cd|pushd)\s+\S+$|^(?:pwd|true|:)?$/

/** Does a command line print files of instructions, and nothing else? */
function isInstructionCommand(command: string): boolean {
  if (command.length > maxCommand || /[`$\n]\(?|<</.test(command)) return false
  const steps = command.replace(/\d?>\s?(?:&\d|\/dev\/null)/g, " ").split(/&&|\|\||;|\|/)
  const reading = steps.map((step) => step.trim()).filter((step) => !idle.test(step))
  const files = reading.map((step, n) => {
    if (!reader.test(`${step} `)) return undefined
    const words = (step.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replace(/^["']|["']$/g, ""))
    const named = words.filter((word) => !/^-|^\+?\d+$|^[\d,$]+[pdq](?:;.*)?$/.test(word))
    // The later steps of a pipe cut what the first one printed.
    return named.length === 0 && n === 0 ? undefined : named
  })
  return files.length > 0 && files.every((named) => named?.every(isInstructionFile))
}
