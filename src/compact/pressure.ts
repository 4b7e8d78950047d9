import { isSpokenPart } from "../message/fence.ts"
import type { MessageId, ToolResultPart, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { defaultShares } from "./plan/share.ts"
import type { Scene } from "./scene.ts"
import { applyEdits, type Edit, isShortening, type Shortening } from "./stages/edit.ts"
import { fitTexts, type TextBudget, tokensBesideTexts } from "./stages/fit-texts.ts"
import { shareOut } from "./stages/marker.ts"
import { fitResults, type MicroOptions, microSteps, type ResultBudget } from "./stages/microcompact.ts"

/**
 * How far tool results are shortened: to the budgets of their tools times `scale`; in the newest `keepRounds` rounds only results of more
 * than `largest` tokens.
 */
type Pressure = { readonly scale: number; readonly keepRounds: number; readonly largest: number }

/** The last resort: every result that the model has read is shortened to one line that says what it was. */
export const fullPressure: Pressure = { scale: 0, keepRounds: 0, largest: 0 }

/** True if the excess is so small that shortening results may be enough. */
export const isEasy = ({ outsideTokens }: Scene, limitTokens: number): boolean =>
  limitTokens >= outsideTokens * defaultShares.easyShare

/** Tokens that a result of the newest rounds may have: about 150 lines, or this share of a long conversation if that is more. */
const newestTokens = 1500
const newestShare = 0.06

/**
 * How results are usually shown: the newest rounds in full except for very long results, older ones within the budgets of their tools.
 * Independent of the request's budget, so that a larger budget shows no less of any result.
 */
export const usualPressure = ({ outsideTokens }: Scene, keepRounds: number): Pressure => ({
  scale: 1,
  keepRounds,
  largest: Math.max(newestTokens, Math.floor(outsideTokens * newestShare)),
})

/** True if shortening results alone could reach the limit. Apart from images, it shortens nothing else. */
export function microMayDo({ barestTokens, documentTokens }: Scene, limitTokens: number): boolean {
  return barestTokens.reduce((sum, tokens) => sum + tokens, documentTokens) <= limitTokens
}

/** Returns the newest groups that fit the limit if all their results are at their minimum: no other is worth shortening. */
function keepable({ groups, barestTokens }: Scene, limitTokens: number): Scene["groups"] {
  let first = groups.length
  for (let left = limitTokens; first > 0; first--) {
    left -= barestTokens[first - 1] ?? 0
    if (left < 0) break
  }
  return groups.slice(first)
}

/**
 * Returns a test whether a message can be kept if the newest groups are kept as far as they fit: the tokens of everything newer, less those
 * saved by shortening it, have to be within the limit. Results that must stay, and everything newer than them, always pass.
 */
function reachOf(scene: Scene, limitTokens: number): MicroOptions["isReached"] {
  const { meter, groups, conversation, digests, duties, favored } = scene
  const newerTokens = new Float64Array(conversation.length)
  let tokens = 0
  let stays = conversation.length
  for (const [at, { start, end, calls }] of [...groups.entries()].reverse()) {
    newerTokens.fill(tokens, start, end)
    const groupMessages = conversation.slice(start, end)
    if (digests[at] !== true) tokens += sumOf(groupMessages.map(meter.message))
    const isMandatory = duties[at] !== undefined || calls.some((call) => favored.has(call))
    if (isMandatory && resultsIn(groupMessages).length > 0) stays = start
  }
  return (at, savedTokens) => at >= stays || (newerTokens[at] ?? 0) - savedTokens <= limitTokens
}

/**
 * Returns the edits that shorten results as the strategy says: none, the same for all groups that may stay, or the older half of them to
 * the minimum. Unread results stay whole.
 */
export const microEdits = (...given: Parameters<typeof microEditSteps>): readonly Edit[] =>
  runSteps(microEditSteps(...given))

/** The same, one result per step. With `newest`, results that newer ones leave no space for are skipped. */
export function* microEditSteps(
  scene: Scene,
  pressure: Pressure,
  limitTokens: number,
  shows: "all" | "newest" = "all",
): Steps<readonly Edit[]> {
  const { meter, choices } = scene
  const isStretch = shows === "newest" && choices.entry.showsPart === true && choices.entry.micro === "even"
  const press = (groups: Scene["groups"], { scale, keepRounds, largest }: Pressure): Steps<readonly Edit[]> =>
    microSteps(scene.conversation, {
      groups,
      scale,
      keepRounds,
      largest,
      count: meter.text,
      partTokens: meter.part,
      unread: scene.favored.size === 0 ? scene.unread : new Set([...scene.unread, ...scene.favored]),
      ...present({
        budgets: choices.toolBudgets,
        documents: choices.documents,
        focus: choices.focus,
        handleOf: choices.handleOf,
        isReached: isStretch ? reachOf(scene, limitTokens) : undefined,
      }),
    })
  if (choices.entry.micro === "none" && pressure !== fullPressure) return []
  const mandatory = new Set(scene.groups.filter((_, at) => scene.duties[at] !== undefined))
  const newest = new Set(keepable(scene, limitTokens))
  const groups = scene.groups.filter((group) => newest.has(group) || mandatory.has(group))
  if (choices.entry.micro !== "aged") return yield* press(groups, pressure)
  const half = Math.floor(groups.length / 2)
  const older = yield* press(groups.slice(0, half), fullPressure)
  const pictures = new Set(older.flatMap((edit) => (edit.type === "part-replaced" ? [edit.messageId] : [])))
  const newer = yield* press(groups.slice(half), pressure)
  return [...older, ...newer.filter((edit) => edit.type !== "part-replaced" || !pictures.has(edit.messageId))]
}

/** True if a shortening may be undone: not if a later result repeats or supersedes this one, nor if there was no space. */
export const mayRelax = (edit: Edit): edit is Shortening =>
  isShortening(edit) && edit.reason !== "superseded" && edit.reason !== "repeated" && edit.reason !== "no-room"

/** Tokens; showing less than this more of a result is not worth the work. */
const leastRestored = 100

/**
 * Undoes shortenings while there is space, newest results first. The first result that does not fit whole shows as much as there is space
 * for.
 */
export function relaxEdits(scene: Scene, edits: readonly Edit[], unusedTokens: number): readonly Edit[] {
  const places = new Map(scene.conversation.map(({ id }, at) => [id, at]))
  const placeOf = (edit: Edit): number => ("messageId" in edit ? (places.get(edit.messageId) ?? -1) : -1)
  const newestFirst = edits.filter(mayRelax).sort((one, other) => placeOf(other) - placeOf(one))
  const restored = new Set<Edit>()
  let unused = unusedTokens
  for (const edit of newestFirst) {
    const gain = edit.beforeTokens - edit.afterTokens
    if (gain <= unused) {
      restored.add(edit)
      unused -= gain
      continue
    }
    const partly =
      edit.type === "result-shortened" && unused >= leastRestored ? showMore(scene, edit, unused) : undefined
    if (partly === undefined) continue
    return edits.flatMap((one) => (one === edit ? [partly] : restored.has(one) ? [] : [one]))
  }
  return restored.size === 0 ? edits : edits.filter((edit) => !restored.has(edit))
}

function showMore(
  scene: Scene,
  edit: Extract<Edit, { readonly type: "result-shortened" }>,
  unusedTokens: number,
): Edit | undefined {
  const { messageId, callId, afterTokens } = edit
  const budget = { messageId, callId, tokens: afterTokens + Math.floor(unusedTokens) }
  const [more] = fitResults(scene.conversation, [budget], { ...fitting(scene), reason: "over-budget" })
  const isMore = more?.type === "result-shortened" && more.afterTokens > afterTokens
  return isMore && more.afterTokens <= budget.tokens ? more : undefined
}

/** Minimum share of a group that is worth showing in part: half while other groups could use the space, little if none can. */
const leastPart = 0.5
const leastOfUnused = 0.05

/**
 * Shortens one group's results so that the group fits, and with `withTexts` also the long texts of its calls, of the assistant and of
 * pastes. Returns the edits unchanged if next to nothing would be shown.
 */
export function showPart(
  scene: Scene,
  messages: Transcript,
  edits: readonly Edit[],
  roomTokens: number,
  withTexts: boolean,
): readonly Edit[] {
  const shown = applyEdits(messages, edits)
  const results = resultsIn(shown)
    .map((result) => budgetOf(result, scene))
    .filter(({ tokens }) => tokens > smallResult)
  const texts = withTexts ? [...textsIn(shown, scene), ...pastesIn(shown, scene)] : []
  const needed = sumOf([...results, ...texts].map(({ tokens }) => tokens))
  const room = roomTokens - (sumOf(shown.map((message) => scene.meter.message(message))) - needed)
  if (room < needed * (withTexts ? leastOfUnused : leastPart)) return edits
  const shares = shareOut(
    [...results, ...texts].map(({ tokens }) => tokens),
    room,
  )
  const options = { ...fitting(scene), reason: "over-budget" as const }
  const fewer = results.flatMap((result, n) => {
    const tokens = shares[n] ?? 0
    return tokens < result.tokens ? [{ ...result, tokens }] : []
  })
  const ofTexts = sumOf(shares.slice(results.length))
  return [
    ...replacing(edits, fitResults(scene.conversation, fewer, options)),
    ...fitTexts(scene.conversation, fewerIn(texts, ofTexts), options),
  ]
}

/** A long text, and the tokens of everything else in the same part. */
type LongText = TextBudget & { readonly besideTokens: number }

/** Returns the texts that have more than their share of the tokens, with that share. */
function fewerIn(texts: readonly LongText[], roomTokens: number): readonly TextBudget[] {
  const shares = shareOut(
    texts.map(({ tokens }) => tokens),
    roomTokens,
  )
  return texts.flatMap(({ messageId, part, tokens, besideTokens }, n) => {
    const share = shares[n] ?? 0
    return share < tokens ? [{ messageId, part, tokens: share + besideTokens }] : []
  })
}

/** Returns the texts of the assistant and of its call arguments that are long enough to be shortened. */
const textsIn = (messages: Transcript, { meter }: Scene): readonly LongText[] =>
  messages.flatMap(({ id: messageId, role, parts }) =>
    (role === "assistant" ? parts : []).flatMap((part, n) => {
      if (part.type !== "tool-call" && part.type !== "text") return []
      const besideTokens =
        part.type === "text" ? 0 : tokensBesideTexts(part, { count: meter.text, partTokens: meter.part })
      const tokens = meter.part(part) - besideTokens
      return tokens <= smallResult ? [] : [{ messageId, part: n, tokens, besideTokens }]
    }),
  )

/** Minimum size in tokens of a pasted text: a shorter one is what the user says, and is left whole. */
export const leastPaste = 256

/** Returns user texts so long that most of each is pasted. */
const pastesIn = (messages: Transcript, { meter }: Scene): readonly LongText[] =>
  messages.flatMap((message) =>
    (message.role === "user" ? message.parts : []).flatMap((part, n) => {
      if (part.type !== "text" || !isSpokenPart(message, part)) return []
      const tokens = meter.part(part)
      return tokens <= leastPaste || isEncoded(part.text)
        ? []
        : [{ messageId: message.id, part: n, tokens, besideTokens: 0 }]
    }),
  )

/** True if most of a text is one long run of characters without blanks, such as an image: part of it would be useless. */
const isEncoded = (text: string): boolean =>
  (text.match(longRun) ?? []).reduce((sum, run) => sum + run.length, 0) > text.length / 2
const longRun = /[\w+/=-]{1000,}/g

/** Returns the edits of these messages. */
export function editsIn(edits: readonly Edit[], messages: Transcript): readonly Edit[] {
  const ids = new Set(messages.map(({ id }) => id))
  return edits.filter((edit) => "messageId" in edit && ids.has(edit.messageId))
}

/** Returns the edits, with those of the same results replaced by the new ones. */
function replacing(edits: readonly Edit[], by: readonly Edit[]): readonly Edit[] {
  const keyOf = (edit: Edit): string => ("callId" in edit ? `${edit.messageId} ${edit.callId}` : "")
  const replaced = new Set(by.map(keyOf))
  return [...edits.filter((edit) => keyOf(edit) === "" || !replaced.has(keyOf(edit))), ...by]
}

const fitting = ({ meter, choices, groups }: Scene) => ({
  groups,
  count: meter.text,
  partTokens: meter.part,
  ...present({ focus: choices.focus, handleOf: choices.handleOf }),
})

const advice = "more than fits here, so read the rest in parts, by range or by pattern"

/** Tokens. Shortening a result of this size or less saves nothing worth having. */
export const smallResult = 64

/**
 * Shortens what the model has not read or has just requested, to the tokens available for all of it together: first the long texts of the
 * calls, such as the content of a written file, because the model knows them; then the results, of which small ones stay whole. Pending
 * calls stay unchanged. No edits if everything fits.
 */
export function fitUnread(scene: Scene, roomTokens: number, leastTokens = 0): readonly Edit[] {
  const results = unreadResults(scene).map((result) => budgetOf(result, scene))
  const texts = unreadTexts(scene)
  const [ofResults, ofTexts] = [sumOf(results.map(({ tokens }) => tokens)), sumOf(texts.map(({ tokens }) => tokens))]
  const options = { ...fitting(scene), reason: "no-room" as const }
  const wanted = budgetsIn(results, roomTokens - Math.min(ofTexts, texts.length * smallResult), leastTokens)
  const shortened = fitResults(scene.conversation, wanted, { ...options, advice })
  // Shortened results take a little less than they may: the difference goes to the texts.
  const left = Math.max(roomTokens - ofResults + savedBy(shortened), Math.min(ofTexts, texts.length * smallResult))
  return [...fitTexts(scene.conversation, fewerIn(texts, left), options), ...shortened]
}

/** Tokens saved by shortenings. */
export const savedBy = (edits: readonly Edit[]): number =>
  edits.reduce((sum, edit) => sum + (isShortening(edit) ? edit.beforeTokens - edit.afterTokens : 0), 0)

/** Returns the long texts of the last tool round that the model has not answered, or none if a call of it is pending. */
function unreadTexts(scene: Scene): readonly LongText[] {
  const { conversation, unanswered, unread, waiting } = scene
  const last = conversation.slice(unanswered)
  const waits = last.some(({ parts }) => parts.some((part) => part.type === "tool-call" && waiting.has(part.callId)))
  return waits || unread.size === 0 ? [] : textsIn(last, scene)
}

/** Returns the results that have more than their share of the tokens, with that share. */
function budgetsIn(results: readonly ResultBudget[], roomTokens: number, leastTokens: number): readonly ResultBudget[] {
  const needs = results.map(({ tokens }) => tokens)
  if (sumOf(needs) <= roomTokens) return []
  const small = needs.map((tokens) => (tokens <= leastTokens ? tokens : 0))
  const large = needs.map((tokens, at) => tokens - (small[at] ?? 0))
  const shares = shareOut(large, roomTokens - sumOf(small)).map((share, at) => share + (small[at] ?? 0))
  return results.flatMap((result, at) => {
    const tokens = shares[at] ?? 0
    return tokens < result.tokens ? [{ ...result, tokens }] : []
  })
}

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0)

