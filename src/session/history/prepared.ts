import { isRule, rulePresence } from "../../compact/pins.ts"
import { compactionMark, type Occasion } from "../../compact/plan/plan.ts"
import { type CompactionPolicy, defaultPolicy } from "../../compact/plan/policy.ts"
import { holdsCompaction, ownMessage } from "../../compact/standing.ts"
import { channelOf } from "../../message/fence.ts"
import { type Format, type Message, type ModelRequest, type Part, textOfMessage } from "../../message/message.ts"
import { type Carried, carryPins, type Pin, type PinPlace } from "../../rules/pin.ts"
import { type Calibration, predict, uncalibrated } from "../../tokens/calibrate.ts"
import type { Meter } from "../../tokens/meter.ts"
import type { LogEvent, Trace } from "../log/event.ts"
import { type PlanOptions, planRequest, type RequestPlan } from "../one-shot/plan-request.ts"
import { isInForce, type RuleCount, type SessionPin, wasWithdrawn } from "../rules/pins.ts"
import type { StackOption } from "../stack/stack-options.ts"
import type { Live, SummarySpending } from "../state/live.ts"
import type { Call } from "./open-call.ts"
import type { StackReceipt } from "./session-stack.ts"
import type { AssembledView } from "./view.ts"

/** Options for one model call. */
export type PrepareOptions = {
  readonly format?: Format
  /** The client's body: with messages, its whole history, matched with the log; without, the log's messages are put into it. */
  readonly body?: string | object
  /** The decoded request in place of the body, so that it is not decoded again. */
  readonly request?: ModelRequest
  readonly model?: string | undefined
  /** Without a body: the system part, and tools in the wire format. */
  readonly system?: string | readonly Part[]
  readonly tools?: readonly unknown[]
  readonly maxOutputTokens?: number
  readonly stream?: boolean
  readonly windowTokens?: number | undefined
  readonly reserveTokens?: number | undefined
  /** What a compaction in this call should focus on. */
  readonly focus?: string | undefined
  readonly occasion?: Occasion | undefined
  readonly maxWaitMs?: number
  /** The request was already sent: the result is used for the next one. */
  readonly isSent?: true | undefined
  /**
   * When to repair a client's history so that every tool call has its result: always, or only if it is changed anyway. Providers differ in
   * what they accept, and a provider that accepted it unchanged has it in its cache. The default is `always`.
   */
  readonly repair?: "always" | "when-changed"
  /**
   * What to do if a session may have rules that cannot be read because the store is unavailable: refuse the call with the store's Problem,
   * or continue with what is known. The default is `pass`.
   */
  readonly whenStoreIsAway?: WhenStoreIsAway
  /** The prompt stack, in place of the one in the options. `{ inputs }` alone passes other inputs to the functions among its sources. */
  readonly stack?: StackOption | undefined
}

export type WhenStoreIsAway = "refuse" | "pass"

/** Figures about a prepared request, for the list of recent exchanges. */
export type Receipt = RuleCount & {
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
  readonly compactAtTokens: number
  /** The same for a request that ends with tool results: results that the model has not read are sent in full as long as they fit. */
  readonly compactUnreadAtTokens: number
  /** Tokens at its beginning that are the same as in the previous request, so that the provider can read them from its cache. */
  readonly stableTokens: number
  readonly changed: boolean
  /** True if the store has all of its messages. */
  readonly durable: boolean
  /** Lookups right after the compaction in force that repeat what it removed. */
  readonly rereads?: number
  /** The token usage of summaries by the session's own model, and what the next one is expected to take; only if that model writes them. */
  readonly summaries?: SummarySpending
}

export type Prepared<Body extends string | object = string | object> = {
  /** A string if the body was given as a string, otherwise an object. */
  readonly body: Body
  readonly wire: string
  readonly context: Pick<ModelRequest, "format" | "system" | "tools" | "messages">
  readonly trace: Trace
  readonly receipt: Receipt
  /** Every message is in the log: there is no system message, document or tool list besides the conversation. */
  readonly allLogged: boolean
  /** The rules in force, each verbatim. */
  readonly rules: readonly string[]
}

