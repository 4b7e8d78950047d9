import type { StreamCodec } from "../stream-codec.ts"
import { endOf, isClientPart } from "../stream-read.ts"
import { assemble } from "./stream-collect.ts"
import { read } from "./stream-read.ts"
import { rewrite, write } from "./stream-write.ts"

/** Gemini's `:streamGenerateContent`. It has no closing event: a stream that has named its finish reason ends where it ends. */
export const geminiStream: StreamCodec = {
  format: "gemini",
  read,
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite,
  write,
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "none",
}
