import type { ExchangeRecord } from "../gateway/exchange-record.ts"
import { number } from "./paper.ts"

/** A compaction in an exchange: the whole context before and after, in the provider's own tokens. */
export type Compaction = { readonly beforeTokens: number; readonly afterTokens: number }

/** The compaction that an exchange was sent with, if there was one. */
export function compactionIn({ trace }: Pick<ExchangeRecord, "trace">): Compaction | undefined {
  const installed = trace.findLast((event) => event.type === "remedy-installed")
  if (installed === undefined || installed.remedy === "pins") return undefined
  return { beforeTokens: installed.beforeTokens, afterTokens: installed.afterTokens }
}

export const denialsIn = ({ judged }: Pick<ExchangeRecord, "judged">): number =>
  judged.filter(({ enforced, verdict, approved }) => enforced && verdict.decision !== "allow" && approved !== true)
    .length

/** 182k, 1.2M, 950. */
export function short(count: number): string {
  if (count < 1000) return String(Math.round(count))
  if (count < 9950) return `${(count / 1000).toFixed(1)}k`
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** What was done with an exchange, in a few words; none of them is anyone's but ours. */
export function doneWords(record: ExchangeRecord): readonly string[] {
  const { how, ending, attempts, recalls, problem, usage } = record
  const compaction = compactionIn(record)
  const denials = denialsIn(record)
  const pins = record.trace.reduce((sum, event) => sum + (event.type === "pins-reasserted" ? event.pins.length : 0), 0)
  return [
    ...(how === "prepared" || how === "at-once" ? [] : [how]),
    ...(compaction === undefined
      ? []
      : [`compacted ${number(compaction.beforeTokens)} → ${number(compaction.afterTokens)}`]),
    ...(pins > 0 ? [`${pins} ${pins === 1 ? "rule" : "rules"} said again`] : []),
    ...(denials > 0 ? [`${denials} ${denials === 1 ? "call" : "calls"} denied`] : []),
    ...(recalls > 0 ? [`${recalls} recalled`] : []),
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(usage === undefined ? [] : [`${short(usage.inputTokens)} in, ${short(usage.cacheReadTokens)} of it cached`]),
    ...(ending === "complete" || ending === how ? [] : [ending]),
    ...(problem === undefined ? [] : [problem.code]),
  ]
}
