import { compactionMark, type Occasion } from "../compact/plan/plan.ts"
import { type CompactionPolicy, defaultPolicy } from "../compact/plan/policy.ts"
import { type Format, type ModelRequest, type Part, tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import { type Calibration, predict, uncalibrated } from "../tokens/calibrate.ts"
import type { Meter } from "../tokens/meter.ts"
import { checkPins, type PinCheck, type PinCheckOptions } from "./check-pins.ts"
import type { Live } from "./live.ts"
import type { LogEvent } from "./log/event.ts"
import type { Trace } from "./log/trace.ts"
import { type Planned, type PlanOptions, planRequest } from "./one-shot/plan-request.ts"
import type { Call } from "./open-call.ts"
import { longestAnswer } from "./open-live.ts"
import type { SessionPin } from "./pins.ts"
import type { StackReceipt } from "./session-stack.ts"
import type { SummarySpending } from "./session-summary.ts"
import type { StackOption } from "./stack/stack-options.ts"
import type { Assembled } from "./view.ts"

/** What one model call needs. */
export type PrepareOptions = {
  readonly format?: Format
  /**
   * The client's own body. With messages it is the whole history as the client has it, and is matched to the log; without, it is what
   * the log's messages are put into.
   */
  readonly body?: string | object
  /** The same, for whoever has read the client's request already: it is not read again. In place of the body. */
  readonly request?: ModelRequest
  readonly model?: string
  /** Where there is no body: the system part, and tools in the wire's own shape. */
  readonly system?: string | readonly Part[]
  readonly tools?: readonly unknown[]
  readonly maxOutputTokens?: number
  readonly stream?: boolean
  readonly windowTokens?: number
  readonly reserveTokens?: number
  /** What matters to whoever asks, if this call compacts. */
  readonly focus?: string
  readonly occasion?: Occasion
  readonly maxWaitMs?: number
  /**
   * Mend a client's history always, so that every call has its result, or only where it is changed anyway: providers differ in what they
   * take, and one that took it as it came has it in its cache. Always unless given.
   */
  readonly repair?: "always" | "when-changed"
  /**
   * What to do about a session that may have rules which this process cannot know, because its store cannot be read: refuse the call with
   * the store's Problem, or go on with what is known. `pass` unless given.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
  /** The prompt stack, over that of the options: `{ inputs }` alone gives the functions among its sources another task. */
  readonly stack?: StackOption
}

export type WhenStoreIsAway = "refuse" | "pass"

/** What a prepared request is, for the recent exchanges. */
export type Receipt = {
  readonly session: string
  /** The last message of the log that it has in it. */
  readonly entry: string
  readonly checkpoint?: string
  /** What it will be reported as, by our count and what we learned of this model. */
  readonly contextTokens: number
  readonly stackTokens: number
  /** The fingerprints of the prompt stack that is in it, and of the one that waits for the next compaction. */
  readonly stack?: StackReceipt
  readonly windowTokens: number
  /** Above this a request is compacted. */
  readonly compactAtTokens: number
  /** The same for a request that ends in tool results: what the model has not read goes out whole while it fits. */
  readonly compactUnreadAtTokens: number
  /** What stands at its beginning exactly as in the request before, and so can be read from the provider's cache. */
  readonly stableTokens: number
  /** Did the request go out other than it came in? */
  readonly changed: boolean
  /** Does the store have everything that is in it? */
  readonly durable: boolean
  /** What the session's own model was asked for summaries, and what the next one will take; where it writes them. */
  readonly summaries?: SummarySpending
}

export type Prepared<Body extends string | object = string | object> = {
  /** Text if the body came as text, otherwise parsed. */
  readonly body: Body
  readonly wire: string
  /** The same, read: system, tools and messages. */
  readonly context: Pick<ModelRequest, "format" | "system" | "tools" | "messages">
  readonly trace: Trace
  readonly receipt: Receipt
  /** Every message of it is in the log: no system message, document or list of tools stands beside the conversation. */
  readonly allLogged: boolean
  /** The rules in force, each verbatim. */
  readonly rules: readonly string[]
}

/** Everything about one call that the steps of preparing it share; `notes` is what they have to tell beside their outcome. */
export type Preparing = {
  readonly live: Live
  readonly call: Call
  readonly meter: Meter
  readonly pins: readonly SessionPin[]
  readonly options: PrepareOptions
  readonly notes: LogEvent[]
  /** There is no room for rules that were found: the window is too small for them beside what has to stay. */
  readonly withoutFound?: true
}

/** What is to be done if this is what is sent: its size, and whether every rule stands in it. */
export function budgetOf(preparing: Preparing, assembled: Assembled): Budgeted & { readonly check: PinCheck } {
  const { live, meter, pins, options } = preparing
  const asked = pins.flatMap(({ by, state, text }) => (by === "asked" && state === "in-force" ? text : []))
  const budgeted = budgetView(live, assembled, meter, asked, options)
  const check = checkPins(pins, assembled, pinOptions(preparing, budgeted))
  return { ...budgeted, check, pinsStand: check.missing.length === 0 && !check.stale }
}

export const pinOptions = ({ call, meter, withoutFound }: Preparing, { sizes, policy }: Budgeted): PinCheckOptions => ({
  meter,
  budgetTokens: withoutFound ? 0 : Math.floor(sizes.windowTokens * policy.pinShare),
  held: call.kind === "held",
})

/** The window as our count sees it, and what was decided from it. */
export type Budgeted = Planned & {
  readonly policy: CompactionPolicy
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
function budgetView(
  live: Live,
  { frame, messages, separation }: Assembled,
  meter: Meter,
  pins: readonly string[],
  options: PrepareOptions,
): Budgeted {
  const calibration = live.calibrations.get(meter.model.id) ?? uncalibrated
  const scale = (count: number): number => Math.max(1, Math.floor(count / calibration.ratio))
  const windowTokens = options.windowTokens ?? live.options.windowTokens ?? meter.model.windowTokens
  const reserve = options.reserveTokens ?? live.options.reserveTokens
  const policy: CompactionPolicy = {
    ...defaultPolicy,
    ...live.options.policy,
    ...(live.undoneAt === undefined ? {} : { compactAt: 1 }),
  }
  const longest = longestAnswer(live, meter.model.id)
  const planOptions: PlanOptions = {
    format: frame.format,
    windowTokens: scale(windowTokens),
    pins,
    policy,
    ...present({
      reserveTokens: reserve === undefined ? undefined : scale(reserve),
      occasion: options.occasion,
      longestAnswerTokens: longest === undefined ? undefined : scale(longest),
    }),
  }
  const planned = planRequest({ ...frame, messages }, separation, meter, planOptions)
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
