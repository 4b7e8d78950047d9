import { describe, expect, test } from "vitest"
import { createHoldfast, type Format, formats } from "../../src/index.ts"

/** What the types of `typed-bodies.ts` promise is what is written: one text and one tool round, in each format. */
const rounds: Readonly<Record<Format, readonly object[]>> = {
  "openai-chat": [
    { role: "user", content: "Look." },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "look", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "seen" },
  ],
  "openai-responses": [
    { role: "user", content: "Look." },
    { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: "seen" },
  ],
  "anthropic-messages": [
    { role: "user", content: "Look." },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "seen" }] },
  ],
  gemini: [
    { role: "user", parts: [{ text: "Look." }] },
    { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
    { role: "user", parts: [{ functionResponse: { name: "look", response: { seen: true } } }] },
  ],
}

const required: Readonly<Record<Format, Readonly<Record<string, unknown>>>> = {
  "openai-chat": { model: "any", messages: expect.any(Array) },
  "openai-responses": { model: "any", input: expect.any(Array) },
  "anthropic-messages": { model: "any", max_tokens: expect.any(Number), messages: expect.any(Array) },
  gemini: { contents: expect.any(Array) },
}

describe.each(formats.map((format) => [format] as const))("a body that a session writes in %s", (format) => {
  test("has what its type says is always there, and streams only if it was asked to", async () => {
    const session = createHoldfast({ store: "memory" }).session("one")
    await session.append(rounds[format], { format })
    const { body } = await session.prepare({ format, model: "any" })
    expect(body).toMatchObject(required[format])
    expect(body).not.toHaveProperty("stream")
    expect(body).not.toHaveProperty("tools")
    const streamed = await session.prepare({ format, model: "any", stream: true })
    if (format === "gemini") expect(streamed.body).not.toHaveProperty("stream")
    else expect(streamed.body).toMatchObject({ stream: true })
  })
})
