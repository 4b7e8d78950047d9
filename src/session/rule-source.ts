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

const code =
  /\.(?:[cm]?[jt]sx?|py|pyi|rb|go|rs|java|kt|kts|swift|c|cc|cpp|h|hpp|cs|php|scala|clj|ex|exs|erl|hs|ml|lua|pl|r|jl|dart|sh|bash|zsh|ps1|sql|vue|svelte|css|scss|html?|xml|lock|log|svg|csv|ipynb|pony|zig|nim|proto|graphql|tf)$/i
/** Where others' things lie, and files that are about the text beside them. */
const others =
  /(?:^|[\\/ ])(?:node_modules|site-packages|dist-packages|vendor|third[_-]party|\.venv|venv|go\/pkg|\.cargo|usr\/(?:share|lib)|opt|Cellar)[\\/]|(?:^|[\\/ ])(?:licen[sc]e|copying|notice|changelog|changes|history|readme)(?:\.\w{1,8})?$/i
const web = /(?:^| )https?:\/\/|\b(?:web|internet|google|bing|brave|tavily)[_-]?(?:search|fetch)\b|\bsearch_web\b/i

const dependency = /node_modules|site-packages|dist-packages|vendor|third[_-]party|venv|\.cargo|usr\/|opt\//
const isReadme = /readme(?:\.\w{1,8})?$/i
const docs = /(?:^|[\\/ ])docs?[\\/]|(?:^|[\\/ ])skill\.md$/i
/** A shell by itself: what it printed may be anything. */
const shell = /^\w*(?:bash|shell|exec|execute|terminal|command|run|cmd)\w*$/i
const mail = /mail|inbox|ticket|issue|message|comment|review|slack|chat|thread|feedback|survey/i

/**
 * Whose words a source has: code and the things of others, the public's or nobody's (the web, documentation, what a command printed),
 * those of people who write in, or the house's own.
 */
export function sourceKind(source: string | undefined): "code" | "public" | "mail" | "own" {
  if (source === undefined || shell.test(source)) return "public"
  if (others.test(source) || code.test(source))
    return isReadme.test(source) && !dependency.test(source) ? "public" : "code"
  if (web.test(source) || docs.test(source)) return "public"
  return mail.test(source) ? "mail" : "own"
}
