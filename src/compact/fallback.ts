import { HoldfastError } from "../message/errors.ts"
import { isSpokenPart, latestSpoken } from "../message/fence.ts"
import type { Part } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runInSteps } from "../message/steps.ts"
import {
  type Attempt,
  type CompactEvent,
  type Compacted,
  incomingContext,
  install,
  outgoingContext,
  writeEdits,
} from "./attempt.ts"
import { addedTokens, draftDigest, framingTokens, pinEdits } from "./draft.ts"
import { type Knowledge, readingSteps, withoutContent } from "./knowledge.ts"
import { leastDigestTokens, leastRecordTokens } from "./plan/share.ts"
import {
  fitMandatory,
  fitUnread,
  fullPressure,
  leastPaste,
  microEditSteps,
  microEdits,
  smallResult,
  unreadTokens,
} from "./pressure.ts"
import type { Scene } from "./scene.ts"
import { applyEdits, type Edit } from "./stages/edit.ts"
import { leftOut } from "./stages/marker.ts"
import type { Strategy } from "./stages/strategies.ts"
import { pinsReason } from "./standing.ts"
import { tokensBeside } from "./verify.ts"

/** Tokens of a minimal digest: what it replaces, and the user's goal. */
export const barestDigestTokens = 60

/**
 * Remedy "fallback": digest and last messages, with every result that the model has read shortened to one line. No summarizer is called.
 * What still does not fit is shortened or dropped in this order: unread results, a last tool round whose calls alone are too large, the
 * middle of a long user message, and finally what the model has not answered yet.
 */
export async function installFallback(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  const { conversation, unanswered } = attempt
  const { hardTokens } = attempt.limits
  const barest = fitUnread(attempt, 0)
  const answered = withoutLastRound(attempt)
  // A larger budget would show these messages again: until then the digest gets only the tokens that it had next to them.
  const least = leastDigestTokens(hardTokens)
  const isAct = conversation.slice(unanswered).some(({ parts }) => parts.some(isCall))
  const leastAfter = isAct ? least : undefined
  const withCalls = async (): Promise<Compacted | undefined> =>
    (await installLast(attempt, knowledge, () => ({ unread: barest }), least)) ??
    (await installLast(
      attempt,
      knowledge,
      async () => ({ unread: barest, words: await fitWords(attempt, barest) }),
      least,
    )) ??
    (await installLast(answered, knowledge, () => ({}), leastAfter))
  const withoutCalls = (): Promise<Compacted | undefined> =>
    installLast(answered, knowledge, async () => ({ words: await fitWords(answered, []) }), leastAfter)
  const fitting = (): ExtraEdits => ({ unread: unreadFitting(attempt, hardTokens, barestDigestTokens) })
  const whole =
    (await installLast(attempt, knowledge, () => ({}), least)) ??
    (await installLast(attempt, knowledge, fitting, least))
  if (whole !== undefined) return whole
  // Calls without their results are only worth keeping while they are small: a digest says in one line what they were.
  const calls = mandatoryTokens(attempt, applyEdits(conversation, barest)) - mandatoryTokens(answered)
  return calls > hardTokens * mostOfCalls
    ? ((await withoutCalls()) ?? withCalls())
    : ((await withCalls()) ?? withoutCalls())
}

/** Extra edits for content that does not fit whole: unread results, and the user's latest message. */
type ExtraEdits = { readonly unread?: readonly Edit[]; readonly words?: readonly Edit[] }

const isCall = ({ type }: Part): boolean => type === "tool-call"

/** Maximum share of a context for calls whose results do not fit. */
const mostOfCalls = 0.25

/**
 * If everything that has to stay fits but almost nothing else does, shortens the middle of the user's long message to make space for a
 * short digest. Without this, a budget slightly too small for the message would keep more of the work than one that is just large enough.
 */
