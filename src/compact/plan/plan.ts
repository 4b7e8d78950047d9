import { HoldfastError } from "../../message/errors.ts"
import { present, type Words } from "../../message/present.ts"
import type { CompactionPolicy } from "./policy.ts"

/** All sizes, in the model's own tokens. */
export type Sizes = {
  /** Size of the next request if nothing is done. */
  readonly contextTokens: number
  readonly windowTokens: number
  /** Kept free for the answer. */
  readonly reserveTokens: number
  /** What can never be left out, without the reserve. */
  readonly floorTokens: number
  /** The unread tool round at the end; 0 if the request ends with something else. */
  readonly unreadTokens: number
  /** The largest tool output that the model has read and that is still whole. */
  readonly toolOutputTokens: number
  readonly toolRounds: number
}

/** What happened, apart from the context growing. */
export type Occasion = {
  /** A compaction was requested, optionally with a focus. */
  readonly asked?: { readonly focus?: string }
  /** A task or phase ended: a good moment. */
  readonly phaseEnded?: boolean
  /** The provider refused the request as too long, whatever we had counted. */
  readonly refused?: boolean
}

export type Trigger = Words<"asked provider-refused window-share absolute-tokens phase-end tool-output tool-rounds">

/** Why, in numbers. */
export type PlanReason = { readonly trigger: Trigger; readonly value: number; readonly limit: number }

/**
 * What to do about a context. `forced` means that it cannot be left as it is; otherwise cache costs are considered. `micro` means that only
 * tool results are shortened.
 */
export type Plan =
  | { readonly type: "leave"; readonly flush: boolean; readonly speculate: boolean }
  | {
      readonly type: "compact"
      readonly depth: "micro" | "full"
      readonly forced: boolean
      readonly targetTokens: number
      readonly reasons: readonly PlanReason[]
      readonly focus?: string
    }
  | { readonly type: "refuse"; readonly shortTokens: number }

/** Decides what to do: the least that is enough. No I/O, so a table of numbers tests it. */
export function planContext(sizes: Sizes, occasion: Occasion, policy: CompactionPolicy): Plan {
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  if (sizes.floorTokens > roomTokens) return { type: "refuse", shortTokens: sizes.floorTokens - roomTokens }
  const thresholdAt = thresholdsOf(sizes, roomTokens)
  const full = fullReasons(sizes, occasion, policy, thresholdAt)
  const optional = occasion.phaseEnded === true && sizes.contextTokens > thresholdAt(policy.flushAt)
  const micro = microReasons(sizes, policy)
  if (full.length === 0 && !optional && micro.length === 0) {
    const over = (share: number): boolean => sizes.contextTokens > thresholdAt(share)
    return { type: "leave", flush: over(policy.flushAt), speculate: over(policy.speculateAt) }
  }
  const phase: readonly PlanReason[] = optional
    ? [reason("phase-end", sizes.contextTokens, thresholdAt(policy.flushAt))]
    : []
  return {
    type: "compact",
    depth: full.length > 0 || optional ? "full" : "micro",
    forced: full.length > 0,
    targetTokens: targetOf(sizes, occasion, policy, roomTokens),
    reasons: [...full, ...phase, ...micro],
    ...present({ focus: occasion.asked?.focus }),
  }
}

/** Maximum size of a context that is not compacted for its size, either for one that ends with unread results or for any other. */
export function compactionMark(sizes: Sizes, policy: CompactionPolicy, end: "unread" | "answered"): number {
  const threshold = thresholdsOf(
    sizes,
    sizes.windowTokens - sizes.reserveTokens,
  )(end === "unread" ? unreadAt(policy) : policy.compactAt)
  return Math.max(0, Math.floor(Math.min(threshold, policy.compactAtTokens ?? Number.POSITIVE_INFINITY)))
}

/** Margin for token counts that are slightly off: a request that the provider refuses costs a round trip. */
const countMargin = 0.02

/** Threshold for a request that ends with unread results. No margin if the policy only compacts what does not fit. */
const unreadAt = ({ compactAt }: CompactionPolicy): number => Math.max(compactAt, 1 - countMargin)

/** Converts a share of the available space into tokens. */
type Threshold = (share: number) => number

/** Shares are taken of the space beyond the floor, so a wider window never means a lower threshold. */
function thresholdsOf({ floorTokens }: Sizes, roomTokens: number): Threshold {
  const base = Math.min(floorTokens, roomTokens)
  return (share) => base + share * (roomTokens - base)
}

const reason = (trigger: Trigger, value: number, limit: number): PlanReason => ({
  trigger,
  value,
  limit: Math.floor(limit),
})

/**
 * Reasons for a full compaction. The share threshold is relaxed for a request that ends with unread results: while it fits, it is sent
 * whole. An absolute threshold counts only what the model has read already.
 */
function fullReasons(
  sizes: Sizes,
  { asked, refused }: Occasion,
  policy: CompactionPolicy,
  thresholdAt: Threshold,
): readonly PlanReason[] {
  const { contextTokens, unreadTokens } = sizes
  const limit = thresholdAt(unreadTokens > 0 ? unreadAt(policy) : policy.compactAt)
  const absolute = policy.compactAtTokens ?? Number.POSITIVE_INFINITY
  return [
    ...(asked === undefined ? [] : [reason("asked", contextTokens, 0)]),
    ...(refused === true ? [reason("provider-refused", contextTokens, thresholdAt(1))] : []),
    ...(contextTokens > limit ? [reason("window-share", contextTokens, limit)] : []),
    ...(contextTokens - unreadTokens > absolute ? [reason("absolute-tokens", contextTokens, absolute)] : []),
  ]
}

