import type { ExchangeRecord } from "../gateway/settings/exchange-record.ts"
import { findModel } from "../tokens/models.ts"
import { isObject } from "../wire/json.ts"
import { count, number } from "./output.ts"

/** One model call as it counts here: taken from a gateway's record, or from what its admin API tells of it. */
export type CountedCall = {
  readonly atMs: number
  readonly session?: string
  readonly model?: string
  readonly status: number
  readonly checkpoint?: string
  /** Known for sure only in the process that compacted. */
  readonly compacted?: boolean
  readonly contextTokens: number
  readonly stableTokens: number
  readonly requestBytes: number
  readonly sentBytes: number
  readonly denied: number
}

/** Everything else that goes through a gateway (counts, lists of models) is no call of a model. */
export function callOfRecord(record: ExchangeRecord): CountedCall | undefined {
  const { format, receipt, judged, trace, session, model } = record
  if (format === undefined || record.how === "passed") return undefined
  return {
    ...{ atMs: record.atMs, status: record.status, requestBytes: record.requestBytes, sentBytes: record.sentBytes },
    contextTokens: receipt?.contextTokens ?? 0,
    stableTokens: receipt?.stableTokens ?? 0,
    denied: judged.filter(
      ({ verdict, enforced, approved }) => verdict.decision !== "allow" && enforced && approved !== true,
    ).length,
    compacted: trace.some(({ type }) => type === "checkpoint-installed"),
    ...(session === undefined ? {} : { session }),
    ...(model === undefined ? {} : { model }),
    ...(receipt?.checkpoint === undefined ? {} : { checkpoint: receipt.checkpoint }),
  }
}

const numberIn = (value: unknown): number => (typeof value === "number" ? value : 0)

/** The same from a line of `/admin/traces`. */
export function callOfLine(line: unknown): CountedCall | undefined {
  if (!isObject(line) || typeof line.format !== "string" || line.how === "passed") return undefined
  const receipt = isObject(line.receipt) ? line.receipt : {}
  const judged = Array.isArray(line.judged) ? line.judged.filter(isObject) : []
  return {
    ...{ atMs: numberIn(line.atMs), status: numberIn(line.status) },
    ...{ requestBytes: numberIn(line.requestBytes), sentBytes: numberIn(line.sentBytes) },
    contextTokens: numberIn(receipt.contextTokens),
    stableTokens: numberIn(receipt.stableTokens),
    denied: judged.filter(
      ({ decision, enforced, approved }) => decision !== "allow" && enforced === true && approved !== true,
    ).length,
    ...(typeof line.session === "string" ? { session: line.session } : {}),
    ...(typeof line.model === "string" ? { model: line.model } : {}),
    ...(typeof receipt.checkpoint === "string" ? { checkpoint: receipt.checkpoint } : {}),
  }
}

/** What calls came to. Savings are estimates: by the bytes that were not sent, and by the model table's prices. */
type CallTally = {
  readonly calls: number
  readonly failed: number
  readonly compactions: number
  readonly savedTokens: number
  readonly savedDollars: number
  readonly denied: number
  readonly sessions: readonly string[]
}

const perMillion = 1_000_000

/** Oldest first. What was not sent would have been read from the cache; a compaction has its new prompt written to the cache again. */
export function tallyCalls(calls: readonly CountedCall[]): CallTally {
  const checkpoints = new Map<string, string | undefined>()
  let [compactions, savedTokens, savedDollars] = [0, 0, 0]
  for (const call of calls) {
    const { session = "", checkpoint, contextTokens, stableTokens, requestBytes, sentBytes } = call
    const isNew = checkpoint !== undefined && checkpoints.has(session) && checkpoints.get(session) !== checkpoint
    const compacted = call.compacted ?? isNew
    checkpoints.set(session, checkpoint)
    const saved =
      sentBytes === 0 || checkpoint === undefined ? 0 : Math.max(0, contextTokens * (requestBytes / sentBytes - 1))
    const { prices, known } = findModel(call.model ?? "")
    const rewritten = compacted ? Math.max(0, contextTokens - stableTokens) : 0
    compactions += compacted ? 1 : 0
    savedTokens += saved
    if (known)
      savedDollars += (saved * prices.cacheRead - rewritten * (prices.cacheWrite - prices.cacheRead)) / perMillion
  }
  return {
    calls: calls.length,
    failed: calls.filter(({ status }) => status >= 400).length,
    compactions,
    savedTokens: Math.round(savedTokens),
    savedDollars,
    denied: calls.reduce((sum, { denied }) => sum + denied, 0),
    sessions: [...new Set(calls.flatMap(({ session }) => session ?? []))],
  }
}

/** A tally in one line. */
export function tallyWords(
  { calls, failed, compactions, savedTokens, savedDollars, denied }: CallTally,
  rules: number,
): string {
  const saved =
    savedTokens === 0 ? [] : [`about ${number(savedTokens)} tokens and ${moneyWords(savedDollars)} (estimate)`]
  return [
    `${count(calls, "model call")}${failed === 0 ? "" : ` (${number(failed)} failed)`}`,
    count(compactions, "compaction"),
    ...saved,
    `${count(rules, "rule")} held`,
    `${count(denied, "call")} denied`,
  ].join(", ")
}

const moneyWords = (dollars: number): string =>
  dollars >= 0 ? `$${dollars.toFixed(2)} saved` : `$${(-dollars).toFixed(2)} more spent on the cache`
