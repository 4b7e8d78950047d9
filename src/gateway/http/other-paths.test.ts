import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import { usualTimes } from "../settings/gateway-options.ts"
import { sharesAccount } from "../settings/upstream.ts"
import { isForEveryone, mayCarryCall, otherPathOf, refersToAccount } from "./other-paths.ts"

const upstream = { name: "u", families: ["openai"], baseUrl: "http://127.0.0.1:9", ...usualTimes } as const

test("an account is shared if the gateway has the key and clients are separate tenants", () => {
  expect(sharesAccount({ tenants: "by-key" }, { ...upstream, apiKey: "k" })).toBe(true)
  expect(sharesAccount({ tenants: "by-key" }, { ...upstream, headers: { authorization: "Bearer k" } })).toBe(true)
  expect(sharesAccount({ tenants: "by-key" }, upstream)).toBe(false)
  expect(sharesAccount({ tenants: "one" }, { ...upstream, apiKey: "k" })).toBe(false)
})

test.each([
  ["POST", "/v1/messages/count_tokens?beta=true", true],
  ["POST", "/v1/responses/input_tokens", true],
  ["GET", "/v1/models?limit=5", true],
  ["GET", "/v1/models/gpt-5", true],
  ["POST", "/v1beta/models/gemini-2.5-pro:countTokens", true],
  ["HEAD", "/api/hello", true],
  ["POST", "/v1/embeddings", true],
  ["POST", "/v1/completions", true],
  ["GET", "/v1/chat/completions", false],
  ["GET", "/v1/chat/completions?limit=100", false],
  ["DELETE", "/v1/models/ft:gpt-5:acme::1", false],
  ["GET", "/v1/responses/resp_1", false],
  ["GET", "/v1/responses/resp_1/input_items", false],
  ["POST", "/v1/files", false],
  ["GET", "/v1/files", false],
  ["GET", "/v1/files/file_1/content", false],
  ["GET", "/v1/vector_stores/vs_1/search", false],
  ["GET", "/v1/containers", false],
  ["GET", "/v1/messages/batches", false],
  ["GET", "/v1/chat/completions/chatcmpl_1", false],
  ["GET", "/v1/organizations/usage", false],
  ["GET", "/v1beta/cachedContents/1", false],
  ["GET", "/v1/files?x=/count_tokens", false],
])("%s %s may be forwarded to a shared account: %s", (method, path, expected) => {
  expect(isForEveryone(method, path)).toBe(expected)
})

test.each([
  ["POST", "/v1/messages/count_tokens", "plain"],
  ["GET", "/v1/models/gpt-5", "plain"],
  ["GET", "/v1/responses/resp_1?stream=true", "stored"],
  ["POST", "/v1/responses/resp_1/cancel", "stored"],
  ["GET", "/v1/chat/completions/chatcmpl_1", "stored"],
  ["GET", "/v1/chat/completions", "closed"],
  ["GET", "/v1/responses/resp_1/input_items", "closed"],
  ["GET", "/v1/conversations/conv_1/items", "closed"],
  ["POST", "/v1/batches", "closed"],
  ["GET", "/v1/messages/batches/b_1/results", "closed"],
  ["POST", "/v1beta/models/gemini-9:batchGenerateContent", "closed"],
  ["POST", "/v1beta/models/gemini-9%3AbatchGenerateContent", "closed"],
  ["POST", "/v1/threads/thread_1/runs", "closed"],
  ["GET", "/v1/threads/thread_1/runs/run_1", "closed"],
  ["POST", "/v1/threads/runs", "closed"],
  ["POST", "/v1/threads/thread_1/runs/run_1/submit_tool_outputs", "closed"],
  ["POST", "/v1beta/interactions", "closed"],
  ["GET", "/v1beta/interactions/i_1", "closed"],
  ["POST", "/api/chat", "closed"],
  ["POST", "/API/Chat", "closed"],
  ["POST", "/api/generate", "closed"],
  ["POST", "/model/anthropic.claude-9/converse", "closed"],
  ["POST", "/model/anthropic.claude-9/converse-stream", "closed"],
  ["POST", "/bedrock/model/anthropic.claude-9/invoke", "closed"],
  ["POST", "/model/a/invoke-with-response-stream", "closed"],
  ["GET", "/v1/realtime?model=gpt-realtime", "closed"],
  ["POST", "/v1internal:streamGenerateContent?alt=sse", "closed"],
  ["POST", "/v1/files", "unknown"],
  ["DELETE", "/v1/responses/resp_1", "unknown"],
  ["POST", "/api/event_logging/batch", "unknown"],
  ["POST", "/V1/Embeddings", "unknown"],
])("%s %s is %s for the guard", (method, path, type) => {
  expect(otherPathOf(method, path).type).toBe(type)
})

