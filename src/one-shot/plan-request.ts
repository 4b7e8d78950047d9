import { rulesIn } from "../compact/pins.ts"
import type { Limits } from "../compact/task.ts"
import { latestWords, tokensOutsideStack } from "../compact/verify.ts"
import { groupTurns } from "../message/group.ts"
import { tokens } from "../message/ids.ts"
import type { ModelRequest } from "../message/request.ts"
import { type Plan, planContext, type Sizes } from "../plan/plan.ts"
import { defaultPolicy, type Policy } from "../plan/policy.ts"
import { irreducibleFloor, requireFloor } from "../prompt/floor.ts"
import { separate } from "../prompt/separate.ts"
import type { Meter } from "../tokens/meter.ts"
import { ruleOf } from "./choices.ts"
import type { CompactOptions } from "./options.ts"

/** What is to be done about one request, and within which limits. */
export type Planned = {
  readonly plan: Plan
  readonly sizes: Sizes
  readonly limits: Limits
  readonly by: "budget" | "window"
  readonly stackTokens: number
  readonly outsideTokens: number
  readonly expectedCalls: number
  /** Does every pinned rule stand in the request as it came? */
  readonly pinsStand: boolean
}

/**
 * One request asked about by itself is compacted when it does not fit, and not before: what to do earlier is for someone who knows
 * the session.
 */
const oneShot: Partial<Policy> = { compactAt: 1, toolOutputTokens: Number.POSITIVE_INFINITY }

/** An answer may be asked to be longer than the window is wide; no more than this of it is held free. */
const mostReserve = 0.5
/** Kept free where nobody says how long the answer may be. */
const usualReserve = 4096
/** Clients ask for the longest answer that they can take. Beside a large stack they get this share of what it leaves, and not less than usual. */
const yieldingShare = 0.25

export function planRequest(request: ModelRequest, meter: Meter, options: CompactOptions): Planned {
  const { conversation } = separate(request)
  const { stackTokens, outsideTokens } = measure(request, meter)
  const policy: Policy = { ...defaultPolicy, ...oneShot, ...options.policy }
  const pins = options.pins ?? []
  const shared = {
    stackTokens,
    outsideTokens,
    expectedCalls: policy.expectedCalls,
    pinsStand: pins.length === 0 || pins.map(ruleOf).every(rulesIn(request)),
  }
  const shape = {
    toolOutputTokens: tokens(largestOutput(request, meter)),
    toolRounds: groupTurns(request.messages).filter(({ type }) => type === "tool-round").length,
  }
  if (options.budgetTokens !== undefined) {
    const { budgetTokens } = options
    const sizes: Sizes = {
      ...shape,
      contextTokens: tokens(outsideTokens),
      windowTokens: tokens(budgetTokens),
      reserveTokens: tokens(0),
      floorTokens: tokens(0),
    }
    const plan = planContext(sizes, {}, { ...policy, lowWater: 1 })
    return { ...shared, plan, sizes, by: "budget", limits: { targetTokens: budgetTokens, hardTokens: budgetTokens } }
  }
  const words = latestWords(conversation) ?? []
  const sizes = windowSizes(request, meter, options, {
    stackTokens,
    outsideTokens,
    wordTokens: words.reduce((sum, part) => sum + meter.part(part), 0),
  })
  const plan = planContext({ ...sizes, ...shape }, options.occasion ?? {}, policy)
  const hardTokens = Math.max(0, sizes.windowTokens - sizes.reserveTokens - stackTokens)
  const targetTokens =
    plan.type === "compact" ? Math.min(hardTokens, Math.max(0, plan.targetTokens - stackTokens)) : hardTokens
  return { ...shared, plan, sizes: { ...sizes, ...shape }, by: "window", limits: { targetTokens, hardTokens } }
}

export type Measured = { readonly stackTokens: number; readonly outsideTokens: number }

/** What a request takes: its stack, and everything beside it. */
export function measure(request: ModelRequest, meter: Meter): Measured {
  const { infrastructure, conversation } = separate(request)
  const outsideTokens = tokensOutsideStack({ messages: request.messages, infrastructure, conversation }, meter)
  const standing = infrastructure.messages.reduce((sum, message) => sum + meter.message(message), 0)
  return { stackTokens: meter.overhead(request) + standing, outsideTokens }
}

type Counted = Measured & { readonly wordTokens: number }

/** The sizes against a window, or the Problem that what can never be left out does not fit it. */
function windowSizes(
  request: ModelRequest,
  meter: Meter,
  { windowTokens = meter.model.windowTokens, reserveTokens, pins = [] }: CompactOptions,
  { stackTokens, outsideTokens, wordTokens }: Counted,
): Omit<Sizes, "toolOutputTokens" | "toolRounds"> {
  const tools = request.tools.reduce((sum, tool) => sum + meter.tool(tool), 0)
  const pinTokens = pins.reduce((sum, pin) => sum + meter.text(pin), 0)
  const wanted = request.maxOutputTokens ?? Math.min(usualReserve, meter.model.outputTokens)
  const left = windowTokens - stackTokens - pinTokens - wordTokens
  const yielding = Math.min(wanted, Math.max(usualReserve, Math.floor(left * yieldingShare)))
  const held = reserveTokens ?? (wanted > left - yielding ? yielding : wanted)
  const reserve = tokens(Math.min(held, Math.floor(windowTokens * mostReserve)))
  const floor = irreducibleFloor({
    stack: tokens(Math.max(0, stackTokens - tools)),
    pins: tokens(pinTokens),
    tools: tokens(tools),
    latestUserMessage: tokens(wordTokens),
    outputReserve: reserve,
  })
  requireFloor(floor, tokens(windowTokens))
  return {
    contextTokens: tokens(stackTokens + outsideTokens),
    windowTokens: tokens(windowTokens),
    reserveTokens: reserve,
    floorTokens: tokens(floor.floorTokens - reserve),
  }
}

function largestOutput({ messages }: ModelRequest, meter: Meter): number {
  let most = 0
  for (const { parts } of messages)
    for (const part of parts) if (part.type === "tool-result") most = Math.max(most, meter.part(part))
  return most
}
