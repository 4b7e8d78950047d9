import type { Format } from "../message/message.ts"
import { anthropic } from "./anthropic/codec.ts"
import { chat } from "./chat/codec.ts"
import type { Codec } from "./codec.ts"
import { gemini } from "./gemini/codec.ts"
import { responses } from "./responses/codec.ts"

/** Every wire format, by name. */
export const codecs: Readonly<Record<Format, Codec>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}
