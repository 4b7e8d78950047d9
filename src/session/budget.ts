import { compactionMark } from "../compact/plan/plan.ts"
import { defaultPolicy, type Policy } from "../compact/plan/policy.ts"
import { tokens } from "../message/ids.ts"
import { present } from "../message/present.ts"
import type { ModelRequest } from "../message/request.ts"
import { type Calibration, predict, uncalibrated } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import type { Live } from "./live.ts"
import { type Planned, type PlanOptions, planRequest } from "./one-shot/plan-request.ts"
import { longestAnswer } from "./open-live.ts"
import type { PrepareOptions } from "./prepared.ts"

/** The window as our count sees it, and what was decided from it. */
export type Budgeted = Planned & {
  readonly policy: Policy
  readonly calibration: Calibration
  /** The window and the context in the provider's own tokens. */
  readonly windowTokens: number
  readonly contextTokens: number
  /** The most that the context may come to before it is compacted, in the provider's own tokens. */
  readonly compactAtTokens: number
  /** The same for one that ends in tool results, which the model has not read yet. */
  readonly compactUnreadAtTokens: number
  /** Does the context fit the window as it is? */
  readonly fits: boolean
}

/** Plan a view: how large it is, and what is to be done about it. Counts are ours; the window is made as small as our counts are low. */
export function budgetView(
  live: Live,
  request: ModelRequest,
  meter: Meter,
  pins: readonly string[],
  options: PrepareOptions,
): Budgeted {
  const calibration = live.calibrations.get(meter.model.id) ?? uncalibrated
  const scale = (count: number): number => Math.max(1, Math.floor(count / calibration.ratio))
  const windowTokens = options.windowTokens ?? live.options.windowTokens ?? meter.model.windowTokens
  const reserve = options.reserveTokens ?? live.options.reserveTokens
  const policy: Policy = {
    ...defaultPolicy,
    ...live.options.policy,
    ...(live.undoneAt === undefined ? {} : { compactAt: 1 }),
  }
  const longest = longestAnswer(live, meter.model.id)
  const planOptions: PlanOptions = {
    format: request.format,
    windowTokens: scale(windowTokens),
    pins,
    policy,
    ...present({
      reserveTokens: reserve === undefined ? undefined : scale(reserve),
      occasion: options.occasion,
      longestAnswerTokens: longest === undefined ? undefined : scale(longest),
    }),
  }
  const planned = planRequest(request, meter, planOptions)
  const { sizes } = planned
  return {
    ...planned,
    policy,
    calibration,
    windowTokens,
    contextTokens: predict(calibration, tokens(sizes.contextTokens)),
    compactAtTokens: predict(calibration, tokens(compactionMark(sizes, policy, "answered"))),
    compactUnreadAtTokens: predict(calibration, tokens(compactionMark(sizes, policy, "unread"))),
    fits: sizes.contextTokens <= sizes.windowTokens - sizes.reserveTokens,
  }
}
