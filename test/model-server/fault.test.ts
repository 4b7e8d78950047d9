import { afterEach, describe, expect, test } from "vitest"
import { type Format, formats } from "../../src/message/message.ts"
import { answer, ask, eventsIn, server, stop } from "./asking.ts"
import { field, type Json, parseJson, textAt } from "./json.ts"
import type { Fault } from "./script.ts"
import type { ScriptedModelOptions } from "./scripted-model.ts"

afterEach(stop)

const withFault = (fault: Fault): Partial<ScriptedModelOptions> => ({ script: () => ({ ...answer, fault }) })

type ErrorShape = (body: Json) => readonly (Json | undefined)[]
const openaiShape: ErrorShape = (body) => [textAt(field(body, "error"), "type"), field(field(body, "error"), "code")]
const shapes: Readonly<Record<Format, ErrorShape>> = {
  "anthropic-messages": (body) => [textAt(body, "type"), textAt(field(body, "error"), "type")],
  "openai-chat": openaiShape,
  "openai-responses": openaiShape,
  gemini: (body) => [field(field(body, "error"), "code"), textAt(field(body, "error"), "status")],
}
const failures: readonly [
  type: "http-429" | "http-500" | "http-529" | "context-length",
  status: number,
  Record<Format, Json[]>,
][] = [
  [
    "http-429",
    429,
    {
      "anthropic-messages": ["error", "rate_limit_error"],
      "openai-chat": ["requests", "rate_limit_exceeded"],
      "openai-responses": ["requests", "rate_limit_exceeded"],
      gemini: [429, "RESOURCE_EXHAUSTED"],
    },
  ],
  [
    "http-500",
    500,
    {
      "anthropic-messages": ["error", "api_error"],
      "openai-chat": ["server_error", null],
      "openai-responses": ["server_error", "server_error"],
      gemini: [500, "INTERNAL"],
    },
  ],
  [
    "http-529",
    529,
    {
      "anthropic-messages": ["error", "overloaded_error"],
      "openai-chat": ["server_error", null],
      "openai-responses": ["server_error", "server_error"],
      gemini: [529, "UNAVAILABLE"],
    },
  ],
  [
    "context-length",
    400,
    {
      "anthropic-messages": ["error", "invalid_request_error"],
      "openai-chat": ["invalid_request_error", "context_length_exceeded"],
      "openai-responses": ["invalid_request_error", "context_length_exceeded"],
      gemini: [400, "INVALID_ARGUMENT"],
    },
  ],
]
describe.each(failures)("%s", (type, status, expected) => {
  test.each(formats)("%s answers in its own shape", async (format) => {
    const response = await ask(format, true, withFault({ type }))
    expect(response.status).toBe(status)
    expect(response.headers.get("retry-after")).toBe(type === "http-429" ? "1" : null)
    expect(shapes[format](parseJson(await response.text()))).toEqual(expected[format])
  })
})

describe.each(formats)("faults inside a stream: %s", (format) => {
  test("cut early: the opening event, then the connection dies", async () => {
    const response = await ask(format, true, withFault({ type: "cut-early" }))
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow("terminated")
    expect(server()?.requests[0]?.response.complete).toBe(false)
    expect(eventsIn(new TextDecoder().decode(server()?.requests[0]?.response.bytes))).toHaveLength(1)
  })

  test("cut in the middle: inside an event that holds tool arguments", async () => {
    const response = await ask(format, true, withFault({ type: "cut-mid" }))
    await expect(response.text()).rejects.toThrow("terminated")
    const sent = new TextDecoder().decode(server()?.requests[0]?.response.bytes)
    expect(sent).toMatch(/input_json_delta|tool_calls|function_call_arguments|functionCall/)
    expect(sent).not.toMatch(/\n\r?\n$/)
  })

  test("an error event, and then the stream ends in good order", async () => {
    const events = eventsIn(await (await ask(format, true, withFault({ type: "in-stream-error" }))).text())
    const last = parseJson(events.at(-1)?.data ?? "null")
    const error = field(last, "error") ?? field(field(last, "response"), "error")
    expect(textAt(error, "message")).toMatch(/overloaded/i)
  })

  test("an error event about the context's length", async () => {
    const fault = { type: "in-stream-error", kind: "context-length" } as const
    const body = await (await ask(format, true, withFault(fault))).text()
    expect(body).toMatch(/prompt is too long|context_length_exceeded|exceeds the maximum number of tokens/)
  })

  test.each(["ping", "comment"] as const)("%s frames come first and change nothing else", async (type) => {
    const clean = eventsIn(await (await ask(format, true)).text())
    await stop()
    const body = await (await ask(format, true, withFault({ type }))).text()
    expect(body).toMatch(type === "ping" ? /^event: ping\r?\ndata: / : /^: keepalive/)
    expect(eventsIn(body).filter(({ name }) => name !== "ping")).toEqual(clean.filter(({ name }) => name !== "ping"))
  })

  test("a stall is silence in the middle, and a delay is silence before the headers", async () => {
    for (const type of ["stall", "delay"] as const) {
      const start = performance.now()
      const response = await ask(format, true, withFault({ type, ms: 60 }))
      const headersMs = performance.now() - start
      await response.text()
      const bodyMs = performance.now() - start - headersMs
      expect(type === "delay" ? headersMs : bodyMs).toBeGreaterThan(55)
      await stop()
    }
  })

  test("a whole answer can be cut, too", async () => {
    await expect(ask(format, false, withFault({ type: "cut-early" })).then((it) => it.text())).rejects.toThrow()
    await stop()
    const half = await ask(format, false, withFault({ type: "cut-mid" }))
    await expect(half.text()).rejects.toThrow("terminated")
  })
})
