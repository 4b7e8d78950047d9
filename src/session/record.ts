import { isDeepStrictEqual } from "node:util"
import type { Guard } from "../guard/guard.ts"
import { type GuardedResponse, guardResponse } from "../guard/guard-response.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
import { type Approve, deniedResults, type Guarding, type JudgedCall, spentWith } from "../guard/judge-call.ts"
import type { Circumstances } from "../guard/policy/condition.ts"
import { HoldfastError } from "../message/errors.ts"
import { memoryEnd, memoryStart } from "../message/fence.ts"
import { type ModelResponse, messageId, type ToolResultPart, type Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { appendAnswer } from "./history/ingest.ts"
import { requireLog } from "./history/open-call.ts"
import { type EntryBody, entryId } from "./log/entry.ts"
import type { Trace } from "./log/event.ts"
import type { Outline } from "./log/outline.ts"
import { type ResponseLike, readResponse } from "./log/read-response.ts"
import { durability } from "./prepare.ts"
import { sessionNames } from "./rules/pins.ts"
import { ruleGuardOf } from "./rules/rule-guard.ts"
import { askSessionModel } from "./session-summary.ts"
import { type Live, learnFromUsage } from "./state/live.ts"
import type { HoldfastOptions } from "./state/options.ts"
import {
  asksSpent,
  type CallOfResponse,
  callOfResponse,
  createRejudging,
  type OnJudged,
  type Spender,
  type SpendingSums,
  spentMeanwhile,
} from "./state/spending.ts"

/** A recorded response: its entries, and the usage that the provider reported. */
export type Recorded = {
  readonly entries: readonly string[]
  readonly durable: boolean
  readonly trace: Trace
  /** Input tokens read from the provider's cache, written to it, and neither; only reported values. */
  readonly usage?: Usage & { readonly uncachedTokens: number }
}

/** Options for recording a response. */
export type RecordOptions = {
  /** Texts that the model recalled while it answered, as it got them: they stay in the context of later calls. */
  readonly recalled?: readonly string[]
  /** The usage is that of another request than the session counted, or of several: token counts are not calibrated by it. */
  readonly isUncounted?: boolean
  /** The number of model calls that the usage is the sum of, if more than one. */
  readonly calls?: number
}

export async function recordResponse(
  live: Live,
  response: ResponseLike,
  reported?: Usage,
  { recalled = [], isUncounted = false, calls = 1 }: RecordOptions = {},
): Promise<Recorded> {
  const answer = answerOf(live, response)
  const usage = reported ?? answer.usage
  const { sent } = live
  const report =
    usage === undefined || sent === undefined
      ? undefined
      : reportOf({ model: sent.model, usage, calls }, isUncounted ? 0 : sent.tokens)
  const beside = report === undefined ? [] : [report]
  const placed = await appendAnswer(live, answer.messages, (from) => [
    ...beside,
    ...(recalled.length === 0 || from === 0 ? [] : [recalledBody(recalled, from, live.newId())]),
  ])
  // If the provider holds the history, we counted only the end, so there is nothing to learn.
  if (report !== undefined && !isUncounted && live.sent?.held === false) learnFromUsage(live, report)
  const read = present({ inputTokens: usage?.inputTokens, cacheReadTokens: usage?.cacheReadTokens })
  live.emit({ type: "answer-recorded", ...read })
  askSessionModel(live)
  return {
    entries: placed.map(entryId),
    durable: live.journal.isDurable(),
    trace: durability(live),
    ...present({ usage: usage === undefined ? undefined : { ...usage, uncachedTokens: uncached(usage) } }),
  }
}

const recalledNote =
  "Fetched from the record while the message before was answered. It stays here so that it need not be fetched again."

/** An entry with the recalled texts in one message of data, which is shown after the message that they were recalled for. */
const recalledBody = (texts: readonly string[], after: number, id: string): EntryBody => ({
  type: "text-recalled",
  after,
  message: {
    id: messageId(`k${after}-${id}`),
    role: "user",
    parts: [{ type: "text", text: [memoryStart, recalledNote, ...texts, memoryEnd].join("\n"), channel: "memory" }],
  },
})

export type UsageReport = { readonly model: string; readonly usage: Usage; readonly calls?: number }

/** Records the usage of calls whose responses are in the history. Their requests were not counted, so nothing is calibrated. */
export async function reportUsage({ journal }: Live, reports: readonly UsageReport[]): Promise<void> {
  const bodies = reports.map((report) => reportOf(report))
  await journal.commit(() => bodies)
}

type Report = Extract<EntryBody, { type: "usage-reported" }>

const reportOf = ({ model, usage, calls = 1 }: UsageReport, estimatedTokens = 0): Report => ({
  type: "usage-reported",
  model,
  estimatedTokens,
  usage,
  ...(calls > 1 ? { calls } : {}),
})

const uncached = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)

