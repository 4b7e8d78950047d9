import type { LineRange, Recalled } from "../session/recall.ts"

export type McpMemorySearch = {
  readonly text: string
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly session?: string
  readonly limit?: number
}

/** A line of memory that a search found. */
export type FoundMemory = {
  readonly text: string
  readonly kind: string
  readonly day: string
  readonly session: string
  readonly sources: readonly string[]
  readonly trusted: boolean
  readonly superseded: boolean
  readonly score: number
}

export type ListedPin = { readonly id: string; readonly text: string; readonly channel: string }

export type ListedTrace = { readonly id: string; readonly title: string; readonly atMs: number }

/**
 * Everything that the MCP server may see: one session or one agent, chosen when the source is made. No argument can name another one. An
 * unknown handle is a `handle-unknown` Problem.
 */
export type McpSource = {
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  readonly search: (query: McpMemorySearch) => Promise<readonly FoundMemory[]>
  readonly pins: () => Promise<readonly ListedPin[]>
  /** The newest first. */
  readonly traces: (limit: number) => Promise<readonly ListedTrace[]>
  /** As JSON text. */
  readonly trace: (id: string) => Promise<string | undefined>
}
