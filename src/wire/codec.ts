import type {
  Breakpoint,
  Format,
  HeldState,
  Media,
  Message,
  ModelResponse,
  Part,
  Role,
  StopReason,
  Tool,
  Usage,
  Wire,
} from "../message/message.ts"
import { entriesOf, present } from "../message/present.ts"
import { elements, isObject, type Json, member, refuseJson, stringIn, tryParse, valueIn, wireOf } from "./json.ts"
import { type Fields, overlay, write, writeList } from "./json-write.ts"
import names from "./stop-names.json" with { type: "json" }

/** The fields of a request besides its messages, system part and tools. */
export type RequestSettings = {
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly stream: boolean
  readonly held?: HeldState
}

/** The alternative names of a member of the body, for an API that accepts several spellings; empty if it has none. */
type Names = readonly string[]

/**
 * One wire format. Reading keeps the original text of every piece; writing lays the known fields over that text, so an unchanged piece
 * stays the same bytes. The files of all formats have the same sections in the same order.
 */
export type Codec = {
  readonly format: Format
  readonly names: { readonly messages: Names; readonly system: Names; readonly tools: Names }
  readonly readSettings: (body: Json) => RequestSettings
  readonly readSystem: (system: Json) => readonly Part[]
  readonly readTools: (tools: Json) => readonly Tool[]
  /** `earlier` are the messages before it, for formats whose results refer to their call by position. */
  readonly readMessage: (json: Json, earlier: readonly Message[]) => Message
  /** `before` is the original text, if there was one: its shape (text or blocks) is kept where possible. */
  readonly writeSystem: (parts: readonly Part[], before: Wire | undefined) => Wire
  /** Writes the list of tools; `before` is the original one. */
  readonly writeTools: (tools: readonly Tool[], before: Wire | undefined) => Wire
  /** Usually one element; several if the format wants one per tool result or call. */
  readonly writeMessage: (message: Message) => readonly Wire[]
  readonly readResponse: (body: Json) => ModelResponse
}

const readParts = new WeakSet<Part>()

/** Marks parts as unchanged since they were read: their wire text is still valid. */
export function markAsRead(parts: readonly Part[]): void {
  for (const part of parts) readParts.add(part)
}

const originOfParts = new WeakMap<readonly Part[], { readonly role: Role; readonly wire: Wire | undefined }>()

export function readNextMessage(codec: Codec, item: Json, earlier: readonly Message[]): Message {
  const message = codec.readMessage(item, earlier)
  originOfParts.set(message.parts, { role: message.role, wire: message.wire })
  markAsRead(message.parts)
  return message
}

/** True if a message was read from its wire text and not changed since. */
export function isAsRead({ parts, role, wire }: Message): boolean {
  const read = originOfParts.get(parts)
  return read !== undefined && read.wire === wire && read.role === role
}

/** Returns the wire text of a part that is unchanged since it was read. */
export const textAsRead = (part: Part): Wire | undefined => (readParts.has(part) ? part.wire : undefined)

/** Returns the cache marker on a block or tool, as Anthropic writes it and routers to Anthropic accept it in other formats. */
export function breakpointOf(block: unknown): Breakpoint | undefined {
  if (!isObject(block) || !isObject(block.cache_control)) return undefined
  return block.cache_control.ttl === "1h" ? "1h" : "5m"
}

