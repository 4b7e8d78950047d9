import type { StreamCodec } from "../stream-codec.ts"
import { isClientPart } from "../stream-read.ts"
import { assemble } from "./stream-collect.ts"
import { read } from "./stream-read.ts"
import { rewrite, write } from "./stream-write.ts"

/** Anthropic Messages with `stream: true`: closed by `message_stop`. */
export const anthropicStream: StreamCodec = {
  format: "anthropic-messages",
  read,
  readEnd: () => [],
  rewrite,
  write,
  assemble,
  canWrite: (start) => isClientPart(start) || (start.part === "tool-call" && start.kind === "provider"),
  isNumbered: () => false,
  collectsOthers: "of-parts",
}
