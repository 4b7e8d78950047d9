import { setImmediate as nextTick } from "node:timers/promises"
import { HoldfastError } from "../../message/errors.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { entryId, seqOf, thaw } from "../../session/log/entry.ts"
import { createMeter } from "../../tokens/meter.ts"
import type { WhatIfAnswer, WhatIfCourse, WhatIfStrategy } from "./answers.ts"
import { withoutCompaction, writtenShareOf } from "./savings.ts"
import { type Counted, type Profile, type Profiles, priceOf, type Turn } from "./session-profile.ts"

/** Settings for replaying a session. */
export type WhatIf = {
  readonly windowTokens: number
  /** Share of the window at which it compacts. */
  readonly compactAt: number
  readonly strategy: WhatIfStrategy
}

export const whatIfStrategies: readonly WhatIfStrategy[] = ["staged", "hierarchical", "recency", "tool-rounds"]

/** With more turns than this, several are replayed as one step: each step prepares a request, which takes some milliseconds. */
const maxSteps = 250

type Step = { readonly turn: Turn; readonly messages: readonly Message[] }

/**
 * Replay the turns of a session with another window, threshold or strategy. The turns are those that happened, because nobody knows what a
 * model would have said in another context. Nothing is sent or written. The messages are those of the current branch; system prompt and
 * tools count as in the first request.
 */
export async function playWhatIf(
  profiles: Profiles,
  session: string,
  profile: Profile,
  asked: WhatIf,
  signal: AbortSignal,
): Promise<WhatIfAnswer> {
  const began = performance.now()
  const steps = await readSteps(profiles, session, profile)
  const [first] = steps
  if (first === undefined)
    throw new HoldfastError({
      code: "request-invalid",
      path: "the session",
      expected: "a turn with its usage",
      found: "none",
    })
  const meter = createMeter({ model: first.turn.model })
  const firstTokens = first.messages.reduce((sum, message) => sum + meter.message(message), 0)
  const { ratio, stackTokens } = scaleOf(profile.turns, firstTokens)
  const scale = (tokens: number): number => Math.round(tokens * ratio) + stackTokens
  const replayed = await replay(steps, asked, { ratio, stackTokens, scale, signal })
  const turns = steps.map(({ turn }) => turn.turn)
  const { windowTokens } = asked
  return {
    turns,
    asItWas: courseOf(profile.turns, { turns, windowTokens: Infinity, compactions: profile.compactions }),
    noCompaction: courseOf(uncompacted(profile), { turns, windowTokens, compactions: [] }),
    whatIf: courseOf(pricedSteps(profile.turns, steps, replayed), {
      turns,
      windowTokens,
      compactions: replayed.compactions,
    }),
    tookMs: Math.round(performance.now() - began),
  }
}

/** What a turn sent, or would have sent, and what that costs. */
type CourseTurn = Counted & { readonly calls: number; readonly dollars?: number }

const uncompacted = (profile: Profile): readonly CourseTurn[] =>
  withoutCompaction(profile).map((counted, n) => ({ ...counted, calls: profile.turns[n]?.calls ?? 1 }))

/** Every turn with the sizes of the replay; a turn between two steps has those of the next step. */
function pricedSteps(
  turns: readonly Turn[],
  steps: readonly Step[],
  { contextTokens, cachedTokens }: Pick<Awaited<ReturnType<typeof replay>>, "contextTokens" | "cachedTokens">,
): readonly CourseTurn[] {
  // A provider that reports no cache has none in a replay either, or it would look cheaper than it is.
  const isCached = turns.some(({ cacheReadTokens }) => cacheReadTokens > 0)
  const writtenShare = writtenShareOf(turns)
  let step = 0
  return turns.flatMap(({ turn, model, outputTokens, calls }) => {
    while (step < steps.length - 1 && (steps[step]?.turn.turn ?? 0) < turn) step++
    const context = contextTokens[step]
    if (context === undefined) return []
    const cacheReadTokens = isCached ? Math.min(context, cachedTokens[step] ?? 0) : 0
    const cacheWriteTokens = (context - cacheReadTokens) * writtenShare
    const counted = { contextTokens: context, cacheReadTokens, cacheWriteTokens, outputTokens }
    const price = priceOf(model, counted)
    return { ...counted, calls, ...present({ dollars: price === undefined ? undefined : price * calls }) }
  })
}

