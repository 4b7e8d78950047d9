import { expect, test } from "vitest"
import { createGuard } from "../../guard/guard.ts"
import type { Format } from "../../message/message.ts"
import { createSseEvent } from "../../wire/sse.ts"
import { decodeStream } from "../../wire/stream-steps.ts"
import { recallName } from "./recall-tool.ts"
import { streamRounds } from "./stream-rounds.ts"

const guarding = {
  guard: createGuard([`forbid(principal, action, resource) when { context.tool like "bad*" };`]),
  onJudged: async () => {},
}

async function* streamOf(...chunks: readonly object[]) {
  for (const chunk of chunks) {
    yield createSseEvent(JSON.stringify(chunk), "type" in chunk ? String(chunk.type) : undefined)
  }
}

async function through(format: Format, chunks: readonly object[], further: readonly object[] = []): Promise<string> {
  const out: string[] = []
  const rounds = streamRounds({
    format,
    framing: "events",
    events: streamOf(...chunks),
    sent: format === "gemini" ? `{"contents":[]}` : `{"messages":[],"input":[]}`,
    guarding,
    recall: async () => ({ text: "back", failed: false }),
    send: async () => ({ status: 200, framing: "events", events: streamOf(...further) }),
  })
  for await (const { raw } of rounds) out.push(Buffer.from(raw).toString())
  return out.join("")
}

const chatCall = (name: string) => ({ index: 0, id: "c1", type: "function", function: { name, arguments: "{}" } })

test("Chat: a call beside a recall, in a choice that is not read, is not sent", async () => {
  const chunk = (choices: readonly object[]) => ({ id: "x", object: "chat.completion.chunk", model: "m", choices })
  const out = await through("openai-chat", [
    chunk([{ index: 0, delta: { role: "assistant", content: "" } }]),
    chunk([
      { index: 0, delta: { tool_calls: [chatCall(recallName), { ...chatCall("read_file"), index: 1, id: "c2" }] } },
      { index: 1, delta: { tool_calls: [chatCall("bad_shell")] } },
    ]),
    chunk([{ index: 0, delta: {}, finish_reason: "tool_calls" }]),
  ])
  expect(out).not.toContain("bad_shell")
  expect(out).toContain(`"error"`)
})

test("Gemini: a call beside a recall, in a candidate that is not read, is not sent", async () => {
  const calling = (...names: readonly string[]) => ({
    content: { role: "model", parts: names.map((name) => ({ functionCall: { name, args: {} } })) },
  })
  const out = await through("gemini", [
    { candidates: [{ content: { role: "model", parts: [{ text: "Hm." }] } }] },
    { candidates: [calling(recallName, "read_file"), calling("bad_shell")] },
    { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] },
  ])
  expect(out).not.toContain("bad_shell")
  expect(out).toContain(`"error"`)
})

test("Responses: a call beside a recall that only the finished response lists is not sent", async () => {
  const item = (name: string, id: string) => ({ id, type: "function_call", call_id: id, name, arguments: "{}" })
  const read = item("read_file", "c2")
  const out = await through("openai-responses", [
    { type: "response.created", response: { id: "r1", status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item: item(recallName, "c1") },
    { type: "response.output_item.done", output_index: 1, item: read },
    {
      type: "response.completed",
      response: { id: "r1", status: "completed", output: [item(recallName, "c1"), read, item("bad_shell", "c3")] },
    },
  ])
  expect(out).not.toContain("bad_shell")
})

test("Chat: usage of a continued round is not sent by itself, but with that of the last one", async () => {
  const chunk = (delta: object, more: object = {}, finish: string | null = null) => ({
    id: "x",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })
  const counted = (completion_tokens: number) => ({ usage: { prompt_tokens: 1, completion_tokens } })
  const out = await through(
    "openai-chat",
    [chunk({ content: "Wait." }), chunk({ tool_calls: [chatCall(recallName)] }, counted(111), "tool_calls")],
    [chunk({ content: "Done." }), chunk({}, counted(222), "stop")],
  )
  expect(out).not.toContain("111")
  expect(out).toContain('"completion_tokens":333')
  expect(out.match(/"finish_reason":"/g)).toHaveLength(1)
})

test("an incomplete recall is not a call: the response ends without it", async () => {
  const out = await through("anthropic-messages", [
    { type: "message_start", message: { id: "m1", role: "assistant", content: [], usage: {} } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "c1", name: recallName, input: {} },
    },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: `{"han` } },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ])
  expect(out).toContain("end_turn")
  expect(out).not.toContain("tool_use")
})

test("Anthropic: a recall whose input is not an object cannot be sent back: the response ends with a note", async () => {
  const out = await through("anthropic-messages", [
    { type: "message_start", message: { id: "m1", role: "assistant", content: [], usage: {} } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "c1", name: recallName, input: {} },
    },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: `{"han` } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
    { type: "message_stop" },
  ])
  expect(out).toContain("was not run")
  expect(out).toContain("end_turn")
})

test("a client's own tool of that name is left alone if recalls are not answered here", async () => {
  const events = [
    { candidates: [{ content: { role: "model", parts: [{ functionCall: { name: recallName, args: {} } }] } }] },
    { candidates: [{ content: { parts: [] }, finishReason: "STOP" }] },
  ]
  const out = []
  const send = () => Promise.reject(new Error("nothing is sent"))
  const rounds = streamRounds({ format: "gemini", framing: "events", events: streamOf(...events), sent: "{}", send })
  for await (const event of rounds) out.push(event)
  expect(decodeStream("gemini", out).some(({ type }) => type === "part-start")).toBe(true)
})
