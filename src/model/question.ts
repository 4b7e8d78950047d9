import type { Format } from "../message/message.ts"
import { isOpenai, readBaseUrl, type Whereabouts } from "./address.ts"

/** A question for a model: no history, no tools. */
export type Question = { readonly system: string; readonly user: string }

/** A model's address and the settings of a question. */
export type ModelOptions = Whereabouts & {
  /** Time limit of the whole answer, its last byte included. */
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

/** The request body of a question. */
export const questionBody = (options: ModelOptions, question: Question): unknown =>
  writers[options.format](options, question, readBaseUrl(options.baseUrl))