/** The messages that each turn sent for the first time: those after the previous response, including that response. */
async function readSteps(
  profiles: Profiles,
  session: string,
  { outline, turns, turnAt }: Profile,
): Promise<readonly Step[]> {
  const path = outline.path(outline.tip()) ?? []
  const entries = await profiles.entries(session, path)
  const messages = path.flatMap((seq) => {
    const body = entries.get(seq)?.body
    return body?.type === "message-appended" ? [{ seq, message: thaw(body.message, entryId(seq)) }] : []
  })
  const sent = new Map<number, Message[]>()
  for (const { seq, message } of messages) {
    // A response is in the log before its own usage entry, and is sent with the next turn.
    const turn = turnAt(seq) + (message.role === "assistant" ? 2 : 1)
    sent.set(turn, [...(sent.get(turn) ?? []), message])
  }
  const every = Math.max(1, Math.ceil(turns.length / maxSteps))
  const steps: Step[] = []
  let waiting: Message[] = []
  for (const turn of turns) {
    waiting = [...waiting, ...(sent.get(turn.turn) ?? [])]
    if (turn.turn % every !== 0 && turn.turn !== turns.length) continue
    if (seqOf(turn.entry) !== undefined && waiting.length > 0) steps.push({ turn, messages: waiting })
    waiting = []
  }
  return steps
}

type Scale = { readonly ratio: number; readonly stackTokens: number }

/** The ratio of the provider's count to ours, over all turns, and the tokens of the first request besides its messages. */
function scaleOf(turns: readonly Turn[], firstTokens: number): Scale {
  const compared = turns.filter(({ estimatedTokens }) => estimatedTokens > 0)
  const reported = compared.reduce((sum, { contextTokens }) => sum + contextTokens, 0)
  const estimated = compared.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0)
  const ratio = estimated > 0 && reported > 0 ? Math.min(2, Math.max(0.5, reported / estimated)) : 1
  const stackTokens = Math.max(0, Math.round((turns[0]?.contextTokens ?? 0) - firstTokens * ratio))
  return { ratio, stackTokens }
}

type ReplayOptions = Scale & { readonly scale: (tokens: number) => number; readonly signal: AbortSignal }

async function replay(steps: readonly Step[], asked: WhatIf, { ratio, stackTokens, scale, signal }: ReplayOptions) {
  const windowTokens = Math.max(2000, Math.floor((asked.windowTokens - stackTokens) / ratio))
  const holdfast = createHoldfast({
    store: "memory",
    windowTokens,
    strategy: asked.strategy,
    policy: { compactAt: asked.compactAt },
    speculations: 0,
    model: steps[0]?.turn.model ?? "",
  })
  const contextTokens: number[] = []
  const cachedTokens: number[] = []
  const compactions: WhatIfCourse["compactions"][number][] = []
  try {
    const session = holdfast.session("what-if")
    let checkpoint: string | undefined
    for (const { turn, messages } of steps) {
      if (signal.aborted) break
      await session.append(messages)
      const format = messages.find(({ format: of }) => of !== undefined)?.format ?? "openai-chat"
      const { receipt } = await session.prepare({ format, maxOutputTokens: 1000 })
      if (receipt.checkpoint !== undefined && receipt.checkpoint !== checkpoint) {
        checkpoint = receipt.checkpoint
        const { checkpoints } = await session.overview()
        const made = checkpoints.find(({ id }) => id === checkpoint)
        if (made !== undefined)
          compactions.push({
            turn: turn.turn,
            beforeTokens: scale(made.beforeTokens),
            afterTokens: scale(made.afterTokens),
          })
      }
      contextTokens.push(scale(receipt.contextTokens))
      cachedTokens.push(Math.min(scale(receipt.stableTokens), scale(receipt.contextTokens)))
      await nextTick()
    }
  } finally {
    await holdfast.close()
  }
  return { contextTokens, cachedTokens, compactions }
}

type CourseOptions = {
  /** The turns that are drawn; the totals are of all. */
  readonly turns: readonly number[]
  readonly windowTokens: number
  readonly compactions: WhatIfCourse["compactions"]
}

function courseOf(all: readonly CourseTurn[], { turns, windowTokens, compactions }: CourseOptions): WhatIfCourse {
  const drawn = turns.flatMap((turn) => all[turn - 1] ?? [])
  const sum = (figureOf: (turn: CourseTurn) => number): number => all.reduce((total, one) => total + figureOf(one), 0)
  const priced = all.every(({ dollars }) => dollars !== undefined)
  return {
    contextTokens: drawn.map(({ contextTokens }) => contextTokens),
    cachedTokens: drawn.map(({ cacheReadTokens }) => cacheReadTokens),
    compactions,
    totals: {
      tokens: sum(({ contextTokens, calls }) => contextTokens * calls),
      cachedTokens: sum(({ cacheReadTokens, calls }) => cacheReadTokens * calls),
      largestTokens: all.reduce((most, { contextTokens }) => Math.max(most, contextTokens), 0),
      compactions: compactions.length,
      refusedTurns: all.filter(({ contextTokens }) => contextTokens > windowTokens).length,
      ...present({ dollars: priced ? sum(({ dollars = 0 }) => dollars) : undefined }),
    },
  }
}
