import type { ShortenReason } from "../../compact/stages/edit.ts"
import { box, type Row } from "./box.ts"
import type { RulePlace } from "./find-rule.ts"
import type { Screen } from "./screen.ts"
import { count, number, percent } from "./show-call.ts"
import type { ToldCompaction } from "./told-compaction.ts"

/** A compaction, and what could be seen of it in the request that went out. */
export type ShownCompaction = {
  readonly told: ToldCompaction
  /** The how manieth of the session. */
  readonly ordinal: number
  readonly ruleText: string
  readonly rule: RulePlace | undefined
  /** Do the user's latest words stand in the request to the letter? */
  readonly latestWhole: boolean
  /** A line of the digest that has an exact value in it. */
  readonly ledgerLine: string | undefined
  /** Messages that the agent has, and that the log has. */
  readonly agentMessages: number
  readonly logMessages: number
}

const reasonWords: Readonly<Record<ShortenReason, string>> = {
  "over-budget": "over the tool's budget",
  superseded: "a newer one came later",
  repeated: "the same stands elsewhere",
  media: "an older picture",
  "older-round": "of an older round",
  "no-room": "larger than what fits",
}

/** The box of a compaction: before and after, what became of the messages, why, and the rule as it stands in the request. */
export function compactionBox(shown: ShownCompaction, screen: Screen): readonly string[] {
  const { told, ordinal, latestWhole } = shown
  const rows: readonly Row[] = [
    ["why", whyOf(told)],
    ["size", `${number(told.beforeTokens)} tokens before -> ${number(told.afterTokens)} after`],
    ["kept", `${count(told.whole, "message")} to the letter${latestWhole ? ", your latest words among them" : ""}`],
    ...shortenedRows(told),
    ...digestRows(told, shown.ledgerLine),
    ...ruleRows(shown),
    ["lost", lostOf(shown)],
  ]
  return box(`compaction ${ordinal} (${told.checkpoint} in the log)`, rows, screen)
}

function whyOf({ reason }: ToldCompaction): string {
  if (reason === undefined) return "the plan asked for it"
  if (reason === "refused") return "the model refused the request as too long; this one went out in its place"
  return `the context filled ${percent(reason.share)} of its room; past ${percent(reason.limit)} it is compacted`
}

const shortenedRows = ({ shortened, shortenedTo, shortenedWhy }: ToldCompaction): readonly Row[] => {
  const why = shortenedWhy.map((one) => reasonWords[one]).join(", ")
  return shortened === 0
    ? []
    : [["shortened", `${count(shortened, "tool result")}, to ${percent(shortenedTo)} of the size: ${why}`]]
}

function digestRows(told: ToldCompaction, ledgerLine: string | undefined): readonly Row[] {
  const { covered, summaryLines, factLines, goalWhole } = told
  if (covered === 0) return []
  const goal = goalWhole ? "your first request to the letter, and " : ""
  const such = ledgerLine === undefined ? "" : `, such as "${ledgerLine}"`
  return [
    ["summed up", `${count(covered, "message")}: ${goal}${count(summaryLines, "line")} of what was asked and done`],
    ["ledger", `${count(factLines, "line")} of exact values from them${such}`],
  ]
}

const ruleRows = ({ rule, ruleText }: ShownCompaction): readonly Row[] =>
  rule === undefined
    ? [["rule", `MISSING from this request: "${ruleText}"`]]
    : [
        ["rule", `"${ruleText}"`],
        ["", `stands word for word in this very request, in ${rule.place}`],
      ]

const lostOf = ({ agentMessages, logMessages }: ShownCompaction): string =>
  logMessages >= agentMessages
    ? `nothing: the log has all ${number(agentMessages)} messages whole`
    : `the log has ${number(logMessages)} of ${number(agentMessages)} messages`
