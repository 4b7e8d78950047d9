/** What the admin API tells, as far as the page shows it. */

export type Line = {
  readonly who: "person" | "model" | "call" | "result" | "client" | "holdfast"
  readonly text: string
  readonly tool?: string
  readonly failed?: true
  readonly more?: number
}

export type Row = {
  readonly id: string
  readonly tenant: string
  readonly agent: string
  readonly createdMs: number
  readonly updatedMs: number
  readonly conversation?: string
  readonly role?: "main" | "agent" | "side" | "tools"
  readonly subagent?: string
  readonly title: string
  readonly turns: number
  readonly inFlight: number
  readonly client?: string
  readonly model?: string
  readonly contextTokens?: number
  readonly cachedTokens?: number
  readonly windowTokens?: number
  readonly compactAtTokens?: number
  readonly points: readonly number[]
  readonly compactionCount: number
  readonly compactions: readonly {
    readonly id: string
    readonly turn: number
    readonly beforeTokens: number
    readonly afterTokens: number
    readonly undone: boolean
  }[]
  readonly denied: number
  readonly cost?: { readonly dollars: number; readonly savedDollars: number; readonly prices: string }
  readonly unsaved?: { readonly sentence: string; readonly next: string }
}

export type Totals = {
  readonly sessions: number
  readonly turns: number
  readonly tokens: number
  readonly cachedTokens: number
  readonly compactions: number
  readonly removedTokens: number
  readonly calls: { readonly judged: number; readonly denied: number; readonly approved: number }
  readonly dollars: number
  readonly savedDollars: number
  readonly unpriced: number
  readonly prices?: string
}

export type Status = {
  readonly version: string
  readonly startedMs: number
  readonly store: string
  readonly durability: {
    readonly durable: boolean
    readonly sessions: number
    readonly problem?: { readonly sentence: string; readonly next: string }
  }
  readonly operator: { readonly audience: string; readonly problem?: { readonly sentence: string } } | null
}

export type Decision = {
  readonly callId: string
  readonly tool: string
  readonly decision: "allow" | "deny" | "ask"
  readonly policies: readonly string[]
  readonly enforced: boolean
  readonly approved?: boolean
  readonly atMs: number
  readonly turn: number
}

export type Compaction = {
  readonly id: string
  readonly atMs: number
  readonly turn: number
  readonly upTo: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly undone: boolean
}

export type Turns = {
  readonly total: number
  readonly turn: readonly number[]
  readonly atMs: readonly number[]
  readonly contextTokens: readonly number[]
  readonly cachedTokens: readonly number[]
  readonly outputTokens: readonly number[]
  readonly dollars: readonly (number | null)[]
  readonly compactions: readonly Compaction[]
  readonly decisions: readonly Decision[]
  readonly judged: number
  readonly windowTokens?: number
  readonly compactAtTokens?: number
}

export type Event = { readonly id: string; readonly atMs: number; readonly turn: number } & (
  | { readonly type: "message-appended"; readonly line: Line; readonly tokens: number }
  | {
      readonly type: "checkpoint-installed"
      readonly remedy: string
      readonly beforeTokens: number
      readonly afterTokens: number
      readonly undone: boolean
    }
  | { readonly type: "checkpoint-undone"; readonly checkpoint: string }
  | { readonly type: "rule-pinned"; readonly text: string; readonly channel: string; readonly by: string }
  | { readonly type: "rule-unpinned"; readonly pin: string }
  | { readonly type: "branch-opened"; readonly from: string }
)

export type View = {
  readonly checkpoint?: string
  readonly contextTokens: number
  readonly stackTokens: number
  readonly rulesTokens: number
  readonly handoffTokens: number
  readonly shortenedTokens: number
  readonly verbatimTokens: number
  readonly messages: { readonly shortened: number; readonly verbatim: number }
  readonly windowTokens?: number
  readonly compactAtTokens?: number
}

export type Pin = {
  readonly id: string
  readonly text: string
  readonly channel: string
  readonly by: "asked" | "found" | "operator"
  readonly kind: string
  readonly state: string
  readonly place?: { readonly entry?: string }
  readonly expiresAtMs?: number
}

export type Action = "kept" | "shortened" | "summarized" | "dropped"

export type Item = {
  readonly id: string
  readonly turn: number
  readonly line: Line
  readonly action: Action
  readonly reason?: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly lines?: readonly number[]
}

export type HandoffLine = {
  readonly text: string
  readonly kind: "frame" | "heading" | "line"
  readonly sources: readonly string[]
  readonly since?: string
}

export type OpenedCompaction = {
  readonly compaction: Compaction & { readonly number: number; readonly of: number; readonly inForce: boolean }
  readonly items: readonly Item[]
  readonly stackTokens: { readonly before: number; readonly after: number }
  readonly rulesTokens: number
  readonly handoff?: { readonly tokens: number; readonly lines: readonly HandoffLine[] }
  readonly checks: {
    readonly rules: { readonly total: number; readonly verbatim: number }
    readonly pairs: { readonly calls: number; readonly results: number }
    readonly targetTokens?: number
  }
  readonly since?: {
    readonly calls: number
    readonly dollars?: number
    readonly cachedTokens?: number
    readonly writtenTokens?: number
    readonly prices?: Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite", number>>
    readonly source?: string
    readonly model?: string
  }
  readonly plan: readonly Readonly<Record<string, unknown>>[]
}

export type LineSource = {
  readonly entry: string
  readonly turn: number
  readonly line: Line
  readonly before: string
  readonly used: string
  readonly after: string
}

export type Course = {
  readonly contextTokens: readonly number[]
  readonly compactions: readonly { readonly turn: number; readonly afterTokens: number }[]
  readonly totals: {
    readonly tokens: number
    readonly cachedTokens: number
    readonly largestTokens: number
    readonly compactions: number
    readonly refusedTurns: number
    readonly dollars?: number
  }
}

export type WhatIf = {
  readonly turns: readonly number[]
  readonly asItWas: Course
  readonly whatIf: Course
  readonly noCompaction: Course
  readonly tookMs: number
}

export type Approval = {
  readonly id: string
  readonly atMs: number
  readonly expiresAtMs?: number
  readonly session: string
  readonly tool: string
  readonly input: string
  readonly cut: boolean
  readonly reasons: readonly {
    readonly policy: string
    readonly rule: string
    readonly instead?: string
    readonly facts: Readonly<Record<string, unknown>>
  }[]
  readonly evidence?: readonly {
    readonly value: string
    readonly name: string
    readonly entry?: string
    readonly who?: string
  }[]
  readonly before?: readonly (Line & { readonly entry: string })[]
}

export type SettledApproval = {
  readonly id: string
  readonly atMs: number
  readonly tool: string
  readonly session: string
  readonly outcome: "approved" | "refused" | "withdrawn"
  readonly waitedMs: number
}

export type MemoryRow = {
  readonly id: string
  readonly session: string
  readonly day: string
  readonly atMs: number
  readonly kind: string
  readonly text: string
  readonly channel: string
  readonly trusted: boolean
  readonly sources: readonly string[]
}

export type Standing = {
  readonly audience: string
  readonly rules: readonly {
    readonly id: string
    readonly text: string
    readonly source?: string
    readonly by: "command" | "file"
    readonly agent?: string
    readonly session?: string
    readonly expiresAtMs?: number
  }[]
  readonly judging: readonly {
    readonly id: string
    readonly source?: string
    readonly decision: string
    readonly rule: string
  }[]
}
