import { latestSpoken } from "../message/fence.ts"
import { type Format, type Message, messageId, type Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { createPerObject } from "../message/recall.ts"
import { createFreshIds } from "../message/repair.ts"
import { runInSteps, type Steps } from "../message/steps.ts"
import type { Meter } from "../tokens/meter.ts"
import { type Composed, digestComposer } from "./compose-digest.ts"
import type { Knowledge } from "./knowledge.ts"
import { pinsMessage } from "./pins.ts"
import { defaultShares, digestReserve, mostDigestTokens } from "./plan/share.ts"
import {
  editsIn,
  fitUnread,
  mayRelax,
  relaxEdits,
  savedBy,
  showPart,
  smallResult,
  unreadTokens,
  usualPressure,
} from "./pressure.ts"
import type { Scene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import { mentionsIn } from "./stages/later-mentions.ts"
import type { SizedGroup, Strategy, StrategyOptions } from "./stages/strategies.ts"
import { ownMessage } from "./standing.ts"
import { standingInMessages } from "./standing-in.ts"
import { argumentNames } from "./state/fit-records.ts"
import type { Digest } from "./summary/summary.ts"

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
  /**
   * Shortenings of what the model has not read, where there is no room for it whole. Then nothing older is shown in part: room that is
   * left over goes to these.
   */
  readonly unread?: readonly Edit[]
  /** Is it enough that all groups fit once results are shortened? Otherwise there is a digest in any case. */
  readonly mayKeepAll: boolean
}

/** The role and ends of the digest's message. */
export const framingTokens = 4

/** The rules that have to be put beside the stack, in one message that stays the same from call to call. */
export function pinEdits(scene: Scene): readonly Edit[] {
  const { choices, meter, conversation } = scene
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
  const edits: Edit[] = []
  if (old.length > 0) edits.push(dropped(old, "pins-replaced", meter))
  if (wanted !== undefined)
    edits.push({ type: "message-installed", role: "pins", message: wanted, ...present({ before }) })
  return edits
}

const dropped = (messages: Transcript, reason: string, meter: Meter): Edit => ({
  type: "messages-dropped",
  messageIds: messages.map(({ id }) => id),
  reason,
  tokens: messages.reduce((sum, message) => sum + meter.message(message), 0),
})

const sameText = (one: Message, other: Message): boolean => {
  const [a, b] = [one.parts[0], other.parts[0]]
  return a?.type === "text" && b?.type === "text" && a.text === b.text
}

/** Choose what stays, and say the rest in a digest. Nothing if even the mandatory does not fit. */
export const draftDigest = (
  scene: Scene,
  knowledge: Knowledge,
  plan: DraftPlan,
): Promise<CompactionDraft | undefined> => runInSteps(draftSteps(scene, knowledge, plan), scene.pause)

function* draftSteps(scene: Scene, knowledge: Knowledge, plan: DraftPlan): Steps<CompactionDraft | undefined> {
  const { meter } = scene
  const unread = plan.unread ?? []
  const micro = [...plan.micro, ...unread]
  const pressed = applyEdits(scene.conversation, micro)
  const carried = messagesOf(scene, pressed, "digests")
  const sized = sizeGroups(scene, pressed)
  const pins = pinEdits(scene)
  const mandatory = sized.reduce((sum, { tokens, mandatory: stays }) => sum + (stays ? tokens : 0), 0)
  const beside = scene.documentTokens + mandatory + addedTokens(pins, meter) + framingTokens
  const free = plan.limitTokens - beside
  if (free <= 0) return undefined
  const taken = argumentNames(scene.request.tools, scene.conversation)
  const { rules = scene.choices.pins.map(({ text }) => text) } = scene.choices
  const mostTokens = Math.min(plan.mostTokens ?? Number.POSITIVE_INFINITY, mostDigestTokens(plan.limitTokens))
  const { compose: composer, essentialTokens } = digestComposer(knowledge, {
    meter,
    arguments: taken,
    isNamed: namedLately(scene.conversation),
    rules,
  })
  const reserve =
    plan.digestShare === undefined
      ? digestReserve(free, scene.outsideTokens - mandatory, essentialTokens)
      : free * plan.digestShare
  const later = scene.conversation.slice((latestSpoken(scene.conversation) ?? scene.conversation.length) + 1)
  function* compose({ kept: groups, micro }: Tail, budgetTokens: number): Steps<Composed | undefined> {
    const shown = messagesOf(scene, applyEdits(scene.conversation, micro), groups)
    const kept = new Set(shown.map(({ id }) => id))
    const cut = wordsCut(scene, micro)
    const stands = standingInMessages(shown)
    const gone = scene.conversation.filter(({ id }) => !kept.has(id))
    yield
    return composer({
      budgetTokens: Math.min(mostTokens, budgetTokens),
      covered: scene.conversation.length - shown.length - carried.length,
      shown: new Set([...kept].filter((id) => !cut.has(id))),
      behind: new Set(later.flatMap(({ id }) => (kept.has(id) ? [] : [id]))),
      stands,
      ...present({ recall: scene.choices.rangeHandleOf?.(gone.length > 0 ? gone : editedIn(scene, micro)) }),
    })
  }
  yield
  const chosen = yield* choose({
    ...{ scene, sized, free, plan: { ...plan, micro } },
    reserve: Math.min(mostTokens, reserve),
    mostTokens,
    mayKeepAll: scene.held || plan.mayKeepAll,
    carriedTokens: carried.reduce((sum, message) => sum + meter.message(message), 0),
    compose,
  })
  if (chosen === undefined) return undefined
  yield
  const left = free - chosen.tokens - (chosen.composed?.tokens ?? 0)
  const refitted =
    unread.length === 0 ? [] : fitUnread(scene, unreadTokens(scene) - savedBy(unread) + left, smallResult)
  const edits =
    unread.length === 0 ? chosen.micro : [...chosen.micro.filter((edit) => !unread.includes(edit)), ...refitted]
  return {
    edits: [...pins, ...editsOf(scene, { ...chosen, micro: edits }, plan)],
    ...present({ digest: chosen.composed?.digest }),
  }
}

/** The messages that are shown in part. */
function editedIn({ conversation }: Scene, micro: readonly Edit[]): Transcript {
  const ids = new Set<string>(micro.flatMap((edit) => ("messageId" in edit ? [edit.messageId] : [])))
  return conversation.filter(({ id }) => ids.has(id))
}

/** Older messages of the user that are shown in part: what they say is told as if they were not there. */
function wordsCut({ conversation }: Scene, micro: readonly Edit[]): ReadonlySet<string> {
  const isPart = (edit: Edit): boolean => edit.type === "part-replaced" && edit.reason === "over-budget"
  const cut = new Set<string>(micro.flatMap((edit) => (isPart(edit) && "messageId" in edit ? [edit.messageId] : [])))
  return new Set(conversation.flatMap(({ id, role }) => (role === "user" && cut.has(id) ? [id] : [])))
}

/** Was a value named in the latest words of the user, in the assistant's words that they answer, or since? */
function namedLately(conversation: Transcript): (value: string) => boolean {
  const before = (latestSpoken(conversation) ?? conversation.length) - 2
  const { word } = mentionsIn(conversation, Math.max(0, before + 1))
  return (value) => word(value, before)
}

/** What pins add: the new message less the one that it replaces, which counts among the mandatory. */
export const addedTokens = (pins: readonly Edit[], meter: Meter): number =>
  pins.reduce((sum, edit) => {
    if (edit.type === "messages-dropped") return sum - edit.tokens
    return edit.type === "message-installed" ? sum + meter.message(edit.message) : sum
  }, 0)

/** Groups that stay and the shortenings in them, with what they take beside the mandatory groups as these are pressed. */
type Tail = { readonly kept: ReadonlySet<number>; readonly micro: readonly Edit[]; readonly tokens: number }
type Chosen = Tail & { readonly composed?: Composed }

type Choosing = {
  readonly scene: Scene
  /** The groups with their results shortened. */
  readonly sized: readonly SizedGroup[]
  readonly free: number
  readonly plan: DraftPlan
  /** Held back for the digest, and the most that it takes. */
  readonly reserve: number
  readonly mostTokens: number
  readonly mayKeepAll: boolean
  /** What digests of ours take that are there already: they stay where no new one takes them over. */
  readonly carriedTokens: number
  readonly compose: (tail: Tail, budgetTokens: number) => Steps<Composed | undefined>
}

/**
 * First with the digest's share held back. What the digest does not need, because it says all that there is to say or is as long as it may
 * be, goes to messages. While it could say more, a line that happens to be short makes no room for a message, so that a larger budget never
 * shows fewer.
 */
function* choose(choosing: Choosing): Steps<Chosen | undefined> {
  const { sized, free, reserve, mostTokens, mayKeepAll, carriedTokens, compose } = choosing
  const all = withMandatory(sized, choosing.plan, free - carriedTokens)
  if (all.size === sized.length && mayKeepAll)
    return wholeResults(choosing, tailOf(choosing, all), free - carriedTokens)
  yield
  let tail = chooseTail(choosing, free - reserve, "groups")
  if (tail.kept.size === sized.length) return wholeResults(choosing, tailOf(choosing, tail.kept), free)
  yield
  let composed = yield* compose(tail, free - tail.tokens)
  for (let tries = 0; composed !== undefined && tries < maxTails; tries++) {
    yield
    // A digest without headings says the same: a room that is just large enough for them shows no fewer messages for it.
    const brief = composed.isWhole
      ? yield* compose(tail, Math.min(free - tail.tokens, defaultShares.briefTokens - 1))
      : undefined
    const told: number = composed.isWhole ? (brief?.isWhole === true ? brief : composed).tokens : mostTokens
    const more = chooseTail(choosing, free - told - 2, "all room")
    if (more.tokens <= tail.tokens) break
    const again: Composed | undefined = yield* compose(more, free - more.tokens)
    if (again === undefined || (composed.isWhole && !again.isWhole)) break
    tail = more
    composed = again
  }
  if (composed === undefined) return undefined
  // All messages are shown, and there is nothing to tell of what their results no longer show.
  const tellsNothing = tail.kept.size === sized.length && composed.digest.summary.sections.length === 0
  return tellsNothing && carriedTokens === 0 ? tail : { ...tail, composed }
}

/** So often the room that a digest leaves goes to messages, which leave less to tell. */
const maxTails = 8

/**
 * What stays verbatim in so much room: one stretch up to the newest message, each result as it is always shown. Where all room is to be
 * used, what is left of it goes to whole results or to a part of the next group; otherwise to the digest. The order in which things get
 * room is the same for every room: a larger one never shows less.
 */
function chooseTail(choosing: Choosing, roomTokens: number, uses: "groups" | "all room"): Tail {
  const { scene, sized, plan } = choosing
  const { kept, whole, atWall } = stretchIn(choosing, roomTokens)
  const tail = tailOf(choosing, kept, whole)
  const showsPart = scene.choices.entry.showsPart === true && !(plan.unread !== undefined && uses === "all room")
  if (kept.size >= sized.length - 1) {
    const all = wholeResults(choosing, tail, roomTokens)
    // A digest stands for something. Only where that leaves much of the room empty, a part of the last group stays as well.
    if (!showsPart || uses === "groups" || all.tokens >= roomTokens * wellUsed) return all
    return wholeResults(choosing, withPartOfNext(choosing, tail, roomTokens, uses), roomTokens)
  }
  if (atWall) return uses === "groups" ? tail : wholeResults(choosing, tail, roomTokens)
  return showsPart ? withPartOfNext(choosing, tail, roomTokens, uses) : tail
}

/** So much of a room is well used. */
const wellUsed = 0.7

/** Groups that stay, results of theirs that stay whole though they are long, and: do the other results come before any older group? */
type Stretch = { readonly kept: ReadonlySet<number>; readonly whole: readonly Edit[]; readonly atWall: boolean }

function stretchIn(choosing: Choosing, roomTokens: number): Stretch {
  const { sized, plan } = choosing
  const whole: Edit[] = []
  for (const wall of wallsIn(choosing)) {
    const room = roomTokens - savedBy(whole)
    const inside = new Set([...sized.keys()].filter((at) => at >= wall || sized[at]?.mandatory === true))
    const fits = withMandatory(sized, plan, room)
    if ([...inside].some((at) => !fits.has(at) && (sized[at]?.tokens ?? 0) > 0)) break
    const more = editsOn(choosing, inside).filter((edit) => mayRelax(edit) && !whole.includes(edit))
    if (savedBy(more) > room - tokensOf(sized, inside)) return { kept: inside, whole, atWall: true }
    whole.push(...more)
  }
  // A digest stands for something: where all groups would stay, the oldest goes.
  const kept = withoutOldest(sized, withMandatory(sized, plan, roomTokens - savedBy(whole)))
  return { kept, whole, atWall: false }
}

/**
 * Walls between groups: what is older gets no room before the results of all that is newer are whole. One stands before the latest request
 * of the user, and one behind each group that takes much by itself. By the oldest group on the newer side, newest first.
 */
function wallsIn({ scene, sized }: Choosing): readonly number[] {
  if (scene.choices.entry.showsPart !== true) return []
  const { largest } = usualPressure(scene, 0)
  const request = scene.groups.findLastIndex(({ type }) => type === "user")
  const isLarge = (group: SizedGroup | undefined): boolean => group?.mandatory === false && group.tokens > largest
  return [...sized.keys()].reverse().filter((at) => at > 0 && (at === request || isLarge(sized[at - 1])))
}

/** The shortenings of these groups' results. */
function editsOn({ scene, plan }: Choosing, kept: ReadonlySet<number>): readonly Edit[] {
  const groupOf = groupsById(scene)
  return plan.micro.filter((edit) => !("messageId" in edit) || kept.has(groupOf.get(edit.messageId) ?? -1))
}

/** The group of each message that is no digest of ours. */
const groupsById = createPerObject(
  ({ groups, digests, conversation }: Scene): ReadonlyMap<string, number> =>
    new Map(
      groups.flatMap(({ start, end }, at) =>
        digests[at] === true ? [] : conversation.slice(start, end).map(({ id }) => [id, at] as const),
      ),
    ),
)

/** These groups, with the shortenings that are not to be taken back. */
function tailOf(choosing: Choosing, kept: ReadonlySet<number>, whole: readonly Edit[] = []): Tail {
  const micro = editsOn(choosing, kept).filter((edit) => !whole.includes(edit))
  return { kept, micro, tokens: tokensOf(choosing.sized, kept) + savedBy(whole) }
}

/** The same groups, with their results as whole as there is room for. */
function wholeResults({ scene }: Choosing, { kept, micro, tokens }: Tail, roomTokens: number): Tail {
  const relaxed = relaxEdits(scene, micro, roomTokens - tokens)
  return { kept, micro: relaxed, tokens: tokens + savedBy(micro) - savedBy(relaxed) }
}

/** The newest group that does not fit, with as much of it as there is room for: a larger room shows more of it. */
function withPartOfNext(
  { scene, sized, plan }: Choosing,
  tail: Tail,
  roomTokens: number,
  uses: "groups" | "all room",
): Tail {
  const { kept, micro } = tail
  const next = sized.findLastIndex(({ tokens }, at) => !kept.has(at) && tokens > 0)
  const group = scene.groups[next]
  // Last words that stand at the end of a request are what the model goes on from: in part they would be others.
  const isAnswer = group?.type === "assistant" && next < sized.length - 1 && uses === "all room"
  // So would short ones of the user; long ones are mostly what the user pastes.
  const isPaste = group?.type === "user" && uses === "all room"
  const isOwn = group?.type === "tool-round" || isAnswer || isPaste
  if (group === undefined || !isOwn || (kept.size + 1 >= sized.length && uses === "groups")) return tail
  const messages = scene.conversation.slice(group.start, group.end)
  const room = roomTokens - tail.tokens
  const partly = showPart(scene, messages, editsIn(plan.micro, messages), room, uses === "all room")
  const shown = applyEdits(messages, partly)
  const tokens = tail.tokens + shown.reduce((sum, message) => sum + scene.meter.message(message), 0)
  return tokens > roomTokens ? tail : { kept: new Set([...kept, next]), micro: [...micro, ...partly], tokens }
}

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
function sizeGroups({ meter, groups, duties, digests, favored }: Scene, edited: Transcript): readonly SizedGroup[] {
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
function mustOpen(scene: Scene, first: Message | undefined): boolean {
  const { documents } = scene.separation.infrastructure
  const opened = scene.pins.length > 0 || documents.length > 0 || scene.conversation[0]?.role !== "user"
  return userFirst.has(scene.format) && first?.role === "assistant" && scene.firstSeen === 0 && !opened
}

/** Where the first group starts of which only a part is shown. */
function firstEdited({ conversation, groups }: Scene, micro: readonly Edit[]): number {
  const ids = new Set(micro.map((edit) => ("messageId" in edit ? edit.messageId : undefined)))
  const at = conversation.findIndex(({ id }) => ids.has(id))
  return groups.find(({ start, end }) => start <= at && at < end)?.start ?? at
}

function editsOf(scene: Scene, { kept, micro, composed }: Chosen, { reason }: DraftPlan): readonly Edit[] {
  if (composed === undefined) return micro
  const stays = messagesOf(scene, scene.conversation, kept)
  const shown = new Set(stays.map(({ id }) => id))
  const gone = scene.conversation.filter(({ id }) => !shown.has(id))
  // Before every message that is later than the first it stands for: a context never opens with an answer to what only the digest tells.
  const first = Math.max(
    scene.firstSeen,
    gone.length === 0 ? firstEdited(scene, micro) : scene.conversation.findIndex(({ id }) => !shown.has(id)),
  )
  const opens = mustOpen(scene, stays[0])
  const next = scene.conversation.slice(opens ? 0 : first).find(({ id }) => shown.has(id))
  const fresh = createFreshIds(scene.conversation.map(({ id }) => id))
  const digest: Message = {
    id: messageId(fresh("digest")),
    role: "user",
    parts: [{ type: "text", text: composed.text }],
  }
  return [
    ...micro,
    ...(gone.length === 0 ? [] : [dropped(gone, reason, scene.meter)]),
    { type: "message-installed", role: "digest", message: digest, ...present({ before: next?.id }) },
  ]
}
