import type { Channel } from "./channel.ts"
import { fence, unfence } from "./fence.ts"
import { ownText } from "./own-text.ts"
import type { Part, ToolCallPart, ToolResultPart } from "./part.ts"
import { textOf } from "./text.ts"

/** A call or result as a text, readable, fenced, and still of its own channel; what a result holds beside text follows it. */
export function quote(part: ToolCallPart | ToolResultPart): readonly Part[] {
  const text = quoteText(part)
  if (part.type === "tool-call") return [{ type: "text", text, channel: "assistant" }]
  const media = part.content.filter(({ type }) => type === "image" || type === "document")
  return [{ type: "text", text, channel: "tool" }, ...media.map((item): Part => ({ ...item, channel: "tool" }))]
}

/** The words of a call or result in the fence that says what they were. */
export function quoteText(part: ToolCallPart | ToolResultPart): string {
  const tool = part.type === "tool-call" ? { tool: part.tool } : {}
  return fence(part.type, textOf(part), { call: part.callId, ...tool })
}

/** Whose words a quotation holds, so that it keeps its channel when it comes back over the wire. Anyone may write one: it only takes trust away. */
export function quotedChannel(text: string): Channel | undefined {
  if (ownText(text) !== undefined) return "memory"
  if (!text.startsWith("<")) return undefined
  if (unfence("tool-result", text) !== undefined) return "tool"
  return unfence("tool-call", text) === undefined ? undefined : "assistant"
}
