import { assert } from "../message/assert.ts"
import { HoldfastError } from "../message/errors.ts"
import {
  type Format,
  type Layout,
  type Message,
  type ModelRequest,
  messageId,
  type Part,
  type Span,
  type Tool,
  type Transcript,
  type Wire,
  wireText,
} from "../message/message.ts"
import { type Codec, isAsRead } from "./codec.ts"
import { codecs } from "./codecs.ts"
import { decodeRequest } from "./decode.ts"
import { overlay, write } from "./json-write.ts"

/** What to write instead of the request's own content. */
export type Changes = {
  readonly messages?: Transcript
  readonly system?: readonly Part[]
  readonly tools?: readonly Tool[]
}

/** New text for a member of the body: replaces the span, or is added as a first member if there is none. */
type Edit = { readonly name: string | undefined; readonly span: Span | undefined; readonly text: string }

/**
 * Writes a request with changes. Messages that are still the decoded objects are copied, not written; without changes the result is the
 * original text.
 */
export function encodeRequest(request: ModelRequest, changes: Changes = {}): Wire {
  const codec = codecs[request.format]
  const { layout, wire } = request
  const { messages, system, tools } = placeSystem(codec, request, changes)
  const before = (span: Span | undefined): Wire | undefined =>
    span === undefined ? undefined : wireText(wire.slice(span.start, span.end))
  const edits: Edit[] = []
  if (system !== undefined && system !== request.system) {
    const text = codec.writeSystem(system, before(layout.system))
    edits.push({ name: codec.names.system[0], span: layout.system, text })
  }
  if (tools !== undefined && tools !== request.tools) {
    const text = codec.writeTools(tools, before(layout.tools))
    edits.push({ name: codec.names.tools[0], span: layout.tools, text })
  }
  const absent = layout.messages === undefined && messages?.length === 0
  if (messages !== undefined && messages !== request.messages && !absent) {
    edits.push({ name: codec.names.messages[0], span: layout.messages, text: writeMessages(codec, request, messages) })
  }
  return edits.length === 0 ? wire : wireText(splice(wire, edits))
}

/** In a format without a field for the system part, writes it as the first message. */
function placeSystem({ names }: Codec, request: ModelRequest, { system, ...changes }: Changes): Changes {
  if (system === undefined || names.system.length > 0) return system === undefined ? changes : { ...changes, system }
  const { messages = request.messages } = changes
  return system.length === 0
    ? changes
    : { ...changes, messages: [{ id: messageId("system"), role: "system", parts: system }, ...messages] }
}

/** Replaces spans by concatenation: the engine then copies the text only once, when it is read. */
function splice(text: string, edits: readonly Edit[]): string {
  let at = text.indexOf("{") + 1
  let out = text.slice(0, at) + addedMembers(edits, /^\s*\}\s*$/.test(text.slice(at)))
  const placed = edits.flatMap(({ span, text: written }) => (span === undefined ? [] : [{ ...span, written }]))
  for (const { start, end, written } of placed.sort((one, other) => one.start - other.start)) {
    out += text.slice(at, start) + written
    at = end
  }
  return out + text.slice(at)
}

function addedMembers(edits: readonly Edit[], alone: boolean): string {
  const members = edits.flatMap(({ span, name, text }) => {
    if (span !== undefined) return []
    assert(name !== undefined, "a member without a name")
    return [`${JSON.stringify(name)}:${text}`]
  })
  return members.length === 0 ? "" : `${members.join(",")}${alone ? "" : ","}`
}

/** Writes the list of messages: each run of unchanged ones is copied as one slice with its separators. Concatenated as in `splice`. */
function writeMessages(codec: Codec, { wire, layout, messages: original }: ModelRequest, messages: Transcript): string {
  const places = new Map<Message, number>(original.map((message, n) => [message, n]))
  const spans = layout.messages?.elements ?? []
  const bare = layout.messages !== undefined && wire[layout.messages.start] !== "["
  const { head, tail } = brackets(
    wire,
    layout.messages,
    messages[0] === original[0],
    messages.at(-1) === original.at(-1),
  )
  let out = head
  let isFirst = true
  const add = (piece: string): void => {
    out += isFirst ? piece : `,${piece}`
    isFirst = false
  }
  for (let n = 0; n < messages.length; n++) {
    const message = messages[n]
    assert(message !== undefined, "a hole in the transcript")
    const from = places.get(message)
    const start = from === undefined || bare ? undefined : spans[from]
    if (from === undefined || start === undefined) {
      writeOnce(codec, message).forEach(add)
      continue
    }
    let to = from
    while (spans[to + 1] !== undefined && messages[n + 1] === original[to + 1]) {
      to++
      n++
    }
    add(wire.slice(start.start, spans[to]?.end))
  }
  return out + tail
}

const written = new WeakMap<Message, { readonly by: Codec; readonly pieces: readonly Wire[] }>()

/** Writes a message once and caches the result, because it occurs in one request after another. */
function writeOnce(codec: Codec, message: Message): readonly Wire[] {
  const known = written.get(message)
  if (known?.by === codec) return known.pieces
  requireFormat(codec, message)
  const { wire = "" } = message
  // A plain text instead of the list is read as a message, but is not one.
  const pieces = wire.startsWith("{") && isAsRead(message) ? [wireText(wire)] : codec.writeMessage(message)
  written.set(message, { by: codec, pieces })
  return pieces
}

function requireFormat({ format: expected }: Codec, { id, format = expected }: Message): void {
  if (format !== expected) throw new HoldfastError({ code: "format-mixed", message: id, found: format, expected })
}

/** Returns the list's brackets, with the original white space beside a message that is unchanged. */
function brackets(
  wire: Wire,
  list: Layout["messages"],
  sameFirst: boolean,
  sameLast: boolean,
): { readonly head: string; readonly tail: string } {
  const first = list?.elements[0]
  const last = list?.elements.at(-1)
  const kept = list !== undefined && first !== undefined && last !== undefined && wire[list.start] === "["
  return {
    head: kept && sameFirst ? wire.slice(list.start, first.start) : "[",
    tail: kept && sameLast ? wire.slice(last.end, list.end) : "]",
  }
}

const userMessage: Readonly<Record<Format, (text: string) => unknown>> = {
  "anthropic-messages": (text) => ({ role: "user", content: [{ type: "text", text }] }),
  "openai-chat": (text) => ({ role: "user", content: text }),
  "openai-responses": (text) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] }),
  gemini: (text) => ({ role: "user", parts: [{ text }] }),
}

/**
 * Appends a user message to a request. All other bytes stay, so that the provider reads them from its cache; a change of tool choice or
 * thinking would invalidate it. Only the model may be replaced. Returns undefined if there is no list to continue, or the provider has
 * part of it.
 */
export function continueRequest(
  format: Format,
  wire: string,
  text: string,
  { model }: { readonly model?: string } = {},
): string | undefined {
  const { layout, held } = decodeRequest(format, wire)
  const list = layout.messages
  if (held !== undefined || list === undefined || list.elements.length === 0) return undefined
  const end = list.elements.at(-1)?.end ?? list.start + 1
  const longer = `${wire.slice(0, end)},${JSON.stringify(userMessage[format](text))}${wire.slice(end)}`
  const stored = format === "openai-responses" ? { store: write(false) } : {}
  // Gemini's model is named in the URL path, not in the body.
  const named = model === undefined || format === "gemini" ? {} : { model: write(model) }
  const fields = { ...stored, ...named }
  return Object.keys(fields).length === 0 ? longer : overlay(wireText(longer), fields)
}
