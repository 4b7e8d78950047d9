import type { Channel } from "../message/channel.ts"
import { present } from "../message/present.ts"
import type { Span } from "../message/request.ts"
import { blocksIn } from "./find-blocks.ts"
import { type Genre, genreOf, isRulePage, namesRules } from "./find-genre.ts"
import { completes, type Draft, joined, refines } from "./find-join.ts"
import { judge } from "./find-judge.ts"
import { linesIn } from "./find-lines.ts"
import { createPlace, judgeInPlace, type Place } from "./find-place.ts"
import { conditionsIn, exceptionsIn } from "./find-scope.ts"
import { type Statement, statementsIn } from "./find-statements.ts"
import { stringsIn } from "./find-strings.ts"
import type { FoundRule } from "./rule.ts"
import { topicOf } from "./rule-topic.ts"

export type FindOptions = {
  readonly channel: Channel
  /** The name of the file or tool that the text came from, if it has one: AGENTS.md holds rules. */
  readonly source?: string
  /** What the text is, where the caller knows better than its channel tells. */
  readonly genre?: Genre
}

/** Characters read at the start and at the end of a long text: together more than a page of rules has. */
const maxHead = 300_000
const maxTail = 100_000

/** Rules taken out of one text; a text with more is a flood. */
const maxRules = 2000

/** The standing rules of a text in order, each to the letter and none of them twice. Linear in the text. */
export function findRules(text: string, options: FindOptions): readonly FoundRule[] {
  const strings = text.length <= maxHead + maxTail ? stringsIn(text) : undefined
  const pages = strings ?? pagesOf(text)
  const rules: FoundRule[] = []
  for (const page of pages) {
    for (const draft of draftsOn(text, page, strings !== undefined, options)) {
      if (rules.length === maxRules) return rules
      rules.push(ruleOf(text, draft, options.channel))
    }
  }
  return rules
}

function pagesOf({ length }: string): readonly Span[] {
  if (length <= maxHead + maxTail) return [{ start: 0, end: length }]
  return [
    { start: 0, end: maxHead },
    { start: length - maxTail, end: length },
  ]
}

/** Short texts are read in every language; a long one in those whose small words it has. */
const shortLength = 4000
const smallWords =
  /\b(?:el|los|las|una|por|para|con|que|del|siempre|nunca|der|das|und|nicht|ist|fur|les|une|dans|avec|pour|jamais|toujours|nao|uma|dos|sempre)\b/gi
const minSmallWords = 8

function speaksAbroad(text: string, { start, end }: Span): boolean {
  if (end - start <= shortLength) return true
  let found = 0
  for (const _ of text.slice(start, end).matchAll(smallWords)) if (++found >= minSmallWords) return true
  return false
}

function draftsOn(text: string, page: Span, escaped: boolean, options: FindOptions): readonly Draft[] {
  const statements = statementsIn(text, blocksIn(linesIn(text, page, escaped)), speaksAbroad(text, page))
  const genre = options.genre ?? pageGenre(statements, options)
  const place = createPlace(statements, genre, options.channel)
  const drafts: Draft[] = []
  for (const statement of statements) readStatement(statement, place, drafts)
  return drafts
}

function pageGenre(statements: readonly Statement[], { channel, source }: FindOptions): Genre {
  const genre = genreOf(channel, source)
  if (genre !== "data") return genre
  const said = statements.filter(({ block }) => block.kind === "paragraph" || block.kind === "item")
  const headed = statements.some(
    ({ block, seen }, at) => (at === 0 || block.kind === "heading") && namesRules.test(seen.text),
  )
  const binding = said.filter(({ seen, signs }) => judge(seen, signs, "rules") !== undefined).length
  return isRulePage(headed, binding, said.length) ? "rules" : genre
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

function ruleOf(text: string, draft: Draft, channel: Channel): FoundRule {
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
