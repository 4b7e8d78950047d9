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

/** The last resort: of every result that the model has read, only a line stays that says what it was. */
export const fullPressure: Pressure = { scale: 0, keepRounds: 0, largest: 0 }

/** Is so little over the limit that shortening results may be enough? */
export const isEasy = ({ outsideTokens }: Scene, limitTokens: number): boolean =>
  limitTokens >= outsideTokens * defaultShares.easyShare

/** Tokens that a result of the newest rounds may take: some 150 lines, and in a long conversation as much more as its share of it. */
const newestTokens = 1500
const newestShare = 0.06

/**
 * How results are shown that stay: the newest rounds in full but for very long results, older ones within the budgets of their tools. It
 * depends on no budget of the request, so that a larger one shows no less of any.
 */
export const usualPressure = ({ outsideTokens }: Scene, keepRounds: number): Pressure => ({
  scale: 1,
  keepRounds,
  largest: Math.max(newestTokens, Math.floor(outsideTokens * newestShare)),
})

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

/**
 * Whether a message may be kept if the newest groups are kept as far as they fit: the tokens of everything newer, less those saved by
 * shortening it, have to be within the limit. Results that must stay always may, and so may everything newer than they are.
 */
function reachOf(scene: Scene, limitTokens: number): MicroOptions["isReached"] {
  const { meter, groups, conversation, digests, duties, favored } = scene
  const newerTokens = new Float64Array(conversation.length)
  let tokens = 0
  let stays = conversation.length
  for (const [at, { start, end, calls }] of [...groups.entries()].reverse()) {
    newerTokens.fill(tokens, start, end)
    const own = conversation.slice(start, end)
    if (digests[at] !== true) tokens += sumOf(own.map(meter.message))
    const isMandatory = duties[at] !== undefined || calls.some((call) => favored.has(call))
    if (isMandatory && resultsIn(own).length > 0) stays = start
  }
  return (at, savedTokens) => at >= stays || (newerTokens[at] ?? 0) - savedTokens <= limitTokens
}

/**
 * The edits that shorten results as the strategy says: none, the same for all groups that may stay, or the older half of them to the
 * least. Results that the model has not read stay whole.
 */
export const microEdits = (...given: Parameters<typeof microEditSteps>): readonly Edit[] =>
  runSteps(microEditSteps(...given))

/** The same, one result at a time. With `newest`, results that cannot stay because newer ones take all the room are not looked at. */
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

/** May a shortening be undone? Not where a later result says the same or something newer, nor where there was no room. */
export const mayRelax = (edit: Edit): edit is Shortening =>
  isShortening(edit) && edit.reason !== "superseded" && edit.reason !== "repeated" && edit.reason !== "no-room"

/** Tokens; showing less than this more of a result is not worth the work. */
const leastRestored = 100

/**
 * Undo shortenings while there is room, those of the newest results first. The first result that does not fit whole shows as much as there
 * is room for.
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

/** Least share of a group that is worth showing in part: half while other groups could use the room, little where none can. */
const leastPart = 0.5
const leastOfUnused = 0.05

/**
 * Shorten one group's results, and with `withTexts` the long texts of its calls and of the assistant, so that the group fits the room. The
 * edits stay as they are if next to nothing would be shown.
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

/** A text with what takes room beside it in the same part. */
type LongText = TextBudget & { readonly besideTokens: number }

/** The texts that take more than their share of a room, with that share. */
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

/** What the assistant said or passed on that is long enough to be shown in part. */
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

/** A text of fewer tokens is left whole: it is what the user says rather than what they pasted. */
export const leastPaste = 256

/** What the user said at such a length that most of it is pasted. */
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

/** Is most of a text one long run of signs, such as a picture? Nothing is read from a part of that. */
const isEncoded = (text: string): boolean =>
  (text.match(longRun) ?? []).reduce((sum, run) => sum + run.length, 0) > text.length / 2
const longRun = /[\w+/=-]{1000,}/g

/** The edits of these messages. */
export function editsIn(edits: readonly Edit[], messages: Transcript): readonly Edit[] {
  const ids = new Set(messages.map(({ id }) => id))
  return edits.filter((edit) => "messageId" in edit && ids.has(edit.messageId))
}

/** Edits with others in place of those of the same results. */
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

/** Tokens. Shortening a result of this size or less frees no room worth having. */
export const smallResult = 64

/**
 * What the model has not read or has only just asked for, shortened to what it has room for all together: first the long texts of the
 * calls, such as the content of a file that was written, because the model knows them; then the results, of which the small ones stay
 * whole. Calls that wait for their results stay as they are. Nothing where all of it fits.
 */
export function fitUnread(scene: Scene, roomTokens: number, leastTokens = 0): readonly Edit[] {
  const results = unreadResults(scene).map((result) => budgetOf(result, scene))
  const texts = unreadTexts(scene)
  const [ofResults, ofTexts] = [sumOf(results.map(({ tokens }) => tokens)), sumOf(texts.map(({ tokens }) => tokens))]
  const options = { ...fitting(scene), reason: "no-room" as const }
  const wanted = budgetsIn(results, roomTokens - Math.min(ofTexts, texts.length * smallResult), leastTokens)
  const shortened = fitResults(scene.conversation, wanted, { ...options, advice })
  // What is kept of results is a little less than they may take: it goes to the texts.
  const left = Math.max(roomTokens - ofResults + savedBy(shortened), Math.min(ofTexts, texts.length * smallResult))
  return [...fitTexts(scene.conversation, fewerIn(texts, left), options), ...shortened]
}

/** What shortenings take off. */
export const savedBy = (edits: readonly Edit[]): number =>
  edits.reduce((sum, edit) => sum + (isShortening(edit) ? edit.beforeTokens - edit.afterTokens : 0), 0)

/** The long texts of the last tool round that the model has not answered, but for those of calls that wait. */
function unreadTexts(scene: Scene): readonly LongText[] {
  const { conversation, unanswered, unread, waiting } = scene
  const last = conversation.slice(unanswered)
  const waits = last.some(({ parts }) => parts.some((part) => part.type === "tool-call" && waiting.has(part.callId)))
  return waits || unread.size === 0 ? [] : textsIn(last, scene)
}

/** The results that take more than their share of a room, with that share. */
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

/** What may give way of what the model has not read: results, and the long texts of their calls. */
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

/** The results that the model has not read. An earlier call may have had the same id. */
const unreadResults = ({ conversation, unanswered, unread }: Scene): readonly PlacedResult[] =>
  resultsIn(conversation.slice(unanswered)).filter(({ part }) => unread.has(part.callId))

/** Shorten the results in the groups that must stay further, by `missingTokens`. Results that the model has not read stay as they are. */
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
