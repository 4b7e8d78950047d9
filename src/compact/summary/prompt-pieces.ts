import type { Channel } from "../../message/channel.ts"
import { channelOf } from "../../message/channel-of.ts"
import type { CallId, MessageId } from "../../message/ids.ts"
import type { Message, Transcript } from "../../message/message.ts"
import type { Part } from "../../message/part.ts"
import { textOf } from "../../message/text.ts"

/** One thing that was said or done, as a summarizer may see it: no reasoning, no media, nothing that only a provider can read. */
export type Piece = {
  readonly id: MessageId
  readonly channel: Channel
  /** What people and the model said, or what went into and came out of tools. */
  readonly kind: "words" | "data"
  /** In a word or two: `said`, `call of read`, `result of read`. */
  readonly what: string
  readonly text: string
}

/** Standing instructions and injected documents are no conversation: they come back by themselves and are not retold. */
const infrastructure: ReadonlySet<Channel> = new Set(["operator", "system", "document"])

/** A tool's name comes from outside; so much of it is shown, on one line. */
const longestName = 64

const nameOf = (tool: string | undefined): string =>
  tool === undefined ? "a tool" : tool.slice(0, longestName).replace(/[^\p{L}\p{N}_.:/-]/gu, "_")

/** What a transcript says, piece by piece and in order. */
export function piecesOf(messages: Transcript): readonly Piece[] {
  const tools = new Map<CallId, string>()
  return messages.flatMap((message) => message.parts.flatMap((part) => pieceOf(message, part, tools)))
}

function pieceOf({ id, role }: Message, part: Part, tools: Map<CallId, string>): readonly Piece[] {
  const channel = channelOf(role, part)
  if (infrastructure.has(channel)) return []
  switch (part.type) {
    case "text":
      return part.text.trim() === ""
        ? []
        : [{ id, channel, kind: channel === "tool" ? "data" : "words", what: "said", text: part.text }]
    case "tool-call":
      tools.set(part.callId, part.tool)
      return [{ id, channel, kind: "data", what: `call of ${nameOf(part.tool)}`, text: textOf(part) }]
    case "tool-result": {
      const tool = nameOf(part.tool ?? tools.get(part.callId))
      const what = `${part.failed === true ? "error" : "result"} of ${tool}`
      return [{ id, channel, kind: "data", what, text: textOf(part) }]
    }
    case "image":
    case "document":
      return [{ id, channel, kind: "data", what: part.type, text: `[${part.type}]` }]
    case "reasoning":
    case "opaque":
    case "unknown":
      return []
  }
}
