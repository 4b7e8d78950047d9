import { assert } from "../message/assert.ts"
import type { Format, ModelResponse, Part, StopReason, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { isObject, tryParse } from "../wire/json.ts"
import { isOpenai, type ModelAddress, readBaseUrl } from "./address.ts"
import { callModel, fail } from "./call-model.ts"

/** The model's complete, non-empty text. */
export type ModelAnswerText = { readonly text: string; readonly stop: StopReason; readonly usage?: Usage }

/** A model that answers one question at a time. Every failure is a `HoldfastError`, and none contains a key. */
export type Model = {
  readonly ask: (question: Question & { readonly signal?: AbortSignal }) => Promise<ModelAnswerText>
}

/** Calls the model as `callModel` does, but without retries: every caller has a fallback. */
export function createModel(options: ModelOptions): Model {
  readBaseUrl(options.baseUrl)
  return {
    ask: async ({ system, user, signal }) => {
      const body = JSON.stringify(questionBody(options, { system, user }))
      const called = await callModel({ ...options, retries: 0 }, { body, stream: false, ...present({ signal }) })
      assert(called.type === "whole", "a stream that nobody asked for")
      return answerIn(called.response, options)
    },
  }
}

/** Reads the text of an answer, without reasoning and refusals, and whether the model refused. */
export function readAnswerText(response: ModelResponse): { readonly text: string; readonly isRefused: boolean } {
  const text = response.messages
    .filter(({ role }) => role === "assistant")
    .flatMap(({ parts }) => parts)
    .flatMap((part) => (part.type === "text" && !isRefusalPart(part) ? [part.text] : []))
    .join("")
    .trim()
  return { text, isRefused: response.stop === "refusal" || (text === "" && isModelRefusal(response)) }
}

function answerIn(response: ModelResponse, { model, maxOutputTokens }: ModelOptions): ModelAnswerText {
  const { text, isRefused } = readAnswerText(response)
  if (isRefused) return fail({ code: "answer-refused", model })
  if (response.stop === "length" || response.stop === "context-window") {
    return fail({ code: "answer-cut", model, limitTokens: maxOutputTokens })
  }
  if (text === "") return fail({ code: "answer-empty", model })
  return { text, stop: response.stop, ...present({ usage: response.usage }) }
}

/** True if the model refuses. OpenAI reports a refusal in a field of the message, or in a part of its own type. */
export function isModelRefusal({ stop, messages }: ModelResponse): boolean {
  return (
    stop === "refusal" ||
    messages.some(({ wire, parts }) => {
      const message = wire === undefined ? undefined : tryParse(wire)
      const said = isObject(message) ? message.refusal : undefined
      return (typeof said === "string" && said !== "") || parts.some(isRefusalPart)
    })
  )
}

function isRefusalPart({ wire }: Part): boolean {
  const block = wire === undefined ? undefined : tryParse(wire)
  return isObject(block) && block.type === "refusal"
}

/** A question for a model: no history, no tools. */
export type Question = { readonly system: string; readonly user: string }

/** A model's address and the settings of a question. */
export type ModelOptions = ModelAddress & {
  /** Time limit for the complete answer. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly maxOutputTokens: number
}

type WriteBody = (options: ModelOptions, question: Question, url: URL) => unknown

const writers: Readonly<Record<Format, WriteBody>> = {
  "anthropic-messages": ({ model, maxOutputTokens }, { system, user }) => ({
    model,
    max_tokens: maxOutputTokens,
    system,
    messages: [{ role: "user", content: user }],
  }),
  "openai-chat": ({ model, maxOutputTokens }, { system, user }, url) => ({
    model,
    [isOpenai(url) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens,
    messages: [
      { role: "system", content: system },
      { role: "user", content: user },
    ],
  }),
  "openai-responses": ({ model, maxOutputTokens }, { system, user }) => ({
    model,
    max_output_tokens: maxOutputTokens,
    instructions: system,
    input: [{ role: "user", content: user }],
    store: false,
  }),
  gemini: ({ maxOutputTokens }, { system, user }) => ({
    systemInstruction: { parts: [{ text: system }] },
    contents: [{ role: "user", parts: [{ text: user }] }],
    generationConfig: { maxOutputTokens },
  }),
}

const questionBody = (options: ModelOptions, question: Question): unknown =>
  writers[options.format](options, question, readBaseUrl(options.baseUrl))
