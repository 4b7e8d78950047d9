import { present } from "../message/present.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { defaultShares } from "./plan/share.ts"
import type { Scene } from "./scene.ts"
import type { Edit } from "./stages/edit.ts"
import { shareOut } from "./stages/marker.ts"
import { fitResults, microSteps, type ResultBudget } from "./stages/microcompact.ts"
import type { CompactTask } from "./task.ts"

/** How hard tool results are pressed: budgets times `scale`, except in the newest `keepRounds`, where only one over `largest` is. */
type Pressure = { readonly scale: number; readonly keepRounds: number; readonly largest: number }

/** The last resort: of every result that the model has read only what it was. */
export const fullPressure: Pressure = { scale: 0, keepRounds: 0, largest: 0 }

const { easyShare, largestShare } = defaultShares

const shareLeft = ({ outsideTokens }: Scene, limitTokens: number): number => limitTokens / Math.max(1, outsideTokens)

/** Is so much left that no tool's budget has to shrink? */
export const isEasy = (scene: Scene, limitTokens: number): boolean => shareLeft(scene, limitTokens) >= easyShare

/**
 * The less is left, the fewer rounds stay whole and the smaller is the largest result. The tools' budgets stay what they are: pressed
 * harder, results lose values that a digest would keep.
 */
export function pressureFor(scene: Scene, limitTokens: number, keepRounds: number): Pressure {
  const share = shareLeft(scene, limitTokens)
  return {
    scale: 1,
    keepRounds: share >= easyShare ? keepRounds : Math.min(1, keepRounds),
    largest: Math.floor(limitTokens * largestShare),
  }
}

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

/** Nothing, one press for all that may stay, or a harder one for the older half of it. Results that the model has not read stay whole. */
export const microEdits = (...given: Parameters<typeof microEditSteps>): readonly Edit[] =>
  runSteps(microEditSteps(...given))

/** The same, result by result. */
export function* microEditSteps(
  { meter, choices }: CompactTask,
  scene: Scene,
  pressure: Pressure,
  limitTokens: number,
): Steps<readonly Edit[]> {
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

type Shortening = Extract<Edit, { readonly type: "result-shortened" | "part-replaced" }>

export const isShortening = (edit: Edit): edit is Shortening =>
  edit.type === "result-shortened" || edit.type === "part-replaced"

/** Tokens; showing less than this more of a result is not worth the work. */
const leastRestored = 100

/**
 * Take back shortenings while there is room, those of the newest results first; the first that does not go back whole shows as much as
 * there is room for. What a later result says again stays out.
 */
export function relaxEdits(
  task: CompactTask,
  scene: Scene,
  edits: readonly Edit[],
  unusedTokens: number,
): readonly Edit[] {
  const places = new Map(scene.conversation.map(({ id }, at) => [id, at]))
  const placeOf = (edit: Edit): number => ("messageId" in edit ? (places.get(edit.messageId) ?? -1) : -1)
  const newestFirst = edits
    .filter(isShortening)
    .filter(({ reason }) => reason !== "superseded" && reason !== "repeated" && reason !== "no-room")
    .sort((one, other) => placeOf(other) - placeOf(one))
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
      edit.type === "result-shortened" && unused >= leastRestored ? showMore(task, scene, edit, unused) : undefined
    if (partly === undefined) continue
    return edits.flatMap((one) => (one === edit ? [partly] : restored.has(one) ? [] : [one]))
  }
  return restored.size === 0 ? edits : edits.filter((edit) => !restored.has(edit))
}

function showMore(
  task: CompactTask,
  scene: Scene,
  edit: Extract<Edit, { readonly type: "result-shortened" }>,
  unusedTokens: number,
): Edit | undefined {
  const { messageId, callId, afterTokens } = edit
  const budget = { messageId, callId, tokens: afterTokens + Math.floor(unusedTokens) }
  const [more] = fitResults(scene.conversation, [budget], { ...fitting(task, scene), reason: "over-budget" })
  const isMore = more?.type === "result-shortened" && more.afterTokens > afterTokens
  return isMore && more.afterTokens <= budget.tokens ? more : undefined
}

const fitting = ({ meter, choices }: CompactTask, { groups }: Scene) => ({
  groups,
  count: meter.text,
  partTokens: meter.part,
  ...present({ focus: choices.focus, handleOf: choices.handleOf }),
})

const advice = "more than fits here, so read the rest in parts, by range or by pattern"

/**
 * Results that the model has not read, shortened to what they have room for all together: the small ones stay whole. Nothing where they
 * fit as they are.
 */
export function fitUnread(task: CompactTask, scene: Scene, roomTokens: number): readonly Edit[] {
  const results = unreadResults(scene)
  const needs = results.map(({ part }) => task.meter.part(part))
  if (needs.reduce((sum, tokens) => sum + tokens, 0) <= roomTokens) return []
  const shares = shareOut(needs, roomTokens)
  const wanted = results.flatMap(({ messageId, part: { callId } }, at): readonly ResultBudget[] => {
    const tokens = shares[at] ?? 0
    return tokens < (needs[at] ?? 0) ? [{ messageId, callId, tokens }] : []
  })
  return fitResults(scene.conversation, wanted, { ...fitting(task, scene), reason: "no-room", advice })
}

/** What the results take that the model has not read. */
export const unreadTokens = ({ meter }: CompactTask, scene: Scene): number =>
  unreadResults(scene).reduce((sum, { part }) => sum + meter.part(part), 0)

/** The results that the model has not read. An earlier call may have had the same id. */
const unreadResults = ({ conversation, unanswered, unread }: Scene) =>
  conversation
    .slice(unanswered)
    .flatMap(({ id: messageId, parts }) =>
      parts.flatMap((part) => (part.type === "tool-result" && unread.has(part.callId) ? [{ messageId, part }] : [])),
    )
