import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { ModelRequest } from "../message/request.ts"
import { codecs } from "../wire/codecs.ts"
import { decodeRequest } from "../wire/decode.ts"
import { elements, isObject, memberOf, readJson, spanOf } from "../wire/json.ts"
import type { Conversation } from "./conversation.ts"
import type { FileKind } from "./kind.ts"
import { formatOfBody, formatOfMessages } from "./wire-format.ts"

/** Where a body stands: the kind of its file, the line that it starts at, what follows it there, and its format if that is known. */
export type Place = {
  readonly kind: FileKind
  readonly line: number
  readonly after: string
  readonly format?: Format
}

/** A request body or trace as a conversation: the list, what stands beside it, and the rest as `meta`. */
export function readBody(text: string, place: Place): Conversation {
  const value = parseAt(text, place.line)
  const format = place.format ?? (isObject(value) ? formatOfBody(value) : undefined)
  if (!isObject(value) || format === undefined)
    throw invalid(place.line, `an object with a list of messages`, "none that is known")
  const request = decodeAt(format, text, place.line)
  return conversationOf(request, value, { type: "body", request, bare: false, kind: place.kind, after: place.after })
}

/** A bare list of messages, read as the only member of a body. */
export function readList(text: string, place: Place): Conversation {
  const value = parseAt(text, place.line)
  if (!Array.isArray(value)) throw invalid(place.line, "a list of messages", "another JSON value")
  const format = place.format ?? formatOfMessages(value)
  const request = decodeAt(format, wrap(format, text), place.line)
  return conversationOf(request, {}, { type: "body", request, bare: true, kind: place.kind, after: place.after })
}

/** A list as the body that would carry it, and that list out of the body again. */
const opening = (format: Format): string => `{${JSON.stringify(codecs[format].names.messages[0])}:`
const wrap = (format: Format, list: string): string => `${opening(format)}${list}}`
export const unwrap = (format: Format, body: string): string => body.slice(opening(format).length, -1)

/** What a conversation says in fields of its own, and what else is not worth carrying twice. */
const told: ReadonlySet<string> = new Set([
  "id",
  "title",
  "model",
  "messages",
  "input",
  "contents",
  "system",
  "instructions",
  "systemInstruction",
  "system_instruction",
  "tools",
  "functions",
])

function conversationOf(
  request: ModelRequest,
  body: Readonly<Record<string, unknown>>,
  origin: NonNullable<Conversation["origin"]>,
): Conversation {
  const { format, system, tools, messages, model } = request
  const id = typeof body.id === "string" ? body.id : undefined
  const title = typeof body.title === "string" ? body.title : undefined
  const meta = Object.fromEntries(Object.entries(body).filter(([name]) => !told.has(name)))
  const parts = { format, system, tools, messages, compactions: [], branches: [], notes: [], meta, origin }
  return { ...parts, ...present({ id, title, model }) }
}

const invalid = (line: number, expected: string, found: string): HoldfastError =>
  new HoldfastError({ code: "file-invalid", line, expected, found })

function parseAt(text: string, line: number): unknown {
  try {
    return readJson(text, "request").value
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "json-invalid") throw error
    throw invalid(line + breaksBefore(text, error.problem.offset), "valid JSON", error.problem.reason)
  }
}

const breaksBefore = (text: string, end: number): number => text.slice(0, end).split("\n").length - 1

function decodeAt(format: Format, text: string, line: number): ModelRequest {
  try {
    return decodeRequest(format, text)
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.problem.code !== "request-invalid") throw error
    const { path, expected, found } = error.problem
    const at = line + breaksBefore(text, startOf(format, text, path))
    throw new HoldfastError(
      { code: "file-invalid", line: at, expected: `${expected} at ${path}`, found },
      { cause: error },
    )
  }
}

/** Where the message stands that a path like `messages[3].content` leads into. */
function startOf(format: Format, text: string, path: string): number {
  const index = /^\w+\[(\d+)\]/.exec(path)?.[1]
  const list = memberOf(readJson(text, "request"), codecs[format].names.messages)
  const element = list === undefined || index === undefined ? undefined : elements(list)[Number(index)]
  return element === undefined ? 0 : spanOf(element).start
}
