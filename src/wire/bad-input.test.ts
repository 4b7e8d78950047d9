import { describe, expect, test } from "vitest"
import { recordedRequests, withoutCorpus } from "../../test/support/corpus.ts"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { describe as advise, HoldfastError, type Problem } from "../message/errors.ts"
import { checkTranscript } from "../message/group.ts"
import { type Format, formats, messageId } from "../message/message.ts"
import { repair } from "../message/repair.ts"
import type { FileKind } from "../transcript/conversation.ts"
import { importTranscript } from "../transcript/import.ts"
import { codecs } from "./codecs.ts"
import { decodeRequest, decodeResponse } from "./decode.ts"
import { encodeRequest } from "./encode.ts"
import { maxBodyLength, maxJsonDepth } from "./json.ts"
import { startCollect, startDecode, startEncode } from "./stream-steps.ts"
import { translate } from "./translate.ts"

function problemOf(run: () => unknown): Problem | undefined {
  try {
    run()
  } catch (error) {
    if (error instanceof HoldfastError) return error.problem
    throw error
  }
  return undefined
}

const path = (found: string, expected: string): Partial<Problem> => ({ code: "request-invalid", path: found, expected })

describe("a malformed body gets its path and what was expected", () => {
  const cases: readonly [why: string, format: Format, body: unknown, problem: Partial<Problem>][] = [
    ["no object", "openai-chat", [], path("the body", "an object")],
    ["no messages", "anthropic-messages", { model: "m" }, path("messages", "an array")],
    ["messages is no list", "openai-chat", { messages: "hi" }, path("messages", "an array")],
    ["a message is no object", "openai-chat", { messages: [7] }, path("messages[0]", "an object")],
    [
      "a message without a role",
      "anthropic-messages",
      { messages: [{ content: "x" }] },
      path("messages[0].role", "a string"),
    ],
    [
      "a role of its own",
      "anthropic-messages",
      { messages: [{ role: "boss", content: "x" }] },
      path("messages[0].role", '"user", "assistant" or "system"'),
    ],
    [
      "content is a number",
      "anthropic-messages",
      { messages: [{ role: "user", content: 1 }] },
      path("messages[0].content", "a string or an array of blocks"),
    ],
    [
      "a block without a type",
      "anthropic-messages",
      { messages: [{ role: "user", content: [{}] }] },
      path("messages[0].content[0].type", "a string"),
    ],
    [
      "a text block without text",
      "anthropic-messages",
      { messages: [{ role: "user", content: [{ type: "text" }] }] },
      path("messages[0].content[0].text", "a string"),
    ],
    [
      "a result without its call's id",
      "anthropic-messages",
      { messages: [{ role: "user", content: [{ type: "tool_result" }] }] },
      path("messages[0].content[0].tool_use_id", "a string"),
    ],
    [
      "a tool message without its call's id",
      "openai-chat",
      { messages: [{ role: "tool", content: "x" }] },
      path("messages[0].tool_call_id", "a string"),
    ],
    [
      "a call without an id",
      "openai-chat",
      { messages: [{ role: "assistant", tool_calls: [{ function: { name: "f" } }] }] },
      path("messages[0].tool_calls[0].id", "a string"),
    ],
    [
      "a call without a function",
      "openai-chat",
      { messages: [{ role: "assistant", tool_calls: [{ id: "1" }] }] },
      path("messages[0].tool_calls[0].function", "an object"),
    ],
    ["an item that says nothing of itself", "openai-responses", { input: [{}] }, path("input[0].type", "a string")],
    [
      "an output without its call's id",
      "openai-responses",
      { input: [{ type: "function_call_output", output: "" }] },
      path("input[0].call_id", "a string"),
    ],
    ["input is a number", "openai-responses", { input: 3 }, path("input", "an array")],
    [
      "a Gemini role of its own",
      "gemini",
      { contents: [{ role: "tool", parts: [] }] },
      path("contents[0].role", '"user" or "model"'),
    ],
    [
      "a Gemini call without a name",
      "gemini",
      { contents: [{ role: "model", parts: [{ functionCall: {} }] }] },
      path("contents[0].parts[0].functionCall.name", "a string"),
    ],
    [
      "system is a number",
      "anthropic-messages",
      { system: 1, messages: [] },
      path("system", "a string or an array of blocks"),
    ],
  ]
  test.each(cases)("%s (%s)", (_why, format, body, problem) => {
    expect(problemOf(() => decodeRequest(format, JSON.stringify(body)))).toMatchObject(problem)
  })

  test("text that is no JSON says where it breaks off", () => {
    expect(problemOf(() => decodeRequest("openai-chat", '{"messages": [1, 2'))).toMatchObject({
      code: "json-invalid",
      offset: 18,
    })
    expect(problemOf(() => decodeRequest("openai-chat", ""))?.code).toBe("json-invalid")
    expect(problemOf(() => decodeRequest("openai-chat", "\ufeff{}"))?.code).toBe("json-invalid")
  })
  test("a body that is not a string, or an unknown format, is a Problem and not an assertion", () => {
    const anything: readonly unknown[] = [undefined, null, 7, {}, new Uint8Array(2)]
    for (const value of anything)
      expect(problemOf(() => decodeRequest("gemini", value as string))?.code).toBe("json-invalid")
    expect(problemOf(() => decodeRequest("smtp" as Format, "{}"))).toMatchObject({
      code: "format-unknown",
      found: '"smtp"',
    })
    expect(problemOf(() => decodeRequest("a".repeat(1e6) as Format, "{}"))).toMatchObject({
      found: `"${"a".repeat(80)}"`,
    })
    expect(problemOf(() => decodeResponse("constructor" as Format, "{}"))?.code).toBe("format-unknown")
    for (const start of [startDecode, startEncode, startCollect, (name: Format) => translate([], name)]) {
      expect(problemOf(() => start("smtp" as Format))?.code).toBe("format-unknown")
    }
    expect(problemOf(() => importTranscript("[]", { kind: "zip" as FileKind }))?.code).toBe("format-unknown")
    expect(problemOf(() => importTranscript(undefined as unknown as string))?.code).toBe("json-invalid")
  })
  test("JSON too deep to walk is refused, however deep", () => {
    for (const depth of [maxJsonDepth + 1, 200_000]) {
      const text = `{"messages":${"[".repeat(depth)}${"]".repeat(depth)}}`
      expect(problemOf(() => decodeRequest("openai-chat", text))).toMatchObject({
        code: "json-too-deep",
        limit: maxJsonDepth,
      })
    }
  })
  test("a body larger than any API takes is refused before it is parsed", () => {
    const text = `{"messages":["${"x".repeat(maxBodyLength)}"]}`
    expect(problemOf(() => decodeRequest("openai-chat", text))?.code).toBe("body-too-large")
  })
  test("an answer in another format says so", () => {
    expect(problemOf(() => decodeResponse("anthropic-messages", '{"choices":[]}'))).toMatchObject({
      code: "response-invalid",
      path: "content",
    })
    expect(problemOf(() => decodeResponse("openai-chat", '{"content":[]}'))).toMatchObject({
      code: "response-invalid",
      path: "choices",
    })
  })
  test("a message of another format must be translated first", () => {
    const chat = decodeRequest("openai-chat", '{"messages":[{"role":"user","content":"hi"}]}')
    const other = decodeRequest("anthropic-messages", '{"messages":[]}')
    expect(problemOf(() => encodeRequest(other, { messages: chat.messages }))).toMatchObject({
      code: "format-mixed",
      message: "m0",
    })
    const { messages } = translate(chat.messages, "anthropic-messages")
    expect(encodeRequest(other, { messages })).toBe('{"messages":[{"role":"user","content":"hi"}]}')
  })
  test("an image that came from nowhere cannot be written", () => {
    const request = decodeRequest("gemini", '{"contents":[]}')
    const image = { id: messageId("m"), role: "user", parts: [{ type: "image", media: { held: "url" } }] } as const
    expect(problemOf(() => encodeRequest(request, { messages: [image] }))).toMatchObject({
      code: "part-unwritable",
      part: "image",
    })
  })
  test("every problem has a sentence and a next step", () => {
    const { sentence, next } = advise({ code: "request-invalid", path: "a.b", expected: "a string", found: "nothing" })
    expect(`${sentence} ${next}`).toBe(
      "The request has nothing at a.b, where a string was expected. Send a string at a.b.",
    )
  })
})

