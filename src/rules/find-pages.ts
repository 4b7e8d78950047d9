import type { Channel, Span } from "../message/message.ts"
import { blocksIn, linesOfText } from "./find-blocks.ts"
import {
  cue,
  type Genre,
  genreOf,
  isRulePage,
  isRuleTitle,
  namesRuleField,
  namesRules,
  ruleHeading,
  tellingHeading,
} from "./find-cue.ts"
import { asRule, judgeStatement, type RuleVerdict, setting } from "./find-judge.ts"
import { type RuleStatement, statementsIn } from "./find-statements.ts"
import { announcedBy, saysHowLong, saysHowMade } from "./find-view.ts"
import { ownWords } from "./own-words.ts"
import type { FoundRule } from "./pin.ts"

export type FindOptions = {
  readonly channel: Channel
  /** The name of the file or tool that the text came from, if it has one: AGENTS.md holds rules. */
  readonly source?: string
  /** What the text is, where the caller knows better than its channel tells. */
  readonly genre?: Genre
}

/** A stretch of a text that is read by itself, with its statements and where they stand. */
type Page = {
  readonly statements: readonly RuleStatement[]
  readonly place: StatementPlace
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
    blocksIn(linesOfText(text, page, escaped, options.channel !== "user" && options.channel !== "assistant")),
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
function pageGenre(statements: readonly RuleStatement[]): { readonly genre: Genre; readonly isDense: boolean } {
  const said = statements.filter(
    ({ block, seen }) => (block.kind === "paragraph" || block.kind === "item") && !setting.test(seen.text),
  )
  const titled = statements.some(
    ({ block, seen }, at) => (at === 0 || block.kind === "heading") && isRuleTitle(seen.text),
  )
  const headed = statements.some(
    ({ block, seen }, at) => (at === 0 || block.kind === "heading") && namesRules.test(seen.text),
  )
  const binding = said.filter(({ seen, signs }) => judgeStatement(seen, signs, "rules") !== undefined).length
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

/** Where a statement stands: the genre of its text, its heading, and the line that leads into its list. */
export type StatementPlace = {
  readonly genre: Genre
  readonly channel: Channel
  /** The view of each heading by where it starts. */
  readonly headings: ReadonlyMap<number, string>
  lead: RuleStatement | undefined
  /** The line before, if it says for how long or for what all that comes behind it holds. */
  frame: RuleStatement | undefined
}

const createPlace = (statements: readonly RuleStatement[], genre: Genre, channel: Channel): StatementPlace => ({
  genre,
  channel,
  headings: new Map(
    statements.filter(({ block }) => block.kind === "heading").map(({ start, seen }) => [start, seen.text]),
  ),
  lead: undefined,
  frame: undefined,
})

export type Judged = RuleVerdict & { readonly context: Span | undefined; readonly needsContext: boolean }

/** Headings and leads that turn what stands under them: a bullet below says what not to do. */
const forbidding = cue(
  /^(?:\d+[.)] )?(?:never|don'?ts?|do not|avoid|things? (?:to avoid|not to do|you (?:must|should) (?:not|never))|what not to do|prohibited|forbidden|not allowed|off[- ]limits|anti-?patterns?|禁止(?:事项)?|不要|严禁|不得|prohibido|prohibiciones|nunca|verboten|interdit|interdictions|proibido|禁止事項)(?: (?:do|the following|these|any of (?:these|the following)))?\W*$/,
)
const openEnded = cue(
  /^(?:\d+[.)] )?(?:what |things? (?:that |you )?)?(?:must |should |can |may )?(?:never|not|do not|don'?t|avoid)(?: ever)?(?: (?:be|do|doing|move|put|add|include|contains?|use|touch|belongs?|goes?|go|lives?|allowed))?(?: (?:in |into |on )?(?:here|this|these|it|there|the following|any of (?:these|the following)|(?:this|the) \w+))?\W*$/,
)
const demanding = cue(
  /^(?:\d+[.)] )?(?:always|must|required|do'?s|mandatory|siempre|obligatorio|必须|务必|immer|toujours)\W*$/,
)

/** Leads that say when: without them the bullet is another rule. */
const conditional = cue(
  /^(?:if|when|whenever|before|after|once|while|unless|until|during|for|on|cuando|si|antes|wenn|bevor|quand|avant|当|如果|每次)/,
)

/** What a statement is as a rule, where it stands. */
export function judgeInPlace(statement: RuleStatement, place: StatementPlace): Judged | undefined {
  const { block, signs } = statement
  const led = frameOf(statement, place)
  keepLead(statement, place)
  if (block.kind === "heading" || (leadsOnly(statement, place) && place.channel !== "assistant")) return undefined
  const lead = block.kind === "item" && place.lead !== statement ? place.lead : led
  const heading = block.under === undefined ? "" : (place.headings.get(block.under.start) ?? "")
  const over = lead?.seen.text ?? heading
  const context = lead ?? block.under
  if (place.channel === "assistant") return promised(statement, context)
  const genre = genreAt(statement, place, heading, lead)
  const own = block.kind === "quote" && genre !== "rules" ? undefined : judged(statement, genre, lead, place)
  const stands = own !== undefined && !isIdle(statement, own, heading, lead)
  const turned = turnedBy(statement, over, genre)
  if (turned !== undefined && !(signs.forbids && stands)) return { ...turned, context, needsContext: true }
  if (own === undefined || !stands) return undefined
  return { ...own, context, needsContext: lead !== undefined && scopes(over) }
}

/** A line over a list that only says for how long it holds, or how things are made, is no rule itself. */
const leadsOnly = (statement: RuleStatement, place: StatementPlace): boolean =>
  place.frame === statement ||
  (/[:：]$/.test(statement.seen.text) &&
    !statement.signs.forbids &&
    !statement.signs.demands &&
    saysHowMade(statement.seen.text))

/** Does a lead say when, or of what, the lines under it speak? That they hold for long they need not say. */
const scopes = (lead: string): boolean => saysHowMade(lead) || (conditional.test(lead) && !saysHowLong(lead))

/** The line that frames this one: a list keeps its lead, a line under it or the paragraph behind it may stand in for a list. */
function frameOf(statement: RuleStatement, place: StatementPlace): RuleStatement | undefined {
  const { block, seen, at } = statement
  const before = place.frame
  const goesOn = before !== undefined && at === before.at && !turnsToWork.test(seen.text)
  place.frame = /[:：]$/.test(seen.text) && frames(seen.text, place) ? statement : goesOn ? before : undefined
  return before !== undefined && block.kind === "paragraph" && (goesOn || at === before.at + 1) ? before : undefined
}

/** Does a lead make rules of what stands under it? How things are made is a rule if a user says so; a page may only describe it. */
const frames = (lead: string, { channel }: StatementPlace): boolean =>
  saysHowLong(lead) || (channel === "user" && (saysHowMade(lead) || announcedBy(lead) === "rule"))

/** Words with which talk comes back to the work at hand. */
const turnsToWork = cue(
  /^(?:(?:now|ok|okay|so|then|next|first|today|thanks|ahora|jetzt|nun|maintenant|agora)\b|现在|好|接下来)/,
)

/** What a statement is by itself; under a lead that frames every line that says something is a rule. */
function judged(
  { seen, signs }: RuleStatement,
  genre: Genre,
  lead: RuleStatement | undefined,
  place: StatementPlace,
): RuleVerdict | undefined {
  const own = judgeStatement(seen, signs, genre)
  if (own !== undefined || genre !== "rules" || lead === undefined || !frames(lead.seen.text, place)) return own
  const length = /[\u3400-\u9fff]/.test(seen.text) ? seen.text.length : seen.text.split(" ").length
  return length >= minSaid && !/[?？:：]$/.test(seen.text) ? asRule(seen, signs) : undefined
}

/** Words, or ideographs, with which a line says something and not only names it. */
const minSaid = 3

/** A line that ends in a colon leads into the list behind it; the first line that is no item ends that. */
function keepLead(statement: RuleStatement, place: StatementPlace): void {
  const { block, seen } = statement
  const lead = place.lead
  if (block.kind === "heading") place.lead = undefined
  else if (/[:：]$/.test(seen.text)) place.lead = statement
  else if (block.kind !== "item" || (lead?.block.kind === "item" && block.indent <= lead.block.indent)) {
    if (lead?.at !== statement.at) place.lead = undefined
  }
}

/** A list that someone puts under "Rules:" is a page of rules, whoever talks. */
function genreAt(
  { block }: RuleStatement,
  place: StatementPlace,
  heading: string,
  lead: RuleStatement | undefined,
): Genre {
  const { genre, channel } = place
  if (genre === "rules" || channel === "assistant") return genre
  if (frames(lead?.seen.text ?? heading, place)) return "rules"
  const headed = ruleHeading.test(lead?.seen.text ?? "") || (heading !== "" && ruleHeading.test(heading))
  return headed && (block.kind === "item" || lead === undefined) ? "rules" : genre
}

/** A cell of a table that starts as a rule does. */
const bindingCell = cue(
  /(?:^|\| ?)(?:never|do not|don't|always|must|avoid|only|no [a-z]+ing)\b|\b(?:must|should|shall)(?: not| never)\b/,
)

/** A bare command under a heading that tells what there is, or in a table, is no rule. */
function isIdle(
  { block, seen }: RuleStatement,
  own: RuleVerdict,
  heading: string,
  lead: RuleStatement | undefined,
): boolean {
  if (block.kind === "row") return own.explicitness === "genre" || !bindingCell.test(seen.text)
  if (own.explicitness !== "genre" || lead !== undefined) return false
  return tellingHeading.test(heading) && !ruleHeading.test(heading)
}

function turnedBy({ block, seen, signs, start }: RuleStatement, over: string, genre: Genre): RuleVerdict | undefined {
  if (genre !== "rules" || block.kind === "row" || seen.text.endsWith("?")) return undefined
  if (block.kind !== "item" && (start !== block.start || signs.commands)) return undefined
  if (forbidding.test(over) || openEnded.test(over)) return { kind: "prohibition", explicitness: "stated" }
  if (demanding.test(over) && !signs.forbids) return { kind: "obligation", explicitness: "stated" }
  return undefined
}

/** The assistant lays down no rules; what it promises for good is kept. */
const promise = cue(
  /\b(?:from now on|going forward|in (?:the )?future|for the rest of)\b.{0,40}\b(?:i|we)(?:'ll| will)\b|\b(?:i|we)(?:'ll| will) (?:always|never|only ever|from now on)\b|\b(?:i|we)(?:'ll| will)\b.{0,80}\b(?:from now on|going forward)\b|(?:从现在起|今后|以后).{0,12}我(?:会|将|只|不)|我(?:会|将)(?:始终|总是|永远)|我(?:绝不|永远不)会|\b(?:a partir de ahora|de ahora en adelante|siempre|nunca)\b.{0,40}\b\w+r(?:e|emos)\b/,
)

function promised({ seen, signs, block }: RuleStatement, context: Span | undefined): Judged | undefined {
  if (!promise.test(seen.text) || block.kind === "quote" || seen.text.endsWith("?")) return undefined
  const no = signs.forbids || /\b(?:never|not)\b|不|nunca/.test(seen.text)
  return { kind: no ? "prohibition" : "obligation", explicitness: "stated", context, needsContext: false }
}
