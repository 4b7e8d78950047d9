import { describe, expect, test } from "vitest"
import { anthropicObjection } from "../../test/model-server/anthropic-objection.ts"
import { chatObjection } from "../../test/model-server/chat-objection.ts"
import { geminiObjection } from "../../test/model-server/gemini-objection.ts"
import type { Json } from "../../test/model-server/json.ts"
import { responsesObjection } from "../../test/model-server/responses-objection.ts"
import { fc } from "../../test/support/property.ts"
import { requestText } from "../../test/support/requests.ts"
import { brokenTranscript, goodTranscript } from "../../test/support/transcripts.ts"
import type { CheckOptions } from "../message/group.ts"
import { type Format, formats, type Message } from "../message/message.ts"
import { repair } from "../message/repair.ts"
import { adjacencyOf } from "./codecs.ts"
import { decodeRequest } from "./decode.ts"
import { encodeRequest } from "./encode.ts"
import { isObject } from "./json.ts"
import { translate } from "./translate.ts"

/** What the provider would say of a body, as far as calls and results go. */
const objections: Readonly<Record<Format, (body: Json) => string | undefined>> = {
  "anthropic-messages": anthropicObjection,
  "openai-chat": chatObjection,
  "openai-responses": (body) => responsesObjection((body as { readonly input: readonly Json[] }).input),
  gemini: (body) => geminiObjection(body, false),
}

const empty: Readonly<Record<Format, string>> = {
  "anthropic-messages": '{"messages":[]}',
  "openai-chat": '{"messages":[]}',
  "openai-responses": '{"input":[]}',
  gemini: '{"contents":[]}',
}

describe.each(formats)("%s", (format) => {
  const adjacent = adjacencyOf[format]
  const options: CheckOptions = { ended: true, ...(adjacent === undefined ? {} : { adjacent }) }

  test("any history, repaired and translated, is one that the provider takes", () => {
    fc.assert(
      fc.property(fc.oneof(goodTranscript, brokenTranscript), (messages) => {
        const { messages: translated } = repair(translate(repair(messages).messages, format).messages, options)
        fc.pre(translated.some(({ role }) => role !== "system"))
        const body = encodeRequest(decodeRequest(format, empty[format]), { messages: translated })
        expect(objections[format](JSON.parse(body) as Json)).toBeUndefined()
      }),
    )
  })

  test("any request, repaired, is one that the provider takes, signatures aside", () => {
    fc.assert(
      fc.property(requestText(format), (text) => {
        const request = decodeRequest(format, text)
        const messages = request.messages.map(withoutReasoning)
        const { messages: repaired } = repair(messages, options)
        fc.pre(repaired.some(({ role }) => role !== "system") && !repaired.some(isRelayed))
        const written = encodeRequest(request, { messages: repaired })
        const body: unknown = JSON.parse(written, (_key, value) => inOneSpelling(value))
        const objection = objections[format](body as Json)
        expect(objection === "Corrupted thought signature." ? undefined : objection).toBeUndefined()
      }),
    )
  })
})

/** Generated signatures are no one's: whether a provider takes them is not asked here. */
function withoutReasoning(message: Message): Message {
  const parts = message.parts.filter(({ type }) => type !== "reasoning")
  return parts.length === message.parts.length ? message : { ...message, parts }
}

/** The scripted Gemini reads one of the two spellings. */
function inOneSpelling(value: unknown): unknown {
  return isObject(value) && value.function_call !== undefined ? { ...value, functionCall: value.function_call } : value
}

/** The scripted provider knows the results of functions and custom tools only. */
const isRelayed = ({ parts }: Message): boolean =>
  parts.some((part) => part.type === "tool-call" && part.kind === "other")