/** The state that the steps of preparing one call share; `notes` collects events besides their outcome. */
export type PrepareState = {
  readonly live: Live
  readonly call: Call
  readonly meter: Meter
  /** The session's own rules. Those of the operator are in the system part, which the session writes itself. */
  readonly pins: readonly SessionPin[]
  readonly options: PrepareOptions
  readonly notes: LogEvent[]
  /** Re-reads after the compaction in force when the call was opened. */
  readonly rereads?: number | undefined
  /** Leave out rules found in messages: the window is too small for them and the required content. */
  readonly withoutFound?: true
}

/** Plan for an assembled view: its size, what to do about it, and whether it contains every rule. */
export function budgetOf(preparing: PrepareState, assembled: AssembledView): ViewBudget & { readonly check: PinCheck } {
  const { live, meter, pins, options } = preparing
  const asked = pins.flatMap(({ by, state, text }) => (by === "asked" && state === "in-force" ? text : []))
  const budgeted = budgetView(live, assembled, meter, asked, options)
  const check = checkPins(pins, assembled, pinOptions(preparing, budgeted))
  return { ...budgeted, check, pinsStand: check.missing.length === 0 && !check.stale }
}

export const pinOptions = (
  { call, meter, withoutFound }: PrepareState,
  { sizes, policy }: ViewBudget,
): PinCheckOptions => ({
  meter,
  budgetTokens: withoutFound ? 0 : Math.floor(sizes.windowTokens * policy.pinShare),
  held: call.kind === "held",
})

/** The window in our own token counts, and the resulting plan. */
export type ViewBudget = RequestPlan & {
  readonly policy: CompactionPolicy
  readonly calibration: Calibration
  /** The window and the context in the provider's tokens. */
  readonly windowTokens: number
  readonly contextTokens: number
  /** The compaction threshold in the provider's tokens. */
  readonly compactAtTokens: number
  /** The same for a context that ends with tool results that the model has not read yet. */
  readonly compactUnreadAtTokens: number
  /** True if the context fits the window without compaction. */
  readonly fits: boolean
}

/** Plans a view: its size, and what to do about it. Counts are ours; the window is scaled down by as much as our counts are too low. */
function budgetView(
  live: Live,
  { frame, messages, separation }: AssembledView,
  meter: Meter,
  pins: readonly string[],
  options: PrepareOptions,
): ViewBudget {
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
    reserveTokens: reserve === undefined ? undefined : scale(reserve),
    occasion: options.occasion,
    longestAnswerTokens: longest === undefined ? undefined : scale(longest),
  }
  const planned = planRequest({ ...frame, messages }, separation, meter, planOptions)
  const { sizes } = planned
  const answeredMark = compactionMark(sizes, policy, "answered")
  const unreadMark = compactionMark(sizes, policy, "unread")
  return {
    ...planned,
    policy,
    calibration,
    windowTokens,
    contextTokens: predict(calibration, sizes.contextTokens),
    compactAtTokens: predict(calibration, answeredMark),
    compactUnreadAtTokens: predict(calibration, unreadMark),
    fits: sizes.contextTokens <= sizes.windowTokens - sizes.reserveTokens,
  }
}

/** Minimum number of responses to predict the length of the next one. */
const minAnswers = 3

/** The longest of the latest responses, if there are enough of them. */
function longestAnswer({ answers }: Live, model: string): number | undefined {
  const lengths = answers.get(model) ?? []
  return lengths.length < minAnswers ? undefined : Math.max(...lengths)
}

type PinCheck = {
  /** Rules in force that the request does not contain. */
  readonly missing: readonly Pin[]
  /** A withdrawn rule is still in a message with pinned rules. */
  readonly stale: boolean
}

type PinCheckOptions = {
  readonly meter: Meter
  readonly budgetTokens: number
  /** The provider holds the earlier history, including the text of rules. */
  readonly held: boolean
}

/** The rules to carry beside the conversation, and those for which there is no room. */
export function carriedPins(
  pins: readonly SessionPin[],
  assembled: AssembledView,
  { meter, budgetTokens }: PinCheckOptions,
): Carried {
  const own = pins.filter((pin) => isInForce(pin) && !isReplaced(pin, assembled))
  return carryPins(own, { budgetTokens, count: meter.text })
}

