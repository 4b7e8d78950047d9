import { expect, test } from "vitest"
import { usualTimes } from "../settings/gateway-options.ts"
import { isForEveryone, sharesAccount } from "./headers.ts"

const upstream = { name: "u", families: ["openai"], baseUrl: "http://127.0.0.1:9", ...usualTimes } as const

test("an account is shared if the gateway has the key and clients are separate tenants", () => {
  expect(sharesAccount({ tenants: "by-key" }, { ...upstream, apiKey: "k" })).toBe(true)
  expect(sharesAccount({ tenants: "by-key" }, { ...upstream, headers: { authorization: "Bearer k" } })).toBe(true)
  expect(sharesAccount({ tenants: "by-key" }, upstream)).toBe(false)
  expect(sharesAccount({ tenants: "one" }, { ...upstream, apiKey: "k" })).toBe(false)
})

test.each([
  ["/v1/messages/count_tokens?beta=true", true],
  ["/v1/responses/input_tokens", true],
  ["/v1/models?limit=5", true],
  ["/v1/models/gpt-5", true],
  ["/v1beta/models/gemini-2.5-pro:countTokens", true],
  ["/api/hello", true],
  ["/v1/embeddings", true],
  ["/v1/responses/resp_1", false],
  ["/v1/responses/resp_1/input_items", false],
  ["/v1/files", false],
  ["/v1/files/file_1/content", false],
  ["/v1/messages/batches", false],
  ["/v1/chat/completions/chatcmpl_1", false],
  ["/v1/organizations/usage", false],
  ["/v1beta/cachedContents/1", false],
  ["/v1/files?x=/count_tokens", false],
])("%s may be forwarded to a shared account: %s", (path, expected) => {
  expect(isForEveryone(path)).toBe(expected)
})
