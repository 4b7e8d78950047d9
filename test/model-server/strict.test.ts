import { expect, test } from "vitest"
import { seal } from "./ids.ts"
import { startModelServer } from "./model-server.ts"

const user = { role: "user", content: "hi" }
const anthropicCall = { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "a", input: {} }] }
const anthropicResult = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] }
const thinking = (signature: string) => ({
  role: "assistant",
  content: [{ type: "thinking", thinking: "deep", signature }],
})
const chatCall = { role: "assistant", content: null, tool_calls: [{ id: "call_1" }, { id: "call_2" }] }
const chatResult = (id: string) => ({ role: "tool", tool_call_id: id, content: "ok" })
const call = { type: "function_call", call_id: "call_1", name: "a", arguments: "{}" }
const output = { type: "function_call_output", call_id: "call_1", output: "ok" }
const reasoning = { type: "reasoning", id: "rs_1", summary: [] }
const modelCall = { role: "model", parts: [{ functionCall: { name: "a", args: {} } }] }
const response = { role: "user", parts: [{ functionResponse: { name: "a", response: {} } }] }
const sealed = (encrypted_content: string) => ({ ...reasoning, encrypted_content })
const signed = (thoughtSignature: string) => ({
  role: "model",
  parts: modelCall.parts.map((part) => ({ ...part, thoughtSignature })),
})
const said = [
  { role: "model", parts: [{ text: "done" }] },
  { role: "user", parts: [{ text: "and now?" }] },
]

const messages = "/v1/messages"
const chat = "/v1/chat/completions"
const responses = "/v1/responses"
const gemini = "/v1beta/models/gemini-2.5-pro:generateContent"
const signing = "/v1beta/models/gemini-3-pro:generateContent"

const cases: readonly [why: string, path: string, body: object, refusal: string | undefined][] = [
  ["Anthropic: a pair", messages, { messages: [user, anthropicCall, anthropicResult] }, undefined],
  ["Anthropic: a call without result", messages, { messages: [user, anthropicCall, user] }, "without `tool_result`"],
  ["Anthropic: a result without call", messages, { messages: [user, anthropicResult] }, "unexpected `tool_use_id`"],
  [
    "Anthropic: a result behind a text",
    messages,
    { messages: [anthropicCall, user, anthropicResult] },
    "without `tool_r",
  ],
  ["Anthropic: a text behind a result", messages, { messages: [anthropicCall, anthropicResult, user] }, undefined],
  ["Anthropic: own thinking", messages, { messages: [user, thinking(seal("signature", "deep"))] }, undefined],
  [
    "Anthropic: altered thinking",
    messages,
    { messages: [user, thinking(seal("signature", "dee"))] },
    "Invalid `signature`",
  ],
  ["chat: results in any order", chat, { messages: [chatCall, chatResult("call_2"), chatResult("call_1")] }, undefined],
  ["chat: one result of two", chat, { messages: [chatCall, chatResult("call_2"), user] }, "messages: call_1"],
  [
    "chat: a result without call",
    chat,
    { messages: [user, chatResult("call_1")] },
    "must be a response to a preceding",
  ],
  ["responses: a pair", responses, { input: [user, reasoning, call, output] }, undefined],
  ["responses: a call without output", responses, { input: [user, call] }, "No tool output found"],
  ["responses: an output without call", responses, { input: [user, output] }, "No tool call found"],
  ["responses: reasoning alone", responses, { input: [reasoning, user] }, "without its required following item"],
  ["responses: own reasoning", responses, { input: [sealed(seal("reasoning", "deep")), call, output] }, undefined],
  ["responses: altered reasoning", responses, { input: [sealed("gAAAabcd"), call, output] }, "could not be verified"],
  [
    "responses: an unknown reference",
    responses,
    { input: [{ type: "item_reference", id: "rs_9" }] },
    "'rs_9' not found",
  ],
  ["responses: an unknown past", responses, { previous_response_id: "resp_9" }, "'resp_9' not found"],
  ["Gemini: a pair", gemini, { contents: [modelCall, response] }, undefined],
  ["Gemini: a signed call", signing, { contents: [signed(seal("thought", "x")), response] }, undefined],
  [
    "Gemini: an altered signature",
    signing,
    { contents: [signed("CiIBabcd"), response] },
    "Corrupted thought signature",
  ],
  ["Gemini: a call cut up", gemini, { contents: [modelCall, modelCall, response, response] }, undefined],
  [
    "Gemini: a call without response",
    gemini,
    { contents: [modelCall, modelCall, response] },
    "number of function response",
  ],
  ["Gemini: an unsigned call", signing, { contents: [modelCall, response] }, "missing a thought_signature"],
  ["Gemini: an unsigned call long ago", signing, { contents: [modelCall, response, ...said] }, undefined],
  ["Gemini: a response without call", gemini, { contents: [response] }, "immediately after a function call turn"],
  ["Anthropic: a thread", messages, { thread: { type: "create" }, messages: [user] }, "thread_unsupported_request"],
]

test.each(cases)("%s", async (_why, path, body, refusal) => {
  const server = await startModelServer({ script: () => ({ text: "fine" }), strict: true })
  try {
    const answer = await fetch(server.url + path, { method: "POST", body: JSON.stringify(body) })
    expect(await answer.text()).toContain(refusal ?? "fine")
    expect(answer.ok).toBe(refusal === undefined)
  } finally {
    await server.close()
  }
})
