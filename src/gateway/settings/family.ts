import type { Format } from "../../message/message.ts"

/** Whose API a request speaks: OpenAI's has two formats, the others one each. */
export type Family = "anthropic" | "openai" | "gemini"

export const families: readonly Family[] = ["anthropic", "openai", "gemini"]

export const familyOf: Readonly<Record<Format, Family>> = {
  "anthropic-messages": "anthropic",
  "openai-chat": "openai",
  "openai-responses": "openai",
  gemini: "gemini",
}
