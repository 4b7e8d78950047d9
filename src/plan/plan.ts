import { type Tokens, tokens } from "../message/ids.ts"
import { present } from "../message/present.ts"
import type { Policy } from "./policy.ts"

/** How large everything is, in the model's own tokens. */
export type Sizes = {
  /** What the next request would take as it stands. */
  readonly contextTokens: Tokens
  readonly windowTokens: Tokens
  /** Kept free for the answer. */
  readonly reserveTokens: Tokens
  /** What can never be left out, without the reserve. */
  readonly floorTokens: Tokens
  /** The largest tool output that is still whole. */
  readonly toolOutputTokens: Tokens
  readonly toolRounds: number
}

/** What happened, beside growing. */
export type Occasion = {
  /** Someone asked for it, perhaps with a word on what matters. */
  readonly asked?: { readonly focus?: string }
  /** A task or phase came to its end: a good moment. */
  readonly phaseEnded?: boolean
  /** The provider refused the request as too long, whatever we had counted. */
  readonly refused?: boolean
}

export type Trigger =
  | "asked"
  | "provider-refused"
  | "window-share"
  | "absolute-tokens"
  | "phase-end"
  | "tool-output"
  | "tool-rounds"

/** Why, in numbers. */
export type Reason = { readonly trigger: Trigger; readonly value: number; readonly limit: number }

/**
 * What to do about a context. `forced` means that leaving it is no choice; otherwise the cache economics have a say. `micro` means
 * shortening tool results and no more.
 */
export type Plan =
  | { readonly type: "leave"; readonly flush: boolean; readonly speculate: boolean }
  | {
      readonly type: "compact"
      readonly depth: "micro" | "full"
      readonly forced: boolean
      readonly targetTokens: Tokens
      readonly reasons: readonly Reason[]
      readonly focus?: string
    }
  | { readonly type: "refuse"; readonly shortTokens: Tokens }

/** The whole policy: the least that will do. No I/O, so a table of numbers tests it. */
export function planContext(sizes: Sizes, occasion: Occasion, policy: Policy): Plan {
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  if (sizes.floorTokens > roomTokens) return { type: "refuse", shortTokens: tokens(sizes.floorTokens - roomTokens) }
  const mark = marksOf(sizes, policy, roomTokens)
  const full = fullReasons(sizes, occasion, policy, mark)
  const optional = occasion.phaseEnded === true && sizes.contextTokens > mark(policy.flushAt)
  const micro = microReasons(sizes, policy)
  if (full.length === 0 && !optional && micro.length === 0) {
    const over = (share: number): boolean => sizes.contextTokens > mark(share)
    return { type: "leave", flush: over(policy.flushAt), speculate: over(policy.speculateAt) }
  }
  const phase: readonly Reason[] = optional ? [reason("phase-end", sizes.contextTokens, mark(policy.flushAt))] : []
  return {
    type: "compact",
    depth: full.length > 0 || optional ? "full" : "micro",
    forced: full.length > 0,
    targetTokens: targetOf(sizes, occasion, policy, roomTokens),
    reasons: [...full, ...phase, ...micro],
    ...present({ focus: occasion.asked?.focus }),
  }
}

/** The most that a context may have without being compacted for its size. */
export function compactionMark(sizes: Sizes, policy: Policy): number {
  const mark = marksOf(sizes, policy, sizes.windowTokens - sizes.reserveTokens)(policy.compactAt)
  return Math.floor(Math.min(mark, policy.compactAtTokens ?? Number.POSITIVE_INFINITY))
}

/** Where a share of the room ends, in tokens. */
type Mark = (share: number) => number

/**
 * Shares are of the room. Where what can never be left out reaches above the low-water mark, they are of what it leaves: nothing could
 * come down to the mark otherwise, and every turn would compact again.
 */
function marksOf({ floorTokens }: Sizes, { lowWater }: Policy, roomTokens: number): Mark {
  const base = floorTokens > lowWater * roomTokens ? floorTokens : 0
  return (share) => base + share * (roomTokens - base)
}

const reason = (trigger: Trigger, value: number, limit: number): Reason => ({
  trigger,
  value,
  limit: Math.floor(limit),
})

function fullReasons(sizes: Sizes, { asked, refused }: Occasion, policy: Policy, mark: Mark): readonly Reason[] {
  const { contextTokens } = sizes
  const absolute = policy.compactAtTokens ?? Number.POSITIVE_INFINITY
  return [
    ...(asked === undefined ? [] : [reason("asked", contextTokens, 0)]),
    ...(refused === true ? [reason("provider-refused", contextTokens, mark(1))] : []),
    ...(contextTokens > mark(policy.compactAt) ? [reason("window-share", contextTokens, mark(policy.compactAt))] : []),
    ...(contextTokens > absolute ? [reason("absolute-tokens", contextTokens, absolute)] : []),
  ]
}

function microReasons({ toolOutputTokens, toolRounds }: Sizes, policy: Policy): readonly Reason[] {
  const rounds = policy.toolRounds ?? Number.POSITIVE_INFINITY
  return [
    ...(toolOutputTokens > policy.toolOutputTokens
      ? [reason("tool-output", toolOutputTokens, policy.toolOutputTokens)]
      : []),
    ...(toolRounds > rounds ? [reason("tool-rounds", toolRounds, rounds)] : []),
  ]
}

/**
 * The low-water mark, never below the floor. Of what there is, if someone asked for less of it, or if the provider refused what we
 * thought would fit: then our count is off.
 */
function targetOf(sizes: Sizes, { asked, refused }: Occasion, policy: Policy, roomTokens: number): Tokens {
  const fromContext = refused === true || asked !== undefined
  const fixed = policy.compactAtTokens ?? roomTokens
  const most = Math.min(roomTokens, fromContext ? sizes.contextTokens : roomTokens, fixed)
  return tokens(Math.max(sizes.floorTokens, Math.floor(marksOf(sizes, policy, most)(policy.lowWater))))
}
