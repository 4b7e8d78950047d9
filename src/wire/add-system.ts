import { assert } from "../message/assert.ts"
import { type Message, type ModelRequest, messageId, type Part, type Span, wireText } from "../message/message.ts"
import { codecs } from "./codecs.ts"
import { shiftLayout } from "./decode.ts"
import { readJson } from "./json.ts"

type Insertion = { readonly at: number; readonly end: number; readonly text: string }

/** A text for the system part, with the cache marker it should carry. */
export type SystemText = Pick<Part & { readonly type: "text" }, "type" | "text" | "breakpoint">

/**
 * Appends texts to the system part, as if the request had come so: everything else stays the same text, and every message the same object.
 * In a format without a system field, the texts become one message after the system messages.
 */
export function addSystem(request: ModelRequest, texts: readonly SystemText[], id: string): ModelRequest {
  const codec = codecs[request.format]
  const [name] = codec.names.system
  if (name === undefined) return addMessage(request, texts.map(({ text }) => text).join("\n\n"), id)
  const { wire, layout } = request
  const before = layout.system === undefined ? undefined : wireText(wire.slice(layout.system.start, layout.system.end))
  const written = codec.writeSystem([...request.system, ...texts], before)
  const system = codec.readSystem(readJson(written, "request"))
  const at = layout.system?.start ?? wire.indexOf("{") + 1
  const isAlone = layout.system !== undefined || /^\s*\}/.test(wire.slice(at, at + 64))
  const label = layout.system === undefined ? `${JSON.stringify(name)}:` : ""
  const text = `${label}${written}${isAlone ? "" : ","}`
  const moved = splice(request, { at, end: layout.system?.end ?? at, text })
  const start = at + label.length
  return { ...moved, system, layout: { ...moved.layout, system: { start, end: start + written.length } } }
}

/** Inserts the text as a message after the leading system messages. */
function addMessage(request: ModelRequest, text: string, id: string): ModelRequest {
  const { messages, layout, format } = request
  const found = messages.findIndex(({ role }) => role !== "system")
  const place = found < 0 ? messages.length : found
  const { writeMessage, readMessage } = codecs[format]
  const [written] = writeMessage({ id: messageId(id), role: "system", parts: [{ type: "text", text }] })
  const list = layout.messages
  assert(written !== undefined && list !== undefined, "a request without a list of messages")
  const [before, after] = [list.elements[place - 1], list.elements[place]]
  const at = before?.end ?? list.start + 1
  const moved = splice(request, {
    at,
    end: at,
    text: before === undefined ? `${written}${after === undefined ? "" : ","}` : `,${written}`,
  })
  const start = before === undefined ? at : at + 1
  const elements = moved.layout.messages?.elements ?? []
  const message: Message = { ...readMessage(readJson(written, "request"), []), id: messageId(id), format }
  const own: Span = { start, end: start + written.length }
  return {
    ...moved,
    messages: [...messages.slice(0, place), message, ...messages.slice(place)],
    layout: {
      ...moved.layout,
      messages: {
        ...list,
        end: list.end + moved.wire.length - request.wire.length,
        elements: [...elements.slice(0, place), own, ...elements.slice(place)],
      },
    },
  }
}

/** Replaces a piece of the text and shifts the positions after it. */
function splice(request: ModelRequest, { at, end, text }: Insertion): ModelRequest {
  const { wire, layout } = request
  const moved = shiftLayout(layout, end, text.length - (end - at))
  return { ...request, wire: wireText(wire.slice(0, at) + text + wire.slice(end)), layout: moved }
}