/** Writes `cache_control` only if the breakpoint differs from the original one, whose other fields are the client's. */
export function markField({ wire, breakpoint }: Pick<Part, "wire" | "breakpoint">): Fields {
  const now = wire === undefined ? undefined : breakpointOf(tryParse(wire))
  if (now === breakpoint) return {}
  if (breakpoint === undefined) return { cache_control: undefined }
  return { cache_control: write(breakpoint === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" }) }
}

/** Writes tools as they came, each with its breakpoint. */
export function writeTools(tools: readonly Tool[]): Wire {
  return writeList(tools.map((tool) => overlay(tool.wire, markField(tool))))
}

/** The words of each format for the stop reasons. */
export const stopNames: Readonly<Record<Exclude<Format, "openai-responses">, Readonly<Record<StopReason, string>>>> =
  names

/** Creates a function that maps a format's word to a stop reason; `others` are further words, and take precedence. */
export function stopReader(
  format: keyof typeof stopNames,
  others: Readonly<Record<string, StopReason>>,
): (word: unknown) => StopReason {
  const stops = new Map<unknown, StopReason>(Object.entries(others))
  for (const [stop, word] of entriesOf(stopNames[format])) if (!stops.has(word)) stops.set(word, stop)
  return (word) => stops.get(word) ?? "other"
}

/** Reads content that is either one text or a list of parts. */
export function readTextOrList(content: Json, readPart: (json: Json) => Part, expected: string): readonly Part[] {
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  return Array.isArray(content.value) ? elements(content).map(readPart) : refuseJson(content, expected)
}

/** Writes a single text of our own as a string, as the APIs allow; anything else as a list of parts. */
export function writeTextOrList(parts: readonly Part[], writePart: (part: Part) => Wire): Wire {
  const [only] = parts
  const plain = parts.length === 1 && only?.type === "text" && only.wire === undefined
  return plain ? write(only.text) : writeList(parts.map(writePart))
}

/** Returns the fields of a JSON object; empty for any other text. */
export function wireFields(wire: Wire | undefined): Readonly<Record<string, unknown>> {
  const value = wire === undefined ? undefined : tryParse(wire)
  return isObject(value) ? value : {}
}

/** Reads the fields of a response besides its messages, by the names that most formats use. */
export function readEnvelope(
  body: Json,
  readUsage: (usage: Json | undefined) => Usage | undefined,
  names = { id: "id", model: "model", usage: "usage" },
): Pick<ModelResponse, "wire" | "id" | "model" | "usage"> {
  const usage = readUsage(member(body, names.usage))
  return { wire: wireOf(body), ...present({ id: stringIn(body, names.id), model: stringIn(body, names.model), usage }) }
}

/** Parses call arguments given as JSON text; returns the text itself unless it is an object or a list. */
function readArguments(text: string): unknown {
  const parsed = tryParse(text)
  return isObject(parsed) || Array.isArray(parsed) ? parsed : text
}

/**
 * Reads the input of a call from the member with its arguments as JSON text. Some servers send the JSON value itself, and some clients use
 * it: then it is the input. Absent or null means no arguments.
 */
export function argumentsIn(call: Json, name: string): unknown {
  const value = valueIn(call, name) ?? ""
  return typeof value === "string" ? readArguments(value) : value
}

/** Reads the input of a custom tool: free text, or the value that a server sends instead. */
export const customInputIn = (call: Json): unknown => valueIn(call, "input") ?? ""

/** Writes the input of a custom tool as text; a value other than text is written as it is. */
export const writeCustomInput = (input: unknown): Wire => write(typeof input === "string" ? input : (input ?? ""))

/** Writes an input as arguments text; the original text is kept if it has the same value. */
export function writeArguments(input: unknown, before: unknown): Wire {
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
  if (typeof before === "string")
    return write(before === text || JSON.stringify(tryParse(before)) === text ? before : text)
  const isSame = before !== undefined && before !== null && JSON.stringify(before) === JSON.stringify(input)
  return write(isSame ? before : text)
}

/** Describes the data behind a `data:` or other URL. */
export function mediaOfUrl(url: string, detail?: string): Media {
  const inline = /^data:([^;,]{1,127})?[^,]{0,127},/i.exec(url)
  if (inline === null) return { held: "url", ...present({ detail }) }
  return { held: "inline", inlineLength: url.length - inline[0].length, ...present({ mediaType: inline[1], detail }) }
}

export function mediaOfInline(data: string, mediaType?: string): Media {
  return { held: "inline", inlineLength: data.length, ...present({ mediaType }) }
}

export function mediaOfFile(mediaType?: string, detail?: string): Media {
  return { held: "file", ...present({ mediaType, detail }) }
}
