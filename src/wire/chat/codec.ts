import { writeTools } from "../breakpoint.ts"
import type { Codec } from "../codec.ts"
import { readMessage, readSettings, readSystem, readTools } from "./read.ts"
import { readResponse } from "./response.ts"
import { writeMessage, writeSystem } from "./write.ts"

/** OpenAI Chat Completions: `POST /v1/chat/completions`, and the many servers that speak it. */
export const chat: Codec = {
  format: "openai-chat",
  names: { messages: ["messages"], system: [], tools: ["tools", "functions"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse,
}
