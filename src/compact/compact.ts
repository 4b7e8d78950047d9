import type { Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import { bareDigestShare, leastDigestTokens } from "../plan/share.ts"
import { applyEdits, type Edit } from "../stage/edit.ts"
import { type MemoryEntry, memoryOf } from "../stage/flush.ts"
import { type Attempt, type Compacted, impossible, install } from "./attempt.ts"
import { addedTokens, draftDigest, framingTokens, pinEdits, savedBy } from "./draft.ts"
import { fitWords } from "./fit-words.ts"
import { type Knowledge, learn, withoutContent } from "./knowledge.ts"
import {
  fitUnread,
  fullPressure,
  isEasy,
  microEdits,
  microMayDo,
  pressureFor,
  relaxEdits,
  unreadTokens,
} from "./pressure.ts"
import { lastGroup } from "./remedy.ts"
import { type Scene, setScene } from "./scene.ts"
import { standingIn } from "./standing-in.ts"
import { summarize } from "./summarize.ts"
import type { CompactTask } from "./task.ts"

/**
 * Make a request's conversation small enough: remedies from the cheapest on, each put to the acceptance test on the very text that
 * would be sent. What none can solve is a Problem that says what takes the room.
 */
export async function compact(task: CompactTask): Promise<Compacted> {
  const attempt: Attempt = { task, scene: setScene(task), events: [] }
  const light = installPins(attempt)
  if (light !== undefined) return light
  const knowledge = learn(attempt.scene.conversation, task.choices)
  const installed =
    installMicro(attempt, knowledge) ??
    (await installSummary(attempt, knowledge)) ??
    installFallback(attempt, knowledge)
  if (installed === undefined) throw impossible(attempt)
  return installed.remedy === "micro" ? installed : { ...installed, memory: flush(knowledge) }
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
  const spare = targetTokens - scene.outsideTokens - addedTokens(pins, task.meter) + savedBy(all)
  if (all.length === 0 || spare < 0) return undefined
  const micro = relaxEdits(task, scene, all, spare)
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
  }
  const unread = unreadFitting(attempt, hardTokens, leastDigestTokens(hardTokens))
  return unread.length === 0 ? undefined : installDigest(attempt, knowledge, hardTokens, unread)
}

/** In a smaller context than this a result is not worth more than what a digest says in its place. */
const leastWholeTokens = 600
const tinyUnreadShare = 0.4

/** What has to be left out of results that the model has not read, beside all that has to stay and so much for a digest. */
function unreadFitting({ task, scene }: Attempt, limitTokens: number, digestTokens: number): readonly Edit[] {
  const mandatory = scene.groups.reduce(
    (sum, { start, end }, at) =>
      scene.duties[at] === undefined
        ? sum
        : scene.conversation.slice(start, end).reduce((all, message) => all + task.meter.message(message), sum),
    scene.documentTokens + addedTokens(pinEdits(task, scene), task.meter) + framingTokens,
  )
  const unread = unreadTokens(task, scene)
  return fitUnread(task, scene, limitTokens - (mandatory - unread) - digestTokens)
}

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

/**
 * Stage 3: digest and last words, every result that the model has read down to what it was. It waits for no one. What still does not fit
 * gives way in this order: results that the model has not read, the middle of a very long latest message of the user, and at the very
 * last a tool round whose calls alone are too much.
 */
function installFallback(attempt: Attempt, knowledge: Knowledge): Compacted | undefined {
  const { task, scene } = attempt
  const { hardTokens } = task.limits
  const barest = fitUnread(task, scene, 0)
  return (
    installLast(attempt, knowledge, []) ??
    installLast(attempt, knowledge, unreadFitting(attempt, hardTokens, barestDigestTokens)) ??
    installLast(attempt, knowledge, barest) ??
    installLast(attempt, knowledge, [...barest, ...fitWords(task, scene, barest)]) ??
    installLast({ ...attempt, scene: withoutLastRound(scene) }, knowledge, [])
  )
}

function installLast(attempt: Attempt, knowledge: Knowledge, more: readonly Edit[]): Compacted | undefined {
  const { task, scene } = attempt
  const { hardTokens } = task.limits
  const draft = draftDigest(task, scene, task.choices.digest === "none" ? withoutContent(knowledge) : knowledge, {
    limitTokens: hardTokens,
    select: lastGroup,
    strategyOptions: task.choices.strategyOptions,
    digestShare: 0.5,
    reason: "fallback",
    micro: [...microEdits(task, scene, fullPressure, hardTokens), ...more],
    mayKeepAll: false,
  })
  return draft === undefined ? undefined : install(attempt, "fallback", draft, hardTokens)
}

/** As if the model had answered everything: its last tool round may go, too. */
const withoutLastRound = (scene: Scene): Scene => ({
  ...scene,
  unread: new Set(),
  duties: scene.duties.map((duty) => (duty === "what the model has not answered yet" ? undefined : duty)),
})

/** A digest that says no more than what it stands for, and what it was all for. */
const barestDigestTokens = 60
