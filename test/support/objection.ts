import type { Format } from "../../src/message/message.ts"
import { anthropicObjection } from "../model-server/anthropic-objection.ts"
import { chatObjection } from "../model-server/chat-objection.ts"
import { geminiObjection } from "../model-server/gemini-objection.ts"
import { listAt } from "../model-server/json.ts"
import { responsesObjection } from "../model-server/responses-objection.ts"

/** Returns the error of this format's API for a body, by the rules of the scripted server; undefined if it is accepted. */
export function objectionTo(format: Format, body: string): string | undefined {
  const json = JSON.parse(body)
  switch (format) {
    case "anthropic-messages":
      return anthropicObjection(json)
    case "openai-chat":
      return chatObjection(json)
    case "openai-responses":
      return responsesObjection(listAt(json, "input"))
    case "gemini":
      return geminiObjection(json, false)
  }
}
