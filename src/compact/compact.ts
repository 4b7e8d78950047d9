import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import { type Attempt, type Compacted, install } from "./attempt.ts"
import { addedTokens, draftDigest, pinEdits, savedBy } from "./draft.ts"
import { impossible, installFallback, installRecord, unreadFitting } from "./fallback.ts"
import { type Knowledge, learn, withoutContent } from "./knowledge.ts"
import { bareDigestShare, leastDigestTokens } from "./plan/share.ts"
import { isEasy, microEdits, microMayDo, pressureFor, relaxEdits, unreadTokens } from "./pressure.ts"
import { type Scene, setScene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import { type MemoryEntry, memoryOf } from "./stages/flush.ts"
import { standingIn } from "./standing-in.ts"
import { summarize } from "./summarize.ts"
import type { CompactTask } from "./task.ts"

/**
 * Make a request's conversation small enough: remedies from the cheapest on, each put to the acceptance test on the very text that
 * would be sent. What none can solve is a Problem that says what takes the room.
 */
export async function compact(task: CompactTask): Promise<Compacted> {
  const attempt: Attempt = { task, scene: setScene(task), events: [] }
  await task.pause?.()
  const light = installPins(attempt)
  if (light !== undefined) return light
  const knowledge = learn(attempt.scene.conversation, task.choices)
  await task.pause?.()
  const installed = installMicro(attempt, knowledge) ?? (await installHeavier(attempt, knowledge))
  if (installed === undefined) throw impossible(attempt)
  return installed.remedy === "micro" ? installed : { ...installed, memory: flush(knowledge) }
}

async function installHeavier(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  await attempt.task.pause?.()
  const summarized = installRecord(attempt, knowledge) ?? (await installSummary(attempt, knowledge))
  if (summarized !== undefined) return summarized
  await attempt.task.pause?.()
  return installFallback(attempt, knowledge)
}

/** Stage 0: what is worth saving for good, before anything is left out. */
const flush = ({ notes, ledger }: Knowledge): readonly MemoryEntry[] => memoryOf(notes, [...ledger.facts.values()])

/** It fits; only the pinned rules may have to be added. */
function installPins(attempt: Attempt): Compacted | undefined {
  const { task, scene } = attempt
  if (scene.outsideTokens > task.limits.targetTokens) return undefined
  return install(attempt, "pins", { edits: pinEdits(task, scene) }, task.limits.targetTokens)
}

/**
 * Stage 1 alone: older results shortened just as far as it takes. Only if no value that is worth knowing goes out of sight by it;
 * otherwise a digest has to say what results no longer show.
 */
function installMicro(attempt: Attempt, knowledge: Knowledge): Compacted | undefined {
  const { task, scene } = attempt
  const { targetTokens } = task.limits
  if (!isEasy(scene, targetTokens) || !microMayDo(scene, targetTokens)) return undefined
  const all = pressed(attempt, targetTokens)
  const pins = pinEdits(task, scene)
  const unused = targetTokens - scene.outsideTokens - addedTokens(pins, task.meter) + savedBy(all)
  if (all.length === 0 || unused < 0) return undefined
  const micro = relaxEdits(task, scene, all, unused)
  if (task.choices.digest !== "none" && losesFacts(scene, knowledge, micro)) return undefined
  return install(attempt, "micro", { edits: [...pins, ...micro] }, targetTokens)
}

/** Does a value that is worth knowing stand in nothing that is shown any more? */
function losesFacts({ conversation }: Scene, { ledger }: Knowledge, micro: readonly Edit[]): boolean {
  const touched = new Set(micro.flatMap((edit) => ("messageId" in edit ? edit.messageId : [])))
  const textsOf = (messages: Transcript): readonly string[] => messages.flatMap(({ parts }) => parts.map(textOf))
  const stood = standingIn(textsOf(conversation.filter(({ id }) => touched.has(id))))
  const stands = standingIn(textsOf(applyEdits(conversation, micro)))
  return [...ledger.facts.values()].some(({ value }) => stood(value) && !stands(value))
}

/** Older results shortened as far as the limit asks for. */
function pressed({ task, scene }: Attempt, limitTokens: number): readonly Edit[] {
  const pressure = pressureFor(scene, limitTokens, task.choices.strategyOptions.keepRounds)
  return microEdits(task, scene, pressure, limitTokens)
}

/**
 * Stage 2, as small as it is aimed at, or at least as it has to be. Results that the model has not read are whole in it while anything
 * older is left to give way; then they are shortened to what there is room for.
 */
async function installSummary(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  const { task, scene } = attempt
  const { targetTokens, hardTokens } = task.limits
  const isTiny = hardTokens < leastWholeTokens && unreadTokens(task, scene) > hardTokens * tinyUnreadShare
  for (const limitTokens of isTiny ? [] : new Set([targetTokens, hardTokens])) {
    const digested = await installDigest(attempt, knowledge, limitTokens, [])
    if (digested !== undefined) return digested
    await task.pause?.()
  }
  const unread = unreadFitting(attempt, hardTokens, leastDigestTokens(hardTokens))
  return unread.length === 0 ? undefined : installDigest(attempt, knowledge, hardTokens, unread)
}

/** In a smaller context than this a result is not worth more than what a digest says in its place. */
const leastWholeTokens = 600
const tinyUnreadShare = 0.4

/** The draft without a model, and, if a summarizer is there and its words pass the gate, the one with them instead. */
async function installDigest(
  attempt: Attempt,
  knowledge: Knowledge,
  limitTokens: number,
  unread: readonly Edit[],
): Promise<Compacted | undefined> {
  const { task, scene, events } = attempt
  const { choices } = task
  const known = choices.digest === "none" ? withoutContent(knowledge) : knowledge
  const plan = {
    limitTokens,
    select: choices.entry.select,
    strategyOptions: choices.strategyOptions,
    ...(choices.digest === "none" ? { digestShare: bareDigestShare } : {}),
    reason: choices.strategy,
    micro: [...pressed(attempt, limitTokens), ...unread],
    mayKeepAll: choices.entry.micro === "none" || choices.digest === "none",
  }
  const draft = draftDigest(task, scene, known, plan)
  await task.pause?.()
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
