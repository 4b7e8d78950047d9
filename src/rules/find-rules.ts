import { lazy } from "../language/lazy.ts"
import { sentencesIn } from "../language/sentences.ts"
import { anyOf } from "../language/word-lists.ts"
import type { Channel, Span } from "../message/message.ts"
import { checkOptionNames, optionNames } from "../message/option-names.ts"
import { present } from "../message/present.ts"
import { createRecent } from "../message/recall.ts"
import type { Steps } from "../message/steps.ts"
import { outsideAsides } from "./asides.ts"
import { isInstructionFile } from "./instruction-file.ts"
import { isWithin, ownWords, quotationsIn } from "./own-words.ts"
import type { Explicitness, FoundRule, RuleKind } from "./pin.ts"
import { topicOf } from "./rule-topic.ts"
import words from "./rule-words.json" with { type: "json" }
import { type Register, statementScore } from "./statement-score.ts"
import { endsInColon, type Statement, statementsIn, statementsInSteps } from "./statements.ts"
import {
  endsWithQuestion,
  forbidding,
  mayBeAnnounced,
  mayReachThreshold,
  meetsThreshold,
  messageContext,
  opensSteps,
  sureTalk,
} from "./sure-enough.ts"
import { hasRoomForTwo, isAnothers, speakerScore, surelyOwn } from "./who-speaks.ts"
import { noReading } from "./word-classes.ts"
import { type ClassSet, classSet, sharesClass } from "./word-table.ts"

export type FindOptions = {
  readonly channel: Channel
  /** The name of the file or tool that the text came from, if it has one: AGENTS.md holds rules. */
  readonly source?: string | undefined
  /** The caller knows that the text was written to be followed, as a policy that the operator named. */
  readonly genre?: "rules"
}

const findNames = optionNames<FindOptions>()("channel source genre")

/**
 * Finds standing rules in a text: the built-in function, or one that asks a model. The rules are slices of the text, in order and not
 * overlapping.
 */
export type RuleFinder = (text: string, options: FindOptions) => Promise<readonly FoundRule[]> | readonly FoundRule[]

/** Maximum number of rules taken from one text; the rest is ignored. */
const maxRules = 2000

/**
 * Returns the standing rules of a text in order, as verbatim slices that do not overlap. Of a user's message only the user's own words are
 * read; documents and tool output hold rules only if their name or the caller says that they are instructions. Linear in the length of the
 * text.
 */
export function findRules(text: string, options: FindOptions): readonly FoundRule[] {
  checkOptionNames(options, findNames, "findRules")
  return rulesInText(text, options)
}

/** Same as `findRules`, for callers whose options the compiler has checked. */
export function rulesInText(text: string, options: FindOptions): readonly FoundRule[] {
  const register = registerOf(options)
  const rules: FoundRule[] = []
  if (register === undefined) return rules
  const pages = pagesIn(text, register)
  const collect = createCollector(rules, text, options.channel, pages)
  for (const page of pages) {
    const statements = statementsIn(text, page, register === "page")
    const scores: number[] = []
    scoreSome(text, statements, register, scores, statements.length)
    draftsIn(statements, scores, register).forEach(collect)
  }
  return rules
}

/** Rules of a user's message, cached because the log and the notes of a session each ask for them. */
export const saidRules = createRecent((text) => rulesInText(text, { channel: "user" }), 1000)

/**
 * Same as `rulesInText`, in steps of a few milliseconds. A short text is read in one step; the `yield` before it is for callers that read
 * many of them in a row.
 */
export function* findRulesInSteps(text: string, options: FindOptions): Steps<readonly FoundRule[]> {
  yield
  if (text.length <= readAtOnce) return isPlainUserMessage(options) ? saidRules(text) : rulesInText(text, options)
  const register = registerOf(options)
  const rules: FoundRule[] = []
  if (register === undefined) return rules
  const pages = pagesIn(text, register)
  const collect = createCollector(rules, text, options.channel, pages)
  for (const page of pages) {
    yield
    const statements = yield* statementsInSteps(text, page, register === "page")
    const scores: number[] = []
    while (scores.length < statements.length) {
      yield
      scoreSome(text, statements, register, scores, scoredAtOnce)
    }
    draftsIn(statements, scores, register).forEach(collect)
  }
  return rules
}

