import { setImmediate as nextTick } from "node:timers/promises"
import { HoldfastError } from "../../message/errors.ts"
import type { Message } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import { createHoldfast } from "../../session/holdfast.ts"
import { entryId, seqOf, thaw } from "../../session/log/entry.ts"
import { createMeter } from "../../tokens/meter.ts"
import type { WhatIfAnswer, WhatIfCourse, WhatIfStrategy } from "./answers.ts"
import { type Profile, type Profiles, priceOf, type Turn } from "./session-profile.ts"

/** Settings for replaying a session. */
export type WhatIf = {
  readonly windowTokens: number
  /** Share of the window at which it compacts. */
  readonly compactAt: number
  readonly strategy: WhatIfStrategy
}

export const whatIfStrategies: readonly WhatIfStrategy[] = ["staged", "hierarchical", "recency", "tool-rounds"]

/** More turns than this are played in steps: each step prepares a request, which takes some milliseconds. */
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
  const raw = steps.map(({ messages }) => messages.reduce((sum, message) => sum + meter.message(message), 0))
  const { ratio, stackTokens } = scaleOf(profile.turns, raw[0] ?? 0)
  const scale = (tokens: number): number => Math.round(tokens * ratio) + stackTokens
  const whole: number[] = []
  raw.reduce((grown, tokens) => {
    whole.push(scale(grown + tokens))
    return grown + tokens
  }, 0)
  const replayed = await replay(steps, asked, { ratio, stackTokens, scale, signal })
  // A provider that reports no cache has none in the other courses either, or they would look cheaper than they are.
  const isCached = profile.turns.some(({ cacheReadTokens }) => cacheReadTokens > 0)
  const writtenShare = writtenShareOf(profile.turns)
  const fromCache = (cached: readonly number[]): readonly number[] => (isCached ? cached : cached.map(() => 0))
  return {
    turns: steps.map(({ turn }) => turn.turn),
    asItWas: courseOf(
      steps.map(({ turn }) => turn.contextTokens),
      steps.map(({ turn }) => turn.cacheReadTokens),
      { steps, writtenShare, windowTokens: Infinity, compactions: profile.compactions, isReported: true },
    ),
    noCompaction: courseOf(whole, fromCache([0, ...whole.slice(0, -1)]), {
      steps,
      writtenShare,
      windowTokens: asked.windowTokens,
      compactions: [],
    }),
    whatIf: courseOf(replayed.contextTokens, fromCache(replayed.cachedTokens), {
      steps,
      writtenShare,
      windowTokens: asked.windowTokens,
      compactions: replayed.compactions,
    }),
    tookMs: Math.round(performance.now() - began),
  }
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

type Playing = Scale & { readonly scale: (tokens: number) => number; readonly signal: AbortSignal }

async function replay(steps: readonly Step[], asked: WhatIf, { ratio, stackTokens, scale, signal }: Playing) {
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

/** Of what a provider did not read from its cache, the share that it reported to have written to it. */
function writtenShareOf(turns: readonly Turn[]): number {
  const fresh = turns.reduce((sum, { contextTokens, cacheReadTokens }) => sum + contextTokens - cacheReadTokens, 0)
  const written = turns.reduce((sum, { cacheWriteTokens }) => sum + cacheWriteTokens, 0)
  return fresh > 0 ? Math.min(1, written / fresh) : 0
}

type Coursed = {
  readonly steps: readonly Step[]
  readonly writtenShare: number
  /** It is what happened: each turn cost what its provider reported. */
  readonly isReported?: true
  readonly windowTokens: number
  readonly compactions: WhatIfCourse["compactions"]
}

function courseOf(
  contextTokens: readonly number[],
  cachedTokens: readonly number[],
  { steps, writtenShare, isReported, windowTokens, compactions }: Coursed,
): WhatIfCourse {
  const callsAt = (n: number): number => steps[n]?.turn.calls ?? 1
  const dollars = contextTokens.map((context, n) => {
    const { model, outputTokens, dollars: reported } = steps[n]?.turn ?? { model: "", outputTokens: 0 }
    if (isReported === true) return reported
    const cached = Math.min(context, cachedTokens[n] ?? 0)
    const price = priceOf(model, {
      contextTokens: context,
      cacheReadTokens: cached,
      cacheWriteTokens: (context - cached) * writtenShare,
      outputTokens,
    })
    return price === undefined ? undefined : price * callsAt(n)
  })
  const sum = (list: readonly number[]): number => list.reduce((total, one) => total + one, 0)
  const priced = dollars.every((one) => one !== undefined) ? sum(dollars.map((one) => one ?? 0)) : undefined
  return {
    contextTokens,
    cachedTokens,
    compactions,
    totals: {
      tokens: sum(contextTokens.map((tokens, n) => tokens * callsAt(n))),
      cachedTokens: sum(cachedTokens.map((tokens, n) => tokens * callsAt(n))),
      largestTokens: Math.max(0, ...contextTokens),
      compactions: compactions.length,
      refusedTurns: contextTokens.filter((tokens) => tokens > windowTokens).length,
      ...present({ dollars: priced }),
    },
  }
}