const noise = fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(fc.string(), fc.integer(), fc.boolean()), {
  maxKeys: 4,
})
const calls: readonly unknown[] = [
  { type: "tool_use", id: "t", name: "bash", input: { command: "ls" } },
  { tool_calls: [{ id: "c", type: "function", function: { name: "bash", arguments: "{}" } }] },
  { functionCall: { name: "bash", args: {} } },
  { toolUse: { toolUseId: "t", name: "bash", input: {} } },
  { type: "function_call", name: "bash", arguments: "{}" },
  { required_action: { submit_tool_outputs: { tool_calls: [{ id: "c" }] } } },
  { content: '<tool_call>\n{"name": "run_command", "arguments": {"command": "rm -rf /"}}\n</tool_call>' },
]
test("for any JSON around it, on one line or on many, a tool call in a response is seen", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...calls),
      noise,
      fc.array(fc.constantFrom("a", "b", "items"), { maxLength: 6 }),
      fc.boolean(),
      (call, around, path, isStream) => {
        const value = path.reduce<unknown>(
          (inner, key) => (key === "items" ? [around, inner] : { ...around, [key]: inner }),
          call,
        )
        const line = JSON.stringify(value)
        expect(mayCarryCall(isStream ? `event: x\ndata: {"ok":true}\n\nevent: y\ndata: ${line}\n\n` : line)).toBe(true)
      },
    ),
  )
})

test("a call in the words of a stream is seen though each piece has only some letters of it", () => {
  const text = '<tool_call>\n{"name": "run_command", "arguments": {"command": "rm -rf /"}}\n</tool_call>'
  const stream = [...text].map((letter) => `data: ${JSON.stringify({ choices: [{ text: letter }] })}\n\n`).join("")
  expect(mayCarryCall(stream)).toBe(true)
})

test.each([
  [{ object: "list", data: [{ id: "file-1", object: "file", filename: "a.txt", name: "a", bytes: 12 }] }],
  [{ id: "vs_1", name: "docs", file_counts: { total: 3 }, usage: { input_tokens: 3 }, metadata: {} }],
  [
    {
      id: "asst_1",
      tools: [{ type: "function", function: { name: "f", parameters: { type: "object" } } }],
      tool_calls: [],
    },
  ],
  [{ choices: [{ text: "return a + b", finish_reason: "stop" }], model: "m" }],
])("a response without a call is none: %j", (value) => {
  expect(mayCarryCall(JSON.stringify(value))).toBe(false)
})

test.each<[string, object, boolean]>([
  ["a file", { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }] }] }, true],
  ["a picture", { input: [{ role: "user", content: [{ type: "input_image", file_id: "file-1" }] }] }, true],
  [
    "no file",
    { input: [{ role: "user", content: [{ type: "input_image", file_id: null, image_url: "data:," }] }] },
    false,
  ],
  ["a vector store", { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] }, true],
  ["a container", { tools: [{ type: "code_interpreter", container: "cntr_1" }] }, true],
  ["a new container", { tools: [{ type: "code_interpreter", container: { type: "auto" } }] }, false],
  [
    "a new container with files",
    { tools: [{ type: "code_interpreter", container: { type: "auto", file_ids: ["f"] } }] },
    true,
  ],
  ["a stored prompt", { prompt: { id: "pmpt_1" }, input: "x" }, true],
  ["a container of Anthropic's", { container: "container_1", messages: [] }, true],
  [
    "a file of Anthropic's",
    { messages: [{ content: [{ type: "document", source: { type: "file", file_id: "f" } }] }] },
    true,
  ],
  ["a cache of Gemini's", { cachedContent: "cachedContents/1" }, true],
  [
    "a file of Gemini's",
    { contents: [{ parts: [{ fileData: { fileUri: "https://x.googleapis.com/v1beta/files/1" } }] }] },
    true,
  ],
  ["a page for Gemini", { contents: [{ parts: [{ fileData: { fileUri: "https://example.com/a.pdf" } }] }] }, false],
  ["an earlier sound", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }, true],
  [
    "what a tool is given",
    { messages: [{ content: [{ type: "tool_use", name: "f", input: { file_id: "x" } }] }] },
    false,
  ],
  [
    "how a tool is described",
    { tools: [{ name: "f", input_schema: { properties: { file_id: { type: "string" } } } }] },
    false,
  ],
  ["words", { messages: [{ role: "user", content: 'say {"file_id": "x"}' }] }, false],
])("a model call with %s refers to the account: %j %s", (_what, body, expected) => {
  expect(refersToAccount(Buffer.from(JSON.stringify(body)))).toBe(expected)
})
