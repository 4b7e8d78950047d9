import { hash } from "node:crypto"
import { separate } from "../../compact/stack/separate.ts"
import { ownMessage } from "../../compact/standing.ts"
import type { Message, ModelRequest } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { Receipt } from "../../session/history/prepared.ts"
import type { Session } from "../../session/session.ts"
import { createMeter } from "../../tokens/meter.ts"
import { decodeRequest } from "../../wire/decode.ts"
import { isObject, tryParse } from "../../wire/json.ts"
import { createSseEvent } from "../../wire/sse.ts"
import { compactionItem, elementTexts, type FullHistory, ownResponseId, packElements } from "./whole.ts"

/** No model was called, so no tokens were used. */
const usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

export type AnswerFacts = {
  /** The id of the exchange, which makes the ids of this response unique. */
  readonly id: string
  readonly atMs: number
  readonly model?: string
  readonly windowTokens?: number
}

const secondsOf = ({ atMs }: AnswerFacts): number => Math.floor(atMs / 1000)

/** The response to `POST /v1/responses/compact`: the user's messages, then the compaction item that replaces the rest. */
export function compactedResponse({ item, kept }: CompactedWhole, facts: AnswerFacts): OwnAnswer {
  const body = {
    id: ownResponseId(facts.id),
    object: "response.compaction",
    created_at: secondsOf(facts),
    output: [...kept, item],
    usage,
  }
  return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
}

/** The response to a request that ended with a `compaction_trigger`: a single compaction item. */
export function triggeredResponse({ item }: CompactedWhole, facts: AnswerFacts): object {
  return { ...responseOf(facts, "completed"), output: [item], usage }
}

const responseOf = (facts: AnswerFacts, status: "in_progress" | "completed"): object => ({
  id: ownResponseId(facts.id),
  object: "response",
  created_at: secondsOf(facts),
  status,
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: facts.model ?? "",
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: null, summary: null },
  store: false,
  temperature: null,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: null,
  truncation: "disabled",
  usage: null,
  metadata: {},
})

/** The same response as an HTTP response, as JSON or as a stream. */
export function triggeredAnswer(compacted: CompactedWhole, facts: AnswerFacts, stream: boolean): OwnAnswer {
  const response = triggeredResponse(compacted, facts)
  if (!stream) return { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(response) }
  const begun = responseOf(facts, "in_progress")
  const { item } = compacted
  const events = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    { type: "response.output_item.added", output_index: 0, item },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ].map(({ type, ...rest }, n) => createSseEvent(JSON.stringify({ type, sequence_number: n, ...rest }), type).raw)
  return {
    status: 200,
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" },
    body: Buffer.concat(events).toString("utf8"),
  }
}

/** A conversation that was compacted at the client's request. */
type CompactedWhole = {
  readonly item: ReturnType<typeof compactionItem>
  /** The user's own messages, which precede the item. */
  readonly kept: readonly object[]
  readonly receipt: Receipt
}

/** Token limit for the user messages before the item, counted from the newest: a list of all of them would grow with the conversation. */
const keptTokens = 20_000

/**
 * Compacts now, and puts the compacted conversation into a compaction item. With `keepsUser`, the user's messages precede the item, so that
 * it need not contain them.
 */
export async function compactWhole(
  session: Session,
  whole: FullHistory,
  { model, windowTokens }: AnswerFacts,
  keepsUser: boolean,
): Promise<CompactedWhole> {
  const prepared = await session.prepare({
    format: "openai-responses",
    body: whole.text,
    occasion: { asked: {} },
    ...present({ model, windowTokens }),
  })
  const compacted = decodeRequest("openai-responses", prepared.wire)
  const kept = keepsUser ? keptFrom(decodeRequest("openai-responses", whole.text)) : new Map<string, object>()
  const spoken = new Set(separate(compacted).conversation.map(({ id }) => id))
  const texts = elementTexts(compacted)
  const elements = compacted.messages.flatMap(({ id }, n) => {
    const text = texts[n] ?? ""
    return spoken.has(id) && !kept.has(text) && !asksToCompactNow(text) ? [text] : []
  })
  return { item: compactionItem(packElements(elements)), kept: [...kept.values()], receipt: prepared.receipt }
}

const asksToCompactNow = (text: string): boolean => text.length < 200 && text.includes('"compaction_trigger"')

/** The user's messages as response items, by the JSON text of their elements. */
function keptFrom(request: ModelRequest): ReadonlyMap<string, object> {
  const meter = createMeter()
  const texts = elementTexts(request)
  const found: [string, object][] = []
  let left = keptTokens
  for (let n = request.messages.length - 1; n >= 0; n--) {
    const message = request.messages[n]
    const text = texts[n]
    if (message === undefined || text === undefined || !isUsers(message)) continue
    left -= meter.message(message)
    if (left < 0) break
    found.unshift([text, userItem(text)])
  }
  return new Map(found)
}

const isUsers = (message: Message): boolean =>
  message.role === "user" &&
  message.parts.length > 0 &&
  message.parts.every(({ type }) => type === "text" || type === "image" || type === "document") &&
  ownMessage(message) === undefined

/** A user message as a response item; string content becomes a list with one text. */
function userItem(text: string): object {
  const read = tryParse(text)
  const { content, ...rest } = isObject(read) ? read : {}
  const list = typeof content === "string" ? [{ type: "input_text", text: content }] : content
  return {
    id: `msg_${hash("sha256", text, "hex").slice(0, 32)}`,
    type: "message",
    status: "completed",
    role: "user",
    ...rest,
    content: list,
  }
}

/** A response that the gateway itself produces. */
export type OwnAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const json = { "content-type": "application/json", "x-should-retry": "false" }

/** The error that OpenAI returns for a response id that it does not have. */
export function previousNotFound(id: string): OwnAnswer {
  const message = `Previous response with id '${id}' not found.`
  const named = { param: "previous_response_id", code: "previous_response_not_found" }
  const error = { message, type: "invalid_request_error", ...named }
  return { status: 400, headers: json, body: JSON.stringify({ error }) }
}

/** The error that Anthropic returns for a request that a thread cannot serve. Clients then send the whole conversation without a thread. */
export function threadUnsupported(requestId: string): OwnAnswer {
  const error = {
    type: "invalid_request_error",
    message: "thread: message threads are not supported for this request.",
    details: { error_code: "thread_unsupported_request" },
  }
  return { status: 400, headers: json, body: JSON.stringify({ type: "error", error, request_id: requestId }) }
}
