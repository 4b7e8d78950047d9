import {
  type Format,
  type Layout,
  type Message,
  type ModelRequest,
  type ModelResponse,
  type Part,
  type Role,
  type Span,
  tokens,
  type Wire,
  wireText,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { type Codec, noteRead } from "./codec.ts"
import { codecOf } from "./codecs.ts"
import { elements, type Json, memberOf, readJson, readJsonSteps, refuseJson, requireObject, spanOf } from "./json.ts"
import { layMembers } from "./json-write.ts"

/** Read a request body. What no one changes is forwarded as this very text. */
export const decodeRequest = (format: Format, text: string): ModelRequest => runSteps(decodeRequestSteps(format, text))

/** The same, a long body some hundred kilobytes at a time. */
export function* decodeRequestSteps(format: Format, text: string): Steps<ModelRequest> {
  const codec = codecOf(format)
  const body = requireObject(yield* readJsonSteps(text, "request"))
  const list = memberOf(body, codec.names.messages)
  const items = list === undefined ? noList(codec, body) : itemsOf(codec, list)
  const messages: Message[] = []
  for (const item of items) {
    const message = readNextMessage(codec, item, messages)
    if (message.wire?.startsWith("{") === true) yield* layMembers(message.wire)
    messages.push(message)
    yield
  }
  const placed = list === undefined ? undefined : { ...spanOf(list), elements: items.map(spanOf) }
  return {
    ...decodeRest(codec, body),
    wire: wireText(text),
    messages,
    layout: { ...layoutOf(codec, body), ...present({ messages: placed }) },
  }
}

const readFrom = new WeakMap<readonly Part[], { readonly role: Role; readonly wire: Wire | undefined }>()

/** Read one message, given those before it. */
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

/** All of a request but its messages and where they stand. */
export function decodeRest(codec: Codec, body: Json): Omit<ModelRequest, "wire" | "messages" | "layout"> {
  const system = memberOf(body, codec.names.system)
  const tools = memberOf(body, codec.names.tools)
  const { maxOutputTokens, ...settings } = codec.readSettings(body)
  return {
    format: codec.format,
    system: system === undefined || system.value === null ? [] : codec.readSystem(system),
    tools: tools === undefined ? [] : codec.readTools(tools),
    ...settings,
    ...present({ maxOutputTokens: maxOutputTokens === undefined ? undefined : tokens(maxOutputTokens) }),
  }
}

export function layoutOf(codec: Codec, body: Json): Omit<Layout, "messages"> {
  const place = (names: readonly string[]): Span | undefined => {
    const found = memberOf(body, names)
    return found === undefined ? undefined : spanOf(found)
  }
  return present({ system: place(codec.names.system), tools: place(codec.names.tools) })
}

/** OpenAI Responses may be asked to go on from what it holds, with nothing new; every other request has messages. */
function noList(codec: Codec, body: Json): readonly Json[] {
  return codec.format === "openai-responses" ? [] : refuseJson(body, "an array", codec.names.messages[0])
}

/** The elements of the list; on OpenAI Responses a bare text counts as a list of one. */
function itemsOf(codec: Codec, list: Json): readonly Json[] {
  if (Array.isArray(list.value)) return elements(list)
  const bare = codec.format === "openai-responses" && typeof list.value === "string"
  return bare ? [list] : refuseJson(list, "an array")
}

/** Read a whole, not streamed, answer. */
export function decodeResponse(format: Format, text: string): ModelResponse {
  return codecOf(format).readResponse(readJson(text, "response"))
}

/** Read one message that was kept apart from its request. Formats whose results name their call by position cannot be read so. */
export function decodeMessage(format: Format, text: string): Message {
  return codecOf(format).readMessage(readJson(text, "request"), [])
}
