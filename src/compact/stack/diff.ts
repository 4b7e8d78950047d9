import { present } from "../../message/present.ts"
import { type Layer, type Section, type Stack, sectionsOf } from "./stack.ts"

export type Version = { readonly hash: string; readonly label?: string }

/** One reason why a stack differs from the one that the provider cached. */
export type StackChange =
  | { readonly type: "section-added"; readonly layer: Layer; readonly section: string; readonly to: Version }
  | { readonly type: "section-removed"; readonly layer: Layer; readonly section: string; readonly from: Version }
  | {
      readonly type: "section-changed"
      readonly layer: Layer
      readonly section: string
      readonly from: Version
      readonly to: Version
    }
  | { readonly type: "section-moved"; readonly section: string; readonly from: Layer; readonly to: Layer }
  | { readonly type: "layer-reordered"; readonly layer: Layer }

/** Lists what changed, in the order of the stacks; empty if and only if their hashes are equal. */
export function diffStacks(before: Stack, after: Stack): readonly StackChange[] {
  if (before.hash === after.hash) return []
  const old = new Map(sectionsOf(before).map((section) => [section.name, section]))
  const now = new Map(sectionsOf(after).map((section) => [section.name, section]))
  const removed = [...old.values()].flatMap((section): readonly StackChange[] =>
    now.has(section.name)
      ? []
      : [{ type: "section-removed", layer: section.layer, section: section.name, from: versionOf(section) }],
  )
  const changed = [...now.values()].flatMap((section) => changesOf(old.get(section.name), section))
  return [...removed, ...changed, ...reordered(before, after)]
}

function changesOf(before: Section | undefined, after: Section): readonly StackChange[] {
  const { layer, name: section } = after
  if (before === undefined) return [{ type: "section-added", layer, section, to: versionOf(after) }]
  const moved: readonly StackChange[] =
    before.layer === layer ? [] : [{ type: "section-moved", section, from: before.layer, to: layer }]
  if (before.hash === after.hash) return moved
  return [...moved, { type: "section-changed", layer, section, from: versionOf(before), to: versionOf(after) }]
}

function reordered(before: Stack, after: Stack): readonly StackChange[] {
  return before.layers.flatMap(({ layer, sections }, n): readonly StackChange[] => {
    const old = sections.map(({ name }) => name)
    const now = (after.layers[n]?.sections ?? []).map(({ name }) => name)
    const oldCommon = old.filter((name) => now.includes(name))
    const nowCommon = now.filter((name) => old.includes(name))
    return oldCommon.every((name, at) => name === nowCommon[at]) ? [] : [{ type: "layer-reordered", layer }]
  })
}

const versionOf = ({ hash, label }: Section): Version => ({ hash, ...present({ label }) })