/**
 * Checks that a request contains every rule in force, verbatim. A rule counts where it was said, if that text is shown unchanged, or in a
 * message with pinned rules. The cost depends on the number of rules, not on the length of the history.
 */
function checkPins(pins: readonly SessionPin[], assembled: AssembledView, options: PinCheckOptions): PinCheck {
  if (pins.length === 0) return { missing: [], stale: false }
  const inForce = pins.filter(isInForce)
  const { isPlaced, isPut, isAnywhere } = ruleChecks(assembled, inForce)
  const absent = new Set(
    inForce.filter((pin) => !(options.held && pin.by === "found") && !isPlaced(pin) && !isPut(pin)).map(({ id }) => id),
  )
  const carried = absent.size === 0 ? [] : carriedPins(pins, assembled, options).carried
  const wanted = new Set(inForce.map(({ text }) => text))
  const gone = pins.filter((pin) => wasWithdrawn(pin) && !wanted.has(pin.text))
  const isPreface = (message: Message): boolean => ownMessage(message) === "pins"
  const prefaces = gone.length === 0 ? [] : assembled.messages.filter(isPreface).map(textOfMessage)
  return {
    missing: carried.filter((pin) => absent.has(pin.id) && !isAnywhere(pin)),
    stale: gone.some(({ text }) => prefaces.some((preface) => isRule(preface, text))),
  }
}

/** True if a document with the same name but other content is present: its rules replace the old ones. */
function isReplaced({ place, source }: Pin, { separation }: AssembledView): boolean {
  const { documents } = separation.infrastructure
  if (place === undefined || !("document" in place)) return false
  return !documents.some(({ hash }) => hash === place.document) && documents.some(({ name }) => name === source)
}

type RuleCheck = (pin: Pin) => boolean

/** Checks for a rule: where it was said, in a message with pinned rules (both fast), or anywhere in the request that counts (slow). */
function ruleChecks(
  { frame, messages, separation }: AssembledView,
  pins: readonly Pin[],
): { readonly isPlaced: RuleCheck; readonly isPut: RuleCheck; readonly isAnywhere: RuleCheck } {
  const wanted = new Set<string>(
    pins.flatMap(({ place }) => (place !== undefined && "entry" in place ? place.entry : [])),
  )
  const seen = messages.slice(messages.findLastIndex(holdsCompaction) + 1)
  const byId = new Map<string, Message>(
    wanted.size === 0 ? [] : seen.flatMap((message) => (wanted.has(message.id) ? [[message.id, message]] : [])),
  )
  const hashes = new Set(separation.infrastructure.documents.map(({ hash }) => hash))
  let put: readonly Message[] | undefined
  let anywhere: RuleCheck | undefined
  return {
    isPlaced: ({ place, text }) => {
      if (place === undefined) return false
      return "document" in place ? hashes.has(place.document) : isSaid(byId.get(place.entry), place, text)
    },
    isPut: ({ text }) => {
      put ??= seen.filter((message) => ownMessage(message) === "pins")
      return put.some((message) => holdsRule(message, text))
    },
    isAnywhere: (pin) => {
      anywhere ??= rulePresence({ system: frame.system, messages })
      return anywhere(pin)
    },
  }
}

/** Cached results for messages with pinned rules, because they are in one request after another. */
const searched = new WeakMap<Message, Map<string, boolean>>()

function holdsRule(message: Message, rule: string): boolean {
  const answers = searched.get(message) ?? new Map<string, boolean>()
  searched.set(message, answers)
  const known = answers.get(rule)
  if (known !== undefined) return known
  const { role, parts } = message
  const holds = parts.some(
    (part) => part.type === "text" && channelOf(role, part) !== "tool" && part.text.includes(rule),
  )
  answers.set(rule, holds)
  return holds
}

function isSaid(message: Message | undefined, place: Extract<PinPlace, { entry: string }>, text: string): boolean {
  const part = message?.parts[place.part]
  const said = part?.type === "tool-result" ? part.content[place.piece ?? 0] : part
  return said?.type === "text" && said.text.startsWith(text, place.start)
}
