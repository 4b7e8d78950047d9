import type { Arbitrary } from "fast-check"
import type { Format } from "../../src/message/message.ts"
import { codePoints, fc } from "./property.ts"
import { anyJson, literal, manner, writeIn } from "./raw-json.ts"

/** Generated bodies that the APIs accept, with unknown fields and block types, written in every valid way. */

const words = fc.oneof(
  fc.string(),
  fc.string({ unit: codePoints }),
  fc.constantFrom("", "line\nline", "😀é中", "\ud83d", '{"a":1.0}'),
)
const id = fc.string({ minLength: 1, maxLength: 8 })
const some = <T>(value: Arbitrary<T>): Arbitrary<T | undefined> => fc.option(value, { nil: undefined })

/** Adds unknown members to an object, some before and some after. */
const withUnknown = (known: Arbitrary<Record<string, unknown>>): Arbitrary<Record<string, unknown>> =>
  fc
    .tuple(
      fc.dictionary(
        fc.string().map((name) => `x_${name}`),
        anyJson,
        { maxKeys: 2 },
      ),
      known,
      fc.boolean(),
    )
    .map(([unknown, own, first]) => (first ? { ...unknown, ...own } : { ...own, ...unknown }))

const block = (type: string, fields: Record<string, Arbitrary<unknown>> = {}): Arbitrary<Record<string, unknown>> =>
  withUnknown(fc.record({ type: fc.constant(type), ...fields }))

const cacheControl = some(
  fc.constantFrom(
    { type: "ephemeral" },
    { type: "ephemeral", ttl: "1h" },
    { type: "ephemeral", ttl: "5m", scope: "global" },
  ),
)

// Anthropic Messages

const anthropicMedia = fc.constantFrom(
  { type: "base64", media_type: "image/png", data: "aGk=" },
  { type: "url", url: "https://example.com/a.png" },
  { type: "file", file_id: "file_1" },
)
const anthropicText = block("text", { text: words, cache_control: cacheControl })
const anthropicResult = block("tool_result", {
  tool_use_id: id,
  content: some(
    fc.oneof(
      words,
      fc.array(fc.oneof(anthropicText, block("image", { source: anthropicMedia }), block("future_block")), {
        maxLength: 3,
      }),
      fc.constant(null),
    ),
  ),
  is_error: some(fc.boolean()),
  cache_control: cacheControl,
})
const anthropicBlock = fc.oneof(
  anthropicText,
  block("thinking", { thinking: words, signature: words }),
  block("redacted_thinking", { data: words }),
  block("tool_use", { id, name: id, input: anyJson, cache_control: cacheControl }),
  block("server_tool_use", { id, name: id, input: anyJson }),
  block("web_search_tool_result", {
    tool_use_id: id,
    content: fc.oneof(fc.array(block("web_search_result", { url: words })), fc.record({ error_code: words })),
  }),
  anthropicResult,
  block("image", { source: anthropicMedia, cache_control: cacheControl }),
  block("document", { source: anthropicMedia, title: some(words), citations: some(anyJson) }),
  block("compaction", { content: some(words), encrypted_content: some(words) }),
  block("future_block", { payload: anyJson }),
)
const anthropicRequest = withUnknown(
  fc.record({
    model: words,
    max_tokens: some(literal),
    system: some(fc.oneof(words, fc.array(anthropicText, { maxLength: 3 }))),
    tools: some(fc.array(withUnknown(fc.record({ name: id, input_schema: anyJson })), { maxLength: 2 })),
    messages: fc.array(
      withUnknown(
        fc.record({
          role: fc.constantFrom("user", "assistant", "system"),
          content: fc.oneof(words, fc.array(anthropicBlock, { maxLength: 4 })),
        }),
      ),
      { maxLength: 6 },
    ),
    metadata: some(anyJson),
    context_management: some(anyJson),
  }),
)

// OpenAI Chat Completions

const chatPart = fc.oneof(
  block("text", { text: words }),
  block("image_url", { image_url: fc.record({ url: words, detail: some(words) }) }),
  block("input_audio", { input_audio: fc.record({ data: words, format: fc.constant("wav") }) }),
  block("file", { file: fc.record({ file_id: some(words), filename: some(words) }) }),
  block("future_part"),
)
const chatContent = fc.oneof(words, fc.array(chatPart, { maxLength: 3 }))
const chatCall = fc.oneof(
  block("function", {
    id,
    function: withUnknown(
      fc.record({ name: id, arguments: fc.oneof(words, fc.constantFrom('{"a":1.0}', '{"a": [1, 2]}', "[]", '"x"')) }),
    ),
  }),
  block("custom", { id, custom: withUnknown(fc.record({ name: id, input: words })) }),
)
const chatMessage = fc.oneof(
  withUnknown(fc.record({ role: fc.constantFrom("system", "developer", "user"), content: chatContent })),
  withUnknown(
    fc.record({
      role: fc.constant("assistant"),
      content: some(fc.oneof(chatContent, fc.constant(null))),
      tool_calls: some(fc.array(chatCall, { maxLength: 3 })),
      reasoning_content: some(words),
      refusal: some(fc.oneof(words, fc.constant(null))),
    }),
  ),
  withUnknown(fc.record({ role: fc.constant("tool"), tool_call_id: id, content: chatContent, name: some(words) })),
  withUnknown(
    fc.record({
      role: fc.constant("assistant"),
      content: fc.constant(null),
      function_call: fc.record({ name: id, arguments: words }),
    }),
  ),
  withUnknown(fc.record({ role: fc.constant("function"), name: id, content: words })),
)
const chatRequest = withUnknown(
  fc.record({
    model: words,
    messages: fc.array(chatMessage, { maxLength: 6 }),
    tools: some(fc.array(anyJson, { maxLength: 2 })),
    stream: some(fc.boolean()),
    max_completion_tokens: some(literal),
  }),
)

