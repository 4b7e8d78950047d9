import { letters } from "../language/letters.ts"
import { anyOf } from "../language/word-lists.ts"
import { announcedScore } from "./announcement.ts"
import words from "./rule-words.json" with { type: "json" }
import { isStandingCommand, orderOf } from "./standing-command.ts"
import { clausesOf, type Register } from "./statement-score.ts"
import { endsInColon, type Statement } from "./statements.ts"
import { noReading, type Reading, readWords, textMark } from "./word-classes.ts"
import { wordField, wordFlag, wordLength } from "./word-facts.ts"
import { type ClassSet, classSet, sharesClass } from "./word-table.ts"

/**
 * Decides how high the score of a sentence must be to make it a rule, given its context: a line above or a neighbouring sentence that calls
 * it a rule, a list of rules that it is an item of, a label before it, the number of other sentences.
 */

/** A sentence with a higher score is a rule. How the values were chosen: docs/decisions/2026-11-17-masked-words.md. */
const thresholds: Readonly<Record<Register, number>> = { talk: -0.15, page: -0.25 }
/** Thresholds for sentences with "never" or "always", and for sentences that say that they last or apply each time. */
const [everTalk, lastingTalk] = [-0.45, -0.95]
/** How much the threshold rises when the number of sentences doubles: a long message is mostly about the task. */
const raisePerDoubling = 0.08
/** Number of sentences beyond which the threshold rises no further. */
const maxCrowd = 16

/** Context of the sentences of a user's message: lists of rules, and leads that are labels or announce what follows. */
type MessageContext = {
  /** Leads of lists of which nearly all items are rules. */
  readonly lists: ReadonlySet<string>
  /** Leads (the words before a colon) that occur on many lines. */
  readonly labels: ReadonlySet<string>
  /** Lead of each statement. */
  readonly leads: readonly Reading[]
  /** Whether each item is in a list that was announced as rules. */
  readonly announced: readonly boolean[]
  /** Whether each statement follows, in its block, a lead that announces several rules. */
  readonly follows: readonly boolean[]
}

export function messageContext(statements: readonly Statement[], scores: readonly number[]): MessageContext {
  const leads = statements.map(({ view }) => leadOf(view.own))
  const context = { lists: listsOfRules(statements, scores), labels: labelsIn(statements, leads), leads }
  const announced: boolean[] = []
  const follows: boolean[] = []
  for (let n = 0; n < statements.length; n++) {
    const isItem = statements[n]?.view.isItem === true
    const isInside = isItem && n > 0 && statements[n - 1]?.view.isItem === true
    // What announces the first item of a list announces all of them.
    announced.push(isInside ? announced[n - 1] === true : isItem && isAnnounced(statements, n, scores, context))
    const isOnLine = n > 0 && !isItem && statements[n - 1]?.at === statements[n]?.at
    follows.push(isOnLine && (follows[n - 1] === true || announcesSeveral(leads[n - 1] ?? noReading, context.labels)))
  }
  return { ...context, announced, follows }
}

/** True if a lead announces several rules: "My rules for the whole project: raw/ is read-only. Seed 4171 everywhere. Figures as PDF." */
const announcesSeveral = (lead: Reading, labels: ReadonlySet<string>): boolean =>
  (severalRules.test(lead.text) && announces(lead, labels)) ||
  (severalThings.test(lead.text) && lastingWords.test(lead.text) && !labels.has(lead.text))
/** Matches the lead of a list of rules: "A few things that always hold:", "Grundsätzlich gilt:". */
const alwaysHolding = new RegExp(`(?<![\\p{L}])${anyOf(words.alwaysHolding)}(?![\\p{L}])`, "iu")
const announcedList = ({ isItem, over }: Statement["view"]): boolean =>
  isItem && over.count <= maxCall && endsInColon(over)

/**
 * Matches a number of things, which announces rules if the lead also says that they last: "Two things that always hold: …", "a few things
 * up front so that I needn't keep repeating them: …".
 */
