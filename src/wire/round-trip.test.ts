import { describe, expect, test } from "vitest"
import { codePoints, fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { checkTranscript } from "../message/group.ts"
import { formats, messageId, type Transcript, wireText } from "../message/message.ts"
import { codecs } from "./codecs.ts"
import { decodeRequest } from "./decode.ts"
import { encodeRequest } from "./encode.ts"

describe.each(formats)("%s, for any request", (format) => {
  test("unchanged, it is the same text", () => {
    fc.assert(
      fc.property(requestText(format), (text) => {
        expect(encodeRequest(decodeRequest(format, text))).toBe(text)
      }),
    )
  })

  test("with every message written anew from what was read, each is the same text", () => {
    fc.assert(
      fc.property(requestText(format), (text) => {
        const { messages } = decodeRequest(format, text)
        for (const message of messages) {
          if (message.wire?.startsWith('"')) continue // a bare input becomes a message when it must be written
          expect(codecs[format].writeMessage(message)).toEqual([message.wire])
        }
      }),
    )
  })

  test("a message put in leaves every other byte alone", () => {
    fc.assert(
      fc.property(requestText(format), fc.nat(), fc.string({ minLength: 1 }), (text, where, said) => {
        const request = decodeRequest(format, text)
        fc.pre(request.messages.every(({ wire }) => wire?.startsWith("{") === true)) // a bare input is written as a message
        const at = where % (request.messages.length + 1)
        const ours = { id: messageId("ours"), role: "user", parts: [{ type: "text", text: said }] } as const
        const written = encodeRequest(request, { messages: request.messages.toSpliced(at, 0, ours) })
        const again = decodeRequest(format, written)
        expect(
          again.messages
            .map(({ wire }) => wire)
            .toSpliced(at, 1)
            .filter((wire) => wire?.startsWith("{")),
        ).toEqual(request.messages.map(({ wire }) => wire).filter((wire) => wire?.startsWith("{")))
        expect(again.messages[at]?.parts.map((part) => (part.type === "text" ? part.text : ""))).toEqual([said])
        expect(again.tools).toEqual(request.tools)
        expect(again.system).toEqual(request.system)
      }),
    )
  })

  test("one text changed is one text changed", () => {
    fc.assert(
      fc.property(requestText(format), fc.nat(), fc.string({ unit: codePoints }), (text, which, said) => {
        const request = decodeRequest(format, text)
        const texts = request.messages.flatMap(({ parts }) => parts.filter((part) => part.type === "text"))
        fc.pre(texts.length > 0)
        const chosen = texts[which % texts.length]
        const messages = request.messages.map((message) =>
          message.parts.some((part) => part === chosen)
            ? { ...message, parts: message.parts.map((part) => (part === chosen ? { ...part, text: said } : part)) }
            : message,
        )
        const again = decodeRequest(format, encodeRequest(request, { messages }))
        expect(withoutWire(again.messages)).toEqual(withoutWire(messages))
      }),
    )
  })
})

/** What the messages say, apart from how it was written. */
function withoutWire(messages: Transcript): unknown {
  return messages.map(({ role, parts }) => [role, parts.map(({ wire: _, ...part }) => part)])
}

describe("members that the body did not have", () => {
  test("are put in front, and an empty body stays an object", () => {
    const empty = decodeRequest("openai-responses", " { } ")
    const changes = {
      system: [{ type: "text", text: "be kind" }],
      messages: [{ id: messageId("m"), role: "user", parts: [{ type: "text", text: "hi" }] }],
    } as const
    expect(JSON.parse(encodeRequest(empty, changes))).toEqual({
      instructions: "be kind",
      input: [{ role: "user", content: "hi" }],
    })
    const full = decodeRequest("openai-responses", '{"model":"m"}')
    expect(JSON.parse(encodeRequest(full, changes))).toEqual({
      model: "m",
      instructions: "be kind",
      input: [{ role: "user", content: "hi" }],
    })
  })
  test("a system part is the first message where the format has no other place for it", () => {
    const request = decodeRequest("openai-chat", '{"messages":[{"role":"user","content":"hi"}]}')
    expect(encodeRequest(request, { system: [{ type: "text", text: "be kind" }] })).toBe(
      '{"messages":[{"role":"system","content":"be kind"},{"role":"user","content":"hi"}]}',
    )
  })
  test("a breakpoint is written where it is wanted, and only there", () => {
    const text =
      '{"tools":[{"name":"a", "input_schema":{}}],"system":"rules","messages":[{"role":"user","content":"hi"}]}'
    const request = decodeRequest("anthropic-messages", text)
    const marked = encodeRequest(request, {
      tools: request.tools.map((tool) => ({ ...tool, breakpoint: "1h" as const })),
      messages: request.messages.map((message) => ({
        ...message,
        parts: message.parts.map((part) => ({ ...part, breakpoint: "5m" as const })),
      })),
    })
    expect(marked).toBe(
      '{"tools":[{"name":"a", "input_schema":{},"cache_control":{"type":"ephemeral","ttl":"1h"}}],"system":"rules","messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}',
    )
  })
  test("a tool of ours joins Gemini's without touching them", () => {
    const text = '{"contents":[],"tools":[ {"functionDeclarations": [{"name":"a"}]} ,{"googleSearch":{}}]}'
    const request = decodeRequest("gemini", text)
    const recall = { name: "recall", wire: wireText('{"name":"recall"}') }
    expect(encodeRequest(request, { tools: [...request.tools, recall] })).toBe(
      '{"contents":[],"tools":[{"functionDeclarations": [{"name":"a"}]},{"googleSearch":{}},{"functionDeclarations":[{"name":"recall"}]}]}',
    )
  })
})

describe("results of Gemini whose ids a client made up", () => {
  const call = (name: string) => ({ functionCall: { name, args: {} } })
  const result = (name: string, id: string, output: string) => ({
    functionResponse: { id, name, response: { output } },
  })
  const text = JSON.stringify({
    contents: [
      { role: "model", parts: [call("read"), call("read"), call("list")] },
      { role: "user", parts: [result("read", "read-1", "one"), result("list", "list-3", "three")] },
      { role: "user", parts: [result("read", "read-2", "two")] },
      { role: "model", parts: [{ functionCall: { id: "fc_9", name: "read", args: {} } }] },
      { role: "user", parts: [result("read", "fc_9", "nine")] },
    ],
  })
  const request = decodeRequest("gemini", text)
  const parts = request.messages.flatMap((message) => message.parts)
  const idOf = (said: string): string | undefined =>
    parts.flatMap((part) => {
      const isMeant = part.type === "tool-result" && JSON.stringify(part.content).includes(said)
      return isMeant ? [part.callId] : []
    })[0]

  test("belong to the calls of their tool in their order, and an id that the call has goes before that", () => {
    const calls = parts.flatMap((part) => (part.type === "tool-call" ? [part.callId] : []))
    expect(calls).toEqual([idOf("one"), idOf("two"), idOf("three"), idOf("nine")])
    expect(checkTranscript(request.messages)).toEqual([])
  })

  test("keep the id that the client gave when they are written anew", () => {
    expect(encodeRequest(request)).toBe(text)
    const shorter = request.messages.map((message) => ({
      ...message,
      parts: message.parts.map((part) =>
        part.type === "tool-result" ? { ...part, content: [{ type: "text" as const, text: "cut" }] } : part,
      ),
    }))
    const written = encodeRequest(request, { messages: shorter })
    expect(written).toContain('"id":"read-2","name":"read","response":{"output":"cut"}')
    expect(checkTranscript(decodeRequest("gemini", written).messages)).toEqual([])
  })
})
