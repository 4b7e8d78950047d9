import { HoldfastError } from "../message/errors.ts"
import { namesIn } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { formatOfBody } from "./body.ts"
import { type FileKind, fileKinds } from "./conversation.ts"
import { firstLine, withoutMark } from "./lines.ts"

/** Number of lines examined: a session file starts with a few lines about itself. */
const maxLines = 64

export function detectFile(text: string): FileKind {
  const start = withoutMark(text).trimStart()
  if (start.startsWith("[")) return kindOfList(start)
  if (!isObject(tryParse(firstLine(text)))) return kindOfWhole(start)
  let from = 0
  for (let seen = 0; seen < maxLines && from < start.length; seen++) {
    const end = start.indexOf("\n", from)
    const value = tryParse(start.slice(from, end < 0 ? start.length : end))
    const kind = isObject(value) ? kindOfLine(value, isOnlyLine(start, end)) : undefined
    if (kind !== undefined) return kind
    if (end < 0) break
    from = end + 1
  }
  return refuseUnknown()
}

const isOnlyLine = (text: string, end: number): boolean => end < 0 || !/\S/.test(text.slice(end))

function refuseUnknown(): never {
  throw new HoldfastError({ code: "format-unknown", found: "The file", known: fileKinds })
}

const codexLines: ReadonlySet<unknown> = new Set(
  namesIn("session_meta response_item event_msg turn_context compacted world_state"),
)

function kindOfLine(line: Readonly<Record<string, unknown>>, isOnly: boolean): FileKind | undefined {
  const { type } = line
  if (type === "session" && typeof line.id === "string") return "pi"
  if (codexLines.has(type) && isObject(line.payload)) return "codex"
  const body = formatOfBody(line)
  if (body !== undefined) return isOnly && !isTrace(line) ? "messages" : "trace"
  if (line.record_type !== undefined) return "codex"
  if (type === undefined && typeof line.id === "string" && typeof line.timestamp === "string") return "codex"
  const hasSessionIds = "uuid" in line || "parentUuid" in line || "sessionId" in line || "leafUuid" in line
  if (typeof type === "string" && (hasSessionIds || type === "file-history-snapshot")) return "claude-code"
  return isMessage(line) ? "messages" : undefined
}

const isTrace = (body: Readonly<Record<string, unknown>>): boolean =>
  typeof body.id === "string" || typeof body.source === "string"

const isMessage = (value: Readonly<Record<string, unknown>>): boolean =>
  typeof value.role === "string" || Array.isArray(value.parts) || typeof value.call_id === "string"

function kindOfList(text: string): FileKind {
  const value = tryParse(text)
  if (value === undefined) return "messages" // Not JSON: the importer reports where.
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return isObject(first) && formatOfBody(first) !== undefined ? "trace" : "messages"
}

function kindOfWhole(text: string): FileKind {
  const value = tryParse(text)
  if (!isObject(value) || formatOfBody(value) === undefined) return refuseUnknown()
  return isTrace(value) ? "trace" : "messages"
}
