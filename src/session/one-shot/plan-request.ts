import type { Compacted } from "../../compact/attempt.ts"
import { rulePresence } from "../../compact/pins.ts"
import { type Weighing, weighRewrite } from "../../compact/plan/economics.ts"
import {
  irreducibleFloor,
  mostReserveShare,
  type Plan,
  planContext,
  requireFloor,
  reserveFor,
  type Sizes,
  usualAnswerTokens,
} from "../../compact/plan/plan.ts"
import { type CompactionPolicy, defaultPolicy } from "../../compact/plan/policy.ts"
import type { Separation } from "../../compact/stack/separate.ts"
import { defaultStrategyOptions, strategies } from "../../compact/stages/strategies.ts"
import type { CompactChoices, SizeLimits } from "../../compact/task.ts"
import { latestWords, tokensOutsideStack } from "../../compact/verify.ts"
import { groupTurns, unansweredIn } from "../../message/group.ts"
import { type Format, familyOf, type ModelRequest, type Part } from "../../message/message.ts"
import { present } from "../../message/present.ts"
import type { PinnedRule } from "../../rules/pin.ts"
import { createMeter, type Meter } from "../../tokens/meter.ts"
import { findModel } from "../../tokens/models.ts"
import type { CompactOptions } from "./options.ts"
import { createSummarizer } from "./summarizer.ts"

export type RequestPlan = RequestSizes & {
  readonly plan: Plan
  readonly sizes: Sizes
  readonly limits: SizeLimits
  readonly by: "budget" | "window"
  readonly expectedCalls: number
  /** True if the original request contains every pinned rule. */
  readonly pinsStand: boolean
}

/** Policy for a single request: it is compacted only if it does not fit, because earlier compaction needs knowledge of the session. */
const oneShot: Partial<CompactionPolicy> = { compactAt: 1 }

/** Tokens of the user's latest message that are always shown, however long it is. */
const minWordTokens = 256

export type PlanOptions = CompactOptions & {
  /** The longest response of this conversation so far, if there were enough responses. */
  readonly longestAnswerTokens?: number | undefined
}

/** Plans a request; `separation` is the separation of its messages. */
export function planRequest(
  request: ModelRequest,
  separation: Separation,
  meter: Meter,
  options: PlanOptions,
): RequestPlan {
  const { overheadTokens, stackTokens, outsideTokens } = measure(request, separation, meter)
  const policy: CompactionPolicy = { ...defaultPolicy, ...oneShot, ...options.policy }
  const pins = options.pins ?? []
  const shared = {
    overheadTokens,
    stackTokens,
    outsideTokens,
    expectedCalls: policy.expectedCalls,
    pinsStand: pins.length === 0 || pins.map(userRule).every(rulePresence(request)),
  }
  const shape = shapeOf(request, meter)
  if (options.budgetTokens !== undefined) {
    const { budgetTokens } = options
    const sizes: Sizes = {
      ...shape,
      contextTokens: outsideTokens,
      windowTokens: budgetTokens,
      reserveTokens: 0,
      floorTokens: 0,
    }
    const plan = planContext(sizes, {}, { ...policy, lowWater: 1 })
    return { ...shared, plan, sizes, by: "budget", limits: { targetTokens: budgetTokens, hardTokens: budgetTokens } }
  }
  const words = latestWords(separation.conversation) ?? []
  const sizes = windowSizes(request, meter, options, {
    stackTokens,
    outsideTokens,
    words,
    unreadTokens: shape.unreadTokens,
  })
  const plan = planContext({ ...sizes, ...shape }, options.occasion ?? {}, policy)
  const hardTokens = Math.max(0, sizes.windowTokens - sizes.reserveTokens - stackTokens)
  const targetTokens =
    plan.type === "compact" ? Math.min(hardTokens, Math.max(0, plan.targetTokens - stackTokens)) : hardTokens
  return { ...shared, plan, sizes: { ...sizes, ...shape }, by: "window", limits: { targetTokens, hardTokens } }
}

export type RequestSizes = {
  /** Framing, system part and tools. */
  readonly overheadTokens: number
  /** Overhead and the messages with infrastructure. */
  readonly stackTokens: number
  /** Everything else. */
  readonly outsideTokens: number
}

/** Measures a request: its infrastructure, and everything else. */
export function measure(
  request: ModelRequest,
  { infrastructure, conversation }: Separation,
  meter: Meter,
): RequestSizes {
  const outsideTokens = tokensOutsideStack({ messages: request.messages, infrastructure, conversation }, meter)
  const standing = infrastructure.messages.reduce((sum, message) => sum + meter.message(message), 0)
  const overheadTokens = meter.overhead(request)
  return { overheadTokens, stackTokens: overheadTokens + standing, outsideTokens }
}

type TokenCounts = Omit<RequestSizes, "overheadTokens"> & {
  readonly words: readonly Part[]
  readonly unreadTokens: number
}