const severalThings = new RegExp(`(?<![\\p{L}])${anyOf(words.someThings)}(?![\\p{L}])`, "iu")
const lastingWords = new RegExp(`(?<![\\p{L}])${anyOf(words.repeating, words.sayingAgain)}(?![\\p{L}])`, "iu")
const severalRules =
  /(?<![\p{L}])(?:rules|constraints|guidelines|conventions|principles|regeln|vorgaben|grundregeln|règles|regles|consignes|reglas|normas|regras|regole|regels|afspraken|zasady|pravidla|regler|kurallar\p{L}{0,4}|правила)(?![\p{L}])|规矩|规则|規則|ルール|규칙/iu

/**
 * True if the score of a statement is high enough in its context, and the statement is not a lead, code, a definition or a habit. The
 * context is that of a user's message, and is only read for scores that leave it open.
 */
export function meetsThreshold(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  context?: () => MessageContext,
): boolean {
  const statement = statements[n]
  const score = scores[n] ?? 0
  if (statement === undefined) return false
  if (context === undefined) return score > thresholds.page && mayBeRule(statement)
  if (!mayReachThreshold(statement.view, score)) return false
  const isAnnounced = (): boolean =>
    announcedScore(statement.view, score) > surelyAnnounced && mayBeAnnounced(statements, n, scores, context())
  if (score <= sureTalk && score <= thresholdOf(statements, n, scores, context()) && !isAnnounced()) return false
  const { text } = statement.view.own
  return mayBeRule(statement) && (score >= sureTalk || !(tellsHabit.test(text) || callsOff.test(text)))
}

/**
 * True if some context can make a statement with this score a rule; most messages have none. Only items, and statements with a line above
 * or a colon, may score lower than what is called a rule.
 */
export const mayReachThreshold = (view: Statement["view"], score: number): boolean =>
  score > calledTalk ||
  (score > listedTalk && (view.items > 0 || view.over.text !== "" || (view.own.marks & textMark.colon) !== 0))

/** True unless a statement is a lead, code, a definition, or says nothing of what is to be done. */
const mayBeRule = (statement: Statement): boolean =>
  !isLead(statement) && !isCode(statement.view.own.text) && !isDefinition(statement) && saysWhatToDo(statement.view.own)

/** True if what stands before a statement may make it a rule: it is no label, and the statement neither a question nor hearsay. */
export function mayBeAnnounced(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  { leads, labels }: MessageContext,
): boolean {
  const statement = statements[n]
  if (statement === undefined || (scores[n] ?? 0) <= listedTalk) return false
  const { own } = statement.view
  if (asksForInformation.test(own.text) || isDoneAsUsual(own) || isUnconfirmed(own)) return false
  return mayBeRule(statement) && !(n > 0 && callsPreviousRule(own)) && !labels.has(leads[n]?.text ?? "")
}
/** Log odds above which what announces a statement makes it a rule. */
const surelyAnnounced = 0.5

/** True if a sentence says what is to be done. "Yes please, always" does not. */
function saysWhatToDo(own: Reading): boolean {
  const fillers = wordFlag.joint | wordFlag.opener | wordFlag.bare
  for (let at = own.first, end = own.end; at < end; at += wordLength)
    if (((own.words[at + wordField.flags] ?? 0) & fillers) === 0) return true
  return false
}

/** Returns the leads of lists of which nearly all items are rules. */
function listsOfRules(statements: readonly Statement[], scores: readonly number[]): ReadonlySet<string> {
  let items = 0
  for (const { view } of statements) if (view.isItem && view.over.text !== "") items++
  if (items < fewestRules) return noTexts
  const counts = new Map<string, { items: number; rules: number }>()
  for (const [n, { view }] of statements.entries()) {
    const { over } = view
    if (!view.isItem || over.text === "") continue
    const count = counts.get(over.text) ?? { items: 0, rules: 0 }
    count.items++
    if ((scores[n] ?? 0) > (asksToFollow(over) ? thresholds.talk : sureItem)) count.rules++
    counts.set(over.text, count)
  }
  const isOfRules = ({ items, rules }: { items: number; rules: number }): boolean =>
    rules >= fewestRules && rules >= 0.75 * items
  return new Set([...counts].flatMap(([lead, count]) => (isOfRules(count) ? [lead] : [])))
}
/** Minimum number of rules in a list of rules. */
const fewestRules = 3
const noTexts: ReadonlySet<string> = new Set()

