import { createProfiles, type Profile } from "../gateway/admin/session-profile.ts"
import { totalsOf } from "../gateway/admin/session-summary.ts"
import { sumOf } from "../message/present.ts"
import type { RuleCount } from "../session/rules/pins.ts"
import type { StoredRules } from "../session/stored-rules.ts"
import type { SessionRow, Store } from "../store/store.ts"
import { count, number } from "./terminal/output.ts"

/** Totals over sessions since a point in time, computed like those of the inspector. */
export type LogTally = RuleCount & {
  /** Model calls whose usage was reported. */
  readonly calls: number
  readonly compactions: number
  /** Tokens that later calls did not send, because a compaction had removed them. */
  readonly savedTokens: number
  /** An estimate by the model table's prices. */
  readonly savedDollars: number
  readonly denied: number
}

/** Adds up what sessions did from a point in time on, and the rules that are in force for each of them now. */
export async function tallyLogs(
  store: Store,
  rows: readonly SessionRow[],
  { count: countRules }: Pick<StoredRules, "count">,
  sinceMs: number,
): Promise<LogTally> {
  const reader = createProfiles(store)
  const profiles: Profile[] = []
  const counts: RuleCount[] = []
  for (const row of rows) {
    profiles.push(await reader.read(row.id))
    counts.push(await countRules(row))
  }
  const { turns, compactions, savedTokens, savedDollars, calls } = totalsOf(profiles, { fromMs: sinceMs })
  return {
    ...{ calls: turns, compactions, savedTokens, savedDollars, denied: calls.denied },
    rules: sumOf(counts, ({ rules }) => rules),
    operatorRules: sumOf(counts, ({ operatorRules }) => operatorRules),
  }
}

export function tallyWords(tally: LogTally, calls: string = count(tally.calls, "model call")): string {
  const { compactions, savedTokens, savedDollars, denied } = tally
  const tokens = `about ${number(savedTokens)} tokens`
  const saved =
    savedDollars >= 0
      ? `${tokens} and $${savedDollars.toFixed(2)} saved (estimate)`
      : `${tokens} saved at $${(-savedDollars).toFixed(2)} more for writing the cache again (estimate)`
  return [
    calls,
    count(compactions, "compaction"),
    ...(savedTokens === 0 ? [] : [saved]),
    `${ruleWords(tally)} held`,
    `${count(denied, "call")} denied`,
  ].join(", ")
}

/** `5 rules`, or `5 rules (2 of the operator)`. */
export const ruleWords = ({ rules, operatorRules }: RuleCount): string =>
  `${count(rules, "rule")}${operatorRules === 0 ? "" : ` (${number(operatorRules)} of the operator)`}`