export async function installRecord(attempt: Attempt, knowledge: Knowledge): Promise<Compacted | undefined> {
  const { hardTokens } = attempt.limits
  const unread = fitUnread(attempt, 0, smallResult)
  const free = freeTokens(attempt, hardTokens, unread)
  const mostTokens = recordTokens(attempt)
  const words = free + framingTokens < 0 || free >= mostTokens ? [] : await fitWords(attempt, unread)
  return words.length === 0 ? undefined : installLast(attempt, knowledge, () => ({ unread, words }), mostTokens)
}

/** Strategy: keeps the newest group if it fits next to what is mandatory. */
const lastGroup: Strategy = ({ groups, roomTokens }) => {
  const withoutCalls = groups.length - 1
  const sized = groups[withoutCalls]
  return new Set(sized !== undefined && sized.tokens <= roomTokens ? [withoutCalls] : [])
}

/** Maximum number of times that a draft that came out too large is made again with a smaller limit. */
const maxRedrafts = 3
/** Minimum share of the hard limit by which a new draft is smaller. */
const redraftShare = 0.06

/**
 * Installs a fallback draft. A request may be larger when encoded than estimated, if the format needs a separate message for each result:
 * then the draft is made again with a smaller limit.
 */
async function installLast(
  attempt: Attempt,
  knowledge: Knowledge,
  moreOf: () => ExtraEdits | Promise<ExtraEdits>,
  mostTokens?: number,
): Promise<Compacted | undefined> {
  const { choices, events } = attempt
  await attempt.pause?.()
  const { unread = [], words = [] } = await moreOf()
  await attempt.pause?.()
  const { hardTokens } = attempt.limits
  const known = choices.digest === "none" ? withoutContent(knowledge) : knowledge
  for (let limitTokens = hardTokens, drafts = 0; drafts <= maxRedrafts; drafts++) {
    const micro = await runInSteps(microEditSteps(attempt, fullPressure, limitTokens), attempt.pause)
    const draft = await draftDigest(attempt, known, {
      limitTokens,
      select: lastGroup,
      strategyOptions: choices.strategyOptions,
      digestShare: 0.5,
      reason: "fallback",
      ...present({ mostTokens }),
      micro: [...micro, ...words],
      unread,
      mayKeepAll: false,
    })
    await attempt.pause?.()
    const installed = draft === undefined ? undefined : await install(attempt, "fallback", draft, hardTokens)
    const tooMany = draft === undefined || installed !== undefined ? 0 : overshootIn(events.at(-1))
    if (tooMany === 0) return installed
    // Lines are kept or dropped whole, so removing the excess may take a larger step.
    limitTokens -= Math.max(tooMany, Math.floor(hardTokens * redraftShare))
  }
  return undefined
}

/** Returns by how many tokens a rejected draft was over the budget, if that was its only failure. */
function overshootIn(event: CompactEvent | undefined): number {
  const failures = event?.type === "remedy-rejected" ? event.failures : []
  const [failure] = failures
  return failures.length === 1 && failure?.code === "over-budget" ? failure.tokens - failure.limitTokens : 0
}

/** Returns the attempt as if the model had answered everything, so that its last tool round may be dropped as well. */
const withoutLastRound = (scene: Attempt): Attempt => ({
  ...scene,
  unread: new Set(),
  duties: scene.duties.map((duty) => (duty === "what the model has not answered yet" ? undefined : duty)),
})

/** Tokens left for anything that does not have to stay, once these edits are applied. */
export const freeTokens = (scene: Scene, limitTokens: number, edits: readonly Edit[]): number =>
  limitTokens -
  mandatoryTokens(scene, applyEdits(scene.conversation, edits)) -
  addedTokens(pinEdits(scene), scene.meter) -
  framingTokens

/** Returns the edits that shorten unread results to fit with everything that has to stay and a digest of this size. */
export function unreadFitting(
  scene: Scene,
  limitTokens: number,
  digestTokens: number,
  leastTokens = 0,
): readonly Edit[] {
  const read = fitMandatory(scene, [], Number.MAX_SAFE_INTEGER)
  const room = freeTokens(scene, limitTokens, read) + unreadTokens(scene) - digestTokens
  return fitUnread(scene, room, leastTokens)
}

