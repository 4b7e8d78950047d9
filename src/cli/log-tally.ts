import type { HistoryEntry } from "../session/inspect.ts"
import { entryId } from "../session/log/entry.ts"
import type { Session } from "../session/session.ts"
import { findModel } from "../tokens/models.ts"
import { count, number } from "./output.ts"

/** What sessions came to since a moment, read from their logs: the same figures on every screen. */
export type LogTally = {
  /** Model calls whose usage was reported. */
  readonly calls: number
  readonly compactions: number
  /** Tokens that later calls did not send, because compactions had taken them out. */
  readonly savedTokens: number
  /** An estimate: what was not sent would have been read from the cache; a compacted prompt has to be written to it again. */
  readonly savedDollars: number
  readonly denied: number
  readonly rules: number
}

const perMillion = 1_000_000

/** How one log is counted: what the compactions in force took out, by their entries. */
type Counting = {
  readonly takenOut: Map<string, number>
  rewritten: number
  calls: number
  compactions: number
  savedTokens: number
  savedDollars: number
  denied: number
}

/** Tally sessions from a moment on. Rules are those in force now, each text once. */
export async function tallyLogs(sessions: readonly Session[], sinceMs: number): Promise<LogTally> {
  const total = { calls: 0, compactions: 0, savedTokens: 0, savedDollars: 0, denied: 0 }
  const rules = new Set<string>()
  for (const session of sessions) {
    const counting: Counting = { takenOut: new Map(), rewritten: 0, ...total }
    for (let from = 1; ; ) {
      const page = await session.history({ from })
      for (const entry of page) countEntry(counting, entry, sinceMs)
      if (page.length === 0) break
      from += page.length
    }
    const { calls, compactions, savedTokens, savedDollars, denied } = counting
    Object.assign(total, { calls, compactions, savedTokens, savedDollars, denied })
    for (const { text } of await session.pins()) rules.add(text)
  }
  return { ...total, rules: rules.size }
}

function countEntry(counting: Counting, { id, atMs, body }: HistoryEntry, sinceMs: number): void {
  const isCounted = atMs >= sinceMs
  switch (body?.type) {
    case "checkpoint-installed":
      counting.takenOut.set(id, Math.max(0, body.beforeTokens - body.afterTokens))
      counting.rewritten = body.afterTokens
      counting.compactions += isCounted ? 1 : 0
      break
    case "checkpoint-undone":
      counting.takenOut.delete(entryId(body.checkpoint))
      break
    case "calls-judged":
      if (isCounted)
        counting.denied += body.calls.filter(({ decision, enforced }) => decision !== "allow" && enforced).length
      break
    case "usage-reported": {
      const { prices, known, windowTokens } = findModel(body.model)
      // A call counts for the compaction in force alone, and no call could have sent more than its window.
      const room = Math.max(0, windowTokens - (body.usage.inputTokens ?? 0))
      const saved = Math.min([...counting.takenOut.values()].at(-1) ?? 0, room)
      const rewritten = counting.rewritten * (prices.cacheWrite - prices.cacheRead)
      counting.rewritten = 0
      if (!isCounted) break
      counting.calls += 1
      counting.savedTokens += saved
      if (known) counting.savedDollars += (saved * prices.cacheRead - rewritten) / perMillion
      break
    }
    default:
  }
}

/** A tally in one line. */
export function tallyWords(tally: LogTally, calls: string = count(tally.calls, "model call")): string {
  const { compactions, savedTokens, savedDollars, denied, rules } = tally
  const money =
    savedDollars >= 0 ? `$${savedDollars.toFixed(2)} saved` : `$${(-savedDollars).toFixed(2)} more for the cache`
  return [
    calls,
    count(compactions, "compaction"),
    ...(savedTokens === 0 ? [] : [`about ${number(savedTokens)} tokens and ${money} (estimate)`]),
    `${count(rules, "rule")} held`,
    `${count(denied, "call")} denied`,
  ].join(", ")
}
