import type { StreamCodec } from "../stream-codec.ts"
import { isClientPart } from "../stream-read.ts"
import { assemble } from "./stream-collect.ts"
import { write } from "./stream-own.ts"
import { read } from "./stream-read.ts"
import { rewrite } from "./stream-write.ts"

/** OpenAI Responses with `stream: true`: closed by `response.completed`, `.incomplete` or `.failed`. */
export const responsesStream: StreamCodec = {
  format: "openai-responses",
  read,
  readEnd: () => [],
  rewrite,
  write,
  assemble,
  canWrite: isClientPart,
  isNumbered: ({ data }) => data.includes('"sequence_number"'),
  collectsOthers: "none",
}
