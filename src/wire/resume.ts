import { HoldfastError } from "../message/errors.ts"
import { type Layout, type Message, type ModelRequest, messageId, type Span, wireText } from "../message/message.ts"
import { codecs } from "./codecs.ts"
import { decodeRequest, decodeRest, layoutOf, readNextMessage } from "./decode.ts"
import { elements, readJson, requireObject, spanOf } from "./json.ts"
import { closeOfList } from "./json-tape.ts"

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
    const id = messageId(`m${n}`)
    return known ?? (message.id === id ? message : { ...message, id })
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
    return { ...previous, layout: shift(previous.layout, list.end, grown) }
  }
  const body = requireObject(readJson(`${text.slice(0, list.start)}[]${text.slice(close + 1)}`, "request"))
  const codec = codecs[previous.format]
  return { ...decodeRest(codec, body), layout: shift(layoutOf(codec, body), list.start + 2, close - list.start - 1) }
}

/** Places after the list move by what the list grew. */
function shift({ system, tools }: Layout, from: number, by: number): Layout {
  const moved = (span: Span): Span => (span.start >= from ? { start: span.start + by, end: span.end + by } : span)
  return {
    ...(system === undefined ? {} : { system: moved(system) }),
    ...(tools === undefined ? {} : { tools: moved(tools) }),
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
