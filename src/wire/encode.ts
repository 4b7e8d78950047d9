import { assert } from "../message/assert.ts"
import { type Wire, wireText } from "../message/ids.ts"
import type { Message, Transcript } from "../message/message.ts"
import type { Part } from "../message/part.ts"
import type { Layout, ModelRequest, Span } from "../message/request.ts"
import { type Codec, isForeign } from "./codec.ts"
import { codecs } from "./codecs.ts"
import { writeList } from "./overlay.ts"

/** What to say instead of what the request says. */
export type Changes = {
  readonly messages?: Transcript
  readonly system?: readonly Part[]
  readonly tools?: readonly Wire[]
}

type Edit = Span & { readonly text: string }

/**
 * Write a request with changes. Messages that are still the objects they were decoded as are copied, not written; with nothing
 * changed the answer is the very text that came in.
 */
export function encodeRequest(request: ModelRequest, { messages, system, tools }: Changes = {}): Wire {
  const codec = codecs[request.format]
  const { layout } = request
  const edits: Edit[] = []
  if (system !== undefined && system !== request.system) {
    const before =
      layout.system === undefined ? undefined : wireText(request.wire.slice(layout.system.start, layout.system.end))
    edits.push(place(request, layout.system, codec.names.system[0], codec.writeSystem(system, before)))
  }
  if (tools !== undefined) edits.push(place(request, layout.tools, codec.names.tools[0], writeList(tools)))
  const absent = layout.messages === undefined && messages?.length === 0
  if (messages !== undefined && messages !== request.messages && !absent) {
    edits.push(place(request, layout.messages, codec.names.messages[0], writeMessages(codec, request, messages)))
  }
  return splice(request.wire, edits)
}

/** In place of what stands there, or as a first member where nothing does. */
function place(request: ModelRequest, span: Span | undefined, name: string | undefined, text: string): Edit {
  if (span !== undefined) return { ...span, text }
  assert(name !== undefined, `${request.format} keeps its system part among the messages`)
  const start = request.wire.indexOf("{") + 1
  const empty = /^\s*\}/.test(request.wire.slice(start, start + 64))
  return { start, end: start, text: `${JSON.stringify(name)}:${text}${empty ? "" : ","}` }
}

function splice(text: string, edits: readonly Edit[]): Wire {
  let at = 0
  const pieces: string[] = []
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    pieces.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  pieces.push(text.slice(at))
  return wireText(pieces.join(""))
}

/** The list of messages: runs of untouched ones as one slice each, separators and all. */
function writeMessages(codec: Codec, { wire, layout, messages: original }: ModelRequest, messages: Transcript): string {
  const places = new Map<Message, number>(original.map((message, n) => [message, n]))
  const spans = layout.messages?.elements ?? []
  const bare = layout.messages !== undefined && wire[layout.messages.start] !== "["
  const pieces: string[] = []
  for (let n = 0; n < messages.length; n++) {
    const message = messages[n]
    assert(message !== undefined, "a hole in the transcript")
    const from = places.get(message)
    const start = from === undefined || bare ? undefined : spans[from]
    if (from === undefined || start === undefined) {
      assert(!isForeign(codec, message), `message ${message.id} belongs to another wire format: translate it first`)
      pieces.push(...codec.writeMessage(message))
      continue
    }
    let to = from
    while (messages[n + 1] !== undefined && messages[n + 1] === original[to + 1]) {
      to++
      n++
    }
    pieces.push(wire.slice(start.start, spans[to]?.end))
  }
  const { head, tail } = brackets(
    wire,
    layout.messages,
    messages[0] === original[0],
    messages.at(-1) === original.at(-1),
  )
  return `${head}${pieces.join(",")}${tail}`
}

/** The list's own brackets with the white space beside them, where the message beside them is still the one that stood there. */
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