// OpenAI Responses

const responsesPart = fc.oneof(
  block("input_text", { text: words }),
  block("output_text", { text: words, annotations: some(anyJson) }),
  block("refusal", { refusal: words }),
  block("input_image", { image_url: some(words), detail: some(words) }),
  block("input_file", { file_id: some(words), filename: some(words) }),
  block("future_part"),
)
const responsesItem = fc.oneof(
  withUnknown(
    fc.record({
      type: some(fc.constant("message")),
      role: fc.constantFrom("user", "assistant", "system", "developer"),
      content: fc.oneof(words, fc.array(responsesPart, { maxLength: 3 })),
    }),
  ),
  block("function_call", {
    call_id: id,
    name: id,
    arguments: fc.oneof(words, fc.constant('{"a": 1.0}')),
    id: some(id),
  }),
  block("function_call_output", { call_id: id, output: fc.oneof(words, fc.array(responsesPart, { maxLength: 2 })) }),
  block("custom_tool_call", { call_id: id, name: id, input: words }),
  block("custom_tool_call_output", { call_id: id, output: words }),
  block("local_shell_call", { call_id: id, action: anyJson }),
  block("computer_call_output", { call_id: id, output: anyJson }),
  block("mcp_approval_request", { id, name: id, arguments: words }),
  block("mcp_approval_response", { approval_request_id: id, approve: fc.boolean() }),
  block("reasoning", {
    id: some(id),
    summary: fc.array(block("summary_text", { text: words }), { maxLength: 2 }),
    encrypted_content: some(words),
  }),
  block("compaction", { encrypted_content: words }),
  block("item_reference", { id }),
  block("web_search_call", { id, status: words }),
  block("future_item", { payload: anyJson }),
)
const responsesRequest = withUnknown(
  fc.record({
    model: some(words),
    instructions: some(fc.oneof(words, fc.constant(null))),
    input: some(fc.oneof(words, fc.array(responsesItem, { maxLength: 6 }))),
    previous_response_id: some(fc.oneof(words, fc.constant(null))),
    tools: some(fc.array(anyJson, { maxLength: 2 })),
    max_output_tokens: some(literal),
  }),
)

// Gemini

const geminiPart = withUnknown(
  fc.oneof(
    fc.record({ text: words, thought: some(fc.boolean()), thoughtSignature: some(words) }),
    fc.record({
      functionCall: withUnknown(fc.record({ id: some(id), name: id, args: some(anyJson) })),
      thoughtSignature: some(words),
    }),
    fc.record({
      functionResponse: withUnknown(
        fc.record({
          id: some(id),
          name: id,
          response: fc.oneof(anyJson, fc.record({ output: words }), fc.record({ error: words })),
        }),
      ),
    }),
    fc.record({ function_call: fc.record({ name: id, args: anyJson }) }),
    fc.record({ inlineData: fc.record({ mimeType: fc.constantFrom("image/png", "application/pdf"), data: words }) }),
    fc.record({ file_data: fc.record({ file_uri: words }) }),
    fc.record({ executableCode: fc.record({ language: words, code: words }) }),
    fc.record({ codeExecutionResult: fc.record({ outcome: words, output: words }) }),
    fc.record({ futureData: anyJson }),
  ),
)
const geminiRequest = withUnknown(
  fc.record({
    contents: fc.array(
      withUnknown(
        fc.record({
          role: some(fc.constantFrom("user", "model")),
          parts: some(fc.array(geminiPart, { maxLength: 4 })),
        }),
      ),
      { maxLength: 6 },
    ),
    systemInstruction: some(fc.record({ parts: fc.array(fc.record({ text: words }), { maxLength: 2 }) })),
    tools: some(
      fc.array(fc.record({ functionDeclarations: some(fc.array(fc.record({ name: id }), { maxLength: 2 })) }), {
        maxLength: 2,
      }),
    ),
    generationConfig: some(fc.record({ maxOutputTokens: literal })),
  }),
)

const bodies: Readonly<Record<Format, Arbitrary<Record<string, unknown>>>> = {
  "anthropic-messages": anthropicRequest,
  "openai-chat": chatRequest,
  "openai-responses": responsesRequest,
  gemini: geminiRequest,
}

/** Generates the text of a request in this format. */
export const requestText = (format: Format): Arbitrary<string> =>
  fc.tuple(bodies[format], manner).map(([body, how]) => writeIn(how, body))

export const listName: Readonly<Record<Format, string>> = {
  "anthropic-messages": "messages",
  "openai-chat": "messages",
  "openai-responses": "input",
  gemini: "contents",
}
