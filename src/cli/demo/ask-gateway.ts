import { HoldfastError } from "../../message/errors.ts"
import { present } from "../../message/present.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { type SseEvent, sseEnd, sseStep, startSse } from "../../wire/sse.ts"

type Asking = {
  readonly url: string
  readonly session: string
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
}

/** One model call as the demo's agent sees it: the answer, and what the gateway says of it in its headers. */
export type DemoExchange = AgentAnswer & {
  readonly told: { readonly session?: string; readonly trace?: string; readonly receipt?: string }
}

/** More of an answer is not read: the script's longest has some kilobytes. */
const maxAnswerBytes = 4 * 1024 * 1024

/** Ask the gateway as any client of Anthropic's API would; its session is named in one header, and that is all it knows of holdfast. */
export async function askGateway(body: object, { url, session, headers, signal }: Asking): Promise<DemoExchange> {
  const response = await fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "anthropic-version": "2023-06-01",
      "x-api-key": "holdfast-demo",
      "x-holdfast-session": session,
      ...headers,
    },
    body: JSON.stringify(body),
    signal,
  })
  const bytes = await readAll(response)
  if (!response.ok) throw new HoldfastError(refusal(response.status, new TextDecoder().decode(bytes)))
  const header = (name: string): string | undefined => response.headers.get(name) ?? undefined
  const told = present({
    session: header("x-holdfast-session"),
    trace: header("x-holdfast-trace"),
    receipt: header("x-holdfast-receipt"),
  })
  return { ...readStreamedAnswer(eventsIn(bytes)), told }
}

async function readAll(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > maxAnswerBytes) break
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function eventsIn(bytes: Uint8Array): readonly SseEvent[] {
  const [state, events] = sseStep(startSse(), bytes)
  return [...events, ...sseEnd(state)].filter(({ type }) => type === "event")
}

function refusal(status: number, text: string) {
  const body = tryParse(text)
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const type = typeof error.type === "string" ? error.type : "error"
  const message = typeof error.message === "string" ? error.message : text.slice(0, 300)
  return { code: "upstream-error", type, message, status } as const
}

type Fields = Readonly<Record<string, unknown>>

type AgentCall = { readonly id: string; readonly tool: string; readonly input: Fields }

type AgentUsage = {
  /** Everything read, cached or not. */
  readonly inputTokens: number
  readonly cacheReadTokens: number
  readonly outputTokens: number
}

/** An answer put together from its stream. */
type AgentAnswer = {
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
export function readStreamedAnswer(events: readonly SseEvent[]): AgentAnswer {
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
