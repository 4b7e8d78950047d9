import { HoldfastError } from "../message/errors.ts"
import type { Format } from "../message/message.ts"

/** A model, its address and its key. */
export type ModelAddress = {
  readonly format: Format
  /** With or without the version at its end: `https://api.openai.com` and `https://api.openai.com/v1` are the same. */
  readonly baseUrl: string
  readonly apiKey?: string
  /** Sent as given; they replace our own headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>
  readonly model: string
}

type Address = { readonly url: URL; readonly headers: Readonly<Record<string, string>> }

/** The version of the API that we write: https://docs.anthropic.com/en/api/versioning */
const anthropicVersion = "2023-06-01"

type Scheme = {
  readonly path: (model: string, stream: boolean) => string
  /** The version that a base URL may already end with. */
  readonly version: string
  readonly keyHeader: (key: string) => Readonly<Record<string, string>>
}

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` })

const schemes: Readonly<Record<Format, Scheme>> = {
  "anthropic-messages": { path: () => "/messages", version: "/v1", keyHeader: (key) => ({ "x-api-key": key }) },
  "openai-chat": { path: () => "/chat/completions", version: "/v1", keyHeader: bearer },
  "openai-responses": { path: () => "/responses", version: "/v1", keyHeader: bearer },
  gemini: {
    path: (model, stream) =>
      `/models/${encodeURIComponent(model.replace(/^models\//, ""))}:${stream ? "streamGenerateContent" : "generateContent"}`,
    version: "/v1beta",
    keyHeader: (key) => ({ "x-goog-api-key": key }),
  },
}

/** Parses a base URL. An invalid one is a Problem that does not repeat it, because it may contain a key. */
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

/** The URL of a model's API for a whole or streamed answer, and the headers to send. */
export function addressOf({ format, baseUrl, apiKey, headers, model }: ModelAddress, stream: boolean): Address {
  const { path, version, keyHeader } = schemes[format]
  const url = readBaseUrl(baseUrl)
  const base = url.pathname.replace(/\/{1,8}$/, "")
  url.pathname = `${/\/v\d[\w.]*$/.test(base) ? base : base + version}${path(model, stream)}`
  if (format === "gemini" && stream) url.searchParams.set("alt", "sse")
  return {
    url,
    headers: {
      "content-type": "application/json",
      ...(format === "anthropic-messages" ? { "anthropic-version": anthropicVersion } : {}),
      ...(apiKey === undefined ? {} : keyHeader(apiKey)),
      ...lowerCased(headers ?? {}),
    },
  }
}

const lowerCased = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** OpenAI's own reasoning models accept only the new name of the output limit; other servers of its format know only the old one. */
export const isOpenai = ({ hostname }: URL): boolean => /(^|\.)openai\.(azure\.)?com$/.test(hostname)
