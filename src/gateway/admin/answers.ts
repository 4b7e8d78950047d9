/** What the admin API answers, for the gateway that says it and the pages that show it. It imports nothing: the pages are built from it alone. */

/** Something that did not go as wanted: what, and what to do about it. */
export type ToldProblem = { readonly code: string; readonly sentence: string; readonly next: string }

/** A message in one line, for a list: who speaks, and what was said, called or returned. */
export type MessageLine = {
  /** `person` and `model` speak; a `call` is the model's, a `result` a tool's; `client` is what a client put beside a person's words. */
  readonly who: "person" | "model" | "call" | "result" | "client" | "holdfast"
  readonly text: string
  readonly tool?: string
  readonly failed?: true
  /** How many more parts the message has. */
  readonly more?: number
}

/** What the name of a session and its row in the store say of it. */
export type ListedName = {
  readonly id: string
  readonly tenant: string
  readonly agent: string
  readonly createdMs: number
  readonly updatedMs: number
  /** The conversation as the client calls it, or as it was made up. */
  readonly conversation?: string
  /** The conversation itself, that of an agent within it, one beside it (a title, a check), or the one with tools. */
  readonly role?: "main" | "agent" | "side" | "tools"
  readonly subagent?: string
}

/** The window of a session's model and its compaction threshold, in the provider's tokens. */
export type WindowMarks = {
  readonly windowTokens: number
  readonly compactAtTokens?: number
  /** The same for a request that ends in results the model has not read. */
  readonly compactUnreadAtTokens?: number
}

/** A piece of an excerpt; `isUsed` marks the words that were used or searched for. */
type TextPiece = { readonly text: string; readonly isUsed: boolean }

export type SessionListing = ListedName &
  Partial<WindowMarks> & {
    /** The first words that a person said in it. */
    readonly title: string
    /** The last name of the folder that its client works in, where the client says it. */
    readonly project?: string
    readonly turns: number
    readonly inFlight: number
    readonly client?: string
    readonly model?: string
    readonly contextTokens?: number
    /** Of these, what the provider read from its cache. */
    readonly cachedTokens?: number
    /** The sizes of its requests over its life, at most 32. */
    readonly points: readonly number[]
    readonly compactionCount: number
    /** The newest of them. */
    readonly compactions: readonly Pick<CompactionFigures, "id" | "turn" | "beforeTokens" | "afterTokens" | "undone">[]
    /** Rules that were said in it and not taken back. */
    readonly rules: number
    readonly denied: number
    /** Money by the model table: an estimate, with where the prices are from. Saved is against the same turns without a compaction. */
    readonly cost?: { readonly dollars: number; readonly savedDollars: number; readonly prices: string }
    /** The store does not have all of it, and what it said. */
    readonly unsaved?: ToldProblem
  }

/** Sums of one span of time over sessions. */
export type PeriodTotals = {
  readonly sessions: number
  readonly turns: number
  readonly tokens: number
  readonly cachedTokens: number
  readonly compactions: number
  /** Of these, how many were made after their request had been sent, so that nobody waited. */
  readonly ahead: number
  /** How long a compaction took to make, the middle one; absent where the log does not say it. */
  readonly medianMs?: number
  /** Rules in the sessions that sent something, and those of them that there was no room for. */
  readonly rules: { readonly inForce: number; readonly leftOut: number }
  /** What compactions took out, each counted once. */
  readonly removedTokens: number
  /** What later requests did not send because of it, each request counted. */
  readonly savedTokens: number
  readonly calls: Readonly<Record<"judged" | "denied" | "approved", number>>
  /** Of the sessions whose models have known prices. */
  readonly dollars: number
  readonly savedDollars: number
  /** Sessions that are not in the sums of money. */
  readonly unpriced: number
  readonly prices?: string
}

/** The sums since a moment, and of each day before it that was asked for, oldest first. */
export type TotalsAnswer = PeriodTotals & {
  readonly fromMs: number
  /** There were more sessions than are summed up. */
  readonly cut: boolean
  readonly days: readonly (PeriodTotals & { readonly fromMs: number })[]
}

export type StatusAnswer = {
  readonly version: string
  readonly nowMs: number
  readonly startedMs: number
  readonly uptimeMs: number
  readonly closing: boolean
  readonly requestsInFlight: number
  readonly store: string
  /** How many sessions have something that the store does not, and what the store said last. */
  readonly durability: { readonly durable: boolean; readonly sessions: number; readonly problem?: ToldProblem }
  readonly operator: { readonly audience: string; readonly problem?: ToldProblem } | null
  readonly approvals: number
  readonly streams: number
}

