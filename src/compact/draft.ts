import { type Format, type Message, messageId, type Transcript, textOf } from "../message/message.ts"
import { present } from "../message/present.ts"
import { createFreshIds } from "../message/repair.ts"
import { runInSteps, type Steps } from "../message/steps.ts"
import type { Meter } from "../tokens/meter.ts"
import { type Composed, digestComposer } from "./compose-digest.ts"
import type { Knowledge } from "./knowledge.ts"
import { pinsMessage } from "./pins.ts"
import { defaultShares, digestReserve, mostDigestTokens } from "./plan/share.ts"
import { editsIn, isShortening, relaxEdits, showPart } from "./pressure.ts"
import type { Scene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import type { SizedGroup, Strategy, StrategyOptions } from "./stages/strategies.ts"
import { ownMessage } from "./standing.ts"
import { standingIn } from "./standing-in.ts"
import { argumentNames } from "./state/fit-records.ts"
import type { Digest } from "./summary/summary.ts"
import type { CompactTask } from "./task.ts"

/** A compaction that could be made: its edits, and what they promise. */
export type CompactionDraft = {
  readonly edits: readonly Edit[]
  readonly digest?: Digest
  /** Who wrote the digest's summary, where it was not extracted. */
  readonly writer?: "model" | "custom"
}

/** Everything that decides one draft. */
type DraftPlan = {
  readonly limitTokens: number
  readonly select: Strategy
  readonly strategyOptions: StrategyOptions
  /** Of what is free beside the mandatory, so much is held back for the digest; as much as it is worth unless given. */
  readonly digestShare?: number
  /** The most that the digest takes. */
  readonly mostTokens?: number
  readonly reason: string
  readonly micro: readonly Edit[]
  /** Is it enough that all groups fit once results are shortened? Otherwise there is a digest in any case. */
  readonly mayKeepAll: boolean
}

/** The role and ends of the digest's message. */
export const framingTokens = 4

/** The rules that have to be put beside the stack, in one message that stays the same from call to call. */
export function pinEdits({ choices, meter }: CompactTask, scene: Scene): readonly Edit[] {
  const { conversation } = scene
  const fresh = createFreshIds(conversation.map(({ id }) => id))
  const old = conversation.filter((message) => ownMessage(message) === "pins")
  const wanted =
    scene.pins.length === 0 || choices.pins.length === 0 ? undefined : pinsMessage(scene.pins, fresh("pins"))
  if (old.length === 0 && wanted === undefined) return []
  const [only] = old
  const isSeen = only !== undefined && conversation.indexOf(only) >= scene.firstSeen
  if (wanted === undefined && choices.ownPins !== true) return []
  if (wanted !== undefined && old.length === 1 && isSeen && sameText(only, wanted)) return []
  const before = conversation[scene.firstSeen]?.id
  return [
    ...(old.length === 0
      ? []
      : [
          {
            type: "messages-dropped" as const,
            messageIds: old.map(({ id }) => id),
            reason: "pins-replaced",
            tokens: old.reduce((sum, message) => sum + meter.message(message), 0),
          },
        ]),
    ...(wanted === undefined
      ? []
      : [{ type: "message-installed" as const, role: "pins" as const, message: wanted, ...present({ before }) }]),
  ]
}

const sameText = (one: Message, other: Message): boolean => {
  const [a, b] = [one.parts[0], other.parts[0]]
  return a?.type === "text" && b?.type === "text" && a.text === b.text
}

/** Choose what stays, and say the rest in a digest. Nothing if even the mandatory does not fit. */
export const draftDigest = (
  task: CompactTask,
  scene: Scene,
  knowledge: Knowledge,
  plan: DraftPlan,
): Promise<CompactionDraft | undefined> => runInSteps(draftSteps(task, scene, knowledge, plan), task.pause)

function* draftSteps(
  task: CompactTask,
  scene: Scene,
  knowledge: Knowledge,
  plan: DraftPlan,
): Steps<CompactionDraft | undefined> {
  const { meter } = task
  const pressed = applyEdits(scene.conversation, plan.micro)
  const carried = messagesOf(scene, pressed, "digests")
  const sized = sizeGroups(task, scene, pressed)
  const pins = pinEdits(task, scene)
  const mandatory = sized.reduce((sum, { tokens, mandatory: stays }) => sum + (stays ? tokens : 0), 0)
  const beside = scene.documentTokens + mandatory + addedTokens(pins, meter) + framingTokens
  const free = plan.limitTokens - beside
  if (free <= 0) return undefined
  const taken = argumentNames(task.request.tools, scene.conversation)
  const { rules = task.choices.pins.map(({ text }) => text) } = task.choices
  const mostTokens = Math.min(plan.mostTokens ?? Number.POSITIVE_INFINITY, mostDigestTokens(plan.limitTokens))
  const reserve =
    plan.digestShare === undefined ? digestReserve(free, scene.outsideTokens - mandatory) : free * plan.digestShare
  const composer = digestComposer(knowledge, { meter, arguments: taken, rules })
  function* compose(shown: Transcript, budgetTokens: number): Steps<Composed | undefined> {
    const kept = new Set(shown.map(({ id }) => id))
    const stands = standingIn(shown.flatMap(({ parts }) => parts.map(textOf)))
    yield
    return composer({
      budgetTokens: Math.min(mostTokens, budgetTokens),
      covered: scene.conversation.length - shown.length - carried.length,
      shown: kept,
      stands,
      ...present({ recall: task.choices.rangeHandleOf?.(scene.conversation.filter(({ id }) => !kept.has(id))) }),
    })
  }
  yield
  const chosen = yield* choose({
    ...{ task, scene, sized, free, plan },
    reserve: Math.min(mostTokens, reserve),
    mayKeepAll: scene.held || plan.mayKeepAll,
    carriedTokens: carried.reduce((sum, message) => sum + meter.message(message), 0),
    compose: ({ kept, micro }, budgetTokens) =>
      compose(messagesOf(scene, applyEdits(scene.conversation, micro), kept), budgetTokens),
  })
  if (chosen === undefined) return undefined
  yield
  return {
    edits: [...pins, ...editsOf(task, scene, chosen, plan)],
    ...present({ digest: chosen.composed?.digest }),
  }
}

/** What pins add: the new message less the one that it replaces, which counts among the mandatory. */
export const addedTokens = (pins: readonly Edit[], meter: Meter): number =>
  pins.reduce((sum, edit) => {
    if (edit.type === "messages-dropped") return sum - edit.tokens
    return edit.type === "message-installed" ? sum + meter.message(edit.message) : sum
  }, 0)

/** Groups that stay and the shortenings in them, with what they take beside the mandatory groups as these are pressed. */
type Tail = { readonly kept: ReadonlySet<number>; readonly micro: readonly Edit[]; readonly tokens: number }
type Chosen = Omit<Tail, "tokens"> & { readonly composed?: Composed }

type Choosing = {
  readonly task: CompactTask
  readonly scene: Scene
  /** The groups with their results shortened. */
  readonly sized: readonly SizedGroup[]
  readonly free: number
  readonly plan: DraftPlan
  /** Held back for the digest. */
  readonly reserve: number
  readonly mayKeepAll: boolean
  /** What digests of ours take that are there already: they stay where no new one takes them over. */
  readonly carriedTokens: number
  readonly compose: (tail: Tail, budgetTokens: number) => Steps<Composed | undefined>
}

/**
 * First with the digest's share held back; once the digest says all that there is to say, with what it leaves. While it does not, a line
 * that happens to be short makes no room for a message, so that a larger budget never shows fewer.
 */
function* choose(choosing: Choosing): Steps<Chosen | undefined> {
  const { sized, free, reserve, mayKeepAll, carriedTokens, compose } = choosing
  const all = withMandatory(sized, choosing.plan, free - carriedTokens)
  if (all.size === sized.length && mayKeepAll) return tailOf(choosing, all, free - carriedTokens)
  yield
  let tail = chooseTail(choosing, free - reserve)
  if (tail.kept.size === sized.length) return tailOf(choosing, tail.kept, free)
  yield
  let composed = yield* compose(tail, free - tail.tokens)
  for (let tries = 0; composed?.isWhole === true && tries < maxTails; tries++) {
    yield
    // A digest without headings says the same: a room that is just large enough for them shows no fewer messages for it.
    const brief = yield* compose(tail, Math.min(free - tail.tokens, defaultShares.briefTokens - 1))
    const toldIn = brief?.isWhole === true ? brief.tokens : composed.tokens
    const more = chooseTail(choosing, free - toldIn - 2)
    if (more.tokens <= tail.tokens) break
    const again = yield* compose(more, free - more.tokens)
    if (again?.isWhole !== true) break
    tail = more
    composed = again
  }
  return composed === undefined ? undefined : { ...tail, composed }
}

/** So often the room that a digest leaves goes to messages, which leave less to tell. */
const maxTails = 8

/**
 * What stays verbatim in so much room: one stretch up to the newest message, each result as it is always shown. The first group that does
 * not fit shows a part of its results, and once all are there results are shown whole, the newest first: a larger room never shows less.
 * A digest stands for something: where all groups would stay, the oldest goes.
 */
function chooseTail(choosing: Choosing, roomTokens: number): Tail {
  const { sized, plan } = choosing
  const kept = withoutOldest(sized, withMandatory(sized, plan, roomTokens))
  return tailOf(choosing, kept, roomTokens)
}

/** These groups, with part of the next one, or, if there is none that could stay, with their results as whole as there is room for. */
function tailOf(choosing: Choosing, kept: ReadonlySet<number>, roomTokens: number): Tail {
  const { task, scene, sized, plan } = choosing
  const shown = new Set(messagesOf(scene, scene.conversation, kept).map(({ id }) => id))
  const own = plan.micro.filter((edit) => !("messageId" in edit) || shown.has(edit.messageId))
  const tokens = tokensOf(sized, kept)
  if (kept.size < sized.length - 1) {
    const tail = { kept, micro: own, tokens }
    return task.choices.entry.showsPart === true ? withPartOfNext(choosing, tail, roomTokens) : tail
  }
  const micro = relaxEdits(task, scene, own, roomTokens - tokens)
  return { kept, micro, tokens: tokens + savedBy(own) - savedBy(micro) }
}

/** The newest group that does not fit, with as much of its results as there is room for: a larger room shows more of it. */
function withPartOfNext({ task, scene, sized, plan }: Choosing, tail: Tail, roomTokens: number): Tail {
  const { kept, micro } = tail
  const next = sized.findLastIndex(({ tokens }, at) => !kept.has(at) && tokens > 0)
  const group = scene.groups[next]
  if (group?.type !== "tool-round" || kept.size + 1 >= sized.length) return tail
  const messages = scene.conversation.slice(group.start, group.end)
  const partly = showPart(task, scene, messages, editsIn(plan.micro, messages), roomTokens - tail.tokens)
  const shown = applyEdits(messages, partly)
  const tokens = tail.tokens + shown.reduce((sum, message) => sum + task.meter.message(message), 0)
  return tokens > roomTokens ? tail : { kept: new Set([...kept, next]), micro: [...micro, ...partly], tokens }
}

/** What shortenings take off. */
export const savedBy = (edits: readonly Edit[]): number =>
  edits.reduce((sum, edit) => sum + (isShortening(edit) ? edit.beforeTokens - edit.afterTokens : 0), 0)

/** If all of them are to stay: without the oldest that may go. */
function withoutOldest(sized: readonly SizedGroup[], kept: ReadonlySet<number>): ReadonlySet<number> {
  if (kept.size < sized.length) return kept
  const oldest = sized.findIndex(({ mandatory, tokens }) => !mandatory && tokens > 0)
  return new Set([...kept].filter((at) => at !== oldest))
}

function withMandatory(sized: readonly SizedGroup[], plan: DraftPlan, roomTokens: number): ReadonlySet<number> {
  const chosen = plan.select({ groups: sized, roomTokens: Math.max(0, roomTokens), options: plan.strategyOptions })
  const kept = new Set([...chosen].filter((at) => sized[at] !== undefined))
  for (const [at, { mandatory }] of sized.entries()) if (mandatory) kept.add(at)
  return kept
}

/** What the chosen groups take beside the mandatory ones. */
const tokensOf = (sized: readonly SizedGroup[], kept: ReadonlySet<number>): number =>
  sized.reduce((sum, { tokens, mandatory }, at) => sum + (kept.has(at) && !mandatory ? tokens : 0), 0)

/** Digests of ours take part in nothing: a new one takes them over. They count as nothing and are left out of what stays. */
function sizeGroups(
  { meter }: CompactTask,
  { groups, duties, digests, favored }: Scene,
  edited: Transcript,
): readonly SizedGroup[] {
  return groups.map((group, at) => {
    let tokens = 0
    for (let n = group.start; n < group.end; n++) {
      const message = edited[n]
      if (message !== undefined && digests[at] !== true) tokens += meter.message(message)
    }
    return { group, tokens, mandatory: duties[at] !== undefined || group.calls.some((call) => favored.has(call)) }
  })
}

/** The messages of the groups that stay, or of the digests of ours that are there. */
function messagesOf(
  { groups, digests }: Scene,
  edited: Transcript,
  which: ReadonlySet<number> | "digests",
): Transcript {
  return groups.flatMap(({ start, end }, at) => {
    const isMeant = which === "digests" ? digests[at] === true : which.has(at) && digests[at] !== true
    return isMeant ? edited.slice(start, end) : []
  })
}

/** Formats whose first message has to be the user's. */
const userFirst: ReadonlySet<Format> = new Set<Format>(["anthropic-messages", "gemini"])

/** Would the assistant speak first, were the digest to stand where the last message went? Then it stands before everything. */
function mustOpen({ format }: CompactTask, scene: Scene, first: Message | undefined): boolean {
  const { documents } = scene.separation.infrastructure
  const opened = scene.pins.length > 0 || documents.length > 0 || scene.conversation[0]?.role !== "user"
  return userFirst.has(format) && first?.role === "assistant" && scene.firstSeen === 0 && !opened
}

function editsOf(
  task: CompactTask,
  scene: Scene,
  { kept, micro, composed }: Chosen,
  { reason }: DraftPlan,
): readonly Edit[] {
  if (composed === undefined) return micro
  const stays = messagesOf(scene, scene.conversation, kept)
  const shown = new Set(stays.map(({ id }) => id))
  const gone = scene.conversation.filter(({ id }) => !shown.has(id))
  // Before every message that is later than the first it stands for: a context never opens with an answer to what only the digest tells.
  const first = Math.max(
    scene.firstSeen,
    scene.conversation.findIndex(({ id }) => !shown.has(id)),
  )
  const opens = mustOpen(task, scene, stays[0])
  const next = scene.conversation.slice(opens ? 0 : first).find(({ id }) => shown.has(id))
  const fresh = createFreshIds(scene.conversation.map(({ id }) => id))
  const digest: Message = {
    id: messageId(fresh("digest")),
    role: "user",
    parts: [{ type: "text", text: composed.text }],
  }
  return [
    ...micro,
    {
      type: "messages-dropped",
      messageIds: gone.map(({ id }) => id),
      reason,
      tokens: gone.reduce((sum, message) => sum + task.meter.message(message), 0),
    },
    { type: "message-installed", role: "digest", message: digest, ...present({ before: next?.id }) },
  ]
}
