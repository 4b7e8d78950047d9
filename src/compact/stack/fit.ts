import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Tokens, tokens } from "../../message/message.ts"
import {
  isBlank,
  type Layer,
  makeStack,
  renderSection,
  type Section,
  type Stack,
  sectionsOf,
  withText,
} from "./stack.ts"

/** Returns the longest beginning of a text that has at most this many tokens. */
export type Truncate = (text: string, budget: Tokens) => string

/** How a section was shortened, and by how much. */
export type StackEvent = {
  readonly type: "section-truncated" | "section-swapped" | "section-dropped"
  readonly layer: Layer
  readonly section: string
  readonly fromTokens: Tokens
  readonly toTokens: Tokens
  readonly reason: { readonly type: "stack-over-budget"; readonly stackTokens: Tokens; readonly budgetTokens: Tokens }
}

/** Counts and cuts texts; implemented by a meter. */
type Measure = { readonly text: Count; readonly truncate: Truncate }

export type FittedStack = { readonly stack: Stack; readonly events: readonly StackEvent[] }

/**
 * Fits a stack into a budget. All sections shrink by the same share of their tokens above their own minimum: a truncating one to the token,
 * one that swaps or drops to the nearest step. The share that stays is the largest that fits, so a larger budget never makes a section
 * smaller. Fitting always starts from the whole stack: one that fits is returned unchanged.
 */
export function fitStack(stack: Stack, budgetTokens: Tokens, measure: Measure): FittedStack {
  const shrinkables = sectionsOf(stack).map((section) => shrinkableOf(section, measure))
  const stackTokens = tokens(sum(shrinkables.map(({ fullTokens }) => fullTokens)))
  if (stackTokens <= budgetTokens) return { stack, events: [] }
  requireFloors(shrinkables, budgetTokens)
  const share = largestShare(shrinkables, budgetTokens)
  const fitted = shrinkables.map((give) => {
    const text = shrink(give, share, measure)
    const section = text === give.section.text ? give.section : withText(give.section, text)
    return { give, section, toTokens: isBlank(text) ? 0 : give.frameTokens + measure.text(text) }
  })
  assert(sum(fitted.map(({ toTokens }) => toTokens)) <= budgetTokens, "a fitted stack is over its budget")
  const reason: StackEvent["reason"] = { type: "stack-over-budget", stackTokens, budgetTokens }
  const events = fitted
    .filter(({ give, section }) => section !== give.section)
    .map(({ give, section, toTokens }): StackEvent => {
      const { layer, name } = section
      const sizes = { fromTokens: tokens(give.fullTokens), toTokens: tokens(toTokens) }
      return { type: eventOf(give.section, section), layer, section: name, ...sizes, reason }
    })
  return { stack: makeStack(fitted.map(({ section }) => section)), events }
}

const eventOf = (before: Section, after: Section): StackEvent["type"] =>
  isBlank(after.text) ? "section-dropped" : before.shrink.type === "swap" ? "section-swapped" : "section-truncated"

/** A share as a fraction of integers, so that rounding cannot differ between machines. */
type Share = { readonly part: number; readonly of: number }

function largestShare(shrinkables: readonly Shrinkable[], budget: number): Share {
  const of = sum(shrinkables.map(({ fullTokens, floorTokens }) => fullTokens - floorTokens))
  let fits = 0
  let over = of
  while (over - fits > 1) {
    const part = Math.floor((fits + over) / 2)
    if (sum(shrinkables.map((item) => tokensAt(item, { part, of }))) <= budget) fits = part
    else over = part
  }
  return { part: fits, of }
}

const allowance = ({ fullTokens, floorTokens }: Shrinkable, { part, of }: Share): number =>
  floorTokens + Math.floor(((fullTokens - floorTokens) * part) / of)

const tokensAt = (item: Shrinkable, share: Share): number =>
  item.levels === undefined ? allowance(item, share) : nearest(item.levels, allowance(item, share)).tokens

function nearest(levels: readonly Level[], allowed: number): Level {
  const at = levels.findIndex((level, n) => allowed >= (level.tokens + (levels[n + 1] ?? level).tokens) / 2)
  const level = levels.at(at)
  assert(level !== undefined, "a section without levels")
  return level
}

