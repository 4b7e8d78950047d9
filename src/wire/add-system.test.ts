import { describe, expect, test } from "vitest"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { type Format, formats, type ModelRequest, textOf } from "../message/message.ts"
import { addSystem } from "./add-system.ts"
import { decodeRequest } from "./decode.ts"
import { encodeRequest } from "./encode.ts"

const rule = 'Never say "no".\nA </tag> and a \\ are nothing to us: \u00e9\u4e2d.'

/** What a reader of the body finds, whatever ids messages go by; calls of the old kind are named by position. */
const seen = ({ messages, ...request }: ModelRequest): unknown =>
  JSON.parse(
    JSON.stringify({ ...request, messages: messages.map(({ id: _, ...rest }) => rest) }).replace(/#function-\d+/g, "#"),
  )

describe.each(formats)("%s", (format) => {
  test("for any request, what comes out is what reading its text gives, and only the system part is new", () => {
    fc.assert(
      fc.property(requestText(format), (body) => {
        const request = decodeRequest(format, body)
        fc.pre(request.layout.messages !== undefined && request.wire[request.layout.messages.start] === "[")
        const added = addSystem(request, [{ type: "text", text: rule }], "operator")
        expect(seen(added)).toEqual(seen(decodeRequest(format, added.wire)))
        const kept = added.messages.filter(({ id }) => id !== "operator")
        expect(kept.every((message, n) => message === request.messages[n])).toBe(true)
        expect(kept).toHaveLength(request.messages.length)
        if (added.messages.length > 0) expect(encodeRequest(added, { messages: [...added.messages] })).toBe(added.wire)
        const again = addSystem(decodeRequest(format, body), [{ type: "text", text: rule }], "operator")
        expect(again.wire).toBe(added.wire)
      }),
    )
  })
})

const bodies: readonly [why: string, format: Format, body: string][] = [
  ["no system part", "anthropic-messages", '{"model":"m","messages":[{"role":"user","content":"hi"}]}'],
  ["system as text", "anthropic-messages", '{"system":"Be kind.","messages":[{"role":"user","content":"hi"}]}'],
  [
    "system as blocks with a marker",
    "anthropic-messages",
    '{"messages":[{"role":"user","content":"hi"}],"system":[{"type":"text","text":"Be kind.","cache_control":{"type":"ephemeral"}}]}',
  ],
  ["no messages at all", "openai-chat", '{"model":"m","messages":[ ]}'],
  [
    "a developer message",
    "openai-chat",
    '{"messages":[{"role":"developer","content":"x"},{"role":"user","content":"hi"}]}',
  ],
  ["only a user message", "openai-chat", '{"messages":[{"role":"user","content":"hi"}]}'],
  ["instructions", "openai-responses", '{"instructions":"Be kind.","input":[{"role":"user","content":"hi"}]}'],
  ["instructions of null", "openai-responses", '{"instructions":null,"input":"hi"}'],
  ["input as text", "openai-responses", '{"input":"hi"}'],
  ["a system instruction", "gemini", '{"system_instruction":{"parts":[{"text":"Be kind."}]},"contents":[]}'],
]

test.each(bodies)("%s: the text stands in the system part verbatim, behind what was there", (_why, format, body) => {
  const added = addSystem(decodeRequest(format, body), [{ type: "text", text: rule }], "operator")
  const read = decodeRequest(format, added.wire)
  const said = [...read.system, ...read.messages.filter(({ role }) => role === "system").flatMap(({ parts }) => parts)]
  expect(said.map(textOf).join("\n\n").endsWith(rule)).toBe(true)
  const rest = (value: Record<string, unknown>) => ({
    ...value,
    system: 0,
    system_instruction: 0,
    instructions: 0,
    messages: 0,
  })
  expect(rest(JSON.parse(added.wire))).toEqual(rest(JSON.parse(body)))
})
