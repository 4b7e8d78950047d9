import type { ToolCallPart } from "../message/part.ts"
import { isObject } from "../wire/json.ts"

/** Arguments by which tools name what they read, the likeliest first. */
const named = ["file_path", "filePath", "path", "file", "filename", "uri", "url", "document", "key", "name", "query"]
/** A file at the end of a command or argument. */
const fileName = /(?:^|[\s"'=/])([\w.@~-]+\.[A-Za-z][\w]{0,7})["']?\s*$/
const maxLength = 120

/** What a result is of, in words for a reader: the tool, and the file or address that its call named. */
export function sourceOf(call: ToolCallPart | undefined): string | undefined {
  if (call === undefined) return undefined
  const argument = argumentOf(call.input)
  return (argument === undefined ? call.tool : `${call.tool} ${argument}`).slice(0, maxLength)
}

function argumentOf(input: unknown): string | undefined {
  if (typeof input === "string") return fileName.exec(input)?.[1]
  if (!isObject(input)) return undefined
  for (const name of named) {
    const value = input[name]
    if (typeof value === "string" && value !== "" && !value.includes("\n")) return value.slice(-maxLength)
  }
  for (const value of Object.values(input)) {
    const file = typeof value === "string" ? fileName.exec(value.slice(-maxLength))?.[1] : undefined
    if (file !== undefined) return file
  }
  return undefined
}