/**
 * Returns the error for a request that cannot fit: what takes up most space once every result is one line, and the smallest budget that
 * would be enough.
 */
export async function impossible(attempt: Attempt): Promise<HoldfastError> {
  const { meter, limits } = attempt
  const barest = applyEdits(attempt.conversation, microEdits(attempt, fullPressure, limits.hardTokens))
  const pieces = new Map<string, number>([["the documents among the user's messages", attempt.documentTokens]])
  const add = (piece: string, tokens: number): void => {
    pieces.set(piece, (pieces.get(piece) ?? 0) + tokens)
  }
  for (const [at, { start, end }] of attempt.groups.entries()) {
    const duty = attempt.duties[at]
    if (duty !== undefined) for (const message of barest.slice(start, end)) add(duty, meter.message(message))
  }
  add(pinsReason, addedTokens(pinEdits(attempt), meter))
  const [largest = ["the conversation", 0]] = [...pieces].sort(([, one], [, other]) => other - one)
  return new HoldfastError({
    code: "budget-impossible",
    budgetTokens: limits.hardTokens,
    neededTokens: await smallestBudget(attempt),
    largest: `${largest[0]} (${largest[1]} tokens)`,
  })
}

/** Precision of the search for the smallest budget, as a share of it. */
const budgetPrecision = 0.04
/** The first step of the search. */
const firstStepTokens = 32

/** Finds the smallest budget at which the fallback passes the acceptance test, within a few percent, by trying budgets. */
async function smallestBudget(attempt: Attempt): Promise<number> {
  const { hardTokens } = attempt.limits
  const most = Math.min(wholeTokens(attempt), untouchedTokens(attempt))
  const knowledge = await runInSteps(readingSteps(attempt.conversation, attempt.choices), attempt.pause)
  const passes = (budgetTokens: number): Promise<boolean> => passesAt(attempt, knowledge, budgetTokens)
  if (most <= hardTokens + 1) return hardTokens + 1
  let low = hardTokens
  let high = Math.min(most, low + firstStepTokens)
  for (let step = firstStepTokens; high < most && !(await passes(high)); step *= 2) {
    low = high
    high = Math.min(most, high + step * 2)
  }
  while (high - low > Math.max(1, budgetPrecision * high)) {
    const middle = Math.floor((low + high) / 2)
    if (await passes(middle)) high = middle
    else low = middle
  }
  return high
}

/** Tokens of everything, including the rules that have to be added, as encoded. */
function wholeTokens(scene: Scene): number {
  const sent = outgoingContext(scene, writeEdits(scene, pinEdits(scene)))
  return tokensBeside(incomingContext(scene), sent, scene.meter)
}

/**
 * Tokens of the request as it came in, which is enough if no rule has to be added: pending calls then have no placeholder results. Infinity
 * if the request cannot stay unchanged.
 */
function untouchedTokens(scene: Scene): number {
  const ids = new Set(scene.messages.map(({ id }) => id))
  const { messages } = scene.request
  const isWhole = messages.length > 0 && messages.every(({ id }) => ids.has(id))
  if (!isWhole || scene.pins.length > 0) return Number.POSITIVE_INFINITY
  const before = incomingContext(scene)
  return tokensBeside(before, { ...before, messages }, scene.meter)
}

/** True if the fallback passes the acceptance test with this budget. */
async function passesAt(attempt: Attempt, knowledge: Knowledge, budgetTokens: number): Promise<boolean> {
  const limits = { targetTokens: budgetTokens, hardTokens: budgetTokens }
  return (await installFallback({ ...attempt, limits, events: [] }, knowledge)) !== undefined
}

/**
 * Shortens the user's latest message if it takes all the space or leaves none for a digest: its longest text keeps beginning and end, where
 * people say what they want, and a marker tells how much is left out. No edits if that would not help.
 */
