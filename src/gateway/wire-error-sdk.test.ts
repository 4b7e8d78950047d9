import { createServer, type ServerResponse } from "node:http"
import Anthropic from "@anthropic-ai/sdk"
import { ApiError, GoogleGenAI } from "@google/genai"
import OpenAI from "openai"
import { afterAll, beforeAll, expect, test } from "vitest"
import { listen } from "../../test/model-server/loopback.ts"
import type { Problem } from "../message/errors.ts"
import type { Format } from "../message/message.ts"
import { contextError, streamError, type WireError, wireError, wireRefusal } from "./http/wire-error.ts"

let answer: (response: ServerResponse) => void = (response) => response.end()
const server = createServer((request, response) => {
  request.resume().on("end", () => answer(response))
})
let url = ""
let close = async (): Promise<void> => {}
beforeAll(async () => {
  ;({ url, close } = await listen(server))
})
afterAll(() => close())

const answerWith = ({ status, headers, body }: WireError): void => {
  answer = (response) => response.writeHead(status, headers).end(body)
}

const messages = [{ role: "user" as const, content: "hi" }]

/** One call by the provider's own SDK; returns what it throws. */
const calls: Readonly<Record<Format, (stream: boolean) => Promise<unknown>>> = {
  "anthropic-messages": async (stream) => {
    const client = new Anthropic({ apiKey: "none", baseURL: url, maxRetries: 0 })
    const body = { model: "m", max_tokens: 9, messages }
    if (!stream) return client.messages.create(body)
    for await (const _ of await client.messages.create({ ...body, stream: true }));
    return undefined
  },
  "openai-chat": async (stream) => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 })
    if (!stream) return client.chat.completions.create({ model: "m", messages })
    for await (const _ of await client.chat.completions.create({ model: "m", messages, stream: true }));
    return undefined
  },
  "openai-responses": async (stream) => {
    const client = new OpenAI({ apiKey: "none", baseURL: `${url}/v1`, maxRetries: 0 })
    if (!stream) return client.responses.create({ model: "m", input: "hi" })
    for await (const _ of await client.responses.create({ model: "m", input: "hi", stream: true }));
    return undefined
  },
  gemini: async (stream) => {
    const client = new GoogleGenAI({ apiKey: "none", httpOptions: { baseUrl: url } })
    if (!stream) return client.models.generateContent({ model: "m", contents: "hi" })
    for await (const _ of await client.models.generateContentStream({ model: "m", contents: "hi" }));
    return undefined
  },
}

const thrown = (format: Format, stream = false): Promise<unknown> => calls[format](stream).catch((error) => error)

const locked: Problem = { code: "store-locked", store: "sqlite", waitedMs: 5000 }
const need = { neededTokens: 50123, windowTokens: 45000 }

test.each<[format: Format, status: number, kind: unknown]>([
  ["anthropic-messages", 401, Anthropic.AuthenticationError],
  ["anthropic-messages", 404, Anthropic.NotFoundError],
  ["anthropic-messages", 429, Anthropic.RateLimitError],
  ["openai-chat", 401, OpenAI.AuthenticationError],
  ["openai-chat", 403, OpenAI.PermissionDeniedError],
  ["openai-responses", 429, OpenAI.RateLimitError],
  ["gemini", 401, ApiError],
])("the SDK of %s has a class for %s", async (format, status, kind) => {
  answerWith(wireRefusal(format, { status, message: "Not like this." }))
  const error = await thrown(format)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ status, message: expect.stringContaining("Not like this.") })
})

test.each<[format: Format, kind: unknown]>([
  ["anthropic-messages", Anthropic.APIError],
  ["openai-chat", OpenAI.InternalServerError],
  ["openai-responses", OpenAI.InternalServerError],
  ["gemini", ApiError],
])("the SDK of %s reads a problem", async (format, kind) => {
  answerWith(wireError(format, locked))
  const error = await thrown(format)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ status: 503, message: expect.stringContaining("The sqlite store was locked") })
})

test.each<[format: Format, kind: unknown, fields: object]>([
  ["anthropic-messages", Anthropic.BadRequestError, { type: "invalid_request_error" }],
  ["openai-chat", OpenAI.BadRequestError, { code: "context_length_exceeded", param: "messages" }],
  ["openai-responses", OpenAI.BadRequestError, { code: "context_length_exceeded", param: "input" }],
  ["gemini", ApiError, {}],
])("the SDK of %s recognises a context error", async (format, kind, fields) => {
  answerWith(contextError(format, need))
  const error = await thrown(format)
  expect(error).toBeInstanceOf(kind)
  const words = format === "openai-responses" ? "exceeds the context window" : "50123"
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining(words), ...fields })
})

test.each<[format: Format, kind: unknown]>([
  ["anthropic-messages", Anthropic.APIError],
  ["openai-chat", OpenAI.APIError],
  ["openai-responses", OpenAI.APIError],
  ["gemini", ApiError],
])("the SDK of %s throws on an error in the stream", async (format, kind) => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const bytes of streamError(format, locked)) response.write(bytes)
    response.end()
  }
  const error = await thrown(format, true)
  expect(error).toBeInstanceOf(kind)
  expect(error).toMatchObject({ message: expect.stringContaining("The sqlite store was locked") })
})
