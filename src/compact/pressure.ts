import { present } from "../message/present.ts"
import { defaultShares } from "../plan/share.ts"
import type { Edit } from "../stage/edit.ts"
import { microcompact } from "../stage/microcompact.ts"
import type { Scene } from "./scene.ts"
import type { CompactTask } from "./task.ts"

/** How hard tool results are pressed: budgets times `scale`, except in the newest `keepRounds`, where only one over `largest` is. */
export type Pressure = { readonly scale: number; readonly keepRounds: number; readonly largest: number }

/** The last resort: of every result only what it was. */
export const fullPressure: Pressure = { scale: 0, keepRounds: 0, largest: 0 }

const { easyShare, largestShare } = defaultShares

const shareLeft = ({ outsideTokens }: Scene, limitTokens: number): number => limitTokens / Math.max(1, outsideTokens)

/** Is so much left that no tool's budget has to shrink? */
export const isEasy = (scene: Scene, limitTokens: number): boolean => shareLeft(scene, limitTokens) >= easyShare

/**
 * The less is left, the fewer rounds stay whole and the smaller is the largest result. The tools' budgets stay what they are: pressed
 * harder, results lose values that a digest would keep.
 */
export function pressureFor(scene: Scene, limitTokens: number, keepRounds: number): Pressure {
  const share = shareLeft(scene, limitTokens)
  return {
    scale: 1,
    keepRounds: share >= easyShare ? keepRounds : Math.min(1, keepRounds),
    largest: Math.floor(limitTokens * largestShare),
  }
}

/** Could shortening results alone bring it down to the limit? Pictures aside, nothing else is shortened by it. */
export function microMayDo({ barestTokens, documentTokens }: Scene, limitTokens: number): boolean {
  return barestTokens.reduce((sum, tokens) => sum + tokens, documentTokens) <= limitTokens
}

/** The newest groups that could stay within the limit if all their results were at their barest: no other is worth shortening. */
function keepable({ groups, barestTokens }: Scene, limitTokens: number): Scene["groups"] {
  let first = groups.length
  for (let left = limitTokens; first > 0; first--) {
    left -= barestTokens[first - 1] ?? 0
    if (left < 0) break
  }
  return groups.slice(first)
}

/** Nothing, one press for all that may stay, or a harder one for the older half of it. */
export function microEdits(
  { meter, choices }: CompactTask,
  scene: Scene,
  pressure: Pressure,
  limitTokens: number,
): readonly Edit[] {
  const press = (groups: Scene["groups"], { scale, keepRounds, largest }: Pressure): readonly Edit[] =>
    microcompact(scene.conversation, {
      groups,
      scale,
      keepRounds,
      largest,
      count: meter.text,
      partTokens: meter.part,
      ...present({ budgets: choices.toolBudgets, focus: choices.focus, handleOf: choices.handleOf }),
    })
  if (choices.entry.micro === "none" && pressure !== fullPressure) return []
  const mandatory = new Set(scene.groups.filter((_, at) => scene.duties[at] !== undefined))
  const newest = new Set(keepable(scene, limitTokens))
  const groups = scene.groups.filter((group) => newest.has(group) || mandatory.has(group))
  if (choices.entry.micro !== "aged") return press(groups, pressure)
  const half = Math.floor(groups.length / 2)
  const older = press(groups.slice(0, half), fullPressure)
  const pictures = new Set(older.flatMap((edit) => (edit.type === "part-replaced" ? [edit.messageId] : [])))
  const newer = press(groups.slice(half), pressure)
  return [...older, ...newer.filter((edit) => edit.type !== "part-replaced" || !pictures.has(edit.messageId))]
}