/** What the guard said to a call. */
export type JudgedDecision = {
  readonly callId: string
  readonly tool: string
  readonly decision: "allow" | "deny" | "ask"
  readonly policies: readonly string[]
  /** The rules behind the policies, in words. */
  readonly rules?: readonly string[]
  readonly enforced: boolean
  readonly approved?: boolean
  readonly entry: string
  readonly atMs: number
  readonly turn: number
}

export type CompactionFigures = {
  readonly id: string
  readonly atMs: number
  /** Turns before it. */
  readonly turn: number
  readonly upTo: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly undone: boolean
  /** Lookups right after it that repeat what it removed. */
  readonly rereads: number
  /** How long it took to make. */
  readonly tookMs?: number
  /** It was made after its request had been sent, so nobody waited for it. */
  readonly ahead?: true
}

/** The requests of a session over its life, column by column, and what happened between them. */
export type TurnSeries = Partial<WindowMarks> & {
  readonly total: number
  readonly turn: readonly number[]
  readonly atMs: readonly number[]
  readonly contextTokens: readonly number[]
  readonly cachedTokens: readonly number[]
  readonly outputTokens: readonly number[]
  readonly dollars: readonly (number | null)[]
  readonly compactions: readonly CompactionFigures[]
  /** Those that were not simply allowed. */
  readonly decisions: readonly JudgedDecision[]
  readonly judged: number
}

/** An entry of the log in one line. */
export type ListedEvent = { readonly id: string; readonly atMs: number; readonly turn: number } & (
  | { readonly type: "message-appended"; readonly line: MessageLine; readonly tokens: number }
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
  /** Calls that were not simply allowed. */
  | { readonly type: "calls-judged"; readonly calls: readonly JudgedDecision[] }
)

export type EventsAnswer = {
  readonly total: number
  readonly from: number
  readonly events: readonly ListedEvent[]
}

/** What a model sees of a session now, in the provider's tokens. They add up to the last request and what came since. */
export type ViewNow = Partial<WindowMarks> & {
  readonly checkpoint?: string
  readonly contextTokens: number
  /** System prompt, tools and framing: all that is no message. */
  readonly stackTokens: number
  readonly rulesTokens: number
  readonly handoffTokens: number
  readonly shortenedTokens: number
  readonly verbatimTokens: number
  readonly messages: { readonly shortened: number; readonly verbatim: number }
}

/** A rule that a session keeps. */
export type ListedRule = {
  readonly id: string
  readonly text: string
  readonly channel: string
  readonly by: "asked" | "found" | "operator"
  readonly kind: string
  readonly state: string
  readonly place?: { readonly entry?: string; readonly document?: string }
  readonly expiresAtMs?: number
  /** For one that was said or pinned in the session and is in force. */
  readonly held?: RuleHeld
}

/** How a rule fared: a request is sent only with every rule in force in it, verbatim. */
export type RuleHeld = {
  /** The turn that it holds from. */
  readonly turn: number
  readonly requests: number
  /** Calls that the policy made of it denied. */
  readonly denied: number
}

export type CompactionAction = "kept" | "shortened" | "summarized" | "dropped"

/** What was done to one message of the view before a compaction. */
export type CompactionItem = {
  /** The entry; a message of our own has the name of what it is. */
  readonly id: string
  readonly turn: number
  readonly line: MessageLine
  readonly action: CompactionAction
  readonly reason?: string
  readonly beforeTokens: number
  readonly afterTokens: number
  /** The lines of the handoff that rest on it, by number. */
  readonly lines?: readonly number[]
}

/** One line of a handoff as the model reads it, with the entries that it rests on. */
export type HandoffLine = {
  readonly text: string
  readonly kind: "frame" | "heading" | "line"
  readonly sources: readonly string[]
  /** The compaction whose handoff had the line first. */
  readonly since?: string
}

/** A compaction message by message, with all sizes in the provider's tokens: they add up to the two sizes that it is told by everywhere. */
export type CompactionAnswer = {
  readonly compaction: CompactionFigures & { readonly number: number; readonly of: number; readonly inForce: boolean }
  readonly items: readonly CompactionItem[]
  /** What stands beside the messages and is never touched: system prompt, tools, framing. */
  readonly stackTokens: { readonly before: number; readonly after: number }
  readonly rulesTokens: number
  readonly handoff?: { readonly tokens: number; readonly lines: readonly HandoffLine[] }
  /** What the acceptance test of a compaction found right, counted once more on what was installed. */
  readonly checks: {
    readonly rules: { readonly total: number; readonly verbatim: number }
    readonly pairs: { readonly calls: number; readonly results: number }
    readonly targetTokens?: number
  }
  /** The calls that sent less because of it, and its share of what they cost less. */
  readonly since: {
    readonly calls: number
    readonly dollars?: number
    readonly cachedTokens?: number
    readonly writtenTokens?: number
    readonly prices?: Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite", number>>
    readonly source?: string
    readonly model?: string
  }
  /** What was decided and tried, as the trace has it. */
  readonly plan: readonly Readonly<Record<string, unknown>>[]
  /** Lookups right after it that repeat what it removed. */
  readonly rereads: readonly { readonly tool: string; readonly target: string; readonly turn: number }[]
}

