/** The responses of the admin API, for the gateway and the inspector's pages. It imports nothing, because the pages import it. */

/** A problem in words, and what to do about it. */
export type ToldProblem = { readonly code: string; readonly sentence: string; readonly next: string }

/** A message on one line, for a list: its author, and its text, tool call or tool result. */
export type MessageLine = {
  /** `person` and `model` are texts, a `call` is the model's, a `result` a tool's, and `client` is text added by the client program. */
  readonly who: "person" | "model" | "call" | "result" | "client" | "holdfast"
  readonly text: string
  readonly tool?: string
  readonly failed?: true
  /** Number of further parts of the message. */
  readonly more?: number
}

/** Facts about a session from its name and its row in the store. */
export type ListedName = {
  readonly id: string
  readonly tenant: string
  readonly agent: string
  readonly createdMs: number
  readonly updatedMs: number
  /** The conversation id from the client, or a generated one. */
  readonly conversation?: string
  /** The conversation itself, a subagent of it, a side request (a title, a check), or the part of it with other tools. */
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
    /** The first text of a person. */
    readonly title: string
    /** The name of the folder that the client works in, if the client states it. */
    readonly project?: string
    readonly turns: number
    readonly inFlight: number
    readonly client?: string
    readonly model?: string
    readonly contextTokens?: number
    /** Of these, the tokens that the provider read from its cache. */
    readonly cachedTokens?: number
    /** The sizes of its requests over time, at most 32. */
    readonly points: readonly number[]
    readonly compactionCount: number
    /** The newest compactions. */
    readonly compactions: readonly Pick<CompactionFigures, "id" | "turn" | "beforeTokens" | "afterTokens" | "undone">[]
    /** Number of rules in force for it: its own, inherited from its conversation, shared, and the operator's. */
    readonly rules: number
    /** Of these, the operator's. */
    readonly operatorRules: number
    readonly denied: number
    /** Estimated cost by the model table, and the source of the prices. Savings compare with the same turns without compaction. */
    readonly cost?: { readonly dollars: number; readonly savedDollars: number; readonly prices: string }
    /** The store's problem, if it does not have all entries of the session. */
    readonly unsaved?: ToldProblem
  }

/** Sums over sessions, for one span of time. */
export type PeriodTotals = {
  readonly sessions: number
  readonly turns: number
  readonly tokens: number
  readonly cachedTokens: number
  readonly compactions: number
  /** Of these, the number made after their request had been sent, so that nobody waited. */
  readonly ahead: number
  /** Median duration of the compactions; missing if the log does not have it. */
  readonly medianMs?: number
  /** Sums over the sessions that sent requests: rules in force now, of these the operator's, and rules that there was no room for. */
  readonly rules: Readonly<Record<"inForce" | "operator" | "leftOut", number>>
  /** Tokens that compactions removed, each counted once. */
  readonly removedTokens: number
  /** Tokens that later requests did not send because of it, counted for each request. */
  readonly savedTokens: number
  readonly calls: Readonly<Record<"judged" | "denied" | "approved", number>>
  /** Sum of the sessions whose models have known prices. */
  readonly dollars: number
  readonly savedDollars: number
  /** Number of sessions that are not in the sums of money. */
  readonly unpriced: number
  readonly prices?: string
}

/** The sums since `fromMs`, and of each requested day before it, oldest first. */
export type TotalsAnswer = PeriodTotals & {
  readonly fromMs: number
  /** True if the limit on summed sessions was reached. */
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
  /** The number of sessions with entries that the store does not have, and the store's last problem. */
  readonly durability: { readonly durable: boolean; readonly sessions: number; readonly problem?: ToldProblem }
  readonly operator: { readonly audience: string; readonly problem?: ToldProblem } | null
  readonly approvals: number
  readonly streams: number
}

/** The guard's decision on a tool call. */
export type JudgedDecision = {
  readonly callId: string
  readonly tool: string
  readonly decision: "allow" | "deny" | "ask"
  readonly policies: readonly string[]
  /** The rules in words that the policies enforce. */
  readonly rules?: readonly string[]
  readonly enforced: boolean
  readonly approved?: boolean
  /** What the policies that only observe would have decided, with the rules in words that they were made from. */
  readonly observed?: readonly { readonly policy: string; readonly rule: string; readonly decision: "deny" | "ask" }[]
  readonly entry: string
  readonly atMs: number
  readonly turn: number
}

export type CompactionFigures = {
  readonly id: string
  readonly atMs: number
  /** Number of turns before it. */
  readonly turn: number
  readonly upTo: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly undone: boolean
  /** Lookups right after it that repeat what it removed. */
  readonly rereads: number
  readonly tookMs?: number
  /** It was made after its request had been sent, so nobody waited for it. */
  readonly ahead?: true
}

/** The requests of a session over time, column by column, with the compactions and decisions between them. */
export type TurnSeries = Partial<WindowMarks> & {
  readonly total: number
  readonly turn: readonly number[]
  readonly atMs: readonly number[]
  readonly contextTokens: readonly number[]
  readonly cachedTokens: readonly number[]
  readonly outputTokens: readonly number[]
  readonly dollars: readonly (number | null)[]
  readonly compactions: readonly CompactionFigures[]
  /** Decisions other than `allow`, and those that would have been others if every policy were enforced. */
  readonly decisions: readonly JudgedDecision[]
  readonly judged: number
}

