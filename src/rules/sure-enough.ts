import { letters } from "../language/letters.ts"
import { anyOf } from "../language/word-lists.ts"
import words from "./rule-words.json" with { type: "json" }
import { isStandingCommand, orderOf } from "./standing-command.ts"
import { clausesOf, type Register } from "./statement-score.ts"
import { endsInColon, type Statement } from "./statements.ts"
import { noReading, type Reading, readWords } from "./word-classes.ts"
import { wordField, wordFlag, wordLength } from "./word-facts.ts"
import { type ClassSet, classSet, sharesClass } from "./word-table.ts"

/**
 * How sure the model has to be that a sentence is a rule, given what stands around it: a line above it or a sentence before or behind it
 * that calls it one, a list of rules that it is an item of, a label, a crowd of other sentences.
 */

/** From this score on a sentence is a rule: how strict that is, and why, is in docs/decisions/2026-11-17-masked-words.md. */
const thresholds: Readonly<Record<Register, number>> = { talk: -0.15, page: -0.25 }
/** The same for what says never or always, and for what says that it lasts or holds each time. */
const [everTalk, lastingTalk] = [-0.45, -0.95]
/** How much surer a sentence has to be among twice as many: what is said at length is mostly about the task. */
const crowding = 0.08
/** Beyond so many sentences there is no telling. */
const crowded = 16

/** What a message of talk has in which a sentence is read: lists of rules, and leads that are labels or announce what follows. */
type Around = {
  /** The leads of lists of which nearly all items are rules. */
  readonly lists: ReadonlySet<string>
  /** Leads of many lines. */
  readonly labels: ReadonlySet<string>
  /** The lead of each statement. */
  readonly leads: readonly Reading[]
  /** Whether each item stands in a list that was announced. */
  readonly announced: readonly boolean[]
  /** Whether each statement follows on its line behind a lead that announces several rules. */
  readonly follows: readonly boolean[]
}

export function neighbourhood(statements: readonly Statement[], scores: readonly number[]): Around {
  const leads = statements.map(({ view }) => leadOf(view.own))
  const around = { lists: listsOfRules(statements, scores), labels: labelsIn(statements, leads), leads }
  const announced: boolean[] = []
  const follows: boolean[] = []
  for (let n = 0; n < statements.length; n++) {
    const isItem = statements[n]?.view.isItem === true
    const isInside = isItem && n > 0 && statements[n - 1]?.view.isItem === true
    // What announces the first item of a list announces all of them.
    announced.push(isInside ? announced[n - 1] === true : isItem && isAnnounced(statements, n, scores, around))
    const isOnLine = n > 0 && !isItem && statements[n - 1]?.at === statements[n]?.at
    follows.push(isOnLine && (follows[n - 1] === true || announcesSeveral(leads[n - 1] ?? noReading, around.labels)))
  }
  return { ...around, announced, follows }
}

/** "My rules for the whole project: raw/ is read-only. Seed 4171 everywhere. Figures as PDF." */
const announcesSeveral = (lead: Reading, labels: ReadonlySet<string>): boolean =>
  (severalRules.test(lead.text) && announces(lead, labels)) ||
  (severalThings.test(lead.text) && thatLast.test(lead.text) && !labels.has(lead.text))
/** "A few things that always hold:", "Grundsätzlich gilt:" over a list. */
const alwaysHolding = new RegExp(`(?<![\\p{L}])${anyOf(words.alwaysHolding)}(?![\\p{L}])`, "iu")
const announcedList = ({ isItem, over }: Statement["view"]): boolean =>
  isItem && over.count <= maxCall && endsInColon(over)

/** "Two things that always hold: …", "a few things up front so that I needn't keep repeating them: …". */
const severalThings = new RegExp(`(?<![\\p{L}])${anyOf(words.someThings)}(?![\\p{L}])`, "iu")
const thatLast = new RegExp(`(?<![\\p{L}])${anyOf(words.repeating, words.sayingAgain)}(?![\\p{L}])`, "iu")
const severalRules =
  /(?<![\p{L}])(?:rules|constraints|guidelines|conventions|principles|regeln|vorgaben|grundregeln|règles|regles|consignes|reglas|normas|regras|regole|regels|afspraken|zasady|pravidla|regler|kurallar\p{L}{0,4}|правила)(?![\p{L}])|规矩|规则|規則|ルール|규칙/iu

