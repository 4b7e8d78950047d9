import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Format } from "../../src/message/message.ts"
import { createMeter } from "../../src/tokens/meter.ts"
import { decodeRequest } from "../../src/wire/decode.ts"
import { type Answer, answerOf, jsonAnswer } from "../model-server/answer.ts"
import { anthropicMessages } from "../model-server/anthropic-messages.ts"
import { anthropicObjection } from "../model-server/anthropic-objection.ts"
import { deliver } from "../model-server/delivery.ts"
import { createHeldItems } from "../model-server/held-items.ts"
import { field, type Json, listAt, parseJson, textAt } from "../model-server/json.ts"
import { listen, readBody } from "../model-server/loopback.ts"
import { createOpenaiResponses } from "../model-server/openai-responses.ts"
import { replyOf } from "../model-server/reply.ts"
import { inputItems } from "../model-server/responses-items.ts"
import { responsesObjection } from "../model-server/responses-objection.ts"
import type { Output } from "../model-server/script.ts"
import type { Failure, Reply, Wire } from "../model-server/wire.ts"

/** A request as received, and everything that the model sees with it. */
export type ReceivedRequest = {
  readonly path: string
  readonly text: string
  readonly json: Json
  /** Every element of the conversation, stored and sent, as one text. */
  readonly context: string
  readonly tokens: number
  readonly status: number
}

export type HeldUpstreamOptions = {
  /** Returns the model's answer to its n-th answered call, given its context. */
  readonly say: (call: number, context: string) => Output
  readonly limitTokens?: number
  /** If it returns a failure, the request is refused with that. */
  readonly refuse?: (arrived: Pick<ReceivedRequest, "path" | "json" | "context" | "tokens">) => Failure | undefined
}

export type HeldUpstream = {
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Forgets everything stored. */
  readonly forget: () => void
  readonly close: () => Promise<void>
}

type Held = { readonly items: ReturnType<typeof createHeldItems>; readonly threads: Map<string, Json> }

type Expanded = { readonly body: object; readonly elements: readonly Json[] } | { readonly refused: Failure }

const openHeld = (): Held => ({ items: createHeldItems(), threads: new Map() })

const isRecord = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const membersOf = (value: Json): { readonly [name: string]: Json } => (isRecord(value) ? value : {})

const threadRefused = (code: string): Expanded => ({
  refused: {
    status: 400,
    body: {
      type: "error",
      error: { type: "invalid_request_error", message: `thread: ${code}`, details: { error_code: code } },
    },
  },
})

/** Returns the request with everything that is stored for it written out. */
function expand(held: Held, format: Format, json: Json): Expanded {
  const { previous_response_id: _, thread = null, ...rest } = membersOf(json)
  if (format === "openai-responses") {
    const found = held.items.expand(json)
    if ("items" in found) return { body: { ...rest, input: found.items }, elements: found.items }
    const isResponse = found.what === "response"
    const message = isResponse
      ? `Previous response with id '${found.missing}' not found.`
      : `Item with id '${found.missing}' not found.`
    const code = isResponse ? "previous_response_not_found" : null
    return {
      refused: { status: isResponse ? 400 : 404, body: { error: { message, type: "invalid_request_error", code } } },
    }
  }
  const news = listAt(json, "messages")
  if (textAt(thread, "type") !== "continue") return { body: rest, elements: news }
  const before = held.threads.get(textAt(thread, "previous_message_id") ?? "")
  if (before === undefined) return threadRefused("thread_not_found")
  if (field(json, "system") !== null || field(json, "tools") !== null) return threadRefused("thread_invalid_request")
  const elements = [...listAt(before, "messages"), ...news]
  return { body: { ...membersOf(before), ...rest, messages: elements }, elements }
}

function remember(
  held: Held,
  format: Format,
  reply: Reply,
  expanded: Exclude<Expanded, { readonly refused: Failure }>,
  wire: Wire,
) {
  const answer = parseJson(JSON.stringify(wire.whole(reply)))
  const id = textAt(answer, "id") ?? ""
  if (format === "openai-responses") {
    if (field(reply.body, "store") !== false) held.items.remember(id, expanded.elements, listAt(answer, "output"))
    return
  }
  if (field(reply.body, "thread") === null) return
  const said = { role: "assistant", content: field(answer, "content") }
  held.threads.set(id, parseJson(JSON.stringify({ ...expanded.body, messages: [...expanded.elements, said] })))
}

/**
 * Starts a model behind the Responses API and Anthropic's threads that really stores what it is asked to store, with a window of its own.
 */
export async function startHeldUpstream(options: HeldUpstreamOptions): Promise<HeldUpstream> {
  let held = openHeld()
  let calls = 0
  const requests: ReceivedRequest[] = []
  const responses = createOpenaiResponses()

  const answerTo = (path: string, text: string): Answer => {
    const json = parseJson(text)
    const format: Format = path.startsWith("/v1/messages") ? "anthropic-messages" : "openai-responses"
    const wire = format === "openai-responses" ? responses : anthropicMessages
    const expanded = path.includes("/compact") ? { body: {}, elements: inputItems(json) } : expand(held, format, json)
    const context = "refused" in expanded ? "" : JSON.stringify(expanded.elements)
    const tokens = "refused" in expanded ? 0 : tokensOf(format, expanded.body)
    const answer = (): Answer => {
      const refused = options.refuse?.({ path, json, context, tokens })
      if (refused !== undefined) return jsonAnswer(refused)
      if ("refused" in expanded) return jsonAnswer(expanded.refused)
      const objection = objectionTo(format, expanded)
      if (objection !== undefined) return jsonAnswer(wire.refuse(objection, calls))
      const limit = options.limitTokens ?? Number.POSITIVE_INFINITY
      if (tokens > limit) return jsonAnswer(wire.fail({ type: "context-length", tokens, limit }, calls))
      const index = calls++
      const model = textAt(json, "model") ?? "scripted"
      const framing = field(json, "stream") === true ? "sse" : "whole"
      const { reply } = replyOf(
        options.say(index, context),
        { kind: "generate", model, framing, rounds: 0 },
        json,
        index,
        {
          inputTokens: tokens,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
        },
      )
      remember(held, format, reply, expanded, wire)
      return answerOf(wire, reply, undefined, undefined)
    }
    const given = answer()
    requests.push({ path, text, json, context, tokens, status: given.status })
    return given
  }

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const { status, headers, steps } = answerTo(request.url ?? "/", new TextDecoder().decode(body))
    response.writeHead(status, headers)
    await deliver(response, steps, () => {})
  }
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  const { url, close } = await listen(server)
  return {
    url,
    requests,
    close,
    forget: () => {
      held = openHeld()
    },
  }
}

/** Returns what the provider would object to in the conversation: unpaired calls and results, reasoning that is altered or alone. */
const objectionTo = (
  format: Format,
  { body, elements }: Exclude<Expanded, { readonly refused: Failure }>,
): string | undefined =>
  format === "openai-responses" ? responsesObjection(elements) : anthropicObjection(parseJson(JSON.stringify(body)))

const tokensOf = (format: Format, body: object): number =>
  Object.keys(body).length === 0
    ? 0
    : createMeter({ model: "gpt-5.5" }).request(decodeRequest(format, JSON.stringify(body)))
