import type { Format } from "../message/message.ts"
import { anthropicStream } from "./anthropic/stream.ts"
import { chatStream } from "./chat/stream.ts"
import { geminiStream } from "./gemini/stream.ts"
import { responsesStream } from "./responses/stream.ts"
import type { StreamCodec } from "./stream-codec.ts"

/** How every wire format streams, by name. */
export const streamCodecs: Readonly<Record<Format, StreamCodec>> = {
  "anthropic-messages": anthropicStream,
  "openai-chat": chatStream,
  "openai-responses": responsesStream,
  gemini: geminiStream,
}
