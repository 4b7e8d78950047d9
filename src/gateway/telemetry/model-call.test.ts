import { expect, test } from "vitest"
import { sampleRecord } from "../../../test/fixtures/gateway/sample-record.ts"
import type { Problem } from "../../message/errors.ts"
import type { ExchangeRecord } from "../settings/gateway-options.ts"
import { type GenAiCall, modelCallOf, providerOf, serversOf } from "./model-call.ts"
import { createLabelValues } from "./registry.ts"

const servers = serversOf([
  { name: "main", baseUrl: "https://user:password@api.example.com/v1?key=secret" },
  { name: "local", baseUrl: "http://127.0.0.1:8080/v1" },
  { name: "plain", baseUrl: "http://models.test" },
  { name: "broken", baseUrl: "not a url" },
])
const callOf = (more: Partial<ExchangeRecord> = {}): GenAiCall | undefined =>
  modelCallOf(sampleRecord(more), servers, createLabelValues())

test("a call is named by its operation and model, and has its usage", () => {
  expect(callOf()).toMatchObject({ name: "chat claude-test", sent: true })
  expect(callOf()?.attributes).toEqual({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.request.model": "claude-test",
    "gen_ai.request.stream": true,
    "gen_ai.response.time_to_first_chunk": 0.7,
    "gen_ai.conversation.id": "session-of-ada",
    "gen_ai.usage.input_tokens": 30_000,
    "gen_ai.usage.output_tokens": 400,
    "gen_ai.usage.cache_read.input_tokens": 24_000,
    "gen_ai.usage.cache_creation.input_tokens": 1000,
    "http.response.status_code": 200,
    "server.address": "api.example.com",
    "server.port": 443,
    "holdfast.trace_id": "hf-1",
    "holdfast.how": "prepared",
    "holdfast.ending": "complete",
    "holdfast.changed": true,
    "holdfast.attempts": 2,
    "holdfast.recalls": 1,
    "holdfast.prepare_ms": 3,
    "holdfast.request_bytes": 4000,
    "holdfast.sent_bytes": 3000,
    "holdfast.response_bytes": 2000,
    "holdfast.upstream": "main",
    "holdfast.context_tokens": 30_000,
    "holdfast.window_tokens": 200_000,
    "holdfast.stable_tokens": 25_000,
    "holdfast.durable": true,
    "holdfast.rules": 3,
    "holdfast.operator_rules": 1,
    "holdfast.compaction.remedy": "micro",
    "holdfast.pins.reasserted": 2,
    "holdfast.pins.found": 1,
    "holdfast.guard.judged": 2,
    "holdfast.guard.denied": 1,
  })
})

test("a request that is not a model call has no span", () => {
  const { format: _, ...page } = sampleRecord({ how: "passed" })
  expect(modelCallOf(page, servers, createLabelValues())).toBeUndefined()
  expect(callOf({ how: "passed" })).toBeUndefined()
})

test.each([
  ["openai-chat", "main", "chat m", "openai"],
  ["openai-responses", "main", "chat m", "openai"],
  ["gemini", "main", "generate_content m", "gcp.gemini"],
] as const)("%s has the name of the conventions", (format, upstream, name, provider) => {
  const call = callOf({ format, upstream, model: "m" })
  expect(call?.name).toBe(name)
  expect(call?.dimensions["gen_ai.provider.name"]).toBe(provider)
})

test.each([
  ["local", "127.0.0.1", 8080],
  ["plain", "models.test", 80],
  ["broken", undefined, undefined],
  ["unknown", undefined, undefined],
])("the server of %s", (upstream, address, port) => {
  const { "server.address": said, "server.port": saidPort } = callOf({ upstream })?.dimensions ?? {}
  expect([said, saidPort]).toEqual([address, port])
})

test.each([
  ["openai", "mill.openai.azure.com", "azure.ai.openai"],
  ["gemini", "europe-west1-aiplatform.googleapis.com", "gcp.vertex_ai"],
  ["anthropic", "bedrock-runtime.us-east-1.amazonaws.com", "aws.bedrock"],
  ["openai", "api.x.ai", "x_ai"],
  ["openai", "api.x.ai.example.com", "openai"],
  ["gemini", undefined, "gcp.gemini"],
] as const)("%s at %s is %s", (family, host, provider) => {
  expect(providerOf(family, host)).toBe(provider)
})

const unreachable: Problem = { code: "upstream-unreachable", host: "h", reason: "words" }
const overloaded: Problem = { code: "upstream-error", type: "overloaded_error", message: "words", status: 529 }
const wordy: Problem = { ...overloaded, type: "words of the conversation" }
test.each([
  ["a good one has none", {}, undefined],
  ["a problem's code", { problem: unreachable, ending: "upstream-failed", status: 502 }, "upstream-unreachable"],
  ["the provider's own word", { problem: overloaded, status: 529 }, "overloaded_error"],
  ["but never a sentence of the provider's", { problem: wordy, status: 529 }, "upstream-error"],
  ["a status where there is no more", { status: 429 }, "429"],
  ["a stream that was cut", { ending: "upstream-cut" }, "upstream-cut"],
  ["a refusal", { ending: "refused", status: 403 }, "403"],
  ["a client that left is no error", { ending: "client-left", status: 200 }, undefined],
] as const)("the type of an error: %s", (_why, more, errorType) => {
  const call = callOf(more)
  expect(call?.errorType).toBe(errorType)
  expect(call?.attributes["error.type"]).toBe(errorType)
  expect(JSON.stringify(call)).not.toContain("words")
})

test("a span has its model; its name and metrics are limited to a hundred models", () => {
  const names = createLabelValues()
  const call = (model: string, status = 200): GenAiCall | undefined =>
    modelCallOf(sampleRecord({ model, status }), servers, names)
  expect(call("made-up", 404)).toMatchObject({
    name: "chat other",
    attributes: { "gen_ai.request.model": "made-up" },
    dimensions: { "gen_ai.request.model": "other" },
  })
  for (let at = 0; at < 100; at += 1) expect(call(`m${at}`)?.name).toBe(`chat m${at}`)
  expect(call("late")?.name).toBe("chat other")
})
