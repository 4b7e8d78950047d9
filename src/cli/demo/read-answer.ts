import { HoldfastError } from "../../message/errors.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import type { SseEvent } from "../../wire/sse.ts"

type Fields = Readonly<Record<string, unknown>>

/** A call that the agent is to run. */
export type AgentCall = { readonly id: string; readonly tool: string; readonly input: Fields }

export type AgentUsage = {
  /** Everything read, cached or not. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly outputTokens: number
}

/** An answer put together from its stream. */
export type AgentAnswer = {
  /** Its blocks, as they go back into the history. */
  readonly content: readonly Fields[]
  readonly text: string
  readonly calls: readonly AgentCall[]
  readonly usage: AgentUsage
}

type Reading = { readonly blocks: Map<number, { readonly block: Fields; text: string }>; usage: Fields; done: boolean }

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")
const numberOf = (value: unknown): number => (typeof value === "number" ? value : 0)

/** Put the events of an answer together, as a client of Anthropic's API does. One that is not whole is not acted on. */
export function readAnswer(events: readonly SseEvent[]): AgentAnswer {
  const reading: Reading = { blocks: new Map(), usage: {}, done: false }
  for (const { data } of events) {
    const event = tryParse(data)
    if (isObject(event)) readEvent(reading, event)
  }
  if (!reading.done) throw new HoldfastError({ code: "stream-cut", after: `${events.length} events` })
  const content = [...reading.blocks.values()].map(({ block, text }): Fields => {
    if (block.type === "text") return { type: "text", text }
    const input = tryParse(text === "" ? "{}" : text)
    return { type: "tool_use", id: textOf(block.id), name: textOf(block.name), input: isObject(input) ? input : {} }
  })
  const { usage } = reading
  const cacheReadTokens = numberOf(usage.cache_read_input_tokens)
  const input = numberOf(usage.input_tokens) + numberOf(usage.cache_creation_input_tokens) + cacheReadTokens
  return {
    content,
    text: content
      .map(({ text }) => textOf(text))
      .join("\n")
      .trim(),
    calls: content.flatMap(({ type, id, name, input: given }) =>
      type === "tool_use" && isObject(given) ? [{ id: textOf(id), tool: textOf(name), input: given }] : [],
    ),
    usage: { inputTokens: input, cacheReadTokens, outputTokens: numberOf(usage.output_tokens) },
  }
}

function readEvent(reading: Reading, event: Fields): void {
  const { type, index, content_block: block, delta, usage, message, error } = event
  if (type === "error") {
    const { type: kind, message: words } = isObject(error) ? error : {}
    throw new HoldfastError({ code: "upstream-error", type: textOf(kind), message: textOf(words) })
  }
  if (type === "message_start" && isObject(message) && isObject(message.usage)) reading.usage = message.usage
  if (type === "message_delta" && isObject(usage)) reading.usage = { ...reading.usage, ...usage }
  if (type === "message_stop") reading.done = true
  if (type === "content_block_start" && isObject(block))
    reading.blocks.set(numberOf(index), { block, text: textOf(block.text) })
  const open = reading.blocks.get(numberOf(index))
  if (type === "content_block_delta" && open !== undefined && isObject(delta))
    open.text += `${textOf(delta.text)}${textOf(delta.partial_json)}`
}
