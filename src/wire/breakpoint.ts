import type { Wire } from "../message/ids.ts"
import type { Breakpoint, Part } from "../message/part.ts"
import type { Tool } from "../message/request.ts"
import { isObject, tryParse } from "./json.ts"
import { type Fields, overlay, write, writeList } from "./overlay.ts"

/** The cache marker on a block or tool, as Anthropic writes it and routers to it take it on other wires. */
export function breakpointOf(block: unknown): Breakpoint | undefined {
  if (!isObject(block) || !isObject(block.cache_control)) return undefined
  return block.cache_control.ttl === "1h" ? "1h" : "5m"
}

/** `cache_control` only where the wanted breakpoint is not the one that stands there: its other fields are the client's. */
export function markField({ wire, breakpoint }: Pick<Part, "wire" | "breakpoint">): Fields {
  const now = wire === undefined ? undefined : breakpointOf(tryParse(wire))
  if (now === breakpoint) return {}
  if (breakpoint === undefined) return { cache_control: undefined }
  return { cache_control: write(breakpoint === "1h" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" }) }
}

/** Tools as they stood, each with the breakpoint that it should carry. */
export function writeTools(tools: readonly Tool[]): Wire {
  return writeList(tools.map((tool) => overlay(tool.wire, markField(tool))))
}
