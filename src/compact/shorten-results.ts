import type { Compacted } from "./attempt.ts"
import { install } from "./attempt.ts"
import { pinEdits } from "./draft.ts"
import { microEdits } from "./pressure.ts"
import { setScene } from "./scene.ts"
import type { CompactTask } from "./task.ts"

/** What is too much: an output over so many tokens, wherever it stands, and results older than so many tool rounds. */
type Excess = { readonly largestTokens: number; readonly keepRounds: number }

/** Stage 1 and no more: outputs that are too large or too old show less, and everything else stays. Nothing if that saves nothing. */
export async function shortenResults(
  task: CompactTask,
  { largestTokens, keepRounds }: Excess,
): Promise<Compacted | undefined> {
  const scene = setScene(task)
  const limitTokens = Math.max(task.limits.hardTokens, scene.outsideTokens)
  const micro = microEdits(task, scene, { scale: 1, keepRounds, largest: largestTokens }, limitTokens)
  if (micro.length === 0) return undefined
  return install({ task, scene, events: [] }, "micro", { edits: [...pinEdits(task, scene), ...micro] }, limitTokens)
}
