import { writeTools } from "../breakpoint.ts"
import type { Codec } from "../codec.ts"
import { readMessage, readSettings, readSystem, readTools } from "./read.ts"
import { readResponse } from "./response.ts"
import { writeMessage, writeSystem } from "./write.ts"

/** OpenAI Responses: `POST /v1/responses` and what shares its body. */
export const responses: Codec = {
  format: "openai-responses",
  names: { messages: ["input"], system: ["instructions"], tools: ["tools"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse,
}
