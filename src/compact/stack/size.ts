import { type Tokens, tokens } from "../../message/ids.ts"
import { isBlank, renderSection, type Section } from "./section.ts"
import { type Stack, sectionsOf } from "./stack.ts"

export type Count = (text: string) => Tokens

/** A text that a section may come down to, and what it then takes. */
export type Level = { readonly tokens: number; readonly text: string }

/** How far a section can give: from all of it to its floor, in steps if it has `levels`, otherwise token by token. */
export type Give = {
  readonly section: Section
  readonly frameTokens: number
  readonly fullTokens: number
  readonly floorTokens: number
  /** Largest first; the last is the floor. */
  readonly levels?: readonly Level[]
}

/** What a section costs beside its words: its heading, and the blank line after it; counted apart, so that the sum is no guess too low. */
const frameOf = ({ heading }: Section, count: Count): number =>
  (heading === undefined ? 0 : count(renderSection({ heading, text: "" }))) + count("\n\n")

const sizeOf = (frameTokens: number, text: string, count: Count): number =>
  isBlank(text) ? 0 : frameTokens + count(text)

export const stackTokens = (stack: Stack, count: Count): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + sizeOf(frameOf(section, count), section.text, count), 0))

/** What the stack takes when every section has given all it may. */
export const stackFloor = (stack: Stack, count: Count): Tokens =>
  tokens(sectionsOf(stack).reduce((sum, section) => sum + giveOf(section, count).floorTokens, 0))

export function giveOf(section: Section, count: Count): Give {
  const { text, shrink, minTokens } = section
  const frameTokens = frameOf(section, count)
  const fullTokens = sizeOf(frameTokens, text, count)
  const base = { section, frameTokens, fullTokens }
  if (shrink.type === "truncate") {
    return { ...base, floorTokens: minTokens === 0 ? 0 : Math.min(fullTokens, frameTokens + minTokens) }
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
