import { hashData } from "../../message/hash-data.ts"
import { bySectionOrder, type Layer, layers, type Section } from "./section.ts"

export type StackLayer = { readonly layer: Layer; readonly hash: string; readonly sections: readonly Section[] }

/** The prompt as infrastructure: four layers in fixed order, each and the whole known by the hash of what they say. */
export type Stack = { readonly hash: string; readonly layers: readonly StackLayer[] }

/** Put sections in their order and name the whole by its content. */
export function makeStack(sections: readonly Section[]): Stack {
  const ordered = sections.toSorted(bySectionOrder)
  const stacked = layers.map((layer): StackLayer => {
    const own = ordered.filter((section) => section.layer === layer)
    return { layer, hash: hashData([layer, ...own.map(({ name, hash }) => [name, hash])]), sections: own }
  })
  return { hash: hashData(stacked.map(({ hash }) => hash)), layers: stacked }
}

export const sectionsOf = (stack: Stack): readonly Section[] => stack.layers.flatMap(({ sections }) => sections)
