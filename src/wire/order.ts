import type { Adjacency } from "../message/group.ts"
import type { Format } from "../message/message.ts"

/** How closely each format wants results behind their calls; Responses pairs by id alone. */
export const adjacencyOf: Readonly<Partial<Record<Format, Adjacency>>> = {
  "anthropic-messages": "turn",
  "openai-chat": "own",
  gemini: "turn",
}
