import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { ApiFamily } from "../../message/message.ts"
import { targetUrl } from "./route.ts"

const at = (baseUrl: string, more: object = {}) => ({
  baseUrl,
  families: ["anthropic", "openai", "gemini"] satisfies ApiFamily[],
  ...more,
})

test.each<[base: string, target: string, path: string]>([
  ["https://host", "/v1/chat/completions", "/v1/chat/completions"],
  ["https://host/", "/v1/messages?beta=true", "/v1/messages?beta=true"],
  ["https://host/v1", "/v1/messages", "/v1/messages"],
  ["https://host/api/v1", "/v1/chat/completions", "/api/v1/chat/completions"],
  ["https://host/api/v1/", "/chat/completions", "/api/v1/chat/completions"],
  ["https://host/api/v1", "/api/v1/chat/completions", "/api/v1/chat/completions"],
  ["https://host/api/paas/v4", "/v1/chat/completions", "/api/paas/v4/chat/completions"],
  ["https://host", "/chat/completions", "/v1/chat/completions"],
  ["https://host", "/messages?beta=true", "/v1/messages?beta=true"],
  ["https://host", "/messages/count_tokens", "/v1/messages/count_tokens"],
  ["https://host/anthropic", "/v1/messages", "/anthropic/v1/messages"],
  ["https://host/anthropic", "/anthropic/v1/messages", "/anthropic/v1/messages"],
  ["https://host", "/api/hello", "/api/hello"],
  ["https://host/openai", "/openai/deployments/d/chat/completions", "/openai/deployments/d/chat/completions"],
  ["https://host/openai/deployments/d", "/chat/completions", "/openai/deployments/d/chat/completions"],
  ["https://host?api-version=7", "/v1/responses?x=1", "/v1/responses?api-version=7&x=1"],
  ["https://host", "/v1beta/models/g:generateContent?key=k", "/v1beta/models/g:generateContent?key=k"],
  ["https://host", "/v1beta/models/a%2Fb:generateContent", "/v1beta/models/a%2Fb:generateContent"],
  ["https://host/v1beta", "/v1beta/models/g:countTokens", "/v1beta/models/g:countTokens"],
  ["https://host/v1", "/v1beta/models/g:generateContent", "/v1beta/models/g:generateContent"],
  ["https://host", "/models/g:generateContent", "/models/g:generateContent"],
])("%s and %s", (base, target, path) => {
  expect(targetUrl(at(base), target)).toEqual({ origin: "https://host", path })
})

test.each<[query: string, kept: string]>([
  ["?key=theirs", ""],
  ["?alt=sse&key=theirs&x=%2F", "?alt=sse&x=%2F"],
  ["?%6bey=theirs&$key=t&access_token=t&keyed=1", "?keyed=1"],
  ["?%zz=1&key", "?%zz=1"],
])("with an upstream key, the client's key is removed from the query: %s", (query, kept) => {
  const path = "/v1beta/models/g:generateContent"
  expect(targetUrl(at("https://host", { apiKey: "ours" }), path + query).path).toBe(path + kept)
  expect(targetUrl(at("https://host", { headers: { "X-Goog-Api-Key": "ours" } }), path + query).path).toBe(path + kept)
  expect(targetUrl(at("https://host", { apiKey: "ours", families: ["openai"] }), path + query).path).toBe(path + query)
})

test("an invalid base URL is a problem that does not repeat it", () => {
  expect(() => targetUrl(at("not-a-url-with-secret"), "/v1/messages")).toThrow(/^(?!.*secret)/)
})

test("for any path, a request goes to the upstream's origin and below its base path", () => {
  const base = fc.constantFrom("https://host", "https://host/", "https://host/api/v1", "http://10.0.0.1:81/v1beta")
  const path = fc.oneof(
    fc.string(),
    fc.constantFrom(
      "@evil.example",
      "/deployments/%/messages",
      "/models/%:generateContent",
      "//evil.example/x",
      "http://evil.example/",
      "\\\\evil.example",
      ":9@evil.example",
      "/v1/x",
    ),
  )
  fc.assert(
    fc.property(base, path, (baseUrl, target) => {
      const { origin, path: sent } = targetUrl(at(baseUrl), target)
      expect(origin).toBe(new URL(baseUrl).origin)
      expect(sent).toMatch(/^\/(?!\/)/)
      expect(new URL(origin + sent).origin).toBe(origin)
    }),
  )
})