/** A response whose tool calls were judged, with the results for the model in place of withheld calls. */
export type JudgedResponse = GuardedResponse & { readonly results: readonly ToolResultPart[] }

/** A session's guard for the tool calls of one response; pass its decisions to `onJudged`, which logs them. */
export type SessionGuarding = Guarding & { readonly onJudged: OnJudged }

/** The current guard of a session, and what was spent by the session and by others. `asks`: which sums its policies depend on. */
type CurrentGuard = {
  readonly guarding: Guarding
  readonly account: Account
  readonly spender: Spender
  readonly sums: SpendingSums
  readonly asks: ReturnType<typeof asksSpent>
}

async function currentGuardOf(live: Live, stored?: string): Promise<CurrentGuard | undefined> {
  const { guard: own, operator } = live.options
  const standing = await operator?.refresh()
  const guarding = joined(own, [standing?.guard, await ruleGuardOf(live)])
  if (guarding === undefined) return undefined
  const { guard } = guarding
  const asks = asksSpent(guard)
  const whole = await accountOf(live, asks.inSession)
  const agent = own?.circumstances?.agent ?? live.owner.agent
  const sessions = own?.circumstances?.sessions ?? sessionNames(live.id, live.owner)
  const spender = { ...live.owner, sessions: sessionNames(live.id, live.owner), session: live.id }
  const sums = await sumsOf(live, spender, asks, stored)
  const before = stored === undefined ? 0 : live.spending.inLog(spender, stored)
  const account = { ...whole, spentMinor: whole.spentMinor - before }
  const circumstances = { ...own?.circumstances, agent, sessions, ...spentNow(account.spentMinor, sums) }
  return { guarding: { ...guarding, circumstances }, account, spender, sums, asks }
}

/** What was spent, as policies read it: in the session (`sessionMinor` by its own log, plus what that log lacks), and by all others. */
const spentNow = (sessionMinor: number, { besideMinor, by }: SpendingSums): Circumstances => ({
  spentMinor: sessionMinor + besideMinor,
  spentByMinor: by,
})

/** What others spent. If a limit beyond the session depends on it, a store that cannot be read is a Problem. */
async function sumsOf(
  { spending }: Live,
  spender: Spender,
  asks: CurrentGuard["asks"],
  stored: string | undefined,
): Promise<SpendingSums> {
  const known = (): SpendingSums => spending.known(spender, stored)
  return asks.inSession || asks.beyond ? spending.read(spender, stored).catch(unlessBeyond(asks, known)) : known()
}

/** Handles a store failure: a Problem if a limit beyond the session depends on the store, otherwise the session's own log is enough. */
const unlessBeyond =
  <Value>({ beyond }: CurrentGuard["asks"], otherwise: () => Value) =>
  (error: unknown): Value => {
    if (beyond || !(error instanceof HoldfastError)) throw error
    return otherwise()
  }

/** Adds what calls spend to what all sessions spend; false if others have spent so much meanwhile that it is no longer allowed. */
async function addSpending(
  { spending }: Live,
  { spender, asks }: CurrentGuard,
  minor: number,
  isAllowed: (sums: SpendingSums) => boolean,
  of?: CallOfResponse,
): Promise<boolean> {
  if (minor === 0 || (!asks.inSession && !asks.beyond)) return true
  return spending.add(spender, minor, isAllowed, of).catch(unlessBeyond(asks, () => true))
}

/**
 * Joins the guard of the options with the operator's policies and those from the session's rules. The others are always enforced: if the
 * guard of the options only observes, that does not switch them off. A policy from a rule has its own mode.
 */
