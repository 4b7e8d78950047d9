import { expect, test } from "vitest"
import { fc } from "../../../test/support/property.ts"
import type { ApiFamily } from "../../message/message.ts"
import { usualTimes } from "./gateway-options.ts"
import { chooseUpstream, type Upstream } from "./upstream.ts"

const upstream = (name: string, families: readonly ApiFamily[], models?: readonly string[]): Upstream => ({
  name,
  families,
  baseUrl: "https://host",
  ...usualTimes,
  ...(models === undefined ? {} : { models }),
})

const upstreams = [
  upstream("claude", ["anthropic"]),
  upstream("small", ["openai"], ["gpt-*-mini", "tiny"]),
  upstream("local", ["openai"], ["*llama*8b*", "ORG/*"]),
  upstream("google", ["gemini"], ["gemini-*"]),
  upstream("rest", ["openai"]),
]

test.each<[family: ApiFamily, model: string | undefined, name: string | undefined]>([
  ["anthropic", "anything", "claude"],
  ["anthropic", undefined, "claude"],
  ["openai", "gpt-9-mini", "small"],
  ["openai", "GPT-9-Mini", "small"],
  ["openai", "gpt-mini", "rest"],
  ["openai", "tiny", "small"],
  ["openai", "tinyish", "rest"],
  ["openai", "my-llama-3-8b-chat", "local"],
  ["openai", "8b-llama", "rest"],
  ["openai", "org/x", "local"],
  ["openai", undefined, "rest"],
  ["openai", "", "rest"],
  ["gemini", "models/gemini-9", "google"],
  ["gemini", "other", undefined],
  ["gemini", undefined, "google"],
])("%s %s goes to %s", (family, model, name) => {
  expect(chooseUpstream(upstreams, family, model)?.name).toBe(name)
})

test("of two upstreams with patterns, neither serves a request without a model", () => {
  const both = [upstream("a", ["openai"], ["a*"]), upstream("b", ["openai"], ["b*"])]
  expect(chooseUpstream(both, "openai", undefined)).toBeUndefined()
  expect(chooseUpstream([], "openai", "x")).toBeUndefined()
})

test("a name of megabytes is not compared with patterns", () => {
  const many = [upstream("a", ["openai"], ["*a*a*a*a*a*a*a*a*b"])]
  expect(chooseUpstream(many, "openai", "a".repeat(5_000_000))).toBeUndefined()
  expect(chooseUpstream([upstream("all", ["openai"], ["*"])], "openai", "a".repeat(5_000_000))?.name).toBe("all")
})

test("for any pattern and name, a star stands for any text, and other characters for themselves", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", ".", "+"), maxLength: 8 })
  const pattern = fc.string({ unit: fc.constantFrom("a", "b", ".", "+", "*"), minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(pattern, letters, (glob, model) => {
      fc.pre(model !== "")
      const expression = new RegExp(`^${glob.replace(/[.+]/g, "\\$&").replaceAll("*", ".*")}$`)
      const chosen = chooseUpstream([upstream("a", ["openai"], [glob])], "openai", model)
      expect(chosen !== undefined).toBe(expression.test(model))
    }),
  )
})
