import { present } from "../message/present.ts"
import { isRuleTitle } from "./find-genre.ts"
import { completes, type Draft, joined, refines, ruleOf } from "./find-join.ts"
import { type FindOptions, pagesIn } from "./find-pages.ts"
import { judgeInPlace, type Place } from "./find-place.ts"
import type { Statement } from "./find-statements.ts"
import { isWithin, quotationsIn } from "./own-words.ts"
import type { FoundRule } from "./rule.ts"

export type { FindOptions } from "./find-pages.ts"

/** Finds standing rules in a text: the built-in finder, or one that asks a model. Each rule is a slice of the text, in order and apart. */
export type RuleFinder = (text: string, options: FindOptions) => Promise<readonly FoundRule[]> | readonly FoundRule[]

/** Rules taken out of one text; a text with more is a flood. */
const maxRules = 2000

/** The standing rules of a text in order, each to the letter and none of them twice. Linear in the text. */
export function findRules(text: string, options: FindOptions): readonly FoundRule[] {
  const rules: FoundRule[] = []
  const quotations = options.channel === "user" ? quotationsIn(text) : []
  for (const { statements, place, laid } of pagesIn(text, options)) {
    const drafts: Draft[] = []
    for (const statement of statements) readStatement(statement, place, drafts)
    for (const draft of drafts) {
      if (rules.length === maxRules) return rules
      if (isWithin(draft, quotations)) continue
      const rule = ruleOf(text, draft, options.channel)
      rules.push(options.channel === "tool" ? { ...rule, ...present({ laid: laidDown(draft, place, laid) }) } : rule)
    }
  }
  return rules
}

/** How data shows that it lays a rule down: by its page, the heading or line above it, or what the rule calls itself. */
function laidDown({ opening, context }: Draft, { headings }: Place, page: FoundRule["laid"]): FoundRule["laid"] {
  if (page === "named" || opening.seen.declared) return "named"
  const heading = context === undefined ? undefined : headings.get(context.start)
  return heading !== undefined && isRuleTitle(heading) ? "named" : page
}

function readStatement(statement: Statement, place: Place, drafts: Draft[]): void {
  const found = judgeInPlace(statement, place)
  const before = drafts.at(-1)
  if (statement.block.kind === "heading") return
  if (before !== undefined && (refines(statement, before) || completes(statement, before, found === undefined))) {
    const whole = joined(before, statement)
    if (whole !== undefined) {
      drafts[drafts.length - 1] = whole
      return
    }
  }
  if (found === undefined) return
  const { start, end, at } = statement
  drafts.push({ ...found, start, end, opening: statement, until: at })
}
