import type { JudgedCall } from "../guard/judge-call.ts"
import { spentWith } from "../guard/spend.ts"
import { HoldfastError } from "../message/errors.ts"
import { present } from "../message/present.ts"
import type { Live } from "./live.ts"
import type { EntryBody } from "./log/entry.ts"
import type { Outline } from "./log/outline.ts"
import { requireLog } from "./require-log.ts"

/** What a session has spent, and after how many judgements that was so. */
export type Account = { readonly spentMinor: number; readonly judgements: number }

const countIn = (outline: Outline): number => outline.ofType("calls-judged").length

/**
 * Hundredths that the session has spent, with what was spent before it. Where a limit rests on it (`sure`), a log that cannot be read is
 * a Problem: nobody gets a fresh limit by cutting off the store.
 */
export async function accountOf(live: Live, sure: boolean): Promise<Account> {
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
export async function writeJudged(
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
export function noteJudged(live: Live, judged: JudgedCall): void {
  live.judged.push(judged)
  if (live.judged.length === 1) live.later("judgement", () => flushJudged(live))
}

/** Others write now and then; this often in a row is no chance any more. */
const maxRaces = 8

/**
 * Write down a call that spends before it goes out, so that no end of the process gives a limit back. If more was spent than it was judged
 * by, it must not go out.
 */
export async function writeSpending(live: Live, judged: JudgedCall, spentMinor: number): Promise<void> {
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