/** True if the lead of a list asks for it to be followed. Other lists are mostly notes on what is built. */
const asksToFollow = (reading: Reading): boolean => sharesClass(reading, followClasses) || headsRules.test(reading.text)
const headsRules = new RegExp(`^[^\\p{L}]{0,6}(?:\\p{L}+ ){0,2}${anyOf(words.headings)}(?![\\p{L}])`, "iu")
const followClasses = classSet("rule stress remember lasting general usual")
/** Minimum score at which an item counts as a rule if the lead of its list asks for nothing. */
const sureItem = 0.75

/** True for code outside a code fence. The first pattern is cheap and rules out most sentences. */
const isCode = (text: string): boolean => codeChar.test(text) && code.test(text)
const codeChar = /[;{}=(]/
const code = /[;{}]\s*$|=>|[=!]=|^\s*(?:const|let|var|def|return|import)\b[^.]*[=(;]/

/**
 * Lower thresholds: after a lead that asks to be followed (`ledTalk`), for standing commands and what is announced or called a rule
 * (`announcedTalk`), and for items of a list of rules (`listedTalk`).
 */
const ledTalk = -0.8
const announcedTalk = -1.3
const emphasizedTalk = -1.6
const calledTalk = -2.3
const listedTalk = -3.3
/** A sentence with a higher score is a rule in any context: no threshold is higher. */
export const sureTalk = 1.7

function thresholdOf(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  context: MessageContext,
): number {
  const view = statements[n]?.view
  if (view === undefined) return thresholds.talk
  if (
    (endsWithQuestion(view.own) && asksForInformation.test(view.own.text)) ||
    isDoneAsUsual(view.own) ||
    isUnconfirmed(view.own)
  )
    return sureTalk
  if (view.isItem && context.lists.has(view.over.text)) return listedTalk
  if (callsPreviousRule(view.own) && n > 0) return sureTalk
  if (
    isCalledRuleNext(view) ||
    callsItselfRule(view.own) ||
    context.announced[n] === true ||
    context.follows[n] === true
  )
    return calledTalk
  if (isEmphasized(statements, n, scores, context)) return emphasizedTalk
  // A sentence with a lower score is a rule in none of the cases below.
  if ((scores[n] ?? 0) <= announcedTalk) return forbidsForGood(view.own.text) ? calledTalk : thresholds.talk
  if (isAnnounced(statements, n, scores, context)) return announcedTalk
  if (view.isItem && view.over.text !== "" && !asksToFollow(view.over)) return sureTalk
  const lead = context.leads[n] ?? noReading
  const crowd = raisePerDoubling * Math.log2(Math.min(Math.max(1, view.crowd), maxCrowd))
  if (asksToFollow(lead) && !context.labels.has(lead.text)) return ledTalk + crowd
  if (isBrief(view.before) && asksToFollow(view.before) && (scores[n - 1] ?? 0) <= thresholds.talk)
    return ledTalk + crowd
  // What a file or somebody else says is reported, not asked for, unless the score leaves no doubt.
  if (reportsOthers.test(view.own.text)) return sureTalk
  if (forbidsForGood(view.own.text)) return calledTalk
  const isEver = sharesClass(view.own, neverOrAlways)
  // "From now on always …" says both that it lasts and that it has no exception, whatever else the message is about.
  if (isEver && sharesClass(view.own, saysLasting)) return announcedTalk
  const isLed = isEver && lead.text !== "" && clausesOf(view.own).some(isStandingCommand)
  const isCommand = isStandingCommand(view.own) || isLed
  // A sentence that starts with never or always and a verb is mostly a rule, even in a long message.
  if (isCommand || isLoneCommand(view)) return announcedTalk
  if (bansUnasked.test(view.own.text)) return everTalk
  if (withoutLeave.test(view.own.text) && sharesClass(view.own, forbiddingWords)) return announcedTalk
  const isLasting = sharesClass(view.own, lastingClass) || beforeAny.test(view.own.text)
  if (!isLasting && !isEver && needsThing.test(view.own.text)) return sureTalk
  return (isLasting ? lastingTalk : isEver ? everTalk : thresholds.talk) + crowd
}
/** Matches a ban that requires approval ("No resets without asking me"), which is a rule whatever else the message is about. */
const bansUnasked = new RegExp(
  String.raw`^(?:(?:and|so|but|please) )?(?:no|nothing|nobody|no one|none|don['’]?t|do not|never)(?![\p{L}]).{0,160}` +
    String.raw`(?<![\p{L}])(?:without|unless|until|before) (?:first )?${anyOf(
      "(?:asking|telling|checking with|consulting) (?:me|us)",
      "(?:i|we)(?:['’]ve)? (?:say|said|approve|confirm|agree|ok|okay)",
      "my (?:ok|okay|approval|say-so|go-ahead|consent|permission)",
    )}(?![\p{L}])`,
  "iu",
)
/** Same in other languages. */
const withoutLeave = new RegExp(`(?<![\\p{L}])${anyOf(words.withoutLeave)}`, "iu")
const forbiddingWords = classSet("never dont not forbid")
/** Matches a description of what is to be built: "We need a table of rejects, everything below zero goes there". */
const needsThing =
  /^(?:(?:and|also|next|so|then|now),? )?(?:(?:we|i) need|wir brauchen|ich brauche|il (?:me|nous) faut|j['’]ai besoin d['’]|necesito|necesitamos|preciso de|precisamos de|ci serve|mi serve) ?(?:an?|eine?n?|une?|uma?|unas?) /iu
/** Matches a condition on any such event: "I want a backup before anything is deleted". */
const beforeAny =
  /(?<![\p{L}])before (?:anything|anybody|anyone|any (?:\p{L}+ ){1,3})(?:is|are|gets?|goes?|leaves?|touch\p{L}*)(?![\p{L}])/iu
/** True if the next sentence calls this one a rule, and is none itself: "… . That is a rule of the house." */
const isCalledRuleNext = ({ after }: Statement["view"]): boolean => after.text !== "" && callsPreviousRule(after)
const callsPreviousRule = (reading: Reading): boolean =>
  reading.count <= maxCall &&
  sharesClass(reading, ruleClass) &&
  pointingBack.test(reading.text) &&
  // After a colon or a dash stands what it announces.
  !/[:：–—]| - /.test(reading.text)
const maxCall = 14
/** True if the last clause calls the rest a rule: "Wells go out below 0.9 only, that is the rule of the lab." */
function callsItselfRule({ text }: Reading): boolean {
  const at = lastClauseEnd(text)
  if (at === 0) return false
  const last = text.slice(at + 1)
  return (
    pointingBack.test(last) && text.slice(0, at).split(" ").length >= minCalled && callsPreviousRule(readWords(last))
  )
}
/** Returns the offset of the last blank after a mark that separates clauses; 0 if there is none. */
function lastClauseEnd(text: string): number {
  let at = text.lastIndexOf(" ")
  while (at > 0 && !clauseMarks.includes(text.charAt(at - 1))) at = text.lastIndexOf(" ", at - 1)
  return Math.max(0, at)
}
const clauseMarks = ",;–—"
/** Minimum number of words before that clause; fewer are the name of a rule, or a request to note it. */
const minCalled = 6
const isBrief = ({ text, count }: Reading): boolean => text !== "" && count <= maxCall && !isAsking(text)
const pointingBack =
  /^(?:(?:and|und|et|y|e|en|och|i|ve|и|а) )?(?:(?:this|that|it|those|these|das|dies|ca|cela|eso|esto|isso|isto|questo|questa|dat|dit|det|to|bu|это|то)(?![\p{L}])|c'est|ce sont|es (?:una?|la)(?![\p{L}])|이건|이것|그건|그것|これ|それ|这|這|那)/u

/** Matches a task that is done in the usual way: "Publish it with the script as always". */
const isDoneAsUsual = (own: Reading): boolean => !sharesClass(own, never) && asAlways.test(own.text)
const never = classSet("never")
const asAlways = new RegExp(
  `(?<![\\p{L}])${anyOf(
    "(?:as|like) (?:always|usual)|same as always|wie (?:immer|üblich|gehabt)|comme (?:toujours|d['’]habitude)",
    "como (?:siempre|sempre|de costumbre|de costume)|come (?:sempre|al solito)|zoals (?:altijd|gewoonlijk)",
    "som (?:alltid|vanligt|altid)|jak (?:zawsze|zwykle|vždy)|как (?:всегда|обычно)|her zamanki gibi",
  )}(?![\\p{L}])|いつも(?:通り|どおり|のように)|(?:像|跟)(?:往常|平时|以前)一样|늘 하던 대로`,
  "iu",
)
/** True for what the speaker only heard ("my boss apparently wants every offer to go through legal"), unless it is a ban or a standing command. */
const isUnconfirmed = (own: Reading): boolean =>
  !sharesClass(own, neverOrAlways) && unconfirmed.test(own.text) && !isStandingCommand(own)
const unconfirmed =
  /(?<![\p{L}])(?:apparently|supposedly|allegedly|reportedly|rumou?r has it|what i(?:['’]ve)? heard|angeblich|il para[iî]t que|apparemment|al parecer|supuestamente|aparentemente|pare che|a quanto pare|blijkbaar|naar verluidt|tydligen|podobno|якобы|говорят, что)(?![\p{L}])/iu
const neverOrAlways = classSet("never always")
const otherSubjects =
  "meine?|unsere?|der|die|das|er|sie|el|la|los|las|mi|nuestr[oa]|ella|le|les|mon|ma|notre|il|elle|o|a|meu|minha|ele|ela|mio|mia|mijn|onze|hij|zij|de|min|vår|mój|moja|nasz|мой|моя|наш"
const otherTelling = anyOf(
  "(?<!\\p{L})(?:sagte?|meinte?|schreibt|schrieb|verlangt|dit|dice|dijo|disse|diz|zegt|zei|säger|sa|mówi|powiedział\\p{L}*|говорит|сказал\\p{L}*)",
  "(?<!\\p{L})(?:hat|a|ha|heeft|har)(?: \\p{L}+){0,4} (?:gesagt|geschrieben|verlangt|dit|écrit|dicho|escrito|detto|scritto|gezegd|geschreven|sagt)",
  "(?<!\\p{L})vient de (?:me |nous )?dire",
)
/** Matches what somebody else says, in the same sentence: "our boss says that …", "sie hat gesagt, dass …", "on the phone she said: …". */
const reportsOthers = new RegExp(
  anyOf(
    "^(?:the|our|their|his|her|this) [\\p{L}\\p{N} .'-]{2,30} (?:says?|said|states?|wrote|writes|claims?|asks?|tells?) (?:that|to|us|you|everyone)(?!\\p{L})",
    "^(?:[\\p{L} ,]{0,30}\\s)?(?:he|she|they) (?:said|says|told (?:me|us)|wrote)(?!\\p{L})[^.!?:]{0,40}:",
    `^(?:${otherSubjects}) [\\p{L}\\p{N} .'’-]{2,40}?(?:${otherTelling})[^.!?:]{0,12}?,? (?:dass|que|qu['’]|che|dat|att|że|что)(?!\\p{L})`,
    "^aus (?:dem|der|den) \\p{Lu}[^:.!?]{2,60}:",
  ),
  "iu",
)
/**
 * Matches a question for information ("Before I say yes, what do I pay in total?"), not a request ("When you cite, could you name the
 * page?").
 */
const asksForInformation = new RegExp(
  `(?:^|[,;:–—] ?)(?:and |so |but |then |und |et |y |e )?(?:${anyOf(
    "(?:what|how|why|(?<=^\\W{0,3})(?:which|who|where))(?:['’]s| \\p{L}+){0,2}? (?:do|does|did|is|are|was|were|am|will|would|can|should|has|have)(?!\\p{L}|n['’]t)",
    "what['’]s|how (?:much|many|long|far|often)|was|wer|wo|warum|wieso|wie ?viel\\p{L}{0,2}|combien|qu['’]est-ce|pourquoi|quell?es?",
    "¿? ?(?:cu[aá]nt[oa]s?|qué|cu[aá]l(?:es)?|d[oó]nde|c[oó]mo|por qu[eé])|quant[oaie]|dove|perch[eé]|hoe ?veel|waarom|waar",
  )})(?!\\p{L})[^?？]*[?？]$`,
  "iu",
)
/** Matches what the speaker always gets wrong, which is no request. */
const tellsHabit =
  /\bi (?:always|never|keep) (?:mix|forget(?!\w* to )|confus|los(?:e|ing)|get (?:confused|lost|mixed|them|it)|remember|underst|know|struggl|wonder|have trouble)/i

/** Matches what is called off, which sets no rule: "So no date change for him, drop that". */
const callsOff =
  /(?:^|[,;:] ?)(?:so |and |then |just )?(?:(?:drop|forget|scratch|skip) (?:that|it)|forget the \p{L}{3,})(?= ?(?:[.!,:;]|$))/u

/**
 * True for a ban that excludes exceptions: "The host must not be restarted, now or later", "please don't call my father about any of this".
 */
function forbidsForGood(text: string): boolean {
  // Fewer sentences exclude exceptions than ban something.
  if (!exceptsNothing.test(text)) return false
  const ban = bans.exec(text)
  return ban !== null && exceptsNothing.test(text.slice(ban.index)) && !isAsking(text)
}
const bans =
  /\b(?:must|may|should|shall|can|is|are) ?(?:not|never) (?:to )?be \p{L}{3,}|(?:^|[:;,.] ?)(?:and |so |but )?(?:please )?(?:don['’]?t|do not) \p{L}{3,}/iu
const exceptsNothing =
  /,? (?:ever(?! since)|now or later|at any (?:time|point)|under any circumstances|in any case|no matter what|whatsoever|about any of (?:this|that|it))(?![\p{L}])/iu
const lastingClass = classSet("lasting general")
const saysLasting = classSet("lasting")

/**
 * True for a command that is the whole message and does not mention now or this ("Do not touch the vault."): there is no task that it could
 * be part of.
 */
const isLoneCommand = ({ own, crowd }: Statement["view"]): boolean =>
  crowd === 1 && orderOf(own, own.first, own.end) !== undefined && !sharesClass(own, atHand)
const atHand = classSet("now once this")

/**
 * True if the line above, the sentence before or its own lead calls a statement a rule. A sentence before it that is a rule itself
 * announces nothing.
 */
function isAnnounced(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  { leads, labels }: Pick<MessageContext, "leads" | "labels">,
): boolean {
  const view = statements[n]?.view
  if (view === undefined) return false
  return (
    announces(view.over, labels) ||
    announcesSeveral(view.over, labels) ||
    (alwaysHolding.test(view.over.text) && announcedList(view)) ||
    ((scores[n - 1] ?? 0) <= thresholds.talk && leads[n - 1] === noReading && announces(view.before, labels)) ||
    announces(leads[n] ?? noReading, labels)
  )
}

/** True if a few words before a statement emphasize it: "Read this first!", "Golden rule:", "I'll put it in bold:". */
function isEmphasized(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  { leads, labels }: Pick<MessageContext, "leads" | "labels">,
): boolean {
  const view = statements[n]?.view
  if (view === undefined) return false
  const lead = leads[n] ?? noReading
  return (
    emphasizes(lead, labels) ||
    (announcedList(view) && emphasizes(view.over, labels)) ||
    isUnderPreferences(statements[n]) ||
    ((scores[n - 1] ?? 0) <= thresholds.talk && leads[n - 1] === noReading && emphasizes(view.before, labels))
  )
}
/** True below a heading such as "Preferences" or "How we work"; a line that ends in a colon may be a part of the task. */
const isUnderPreferences = (statement: Statement | undefined): boolean =>
  statement?.over !== undefined &&
  statement.over.start === statement.block.under?.start &&
  statement.view.over.count <= maxCall &&
  preferences.test(statement.view.over.text)
const preferences = new RegExp(`^[^\\p{L}]{0,6}(?:\\p{L}+ ){0,2}${anyOf(words.preferences)}(?![\\p{L}])`, "iu")

const emphasizes = ({ text, count }: Reading, labels: ReadonlySet<string>): boolean =>
  text !== "" && count <= maxCall && !labels.has(text) && !isAsking(text) && emphasis.test(text)
const emphasis = new RegExp(
  `(?<![\\p{L}])${anyOf(words.emphasis)}(?![\\p{L}])|${anyOf(words.emphasisIdeographic)}`,
  "iu",
)

const announces = (reading: Reading, labels: ReadonlySet<string>): boolean =>
  sharesClass(reading, ruleClass) && !labels.has(reading.text) && !isAsking(reading.text)
const ruleClass = classSet("rule")
const isAsking = (text: string): boolean => text.endsWith("?") || text.endsWith("？")

/** Returns the part of a sentence before its colon if text follows, or before its dash if that part asks to be followed. */
function leadOf({ text }: Reading): Reading {
  const lead = text.includes(":") || text.includes("：") ? leadIn.exec(text)?.[0] : undefined
  if (lead !== undefined) return readWords(lead)
  const hasDash = text.includes(" - ") || text.includes(" – ") || text.includes(" — ")
  const dashed = hasDash ? dashedLead.exec(text)?.[0] : undefined
  if (dashed === undefined) return noReading
  const reading = readWords(dashed)
  return asksToFollow(reading) ? reading : noReading
}
const dashedLead = new RegExp(`^[^-–—:]{3,40} [-–—] (?=[${letters}])`)
const leadIn = new RegExp(`^[^:：]{1,120}[:：](?=\\s|[${letters}])(?=.*[${letters}])`)

/** Minimum number of lines with the same lead that make it a label, as in a log. Labels announce nothing. */
const fromLabels = 3

function labelsIn(statements: readonly Statement[], leads: readonly Reading[]): ReadonlySet<string> {
  if (leads.every((lead) => lead === noReading)) return noTexts
  const counts = new Map<string, number>()
  // Lines without a full stop are one statement.
  for (const [n, { text: lead }] of leads.entries())
    if (lead !== "")
      counts.set(lead, (counts.get(lead) ?? 0) + (statements[n]?.view.own.text.split(lead).length ?? 1) - 1)
  return new Set([...counts].flatMap(([lead, count]) => (count >= fromLabels ? [lead] : [])))
}

/** True for a name in code with its explanation; it is a rule only if it says what must or must not be. */
const isDefinition = ({ view }: Statement): boolean =>
  /^qcode\W{0,4}[:：–—]/.test(view.own.text) && !sharesClass(view.own, saying)
const saying = classSet("never always must dont forbid only not before ask")

/** True for a line that only leads into what follows. One that forbids is a rule itself; for steps see `opensSteps`. */
const isLead = ({ view }: Statement): boolean => endsInColon(view.own) && !sharesClass(view.own, forbidding)
export const forbidding: ClassSet = classSet("never dont forbid")

/** True for a line of a file of instructions that leads into steps, which are part of the rule: "When you release, follow these steps:". */
export const opensSteps = ({ view }: Statement, register: Register): boolean =>
  register === "page" && endsInColon(view.own) && /^(?:if|when|whenever|before|after|to)\b/.test(view.own.text)

export const endsWithQuestion = ({ text }: Reading): boolean => isAsking(text)
