import { normalize } from "../language/normalize.ts"
import { sentencesIn } from "../language/sentences.ts"
import type { Span } from "../message/message.ts"
import { createRecent } from "../message/recall.ts"
import { runSteps, type Steps } from "../message/steps.ts"
import { isWithin, ownWords, quotationsIn } from "./own-words.ts"
import type { Pin } from "./pin.ts"
import {
  endedThings,
  endsAnother,
  namesAnother,
  plain,
  sortedValues,
  topicOf,
  topicWords,
  valuesOf,
  withoutCommanded,
} from "./rule-topic.ts"
import { speakerScore, surelyPasted } from "./who-speaks.ts"

/** A sentence that takes a rule back, and what the rule is about. */
type Withdrawal = {
  /** The sentence, verbatim. */
  readonly text: string
  readonly topic: readonly string[]
  /** It only allows again what was forbidden, and speaks of no rule. */
  readonly lifts: boolean
  /** It speaks of all that was said about the matter, not of one rule. */
  readonly all: boolean
}

/** Who takes a rule back says so in a few words. */
const maxMessage = 1500
const maxSentence = 200

/** A text without any of these words takes nothing back. */
const sign =
  /forget|scrap|scratch|drop|ignor|disregard|cancel|lift|revok|waive|never mind|withdr|void|over|feel free|take (?:that|it|this|back)|no longer|again|after all|now|actually|fine|vergiss|wieder|gilt nicht|oublie|nouveau|olvida|ya puede|otra vez|esque|\b(?:rule|ban|limit)\b|back to|忘|取消|作废|可以/i

const lead =
  "^(?:ok(?:ay)?|so|and|but|please|actually|sorry|well|fine|yes|no|hey|you can|you may|let's|just|i hereby|hereby|i|bitte|also|y|et|pode|puedes|tu peux|du kannst)?[, ]*"
const undo =
  "(?:forget(?: about)?|never mind|scrap|scratch|drop|ignore|disregard|cancel|lift|remove|revoke|waive|withdraw|undo|vergiss|ignorier\\w*|streich\\w*|oublie[zr]?|annule[zr]?|olvida(?:te)?|ignora|anula|esquec\\w+)"
const rule =
  "(?:rules?|limits?|restrictions?|requirements?|instructions?|deadlines?|ban|polic(?:y|ies)|constraints?|preferences?|regeln?|vorgaben?|regles?|consignes?|reglas?|normas?|regras?)"

