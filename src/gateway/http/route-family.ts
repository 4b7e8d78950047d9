import type { Family } from "../settings/family.ts"

/** Headers as Node reads them: names in lower case. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

const paths: readonly (readonly [path: RegExp, family: Family])[] = [
  [/\/publishers\/anthropic\//, "anthropic"],
  [/^(?:\/(?:upload|download|resumable))?\/v\d{1,3}(?:alpha|beta)\d{0,3}(?:\/|$)/, "gemini"],
  [/^\/v1\/(?:projects|tunedModels|publishers)\//, "gemini"],
  // A verb of Google's, such as `:countTokens`; what others write behind a colon is a tag.
  [/\/[^/]+(?::|%3[Aa])(?:predict|[a-z]+[A-Z][A-Za-z]*)$/, "gemini"],
  [/^\/api\/hello$|^\/v1\/complete$|^\/v1\/organizations(?:\/|$)/, "anthropic"],
  [/(?:^|\/v1|\/anthropic)\/messages(?:\/|$)/, "anthropic"],
]

/** Whose API a request without a format of its own is for: by its path, else by the credentials it carries, else OpenAI's. */
export function familyOfPass(path: string, query: string, headers: RequestHeaders): Family {
  const known = paths.find(([pattern]) => pattern.test(path))?.[1]
  if (known !== undefined) return known
  if (["anthropic-version", "anthropic-beta", "x-api-key"].some((name) => headers[name] !== undefined))
    return "anthropic"
  if (headers["x-goog-api-key"] !== undefined || /[?&]key=/.test(query)) return "gemini"
  return "openai"
}
