import type { Breakpoint, Part } from "../../message/part.ts"
import type { Tool } from "../../message/request.ts"
import { type Position, placeKey, type RequestPieces } from "./breakpoint.ts"
import type { BreakpointPlan } from "./place-breakpoints.ts"

/** The pieces with exactly the plan's markers. What already is as planned stays the same object. */
export function applyBreakpoints(pieces: RequestPieces, { placed }: BreakpointPlan): RequestPieces {
  const planned = new Map(placed.map(({ position, ttl }) => [placeKey(position), ttl]))
  const ttlAt = (position: Position): Breakpoint | undefined => planned.get(placeKey(position))
  const tools = mapSame(pieces.tools, (item, tool) => markTool(item, ttlAt({ in: "tools", tool })))
  const system = mapSame(pieces.system, (item, part) => markPart(item, ttlAt({ in: "system", part })))
  const messages = mapSame(pieces.messages, (item, message) => {
    const parts = mapSame(item.parts, (content, part) => {
      const marked = markPart(content, ttlAt({ in: "messages", message, part }))
      if (marked.type !== "tool-result") return marked
      const inside = mapSame(marked.content, (within, inner) =>
        markPart(within, ttlAt({ in: "messages", message, part, inner })),
      )
      return inside === marked.content ? marked : { ...marked, content: inside }
    })
    return parts === item.parts ? item : { ...item, parts }
  })
  const same = tools === pieces.tools && system === pieces.system && messages === pieces.messages
  return same ? pieces : { tools, system, messages }
}

function markPart(part: Part, ttl: Breakpoint | undefined): Part {
  if (part.breakpoint === ttl) return part
  const { breakpoint: _before, ...rest } = part
  return ttl === undefined ? rest : { ...rest, breakpoint: ttl }
}

function markTool(tool: Tool, ttl: Breakpoint | undefined): Tool {
  if (tool.breakpoint === ttl) return tool
  const { breakpoint: _before, ...rest } = tool
  return ttl === undefined ? rest : { ...rest, breakpoint: ttl }
}

/** A list of what `change` makes of each item; the same list if it leaves them all alone. */
function mapSame<Item>(items: readonly Item[], change: (item: Item, at: number) => Item): readonly Item[] {
  const changed = items.map(change)
  return changed.every((item, n) => item === items[n]) ? items : changed
}
