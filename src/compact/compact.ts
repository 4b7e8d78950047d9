import { present } from "../message/present.ts"
import { bareDigestShare, digestShare } from "../plan/share.ts"
import type { Edit } from "../stage/edit.ts"
import { type MemoryEntry, memoryOf } from "../stage/flush.ts"
import { type Attempt, type Compacted, impossible, install } from "./attempt.ts"
import { draftDigest, pinEdits } from "./draft.ts"
import { type Knowledge, learn, withoutContent } from "./knowledge.ts"
import { fullPressure, isEasy, microEdits, microMayDo, pressureFor } from "./pressure.ts"
import { lastGroup } from "./remedy.ts"
import { setScene } from "./scene.ts"
import { summarize } from "./summarize.ts"
import type { CompactTask } from "./task.ts"

/**
 * Make a request's conversation small enough: remedies from the cheapest on, each put to the acceptance test on the very text that
 * would be sent. What none can solve is a Problem that says what takes the room.
 */
export async function compact(task: CompactTask): Promise<Compacted> {
  const attempt: Attempt = { task, scene: setScene(task), events: [] }
  const light = installPins(attempt) ?? installMicro(attempt)
  if (light !== undefined) return light
  const knowledge = learn(attempt.scene.conversation, task.choices)
  const { targetTokens, hardTokens } = task.limits
  for (const limitTokens of new Set([targetTokens, hardTokens])) {
    const digested = await installDigest(attempt, knowledge, limitTokens)
    if (digested !== undefined) return { ...digested, memory: flush(knowledge) }
  }
  const fallen = installFallback(attempt, knowledge)
  if (fallen === undefined) throw impossible(attempt)
  return { ...fallen, memory: flush(knowledge) }
}

/** Stage 0: what is worth saving for good, before anything is left out. */
const flush = ({ notes, ledger }: Knowledge): readonly MemoryEntry[] => memoryOf(notes, [...ledger.facts.values()])

/** It fits; only the pinned rules may have to be added. */
function installPins(attempt: Attempt): Compacted | undefined {
  const { task, scene } = attempt
  if (scene.outsideTokens > task.limits.targetTokens) return undefined
  return install(attempt, "pins", { edits: pinEdits(task, scene) }, task.limits.targetTokens)
}

/** Stage 1 alone, if much is left and it is enough; otherwise a digest has to say what results no longer show. */
function installMicro(attempt: Attempt): Compacted | undefined {
  const { task, scene } = attempt
  const { targetTokens } = task.limits
  if (!isEasy(scene, targetTokens) || !microMayDo(scene, targetTokens)) return undefined
  const micro = pressed(attempt, targetTokens)
  const saved = micro.reduce((sum, edit) => sum + ("afterTokens" in edit ? edit.beforeTokens - edit.afterTokens : 0), 0)
  if (micro.length === 0 || scene.outsideTokens - saved > targetTokens) return undefined
  return install(attempt, "micro", { edits: [...pinEdits(task, scene), ...micro] }, targetTokens)
}

/** Older results shortened as far as the limit asks for. */
function pressed({ task, scene }: Attempt, limitTokens: number): readonly Edit[] {
  const pressure = pressureFor(scene, limitTokens, task.choices.strategyOptions.keepRounds)
  return microEdits(task, scene, pressure, limitTokens)
}

/** Stage 2: the draft without a model, and, if a summarizer is there and its words pass the gate, the one with them instead. */
async function installDigest(
  attempt: Attempt,
  knowledge: Knowledge,
  limitTokens: number,
): Promise<Compacted | undefined> {
  const { task, scene, events } = attempt
  const { choices } = task
  const known = choices.digest === "none" ? withoutContent(knowledge) : knowledge
  const plan = {
    limitTokens,
    select: choices.entry.select,
    strategyOptions: choices.strategyOptions,
    digestShare: choices.digest === "none" ? bareDigestShare : digestShare(limitTokens, scene.outsideTokens),
    reason: choices.strategy,
    micro: pressed(attempt, limitTokens),
    mayKeepAll: choices.entry.micro === "none" || isEasy(scene, limitTokens),
  }
  const draft = draftDigest(task, scene, known, plan)
  if (draft === undefined) return undefined
  if (draft.digest === undefined) return install(attempt, "micro", draft, limitTokens)
  const written = await summarize(task, scene, knowledge, draft)
  events.push(...written.events)
  const better =
    written.summary === undefined
      ? undefined
      : draftDigest(task, scene, { ...knowledge, summary: written.summary }, plan)
  const installed =
    better === undefined
      ? undefined
      : install(attempt, "summary", { ...better, ...present({ writer: choices.summarizer?.writer }) }, limitTokens)
  return installed ?? install(attempt, "summary", draft, limitTokens)
}

/** Stage 3: digest and last words, every tool result down to what it was. It waits for no one. */
function installFallback(attempt: Attempt, knowledge: Knowledge): Compacted | undefined {
  const { task, scene } = attempt
  const draft = draftDigest(task, scene, task.choices.digest === "none" ? withoutContent(knowledge) : knowledge, {
    limitTokens: task.limits.hardTokens,
    select: lastGroup,
    strategyOptions: task.choices.strategyOptions,
    digestShare: 0.5,
    reason: "fallback",
    micro: microEdits(task, scene, fullPressure, task.limits.hardTokens),
    mayKeepAll: false,
  })
  return draft === undefined ? undefined : install(attempt, "fallback", draft, task.limits.hardTokens)
}
