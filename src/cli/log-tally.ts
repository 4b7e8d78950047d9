import { createProfiles, type Profile } from "../gateway/admin/session-profile.ts"
import { totalsOf } from "../gateway/admin/session-summary.ts"
import type { Session } from "../session/session.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { count, number } from "./terminal/output.ts"

/** Totals over sessions since a point in time, computed like those of the inspector. */
export type LogTally = {
  /** Model calls whose usage was reported. */
  readonly calls: number
  readonly compactions: number
  /** Tokens that later calls did not send, because a compaction had removed them. */
  readonly savedTokens: number
  /** An estimate by the model table's prices. */
  readonly savedDollars: number
  readonly denied: number
  readonly rules: number
}

/** Adds up what sessions did from a point in time on. Rules are those in force now, each text once. */
export async function tallyLogs(
  store: Store,
  rows: readonly SessionRow[],
  sessionOf: (row: SessionRow) => Session,
  sinceMs: number,
): Promise<LogTally> {
  const reader = createProfiles(store)
  const profiles: Profile[] = []
  const rules = new Set<string>()
  for (const row of rows) {
    profiles.push(await reader.read(row.id))
    for (const { text } of await sessionOf(row).pins()) rules.add(text)
  }
  const { turns, compactions, savedTokens, savedDollars, calls } = totalsOf(profiles, { fromMs: sinceMs })
  return { calls: turns, compactions, savedTokens, savedDollars, denied: calls.denied, rules: rules.size }
}

export function tallyWords(tally: LogTally, calls: string = count(tally.calls, "model call")): string {
  const { compactions, savedTokens, savedDollars, denied, rules } = tally
  const tokens = `about ${number(savedTokens)} tokens`
  const saved =
    savedDollars >= 0
      ? `${tokens} and $${savedDollars.toFixed(2)} saved (estimate)`
      : `${tokens} saved at $${(-savedDollars).toFixed(2)} more for writing the cache again (estimate)`
  return [
    calls,
    count(compactions, "compaction"),
    ...(savedTokens === 0 ? [] : [saved]),
    `${count(rules, "rule")} held`,
    `${count(denied, "call")} denied`,
  ].join(", ")
}
