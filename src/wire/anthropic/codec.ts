import { writeTools } from "../breakpoint.ts"
import type { Codec } from "../codec.ts"
import { readMessage, readSettings, readSystem, readTools } from "./read.ts"
import { readResponse } from "./response.ts"
import { writeMessage, writeSystem } from "./write.ts"

/** Anthropic Messages: `POST /v1/messages` and what shares its body. */
export const anthropic: Codec = {
  format: "anthropic-messages",
  names: { messages: ["messages"], system: ["system"], tools: ["tools"] },
  readSettings,
  readSystem,
  readTools,
  readMessage,
  writeSystem,
  writeTools,
  writeMessage,
  readResponse,
}
