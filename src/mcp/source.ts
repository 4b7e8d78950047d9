/** Lines of a stored text, counted from 1, both ends included. */
export type LineRange = { readonly fromLine?: number; readonly toLine?: number }

/** A stored text that was called back, or the lines of it that were asked for. */
export type Recalled = {
  readonly text: string
  /** Which tool gave it, where one did. */
  readonly tool?: string
  /** How many lines the whole has. */
  readonly lines: number
  readonly fromLine: number
  readonly toLine: number
  readonly channel: string
  /** The log entry that it stands in. */
  readonly entry: string
}

export type MemorySearch = {
  readonly text: string
  readonly kind?: string
  readonly fromDay?: string
  readonly toDay?: string
  readonly session?: string
  readonly limit?: number
}

/** A line of memory that was found. */
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
 * All that the MCP server may see: one session or one agent, chosen when the source was made. Nothing in it can name another one. An
 * unknown handle is a `handle-unknown` Problem.
 */
export type McpSource = {
  readonly recall: (handle: string, range?: LineRange) => Promise<Recalled>
  readonly search: (query: MemorySearch) => Promise<readonly FoundMemory[]>
  readonly pins: () => Promise<readonly ListedPin[]>
  /** The newest first. */
  readonly traces: (limit: number) => Promise<readonly ListedTrace[]>
  /** As JSON text. */
  readonly trace: (id: string) => Promise<string | undefined>
}
