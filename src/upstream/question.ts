import { HoldfastError } from "../errors.ts"
import type { Format } from "../message/message.ts"

/** What a model is asked: one question, no history, no tools. */
export type Question = { readonly system: string; readonly user: string }

/** Where a model is, and how to speak to it. */
export type ModelOptions = {
  readonly format: Format
  /** With or without the version at its end: `https://api.openai.com` and `https://api.openai.com/v1` are the same. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Sent as they are, over our own of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly model: string
  /** For the whole answer, its last byte included. */
  readonly timeoutMs: number
  readonly maxResponseBytes: number
  readonly maxOutputTokens: number
}

/** A request ready to be sent. */
export type Sending = { readonly url: URL; readonly headers: Readonly<Record<string, string>>; readonly body: unknown }

/** The version of the API that we write: https://docs.anthropic.com/en/api/versioning */
const anthropicVersion = "2023-06-01"

type Writer = {
  readonly path: (model: string) => string
  /** What a base URL may end with already. */
  readonly version: string
  readonly keyHeader: (key: string) => Readonly<Record<string, string>>
  readonly body: (options: ModelOptions, question: Question, url: URL) => unknown
}

const writers: Readonly<Record<Format, Writer>> = {
  "anthropic-messages": {
    path: () => "/messages",
    version: "/v1",
    keyHeader: (key) => ({ "x-api-key": key }),
    body: ({ model, maxOutputTokens }, { system, user }) => ({
      model,
      max_tokens: maxOutputTokens,
      system,
      messages: [{ role: "user", content: user }],
    }),
  },
  "openai-chat": {
    path: () => "/chat/completions",
    version: "/v1",
    keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
    body: ({ model, maxOutputTokens }, { system, user }, url) => ({
      model,
      [isOpenai(url) ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens,
      messages: [
        { role: "system", content: system },
        { role: "user", content: user },
      ],
    }),
  },
  "openai-responses": {
    path: () => "/responses",
    version: "/v1",
    keyHeader: (key) => ({ authorization: `Bearer ${key}` }),
    body: ({ model, maxOutputTokens }, { system, user }) => ({
      model,
      max_output_tokens: maxOutputTokens,
      instructions: system,
      input: [{ role: "user", content: user }],
      store: false,
    }),
  },
  gemini: {
    path: (model) => `/models/${encodeURIComponent(model.replace(/^models\//, ""))}:generateContent`,
    version: "/v1beta",
    keyHeader: (key) => ({ "x-goog-api-key": key }),
    body: ({ maxOutputTokens }, { system, user }) => ({
      systemInstruction: { parts: [{ text: system }] },
      contents: [{ role: "user", parts: [{ text: user }] }],
      generationConfig: { maxOutputTokens },
    }),
  },
}

/** OpenAI's own reasoning models take the new name of the limit only; servers that speak its format know the old one. */
const isOpenai = ({ hostname }: URL): boolean => /(^|\.)openai\.(azure\.)?com$/.test(hostname)

/** The address that a base URL stands for; one that is none is a Problem that does not repeat it, for it may hold a key. */
export function readBaseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new HoldfastError({
      code: "upstream-unreachable",
      host: "the base URL",
      reason: "it is not an http or https URL",
    })
  }
  return url
}

/** Lay a question out for a model's API. */
export function writeQuestion(options: ModelOptions, question: Question): Sending {
  const { path, version, keyHeader, body } = writers[options.format]
  const url = readBaseUrl(options.baseUrl)
  const base = url.pathname.replace(/\/{1,8}$/, "")
  url.pathname = `${/\/v\d[\w.]*$/.test(base) ? base : base + version}${path(options.model)}`
  return {
    url,
    headers: {
      "content-type": "application/json",
      ...(options.format === "anthropic-messages" ? { "anthropic-version": anthropicVersion } : {}),
      ...(options.apiKey === undefined ? {} : keyHeader(options.apiKey)),
      ...lowerCased(options.headers ?? {}),
    },
    body: body(options, question, url),
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
