import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { formats } from "../../message/message.ts"
import { readContextError } from "../../model/too-long.ts"
import { contextError } from "./wire-error.ts"

const need = { neededTokens: 50123, windowTokens: 45000 }

test("each format has its own message for a context that is too long", () => {
  expect(JSON.parse(contextError("anthropic-messages", need).body)).toEqual({
    type: "error",
    error: { type: "invalid_request_error", message: "prompt is too long: 50123 tokens > 45000 maximum" },
  })
  expect(JSON.parse(contextError("openai-chat", need).body)).toEqual({
    error: {
      message:
        "This model's maximum context length is 45000 tokens. However, your messages resulted in 50123 tokens. Please reduce the length of the messages.",
      type: "invalid_request_error",
      param: "messages",
      code: "context_length_exceeded",
    },
  })
  expect(JSON.parse(contextError("openai-responses", need).body)).toEqual({
    error: {
      message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      type: "invalid_request_error",
      param: "input",
      code: "context_length_exceeded",
    },
  })
  expect(JSON.parse(contextError("gemini", need).body)).toEqual({
    error: {
      code: 400,
      message: "The input token count (50123) exceeds the maximum number of tokens allowed (45000).",
      status: "INVALID_ARGUMENT",
    },
  })
})

test.each(formats)("our own context error in %s is recognised", (format) => {
  const { status, body } = contextError(format, need)
  expect(readContextError(format, status, body)).toEqual(format === "openai-responses" ? {} : need)
})

const both = { windowTokens: 45000, neededTokens: 50123 }

test.each<[message: string, read: object | undefined]>([
  ["prompt is too long: 50123 tokens > 45000 maximum", both],
  ["prompt is too long: 50,123 tokens > 45,000 maximum", both],
  ["This model's maximum context length is 45000 tokens. However, your messages resulted in 50123 tokens.", both],
  [
    "This model's maximum context length is 45000 tokens. However, you requested 50123 tokens (49123 in the messages, 1000 in the completion). Please reduce the length.",
    both,
  ],
  [
    "This model's maximum context length is 45000 tokens. However, you requested 50123 tokens (40123 in the messages, 10000 in the completion).",
    { ...both, answerTokens: 10_000 },
  ],
  [
    "This endpoint's maximum context length is 45000 tokens. However, you requested about 50123 tokens (40000 of text input, 10123 in the output).",
    { ...both, answerTokens: 10_123 },
  ],
  [
    "Requested token count exceeds the model's maximum context length of 45000 tokens. You requested a total of 50123 tokens: 50000 tokens from the input messages and 123 tokens for the completion.",
    both,
  ],
  [
    "'max_tokens' or 'max_completion_tokens' is too large: 9000. This model's maximum context length is 8192 tokens and your request has 500 input tokens (9000 > 8192 - 500).",
    { windowTokens: 8192, neededTokens: 9500, answerTokens: 9000 },
  ],
  [
    "input length and `max_tokens` exceed context limit: 180000 + 32000 > 200000, decrease input length or `max_tokens` and try again",
    { windowTokens: 200000, neededTokens: 212000, answerTokens: 32_000 },
  ],
  [
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce.",
    { windowTokens: 272000, neededTokens: 300000 },
  ],
  ["The input token count (50123) exceeds the maximum number of tokens allowed (45000).", both],
  ["The input token count exceeds the maximum number of tokens allowed 45000.", { windowTokens: 45000 }],
  ["The input token count is 50123 but model only supports up to 45000.", both],
  ["prompt token count of 50123 exceeds the limit of 45000", both],
  ["request (50123 tokens) exceeds the available context size (45000 tokens), try increasing it", both],
  ["The input (50123 tokens) is longer than the model's context length (45000 tokens).", both],
  ["The decoder prompt (length 50123) is longer than the maximum model length of 45000.", both],
  ["Prompt contains 50123 tokens and 0 draft tokens, too large for model with 45000 maximum context length", both],
  ["This model's maximum prompt length is 45000 but the request contains 50123 tokens.", both],
  ["too many tokens: total number of tokens in the prompt cannot exceed 45000 - received 50123.", both],
  ["Your request exceeded model token limit: 45000 (requested: 50123)", both],
  ["This model's maximum context length is 45000 tokens.", { windowTokens: 45000 }],
  ["Your input exceeds the context window of this model.", {}],
  ["Input is too long for requested model; the prompt is too long.", {}],
  ["max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for this model", undefined],
  ["messages.0: unexpected role", undefined],
  ["", undefined],
])("%s", (message, read) => {
  expect(readContextError("anthropic-messages", 400, JSON.stringify({ error: { type: "x", message } }))).toEqual(read)
  expect(readContextError("gemini", 400, JSON.stringify([{ error: { message } }]))).toEqual(read)
  expect(readContextError("openai-chat", undefined, JSON.stringify({ message }))).toEqual(read)
  expect(readContextError("openai-chat", 422, JSON.stringify({ detail: message }))).toEqual(read)
})

test("an error code is enough without a message, also in a failed response", () => {
  const error = { code: "context_length_exceeded", message: "Please reduce." }
  expect(readContextError("openai-chat", 400, JSON.stringify({ error }))).toEqual({})
  expect(readContextError("openai-responses", undefined, JSON.stringify({ response: { error } }))).toEqual({})
  expect(readContextError("anthropic-messages", 413, JSON.stringify({ error: { type: "request_too_large" } }))).toEqual(
    {},
  )
})

test("another status is not a context error", () => {
  const { body } = contextError("anthropic-messages", need)
  expect(readContextError("anthropic-messages", 429, body)).toBeUndefined()
  expect(readContextError("anthropic-messages", 500, body)).toBeUndefined()
})

test("any body is handled, also a long, deep or almost matching one", () => {
  fc.assert(
    fc.property(fc.constantFrom(...formats), fc.oneof(fc.string(), fc.json()), (format, body) => {
      const read = readContextError(format, 400, body)
      expect(read === undefined || typeof read === "object").toBe(true)
    }),
  )
  for (const text of [
    "maximum context length is 1 tokens ".repeat(100_000),
    "[".repeat(900_000),
    "token count (1".repeat(9e5),
  ]) {
    expect(() => readContextError("gemini", 400, text)).not.toThrow()
    expect(() => readContextError("gemini", 400, JSON.stringify({ error: { message: text } }))).not.toThrow()
  }
  expect(readContextError("gemini", 400, `{"detail":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)).toBeUndefined()
})
