import type { Guard } from "../guard/guard.ts"
import { type GuardedResponse, guardResponse } from "../guard/guard-response.ts"
import { joinGuards, onTrial } from "../guard/join-guards.ts"
import { deniedResults, type Guarding, type JudgedCall, spentWith } from "../guard/judge-call.ts"
import { HoldfastError } from "../message/errors.ts"
import type { ModelResponse, ToolResultPart, Usage } from "../message/message.ts"
import { present } from "../message/present.ts"
import { appendAnswer } from "./ingest.ts"
import type { Live } from "./live.ts"
import { type EntryBody, entryId } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import { type ResponseLike, readResponse } from "./log/read-response.ts"
import type { Trace } from "./log/trace.ts"
import { requireLog } from "./open-call.ts"
import { learnFromUsage } from "./open-live.ts"
import { sessionNames } from "./pins.ts"
import { durability } from "./prepare.ts"
import { askSessionModel } from "./session-summary.ts"

/** What came of a call: the answer's entries, and what the provider says it took. */
export type Recorded = {
  readonly entries: readonly string[]
  readonly durable: boolean
  readonly trace: Trace
  /** Of the tokens that were sent: read from the provider's cache, written to it, and neither. Only what was reported. */
  readonly usage?: Usage & { readonly uncachedTokens: number }
}