/** A body with one of its values put in another's place, dropped or doubled. */
function mutate(text: string, where: number, what: unknown): string {
  const body: unknown = JSON.parse(text)
  const places: (() => void)[] = []
  const collect = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return
    for (const key of Object.keys(value)) {
      places.push(() => (what === undefined ? Reflect.deleteProperty(value, key) : Reflect.set(value, key, what)))
      collect(Reflect.get(value, key))
    }
  }
  collect(body)
  places[where % Math.max(1, places.length)]?.()
  return JSON.stringify(body)
}

/** Decode and everything that a later stage does first; only a Problem may come of it. */
function exercise(format: Format, text: string): void {
  problemOf(() => {
    const request = decodeRequest(format, text)
    expect(encodeRequest(request)).toBe(text)
    const { messages } = repair(request.messages, { ended: true })
    expect(checkTranscript(messages, { ended: true })).toEqual([])
    encodeRequest(request, { messages })
    for (const message of request.messages) codecs[format].writeMessage(message)
  })
}

const wrong = fc.constantFrom<unknown>(
  undefined,
  null,
  0,
  -1.5,
  "",
  "x",
  true,
  [],
  {},
  [null],
  [[]],
  { type: 1 },
  { type: "text" },
  "__proto__",
  { role: "assistant" },
)

describe("a mutated request is read or refused, never a crash", () => {
  test.each(formats)("%s, as generated", (format) => {
    fc.assert(
      fc.property(requestText(format), fc.nat(), wrong, (text, where, what) =>
        exercise(format, mutate(text, where, what)),
      ),
    )
  })
  test.each(formats)("%s, with a stretch of its text torn out", (format) => {
    fc.assert(
      fc.property(requestText(format), fc.nat(), fc.nat(40), (text, where, length) => {
        const at = where % text.length
        exercise(format, text.slice(0, at) + text.slice(at + length))
      }),
    )
  })
  const recorded = recordedRequests()
  test.skipIf(recorded.length === 0)(`recorded ones too${withoutCorpus}`, () => {
    fc.assert(
      fc.property(fc.nat(recorded.length - 1), fc.nat(), wrong, (n, where, what) => {
        const request = recorded[n]
        if (request !== undefined) exercise(request.format, mutate(request.text, where, what))
      }),
    )
  })
})
