import { expect, test } from "vitest"
import type { Format } from "../../message/message.ts"
import { knowsNoCompaction, type RefusalKind, refusalKind } from "./instead.ts"

const openai = (message: string, code: string | null = null, param: string | null = null): string =>
  JSON.stringify({ error: { message, type: "invalid_request_error", param, code } })

const anthropic = (message: string): string =>
  JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } })

const responses = "openai-responses"
const messages = "anthropic-messages"

const cases: [format: Format, status: number, body: string, kind: RefusalKind | undefined][] = [
  [
    responses,
    400,
    openai("Previous response with id 'resp_1' not found.", "previous_response_not_found"),
    "previous-unknown",
  ],
  [responses, 404, openai("Previous response with id 'resp_1' not found."), "previous-unknown"],
  [
    responses,
    404,
    openai("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
    "item-unknown",
  ],
  [responses, 404, openai("The model 'gpt-0' does not exist.", "model_not_found"), undefined],
  [responses, 400, openai("The encrypted content gAAA... could not be verified."), "reasoning"],
  [
    responses,
    400,
    openai("Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    "reasoning",
  ],
  [
    responses,
    400,
    openai("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'."),
    "reasoning",
  ],
  [responses, 404, openai("Response with id 'resp_1' not found."), "previous-unknown"],
  [responses, 400, openai("Unsupported parameter: previous_response_id"), "previous-unknown"],
  [responses, 400, openai("Invalid value: 'item_reference'."), "item-unknown"],
  [responses, 500, openai("Previous response with id 'resp_1' not found."), undefined],
  [messages, 400, anthropic("messages.1.content.0: Invalid `signature` in `thinking` block"), "reasoning"],
  [
    messages,
    400,
    anthropic("`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified."),
    "reasoning",
  ],
  [messages, 400, anthropic("messages.5: thinking block binding failed: prefix mismatch"), "reasoning"],
  [messages, 400, anthropic("prompt is too long: 210000 tokens > 200000 maximum"), undefined],
  [messages, 400, anthropic("max_tokens: must be greater than thinking.budget_tokens"), undefined],
  [messages, 429, anthropic("Invalid `signature` in `thinking` block"), undefined],
  ["gemini", 400, JSON.stringify({ error: { code: 400, message: "Thought signature is not valid." } }), "reasoning"],
  [responses, 400, "Previous response not found", "previous-unknown"],
  [responses, 400, "", undefined],
  [responses, 400, "[]", undefined],
]

test.each(cases)("%s %i %s", (format, status, body, kind) => {
  expect(refusalKind(format, { status, body })).toBe(kind)
})

const compactions: [status: number, body: string, isUnknown: boolean][] = [
  [404, openai("Not Found"), true],
  [404, "<html>404</html>", true],
  [404, openai("The model 'gpt-0' does not exist.", "model_not_found"), false],
  [404, openai("Previous response with id 'resp_1' not found.", "previous_response_not_found"), false],
  [405, "", true],
  [501, "", true],
  [
    400,
    openai("Invalid value: 'compaction_trigger'. Supported values are: 'message'.", "invalid_value", "input[3].type"),
    true,
  ],
  [422, JSON.stringify({ detail: [{ loc: ["body", "input", 3], input: { type: "compaction_trigger" } }] }), true],
  [400, openai("Invalid type for 'temperature'.", "invalid_type", "temperature"), false],
  [500, openai("compaction failed"), false],
]

test.each(compactions)("does %i %s say that compaction is not supported", (status, body, isUnknown) => {
  expect(knowsNoCompaction({ status, body })).toBe(isUnknown)
})