export async function recordResponse(live: Live, response: ResponseLike, reported?: Usage): Promise<Recorded> {
  const answer = readResponse(response, live.frame?.format ?? live.client?.format ?? live.options.format)
  const usage = reported ?? answer.usage
  const report = reportOf(live, usage)
  const beside = report === undefined ? [] : [report]
  const { placed } = await appendAnswer(live, answer.messages, beside)
  // Of a history that the provider holds we saw only the end.
  if (report !== undefined && live.sent?.held === false) learnFromUsage(live, report)
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

type Report = Extract<EntryBody, { type: "usage-reported" }>

const reportOf = ({ sent }: Live, usage: Usage | undefined): Report | undefined =>
  usage === undefined || sent === undefined
    ? undefined
    : { type: "usage-reported", model: sent.model, estimatedTokens: sent.tokens, usage }

const uncached = ({ inputTokens, cacheReadTokens, cacheWriteTokens }: Usage): number =>
  Math.max(0, inputTokens - cacheReadTokens - cacheWriteTokens)

/** An answer whose calls were judged, and what the model is to get for those that were withheld. */
export type JudgedResponse = GuardedResponse & { readonly results: readonly ToolResultPart[] }

/** A session's guard for the calls of one answer; what it decides is to be told to `onJudged`, which writes it down. */
export type SessionGuarding = Guarding & { readonly onJudged: (judged: JudgedCall) => Promise<void> }

/** Whoever has a say in the calls of a session now, and what it has spent. */
type Bench = { readonly guarding: Guarding; readonly account: Account; readonly asksSpent: boolean }

async function benchOf(live: Live): Promise<Bench | undefined> {
  const { guard: own, operator } = live.options
  const standing = await operator?.refresh()
  const guarding = joined(own, standing?.guard)
  if (guarding === undefined) return undefined
  const { guard } = guarding
  const asksSpent = guard.policies.some(({ asks }) => asks.has("spent"))
  const account = await accountOf(live, asksSpent)
  const agent = own?.circumstances?.agent ?? live.owner.agent
  const sessions = own?.circumstances?.sessions ?? sessionNames(live.id, live.owner)
  const circumstances = { ...own?.circumstances, agent, sessions, spentMinor: account.spentMinor }
  return { guarding: { ...guarding, circumstances }, account, asksSpent }
}

/** The operator's policies are given effect in any case: who tries out a guard of their own does not switch them off. */
function joined(own: Guarding | undefined, laid: Guard | undefined): Guarding | undefined {
  if (own === undefined || laid === undefined) return own ?? (laid && { guard: laid })
  if (own.mode !== "observe") return { ...own, guard: joinGuards([own.guard, laid]) }
  return { ...own, guard: joinGuards([onTrial(own.guard), laid]), mode: "enforce" }
}

/** The guard of the session's options and the operator's as it stands now, for the calls of one answer. */
export async function guardingOf(live: Live): Promise<SessionGuarding | undefined> {
  const bench = await benchOf(live)
  if (bench === undefined) return undefined
  let { spentMinor } = bench.account
  // What a guard without policies lets through nobody has to know of: the built-in one judges every call of every session.
  const hasPolicies = bench.guarding.guard.policies.length > 0
  const onJudged = async (judged: JudgedCall): Promise<void> => {
    if (!hasPolicies && judged.verdict.decision === "allow") return
    const before = spentMinor
    spentMinor += spentWith([judged])
    if (bench.asksSpent && spentMinor > before) await live.lock(() => writeSpending(live, judged, before))
    else noteJudged(live, judged)
  }
  return { ...bench.guarding, onJudged }
}

/** Runs something while nobody else has the session. */
type Use = <Value>(act: (live: Live) => Promise<Value>) => Promise<Value>

/** Others spend now and then in the same session; this often in a row while one answer is judged is no chance any more. */
const maxSittings = 8

/**
 * Judge the calls of an answer before anyone acts on them, and write down what was decided. A person who is asked does not keep the
 * session from going on; where something was spent meanwhile that a limit rests on, the answer is judged again.
 */
export async function judgeResponse(use: Use, given: ResponseLike): Promise<JudgedResponse> {
  for (let sitting = 0; sitting < maxSittings; sitting++) {
    const { response, bench } = await use(async (live) => ({
      response: answerOf(live, given),
      bench: await benchOf(live),
    }))
    if (bench === undefined) return { response, judged: [], results: [] }
    const { guard, ...rest } = bench.guarding
    const guarded = await guardResponse(response, guard, rest)
    const { judged } = guarded
    const rests = bench.asksSpent && spentWith(judged) > 0 ? bench.account : undefined
    if (judged.length === 0 || (await use((live) => writeJudged(live, judged, rests))))
      return { ...guarded, results: deniedResults(judged, response) }
  }
  throw new HoldfastError({ code: "store-locked", store: "session's", waitedMs: 0 })
}

const answerOf = (live: Live, given: ResponseLike): ModelResponse =>
  readResponse(given, live.frame?.format ?? live.client?.format ?? live.options.format)

/** What a session has spent, and after how many judgements that was so. */
type Account = { readonly spentMinor: number; readonly judgements: number }

const countIn = (outline: Outline): number => outline.ofType("calls-judged").length

/**
 * Hundredths that the session has spent, with what was spent before it. Where a limit rests on it (`sure`), a log that cannot be read is
 * a Problem: nobody gets a fresh limit by cutting off the store.
 */
async function accountOf(live: Live, sure: boolean): Promise<Account> {
  const before = live.options.guard?.circumstances?.spentMinor ?? 0
  try {
    if (sure) await requireLog(live)
    await flushJudged(live)
    await readSpent(live)
  } catch (error) {
    if (sure || !(error instanceof HoldfastError)) throw error
  }
  const spent = [...live.spent.values()].reduce((sum, minor) => sum + minor, before)
  return { spentMinor: spent + spentWith(live.judged), judgements: countIn(live.journal.outline()) }
}

/** Each judgement is read once: it never changes. */
async function readSpent({ journal, spent }: Live): Promise<void> {
  const missing = journal
    .outline()
    .ofType("calls-judged")
    .filter((seq) => !spent.has(seq))
  if (missing.length === 0) return
  for (const { seq, body } of (await journal.entries(missing)).values())
    if (body.type === "calls-judged") spent.set(seq, body.spentMinor)
}

/**
 * Write down what was decided, if nothing was decided since the account that it rests on; without one, in any case. While the store is
 * away it waits in memory with everything else, and counts.
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
      ...present({ approved }),
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

/** Keep what was decided on a call that streams in, and write it down when nobody waits for it. */
function noteJudged(live: Live, judged: JudgedCall): void {
  live.judged.push(judged)
  if (live.judged.length === 1) live.later("judgement", () => flushJudged(live))
}

/** Others write now and then; this often in a row is no chance any more. */
const maxRaces = 8

/**
 * Write down a call that spends before it goes out, so that no end of the process gives a limit back. If more was spent than it was judged
 * by, it must not go out.
 */
async function writeSpending(live: Live, judged: JudgedCall, spentMinor: number): Promise<void> {
  for (let race = 0; race < maxRaces; race++) {
    const account = await accountOf(live, true)
    if (account.spentMinor !== spentMinor) break
    if (await writeJudged(live, [judged], account)) return
  }
  throw new HoldfastError({ code: "store-locked", store: "session's", waitedMs: 0 })
}

/** What is judged while it is written is written next. */
async function flushJudged(live: Live): Promise<void> {
  while (!live.removed && live.judged.length > 0) {
    const waiting = [...live.judged]
    await writeJudged(live, waiting)
    live.judged.splice(0, waiting.length)
  }
}
