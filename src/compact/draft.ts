import { argumentsOf } from "../ledger/asked.ts"
import { createFreshIds } from "../message/fresh.ts"
import { messageId } from "../message/ids.ts"
import type { Format, Message, Transcript } from "../message/message.ts"
import { present } from "../message/present.ts"
import { textOf } from "../message/text.ts"
import { defaultShares } from "../plan/share.ts"
import { applyEdits, type Edit } from "../stage/edit.ts"
import type { SizedGroup, Strategy, StrategyOptions } from "../stage/strategy.ts"
import type { Digest } from "../summary/digest.ts"
import type { Meter } from "../tokens/meter.ts"
import { type Composed, composeDigest } from "./compose-digest.ts"
import type { Knowledge } from "./knowledge.ts"
import { pinsMessage } from "./pins.ts"
import type { Scene } from "./scene.ts"
import { ownMessage } from "./standing.ts"
import { standingIn } from "./standing-in.ts"
import type { CompactTask } from "./task.ts"

/** A compaction that could be made: its edits, and what they promise. */
export type Draft = {
  readonly edits: readonly Edit[]
  readonly digest?: Digest
  /** Who wrote the digest's summary, where it was not extracted. */
  readonly writer?: "model" | "custom"
}

/** Everything that decides one draft. */
export type DraftPlan = {
  readonly limitTokens: number
  readonly select: Strategy
  readonly strategyOptions: StrategyOptions
  /** Of what is free beside the mandatory, so much is held back for the digest. */
  readonly digestShare: number
  readonly reason: string
  readonly micro: readonly Edit[]
  /** Is it enough that all groups fit once results are shortened? Otherwise there is a digest in any case. */
  readonly mayKeepAll: boolean
}

const { mostDigestTokens } = defaultShares
/** The role and ends of the digest's message. */
const framingTokens = 4

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
export function draftDigest(task: CompactTask, scene: Scene, knowledge: Knowledge, plan: DraftPlan): Draft | undefined {
  const { meter } = task
  const edited = applyEdits(scene.conversation, plan.micro)
  const carried = messagesOf(scene, edited, "digests")
  const sized = sizeGroups(task, scene, edited)
  const pins = pinEdits(task, scene)
  const mandatory = sized.reduce((sum, { tokens, mandatory: stays }) => sum + (stays ? tokens : 0), 0)
  const free = plan.limitTokens - scene.documentTokens - mandatory - addedTokens(pins, meter) - framingTokens
  if (free <= 0) return undefined
  const compose = (kept: ReadonlySet<number>, budgetTokens: number): Composed | undefined => {
    const shown = messagesOf(scene, edited, kept)
    return composeDigest(knowledge, {
      budgetTokens: Math.min(mostDigestTokens, budgetTokens),
      covered: scene.conversation.length - shown.length - carried.length,
      shown: new Set(shown.map(({ id }) => id)),
      stands: standingIn(shown.flatMap(({ parts }) => parts.map(textOf))),
      meter,
      arguments: argumentsOf(task.request.tools),
    })
  }
  const carriedTokens = carried.reduce((sum, message) => sum + meter.message(message), 0)
  const chosen = choose({ sized, free, plan, mayKeepAll: scene.held || plan.mayKeepAll, carriedTokens, compose })
  if (chosen === undefined) return undefined
  return {
    edits: [...pins, ...editsOf(task, scene, edited, chosen, plan)],
    ...present({ digest: chosen.composed?.digest }),
  }
}

/** What pins add: the new message less the one that it replaces, which counts among the mandatory. */
export const addedTokens = (pins: readonly Edit[], meter: Meter): number =>
  pins.reduce((sum, edit) => {
    if (edit.type === "messages-dropped") return sum - edit.tokens
    return edit.type === "message-installed" ? sum + meter.message(edit.message) : sum
  }, 0)

type Chosen = { readonly kept: ReadonlySet<number>; readonly composed?: Composed }

type Choosing = {
  readonly sized: readonly SizedGroup[]
  readonly free: number
  readonly plan: DraftPlan
  readonly mayKeepAll: boolean
  /** What digests of ours take that are there already: they stay where no new one takes them over. */
  readonly carriedTokens: number
  readonly compose: (kept: ReadonlySet<number>, budgetTokens: number) => Composed | undefined
}

/** First with the digest's share held back; then, if the digest leaves some of it, with that much more for messages. */
function choose({ sized, free, plan, mayKeepAll, carriedTokens, compose }: Choosing): Chosen | undefined {
  const select = (roomTokens: number): ReadonlySet<number> => withMandatory(sized, plan, roomTokens)
  const all = select(free - carriedTokens)
  if (all.size === sized.length && mayKeepAll) return { kept: all }
  const reserve = Math.min(mostDigestTokens, free * plan.digestShare)
  const kept = select(free - reserve)
  const composed = compose(kept, free - tokensOf(sized, kept))
  if (composed === undefined) return undefined
  const more = select(free - composed.tokens - 2)
  if (more.size <= kept.size) return { kept, composed }
  const again = compose(more, free - tokensOf(sized, more))
  return again === undefined ? { kept, composed } : { kept: more, composed: again }
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
  { groups, duties, digests }: Scene,
  edited: Transcript,
): readonly SizedGroup[] {
  return groups.map((group, at) => {
    let tokens = 0
    for (let n = group.start; n < group.end; n++) {
      const message = edited[n]
      if (message !== undefined && digests[at] !== true) tokens += meter.message(message)
    }
    return { group, tokens, mandatory: duties[at] !== undefined }
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
  edited: Transcript,
  { kept, composed }: Chosen,
  { micro, reason }: DraftPlan,
): readonly Edit[] {
  if (composed === undefined) return micro
  const stays = messagesOf(scene, edited, kept)
  const shown = new Set(stays.map(({ id }) => id))
  const gone = scene.conversation.filter(({ id }) => !shown.has(id))
  const last = scene.conversation.findLastIndex(({ id }) => !shown.has(id))
  const opens = mustOpen(task, scene, stays[0])
  const next = scene.conversation.slice(opens ? 0 : Math.max(last + 1, scene.firstSeen)).find(({ id }) => shown.has(id))
  const fresh = createFreshIds(scene.conversation.map(({ id }) => id))
  const digest: Message = {
    id: messageId(fresh("digest")),
    role: "user",
    parts: [{ type: "text", text: composed.text }],
  }
  return [
    ...micro.filter((edit) => !("messageId" in edit) || shown.has(edit.messageId)),
    {
      type: "messages-dropped",
      messageIds: gone.map(({ id }) => id),
      reason,
      tokens: gone.reduce((sum, message) => sum + task.meter.message(message), 0),
    },
    { type: "message-installed", role: "digest", message: digest, ...present({ before: next?.id }) },
  ]
}