/** Is a statement sure enough of a rule, given what stands around it, and nothing that only looks like one? */
export function isSure(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  around?: Around,
): boolean {
  const statement = statements[n]
  const score = scores[n] ?? 0
  if (statement === undefined || score <= (around === undefined ? thresholds.page : listedTalk)) return false
  if (around !== undefined && score <= thresholdOf(statements, n, scores, around)) return false
  const { own } = statement.view
  if (around !== undefined && score < sureTalk && (tellsHabit.test(own.text) || callsOff.test(own.text))) return false
  return !isLead(statement) && !isCode(own.text) && !isDefinition(statement) && saysWhat(own)
}

/** Does a sentence say what is to be done? "Yes please, always" leaves that to what was said before. */
function saysWhat(own: Reading): boolean {
  const silent = wordFlag.joint | wordFlag.opener | wordFlag.bare
  for (let at = own.first, end = own.end; at < end; at += wordLength)
    if (((own.words[at + wordField.flags] ?? 0) & silent) === 0) return true
  return false
}

/** The leads of lists of which nearly all items are rules. */
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
    if ((scores[n] ?? 0) > (isHeeded(over) ? thresholds.talk : sureItem)) count.rules++
    counts.set(over.text, count)
  }
  const isOfRules = ({ items, rules }: { items: number; rules: number }): boolean =>
    rules >= fewestRules && rules >= 0.75 * items
  return new Set([...counts].flatMap(([lead, count]) => (isOfRules(count) ? [lead] : [])))
}
/** So many items at least make a list one of rules. */
const fewestRules = 3
const noTexts: ReadonlySet<string> = new Set()

/** Does a line that leads into a list ask for what follows to be heeded? Other lists are mostly notes on what is built. */
const isHeeded = (reading: Reading): boolean => sharesClass(reading, heeding) || headsRules.test(reading.text)
const headsRules = new RegExp(`^[^\\p{L}]{0,6}(?:\\p{L}+ ){0,2}${anyOf(words.headings)}(?![\\p{L}])`, "iu")
const heeding = classSet("rule stress remember lasting general usual")
/** How sure an item has to be below a line that asks for nothing. */
const sureItem = 0.75

