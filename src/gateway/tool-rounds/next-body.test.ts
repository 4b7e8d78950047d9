import { describe, expect, test } from "vitest"
import { callId, type Format, type ToolResultPart } from "../../message/message.ts"
import { decodeResponse } from "../../wire/decode.ts"
import { nextBody } from "./round.ts"

const result = (id: string, text: string, failed?: boolean): ToolResultPart => ({
  type: "tool-result",
  callId: callId(id),
  kind: "function",
  tool: "look",
  content: [{ type: "text", text }],
  ...(failed === undefined ? {} : { failed }),
})

type Case = {
  readonly why: string
  readonly format: Format
  readonly sent: string
  readonly answer: string
  readonly results: readonly ToolResultPart[]
  readonly next: string
}

const message = `{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"Hm.","annotations":[]}]}`
const sealed = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"zzz"}`
const bare = `{"id":"rs_1","type":"reasoning","summary":[]}`
const call = `{"id":"fc_1","type":"function_call","call_id":"c1","name":"look","arguments":"{\\"n\\": 1.0}"}`
const given = `{"type":"function_call_output","call_id":"c1","output":"found"}`

const cases: readonly Case[] = [
  {
    why: "Anthropic: the answer's blocks as they came, and one message with all results",
    format: "anthropic-messages",
    sent: `{ "messages" : [ {"role":"user", "content":"go"} ], "max_tokens": 9 }`,
    answer: `{"content":[{"type":"thinking","thinking":"t","signature":"s=="},{"type":"tool_use","id":"c1","name":"look","input":{"n":1.0}},{"type":"tool_use","id":"c2","name":"look","input":{}}],"stop_reason":"tool_use"}`,
    results: [result("c1", "found"), result("c2", "not found", true)],
    next: `{ "messages" : [ {"role":"user", "content":"go"},{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s=="},{"type":"tool_use","id":"c1","name":"look","input":{"n":1.0}},{"type":"tool_use","id":"c2","name":"look","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"found"},{"type":"tool_result","tool_use_id":"c2","content":"not found","is_error":true}]}], "max_tokens": 9 }`,
  },
  {
    why: "Chat: the message as it came, and a tool message for each result",
    format: "openai-chat",
    sent: `{"messages":[{"role":"user","content":"go"}],"model":"m"}`,
    answer: `{"choices":[{"message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\\"n\\": 1.0}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
    results: [result("c1", "found"), result("c2", "not found", true)],
    next: `{"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\\"n\\": 1.0}"}},{"id":"c2","type":"function","function":{"name":"look","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"found"},{"role":"tool","tool_call_id":"c2","content":"not found"}],"model":"m"}`,
  },
  {
    why: "Responses, nothing kept: items as they came, sealed reasoning among them",
    format: "openai-responses",
    sent: `{"input":[{"role":"user","content":"go"}],"store":false}`,
    answer: `{"output":[${sealed},${message},${call}],"status":"completed"}`,
    results: [result("c1", "found")],
    next: `{"input":[{"role":"user","content":"go"},${sealed},${message},${call},${given}],"store":false}`,
  },
  {
    why: "Responses, nothing kept: reasoning without its seal names what is not there",
    format: "openai-responses",
    sent: `{"input":[{"role":"user","content":"go"}],"store":false}`,
    answer: `{"output":[${bare},${call}],"status":"completed"}`,
    results: [result("c1", "found")],
    next: `{"input":[{"role":"user","content":"go"},${call},${given}],"store":false}`,
  },
  {
    why: "Responses, kept: reasoning goes back as it came, beside the answer that it goes on from",
    format: "openai-responses",
    sent: `{"previous_response_id":"resp_0","input":"go"}`,
    answer: `{"output":[${bare},${call}],"status":"completed"}`,
    results: [result("c1", "found")],
    next: `{"previous_response_id":"resp_0","input":[{"role":"user","content":"go"},${bare},${call},${given}]}`,
  },
  {
    why: "Responses in a conversation that the provider keeps: it has the answer, and wants the result alone",
    format: "openai-responses",
    sent: `{"conversation":"conv_1","input":[]}`,
    answer: `{"output":[${call}],"status":"completed"}`,
    results: [result("c1", "found")],
    next: `{"conversation":"conv_1","input":[${given}]}`,
  },
  {
    why: "Gemini: parts with their seals, and a functionResponse for each",
    format: "gemini",
    sent: `{"contents":[{"role":"user","parts":[{"text":"go"}]}]}`,
    answer: `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"look","args":{"n":1.0}},"thoughtSignature":"s=="}]},"finishReason":"STOP"}]}`,
    results: [result("m0.0", "found")],
    next: `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"look","args":{"n":1.0}},"thoughtSignature":"s=="}]},{"role":"user","parts":[{"functionResponse":{"name":"look","response":{"output":"found"}}}]}]}`,
  },
]

describe("the next body", () => {
  test.each(cases)("$why", async ({ format, sent, answer, results, next }) => {
    expect(await nextBody(sent, format, decodeResponse(format, answer), results)).toBe(next)
  })
})