/** Tokens of unread content that can be shortened: results, and the long texts of their calls. */
export const unreadTokens = (scene: Scene): number =>
  unreadResults(scene).reduce((sum, { part }) => sum + scene.meter.part(part), 0) +
  sumOf(unreadTexts(scene).map(({ tokens }) => tokens))

type PlacedResult = { readonly messageId: MessageId; readonly part: ToolResultPart }

const resultsIn = (messages: Transcript): readonly PlacedResult[] =>
  messages.flatMap(({ id: messageId, parts }) =>
    parts.flatMap((part) => (part.type === "tool-result" ? [{ messageId, part }] : [])),
  )

const budgetOf = ({ messageId, part }: PlacedResult, { meter }: Scene): ResultBudget => ({
  messageId,
  callId: part.callId,
  tokens: meter.part(part),
})

/** Returns the results that the model has not read. An earlier call may have had the same id. */
const unreadResults = ({ conversation, unanswered, unread }: Scene): readonly PlacedResult[] =>
  resultsIn(conversation.slice(unanswered)).filter(({ part }) => unread.has(part.callId))

/** Shortens results in the groups that must stay further, by `missingTokens`. Unread results stay unchanged. */
export function fitMandatory(scene: Scene, micro: readonly Edit[], missingTokens: number): readonly Edit[] {
  if (missingTokens <= 0) return micro
  const stays = scene.groups.flatMap(({ start, end }, at) =>
    scene.duties[at] === undefined ? [] : scene.conversation.slice(start, end),
  )
  const results = resultsIn(applyEdits(stays, editsIn(micro, stays)))
    .filter(({ part }) => !scene.unread.has(part.callId) && !scene.favored.has(part.callId))
    .map((result) => budgetOf(result, scene))
  const wanted = budgetsIn(results, sumOf(results.map(({ tokens }) => tokens)) - missingTokens, smallResult)
  const fitted = fitResults(scene.conversation, wanted, { ...fitting(scene), reason: "over-budget" })
  return replacing(micro, fitted)
}