/** An entry of the log on one line. */
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
  /** Calls that were stopped or asked about, or would have been by a policy that only observes. */
  | { readonly type: "calls-judged"; readonly calls: readonly JudgedDecision[] }
)

export type EventsAnswer = {
  readonly total: number
  readonly from: number
  readonly events: readonly ListedEvent[]
}

/** What a model sees of a session now, in the provider's tokens. They add up to the last request and its response. */
export type ViewNow = Partial<WindowMarks> & {
  readonly checkpoint?: string
  readonly contextTokens: number
  /** System prompt, tools and framing: everything besides messages. */
  readonly stackTokens: number
  readonly rulesTokens: number
  readonly handoffTokens: number
  readonly shortenedTokens: number
  readonly verbatimTokens: number
  readonly messages: { readonly shortened: number; readonly verbatim: number }
}

/** A rule of a session. */
export type ListedRule = {
  readonly id: string
  readonly text: string
  readonly channel: string
  readonly by: "asked" | "found" | "operator"
  readonly kind: string
  readonly state: string
  readonly place?: { readonly entry?: string; readonly document?: string }
  readonly expiresAtMs?: number
  /** Only for a rule in force that was found or pinned in the session itself. */
  readonly held?: RuleHeld
}

/** Figures about a rule: every request contains every rule in force, verbatim. */
export type RuleHeld = {
  /** The first turn in which it holds. */
  readonly turn: number
  readonly requests: number
  /** Number of calls denied by the policy made from it. */
  readonly denied: number
  /** Number of calls that this policy would have stopped or asked about, and that went out because it only observes. */
  readonly observed: number
}

export type CompactionAction = "kept" | "shortened" | "summarized" | "dropped"

/** What was done to one message of the view before a compaction. */
export type CompactionItem = {
  /** The entry id; for a generated message, its role, such as `digest`. */
  readonly id: string
  readonly turn: number
  readonly line: MessageLine
  readonly action: CompactionAction
  readonly reason?: string
  readonly beforeTokens: number
  readonly afterTokens: number
  /** The lines of the handoff that have it as a source, by number. */
  readonly lines?: readonly number[]
}

/** One line of a handoff as the model reads it, with its source entries. */
export type HandoffLine = {
  readonly text: string
  readonly kind: "frame" | "heading" | "line"
  readonly sources: readonly string[]
  /** The compaction whose handoff first had the line. */
  readonly since?: string
}

/** A compaction message by message. All sizes are in the provider's tokens, and add up to the compaction's sizes before and after. */
export type CompactionAnswer = {
  readonly compaction: CompactionFigures & { readonly number: number; readonly of: number; readonly inForce: boolean }
  readonly items: readonly CompactionItem[]
  /** System prompt, tools and framing, which a compaction never changes. */
  readonly stackTokens: { readonly before: number; readonly after: number }
  readonly rulesTokens: number
  readonly handoff?: { readonly tokens: number; readonly lines: readonly HandoffLine[] }
  /** The checks of the acceptance test, counted again on the installed messages. */
  readonly checks: {
    readonly rules: { readonly total: number; readonly verbatim: number }
    readonly pairs: { readonly calls: number; readonly results: number }
    readonly targetTokens?: number
  }
  /** The calls that sent less because of it, and its share of what they saved. */
  readonly since: {
    readonly calls: number
    readonly dollars?: number
    readonly cachedTokens?: number
    readonly writtenTokens?: number
    readonly prices?: Readonly<Record<"input" | "output" | "cacheRead" | "cacheWrite", number>>
    readonly source?: string
    readonly model?: string
  }
  /** The trace events about decisions and rejected remedies. */
  readonly plan: readonly Readonly<Record<string, unknown>>[]
  /** Lookups right after it that repeat what it removed. */
  readonly rereads: readonly { readonly tool: string; readonly target: string; readonly turn: number }[]
}

/** A source entry of a handoff line: an excerpt, with the words marked that the line uses. */
export type LineSource = {
  readonly entry: string
  readonly turn: number
  readonly line: MessageLine
  readonly pieces: readonly TextPiece[]
}

/** The compaction strategy of a replay with other settings. */
export type WhatIfStrategy = "staged" | "hierarchical" | "recency" | "tool-rounds"

/** The sizes of a session turn by turn, as it was or as it would have been, in the provider's tokens. */
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
    /** Number of turns whose request would not have fitted the window. */
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

/** A call that waits for a person's approval, with the sources of its values, and the messages before it. */
export type ApprovalAnswer = {
  readonly id: string
  readonly atMs: number
  readonly expiresAtMs?: number
  readonly session: string
  readonly tool: string
  /** As JSON. */
  readonly input: string
  /** `input` is shortened. */
  readonly cut: boolean
  readonly reasons: readonly {
    readonly policy: string
    readonly rule: string
    /** Who stated the rule, in a policy from a rule in words. */
    readonly speaker?: string
    readonly instead?: string
    readonly facts: Readonly<Record<string, unknown>>
    /** The file with the policy, or the command that added it, and the line there. */
    readonly source?: string
    readonly line?: number
  }[]
  /** The values of the call, each with the newest message that contains it verbatim, if there is one. */
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

/** A row of an agent's memory. */
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
  /** The text in pieces, with the query words marked. */
  readonly pieces: readonly TextPiece[]
}

/** A message found by a search, with its best excerpt. */
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
  /** Number of sessions searched. */
  readonly sessions: number
  /** True if older sessions were not searched. */
  readonly cut: boolean
}

/** The operator's rules and policies in force, and the source of each. */
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
