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

/** All of a request but its messages and where they stand. */
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

/**
 * Read a request that follows another of the same conversation: messages that stand where they stood, letter for letter, come back
 * as the same objects, and only what is new is parsed. The result is what `decodeRequest` gives, whatever the two have in common.
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
    // Only a whole reading can say at which path of the body it went wrong.
    if (error instanceof HoldfastError) return decodeRequest(previous.format, text)
    throw error
  }
}

/**
 * The same for a request that was read already, in whatever way: messages that say what those of the previous one say, from the first on,
 * are its very objects, and all others go by their places.
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
  const { messages, spans } = decodeNews(previous, kept, news, last.end)
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

/** How many elements, from the first, stand in both texts at the same place, all before them included. */
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

/** Everything but the messages: taken over if it is the same text, otherwise read with an empty list in their place. */
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

/** The layout of a text that grew at one place: what stands behind it moves along. */
export function shiftLayout({ messages, system, tools }: Layout, from: number, by: number): Layout {
  const moved = ({ start, end }: Span): Span => (start >= from ? { start: start + by, end: end + by } : { start, end })
  return {
    ...(messages && { messages: { ...moved(messages), elements: messages.elements.map(moved) } }),
    ...(system && { system: moved(system) }),
    ...(tools && { tools: moved(tools) }),
  }
}

function decodeNews(
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