const isPlainUserMessage = ({ channel, source, genre }: FindOptions): boolean =>
  channel === "user" && source === undefined && genre === undefined

/** Maximum length in characters of a text read in one step; it takes less than a millisecond. */
const readAtOnce = 2000
/** Number of statements scored in one step. */
const scoredAtOnce = 32

/**
 * True for a line that ends in a colon right before pasted text, such as "a mail, it's not for us, I only paste it for the name:". A ban
 * before a list in a code fence remains a rule.
 */
function introducesPaste(text: string, { start, end, opening }: Draft, pages: readonly Span[]): boolean {
  if (!/[:：]$/.test(text.slice(start, end)) || sharesClass(opening.view.own, unconditional)) return false
  const page = pages.find((span) => span.start <= start && end <= span.end)
  return page !== undefined && page.end < text.length && /^[\s=_*~-]*$/.test(text.slice(end, page.end))
}
const unconditional = classSet("never always dont forbid")

/** Matches a line of a log that begins with the name of an exception: `java.lang.IllegalStateException: …`. */
const exceptionMessage = /(?:^|\n)\s*(?:Caused by: )?(?:[\w$]+\.)*[A-Z][\w$]*[a-z](?:Exception|Error): /

/**
 * Returns a function that adds a draft to the rules unless it is quoted, said by somebody else, or meant only for now or for one later
 * occasion.
 */
function createCollector(
  rules: FoundRule[],
  text: string,
  channel: Channel,
  pages: readonly Span[],
): (draft: Draft) => void {
  const quotations = lazy(() => (channel === "user" ? quotationsIn(text) : []))
  const hasSeveralSpeakers = lazy(() => channel === "user" && hasRoomForTwo(text))
  return (draft) => {
    if (rules.length === maxRules || isWithin(draft, quotations())) return
    if (hasSeveralSpeakers() && isAnothers(text, draft, pages)) return
    if (
      channel === "user" &&
      (introducesPaste(text, draft, pages) || exceptionMessage.test(text.slice(draft.start, draft.end)))
    )
      return
    const rule = ruleOf(text, channel === "user" ? withReferent(text, draft, rules.at(-1)?.end ?? 0) : draft, channel)
    if (channel !== "user" || !(limitedToNow.test(rule.text) || isPostponed(rule.text))) rules.push(rule)
  }
}

/** Extends a rule whose object is a pronoun ("Never use that") to the sentence before it on its line, which says what is meant. */
function withReferent(text: string, draft: Draft, from: number): Draft {
  if (!pointsBack.test(text.slice(draft.start, draft.start + maxPronounCommand))) return draft
  const line = Math.max(from, text.lastIndexOf("\n", draft.start - 1) + 1)
  const [bullet = ""] = /^\s*(?:[-*•+]|\d{1,3}[.)])\s+/.exec(text.slice(line, draft.start)) ?? []
  const before = sentencesIn(text, { start: line + bullet.length, end: draft.start }).at(-1)
  return before === undefined || draft.start - before.start > maxReferent ? draft : { ...draft, start: before.start }
}
/**
 * Matches a command of a few words whose object is a pronoun, or a series of bans that ends in "nothing", which refers to something named
 * before.
 */
