import { HoldfastError } from "../message/errors.ts"
import {
  type Format,
  type Layout,
  type Message,
  type ModelRequest,
  type ModelResponse,
  messageId,
  type Span,
  tokens,
  wireText,
} from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { type Codec, readNextMessage } from "./codec.ts"
import { codecOf, codecs } from "./codecs.ts"
import {
  closeOfList,
  elements,
  type Json,
  memberOf,
  readJson,
  readJsonSteps,
  refuseJson,
  requireObject,
  spanOf,
} from "./json.ts"
import { layMembers } from "./json-write.ts"

/** Reads a request body. Unchanged pieces are later forwarded as the same text. */
export const decodeRequest = (format: Format, text: string): ModelRequest => runSteps(decodeRequestSteps(format, text))

/** The same in steps of some hundred kilobytes, for long bodies. */
export function* decodeRequestSteps(format: Format, text: string): Steps<ModelRequest> {
  const codec = codecOf(format)
  const body = requireObject(yield* readJsonSteps(text, "request"))
  const list = memberOf(body, codec.names.messages)
  const items = list === undefined ? withoutList(codec, body) : itemsOf(codec, list)
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

/** Reads everything in a request except its messages and their positions. */
function decodeRest(codec: Codec, body: Json): Omit<ModelRequest, "wire" | "messages" | "layout"> {
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

function layoutOf(codec: Codec, body: Json): Omit<Layout, "messages"> {
  const place = (names: readonly string[]): Span | undefined => {
    const found = memberOf(body, names)
    return found === undefined ? undefined : spanOf(found)
  }
  return present({ system: place(codec.names.system), tools: place(codec.names.tools) })
}

/**
 * In OpenAI Responses a request may only continue the history that the provider has, without new items; in other formats messages are
 * required.
 */
function withoutList(codec: Codec, body: Json): readonly Json[] {
  return codec.format === "openai-responses" ? [] : refuseJson(body, "an array", codec.names.messages[0])
}

/** Returns the elements of the list; in OpenAI Responses a plain text counts as a list of one. */
function itemsOf(codec: Codec, list: Json): readonly Json[] {
  if (Array.isArray(list.value)) return elements(list)
  const bare = codec.format === "openai-responses" && typeof list.value === "string"
  return bare ? [list] : refuseJson(list, "an array")
}

/** Reads a complete response that was not streamed. */
export function decodeResponse(format: Format, text: string): ModelResponse {
  return codecOf(format).readResponse(readJson(text, "response"))
}

/** Reads one message stored apart from its request. Does not work for formats whose results refer to their call by position. */
export function decodeMessage(format: Format, text: string): Message {
  return codecOf(format).readMessage(readJson(text, "request"), [])
}

/**
 * Reads a request that continues another of the same conversation: messages with the same text at the same position are returned as the
 * same objects, and only the rest is parsed. The result equals that of `decodeRequest`.
 */
export function decodeNext(previous: ModelRequest, text: string): ModelRequest {
  const list = previous.layout.messages
  const kept = list === undefined ? 0 : commonElements(previous.wire, text, list)
  const last = list?.elements[kept - 1]
  const resumable = list !== undefined && last !== undefined && previous.wire[list.start] === "["
  if (!resumable) return decodeRequest(previous.format, text)
  try {
    return resume(previous, text, list, kept, last)
  } catch (error) {
    // Only a full parse can report the path of the error in the body.
    if (error instanceof HoldfastError) return decodeRequest(previous.format, text)
    throw error
  }
}

/**
 * The same for a request that was read already: the first messages whose text is the same become the previous objects, and the ids of the
 * others follow their positions.
 */
export function resumeRequest(previous: ModelRequest | undefined, request: ModelRequest): ModelRequest {
  const earlier = previous?.format === request.format ? previous.messages : []
  let kept = 0
  while (kept < request.messages.length && isSameWire(earlier[kept], request.messages[kept])) kept++
  const messages = request.messages.map((message, n): Message => {
    const known = n < kept ? earlier[n] : undefined
    return known ?? (message.id === `m${n}` ? message : { ...message, id: messageId(`m${n}`) })
  })
  return messages.every((message, n) => message === request.messages[n]) ? request : { ...request, messages }
}

const isSameWire = (one: Message | undefined, other: Message | undefined): boolean =>
  one === other || (one?.wire !== undefined && one.wire === other?.wire)

type List = NonNullable<Layout["messages"]>

function resume(previous: ModelRequest, text: string, list: List, kept: number, last: Span): ModelRequest {
  const close = closeOfList(text, last.end)
  const news = text.slice(last.end, close)
  const rest = decodeAround(previous, text, list, close)
  const { messages, spans } = decodeNewMessages(previous, kept, news, last.end)
  return {
    ...rest,
    wire: wireText(text),
    messages: [...previous.messages.slice(0, kept), ...messages],
    layout: {
      ...rest.layout,
      messages: { start: list.start, end: close + 1, elements: [...list.elements.slice(0, kept), ...spans] },
    },
  }
}

/** Counts the elements from the first on that are at the same positions in both texts, with the same text before them. */
function commonElements(before: string, after: string, { elements: spans }: List): number {
  let from = 0
  let kept = 0
  for (const { end } of spans) {
    if (after.slice(from, end) !== before.slice(from, end)) break
    from = end
    kept++
  }
  return kept
}

/**
 * Reads everything except the messages: reuses it if its text is unchanged, otherwise parses the body with an empty list in their place.
 */
function decodeAround(
  previous: ModelRequest,
  text: string,
  list: Span,
  close: number,
): Omit<ModelRequest, "messages" | "wire"> {
  const grown = close + 1 - list.end
  if (text.slice(close + 1) === previous.wire.slice(list.end)) {
    const { messages: _, ...layout } = previous.layout
    return { ...previous, layout: shiftLayout(layout, list.end, grown) }
  }
  const body = requireObject(readJson(`${text.slice(0, list.start)}[]${text.slice(close + 1)}`, "request"))
  const codec = codecs[previous.format]
  return {
    ...decodeRest(codec, body),
    layout: shiftLayout(layoutOf(codec, body), list.start + 2, close - list.start - 1),
  }
}

/** Shifts the positions after a place where the text grew. */
export function shiftLayout({ messages, system, tools }: Layout, from: number, by: number): Layout {
  const moved = ({ start, end }: Span): Span => (start >= from ? { start: start + by, end: end + by } : { start, end })
  return {
    ...(messages && { messages: { ...moved(messages), elements: messages.elements.map(moved) } }),
    ...(system && { system: moved(system) }),
    ...(tools && { tools: moved(tools) }),
  }
}

function decodeNewMessages(
  previous: ModelRequest,
  kept: number,
  news: string,
  at: number,
): { readonly messages: readonly Message[]; readonly spans: readonly Span[] } {
  if (news.trim() === "") return { messages: [], spans: [] }
  const items = elements(readJson(`[null${news}]`, "request")).slice(1)
  const offset = at - "[null".length
  const earlier = previous.messages.slice(0, kept)
  for (const item of items) earlier.push(readNextMessage(codecs[previous.format], item, earlier))
  return {
    messages: earlier.slice(kept),
    spans: items.map(spanOf).map(({ start, end }) => ({ start: start + offset, end: end + offset })),
  }
}
