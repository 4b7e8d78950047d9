import { tokens } from "../message/message.ts"
import { present } from "../message/present.ts"
import type { Meter } from "../tokens/meter.ts"
import { type Argument, fitLedger } from "./facts/fit.ts"
import { fitForData } from "./gate/gate-summary.ts"
import type { Knowledge } from "./knowledge.ts"
import { defaultShares, ledgerShare } from "./plan/share.ts"
import { standingIn } from "./standing-in.ts"
import { fitSummary, renderDigest, sectionText } from "./summary/digest-text.ts"
import { type Digest, type Goal, rulesSection, type Summary } from "./summary/summary.ts"

type DigestNeeds = {
  readonly budgetTokens: number
  readonly covered: number
  /** Ids of the messages that stay in sight: what rests on them alone need not be said. */
  readonly shown: ReadonlySet<string>
  /** Does a value stand verbatim in what stays in sight? */
  readonly stands: (value: string) => boolean
  readonly meter: Pick<Meter, "text" | "truncate">
  /** What the request's tools take: a value that fits is likelier needed. */
  readonly arguments: readonly Argument[]
}

export type Composed = { readonly digest: Digest; readonly text: string; readonly tokens: number }

const { briefTokens, goalShare, leastGoalTokens, rulesShare } = defaultShares

/** Prices are sums of pieces, and pieces side by side take less or more: so often is the rest corrected. */
const maxTries = 5

/** The best digest that fits, or nothing if not even its frame does. Exact values, what happened, and what it was all for. */
export function composeDigest(knowledge: Knowledge, needs: DigestNeeds): Composed | undefined {
  const { budgetTokens, meter } = needs
  const brief = budgetTokens < briefTokens
  const unseen = outOfSight(knowledge.summary, needs.shown)
  const frame: Digest = {
    covered: needs.covered + knowledge.covered,
    summary: { schema: unseen.schema, sections: [] },
    ledger: { text: "", facts: [] },
  }
  const write = (digest: Digest): Composed => {
    const text = renderDigest(digest, { brief })
    return { digest, text, tokens: meter.text(text) }
  }
  const base = openWith(knowledge.goal, needs, (goal) => write({ ...frame, ...present({ goal }) }))
  if (base === undefined) return undefined
  const summary = notInGoal(unseen, base.digest.goal)
  let best = base
  let allowance = budgetTokens - base.tokens
  for (let tries = 0; tries < maxTries && allowance > 0; tries++) {
    const filled = write({
      ...base.digest,
      ...fill(knowledge, summary, allowance, { digest: base.digest, brief }, needs),
    })
    if (filled.tokens <= budgetTokens && filled.tokens >= best.tokens) best = filled
    const spent = filled.tokens - base.tokens
    if (spent <= 0 || (filled.tokens <= budgetTokens && filled.tokens > budgetTokens * 0.97)) break
    if (filled.tokens <= budgetTokens) break
    allowance -= filled.tokens - budgetTokens + 2
  }
  return best
}

/**
 * Ledger and summary for so many tokens: the user's rules, then the ledger's share, then the rest of the summary, then the ledger again
 * with what is left and not said yet.
 */
function fill(
  { ledger }: Knowledge,
  summary: Summary,
  allowance: number,
  { digest: { goal }, brief }: { readonly digest: Digest; readonly brief: boolean },
  { meter, stands, arguments: taken }: DigestNeeds,
): Pick<Digest, "ledger" | "summary"> {
  const count = (text: string) => meter.text(text)
  const fitLines = (sections: Summary["sections"], budget: number): Summary =>
    fitSummary({ ...summary, sections }, Math.max(0, Math.floor(budget)), { count, brief })
  const costOf = ({ schema, sections }: Summary): number =>
    sections.reduce((sum, section) => sum + count(sectionText(section, schema, brief)) + 2, 0)
  const isRules = ({ name }: Summary["sections"][number]): boolean => name === rulesSection
  const rules = fitLines(summary.sections.filter(isRules), allowance * rulesShare)
  const room = allowance - costOf(rules)
  const facts = (budget: number, shown: (value: string) => boolean) =>
    fitLedger(ledger, budget, { count, shown, admits: fitForData, arguments: taken })
  const share = facts(room * ledgerShare(room), stands)
  const others = fitLines(
    summary.sections.filter((section) => !isRules(section)),
    room - share.tokens,
  )
  const lines = { ...summary, sections: [...rules.sections, ...others.sections] }
  const said = standingIn([
    ...lines.sections.flatMap((section) => section.lines.map(({ text }) => text)),
    goal?.text ?? "",
  ])
  const fitted = facts(room - costOf(others), (value) => stands(value) || said(value))
  return { ledger: { text: fitted.text, facts: fitted.facts }, summary: lines }
}

/** What the goal says already, verbatim, need not be said again. */
function notInGoal(summary: Summary, goal: Goal | undefined): Summary {
  if (goal === undefined) return summary
  const flat = goal.text.replace(/\s+/g, " ")
  const sections = summary.sections.map(({ name, lines }) => ({
    name,
    lines: lines.filter(({ text }) => !flat.includes(text)),
  }))
  return { ...summary, sections: sections.filter(({ lines }) => lines.length > 0) }
}

/** The lines that rest on something that will be out of sight. */
function outOfSight(summary: Summary, shown: ReadonlySet<string>): Summary {
  const sections = summary.sections.map(({ name, lines }) => ({
    name,
    lines: lines.filter(({ sources }) => sources.length === 0 || sources.some((source) => !shown.has(source))),
  }))
  return { ...summary, sections: sections.filter(({ lines }) => lines.length > 0) }
}

/** The frame with as much of the goal as its share allows; nothing if a goal that is out of sight could not even be begun. */
function openWith(
  goal: Goal | undefined,
  { shown, budgetTokens, meter }: DigestNeeds,
  write: (goal?: Goal) => Composed,
): Composed | undefined {
  const bare = write()
  if (bare.tokens > budgetTokens) return undefined
  if (goal === undefined || shown.has(goal.source)) return bare
  const whole = write(goal)
  const most = Math.max(budgetTokens * goalShare, bare.tokens + leastGoalTokens)
  if (whole.tokens <= Math.min(most, budgetTokens)) return whole
  for (let room = Math.min(most, budgetTokens) - bare.tokens; room >= 1; room -= 2) {
    const text = meter.truncate(goal.text, tokens(Math.floor(room))).trimEnd()
    if (text === "") return undefined
    const cut = write({ ...goal, text, whole: false })
    if (cut.tokens <= Math.min(most, budgetTokens)) return cut
  }
  return undefined
}
