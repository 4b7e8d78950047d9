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

/** Options for one model call. */
export type PrepareOptions = {
  readonly format?: Format
  /**
   * The client's request body. With messages, it is the client's whole history and is matched with the log; without, the log's messages are
   * put into it.
   */
  readonly body?: string | object
  /** The decoded request in place of the body, so that it is not decoded again. */
  readonly request?: ModelRequest
  readonly model?: string
  /** Without a body: the system part, and tools in the wire format. */
  readonly system?: string | readonly Part[]
  readonly tools?: readonly unknown[]
  readonly maxOutputTokens?: number
  readonly stream?: boolean
  readonly windowTokens?: number
  readonly reserveTokens?: number
  /** What a compaction in this call should focus on. */
  readonly focus?: string
  readonly occasion?: Occasion
  readonly maxWaitMs?: number
  /**
   * Repair a client's history always, so that every tool call has its result, or only if it is changed anyway: providers differ in what
   * they accept, and a provider that accepted it unchanged has it in its cache. The default is `always`.
   */
  readonly repair?: "always" | "when-changed"
  /**
   * What to do if a session may have rules that cannot be read because the store is unavailable: refuse the call with the store's Problem,
   * or continue with what is known. The default is `pass`.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
  /** The prompt stack, in place of the one in the options. `{ inputs }` alone passes other inputs to the functions among its sources. */
  readonly stack?: StackOption
}

export type WhenStoreIsAway = "refuse" | "pass"

/** Figures about a prepared request, for the list of recent exchanges. */
export type Receipt = {
  readonly session: string
  /** The last log message in the request. */
  readonly entry: string
  readonly checkpoint?: string
  /** The expected token count of the provider: our count, calibrated for this model. */
  readonly contextTokens: number
  readonly stackTokens: number
  /** The fingerprints of its prompt stack, and of the one that waits for the next compaction. */
  readonly stack?: StackReceipt
  readonly windowTokens: number
  /** Above this a request is compacted. */
  readonly compactAtTokens: number
  /** The same for a request that ends with tool results: results that the model has not read are sent in full as long as they fit. */
  readonly compactUnreadAtTokens: number
  /** Tokens at its beginning that are the same as in the previous request, so that the provider can read them from its cache. */
  readonly stableTokens: number
  /** Was the request changed? */
  readonly changed: boolean
  /** Does the store have all of its messages? */
  readonly durable: boolean
  /** Lookups right after the compaction in force that repeat what it removed. */
  readonly rereads?: number
  /** What the session's own model was asked for summaries, and what the next one will take; where it writes them. */
  readonly summaries?: SummarySpending
}

export type Prepared<Body extends string | object = string | object> = {
  /** A string if the body was given as a string, otherwise an object. */
  readonly body: Body
  readonly wire: string
  /** The decoded request: system, tools and messages. */
  readonly context: Pick<ModelRequest, "format" | "system" | "tools" | "messages">
  readonly trace: Trace
  readonly receipt: Receipt
  /** Every message is in the log: there is no system message, document or tool list besides the conversation. */
  readonly allLogged: boolean
  /** The rules in force, each verbatim. */
  readonly rules: readonly string[]
}

/** The state that the steps of preparing one call share; `notes` collects events besides their outcome. */
export type Preparing = {
  readonly live: Live
  readonly call: Call
  readonly meter: Meter
  readonly pins: readonly SessionPin[]
  readonly options: PrepareOptions
  readonly notes: LogEvent[]
  /** Re-reads after the compaction in force when the call was opened. */
  readonly rereads?: number
  /** Leave out rules found in messages: the window is too small for them and the required content. */
  readonly withoutFound?: true
}

/** Plan for an assembled view: its size, what to do about it, and whether it contains every rule. */
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

/** The window in our own token counts, and the resulting plan. */
export type Budgeted = Planned & {
  readonly policy: CompactionPolicy
  readonly calibration: Calibration
  /** The window and the context in the provider's tokens. */
  readonly windowTokens: number
  readonly contextTokens: number
  /** The compaction threshold in the provider's tokens. */
  readonly compactAtTokens: number
  /** The same for a context that ends with tool results that the model has not read yet. */
  readonly compactUnreadAtTokens: number
  /** Does the context fit the window without compaction? */
  readonly fits: boolean
}

/** Plan a view: its size, and what to do about it. Counts are ours; the window is scaled down by as much as our counts are too low. */
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
