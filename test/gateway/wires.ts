import type { Format } from "../../src/message/message.ts"

/** One short request in each wire format. */
export const wires: readonly (readonly [Format, path: string, body: object])[] = [
  [
    "anthropic-messages",
    "/v1/messages",
    { model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: "Hi" }] },
  ],
  ["openai-chat", "/v1/chat/completions", { model: "gpt-5", messages: [{ role: "user", content: "Hi" }] }],
  ["openai-responses", "/v1/responses", { model: "gpt-5", input: [{ role: "user", content: "Hi" }] }],
  [
    "gemini",
    "/v1beta/models/gemini-2.5-pro:generateContent",
    { contents: [{ role: "user", parts: [{ text: "Hi" }] }] },
  ],
]

/** True if the text is an error in the form of the wire's own provider. */
export function isWireError(format: Format, text: string): boolean {
  const read: unknown = JSON.parse(text)
  const error = memberOf(read, "error")
  if (format === "anthropic-messages") return memberOf(read, "type") === "error" && isText(memberOf(error, "type"))
  if (format === "gemini") return isText(memberOf(error, "status")) && typeof memberOf(error, "code") === "number"
  return isText(memberOf(error, "message")) && isText(memberOf(error, "type"))
}

const isText = (value: unknown): boolean => typeof value === "string" && value !== ""

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined
}