const pointsBack = new RegExp(
  String.raw`^no \p{L}{3,15}, no [\p{L} ,]{3,60}, (?:nothing|nada|nichts|rien|niente|niets)(?![\p{L}])|` +
    "^(?:(?:so|and|but|please|pls|then),? )?(?:never|always|don['’]?t(?: ever)?|do not(?: ever)?|only) " +
    String.raw`\p{L}{2,12}(?: (?:on|at|to|with|into|from))? (?:that|this|it|them|those|these)` +
    String.raw`(?: (?:again|please|either|at all|anymore|any more|ever))?\s{0,2}(?:[.!,;)\n]|$)`,
  "iu",
)
const maxPronounCommand = 60
const maxReferent = 200

/** Returns the sentences of a message that read like rules, whoever says them. */
export const ruleLikeIn = (text: string): readonly Span[] =>
  outsideAsides(text).flatMap((page) => {
    const statements = statementsIn(text, page, false)
    const scores: number[] = []
    scoreSome(text, statements, "talk", scores, statements.length)
    return draftsIn(statements, scores, "talk")
  })

/** Returns the sentences of a user's message that an announcement may make rules, and their own scores; for the training. */
export function announceable(text: string): readonly { readonly statement: Statement; readonly score: number }[] {
  const pages = pagesIn(text, "talk")
  const quotations = quotationsIn(text)
  const isOwn = (statement: Statement): boolean =>
    !isWithin(statement, quotations) && !(hasRoomForTwo(text) && isAnothers(text, statement, pages))
  return pages.flatMap((page) => {
    const statements = statementsIn(text, page, false)
    const scores: number[] = []
    scoreSome(text, statements, "talk", scores, statements.length)
    const context = messageContext(statements, scores)
    return statements
      .map((statement, n) => ({ statement, n, score: scores[n] ?? 0 }))
      .filter(({ statement, n }) => isOwn(statement) && mayBeAnnounced(statements, n, scores, context))
  })
}

/**
 * True if a text asks for one thing, later ("At the very end put it all into my calendar"), and not for a repeated one ("at the end of each
 * day").
 */
const isPostponed = (text: string): boolean => postponing.test(text) && !repeated.test(text)
const postponing = new RegExp(`^(?:(?:and|und|et|y|e|en|oh|ah),? )?${anyOf(words.puttingOff)}(?![\\p{L}])`, "iu")
const repeated = new RegExp(`(?<![\\p{L}])${anyOf(words.repeating)}(?![\\p{L}])`, "iu")