function joined(own: HoldfastOptions["guard"], beside: readonly (Guard | undefined)[]): Guarding | undefined {
  const { guard, fromRules: _, ...use } = own ?? {}
  const enforced = beside.filter((one) => one !== undefined)
  const fromOptions =
    guard === undefined ? [] : [enforced.length > 0 && use.mode === "observe" ? onTrial(guard) : guard]
  const [first, ...others] = [...fromOptions, ...enforced]
  if (first === undefined) return undefined
  return { ...use, ...(enforced.length === 0 ? {} : { mode: "enforce" }), guard: joinGuards([first, ...others]) }
}

/**
 * The current guard for the tool calls of one response, from the session's options and the operator. `stored` is the id of a response that
 * was delivered before: what its calls spent then does not count against it, and is not counted again.
 */
export async function guardingOf(live: Live, stored?: string): Promise<SessionGuarding | undefined> {
  const current = await currentGuardOf(live, stored)
  if (current === undefined) return undefined
  let { spentMinor } = current.account
  const { guard, isAllowed } = createRejudging(current.guarding.guard)
  // Do not log allowed calls of a guard without policies: the built-in guard judges every call of every session.
  const hasPolicies = current.guarding.guard.policies.some(({ mode }) => mode === "enforce")
  const onJudged: OnJudged = async (judged, response) => {
    const { decision, observed = [] } = judged.verdict
    if (!hasPolicies && decision === "allow" && observed.length === 0) return
    const before = spentMinor
    const minor = spentWith([judged])
    spentMinor += minor
    const isStillAllowed = (sums: SpendingSums): boolean =>
      isAllowed(judged, { ...current.guarding.circumstances, ...spentNow(before, sums) })
    const of = callOfResponse(judged, response, stored)
    const isCounted = of?.isRead === true && live.spending.has(current.spender, of)
    if (!(await addSpending(live, current, minor, isStillAllowed, of))) throw spentMeanwhile()
    if (isCounted) return
    if (current.asks.inSession && minor > 0) await live.lock(() => writeSpending(live, judged, before))
    else noteJudged(live, judged)
  }
  return { ...current.guarding, guard, onJudged }
}

/** Runs a function under the session's lock. */
type WithLock = <Value>(act: (live: Live) => Promise<Value>) => Promise<Value>

/** Limit on attempts, repeated if another call of the session spent money meanwhile. This often in a row it is a fault. */
const maxAttempts = 8

/**
 * Judges the tool calls of a response before they run, and logs the decisions. Waiting for a person's approval does not block the session.
 * If money was spent meanwhile that a limit depends on, the response is judged again; the person is asked only about new questions.
 */
export async function judgeResponse(use: WithLock, given: ResponseLike): Promise<JudgedResponse> {
  const answers = new Map<string, ReturnType<Approve>>()
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const { response, current } = await use(async (live) => ({
      response: answerOf(live, given),
      current: await currentGuardOf(live),
    }))
    if (current === undefined) return { response, judged: [], results: [] }
    const { guard, approve, ...rest } = current.guarding
    const asking = approve === undefined ? rest : { ...rest, approve: askedOnce(approve, answers) }
    const guarded = await guardResponse(response, guard, asking)
    const { judged } = guarded
    if (judged.length === 0 || (await use((live) => writeDecided(live, current, judged))))
      return { ...guarded, results: deniedResults(judged, response) }
  }
  throw new HoldfastError({ code: "store-locked", store: "session's", waitedMs: 0 })
}

/** Asks a person, unless the same call was answered before for the same reasons. A call that occurs twice is asked about twice. */
function askedOnce(approve: Approve, answers: Map<string, ReturnType<Approve>>): Approve {
  const times = new Map<string, number>()
  return (call, verdict, signal) => {
    const question = JSON.stringify([call, verdict.reasons])
    const time = (times.get(question) ?? 0) + 1
    times.set(question, time)
    const key = `${time} ${question}`
    const answer = answers.get(key) ?? approve(call, verdict, signal)
    answers.set(key, answer)
    return answer
  }
}

