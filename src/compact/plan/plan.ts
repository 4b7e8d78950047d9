import { HoldfastError } from "../../message/errors.ts"
import { present, type Words } from "../../message/present.ts"
import type { CompactionPolicy } from "./policy.ts"

/** How large everything is, in the model's own tokens. */
export type Sizes = {
  /** What the next request would take as it stands. */
  readonly contextTokens: number
  readonly windowTokens: number
  /** Kept free for the answer. */
  readonly reserveTokens: number
  /** What can never be left out, without the reserve. */
  readonly floorTokens: number
  /** The tool round at the end whose results the model has not read yet; 0 where the request ends in something else. */
  readonly unreadTokens: number
  /** The largest tool output that the model has read and that is still whole. */
  readonly toolOutputTokens: number
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

export type Trigger = Words<"asked provider-refused window-share absolute-tokens phase-end tool-output tool-rounds">

/** Why, in numbers. */
export type PlanReason = { readonly trigger: Trigger; readonly value: number; readonly limit: number }

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
      readonly targetTokens: number
      readonly reasons: readonly PlanReason[]
      readonly focus?: string
    }
  | { readonly type: "refuse"; readonly shortTokens: number }

/** The whole policy: the least that will do. No I/O, so a table of numbers tests it. */
export function planContext(sizes: Sizes, occasion: Occasion, policy: CompactionPolicy): Plan {
  const roomTokens = sizes.windowTokens - sizes.reserveTokens
  if (sizes.floorTokens > roomTokens) return { type: "refuse", shortTokens: sizes.floorTokens - roomTokens }
  const mark = marksOf(sizes, roomTokens)
  const full = fullReasons(sizes, occasion, policy, mark)
  const optional = occasion.phaseEnded === true && sizes.contextTokens > mark(policy.flushAt)
  const micro = microReasons(sizes, policy)
  if (full.length === 0 && !optional && micro.length === 0) {
    const over = (share: number): boolean => sizes.contextTokens > mark(share)
    return { type: "leave", flush: over(policy.flushAt), speculate: over(policy.speculateAt) }
  }
  const phase: readonly PlanReason[] = optional ? [reason("phase-end", sizes.contextTokens, mark(policy.flushAt))] : []
  return {
    type: "compact",
    depth: full.length > 0 || optional ? "full" : "micro",
    forced: full.length > 0,
    targetTokens: targetOf(sizes, occasion, policy, roomTokens),
    reasons: [...full, ...phase, ...micro],
    ...present({ focus: occasion.asked?.focus }),
  }
}

/** The most that a context may have without being compacted for its size: one that ends in results the model has not read, or any other. */
export function compactionMark(sizes: Sizes, policy: CompactionPolicy, end: "unread" | "answered"): number {
  const mark = marksOf(
    sizes,
    sizes.windowTokens - sizes.reserveTokens,
  )(end === "unread" ? unreadAt(policy) : policy.compactAt)
  return Math.max(0, Math.floor(Math.min(mark, policy.compactAtTokens ?? Number.POSITIVE_INFINITY)))
}

/** Counts are a little off, and a provider that refuses a request costs a round trip. */
const countMargin = 0.02

/** The mark for a request that ends in results the model has not read. Someone who compacts only what does not fit has no margin. */
const unreadAt = ({ compactAt }: CompactionPolicy): number => Math.max(compactAt, 1 - countMargin)

/** Where a share of the room ends, in tokens. */
type Mark = (share: number) => number

/** Shares are of what is left of the room once everything is in that can never be left out, so a wider window never means a lower mark. */
function marksOf({ floorTokens }: Sizes, roomTokens: number): Mark {
  const base = Math.min(floorTokens, roomTokens)
  return (share) => base + share * (roomTokens - base)
}

const reason = (trigger: Trigger, value: number, limit: number): PlanReason => ({
  trigger,
  value,
  limit: Math.floor(limit),
})

/**
 * The compaction mark is soft for a request that ends in results the model has not read: while it fits, it goes out whole. A fixed mark
 * counts what the model has read already.
 */
function fullReasons(
  sizes: Sizes,
  { asked, refused }: Occasion,
  policy: CompactionPolicy,
  mark: Mark,
): readonly PlanReason[] {
  const { contextTokens, unreadTokens } = sizes
  const limit = mark(unreadTokens > 0 ? unreadAt(policy) : policy.compactAt)
  const absolute = policy.compactAtTokens ?? Number.POSITIVE_INFINITY
  return [
    ...(asked === undefined ? [] : [reason("asked", contextTokens, 0)]),
    ...(refused === true ? [reason("provider-refused", contextTokens, mark(1))] : []),
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
 * The low-water mark, never below the floor, and what the model has not read yet on top: the mark is for old material. Where results are
 * large, down to half the mark, so that another one fits before the next compaction. Of what there is, if someone asked for less of it,
 * or if the provider refused what we thought would fit: then our count is off.
 */
function targetOf(sizes: Sizes, { asked, refused }: Occasion, policy: CompactionPolicy, roomTokens: number): number {
  const fromContext = refused === true || asked !== undefined
  const fixed = policy.compactAtTokens ?? roomTokens
  const most = Math.min(roomTokens, fromContext ? sizes.contextTokens : roomTokens, fixed)
  const mark = marksOf(sizes, most)
  const highest = fromContext ? Math.floor(mark(policy.compactAt)) : most
  const besideNext = Math.max(mark(policy.lowWater / 2), most - 2 * sizes.unreadTokens)
  const old = Math.max(sizes.floorTokens, Math.floor(Math.min(mark(policy.lowWater), besideNext)))
  return Math.max(sizes.floorTokens, Math.min(highest, old + sizes.unreadTokens))
}

/** An answer may be asked to be longer than the window is wide: no more than this share is held free for it. */
export const mostReserveShare = 0.5
/** Clients ask for the longest answer that they can take, and most answers are short: of the window, and of what the stack leaves of it, this much at most is held free. */
const wideReserveShare = 0.2
const leftReserveShare = 0.25
/** Of the window, what is held free once it is known how long answers are; a long one may still come. */
const knownReserveShare = 0.05
/** An answer of this length is nothing unusual. */
export const usualAnswerTokens = 4096
/** Held free per token of the longest answer so far. */
const answerMargin = 2

type ReserveQuestion = {
  readonly windowTokens: number
  /** What can never be left out of the request. */
  readonly floorTokens: number
  /** Results that the model has not read: more than a usual answer is not held free at their cost. */
  readonly unreadTokens?: number
  /** The longest answer that the request allows. */
  readonly wantedTokens: number
  /** The longest of this conversation's answers, once there are enough of them to go by. */
  readonly longestAnswerTokens?: number | undefined
}

/** What to hold free for the answer: as much as answers take, and never so much that a wider window leaves less for the context. */
export function reserveFor(question: ReserveQuestion): number {
  const { windowTokens, floorTokens, unreadTokens = 0, wantedTokens, longestAnswerTokens } = question
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

/** What every call must carry, whatever is left out of the history. */
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

/** Add up what can never be left out. `stack` is its `stackFloor` where sections may shrink. */
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

/** The tokens left for the history, or the Problem that no compaction could ever solve: raise it before the first call. */
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
