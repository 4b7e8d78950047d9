import { HoldfastError } from "../message/errors.ts"
import { type Format, formats } from "../message/message.ts"
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

/** The codec of a format; a name that came from a file or a flag may be none. */
export function codecOf(format: Format): Codec {
  if (!Object.hasOwn(codecs, format))
    throw new HoldfastError({ code: "format-unknown", found: `"${format}"`, known: formats })
  return codecs[format]
}