/** Matches words that limit a rule to the present. */
const limitedToNow =
  /\bfor (?:now|the moment|the time being)\b|\bvorerst\b|\bfürs erste\b|\bpour l['’]instant\b|\bpor (?:ahora|enquanto)\b/i

/** Returns how a text is read, by who wrote it; undefined if it is not read, because what a model says binds nobody. */
export function registerOf({ channel, source, genre }: FindOptions): Register | undefined {
  if (channel === "assistant") return undefined
  if (genre === "rules" || (source !== undefined && isInstructionFile(source))) return "page"
  if (channel === "user") return "talk"
  return channel === "document" || channel === "tool" ? undefined : "page"
}

/** Number of characters read at the start and at the end of a long text; together more than a file of rules has. */
const maxHead = 300_000
const maxTail = 100_000

/** Returns the spans of a text that are read: both ends of a long text, and only the user's own words of a user's message. */
export function pagesIn(text: string, register: Register): readonly Span[] {
  const { length } = text
  if (length <= maxHead + maxTail)
    return register === "page" ? [{ start: 0, end: length }] : withOwnLines(text, ownWords(text))
  const ends = [
    { start: 0, end: maxHead },
    { start: length - maxTail, end: length },
  ]
  if (register === "page") return ends
  const own: Span[] = []
  for (const { start, end } of ends) {
    const found = ownWords(text.slice(start, end)).map((span) => ({ start: start + span.start, end: start + span.end }))
    own.push(...found)
    // If a paste is still open at the end of the first part, it covers the second.
    if (found.at(-1)?.end !== end) break
  }
  return own
}

/**
 * Extends a span that ends in a colon to the end of its line if the rest is the speaker's own ("Rules first, as I said: …"). In other
 * messages such a colon introduces a paste.
 */
function withOwnLines(text: string, pages: readonly Span[]): readonly Span[] {
  if (pages.length === 0 || pages.at(-1)?.end === text.length) return pages
  return pages.map((page, n) => {
    if (!/[:：]\s*$/.test(text.slice(Math.max(page.start, page.end - 3), page.end))) return page
    const line = text.indexOf("\n", page.end)
    const end = Math.min(line < 0 ? text.length : line, pages[n + 1]?.start ?? text.length)
    const rest = { start: page.end, end }
    const isOwn = end - page.end <= maxOwnLine && end > page.end && speakerScore(text, rest) < surelyOwn
    return isOwn ? { start: page.start, end } : page
  })
}
const maxOwnLine = 600

/** A rule that the following sentences may still extend. */
type Draft = Span & {
  readonly opening: Statement
  /** Index of the last block that it reaches into. */
  readonly until: number
  readonly score: number
}

/** Scores the next `count` statements. */
function scoreSome(
  text: string,
  statements: readonly Statement[],
  register: Register,
  scores: number[],
  count: number,
): void {
  const end = Math.min(statements.length, scores.length + count)
  for (let n = scores.length; n < end; n++) {
    const statement = statements[n]
    if (statement === undefined) return
    const score = statementScore(statement.view, register)
    scores.push(register === "talk" ? lineScore(text, statement, score) : score)
  }
}

function draftsIn(statements: readonly Statement[], own: readonly number[], register: Register): readonly Draft[] {
  const drafts: Draft[] = []
  const scores = register === "page" ? siblingScores(statements, own) : own
  if (register === "talk" && !statements.some(({ view }, n) => mayReachThreshold(view, scores[n] ?? 0))) return drafts
  const context = register === "talk" ? lazy(() => messageContext(statements, scores)) : undefined
  for (let n = 0; n < statements.length; n++) {
    const statement = statements[n]
    if (statement === undefined) break
    if (statement.block.kind === "heading" || statement.block.kind === "quote") continue
    const { start, end, at } = statement
    const score = scores[n] ?? 0
    const isRule =
      opensSteps(statement, register) ||
      (meetsThreshold(statements, n, scores, context) && !(register === "page" && endsWithQuestion(statement.view.own)))
    const before = drafts.at(-1)
    if (
      before !== undefined &&
      (refines(statement, before) || completes(statement, before, isRule) || continues(statement, before, isRule)) &&
      fits(before, end)
    )
      drafts[drafts.length - 1] = { ...before, end, until: at }
    else if (isRule) drafts.push({ start, end, opening: statement, until: at, score })
  }
  return drafts
}

/**
 * Adds to each score the mean score of its siblings in a file of instructions: the items of a list, and the lines below a heading, are
 * mostly rules together or not at all. Weight and bound were chosen on files that were left out of the training.
 */
function siblingScores(statements: readonly Statement[], scores: readonly number[]): readonly number[] {
  const bounded = scores.map((score) => Math.max(-maxSiblingScore, Math.min(maxSiblingScore, score)))
  const groups = new Map<string, { sum: number; count: number }>()
  const keys = statements.map(({ block, over }) => `${block.under?.start} ${over?.start} ${block.kind} ${block.indent}`)
  for (const [n, key] of keys.entries()) {
    const group = groups.get(key) ?? { sum: 0, count: 0 }
    groups.set(key, { sum: group.sum + (bounded[n] ?? 0), count: group.count + 1 })
  }
  return scores.map((score, n) => {
    const { sum, count } = groups.get(keys[n] ?? "") ?? { sum: 0, count: 0 }
    return count < 2 ? score : score + (siblingWeight * (sum - (bounded[n] ?? 0))) / (count - 1)
  })
}
const [siblingWeight, maxSiblingScore] = [0.45, 3]

/**
 * Raises the score of a sentence that has a line of its own towards the score it would have as the only sentence of the message. Outside
 * the two bounds this would change no decision.
 */
function lineScore(text: string, { start, end, view }: Statement, score: number): number {
  if (view.crowd < 2 || view.isItem || score <= leastLine || score >= sureTalk || !isOwnLine(text, start, end))
    return score
  const alone = { ...view, before: noReading, after: noReading, gist: noReading, ...onlySentence }
  return score + lineLift * Math.max(0, statementScore(alone, "talk") - score)
}
const onlySentence = { crowd: 1, items: 0, isFirst: true, isLast: true }
const [leastLine, lineLift] = [-1, 0.6]

/** True if a span fills whole lines and does not start inside backticks. */
const isOwnLine = (text: string, start: number, end: number): boolean =>
  (start === 0 || text.charCodeAt(start - 1) === 10) &&
  (end >= text.length || text.charCodeAt(end) === 10) &&
  (!text.includes("`") || text.slice(0, start).split("`").length % 2 === 1)

/** Maximum length in characters of a rule with the sentences that belong to it; the next sentence is separate. */
const maxJoined = 1500
const fits = (draft: Draft, end: number): boolean => end - draft.start <= maxJoined

/** Matches a sentence that only adds to the one before it. */
const refining = new RegExp(
  `^${anyOf(
    `(?:and |but )?(?:this|that|these|it|they|the same|same)(?: \\w+){0,2} ${anyOf(words.refiningVerbs)}\\b`,
    `${anyOf(words.refining)}\\b`,
    words.refiningElsewhere,
  )}`,
)

const refines = ({ view, at }: Statement, before: Draft): boolean =>
  at - before.until <= 1 && refining.test(view.own.text) && !endsWithQuestion(view.own)

/**
 * True if a sentence belongs to the rule before it in its block: it refers to what that rule names ("Gate 7 stays open. No locks, no
 * barriers."), or says what that rule still allows ("Delete nothing. Renaming is fine.").
 */
const continues = ({ view, at }: Statement, before: Draft, isRule: boolean): boolean =>
  at === before.until &&
  ((isRule && referringBack.test(view.own.text)) ||
    (!isRule && bareBans.test(view.own.text)) ||
    (sharesClass(before.opening.view.own, forbidding) && allowing.test(view.own.text)))
const referringBack =
  /^(?:(?:and|but|so|also) )?(?:(?:they|both|neither|she|he)(?![\p{L}])|it (?!is|was|['’]s|would|will be)|no \p{L}{3,}(?: \p{L}{3,})?, no \p{L}{3,})/u
/** Matches a sentence of bans alone ("No floats, no casts."), which continues the rule before it. */
const bareBans = /^no \p{L}{3,}(?: \p{L}{3,})?, no \p{L}{3,}(?: \p{L}{3,})?\W*$/u
const allowing =
  /^(?:(?:and|but|only|just) )?(?!\p{L}*thing )\p{L}{2,15}ing (?:\p{L}{2,15} ){0,3}(?:is|are) (?:fine|ok(?:ay)?|allowed|all right)\W*$/u

/** True if a list item completes a rule that ends in a colon, or is nested below a rule without being one itself. */
function completes({ block, at, view }: Statement, before: Draft, isRule: boolean): boolean {
  const { opening } = before
  if (at === opening.at || at - before.until > 1 || block.kind !== "item" || !block.follows) return false
  if (endsWithQuestion(view.own)) return false
  const nested = opening.block.kind === "item" && block.indent > opening.block.indent
  const isOpen = endsInColon(opening.view.own) && (opening.block.kind !== "item" || nested)
  return isOpen || (nested && !isRule)
}

/** Returns a draft as a found rule. */
export function ruleOf(
  text: string,
  { start, end, opening, score }: Omit<Draft, "until">,
  channel: Channel,
): FoundRule {
  const own = text.slice(start, end)
  const { over } = opening
  return {
    start,
    end,
    text: own,
    channel,
    ...natureOf(opening),
    confidence: Math.round(100 / (1 + Math.exp(-score))) / 100,
    ...present({ context: over === undefined ? undefined : text.slice(over.start, over.end) }),
    // Computed on demand: it takes as long as finding the rule, and a session does not need it.
    get topic() {
      return topicOf(own)
    },
    get conditions() {
      return conditionsIn(own)
    },
    get exceptions() {
      return exceptionsIn(own)
    },
  }
}

/** Returns the kind of a text that is one rule as a whole, such as one that somebody asked to pin. */
export const kindOfRule = (text: string): RuleKind => {
  const [opening] = statementsIn(text, { start: 0, end: text.length }, false)
  return opening === undefined ? "obligation" : natureOf(opening).kind
}

/**
 * Returns the kind of rule that a sentence is, how explicitly it says that it lasts, and whether its meaning depends on the line above it.
 */
function natureOf({ view }: Statement): {
  readonly kind: RuleKind
  readonly explicitness: Explicitness
  readonly needsContext: boolean
} {
  const { own, over } = view
  const { text } = own
  const has = (some: ClassSet): boolean => sharesClass(own, some)
  const isTurned = view.isItem && sharesClass(over, forbidding)
  const denies =
    has(classes.not) && (has(classes.modal) || /^(?:please |and |but )*(?:no|not|nothing|none|nobody)\b/.test(text))
  const forbids = has(forbidding) || denies || isTurned
  const bounds = has(classes.bounding) || (forbids && has(classes.lifting))
  const kind: RuleKind = bounds
    ? "permission-limit"
    : forbids
      ? "prohibition"
      : has(classes.obliging)
        ? "obligation"
        : has(classes.may)
          ? "permission"
          : has(classes.prefer)
            ? "preference"
            : "obligation"
  const stated = has(classes.stating) || sharesClass(over, classes.announcing) || isTurned
  const explicitness = stated ? "stated" : has(classes.weakly) ? "modal" : "genre"
  const scopes = view.isItem && sharesClass(over, classes.scoping)
  return { kind, explicitness, needsContext: isTurned || scopes }
}

/** Sets of word classes that decide the nature of a rule. */
const classes = {
  not: classSet("not"),
  modal: classSet("must may should want we"),
  bounding: classSet("only limit"),
  lifting: classSet("unless ask"),
  obliging: classSet("must always should every lasting"),
  may: classSet("may"),
  prefer: classSet("prefer"),
  stating: classSet("never always lasting general rule forbid limit"),
  announcing: classSet("rule lasting"),
  weakly: classSet("must should dont only not ask every may"),
  scoping: classSet("if when before every"),
} as const

/** Matches the rest of a clause up to the next punctuation mark; at most 160 characters. */
const clause = "[^,.;:!?。，；：！？\\n]{2,160}"

const condition = new RegExp(
  `(?<![\\p{L}\\p{N}-])${anyOf(words.conditions)}(?![\\p{L}\\p{N}]) ${clause}|(?:如果|当|每当|每次|在)[^,.;。，；]{2,60}?(?:时|前|后|之前|之后|的话|，)`,
  "giu",
)
const exception = new RegExp(
  `(?<![\\p{L}\\p{N}-])${anyOf(words.exceptions)}(?![\\p{L}\\p{N}]) ${clause}|(?:除非|未经|未經|除了)[^,.;。，；]{2,60}`,
  "giu",
)

/** Maximum number of conditions, and of exceptions, returned for one rule. */
const maxClauses = 6

const found = (text: string, pattern: RegExp): readonly string[] =>
  (text.match(pattern) ?? []).slice(0, maxClauses).map((part) => part.trim())

/** Returns the clauses that say when a rule applies. */
const conditionsIn = (text: string): readonly string[] => found(text, condition)

/** Returns the clauses that say when a rule does not apply. */
const exceptionsIn = (text: string): readonly string[] => found(text, exception)