async function fitWords(scene: Scene, others: readonly Edit[]): Promise<readonly Edit[]> {
  const { meter, limits } = scene
  const conversation = applyEdits(scene.conversation, others)
  const latest = latestSpoken(conversation)
  const message = latest === undefined ? undefined : conversation[latest]
  if (message === undefined) return []
  const texts = message.parts.flatMap((part, at) =>
    part.type === "text" && isSpokenPart(message, part) ? [{ at, part, tokens: meter.part(part) }] : [],
  )
  const [longest] = texts.sort((one, other) => other.tokens - one.tokens)
  if (longest === undefined || longest.tokens <= leastPaste) return []
  const rules = Math.max(0, addedTokens(pinEdits(scene), meter)) + framingTokens
  const beside = mandatoryTokens(scene, conversation) - longest.tokens + rules + recordTokens(scene)
  const room = limits.hardTokens - beside
  if (room >= longest.tokens) return []
  const text = await cutMiddle(longest.part.text, Math.max(leastPaste / 2, room), scene)
  if (text === undefined) return []
  const { at: part, tokens: beforeTokens } = longest
  const { breakpoint, channel } = longest.part
  const by: Part = { type: "text", text, ...present({ breakpoint, channel }) }
  const sizes = { beforeTokens, afterTokens: meter.part(by) }
  return [{ type: "part-replaced", messageId: message.id, part, reason: "no-room", ...sizes, by: [by] }]
}

/** Tokens reserved for a digest of the work: no more than everything except the latest message takes. */
function recordTokens({ meter, limits, conversation, outsideTokens }: Scene): number {
  const latest = conversation[latestSpoken(conversation) ?? conversation.length]
  const others = Math.max(0, outsideTokens - (latest === undefined ? 0 : meter.message(latest)))
  return Math.min(leastRecordTokens(limits.hardTokens), others)
}

/** Tokens of the groups that have to stay, in the conversation as it is or as edited. */
const mandatoryTokens = (scene: Scene, conversation = scene.conversation): number =>
  scene.groups
    .filter((_, at) => scene.duties[at] !== undefined)
    .flatMap(({ start, end }) => conversation.slice(start, end))
    .reduce((sum, message) => sum + scene.meter.message(message), scene.documentTokens)

/** Maximum number of cuts that are tried: each is shorter by the share that the last one was too large. */
const maxTries = 6

/**
 * Returns the beginning and end of a text, cut at line ends where possible, with a marker that tells the number of characters between them.
 */
async function cutMiddle(
  text: string,
  budgetTokens: number,
  { meter, pause }: Pick<Scene, "meter" | "pause">,
): Promise<string | undefined> {
  // Both ends are long, so they are counted one after the other. Joined they take no more tokens than apart, except for about one at each
  // joint.
  const count = async (pieces: readonly string[]): Promise<number> => {
    let tokens = 0
    for (const piece of pieces) {
      tokens += meter.text(piece)
      await pause?.()
    }
    return tokens
  }
  let length = text.length * Math.min(1, budgetTokens / Math.max(1, await count([text])))
  for (let tries = 0; tries < maxTries && length >= 2; tries++) {
    const half = Math.floor(length / 2)
    const head = text.slice(0, half).toWellFormed()
    const tail = text.slice(text.length - half).toWellFormed()
    const [first, withoutCalls] = [atLineEnd(head), fromLineStart(tail)]
    const gone = text.length - first.length - withoutCalls.length
    const marker = `\n${leftOut(gone, "character", "this message is larger than what fits")}\n`
    const tokens = await count([first, marker, withoutCalls])
    if (tokens <= budgetTokens) return `${first}${marker}${withoutCalls}`
    length *= Math.min(0.9, budgetTokens / tokens)
  }
  return undefined
}

/** Maximum share of a piece that may be dropped to cut at a line end. */
const mostLost = 0.06

function atLineEnd(head: string): string {
  const at = head.lastIndexOf("\n")
  return at >= head.length * (1 - mostLost) ? head.slice(0, at) : head
}

function fromLineStart(tail: string): string {
  const at = tail.indexOf("\n")
  return at >= 0 && at <= tail.length * mostLost ? tail.slice(at + 1) : tail
}
