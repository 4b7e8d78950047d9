import { type Answer, answerOf, jsonAnswer } from "./answer.ts"
import { anthropicMessages } from "./anthropic-messages.ts"
import { gemini } from "./gemini.ts"
import type { Json } from "./json.ts"
import { createMeasure, type Measured } from "./measure.ts"
import { openaiChat } from "./openai-chat.ts"
import { createOpenaiResponses } from "./openai-responses.ts"
import { type InputUsage, replyOf } from "./reply.ts"
import type { Script } from "./script.ts"
import type { ParsedRequest, Wire } from "./wire.ts"

export type ScriptedModelOptions = {
  readonly script: Script
  /** Splits streams into chunks of this many bytes instead of one chunk per event. */
  readonly chunkBytes?: number
  /** Refuses, as the providers do, histories with unpaired calls or results, or with altered reasoning. */
  readonly strict?: boolean
  /** Refuses, with the provider's own message, requests of more tokens than this. */
  readonly windowTokens?: number
  /** Number of tokens that the model counts where we count one. */
  readonly tokenScale?: number
  /** Reports in the usage what a provider's prompt cache would have read and written; a simulation. */
  readonly simulateCache?: boolean
}

/** A request as the model receives it. */
export type ModelRequest = {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly json: Json
}

const notFound = {
  type: "error",
  error: { type: "not_found_error", message: "The scripted server has no such path." },
}

/** Creates a scripted model behind four APIs. Its state is what the Responses API stores, and a count of its calls. */
export function createScriptedModel(options: ScriptedModelOptions): (asking: ModelRequest) => Answer {
  const wires = [anthropicMessages, openaiChat, createOpenaiResponses(), gemini]
  const measure = createMeasure(options)
  let calls = 0

  const generate = (wire: Wire, asked: ParsedRequest, asking: ModelRequest, index: number): Answer => {
    const { path, headers, json } = asking
    const measured = measure(wire.format, asked.model, asking.body)
    if (measured?.tooLong !== undefined) {
      return { ...jsonAnswer(wire.fail(measured.tooLong, index), wire.headers(index), wire.indent), measured }
    }
    const objection = options.strict === true ? wire.objection(json, asked.model) : undefined
    if (objection !== undefined) return jsonAnswer(wire.refuse(objection, index), wire.headers(index), wire.indent)
    const { rounds, model, framing } = asked
    const stream = framing !== "whole"
    const said = options.script({ index, rounds, format: wire.format, model, stream, path, headers, body: json })
    const { reply, fault } = replyOf(said, asked, json, index, inputOf(asking, measured))
    wire.remember?.(reply)
    const answer = answerOf(wire, reply, fault, options.chunkBytes)
    return measured === undefined ? answer : { ...answer, measured }
  }

  return (asking) => {
    const url = new URL(asking.path, "http://loopback")
    for (const wire of wires) {
      const asked = wire.ask(url, asking.json)
      if (asked === undefined) continue
      if ("kind" in asked && asked.kind === "count") {
        const { inputTokens } = inputOf(asking, measure(wire.format, asked.model, asking.body, "count"))
        return jsonAnswer({ status: 200, body: wire.count(inputTokens) }, {}, wire.indent)
      }
      const index = calls
      calls += 1
      if ("refused" in asked) return jsonAnswer(asked.refused, wire.headers(index), wire.indent)
      return generate(wire, asked, asking, index)
    }
    return jsonAnswer({ status: 404, body: notFound })
  }
}

/** The measured size; otherwise a quarter of the bytes, which only has to be the same every time. */
const inputOf = ({ body }: ModelRequest, measured: Measured | undefined): InputUsage => ({
  inputTokens: measured?.inputTokens ?? Math.ceil(body.length / 4),
  cacheReadTokens: measured?.cache?.readTokens ?? 0,
  cacheWriteTokens: measured?.cache?.writtenTokens ?? 0,
})
