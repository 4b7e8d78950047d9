import { HoldfastError } from "../message/errors.ts"
import type { Adjacency } from "../message/group.ts"
import { type Format, formats } from "../message/message.ts"
import { anthropic } from "./anthropic.ts"
import { anthropicStream } from "./anthropic-stream.ts"
import { chat } from "./chat.ts"
import { chatStream } from "./chat-stream.ts"
import type { Codec } from "./codec.ts"
import { gemini } from "./gemini.ts"
import { geminiStream } from "./gemini-stream.ts"
import { responses } from "./responses.ts"
import { responsesStream } from "./responses-stream.ts"
import type { StreamCodec } from "./stream.ts"

/** Every wire format, by name. */
export const codecs: Readonly<Record<Format, Codec>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}

/** The codec of a format; a name that came from a file or a flag may be none. */
export function codecOf(format: Format): Codec {
  if (!Object.hasOwn(codecs, format))
    throw new HoldfastError({ code: "format-unknown", found: `"${String(format).slice(0, 80)}"`, known: formats })
  return codecs[format]
}

/** How every wire format streams, by name. */
export const streamCodecs: Readonly<Record<Format, StreamCodec>> = {
  "anthropic-messages": anthropicStream,
  "openai-chat": chatStream,
  "openai-responses": responsesStream,
  gemini: geminiStream,
}

/** How closely each format wants results behind their calls; Responses pairs by id alone. */
export const adjacencyOf: Readonly<Partial<Record<Format, Adjacency>>> = {
  "anthropic-messages": "turn",
  "openai-chat": "own",
  gemini: "turn",
}