/** `all` of what was said about a matter. */
const ofAll: readonly RegExp[] = [
  new RegExp(
    `${lead}${undo},? (?:about )?(?:what|everything|all|anything|the (?:thing|part|bit|stuff)|das|was|alles|ce que|tout ce que|lo que|todo lo que|o que)\\b,?(?<said>.{0,60}?)\\b(?:about|on|regarding|over|uber|zu|sur|a propos de|de|sobre)\\b(?<topic>[^,]+)`,
  ),
  new RegExp(
    `${lead}${undo} (?:lo del?|das mit|le truc d(?:es|u|e)|l'histoire d(?:es|u|e)|isso d[aeo]s?|aquilo d[aeo]s?|dat van)\\b(?<topic>[^,]+)`,
  ),
  new RegExp(
    `${lead}(?:i take (?:that|it|this) back|i take back what i said),? (?:about|on|regarding)\\b(?<topic>[^,]+)`,
  ),
]
/** One rule, by its name. */
const ofOne: readonly RegExp[] = [
  new RegExp(
    `${lead}${undo} (?:about )?(?:the|that|my|this|our|all|die|meine|la|ma|mi|a)\\b(?<topic>[^,;]*\\b${rule}\\b[^,;]*)`,
  ),
  new RegExp(
    `${lead}(?:the|that|my|our|die|la|le)\\b(?<topic>.*\\b${rule}\\b.*?)\\b(?:no longer (?:applies|holds|counts)|does(?:n't| not) (?:apply|hold|count)(?: any ?more)?|(?:is|are|has been|was) (?:off|gone|over|lifted|void|withdrawn|revoked|repealed|abolished|dropped|cancell?ed|history)|gilt nicht mehr|entfallt|ist aufgehoben|ne vaut plus|ya no vale|nao vale mais|non vale piu|geldt niet meer)`,
  ),
  /^(?:请|那就|好的?[,，]?)?(?:忘掉|忘了|忽略|取消|废除|作废)(?<topic>.*(?:规定|规则|要求|我说|说过|限制).*)$/,
]
/** What was forbidden is allowed again. */
const again: readonly RegExp[] = [
  new RegExp(
    `${lead}(?:you|we|agents?) (?:can|may|are (?:allowed|free) to)\\b(?<topic>[^,]{2,80}?)\\b(?:again|now|after all)\\b[.!]*$`,
  ),
  new RegExp(`${lead}feel free to\\b(?<topic>[^,]{2,80}?)\\b(?:again|now|after all|from now on|any ?time)\\b`),
  new RegExp(
    `${lead}(?<topic>[^,]{2,60}?) (?:is|are) (?:(?:now|again|actually) (?:ok|okay|fine|allowed|permitted|good)|(?:ok|okay|fine|allowed|permitted|good) (?:now|again|after all))\\b`,
  ),
  new RegExp(
    `${lead}(?<topic>[^,]{2,40}? (?:is|are) (?:ok|okay|fine|allowed|permitted) (?:with|in|on|for|to|at) [^,]{2,40}?) (?:now|again|after all)[.!]*$`,
  ),
  new RegExp(`${lead}(?:switch|go|change) back to (?<topic>[^,]{2,40}?)(?: now| again| for .*)?[.!]*$`),
  /^(?:actually|on second thought|come to think of it),? (?<topic>[^,]{2,40}?) (?:is|are) (?:ok|okay|fine|allowed|good)[.!]*$/,
  /^(?:ok(?:ay)?,? )?(?:du darfst|ihr durft|sie durfen|man darf) (?:jetzt |nun |ab jetzt )?wieder\b(?<topic>.{2,80})$/,
  /^(?:ok,? )?tu peux (?:maintenant |desormais )?(?:de nouveau|a nouveau)\b(?<topic>.{2,80})$/,
  /^(?:ok,? )?(?:ya puedes\b(?<topic>.{2,80})$|puedes (?<other>.{2,80}?) (?:de nuevo|otra vez)[.!]*$)/,
  /^(?:现在|那)?(?:又)?可以(?:再|重新|又)(?<topic>.{1,40}?)了?[。!]*$/,
]

/** Words that say that something was said, and not what about. */
const telling: ReadonlySet<string> = new Set(
  "said say told tell ask wrote earlier before thing part bit stuff apply applies rule back ok okay actually fine habe hab gesagt ich dit j'ai ai dije dicho disse eu mehr ne".split(
    " ",
  ),
)

const wideTelling = /我?(?:之前|刚才)?说过?的?|那[条个]|的?(?:规定|规则|要求|限制)/g

/** What a user's message takes back, in the user's own words: "forget what I said about tabs", "you can push to main again". */
export function readWithdrawals(message: string): readonly Withdrawal[] {
  if (message.length > maxMessage || !sign.test(message)) return []
  const quotations = quotationsIn(message)
  return ownWords(message)
    .flatMap((own) => sentencesIn(message, own))
    .flatMap((span): readonly Withdrawal[] => {
      const text = message.slice(span.start, span.end)
      if (text.length > maxSentence || text.endsWith("?") || isWithin(span, quotations) || passesOn.test(text))
        return []
      if (speakerScore(message, span) > surelyPasted) return []
      return [text, ...text.split(/(?<=[,;]) /).slice(1)].map(withdrawalIn).find((found) => found.length > 0) ?? []
    })
}

