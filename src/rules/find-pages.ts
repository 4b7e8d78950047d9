import type { Channel } from "../message/channel.ts"
import type { Span } from "../message/request.ts"
import { blocksIn } from "./find-blocks.ts"
import { type Genre, genreOf, isRulePage, isRuleTitle, namesRuleField, namesRules } from "./find-genre.ts"
import { judge, setting } from "./find-judge.ts"
import { linesIn } from "./find-lines.ts"
import { createPlace, type Place } from "./find-place.ts"
import { type Statement, statementsIn } from "./find-statements.ts"
import { ownWords } from "./own-words.ts"
import type { FoundRule } from "./rule.ts"

export type FindOptions = {
  readonly channel: Channel
  /** The name of the file or tool that the text came from, if it has one: AGENTS.md holds rules. */
  readonly source?: string
  /** What the text is, where the caller knows better than its channel tells. */
  readonly genre?: Genre
}

/** A stretch of a text that is read by itself, with its statements and where they stand. */
type Page = {
  readonly statements: readonly Statement[]
  readonly place: Place
  /** How it shows that it is one of rules, if it is. */
  readonly laid: FoundRule["laid"]
}

/** Characters read at the start and at the end of a long text: together more than a page of rules has. */
const maxHead = 300_000
const maxTail = 100_000

/** The pages of a text: all of it, its two ends if it is long, or the strings of JSON. Each is read when its turn comes. */
export function* pagesIn(text: string, options: FindOptions): Generator<Page> {
  if (options.channel === "user" && options.genre === undefined && options.source === undefined) {
    for (const span of ownSpansOf(text)) yield pageAt(text, span, false, options)
    return
  }
  const strings = text.length <= maxHead + maxTail ? stringsIn(text) : undefined
  const own: FindOptions = strings?.named && options.channel === "tool" ? { genre: "rules", ...options } : options
  for (const span of strings?.spans ?? spansOf(text)) yield pageAt(text, span, strings !== undefined, own)
}

/** What the user wrote; of a long text at its two ends. If a paste is still open where the first end stops, it covers the second. */
function ownSpansOf(text: string): readonly Span[] {
  const own: Span[] = []
  for (const { start, end } of spansOf(text)) {
    const found = ownWords(text.slice(start, end)).map((span) => ({ start: start + span.start, end: start + span.end }))
    own.push(...found)
    if (found.at(-1)?.end !== end) break
  }
  return own
}

function spansOf({ length }: string): readonly Span[] {
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

function pageAt(text: string, page: Span, escaped: boolean, options: FindOptions): Page {
  const statements = statementsIn(
    text,
    blocksIn(linesIn(text, page, escaped, options.channel !== "user" && options.channel !== "assistant")),
    speaksAbroad(text, page),
  )
  const known = options.genre ?? genreOf(options.channel, options.source)
  if (known !== "data") return { statements, place: createPlace(statements, known, options.channel), laid: "named" }
  const [title] = statements
  const found = pageGenre(statements)
  const isTitled = title !== undefined && isRuleTitle(title.seen.text)
  return {
    statements,
    place: createPlace(statements, found.genre, options.channel),
    laid: found.genre === "data" ? undefined : isTitled ? "named" : found.isDense ? "dense" : undefined,
  }
}

/** Is data a page of rules, and are rules most of what it says? */
function pageGenre(statements: readonly Statement[]): { readonly genre: Genre; readonly isDense: boolean } {
  const said = statements.filter(
    ({ block, seen }) => (block.kind === "paragraph" || block.kind === "item") && !setting.test(seen.text),
  )
  const titled = statements.some(
    ({ block, seen }, at) => (at === 0 || block.kind === "heading") && isRuleTitle(seen.text),
  )
  const headed = statements.some(
    ({ block, seen }, at) => (at === 0 || block.kind === "heading") && namesRules.test(seen.text),
  )
  const binding = said.filter(({ seen, signs }) => judge(seen, signs, "rules") !== undefined).length
  const isRules = isRulePage(titled ? "titled" : headed ? "named" : "no", binding, said.length)
  return { genre: isRules ? "rules" : "data", isDense: isRulePage("no", binding, said.length) }
}

/** Shorter strings of a JSON text hold no rule; ideographs say more in less. */
const minLength = 12
const minWide = 5

/** Longer strings are no names. */
const maxName = 60

/** Strings read of one text: a policy stands in a few, a table of records in thousands. */
const maxStrings = 4000

const opensJson = /^\s{0,64}[[{"]/

/** The strings of a JSON text, its keys and short strings aside, and whether a key or a short string names a page of rules. */
type Strings = { readonly spans: readonly Span[]; readonly named: boolean }

/** The strings of a text that is JSON, or nothing if it is none: a tool hands over a policy as the value of a field. One pass. */
function stringsIn(text: string): Strings | undefined {
  if (!opensJson.test(text) || !/["}\]]\s{0,64}$/.test(text.slice(-80))) return undefined
  const spans: Span[] = []
  let start = -1
  let named = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 92) at++
    else if (code === 34) {
      if (start < 0) start = at + 1
      else {
        if (at - start <= maxName) named ||= namesRuleField(text.slice(start, at))
        const enough = at - start >= (/[\u3040-\u9fff]/.test(text.charAt(start)) ? minWide : minLength)
        if (enough && !isKey(text, at + 1) && spans.length < maxStrings) spans.push({ start, end: at })
        start = -1
      }
    }
  }
  return start < 0 && spans.length > 0 ? { spans, named } : undefined
}

/** A string before a colon names a field. */
function isKey(text: string, after: number): boolean {
  const next = /\S/.exec(text.slice(after, after + 16))?.[0]
  return next === ":"
}