function shrink(item: Shrinkable, share: Share, measure: Measure): string {
  const allowed = allowance(item, share)
  if (item.levels !== undefined) return nearest(item.levels, allowed).text
  const { text, minTokens } = item.section
  if (allowed >= item.fullTokens) return text
  if (allowed <= item.frameTokens) return ""
  const budget = tokens(allowed - item.frameTokens)
  const longest = measure.truncate(text, budget)
  const cut = measure.text(longest) < minTokens ? (item.floorText ?? longest) : longest
  const lines = text[cut.length] === "\n" ? cut : cut.slice(0, Math.max(0, cut.lastIndexOf("\n")))
  const size = measure.text(lines)
  // Half a rule may mean the opposite, so the text ends with a whole line, unless only a part of one satisfies the minimum.
  return isBlank(lines) || size < minTokens || size > budget ? cut : lines
}

function requireFloors(shrinkables: readonly Shrinkable[], budget: number): void {
  const floorTokens = sum(shrinkables.map((item) => item.floorTokens))
  if (floorTokens <= budget) return
  const largest = shrinkables.reduce((most, item) => (item.floorTokens > most.floorTokens ? item : most))
  throw new HoldfastError({
    code: "floor-exceeds-window",
    floorTokens,
    windowTokens: budget,
    largest: `the prompt section "${largest.section.name}" (${largest.floorTokens} tokens)`,
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

export type Count = (text: string) => Tokens

/** One of a section's possible texts, with its size. */
type Level = { readonly tokens: number; readonly text: string }

/** How far a section can shrink: from its full size to its floor, in steps if it has `levels`, otherwise token by token. */
type Shrinkable = {
  readonly section: Section
  readonly frameTokens: number
  readonly fullTokens: number
  readonly floorTokens: number
  /** Largest first; the last is the floor. */
  readonly levels?: readonly Level[]
  /** If the section truncates: the beginning that satisfies its minimum. */
  readonly floorText?: string
}

/** Tokens of a section beside its text: the heading and the blank line after it; counted separately, so that the sum is not too low. */
const frameOf = (section: Section, count: Count): number => {
  const hasFrame = section.heading !== undefined || section.document === true
  const cut = section.document === true && section.shrink.type === "truncate" ? { cut: true as const } : {}
  return (hasFrame ? count(renderSection({ ...section, ...cut, text: "" })) : 0) + count("\n\n")
}

const sizeOf = (frameTokens: number, text: string, count: Count): number =>
  isBlank(text) ? 0 : frameTokens + count(text)

export const stackTokens = (stack: Stack, count: Count): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + sizeOf(frameOf(section, count), section.text, count), 0))

/** Size of the stack when every section has shrunk as far as it may. */
export const stackFloor = (stack: Stack, measure: Measure): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + shrinkableOf(section, measure).floorTokens, 0))

/**
 * Returns a short beginning of the text with at least this many tokens. The longest one within that number may have fewer: a character can
 * take several tokens, and some models' tokens are counted in steps of more than one.
 */
function beginningOf(text: string, minTokens: number, measure: Measure): string {
  for (let budget = minTokens; budget < measure.text(text); budget++) {
    const cut = measure.truncate(text, tokens(budget))
    if (measure.text(cut) >= minTokens) return cut
  }
  return text
}

function shrinkableOf(section: Section, measure: Measure): Shrinkable {
  const count = measure.text
  const { text, shrink, minTokens } = section
  const frameTokens = frameOf(section, count)
  const fullTokens = sizeOf(frameTokens, text, count)
  const base = { section, frameTokens, fullTokens }
  if (shrink.type === "truncate") {
    if (minTokens === 0) return { ...base, floorTokens: 0 }
    const floorText = beginningOf(text, minTokens, measure)
    return { ...base, floorText, floorTokens: sizeOf(frameTokens, floorText, count) }
  }
  const whole: Level = { tokens: fullTokens, text }
  const shorter = shrink.type === "drop" ? [""] : shrink.type === "swap" ? shrink.variants : []
  const levels = shorter
    .filter((variant) => (isBlank(variant) ? 0 : count(variant)) >= minTokens)
    .map((variant): Level => ({ tokens: sizeOf(frameTokens, variant, count), text: variant }))
    .filter((level) => level.tokens < fullTokens)
    .sort((one, other) => other.tokens - one.tokens)
  return { ...base, levels: [whole, ...levels], floorTokens: levels.at(-1)?.tokens ?? fullTokens }
}