function microReasons({ toolOutputTokens, toolRounds }: Sizes, policy: CompactionPolicy): readonly PlanReason[] {
  const rounds = policy.toolRounds ?? Number.POSITIVE_INFINITY
  const largest = policy.toolOutputTokens ?? Number.POSITIVE_INFINITY
  return [
    ...(toolOutputTokens > largest ? [reason("tool-output", toolOutputTokens, largest)] : []),
    ...(toolRounds > rounds ? [reason("tool-rounds", toolRounds, rounds)] : []),
  ]
}

/**
 * Returns the target size: the low-water mark, which applies to old content and is never below the floor, plus unread results. If results
 * are large, down to half of that, so that another one fits before the next compaction. If the compaction was requested or the provider
 * refused the request, shares are taken of the current size, because less is wanted or our count is wrong.
 */
function targetOf(sizes: Sizes, { asked, refused }: Occasion, policy: CompactionPolicy, roomTokens: number): number {
  const fromContext = refused === true || asked !== undefined
  const fixed = policy.compactAtTokens ?? roomTokens
  const most = Math.min(roomTokens, fromContext ? sizes.contextTokens : roomTokens, fixed)
  const thresholdAt = thresholdsOf(sizes, most)
  const highest = fromContext ? Math.floor(thresholdAt(policy.compactAt)) : most
  const besideNext = Math.max(thresholdAt(policy.lowWater / 2), most - 2 * sizes.unreadTokens)
  const old = Math.max(sizes.floorTokens, Math.floor(Math.min(thresholdAt(policy.lowWater), besideNext)))
  return Math.max(sizes.floorTokens, Math.min(highest, old + sizes.unreadTokens))
}

/** Maximum share for the reserve: a request may allow an answer longer than the window. */
export const mostReserveShare = 0.5
/**
 * Maximum reserve, as a share of the window and of what the stack leaves of it: clients request the longest answer that they can take, but
 * most answers are short.
 */
const wideReserveShare = 0.2
const leftReserveShare = 0.25
/** Share of the window that is reserved once the length of the answers is known; a long one may still come. */
const knownReserveShare = 0.05
/** Length of an answer that is nothing unusual. */
export const usualAnswerTokens = 4096
/** Reserve per token of the longest answer so far. */
const answerMargin = 2

type ReserveInput = {
  readonly windowTokens: number
  /** What can never be left out of the request. */
  readonly floorTokens: number
  /** Unread results: they are not displaced by a reserve beyond the usual answer. */
  readonly unreadTokens?: number
  /** The longest answer that the request allows. */
  readonly wantedTokens: number
  /** The longest answer in this conversation, once there are enough of them. */
  readonly longestAnswerTokens?: number | undefined
}

/** Tokens to reserve for the answer: enough for the answers seen, and never so many that a wider window leaves less for the context. */
export function reserveFor(input: ReserveInput): number {
  const { windowTokens, floorTokens, unreadTokens = 0, wantedTokens, longestAnswerTokens } = input
  const leftTokens = Math.max(0, windowTokens - floorTokens)
  const least = Math.min(usualAnswerTokens, leftTokens * mostReserveShare)
  const most = Math.max(
    least,
    Math.min(windowTokens * wideReserveShare, Math.max(0, leftTokens - unreadTokens) * leftReserveShare),
  )
  const known =
    longestAnswerTokens === undefined
      ? most
      : Math.max(least / 2, windowTokens * knownReserveShare, longestAnswerTokens * answerMargin)
  return Math.floor(Math.min(wantedTokens, most, known))
}

/** Sizes of what every call must contain, whatever is left out of the history. */
export type FloorSizes = {
  readonly stack: number
  readonly pins: number
  readonly tools: number
  readonly latestUserMessage: number
  readonly outputReserve: number
}

export type FloorPiece = { readonly name: string; readonly tokens: number }

/** The pieces in the order of the call, and the largest of them. */
export type Floor = {
  readonly floorTokens: number
  readonly pieces: readonly FloorPiece[]
  readonly largest: FloorPiece
}

/** Adds up what can never be left out. If sections may shrink, `stack` is the `stackFloor`. */
export function irreducibleFloor(sizes: FloorSizes): Floor {
  const stack: FloorPiece = { name: "the prompt stack", tokens: sizes.stack }
  const pieces: readonly FloorPiece[] = [
    stack,
    { name: "the pinned rules", tokens: sizes.pins },
    { name: "the tool definitions", tokens: sizes.tools },
    { name: "the latest user message", tokens: sizes.latestUserMessage },
    { name: "the output reserve", tokens: sizes.outputReserve },
  ]
  return {
    floorTokens: pieces.reduce((sum, piece) => sum + piece.tokens, 0),
    pieces,
    largest: pieces.reduce((most, piece) => (piece.tokens > most.tokens ? piece : most), stack),
  }
}

/** Returns the tokens left for the history. Throws the Problem that no compaction could solve, so call it before the first request. */
export function requireFloor({ floorTokens, largest, pieces }: Floor, windowTokens: number): number {
  if (floorTokens <= windowTokens) return windowTokens - floorTokens
  throw new HoldfastError({
    code: "floor-exceeds-window",
    floorTokens,
    windowTokens,
    largest: `${largest.name} (${largest.tokens} tokens)`,
    pieces: pieces.filter(({ tokens: size }) => size > 0),
  })
}
