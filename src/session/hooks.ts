import type { Reason } from "../compact/plan/plan.ts"

/** What is about to be compacted. `mustFit` where the context does not fit the window otherwise: then it cannot be cancelled. */
export type CompactionAhead = {
  readonly session: string
  readonly contextTokens: number
  readonly targetTokens: number
  readonly reasons: readonly Reason[]
  readonly mustFit: boolean
  readonly focus?: string
}

/** A compaction that passed its acceptance test and is not in force yet. */
export type CompactionReady = {
  readonly session: string
  readonly remedy: string
  readonly beforeTokens: number
  readonly afterTokens: number
  readonly droppedMessages: number
  /** The digest's text, if there is one. */
  readonly digest?: string
  readonly mustFit: boolean
}

export type CompactionDone = Omit<CompactionReady, "mustFit"> & { readonly checkpoint: string }

/** Go on, or do something else: leave it, look at something in particular, or take this text as the summary. */
export type BeforeCompact = { readonly cancel?: boolean; readonly focus?: string; readonly summary?: string }
export type BeforeInstall = { readonly veto?: boolean }

type Answer<Value> = Value | undefined | Promise<Value | undefined>

/** Your own say in compactions. A hook that throws or takes too long has no say, and the trace tells. */
export type Hooks = {
  readonly beforeCompact?: (ahead: CompactionAhead) => Answer<BeforeCompact>
  readonly beforeInstall?: (ready: CompactionReady) => Answer<BeforeInstall>
  readonly afterCompact?: (done: CompactionDone) => void | Promise<void>
}