/** Code that nobody put between fences; most sentences have none of the signs that it needs. */
const isCode = (text: string): boolean => codeSign.test(text) && code.test(text)
const codeSign = /[;{}=(]/
const code = /[;{}]\s*$|=>|[=!]=|^\s*(?:const|let|var|def|return|import)\b[^.]*[=(;]/

/**
 * What has the form of a standing command, or stands behind a lead that asks to be heeded, needs to be less sure; what is announced as a rule
 * much less, and least an item among rules.
 */
const easedTalk = -1.55
const ledTalk = -0.8
const announcedTalk = -1.3
const emphasizedTalk = -1.6
export const calledTalk = -2.3
export const listedTalk = -3.3
/** What is surer than this is a rule wherever it stands. */
export const sureTalk = 1.7

function thresholdOf(statements: readonly Statement[], n: number, scores: readonly number[], around: Around): number {
  const view = statements[n]?.view
  if (view === undefined) return thresholds.talk
  if (asksWhat.test(view.own.text) || asAlways.test(view.own.text)) return sureTalk
  if (view.isItem && around.lists.has(view.over.text)) return listedTalk
  if (callsBack(view.own) && n > 0) return sureTalk
  if (calledBehind(view) || callsItself(view.own) || around.announced[n] === true || around.follows[n] === true)
    return calledTalk
  if (isEmphasized(statements, n, scores, around)) return emphasizedTalk
  // What is less sure than this is a rule nowhere else.
  if ((scores[n] ?? 0) <= announcedTalk) return forbidsForGood(view.own.text) ? calledTalk : thresholds.talk
  if (isAnnounced(statements, n, scores, around)) return announcedTalk
  if (view.isItem && view.over.text !== "" && !isHeeded(view.over)) return sureTalk
  const lead = around.leads[n] ?? noReading
  const crowd = crowding * Math.log2(Math.min(Math.max(1, view.crowd), crowded))
  if (isHeeded(lead) && !around.labels.has(lead.text)) return ledTalk + crowd
  if (isBrief(view.before) && isHeeded(view.before) && (scores[n - 1] ?? 0) <= thresholds.talk) return ledTalk + crowd
  // What a file or somebody else says is told, not asked for, unless nothing else can be meant.
  if (tellsOther.test(view.own.text)) return sureTalk
  if (forbidsForGood(view.own.text)) return calledTalk
  const isEver = sharesClass(view.own, neverOrAlways)
  // "From now on always …" says both that it lasts and that nothing is excepted, whatever else the message is about.
  if (isEver && sharesClass(view.own, saysLasting)) return announcedTalk
  const isLed = isEver && lead.text !== "" && clausesOf(view.own).some(isStandingCommand)
  const isCommand = isStandingCommand(view.own) || isLed
  // Who starts with never or always and a verb mostly means it, also at some length.
  if (isCommand || isBareBan(view)) return easedTalk + crowd / 2
  if (bansUnasked.test(view.own.text)) return everTalk
  if (withoutLeave.test(view.own.text) && sharesClass(view.own, forbids)) return announcedTalk
  const isLasting = sharesClass(view.own, lastingClass) || beforeAny.test(view.own.text)
  if (!isLasting && !isEver && needsThing.test(view.own.text)) return sureTalk
  return (isLasting ? lastingTalk : isEver ? everTalk : thresholds.talk) + crowd
}
/** "No resets without asking me": who asks to be asked means it, whatever else the message is about. */
const bansUnasked = new RegExp(
  String.raw`^(?:(?:and|so|but|please) )?(?:no|nothing|nobody|no one|none|don['’]?t|do not|never)(?![\p{L}]).{0,160}` +
    String.raw`(?<![\p{L}])(?:without|unless|until|before) (?:first )?${anyOf(
      "(?:asking|telling|checking with|consulting) (?:me|us)",
      "(?:i|we)(?:['’]ve)? (?:say|said|approve|confirm|agree|ok|okay)",
      "my (?:ok|okay|approval|say-so|go-ahead|consent|permission)",
    )}(?![\p{L}])`,
  "iu",
)
/** The same in other languages. */
const withoutLeave = new RegExp(`(?<![\\p{L}])${anyOf(words.withoutLeave)}`, "iu")
const forbids = classSet("never dont not forbid")
/** "We need a table of rejects, everything below zero goes there": what is to be built is described. */
const needsThing =
  /^(?:(?:and|also|next|so|then|now),? )?(?:(?:we|i) need|wir brauchen|ich brauche|il (?:me|nous) faut|j['’]ai besoin d['’]|necesito|necesitamos|preciso de|precisamos de|ci serve|mi serve) ?(?:an?|eine?n?|une?|uma?|unas?) /iu
/** "I want a backup before anything is deleted". */
const beforeAny =
  /(?<![\p{L}])before (?:anything|anybody|anyone|any (?:\p{L}+ ){1,3})(?:is|are|gets?|goes?|leaves?|touch\p{L}*)(?![\p{L}])/iu
/** "… . That is a rule of the house." calls what stands before it one, and is none itself. */
const calledBehind = ({ after }: Statement["view"]): boolean => after.text !== "" && callsBack(after)
const callsBack = (reading: Reading): boolean =>
  reading.count <= maxCall &&
  sharesClass(reading, ruleClass) &&
  pointing.test(reading.text) &&
  // Behind a colon or a dash stands what it announces.
  !/[:：–—]| - /.test(reading.text)
const maxCall = 14
/** "Wells go out below 0.9 only, that is the rule of the lab." */
const callsItself = ({ text }: Reading): boolean => {
  const at = /.*[,;–—](?= )/u.exec(text)?.[0].length ?? 0
  return at > 0 && text.slice(0, at).split(" ").length >= leastCalled && callsBack(readWords(text.slice(at + 1)))
}
/** Fewer words are the name of a rule, or ask for it to be noted. */
const leastCalled = 6
const isBrief = ({ text, count }: Reading): boolean => text !== "" && count <= maxCall && !endsAsking.test(text)
const pointing =
  /^(?:(?:and|und|et|y|e|en|och|i|ve|и|а) )?(?:(?:this|that|it|those|these|das|dies|ca|cela|eso|esto|isso|isto|questo|questa|dat|dit|det|to|bu|это|то)(?![\p{L}])|c'est|ce sont|es (?:una?|la)(?![\p{L}])|이건|이것|그건|그것|これ|それ|这|這|那)/u

/** "Publish it with the script as always": one task, done in the usual way. */
const asAlways = new RegExp(
  `(?<![\\p{L}])${anyOf(
    "(?:as|like) (?:always|ever|usual)|same as (?:always|ever)|wie (?:immer|üblich|gehabt)|comme (?:toujours|d['’]habitude)",
    "como (?:siempre|sempre|de costumbre|de costume)|come (?:sempre|al solito)|zoals (?:altijd|gewoonlijk)",
    "som (?:alltid|vanligt|altid)|jak (?:zawsze|zwykle|vždy)|как (?:всегда|обычно)|her zamanki gibi",
  )}(?![\\p{L}])|いつも(?:通り|どおり|のように)|(?:像|跟)(?:往常|平时|以前)一样|늘 하던 대로`,
  "iu",
)
const neverOrAlways = classSet("never always")
const tellsOther =
  /^(?:the|our|their|his|her|this) [\p{L}\p{N} .'-]{2,30} (?:says?|said|states?|wrote|writes|claims?|asks?|tells?) (?:that|to|us|you|everyone)(?!\p{L})/u
/** "Before I say yes, what do I pay in total?" wants to know something. "When you cite, could you name the page?" asks for something to be done. */
const asksWhat = new RegExp(
  `(?:^|[,;:–—] ?)(?:and |so |but |then |und |et |y |e )?(?:${anyOf(
    "(?:what|how|why|(?<=^\\W{0,3})(?:which|who|where))(?:['’]s| \\p{L}+){0,2}? (?:do|does|did|is|are|was|were|am|will|would|can|should|has|have)(?!\\p{L}|n['’]t)",
    "what['’]s|how (?:much|many|long|far|often)|was|wer|wo|warum|wieso|wie ?viel\\p{L}{0,2}|combien|qu['’]est-ce|pourquoi|quell?es?",
    "¿? ?(?:cu[aá]nt[oa]s?|qué|cu[aá]l(?:es)?|d[oó]nde|c[oó]mo|por qu[eé])|quant[oaie]|dove|perch[eé]|hoe ?veel|waarom|waar",
  )})(?!\\p{L})[^?？]*[?？]$`,
  "iu",
)
/** What somebody always gets wrong is no wish. */
const tellsHabit =
  /\bi (?:always|never|keep) (?:mix|forget(?!\w* to )|confus|los(?:e|ing)|get (?:confused|lost|mixed|them|it)|remember|underst|know|struggl|wonder|have trouble)/i

/** "So no date change for him, drop that": what is called off lays nothing down. */
const callsOff =
  /(?:^|[,;:] ?)(?:so |and |then |just )?(?:(?:drop|forget|scratch|skip) (?:that|it)|forget the \p{L}{3,})(?= ?(?:[.!,:;]|$))/u

/** "The host must not be restarted, now or later", "please don't call my father about any of this": a ban, and that nothing is excepted from it. */
function forbidsForGood(text: string): boolean {
  const ban = bans.exec(text)
  return ban !== null && exceptsNothing.test(text.slice(ban.index)) && !endsAsking.test(text)
}
const bans =
  /\b(?:must|may|should|shall|can|is|are) ?(?:not|never) (?:to )?be \p{L}{3,}|(?:^|[:;,.] ?)(?:and |so |but )?(?:please )?(?:don['’]?t|do not) \p{L}{3,}/iu
const exceptsNothing =
  /,? (?:ever(?! since)|now or later|at any (?:time|point)|under any circumstances|in any case|no matter what|whatsoever|about any of (?:this|that|it))(?![\p{L}])/iu
const lastingClass = classSet("lasting general")
const saysLasting = classSet("lasting")

/** "Do not touch the vault." is all that is said, and nothing of now or of this: there is no task that it could be part of. */
const isBareBan = ({ own, crowd }: Statement["view"]): boolean =>
  crowd === 1 && orderOf(own, own.first, own.end) !== undefined && !sharesClass(own, atHand)
const atHand = classSet("now once this")

/** Is a statement called a rule by the line above it, the sentence before it or its own lead? One that is a rule itself announces nothing. */
function isAnnounced(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  { leads, labels }: Pick<Around, "leads" | "labels">,
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

/** "Read this first!", "Golden rule:", "I'll put it in bold:" before a sentence, in a few words. */
function isEmphasized(
  statements: readonly Statement[],
  n: number,
  scores: readonly number[],
  { leads, labels }: Pick<Around, "leads" | "labels">,
): boolean {
  const view = statements[n]?.view
  if (view === undefined) return false
  const lead = leads[n] ?? noReading
  return (
    emphasizes(lead, labels) ||
    (announcedList(view) && emphasizes(view.over, labels)) ||
    (view.over.text !== "" && view.over.count <= maxCall && headsRules.test(view.over.text)) ||
    ((scores[n - 1] ?? 0) <= thresholds.talk && leads[n - 1] === noReading && emphasizes(view.before, labels))
  )
}
const emphasizes = ({ text, count }: Reading, labels: ReadonlySet<string>): boolean =>
  text !== "" && count <= maxCall && !labels.has(text) && !endsAsking.test(text) && emphasis.test(text)
const emphasis = new RegExp(
  `(?<![\\p{L}])${anyOf(words.emphasis)}(?![\\p{L}])|${anyOf(words.emphasisIdeographic)}`,
  "iu",
)

const announces = (reading: Reading, labels: ReadonlySet<string>): boolean =>
  sharesClass(reading, ruleClass) && !labels.has(reading.text) && !endsAsking.test(reading.text)
const ruleClass = classSet("rule")
const endsAsking = /[?？]$/

/** What stands before the colon of a sentence that goes on behind it, or before its dash where that asks to be heeded. */
function leadOf({ text }: Reading): Reading {
  const lead = text.includes(":") || text.includes("：") ? leadIn.exec(text)?.[0] : undefined
  if (lead !== undefined) return readWords(lead)
  const hasDash = text.includes(" - ") || text.includes(" – ") || text.includes(" — ")
  const dashed = hasDash ? dashedLead.exec(text)?.[0] : undefined
  if (dashed === undefined) return noReading
  const reading = readWords(dashed)
  return isHeeded(reading) ? reading : noReading
}
const dashedLead = new RegExp(`^[^-–—:]{3,40} [-–—] (?=[${letters}])`)
const leadIn = new RegExp(`^[^:：]{1,120}[:：](?=\\s|[${letters}])(?=.*[${letters}])`)

/** Leads of so many lines of one text are labels, as in a log: they announce nothing. */
const fromLabels = 3

function labelsIn(statements: readonly Statement[], leads: readonly Reading[]): ReadonlySet<string> {
  if (leads.every((lead) => lead === noReading)) return noTexts
  const counts = new Map<string, number>()
  // Lines without a stop are one statement.
  for (const [n, { text: lead }] of leads.entries())
    if (lead !== "")
      counts.set(lead, (counts.get(lead) ?? 0) + (statements[n]?.view.own.text.split(lead).length ?? 1) - 1)
  return new Set([...counts].flatMap(([lead, count]) => (count >= fromLabels ? [lead] : [])))
}

/** A name in code and what it is for; it is a rule only if it says what must or must not be. */
const isDefinition = ({ view }: Statement): boolean =>
  /^qcode\W{0,4}[:：–—]/.test(view.own.text) && !sharesClass(view.own, saying)
const saying = classSet("never always must dont forbid only not before ask")

/** A line that only leads into what follows it is no rule by itself, unless it forbids or says when the steps below are taken. */
const isLead = ({ view }: Statement): boolean => endsInColon(view.own) && !sharesClass(view.own, forbidding)
export const forbidding: ClassSet = classSet("never dont forbid")

/** "When you release, follow these steps:" and the steps are one rule of a page. */
export const opensSteps = ({ view }: Statement, register: Register): boolean =>
  register === "page" && endsInColon(view.own) && /^(?:if|when|whenever|before|after|to)\b/.test(view.own.text)

export const asksAtEnd = ({ text }: Reading): boolean => endsAsking.test(text)
