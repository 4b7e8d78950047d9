import type { Format } from "../../message/message.ts"
import type { Breakpoint, Part } from "../../message/part.ts"
import type { ModelRequest, Tool } from "../../message/request.ts"

/** What a provider reads of a request, in the order in which it caches: tools, system, messages. */
export type RequestPieces = Pick<ModelRequest, "system" | "tools" | "messages">

/** Where a cache marker stands: a tool, a part, or a part inside a tool result. */
export type Position =
  | { readonly in: "tools"; readonly tool: number }
  | { readonly in: "system"; readonly part: number }
  | { readonly in: "messages"; readonly message: number; readonly part: number; readonly inner?: number }

export type Marker = { readonly position: Position; readonly ttl: Breakpoint }

/** How a provider caches. Only where it takes markers is there anything to place; the others find the common prefix themselves. */
export type Caching = { readonly type: "marked"; readonly limit: number } | { readonly type: "automatic" }

/** Anthropic takes four markers a request, in its documentation of prompt caching. */
export const cachingOf: Readonly<Record<Format, Caching>> = {
  "anthropic-messages": { type: "marked", limit: 4 },
  "openai-chat": { type: "automatic" },
  "openai-responses": { type: "automatic" },
  gemini: { type: "automatic" },
}

/** Every marker in the pieces, in cache order. */
export function markersIn({ tools, system, messages }: RequestPieces): readonly Marker[] {
  const markers: Marker[] = []
  const note = ({ breakpoint }: Pick<Part, "breakpoint">, position: Position): void => {
    if (breakpoint !== undefined) markers.push({ position, ttl: breakpoint })
  }
  for (const [tool, item] of tools.entries()) note(item, { in: "tools", tool })
  for (const [part, item] of system.entries()) note(item, { in: "system", part })
  for (const [message, { parts }] of messages.entries()) {
    for (const [part, item] of parts.entries()) {
      if (item.type === "tool-result") {
        for (const [inner, content] of item.content.entries()) note(content, { in: "messages", message, part, inner })
      }
      note(item, { in: "messages", message, part })
    }
  }
  return markers
}

/** May a marker stand on this part? Not on thinking, on a text without words, or on a block that we know nothing of. */
export function isMarkable(part: Part): boolean {
  switch (part.type) {
    case "text":
      return part.text.trim() !== ""
    case "reasoning":
    case "unknown":
      return false
    case "opaque":
      return part.kind === "compaction"
    case "tool-call":
    case "tool-result":
    case "image":
    case "document":
      return true
  }
}

/** A tool that is loaded later is not in the prefix. */
export const isMarkableTool = ({ wire }: Tool): boolean => !/"defer_loading"\s*:\s*true/.test(wire)

/** Cache order: negative if `one` is read first. A marker inside a result comes before the marker on the result. */
export function byCacheOrder(one: Position, other: Position): number {
  const [first, second] = [orderOf(one), orderOf(other)]
  const at = first.findIndex((number, n) => number !== second[n])
  return at < 0 ? 0 : (first[at] ?? 0) - (second[at] ?? 0)
}

/** Two positions are the same place exactly if their keys are equal. */
export const placeKey = (position: Position): string => orderOf(position).join(".")

function orderOf(position: Position): readonly number[] {
  if (position.in === "tools") return [0, position.tool, 0, 0]
  if (position.in === "system") return [1, position.part, 0, 0]
  return [2, position.message, position.part, position.inner ?? Number.MAX_SAFE_INTEGER]
}