/** An entry that a line of the handoff comes from: an excerpt, with the words that were used told apart. */
export type LineSource = {
  readonly entry: string
  readonly turn: number
  readonly line: MessageLine
  readonly pieces: readonly TextPiece[]
}

/** What stays verbatim in a replay with other settings. */
export type WhatIfStrategy = "staged" | "hierarchical" | "recency" | "tool-rounds"

/** One way that a session could have gone, turn by turn, in the provider's tokens. */
export type WhatIfCourse = {
  readonly contextTokens: readonly number[]
  readonly cachedTokens: readonly number[]
  readonly compactions: readonly {
    readonly turn: number
    readonly beforeTokens: number
    readonly afterTokens: number
  }[]
  readonly totals: {
    readonly tokens: number
    readonly cachedTokens: number
    readonly largestTokens: number
    readonly compactions: number
    /** Turns whose request would not have fitted the window. */
    readonly refusedTurns: number
    readonly dollars?: number
  }
}

export type WhatIfAnswer = {
  readonly turns: readonly number[]
  readonly asItWas: WhatIfCourse
  readonly whatIf: WhatIfCourse
  readonly noCompaction: WhatIfCourse
  readonly tookMs: number
}

/** A call that waits for a person: until when, where its values come from, and what was said before. */
export type ApprovalAnswer = {
  readonly id: string
  readonly atMs: number
  readonly expiresAtMs?: number
  readonly session: string
  readonly tool: string
  /** As JSON. */
  readonly input: string
  /** The call says more than `input` does. */
  readonly cut: boolean
  readonly reasons: readonly {
    readonly policy: string
    readonly rule: string
    readonly instead?: string
    readonly facts: Readonly<Record<string, unknown>>
    /** Where the policy is written: a file, or the command that added it, and the line there. */
    readonly source?: string
    readonly line?: number
  }[]
  /** Each value of the call, and the newest message that says it verbatim, if one does. */
  readonly evidence: readonly {
    readonly value: string
    readonly name: string
    readonly entry?: string
    readonly who?: MessageLine["who"]
  }[]
  readonly before: readonly (MessageLine & { readonly entry: string })[]
}

export type SettledApproval = {
  readonly id: string
  readonly atMs: number
  readonly tool: string
  readonly session: string
  readonly outcome: "approved" | "refused" | "withdrawn"
  readonly waitedMs: number
}

export type ApprovalsAnswer = {
  readonly approvals: readonly ApprovalAnswer[]
  readonly settled: readonly SettledApproval[]
}

/** What an agent wrote down. */
export type MemoryFound = {
  readonly id: string
  readonly session: string
  readonly day: string
  readonly atMs: number
  readonly kind: string
  readonly text: string
  readonly channel: string
  readonly trusted: boolean
  readonly sources: readonly string[]
  /** The text, words that were searched for told apart. */
  readonly pieces: readonly TextPiece[]
}

/** A message that was found by words, by its best excerpt. */
export type FoundEntry = {
  readonly session: string
  readonly entry: string
  readonly atMs: number
  readonly role: string
  readonly kind: "text" | "call" | "result"
  readonly tool?: string
  readonly pieces: readonly TextPiece[]
}

export type SearchAnswer = {
  readonly found: readonly FoundEntry[]
  /** Sessions that were looked through. */
  readonly sessions: number
  /** There are older sessions that were not. */
  readonly cut: boolean
}

/** What the operator wants now: rules and policies, and where each comes from. */
export type StandingAnswer = {
  readonly audience: string
  readonly version: string
  readonly problem?: ToldProblem
  readonly policies: readonly Readonly<Record<string, unknown>>[]
  readonly rules: readonly {
    readonly id: string
    readonly text: string
    readonly source?: string
    readonly by: "command" | "file"
    readonly agent?: string
    readonly session?: string
    readonly expiresAtMs?: number
  }[]
  /** Each policy of the guard in words. */
  readonly judging: readonly {
    readonly id: string
    readonly source?: string
    readonly line?: number
    readonly decision: string
    readonly rule: string
    readonly instead?: string
  }[]
}
