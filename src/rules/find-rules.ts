import type { Channel, Span } from "../message/message.ts"
import { present } from "../message/present.ts"
import { isRuleTitle } from "./find-cue.ts"
import type { RuleVerdict } from "./find-judge.ts"
import { type FindOptions, judgeInPlace, pagesIn, type StatementPlace } from "./find-pages.ts"
import type { RuleStatement } from "./find-statements.ts"
import { isWithin, quotationsIn } from "./own-words.ts"
import type { FoundRule } from "./pin.ts"
import { topicOf } from "./rule-topic.ts"

export type { FindOptions } from "./find-pages.ts"

/** Finds standing rules in a text: the built-in finder, or one that asks a model. Each rule is a slice of the text, in order and apart. */
export type RuleFinder = (text: string, options: FindOptions) => Promise<readonly FoundRule[]> | readonly FoundRule[]

/** Rules taken out of one text; a text with more is a flood. */
const maxRules = 2000

/** The standing rules of a text in order, each verbatim and none of them twice. Linear in the text. */
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
function laidDown(
  { opening, context }: Draft,
  { headings }: StatementPlace,
  page: FoundRule["laid"],
): FoundRule["laid"] {
  if (page === "named" || opening.seen.declared) return "named"
  const heading = context === undefined ? undefined : headings.get(context.start)
  return heading !== undefined && isRuleTitle(heading) ? "named" : page
}

function readStatement(statement: RuleStatement, place: StatementPlace, drafts: Draft[]): void {
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

/** A rule while the statements behind it are read. */
type Draft = Span &
  RuleVerdict & {
    readonly opening: RuleStatement
    /** The block that it reaches into. */
    readonly until: number
    readonly context: Span | undefined
    readonly needsContext: boolean
  }

/** A rule with what belongs to it is no longer than this; what comes behind stands by itself. */
const maxJoined = 1500

/** A sentence that only says more about the one before. */
const refining =
  /^(?:(?:and |but )?(?:this|that|these|it|they|the same|same)(?: \w+){0,2} (?:includes?|applies|apply|means|goes for|go for|holds|covers|counts?|extends)\b|including\b|excludes?\b|except(?:ions?)?\b|unless\b|otherwise\b|instead\b|even (?:if|when|for|though)\b|especially\b|in particular\b|no exceptions?\b|without exception|not even\b|the (?:only |sole |one )?exceptions?\b|only exception|exempt\b|if not\b|if so\b|if unsure\b|same (?:for|with)\b|nor\b|neither\b|that includes|this is (?:non-negotiable|a hard (?:rule|limit))|ever\b|包括|包含|除外|例外|除了|这也|这包括|這包括|即使|否则|無論|不论|esto (?:incluye|aplica|tambien)|incluye|incluid[oa]s?\b|excepto|salvo\b|incluso|lo mismo|ni siquiera|sin excepci|das gilt|dies gilt|ausnahme|auch nicht|sonst\b|cela (?:inclut|vaut)|y compris|sauf\b|sinon\b|isso inclui|exceto|これには|例外)/

const conditional = /^(?:if|when|whenever|before|after|once|while|unless|until|during|on every|for (?:each|every))\b/

/** Does the statement only say more about the rule before it? */
const refines = ({ seen, at }: RuleStatement, before: Draft): boolean =>
  at - before.until <= 1 && refining.test(seen.text)

/** Does the item complete a rule that ends in a colon, or stand below a rule without being one itself? */
function completes({ block, at, seen }: RuleStatement, before: Draft, alone: boolean): boolean {
  const { opening } = before
  const nested = block.kind !== "heading" && opening.block.kind === "item" && block.indent > opening.block.indent
  if (at - before.until > 1 || !block.follows || /\?$/.test(seen.text)) return false
  if (at === opening.at) return false
  const opens = opening.seen.text.endsWith(":")
  const listed = opens && block.kind === "item" && (opening.block.kind !== "item" || nested)
  if (seen.named && seen.label !== "" && !opening.signs.forbids) return false
  if (!listed) return nested && alone
  return alone || opening.signs.forbids || conditional.test(opening.seen.text)
}

/** The rule with the statement taken in, unless it would grow too long. */
function joined(draft: Draft, { end, at }: RuleStatement): Draft | undefined {
  return end - draft.start <= maxJoined ? { ...draft, end, until: at } : undefined
}

/** A rule as it is handed out. */
export function ruleOf(text: string, draft: Omit<Draft, "opening" | "until">, channel: Channel): FoundRule {
  const { start, end, kind, explicitness, needsContext, context } = draft
  const own = text.slice(start, end)
  return {
    start,
    end,
    text: own,
    kind,
    channel,
    explicitness,
    topic: topicOf(own),
    needsContext,
    conditions: conditionsIn(own),
    exceptions: exceptionsIn(own),
    ...present({ context: context && text.slice(context.start, context.end) }),
  }
}

/** A clause up to the next joint. Bounded: a clause is no longer. */
const clause = "[^,.;:!?。，；：！？\\n]{2,160}"

const condition = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:if|when|whenever|before|after|while|until|once|for (?:all|any|every|each)|in (?:all|any|every|this)|during|every time|si|cuando|antes de|despues de|después de|mientras|hasta|wenn|falls|bevor|nachdem|quand|lorsque|avant|quando|antes|depois)(?![\\p{L}\\p{N}]) ${clause}|(?:如果|当|每当|每次|在)[^,.;。，；]{2,60}?(?:时|前|后|之前|之后|的话|，)`,
  "giu",
)
const exception = new RegExp(
  `(?<![\\p{L}\\p{N}-])(?:unless|except|without|other than|apart from|a menos que|salvo|excepto|sin|außer|ohne|es sei denn|sauf|sans|à moins|exceto|sem|a não ser)(?![\\p{L}\\p{N}]) ${clause}|(?:除非|未经|未經|除了)[^,.;。，；]{2,60}`,
  "giu",
)

/** Clauses named of one rule; one with more is a page. */
const maxClauses = 6

const found = (text: string, pattern: RegExp): readonly string[] =>
  (text.match(pattern) ?? []).slice(0, maxClauses).map((part) => part.trim())

/** The clauses that say when a rule holds. */
const conditionsIn = (text: string): readonly string[] => found(text, condition)

/** The clauses that say when a rule does not hold. */
const exceptionsIn = (text: string): readonly string[] => found(text, exception)
