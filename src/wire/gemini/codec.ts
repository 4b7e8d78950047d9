import type { Codec } from "../codec.ts"
import { readMessage, readSettings, readSystem, readTools, spellings } from "./read.ts"
import { readResponse } from "./response.ts"
import { writeMessage, writeSystem, writeTools } from "./write.ts"

/** Gemini: `POST …/models/{model}:generateContent` and `:streamGenerateContent`. */
export const gemini: Codec = {
  format: "gemini",
  names: { messages: ["contents"], system: spellings("systemInstruction"), tools: ["tools"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse,
}
