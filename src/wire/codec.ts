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

/** What a request says beside its messages, system part and tools. */
export type RequestSettings = {
  readonly model?: string
  readonly maxOutputTokens?: number
  readonly stream: boolean
  readonly held?: HeldState
}

/** A place in the body, in every spelling that the API takes: `["generationConfig"]`, or a path of such names. */
type Names = readonly string[]

/**
 * One wire format. Reading keeps the original text of every piece; writing lays what we know over that text, so a piece that
 * nobody changed comes out as it went in. The files of every format have the same sections in the same order.
 */
export type Codec = {
  readonly format: Format
  readonly names: { readonly messages: Names; readonly system: Names; readonly tools: Names }
  readonly readSettings: (body: Json) => RequestSettings
  readonly readSystem: (system: Json) => readonly Part[]
  readonly readTools: (tools: Json) => readonly Tool[]
  /** `earlier` are the messages before it, for a format whose results name their call by position. */
  readonly readMessage: (json: Json, earlier: readonly Message[]) => Message
  /** `before` is what stood there, if anything did: its shape (text or blocks) is kept where it can be. */
  readonly writeSystem: (parts: readonly Part[], before: Wire | undefined) => Wire
  /** The list of tools; `before` is the one that stood there. */
  readonly writeTools: (tools: readonly Tool[], before: Wire | undefined) => Wire
  /** Usually one element; several where the format wants one for each tool result or call. */
  readonly writeMessage: (message: Message) => readonly Wire[]
  readonly readResponse: (body: Json) => ModelResponse
}

const readParts = new WeakSet<Part>()

/** Note that parts are as they were read: each says what its wire text says. */
export function noteRead(parts: readonly Part[]): void {
  for (const part of parts) readParts.add(part)
}

const readFrom = new WeakMap<readonly Part[], { readonly role: Role; readonly wire: Wire | undefined }>()

export function readNextMessage(codec: Codec, item: Json, earlier: readonly Message[]): Message {
  const message = codec.readMessage(item, earlier)
  readFrom.set(message.parts, { role: message.role, wire: message.wire })
  noteRead(message.parts)
  return message
}

/** Does a message say what was read from its wire text, and was nothing of it changed since? */
export function isAsRead({ parts, role, wire }: Message): boolean {
  const read = readFrom.get(parts)
  return read !== undefined && read.wire === wire && read.role === role
}

/** The text of a part that is still the object it was read as. */
export const textAsRead = (part: Part): Wire | undefined => (readParts.has(part) ? part.wire : undefined)

/** The cache marker on a block or tool, as Anthropic writes it and routers to it take it on other wires. */
export function breakpointOf(block: unknown): Breakpoint | undefined {
  if (!isObject(block) || !isObject(block.cache_control)) return undefined
  return block.cache_control.ttl === "1h" ? "1h" : "5m"
}

/** `cache_control` only where the wanted breakpoint is not the one that stands there: its other fields are the client's. */
export function markField({ wire, breakpoint }: Pick<Part, "wire" | "breakpoint">): Fields {
  const now = wire === undefined ? undefined : breakpointOf(tryParse(wire))
  if (now === breakpoint) return {}
  if (breakpoint === undefined) return { cache_control: undefined }
  return { cache_control: write(breakpoint === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" }) }
}

/** Tools as they stood, each with the breakpoint that it should carry. */
export function writeTools(tools: readonly Tool[]): Wire {
  return writeList(tools.map((tool) => overlay(tool.wire, markField(tool))))
}

/** What each format calls a stop reason. */
export const stopNames: Readonly<Record<Exclude<Format, "openai-responses">, Readonly<Record<StopReason, string>>>> =
  names

/** The stop reason that a format's word means: the first that is written so, or one of `others`. */
export function stopReader(
  format: keyof typeof stopNames,
  others: Readonly<Record<string, StopReason>>,
): (word: unknown) => StopReason {
  const stops = new Map<unknown, StopReason>(Object.entries(others))
  for (const [stop, word] of entriesOf(stopNames[format])) if (!stops.has(word)) stops.set(word, stop)
  return (word) => stops.get(word) ?? "other"
}

/** Content that is one text, or a list of parts. */
export function readTextOrList(content: Json, readPart: (json: Json) => Part, expected: string): readonly Part[] {
  if (typeof content.value === "string") return [{ type: "text", text: content.value }]
  return Array.isArray(content.value) ? elements(content).map(readPart) : refuseJson(content, expected)
}

/** One plain text of our own is written as a string, as the APIs allow; anything else as a list of parts. */
export function writeTextOrList(parts: readonly Part[], writePart: (part: Part) => Wire): Wire {
  const [only] = parts
  const plain = parts.length === 1 && only?.type === "text" && only.wire === undefined
  return plain ? write(only.text) : writeList(parts.map(writePart))
}

/** The object that stands in a wire text; empty if there is none. */
export function wireFields(wire: Wire | undefined): Readonly<Record<string, unknown>> {
  const value = wire === undefined ? undefined : tryParse(wire)
  return isObject(value) ? value : {}
}

/** What is in a response beside its messages, by the names that most formats have for it. */
export function readEnvelope(
  body: Json,
  readUsage: (usage: Json | undefined) => Usage | undefined,
  names = { id: "id", model: "model", usage: "usage" },
): Pick<ModelResponse, "wire" | "id" | "model" | "usage"> {
  const usage = readUsage(member(body, names.usage))
  return { wire: wireOf(body), ...present({ id: stringIn(body, names.id), model: stringIn(body, names.model), usage }) }
}

/** The input of a call whose arguments travel as JSON text: parsed where that gives an object or a list, otherwise the text. */
function readArguments(text: string): unknown {
  const parsed = tryParse(text)
  return isObject(parsed) || Array.isArray(parsed) ? parsed : text
}

/**
 * The input of a call, from the member that holds its arguments as JSON text. Some servers send the JSON value itself, and some clients
 * act on it: then it is the input as it is. Absent and null are no arguments.
 */
export function argumentsIn(call: Json, name: string): unknown {
  const value = valueIn(call, name) ?? ""
  return typeof value === "string" ? readArguments(value) : value
}

/** The input of a custom tool, which is free text; a server that sends another value means that value. */
export const customInputIn = (call: Json): unknown => valueIn(call, "input") ?? ""

/** The text of a custom tool's input; a value that is no text stays the value that stands there. */
export const writeCustomInput = (input: unknown): Wire => write(typeof input === "string" ? input : (input ?? ""))

/** The arguments text of an input; the one that stands there is kept if it says the same. */
export function writeArguments(input: unknown, before: unknown): Wire {
  const text = typeof input === "string" ? input : JSON.stringify(input ?? {})
  if (typeof before === "string")
    return write(before === text || JSON.stringify(tryParse(before)) === text ? before : text)
  const isSame = before !== undefined && before !== null && JSON.stringify(before) === JSON.stringify(input)
  return write(isSame ? before : text)
}

/** What a `data:` or other URL says of the bytes behind it. */
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