/** The sizes relative to a window; throws a Problem if content that can never be left out does not fit. */
function windowSizes(
  request: ModelRequest,
  meter: Meter,
  { windowTokens = meter.model.windowTokens, reserveTokens, longestAnswerTokens, pins = [] }: PlanOptions,
  { stackTokens, outsideTokens, words, unreadTokens }: TokenCounts,
): Omit<Sizes, keyof Shape> {
  const tools = request.tools.reduce((sum, tool) => sum + meter.tool(tool), 0)
  const pinTokens = pins.reduce((sum, pin) => sum + meter.text(pin), 0)
  const wordTokens = words.reduce((sum, part) => sum + meter.part(part), 0)
  const textTokens = words.reduce((sum, part) => sum + (part.type === "text" ? meter.part(part) : 0), 0)
  const minWords = wordTokens - textTokens + Math.min(textTokens, minWordTokens)
  const wantedTokens = request.maxOutputTokens ?? Math.min(usualAnswerTokens, meter.model.outputTokens)
  const floorTokens = stackTokens + pinTokens + minWords
  const held =
    reserveTokens ?? reserveFor({ windowTokens, floorTokens, unreadTokens, wantedTokens, longestAnswerTokens })
  const reserve = Math.min(held, Math.floor(windowTokens * mostReserveShare))
  const floor = irreducibleFloor({
    stack: Math.max(0, stackTokens - tools),
    pins: pinTokens,
    tools,
    latestUserMessage: minWords,
    outputReserve: reserve,
  })
  requireFloor(floor, windowTokens)
  return {
    contextTokens: stackTokens + outsideTokens,
    windowTokens,
    reserveTokens: reserve,
    floorTokens: Math.min(windowTokens - reserve, stackTokens + pinTokens + wordTokens),
  }
}

type Shape = Pick<Sizes, "unreadTokens" | "toolOutputTokens" | "toolRounds">

/** Figures about tool rounds: their number, the tokens that the model has not read, and the largest result that it has read. */
function shapeOf({ messages }: ModelRequest, meter: Meter): Shape {
  const groups = groupTurns(messages)
  const { firstGroup } = unansweredIn(messages, groups)
  const from = groups[firstGroup]?.start ?? messages.length
  const endsUnread = messages.at(-1)?.parts.some((part) => part.type === "tool-result") === true
  const last = endsUnread ? messages.slice(from) : []
  let largest = 0
  for (const { parts } of messages.slice(0, from))
    for (const part of parts) if (part.type === "tool-result") largest = Math.max(largest, meter.part(part))
  return {
    unreadTokens: last.reduce((sum, message) => sum + meter.message(message), 0),
    toolOutputTokens: largest,
    toolRounds: groups.filter(({ type }) => type === "tool-round").length,
  }
}

/** A rule given by the caller of one request. */
const userRule = (text: string): PinnedRule => ({ text, channel: "user" })

/** The options with defaults filled in. */
export function choicesOf(options: CompactOptions, meter: Meter): CompactChoices {
  const { strategy = "staged", schema = "handoff", pins = [], summarizer } = options
  return {
    ...(typeof strategy === "function"
      ? { strategy: "custom", entry: { select: strategy, micro: "even" } }
      : { strategy, entry: strategies[strategy] }),
    strategyOptions: { ...defaultStrategyOptions, ...options.strategyOptions },
    schema,
    digest: summarizer === "none" ? "none" : "full",
    pins: [...new Set(pins)].map(userRule),
    ...present({
      focus: options.focus,
      language: options.language,
      toolBudgets: options.toolBudgets,
      handleOf: options.handleOf,
      summarizer: createSummarizer(options, meter),
    }),
  }
}

/** The cost of losing the prompt cache: the infrastructure stays cached, everything after it is new. */
export function weighCompaction(
  { beforeTokens, afterTokens }: Pick<Compacted, "beforeTokens" | "afterTokens">,
  { stackTokens, expectedCalls }: Pick<RequestPlan, "stackTokens" | "expectedCalls">,
  meter: Meter,
): Weighing {
  const rewrite = {
    keptTokens: stackTokens,
    beforeTokens: stackTokens + beforeTokens,
    afterTokens: stackTokens + afterTokens,
    expectedCalls,
  }
  return weighRewrite(rewrite, meter.model.prices)
}

/**
 * The meter for a request. An unknown model is counted conservatively against a window. Against a budget, which is the caller's own number,
 * it is counted in plain o200k tokens, because nothing better is known.
 */
export function meterFor(request: ModelRequest, { meter, model: asked, budgetTokens }: CompactOptions): Meter {
  if (meter !== undefined) return meter
  const name = asked ?? request.model
  const found = findModel(name ?? "")
  const model = name === undefined ? { ...found, family: familyOf[request.format] } : found
  const plain = !model.known && budgetTokens !== undefined
  return createMeter({ model: plain ? { ...model, vocabulary: "o200k" } : model })
}

/** The meter of a model, by its name or else by the request's format. */
export function meterOf(model: string | undefined, format: Format): Meter {
  return model === undefined
    ? createMeter({ model: { ...findModel(""), family: familyOf[format] } })
    : createMeter({ model })
}
