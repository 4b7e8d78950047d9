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

/** The longest beginning of a text that has at most this many tokens. */
export type Truncate = (text: string, budget: Tokens) => string

/** What a section gave up, and how much. */
export type StackEvent = {
  readonly type: "section-truncated" | "section-swapped" | "section-dropped"
  readonly layer: Layer
  readonly section: string
  readonly fromTokens: Tokens
  readonly toTokens: Tokens
  readonly reason: { readonly type: "stack-over-budget"; readonly stackTokens: Tokens; readonly budgetTokens: Tokens }
}

/** How texts are counted and cut; a meter does both. */
type Measure = { readonly text: Count; readonly truncate: Truncate }

export type FittedStack = { readonly stack: Stack; readonly events: readonly StackEvent[] }

/**
 * Fit a stack into a budget. There is no ladder: every section gives the same share of what it has above its own minimum. One that
 * truncates gives it to the token, one that swaps or drops goes to the nearest step. The share that stays is the largest that
 * fits, so a larger budget never gives any section less. Fitting always starts from the whole stack: what fits is returned as it is.
 */
export function fitStack(stack: Stack, budgetTokens: Tokens, measure: Measure): FittedStack {
  const gives = sectionsOf(stack).map((section) => giveOf(section, measure))
  const stackTokens = tokens(sum(gives.map(({ fullTokens }) => fullTokens)))
  if (stackTokens <= budgetTokens) return { stack, events: [] }
  requireFloors(gives, budgetTokens)
  const share = largestShare(gives, budgetTokens)
  const fitted = gives.map((give) => {
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

/** A share as whole parts of `of`, so that no rounding can differ between machines. */
type Share = { readonly part: number; readonly of: number }

function largestShare(gives: readonly Give[], budget: number): Share {
  const of = sum(gives.map(({ fullTokens, floorTokens }) => fullTokens - floorTokens))
  let fits = 0
  let over = of
  while (over - fits > 1) {
    const part = Math.floor((fits + over) / 2)
    if (sum(gives.map((give) => takes(give, { part, of }))) <= budget) fits = part
    else over = part
  }
  return { part: fits, of }
}

const allowance = ({ fullTokens, floorTokens }: Give, { part, of }: Share): number =>
  floorTokens + Math.floor(((fullTokens - floorTokens) * part) / of)

const takes = (give: Give, share: Share): number =>
  give.levels === undefined ? allowance(give, share) : nearest(give.levels, allowance(give, share)).tokens

function nearest(levels: readonly Level[], allowed: number): Level {
  const at = levels.findIndex((level, n) => allowed >= (level.tokens + (levels[n + 1] ?? level).tokens) / 2)
  const level = levels.at(at)
  assert(level !== undefined, "a section without levels")
  return level
}

function shrink(give: Give, share: Share, measure: Measure): string {
  const allowed = allowance(give, share)
  if (give.levels !== undefined) return nearest(give.levels, allowed).text
  const { text, minTokens } = give.section
  if (allowed >= give.fullTokens) return text
  if (allowed <= give.frameTokens) return ""
  const budget = tokens(allowed - give.frameTokens)
  const longest = measure.truncate(text, budget)
  const cut = measure.text(longest) < minTokens ? (give.floorText ?? longest) : longest
  const lines = text[cut.length] === "\n" ? cut : cut.slice(0, Math.max(0, cut.lastIndexOf("\n")))
  const size = measure.text(lines)
  // Half a rule can say the opposite of the whole: end on a line, unless only part of one satisfies the minimum.
  return isBlank(lines) || size < minTokens || size > budget ? cut : lines
}

function requireFloors(gives: readonly Give[], budget: number): void {
  const floorTokens = sum(gives.map((give) => give.floorTokens))
  if (floorTokens <= budget) return
  const largest = gives.reduce((most, give) => (give.floorTokens > most.floorTokens ? give : most))
  throw new HoldfastError({
    code: "floor-exceeds-window",
    floorTokens,
    windowTokens: budget,
    largest: `the prompt section "${largest.section.name}" (${largest.floorTokens} tokens)`,
  })
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

export type Count = (text: string) => Tokens

/** A text that a section may come down to, and what it then takes. */
type Level = { readonly tokens: number; readonly text: string }

/** How far a section can give: from all of it to its floor, in steps if it has `levels`, otherwise token by token. */
type Give = {
  readonly section: Section
  readonly frameTokens: number
  readonly fullTokens: number
  readonly floorTokens: number
  /** Largest first; the last is the floor. */
  readonly levels?: readonly Level[]
  /** Of a section that truncates: the beginning that satisfies its minimum. */
  readonly floorText?: string
}

/** What a section costs beside its words: its heading, and the blank line after it; counted apart, so that the sum is no guess too low. */
const frameOf = (section: Section, count: Count): number => {
  const hasFrame = section.heading !== undefined || section.document === true
  const cut = section.document === true && section.shrink.type === "truncate" ? { cut: true as const } : {}
  return (hasFrame ? count(renderSection({ ...section, ...cut, text: "" })) : 0) + count("\n\n")
}

const sizeOf = (frameTokens: number, text: string, count: Count): number =>
  isBlank(text) ? 0 : frameTokens + count(text)

export const stackTokens = (stack: Stack, count: Count): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + sizeOf(frameOf(section, count), section.text, count), 0))

/** What the stack takes when every section has given all it may. */
export const stackFloor = (stack: Stack, measure: Measure): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + giveOf(section, measure).floorTokens, 0))

/**
 * A short beginning of the text with at least this many tokens. The longest one within that number may have fewer: a character can take
 * several tokens, and some models' tokens are counted in steps of more than one.
 */
function beginningOf(text: string, minTokens: number, measure: Measure): string {
  for (let budget = minTokens; budget < measure.text(text); budget++) {
    const cut = measure.truncate(text, tokens(budget))
    if (measure.text(cut) >= minTokens) return cut
  }
  return text
}

function giveOf(section: Section, measure: Measure): Give {
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