/** Somebody else is said to have said it. */
const passesOn =
  /\b(?:he|she|they|it|\p{Lu}\p{L}+|(?:[Tt]he|[Mm]y|[Oo]ur|[Aa]n?|[Oo]ne of the|[Dd]er|[Dd]ie|[Ll]e|[Ll]a|[Ee]l|[Oo])(?: [\p{L}'’-]+){1,4}) (?:just |also |now |has |have )?(?:said|says?|wrote|writes?|told|tells?|thinks?|claims?|claimed|mentioned|asked|announced|confirmed|confirms|agreed|agrees|suggests?|suggested|recommends?|sagt|schreibt|dit|ecrit|dice|diz|zegt)\b|\baccording to\b/u

function withdrawalIn(text: string): readonly Withdrawal[] {
  const seen = normalize(text).text.replace(/\s+/g, " ").trim()
  const sorts = [
    { patterns: ofAll, lifts: false, all: true },
    { patterns: ofOne, lifts: false, all: false },
    { patterns: again, lifts: true, all: false },
  ]
  for (const { patterns, lifts, all } of sorts)
    for (const pattern of patterns) {
      const found = pattern.exec(seen)
      const groups = found?.groups
      if (groups === undefined) continue
      if (lifts && /\b(?:this|that|these|those|it|them)\b/.test(found?.[0] ?? "")) return []
      const about = (groups.topic ?? groups.other ?? "").replace(wideTelling, " ")
      const topic = topicOf(about).filter((word) => !telling.has(word))
      return topic.length === 0 && (lifts || sortedValues(plain(about)).size === 0) ? [] : [{ text, topic, lifts, all }]
    }
  return []
}

/** What is allowed again may leave so many words of the rule unsaid. */
const maxUnsaid = 2

/** The rules that a withdrawal means: all words of it are about them. In doubt none. */
export function withdrawnBy<Rule extends Pin>(
  { text, topic, lifts, all }: Withdrawal,
  pins: readonly Rule[],
): readonly Rule[] {
  const meant = pins.filter((pin) => {
    const about = topicOf(pin.text)
    if (!topic.every((word) => about.includes(word))) return false
    if (
      !(sharesWord(text, pin.text) || (lifts && otherLanguage(text, pin.text))) ||
      (!lifts && namesOtherValue(text, pin.text))
    )
      return false
    return !lifts || (about.length - topic.length <= maxUnsaid && (forbids(pin) || otherLanguage(text, pin.text)))
  })
  // One that is known by a value alone, as "the Friday rule", must be the only one with it.
  if (topic.length === 0) return meant.length === 1 ? meant : []
  return all ? meant : meant.slice(-1)
}

const forbids = ({ kind, text }: Pin): boolean =>
  kind === "prohibition" || kind === "permission-limit" || /\b(?:not|never|no)\b/i.test(text)

function otherLanguage(text: string, rule: string): boolean {
  const [one, two] = [valuesOf(text).get("language"), valuesOf(rule).get("language")]
  return one !== undefined && two !== undefined && !one.some((name) => two.includes(name))
}

/** Do two texts have a word of their subject in common as it stands, beside words that mean the same? */
function sharesWord(one: string, two: string): boolean {
  const [words, others] = [wordsOf(one), wordsOf(two)]
  return [...words].some((word) => word !== "not" && others.has(word))
}

/** The words of a text that tell what it is about, and those that only mean a number. */
const wordsOf = createRecent((text): ReadonlySet<string> => topicWords(normalize(text).text), 2000)

/** Does a text name values of a sort that a rule has too, and not one of the rule's? Then it is about another rule. */
function namesOtherValue(text: string, rule: string): boolean {
  const [said, own] = [sortedValues(plain(text)), sortedValues(plain(rule))]
  return [...said].some(([sort, values]) => {
    const known = own.get(sort)
    return sort !== "currency" && ![...values].some((value) => known?.has(value) === true)
  })
}

/** Words with which a speaker ends what held so far, folded. */
const ends =
  /\b(?:no longer|any ?more|any longer|no need to|needn't|need not|not necessary|isn't necessary|is enough|cancel(?:led)?|withdr[ae]wn?|withdraw|lift(?:ed)?|stop|skip|disregard|forget|never mind|take (?:it|that) back|is (?:over|off|dead|history|gone|void)|off limits|(?:fine|ok|okay) (?:now|again|from now on)|(?:now|again) (?:fine|ok|okay)|allowed|welcome|freely|as you like|abolished|dropped?|scrap|consider it void|the ban's over|rule cancell?ed|(?:is|are) (?:now )?public|no more(?! than\b)|trust you|nicht mehr|entfallt|ya no|plus besoin|nao precisa|non serve piu|niet meer)\b|不再|作废|不用再|可以|もう|廃止|なくて(?:結構|いい)/
/** Words with which a speaker changes what held so far. */
const changes =
  /\b(?:from (?:now|here|today|monday|tuesday|wednesday|thursday|friday|july|next \p{L}+) on|from now on|from (?:today|monday|tuesday|wednesday|thursday|friday)|from this (?:release|version|week|month) on|in future|permanently|for good|as a rule|instead(?= *[.!,;]|$|\s+of\b)|now|again|as of|starting|switch(?:ed)? to|migrated|chang(?:e|ed|ing)|make (?:it|that|this)|rais(?:e|ed|ing)|lower(?:ed|ing)?|(?:goes?|went) (?:up|down)|moves?|moved|replac\w+|enough with|has left|have left|left|clos(?:ed|ing)(?: down)?|shut down|bricked up|retired|is out(?! of\b)|change of (?:plan|mind|habit)|these days|nowadays|by now|since the \p{L}+|for good|once and for all|from here on|new (?:policy|habit|rule)|jetzt|ab sofort|kunftig|fortan|statt|ahora|en adelante|a partir de|en vez de|desormais|maintenant|a partir de|au lieu|agora|daqui|em vez de|adesso|d'ora|voortaan|vanaf)\b|改为|改成|改用|现在|从.{1,6}起|これから|ではなく|今後/u
/** What holds from a day on is no matter of that day, and what is too small is too small for good. */
const lastingWords =
  /\b(?:(?:from|as of|since|starting) (?:today|tomorrow|this morning)|a partir d(?:e |')(?:hoy|hoje|aujourd'hui)|ab heute|da oggi|vanaf vandaag|went (?:up|down) to|once and for all|(?:is|are|still|far|was) too(?= \p{L})|was (?:a|my) mistake|was wrong|was (?:fun|nice|good) but|decision of today|had enough)\b/gu
/** Somebody's guess, question, case or story, and what holds only once. */
const uncertain =
  /[?？]\s*$|^(?:he|she|they|it|someone|somebody|people|everyone)\b|^(?:in|for|on) (?:the|that) |\b(?:if|whether|maybe|perhaps|might|would|could|should we|what about|imagine|suppose|think|wonder|just this|this (?:time|once|one|order|trip|week|month|flight|letter|mail|file|friday|summary|report|customer)|only (?:today|once)|today|tonight|tomorrow|on sunday|for now|for once|once|exception|exceptionally|except|either|neither|nor|additionally|tampoco|non plus|neanche|remember|still|took|was|were|had|did|got|went|happened|never mind it|quot(?:ed|es|ing|ations?)|joke|just for|on holiday|other (?:team|department|company)|(?<!\b(?:i|we) )wants?|press release|heute|diesmal|ausnahmsweise|hoy|esta vez|aujourd'hui|cette fois|hoje|desta vez)\b|这次|今天|今回|吗/

/**
 * A statement whose subject is somebody else, or a thing of theirs: "the client now deploys to us-east-1", "their backups are kept for 90
 * days now". It tells of others and changes nothing, unless it says that they left or who takes over.
 */
const ofOthers =
  /^(?:ok(?:ay)?,? |so,? |and |but |by the way,? |btw,? )?(?:(?:their|his|her|its|leur|leurs|ihre?|seus?|suas?)\b|(?:the|a|an|my|our|der|die|le|la|el|il|o) (?:\p{L}+ ){0,2}?(?:client|customer|supplier|vendor|landlord|neighbou?r|competitor|bank|insurer|journal|publisher|school|government|ministry|city|airline|hotel|partner|agency|kunde|lieferant|vermieter|fournisseur|cliente|proveedor|fornecedor)s?(?:'s?)?\b)/u
/** A thing that is built and what it is to show or do: a demand on the product changes no rule for the agent. */
const ofProduct =
  /^(?:ok(?:ay)?,? |so,? |and |but )?(?:the|our|my|this) (?:\p{L}+ ){0,2}?(?:dashboard|page|app|screen|form|button|menu|widget|endpoint|api|site|website|table|chart)\b.{0,40}\b(?:shows?|display|displays|lists?|prints?|should|must|has to)\b/u
const takesOver = /\b(?:left|gone|retired|takes over|took over|approves|signs|instead)\b/

/** Names inside a sentence, in code or between quotation marks, and folders, folded. */
const namesIn = (text: string): readonly string[] =>
  [
    ...text.matchAll(
      /(?<=[\p{L}\p{N},;:] )(?!(?:I|The|An?|This|That|These|We|You|It|If|When|No|Never|Always|Do|Use|Only|All|Any|Every|Each|Our|My|Your|Der|Die|Das|Le|La|Les|El|Los|Une?|Eine?)\b)\p{Lu}[\p{L}\p{N}.-]{1,30}|(?<=[„“"«])[^„“”"»]{2,60}(?=[“”"»])|\b[\w-]+[/_][\w/_-]*/gu,
    ),
  ].map(([name]) => plain(name.replace(/\.$/, "")).trim())

/** The numbers, names and languages of a rule: what a later statement may put something else in the place of. */
const oldValues = createRecent(
  (rule): readonly string[] =>
    [
      ...new Set([
        ...namesIn(rule),
        ...[...sortedValues(plain(rule)).values()].flatMap((some) => [...some].flatMap(withLocalPart)),
      ]),
    ].filter((value) => value.length > 0),
  2000,
)

/** An address, and the name before its sign: "Anna left" speaks of anna@lab.example. */
const withLocalPart = (value: string): readonly string[] => {
  const [name = ""] = value.split("@", 1)
  return name.length > 2 && name.length < value.length ? [value, name] : [value]
}

const hasWord = (text: string, word: string): boolean => asWord(word).test(text)
const asWord = createRecent((word) => {
  const one = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")
  // "Sunday" and "Sundays" are one word.
  const form = /^\p{L}{5,}$/u.test(word) ? `${one.replace(/s$/, "")}s?` : one
  return new RegExp(`(?<![\\p{L}\\p{N}])${form}(?![\\p{L}\\p{N}])`, "u")
}, 2000)

/** A rule that a later statement of the same speaker takes the place of, and that statement. */
type Replacement<Rule> = Span & { readonly text: string; readonly pin: Rule }

/** Of the subject of a rule so much must be said again: with its old value or another of its sort named, and without. */
const minShareWithValue = 1 / 3
const minShareOfOther = 0.5
const minShareOfSubject = 0.6

/**
 * The rules that a user's message changes in so many words: "the cap is 800 now", "Maria left, Jörg approves from now on". The statement
 * is the user's own, certain, says that something changes or ends, and is about the rule: it names its old value, another one of that sort, or
 * most of its subject. If two rules could be meant, none is.
 */
export const readReplacements = <Rule extends Pin>(
  message: string,
  pins: readonly Rule[],
): readonly Replacement<Rule>[] => runSteps(replacementSteps(message, pins))

/** The same, a sentence at a time. */
export function* replacementSteps<Rule extends Pin>(
  message: string,
  pins: readonly Rule[],
): Steps<readonly Replacement<Rule>[]> {
  if (message.length > maxMessage || pins.length === 0) return []
  const quotations = quotationsIn(message)
  const own = ownWords(message)
  const sentences = own.flatMap((span) => sentencesIn(message, span))
  const found: Replacement<Rule>[] = []
  // A short message may name what is over in one sentence and what holds instead in the next.
  const [only] = own
  const whole = own.length === 1 && only !== undefined && sentences.length === 2 ? [only] : []
  for (const span of [...sentences, ...whole]) {
    const text = message.slice(span.start, span.end).trim()
    if (text.length > maxSentence || passesOn.test(text)) continue
    yield
    const pin = replacedBy(text, pins)
    if (pin === undefined || found.some((one) => one.pin === pin)) continue
    // What is quoted counts only where it is what the rule itself has quoted.
    const isQuoted = quotations.some(
      (quoted) =>
        isWithin(quoted, [span]) &&
        !oldValues(pin.text).some((value) => hasWord(plain(message.slice(quoted.start, quoted.end)), value)),
    )
    if (speakerScore(message, span) > surelyPasted) continue
    if (!isQuoted || /\b(?:sign\p{L}*|statt|instead)\b/iu.test(text))
      found.push({ start: span.start, end: span.start + text.length, text, pin })
  }
  return found
}

function replacedBy<Rule extends Pin>(text: string, pins: readonly Rule[]): Rule | undefined {
  const seen = plain(text).replace(/[\s’]+/g, (gap) => (gap === "’" ? "'" : " "))
  const said = withoutCommanded(seen)
  const [isEnd, isChange] = [ends.test(said), changes.test(said)]
  const sure = seen.replace(lastingWords, " ")
  const isAdded = adding.test(sure)
  if ((!isEnd && !isChange) || uncertain.test(isAdded ? sure.replace(everyAdding, " ") : sure)) return undefined
  if ((ofOthers.test(seen) && !takesOver.test(seen)) || ofProduct.test(seen)) return undefined
  const topics = topicOf(text)
  const isBan = bans.test(seen)
  // "Forget the second paragraph, it is about units": what is dropped is the paragraph, whatever is said of it.
  const dropped = topicOf(dropping.exec(seen)?.[1] ?? "")
  let meant: Rule | undefined
  for (const pin of pins) {
    // What is added changes only a rule that allowed one thing and no other.
    if (isAdded && !(onlyOne.test(plain(pin.text)) && lasts.test(seen))) continue
    // Another thing of the same kind, under another number: nothing is taken back by a ban on it, or by what holds for it.
    if (namesAnother(pin.text, text) && (isBan ? forbids(pin) : !isEnd)) continue
    if (dropped.length > 0 && !dropped.some((word) => topicOf(pin.text).includes(word))) continue
    if (speaksOfAnotherAct(plain(pin.text), seen) || !isReplaced(pin.text, text, { said: topics, seen, isEnd }))
      continue
    if (meant !== undefined) return undefined
    meant = pin
  }
  return meant
}

/** Words with which something is added to what holds. */
const adding = /\b(?:also|too|as well|in addition|besides|tambien|auch|ebenso|aussi|tambem|anche|ook)\b/u
const everyAdding = new RegExp(adding.source, "gu")
const onlyOne =
  /\b(?:only|nothing but|solely|exclusively|solo|nur|ausschliesslich|seulement|uniquement|apenas|somente|alleen)\b/
const lasts =
  /\b(?:from now on|no longer|any longer|any ?more|from here on|in future|as of|permanently|now|ab jetzt|kunftig|en adelante|desormais|d'ora|voortaan)\b/

const dropping =
  /^(?:ok(?:ay)?,? |so,? |please )?(?:forget(?: about)?|disregard|ignore|drop|scrap|skip|cancel) (?:the|that|this|my|our) ([^,;.]{2,60})[,;.] ?\p{L}/u
const bans = /\b(?:never|do not|don't|must not|no)\b/

/** "Confirm before cancelling a booking" and "no need to confirm before making one": what has to be asked before is another act. */
function speaksOfAnotherAct(rule: string, seen: string): boolean {
  const [act, other] = [askedBefore.exec(rule)?.[1], askedBefore.exec(seen)?.[1]]
  if (act === undefined || other === undefined || act.slice(0, actStem) === other.slice(0, actStem)) return false
  const meaning = topicOf(act)
  return !topicOf(other).some((word) => meaning.includes(word))
}
const askedBefore =
  /\b(?:before|prior to|bevor|avant d(?:e |')|antes de|prima di|voordat)\s?(?:you |we |i |du |ihr |wir |sie |je )?(?:(?:\p{L}+ly|each|every|any|all|the|an?|my|our) ){0,3}(\p{L}{3,})/u
const actStem = 3

type Said = { readonly said: readonly string[]; readonly seen: string; readonly isEnd: boolean }

function isReplaced(rule: string, text: string, { said, seen, isEnd }: Said): boolean {
  const ruleSeen = plain(rule)
  if (seen.includes(ruleSeen.replace(/[.!]$/, "")) || endsAnother(rule, text)) return false
  const old = oldValues(rule)
  const named = old.some((value) => hasWord(seen, value))
  if (setsLimitOf(ruleSeen, seen)) return true
  if (!named && !sharesWord(rule, text)) return isOnlyAnother(rule, old, seen)
  const about = topicOf(rule)
  const share = about.length === 0 ? 0 : about.filter((word) => said.includes(word)).length / about.length
  // "Forget the migration" speaks of one, and not of what has to be done before each.
  const ended = endedThings(seen).filter((word) => topicOf(word).some((one) => about.includes(one)))
  const isValue = ended.some((word) => old.some((value) => hasWord(value, word)))
  if (ended.length > 0 && share >= (isValue ? minShareWithValue : minShareOfOther)) return true
  // "No more rounding, I want the cents" ends what the rule opens with.
  const head = firstTopic(ruleSeen)
  if (isEnd && head !== undefined && ended.some((word) => topicOf(word).includes(head) && endsAt(seen, word)))
    return true
  const rest = withoutValues(about, old)
  const shared = rest.filter((word) => said.includes(word)).length
  const restShare = rest.length === 0 ? 0 : shared / rest.length
  const other = namesOther(rule, text)
  if (named) return share >= minShareWithValue && (shared > 0 || rest.length === 0 || other === "value")
  const first = firstTopic(seen)
  if (other !== undefined)
    return (
      restShare >= (other === "value" || lasts.test(seen) ? minShareOfOther : minShareOfSubject) &&
      (rest.length > 1 || rest[0] === first)
    )
  // The rule has a value, and nothing is said about it: that is one more rule, unless this one is said to be over.
  if (old.length > 0 && (!isEnd || namesOtherValue(text, rule))) return false
  const least = isEnd && lifts.test(seen) ? minShareOfOther : minShareOfSubject
  return share >= least && (share === 1 || about.includes(first ?? ""))
}
/** What was forbidden or asked for is left to the reader. */
const lifts =
  /\b(?:you (?:may|can)|freely|welcome|as you like|is over|is off|(?:is|are) (?:now )?public|fine|ok|okay)\b/

/** Does nothing that narrows it stand behind a word? */
const endsAt = (seen: string, word: string): boolean =>
  /^ ?(?:[.,;!:]|$)/.test(seen.slice(seen.indexOf(word) + word.length))

const withoutValues = (about: readonly string[], values: readonly string[]): readonly string[] => {
  const topics = new Set(values.flatMap((value) => [value, ...topicOf(value)]))
  return about.filter((word) => !topics.has(word))
}

/** Does a text name one value of a sort of which the rule has another, or a name where the rule has another name? */
function namesOther(rule: string, text: string): "value" | "name" | undefined {
  const [before, after] = [sortedValues(plain(rule)), sortedValues(plain(text))]
  for (const [sort, values] of before) {
    const others = [...(after.get(sort) ?? [])].filter((value) => !values.has(value))
    if (others.length === 1) return "value"
  }
  return before.size === 0 && namesIn(rule).length > 0 && namesIn(text).length > 0 ? "name" : undefined
}

/** "The cap is 800 now", and a rule with a number that speaks of a cap. */
function setsLimitOf(ruleSeen: string, seen: string): boolean {
  const limit = limitSet.exec(seen)?.[1]
  return limit !== undefined && hasWord(ruleSeen, limit) && sortedValues(ruleSeen).has("number")
}
const limitSet =
  /^(?:ok(?:ay)?,? |so |actually,? )?(?:the|our|my) (?:new )?(cap|limit|maximum|minimum|ceiling|budget|deadline|quota|threshold) (?:is|goes (?:up|down) to|has gone (?:up|down) to|was (?:raised|lowered) to) (?:now )?[^\p{L}\s]?\d[\d.,:]*[^\p{L}]{0,3}(?:k|usd|eur|gbp|dollars?|euros?|hours?|minutes?|percent)?(?: (?:now|from now on|as of (?:today|now)))?[.!]*$/u

/** "Switch to Fahrenheit" and a rule that says no more than "Celsius". */
const isOnlyAnother = (rule: string, old: readonly string[], seen: string): boolean =>
  /\b(?:switch|change|go over) to\b/.test(seen) &&
  withoutValues(topicOf(rule), old).length <= 1 &&
  [...sortedValues(plain(rule)).keys()].some((sort) => sort !== "number" && sortedValues(seen).has(sort))

/** What a sentence speaks of first, words of change put aside. */
function firstTopic(seen: string): string | undefined {
  for (const word of seen.replace(everyEnd, " ").replace(everyChange, " ").split(" ")) {
    const [topic] = topicOf(word)
    if (topic !== undefined) return topic
  }
  return undefined
}
const [everyEnd, everyChange] = [new RegExp(ends.source, "gu"), new RegExp(changes.source, "gu")]

/** What a user asks for at the head of a message: a rule to pin, or a pin to take away. `rest` is what stands behind it, verbatim. */
type PinCommand =
  | { readonly type: "pin"; readonly text: string; readonly rest: string }
  | { readonly type: "unpin" /** The id of a rule, or words of it. */; readonly id: string; readonly rest: string }

const command = /^\s*\/(pin|unpin)(?=\s)[^\S\n\r]*/i
const lineEnd = /\r\n|[\n\r]/g
/** A rule is named by its id, or by words of it. */
const maxName = 300

/** A pin is a rule, not a page; a longer text is a message like any other. */
const maxPin = 4000

/**
 * The command that a message begins with, if it does: `/pin` with the rule behind it on its line, or alone on its line with the rule on the
 * next ones up to a blank one; `/unpin` with an id or words of the rule. Anywhere else, behind a quotation mark or in code, it is text.
 */
export function readPinCommand(message: string): PinCommand | undefined {
  const [head = "", name = ""] = command.exec(message) ?? []
  if (name === "") return undefined
  const line = lineFrom(message, head.length)
  const own = message.slice(head.length, line.end).trim()
  if (name.toLowerCase() === "unpin")
    return own !== "" && own.length <= maxName && /[\p{L}\p{N}]/u.test(own)
      ? { type: "unpin", id: own, rest: message.slice(line.next) }
      : undefined
  if (own !== "") return pinOf(own, message.slice(line.next))
  const next = paragraphFrom(message, line.next)
  return pinOf(message.slice(line.next, next.end).trim(), message.slice(next.next))
}

const pinOf = (text: string, rest: string): PinCommand | undefined =>
  text === "" || text.length > maxPin || !/[\p{L}\p{N}]/u.test(text) ? undefined : { type: "pin", text, rest }

/** The rule that is meant by its id or by words of it. In doubt none. */
export function ruleNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): Rule | undefined {
  const [only, ...others] = rulesNamed(name, pins)
  return others.length === 0 ? only : undefined
}

/** The rules that may be meant by an id or by words: those that have them as they stand, or else all that they are about. */
export function rulesNamed<Rule extends Pick<Pin, "id" | "text">>(
  name: string,
  pins: readonly Rule[],
): readonly Rule[] {
  const byId = pins.find(({ id }) => id === name)
  if (byId !== undefined) return [byId]
  const fold = (text: string): string => normalize(text).text.replace(/\s+/g, " ").trim()
  const literal = pins.filter(({ text }) => fold(text).includes(fold(name)))
  if (literal.length > 0) return literal
  const topic = topicOf(name).filter((word) => !telling.has(word))
  return pins.filter(({ text }) => topic.length > 0 && topic.every((word) => topicOf(text).includes(word)))
}

/** Where the line at a place ends, and where the next one starts. */
function lineFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  lineEnd.lastIndex = start
  const found = lineEnd.exec(text)
  return found === null
    ? { end: text.length, next: text.length }
    : { end: found.index, next: found.index + found[0].length }
}

/** Where the lines from a place on come to a blank one. */
function paragraphFrom(text: string, start: number): { readonly end: number; readonly next: number } {
  let end = start
  for (let at = start; at < text.length; ) {
    const line = lineFrom(text, at)
    if (text.slice(at, line.end).trim() === "") return { end, next: line.next }
    end = line.end
    at = line.next
  }
  return { end, next: text.length }
}
