import { assert } from "../../message/assert.ts"
import { HoldfastError } from "../../message/errors.ts"
import { type Tokens, tokens } from "../../message/ids.ts"
import { isBlank, type Layer, type Section, withText } from "./section.ts"
import { type Count, type Give, giveOf, type Level } from "./size.ts"
import { makeStack, type Stack, sectionsOf } from "./stack.ts"

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

export type FittedStack = { readonly stack: Stack; readonly events: readonly StackEvent[] }

/**
 * Fit a stack into a budget. There is no ladder: every section gives the same share of what it has above its own minimum. One that
 * truncates gives it to the token, one that swaps or drops goes to the nearest step. The share that stays is the largest that
 * fits, so a larger budget never gives any section less. Fitting always starts from the whole stack: what fits is returned as it is.
 */
export function fitStack(
  stack: Stack,
  budgetTokens: Tokens,
  { count, truncate }: { readonly count: Count; readonly truncate: Truncate },
): FittedStack {
  const gives = sectionsOf(stack).map((section) => giveOf(section, count))
  const stackTokens = tokens(sum(gives.map(({ fullTokens }) => fullTokens)))
  if (stackTokens <= budgetTokens) return { stack, events: [] }
  requireFloors(gives, budgetTokens)
  const share = largestShare(gives, budgetTokens)
  const fitted = gives.map((give) => {
    const text = shrink(give, share, count, truncate)
    const section = text === give.section.text ? give.section : withText(give.section, text)
    return { give, section, toTokens: isBlank(text) ? 0 : give.frameTokens + count(text) }
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

function shrink(give: Give, share: Share, count: Count, truncate: Truncate): string {
  const allowed = allowance(give, share)
  if (give.levels !== undefined) return nearest(give.levels, allowed).text
  const { text, minTokens } = give.section
  if (allowed >= give.fullTokens) return text
  if (allowed <= give.frameTokens) return ""
  const budget = tokens(allowed - give.frameTokens)
  const cut = truncate(text, budget)
  const lines = text[cut.length] === "\n" ? cut : cut.slice(0, Math.max(0, cut.lastIndexOf("\n")))
  const size = count(lines)
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