/** Logs the decisions on a response, if neither the session nor others spent anything since they were made; otherwise returns false. */
async function writeDecided(live: Live, current: CurrentGuard, judged: readonly JudgedCall[]): Promise<boolean> {
  const minor = spentWith(judged)
  const isUnchanged = (sums: SpendingSums): boolean => isDeepStrictEqual(sums, current.sums)
  if (!(await addSpending(live, current, minor, isUnchanged))) return false
  if (await writeJudged(live, judged, current.asks.inSession && minor > 0 ? current.account : undefined)) return true
  await addSpending(live, current, -minor, () => true)
  return false
}

const answerOf = (live: Live, given: ResponseLike): ModelResponse =>
  readResponse(given, live.frame?.format ?? live.client?.format ?? live.options.format)

/** What a session has spent, and the number of logged judgements that this includes. */
type Account = { readonly spentMinor: number; readonly judgements: number }

const countIn = (outline: Outline): number => outline.ofType("calls-judged").length

/**
 * What the session has spent, in hundredths of the currency, including the amount given in the options. If a limit depends on it (`sure`),
 * a log that cannot be read is a Problem, so that nobody gets a fresh limit by cutting off the store.
 */
async function accountOf(live: Live, sure: boolean): Promise<Account> {
  const before = live.options.guard?.circumstances?.spentMinor ?? 0
  try {
    if (sure) await requireLog(live)
    await flushJudged(live)
    await live.journal.each("calls-judged", (body) => body.spentMinor, live.spent)
  } catch (error) {
    if (sure || !(error instanceof HoldfastError)) throw error
  }
  const spent = [...live.spent.values()].reduce((sum, minor) => sum + minor, before)
  return { spentMinor: spent + spentWith(live.judged), judgements: countIn(live.journal.outline()) }
}

/**
 * Logs decisions, but only if nothing else was decided since `account` was read; without `account`, always. While the store is unavailable
 * they are kept in memory, and count.
 */
async function writeJudged(
  { journal, emit, newId }: Live,
  judged: readonly JudgedCall[],
  account?: Account,
): Promise<boolean> {
  const body: EntryBody = {
    type: "calls-judged",
    calls: judged.map(({ callId, tool, verdict, enforced, approved }) => ({
      callId,
      tool,
      decision: verdict.decision,
      policies: verdict.reasons.map(({ policy }) => policy),
      enforced,
      ...present({
        rules: verdict.reasons.length === 0 ? undefined : [...new Set(verdict.reasons.map(({ rule }) => rule))],
        approved,
        observed: verdict.observed?.map(({ policy, rule, decision }) => ({ policy, rule, decision })),
      }),
    })),
    spentMinor: spentWith(judged),
    id: newId(),
  }
  const { entries } = await journal.commit((outline) =>
    account === undefined || countIn(outline) === account.judgements ? [body] : [],
  )
  if (entries.length === 0) return false
  for (const { tool, verdict, enforced, callId } of judged)
    emit({ type: "call-judged", callId, tool, decision: verdict.decision, enforced })
  return true
}

/** Keeps the decision on a streaming call in memory, and logs it in the background. */
function noteJudged(live: Live, judged: JudgedCall): void {
  live.judged.push(judged)
  if (live.judged.length === 1) live.later("judgement", () => flushJudged(live))
}

/** Limit on attempts after lost write races. */
const maxRaces = 8

/**
 * Logs a call that spends money before it is sent to the client, so that a crash does not reset a limit. If more was spent since it was
 * judged, it must not be sent.
 */
async function writeSpending(live: Live, judged: JudgedCall, spentMinor: number): Promise<void> {
  for (let race = 0; race < maxRaces; race++) {
    const account = await accountOf(live, true)
    if (account.spentMinor !== spentMinor) break
    if (await writeJudged(live, [judged], account)) return
  }
  throw new HoldfastError({ code: "store-locked", store: "session's", waitedMs: 0 })
}

/** Logs the decisions kept in memory, including those made during the write. */
async function flushJudged(live: Live): Promise<void> {
  while (!live.removed && live.judged.length > 0) {
    const waiting = [...live.judged]
    await writeJudged(live, waiting)
    live.judged.splice(0, waiting.length)
  }
}
