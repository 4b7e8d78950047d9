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

/** The codecs of all wire formats, by name. */
export const codecs: Readonly<Record<Format, Codec>> = {
  "anthropic-messages": anthropic,
  "openai-chat": chat,
  "openai-responses": responses,
  gemini,
}

/** Returns the codec of a format; throws for an unknown name, which may come from a file or a flag. */
export function codecOf(format: Format): Codec {
  if (!Object.hasOwn(codecs, format))
    throw new HoldfastError({ code: "format-unknown", found: `"${String(format).slice(0, 80)}"`, known: formats })
  return codecs[format]
}

/** The stream codecs of all wire formats, by name. */
export const streamCodecs: Readonly<Record<Format, StreamCodec>> = {
  "anthropic-messages": anthropicStream,
  "openai-chat": chatStream,
  "openai-responses": responsesStream,
  gemini: geminiStream,
}

/** How closely results must follow their calls in each format; Responses pairs them by id alone. */
export const adjacencyOf: Readonly<Partial<Record<Format, Adjacency>>> = {
  "anthropic-messages": "turn",
  "openai-chat": "own",
  gemini: "turn",
}
