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

/** A possible compaction: its edits, and the digest whose lines the acceptance test will look for. */
export type CompactionDraft = {
  readonly edits: readonly Edit[]
  readonly digest?: Digest
  /** Who wrote the digest's summary, if it was not extracted. */
  readonly writer?: "model" | "custom"
}

/** All settings of one draft. */
type DraftPlan = {
  readonly limitTokens: number
  readonly select: Strategy
  readonly strategyOptions: StrategyOptions
  /** Share of the free tokens that is reserved for the digest; by default `digestReserve` decides. */
  readonly digestShare?: number
  /** Maximum size of the digest. */
  readonly mostTokens?: number
  readonly reason: string
  readonly micro: readonly Edit[]
  /**
   * Shortenings of unread results that do not fit whole. If there are any, no older group is shown in part: unused tokens go to these
   * results.
   */
  readonly unread?: readonly Edit[]
  /** True if no digest is needed once all groups fit with shortened results. Otherwise there is always a digest. */
  readonly mayKeepAll: boolean
}

/** Tokens for the role and delimiters of the digest's message. */
export const framingTokens = 4

/** Returns the edits that place the missing rules next to the stack, in one message that stays the same from call to call. */
export function pinEdits(scene: Scene): readonly Edit[] {
  const { choices, meter, conversation } = scene
  const fresh = createFreshIds(conversation.map(({ id }) => id))
  const old = conversation.filter((message) => ownMessage(message) === "pins")
  const newMessage =
    scene.pins.length === 0 || choices.pins.length === 0 ? undefined : pinsMessage(scene.pins, fresh("pins"))
  if (old.length === 0 && newMessage === undefined) return []
  const [only] = old
  const isSeen = only !== undefined && conversation.indexOf(only) >= scene.firstSeen
  if (newMessage === undefined && choices.ownPins !== true) return []
  if (newMessage !== undefined && old.length === 1 && isSeen && sameText(only, newMessage)) return []
  const before = conversation[scene.firstSeen]?.id
  const edits: Edit[] = []
  if (old.length > 0) edits.push(dropped(old, "pins-replaced", meter))
  if (newMessage !== undefined)
    edits.push({ type: "message-installed", role: "pins", message: newMessage, ...present({ before }) })
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

/** Chooses what stays and puts the rest into a digest. Undefined if even the mandatory groups do not fit. */
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

/** Returns the messages that are shown in part. */
function editedIn({ conversation }: Scene, micro: readonly Edit[]): Transcript {
  const ids = new Set<string>(micro.flatMap((edit) => ("messageId" in edit ? [edit.messageId] : [])))
  return conversation.filter(({ id }) => ids.has(id))
}

/** Returns the ids of older user messages that are shown in part: the digest repeats what they say as if they were dropped. */
function wordsCut({ conversation }: Scene, micro: readonly Edit[]): ReadonlySet<string> {
  const isPart = (edit: Edit): boolean => edit.type === "part-replaced" && edit.reason === "over-budget"
  const cut = new Set<string>(micro.flatMap((edit) => (isPart(edit) && "messageId" in edit ? [edit.messageId] : [])))
  return new Set(conversation.flatMap(({ id, role }) => (role === "user" && cut.has(id) ? [id] : [])))
}

/** Returns a test: was a value named in the user's latest message, in the assistant's message just before it, or since? */
function namedLately(conversation: Transcript): (value: string) => boolean {
  const before = (latestSpoken(conversation) ?? conversation.length) - 2
  const { word } = mentionsIn(conversation, Math.max(0, before + 1))
  return (value) => word(value, before)
}

/** Tokens that the pins edits add: the new message less the one that it replaces, which counts as mandatory. */
export const addedTokens = (pins: readonly Edit[], meter: Meter): number =>
  pins.reduce((sum, edit) => {
    if (edit.type === "messages-dropped") return sum - edit.tokens
    return edit.type === "message-installed" ? sum + meter.message(edit.message) : sum
  }, 0)

/** The groups that stay, the shortenings in them, and their tokens beyond those of the mandatory groups in their shortened form. */
type Tail = { readonly kept: ReadonlySet<number>; readonly micro: readonly Edit[]; readonly tokens: number }
type Selection = Tail & { readonly composed?: Composed }

type SelectionInput = {
  readonly scene: Scene
  /** The groups with their results shortened. */
  readonly sized: readonly SizedGroup[]
  readonly free: number
  readonly plan: DraftPlan
  /** Tokens reserved for the digest, and its maximum size. */
  readonly reserve: number
  readonly mostTokens: number
  readonly mayKeepAll: boolean
  /** Tokens of our earlier digests: they stay if no new one replaces them. */
  readonly carriedTokens: number
  readonly compose: (tail: Tail, budgetTokens: number) => Steps<Composed | undefined>
}

/**
 * Chooses the groups, first with the digest's share reserved. Tokens that the digest does not need, because it says everything or is at its
 * maximum size, go to messages. As long as the digest could say more, tokens left over by a short line do not go to messages, so that a
 * larger budget never shows fewer messages.
 */
function* choose(input: SelectionInput): Steps<Selection | undefined> {
  const { sized, free, reserve, mostTokens, mayKeepAll, carriedTokens, compose } = input
  const all = withMandatory(sized, input.plan, free - carriedTokens)
  if (all.size === sized.length && mayKeepAll) return wholeResults(input, tailOf(input, all), free - carriedTokens)
  yield
  let tail = chooseTail(input, free - reserve, "groups")
  if (tail.kept.size === sized.length) return wholeResults(input, tailOf(input, tail.kept), free)
  yield
  let composed = yield* compose(tail, free - tail.tokens)
  for (let tries = 0; composed !== undefined && tries < maxTails; tries++) {
    yield
    // A digest without headings says the same, so a budget that is just large enough for headings shows no fewer messages.
    const brief = composed.isWhole
      ? yield* compose(tail, Math.min(free - tail.tokens, defaultShares.briefTokens - 1))
      : undefined
    const digestTokens: number = composed.isWhole ? (brief?.isWhole === true ? brief : composed).tokens : mostTokens
    const more = chooseTail(input, free - digestTokens - 2, "all room")
    if (more.tokens <= tail.tokens) break
    const again: Composed | undefined = yield* compose(more, free - more.tokens)
    if (again === undefined || (composed.isWhole && !again.isWhole)) break
    tail = more
    composed = again
  }
  if (composed === undefined) return undefined
  // All messages are shown, and their shortened results lost nothing that a digest would have to say.
  const tellsNothing = tail.kept.size === sized.length && composed.digest.summary.sections.length === 0
  return tellsNothing && carriedTokens === 0 ? tail : { ...tail, composed }
}

/** Maximum number of times that tokens left over by a digest go to messages, after which there is less to say. */
const maxTails = 8

/**
 * Chooses the contiguous groups up to the newest message that stay within a number of tokens, each result in its usual form. With "all
 * room", the remaining tokens go to whole results or to part of the next group; otherwise to the digest. The order in which items get their
 * tokens is the same for every size, so a larger size never shows less.
 */
function chooseTail(input: SelectionInput, roomTokens: number, uses: "groups" | "all room"): Tail {
  const { scene, sized, plan } = input
  const { kept, whole, atWall } = keptRangeIn(input, roomTokens)
  const tail = tailOf(input, kept, whole)
  const showsPart = scene.choices.entry.showsPart === true && !(plan.unread !== undefined && uses === "all room")
  if (kept.size >= sized.length - 1) {
    const all = wholeResults(input, tail, roomTokens)
    // A digest must replace something. Only if that would leave much of the space empty, part of the last group stays as well.
    if (!showsPart || uses === "groups" || all.tokens >= roomTokens * wellUsed) return all
    return wholeResults(input, withPartOfNext(input, tail, roomTokens, uses), roomTokens)
  }
  if (atWall) return uses === "groups" ? tail : wholeResults(input, tail, roomTokens)
  return showsPart ? withPartOfNext(input, tail, roomTokens, uses) : tail
}

/** Share of the available tokens above which no part of a further group is added. */
const wellUsed = 0.7

/**
 * The groups that stay; the edits that are undone so that long results stay whole; and whether the other results of these groups take
 * precedence over older groups.
 */
type KeptRange = { readonly kept: ReadonlySet<number>; readonly whole: readonly Edit[]; readonly atWall: boolean }

function keptRangeIn(input: SelectionInput, roomTokens: number): KeptRange {
  const { sized, plan } = input
  const whole: Edit[] = []
  for (const boundary of boundariesIn(input)) {
    const room = roomTokens - savedBy(whole)
    const inside = new Set([...sized.keys()].filter((at) => at >= boundary || sized[at]?.mandatory === true))
    const fits = withMandatory(sized, plan, room)
    if ([...inside].some((at) => !fits.has(at) && (sized[at]?.tokens ?? 0) > 0)) break
    const more = editsOn(input, inside).filter((edit) => mayRelax(edit) && !whole.includes(edit))
    if (savedBy(more) > room - tokensOf(sized, inside)) return { kept: inside, whole, atWall: true }
    whole.push(...more)
  }
  // A digest must replace something: if all groups would stay, the oldest is dropped.
  const kept = withoutOldest(sized, withMandatory(sized, plan, roomTokens - savedBy(whole)))
  return { kept, whole, atWall: false }
}

/**
 * Returns boundaries between groups: older groups get no tokens before all newer results are whole. There is a boundary before the latest
 * user message and one after each large group. Each is given as the index of the first group after it, newest first.
 */
function boundariesIn({ scene, sized }: SelectionInput): readonly number[] {
  if (scene.choices.entry.showsPart !== true) return []
  const { largest } = usualPressure(scene, 0)
  const request = scene.groups.findLastIndex(({ type }) => type === "user")
  const isLarge = (group: SizedGroup | undefined): boolean => group?.mandatory === false && group.tokens > largest
  return [...sized.keys()].reverse().filter((at) => at > 0 && (at === request || isLarge(sized[at - 1])))
}

/** Returns the shortenings in the results of these groups. */
function editsOn({ scene, plan }: SelectionInput, kept: ReadonlySet<number>): readonly Edit[] {
  const groupOf = groupsById(scene)
  return plan.micro.filter((edit) => !("messageId" in edit) || kept.has(groupOf.get(edit.messageId) ?? -1))
}

/** Maps the id of each message to its group, except for our digests. */
const groupsById = createPerObject(
  ({ groups, digests, conversation }: Scene): ReadonlyMap<string, number> =>
    new Map(
      groups.flatMap(({ start, end }, at) =>
        digests[at] === true ? [] : conversation.slice(start, end).map(({ id }) => [id, at] as const),
      ),
    ),
)

/** Returns these groups with their shortenings, without those that are to be undone. */
function tailOf(input: SelectionInput, kept: ReadonlySet<number>, whole: readonly Edit[] = []): Tail {
  const micro = editsOn(input, kept).filter((edit) => !whole.includes(edit))
  return { kept, micro, tokens: tokensOf(input.sized, kept) + savedBy(whole) }
}

/** Returns the same groups, with as many results restored as the space allows. */
function wholeResults({ scene }: SelectionInput, { kept, micro, tokens }: Tail, roomTokens: number): Tail {
  const relaxed = relaxEdits(scene, micro, roomTokens - tokens)
  return { kept, micro: relaxed, tokens: tokens + savedBy(micro) - savedBy(relaxed) }
}

/** Adds as much of the newest group that does not fit as there is space for; a larger space shows more of it. */
function withPartOfNext(
  { scene, sized, plan }: SelectionInput,
  tail: Tail,
  roomTokens: number,
  uses: "groups" | "all room",
): Tail {
  const { kept, micro } = tail
  const next = sized.findLastIndex(({ tokens }, at) => !kept.has(at) && tokens > 0)
  const group = scene.groups[next]
  // The model continues an assistant message at the end of the request: shown in part, it would be a different one.
  const isAnswer = group?.type === "assistant" && next < sized.length - 1 && uses === "all room"
  // The same holds for short user messages; long ones are mostly pasted text.
  const isPaste = group?.type === "user" && uses === "all room"
  const isOwn = group?.type === "tool-round" || isAnswer || isPaste
  if (group === undefined || !isOwn || (kept.size + 1 >= sized.length && uses === "groups")) return tail
  const messages = scene.conversation.slice(group.start, group.end)
  const room = roomTokens - tail.tokens
  const partEdits = showPart(scene, messages, editsIn(plan.micro, messages), room, uses === "all room")
  const shown = applyEdits(messages, partEdits)
  const tokens = tail.tokens + shown.reduce((sum, message) => sum + scene.meter.message(message), 0)
  return tokens > roomTokens ? tail : { kept: new Set([...kept, next]), micro: [...micro, ...partEdits], tokens }
}

/** If all groups would stay, removes the oldest one that may be dropped. */
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

/** Tokens of the chosen groups without the mandatory ones. */
const tokensOf = (sized: readonly SizedGroup[], kept: ReadonlySet<number>): number =>
  sized.reduce((sum, { tokens, mandatory }, at) => sum + (kept.has(at) && !mandatory ? tokens : 0), 0)

/** Measures each group. Our digests count as 0 tokens and are left out of what stays, because a new digest replaces them. */
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

/** Returns the messages of the groups that stay, or of our digests. */
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

/** Formats whose first message has to be from the user. */
const userFirst: ReadonlySet<Format> = new Set<Format>(["anthropic-messages", "gemini"])

/** True if the digest has to be placed first, because otherwise the conversation would start with an assistant message. */
function mustOpen(scene: Scene, first: Message | undefined): boolean {
  const { documents } = scene.separation.infrastructure
  const opened = scene.pins.length > 0 || documents.length > 0 || scene.conversation[0]?.role !== "user"
  return userFirst.has(scene.format) && first?.role === "assistant" && scene.firstSeen === 0 && !opened
}

/** Returns where the first group starts that is shown only in part. */
function firstEdited({ conversation, groups }: Scene, micro: readonly Edit[]): number {
  const ids = new Set(micro.map((edit) => ("messageId" in edit ? edit.messageId : undefined)))
  const at = conversation.findIndex(({ id }) => ids.has(id))
  return groups.find(({ start, end }) => start <= at && at < end)?.start ?? at
}

function editsOf(scene: Scene, { kept, micro, composed }: Selection, { reason }: DraftPlan): readonly Edit[] {
  if (composed === undefined) return micro
  const stays = messagesOf(scene, scene.conversation, kept)
  const shown = new Set(stays.map(({ id }) => id))
  const gone = scene.conversation.filter(({ id }) => !shown.has(id))
  // The digest comes before every message that is newer than the first one it replaces: a context never opens with an answer to something
  // that only the digest mentions.
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
