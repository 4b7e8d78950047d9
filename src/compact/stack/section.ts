import { hashText } from "../../message/hash-data.ts"
import type { Tokens } from "../../message/ids.ts"

/** Where a section stands. What changes least stands first, so that it stays cached longest. */
export type Layer = "base" | "role" | "context" | "task"

export const layers: readonly Layer[] = ["base", "role", "context", "task"]

/** The section that says who the agent is: never shortened, never empty. */
export const identity = "identity"

/** How a section may give way when the stack has too little room; what says nothing gives nothing. */
export type Shrink<Text> =
  | { readonly type: "fixed" }
  /** Loses its end, whole lines where it can, down to its minimum. */
  | { readonly type: "truncate" }
  /** Is there whole or not at all. */
  | { readonly type: "drop" }
  /** Is said more briefly, in one of these texts. */
  | { readonly type: "swap"; readonly variants: readonly Text[] }

/** A named text of the prompt. Its version is its hash, and the label if its author gave it one. */
export type Section = {
  readonly layer: Layer
  readonly name: string
  readonly text: string
  readonly hash: string
  readonly label?: string
  readonly heading?: string
  readonly order: number
  readonly minTokens: Tokens
  readonly shrink: Shrink<string>
}

/** The section as the model reads it. */
export const renderSection = ({ heading, text }: Pick<Section, "heading" | "text">): string =>
  heading === undefined ? text : `# ${heading}\n\n${text}`

/** A section with nothing to say is left out, its heading too. */
export const isBlank = (text: string): boolean => text.trim() === ""

export const makeSection = (section: Omit<Section, "hash">): Section => ({
  ...section,
  hash: hashText(renderSection(section)),
})

/** The same section with another text, and so another version. */
export const withText = ({ label: _label, ...section }: Section, text: string): Section =>
  makeSection({ ...section, text })

/** Layer, then `order`, then identity first, then name: never the order of definition. */
export function bySectionOrder(one: Placing, other: Placing): number {
  return (
    layers.indexOf(one.layer) - layers.indexOf(other.layer) ||
    (one.order ?? 0) - (other.order ?? 0) ||
    Number(other.name === identity) - Number(one.name === identity) ||
    (one.name < other.name ? -1 : Number(one.name > other.name))
  )
}

type Placing = { readonly layer: Layer; readonly name: string; readonly order?: number }
