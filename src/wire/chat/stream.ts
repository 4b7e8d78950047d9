import type { StreamCodec } from "../stream-codec.ts"
import { endOf, isClientPart } from "../stream-read.ts"
import { assemble } from "./stream-collect.ts"
import { read } from "./stream-read.ts"
import { rewrite, write } from "./stream-write.ts"

/** Chat Completions with `stream: true`. The `finish_reason` completes the answer: servers that send no `[DONE]` after it are taken at their word. */
export const chatStream: StreamCodec = {
  format: "openai-chat",
  read,
  readEnd: (state) => (state.stop === undefined ? [] : [endOf(state)]),
  rewrite,
  write,
  assemble,
  canWrite: isClientPart,
  isNumbered: () => false,
  collectsOthers: "all",
}
