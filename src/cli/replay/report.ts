import { sumOf } from "../../message/present.ts"
import { number } from "../terminal/output.ts"
import { type Arm, byArm, type Replay, type ReplayCompaction, type ReplayTurn } from "./replay-conversation.ts"

export type ReplayedConversation = {
  readonly file: string
  readonly kind: string
  /** The index of the conversation in the file, from 0. */
  readonly index: number
  readonly id?: string
  /** Its title, or the first words of the user. */
  readonly title: string
  readonly modelAssumed: boolean
  /** Number of compactions by the client itself. Their summaries are left out, and the original messages are replayed. */
  readonly ownCompactions: number
  readonly replay: Replay
}

/** The result of one `holdfast replay`. */
export type ReplayReport = {
  readonly conversations: readonly ReplayedConversation[]
  /** Files in a folder that are not transcripts, and why. */
  readonly skipped: readonly { readonly file: string; readonly reason: string }[]
  /** Number of files that were not read, because of the limit. */
  readonly notRead: number
  readonly strategy: string
}

export const armWords: Readonly<Record<Arm, string>> = {
  none: "whole history",
  truncate: "truncated",
  holdfast: "Holdfast",
}

/** Dollars to the cent; small amounts with four decimals, large ones with none. */
export const money = (dollars: number): string =>
  dollars === 0
    ? "$0"
    : `$${dollars >= 100 ? number(Math.round(dollars)) : dollars >= 0.1 ? dollars.toFixed(2) : dollars.toFixed(4)}`

export const shareWords = (share: number): string => `${Math.round(100 * share)} %`

/** A token count in few digits: 21.2M, 350k, 812. */
export function shortTokens(tokens: number): string {
  if (tokens >= 1_000_000) return `${(tokens / 1_000_000).toFixed(tokens >= 100_000_000 ? 0 : 1)}M`
  return tokens >= 10_000 ? `${Math.round(tokens / 1000)}k` : number(tokens)
}

/** One figure of a replay, for each arm. */
type FigureRow = { readonly label: string; readonly cells: Readonly<Record<Arm, string>> }

const rowOf = (label: string, cell: (arm: Arm) => string): FigureRow => ({ label, cells: byArm(cell) })

/** The figures of one conversation, side by side. If the prices are unknown, costs are proportions of the whole history's. */
export function figureRows(replay: Replay): readonly FigureRow[] {
  const { totals, compactions, rules, neededValues, turns, modelKnown } = replay
  const sent = (arm: Arm): number => totals[arm].readTokens + totals[arm].writtenTokens + totals[arm].uncachedTokens
  const cost = (arm: Arm): string =>
    modelKnown ? money(totals[arm].dollars) : shareWords(totals[arm].dollars / Math.max(totals.none.dollars, 1e-9))
  const refused = (arm: Arm): string => {
    const { refusedTurns, firstRefused } = totals[arm]
    return refusedTurns === 0 ? "none" : `${number(refusedTurns)}, from turn ${firstRefused}`
  }
  const words = (arm: Arm): string => {
    const share = totals[arm].kept.words
    return share === undefined ? "-" : shareWords(share)
  }
  return [
    rowOf("prompt tokens, all turns", (arm) => shortTokens(sent(arm))),
    rowOf("read from the cache", (arm) => shareWords(totals[arm].readTokens / Math.max(1, sent(arm)))),
    rowOf("cost of the prompts", cost),
    rowOf("largest context", (arm) => number(totals[arm].mostTokens)),
    rowOf("over the window", refused),
    rowOf("compactions", (arm) => (arm === "holdfast" ? number(compactions.length) : "-")),
    rowOf("user's words at the end", words),
    rowOf("rules at the end", (arm) => `${totals[arm].kept.rules} of ${rules.length}`),
    ...(neededValues === 0
      ? []
      : [rowOf("values needed later", (arm) => `${totals[arm].kept.values} of ${neededValues}`)]),
    rowOf("turns", () => number(turns.length)),
  ]
}

/** The meaning of the figures, once for every report. */
export const legend: readonly string[] = [
  "Whole history: every message goes out every time. Truncated: whenever the session compacts, the oldest turns are cut away instead, down to the same size. Holdfast: the session's own requests.",
  "Costs are estimates: the model table's prices, and a simulated prompt cache that never runs out. A turn over the window counts as what it would have cost. No provider was asked, and nothing was sent anywhere.",
  "User's words: the share of the user's own sentences, pastes left out, that stand verbatim in the last context. Values needed later: exact arguments of later tool calls that were last said before the compaction in force, and still stand in the context.",
]

export const shortenedIn = ({ shortened }: ReplayCompaction): number =>
  sumOf(Object.values(shortened), (times) => times)

/** Reduces a series to at most `most` values: the largest of each range. */
export function sampled(figures: readonly number[], most: number): readonly number[] {
  const steps = Math.min(most, figures.length)
  return Array.from({ length: steps }, (_, step) => {
    const from = Math.floor((step * figures.length) / steps)
    const to = Math.max(from + 1, Math.floor(((step + 1) * figures.length) / steps))
    return Math.max(0, ...figures.slice(from, to))
  })
}

export function spentSoFar(turns: readonly ReplayTurn[], arm: Arm): readonly number[] {
  let sum = 0
  return turns.map((turn) => {
    sum += turn.arms[arm].dollars
    return sum
  })
}

export function replayTotals(conversations: readonly ReplayedConversation[]) {
  const sum = (value: (replay: Replay) => number): number => sumOf(conversations, ({ replay }) => value(replay))
  const dollars = (arm: Arm): number => sum((replay) => (replay.modelKnown ? replay.totals[arm].dollars : 0))
  return {
    turns: sum(({ turns }) => turns.length),
    compactions: sum(({ compactions }) => compactions.length),
    rules: sum(({ rules }) => rules.length),
    neededValues: sum(({ neededValues }) => neededValues),
    arms: byArm((arm) => ({
      dollars: dollars(arm),
      refusedTurns: sum(({ totals }) => totals[arm].refusedTurns),
      rulesKept: sum(({ totals }) => totals[arm].kept.rules),
      valuesKept: sum(({ totals }) => totals[arm].kept.values),
    })),
  }
}
