import { createHeldItems, type Expanded } from "./held-items.ts"
import { createdAt, responsesId } from "./ids.ts"
import { field, parseJson, textAt } from "./json.ts"
import { openaiError, openaiFailure, openaiRefusal } from "./openai-error.ts"
import { numbered, responsesEvents } from "./responses-events.ts"
import { itemKind, itemOf, responseOf, statusOf } from "./responses-items.ts"
import { responsesObjection } from "./responses-objection.ts"
import { countRounds } from "./rounds.ts"
import type { Failure, Wire } from "./wire.ts"

function refusalOf(expanded: Extract<Expanded, { readonly missing: string }>): Failure {
  const isResponse = expanded.what === "response"
  const message = isResponse
    ? `Previous response with id '${expanded.missing}' not found.`
    : `Item with id '${expanded.missing}' not found. Items are not persisted when \`store\` is set to false.`
  const error = {
    message,
    type: "invalid_request_error",
    param: isResponse ? "previous_response_id" : "input",
    code: isResponse ? "previous_response_not_found" : null,
  }
  return { status: isResponse ? 400 : 404, body: { error } }
}

/** OpenAI's Responses API with its stored conversations; one per server. */
export function createOpenaiResponses(): Wire {
  const held = createHeldItems()
  return {
    format: "openai-responses",
    ask: (url, body) => {
      if (url.pathname !== "/v1/responses") return undefined
      const expanded = held.expand(body)
      if ("missing" in expanded) return { refused: refusalOf(expanded) }
      const framing = field(body, "stream") === true ? "sse" : "whole"
      const model = textAt(body, "model") ?? "gpt-scripted"
      return { kind: "generate", model, framing, rounds: countRounds(expanded.items.map(itemKind)) }
    },
    count: (inputTokens) => ({ object: "response.input_tokens", input_tokens: inputTokens }),
    whole: (reply) => responseOf(reply, statusOf(reply), createdAt(reply.index)),
    events: responsesEvents,
    lineEnd: "\n",
    headers: (index) => ({ "x-request-id": responsesId("resp", index).replace("resp_", "req_") }),
    fail: (kind) => openaiFailure(kind, "responses"),
    objection: (body) => {
      const expanded = held.expand(body)
      return "missing" in expanded ? undefined : responsesObjection(expanded.items)
    },
    refuse: (message) => openaiRefusal(message, "input"),
    failInStream: (kind, reply, sent) => {
      const error = openaiError(kind, "responses")
      const { code, message, param } = error
      const response = responseOf(reply, "failed", createdAt(reply.index), { code, message })
      const drafts = [
        { type: "error", fields: { code, message, param } },
        { type: "response.failed", fields: { response } },
      ]
      return numbered(drafts, sent)
    },
    remember: (reply) => {
      const expanded = held.expand(reply.body)
      if (field(reply.body, "store") === false || "missing" in expanded) return
      const output = reply.pieces.map((piece, n) => parseJson(JSON.stringify(itemOf(piece, n, reply, "completed"))))
      held.remember(responsesId("resp", reply.index), expanded.items, output)
    },
  }
}
