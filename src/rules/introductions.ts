import { type LazyPattern, lazyPattern } from "../language/lazy.ts"
import { letters } from "../language/letters.ts"
import { wordSet } from "../language/word-forms.ts"
import { anyOf } from "../language/word-lists.ts"
import lists from "./paste-words.json" with { type: "json" }

/**
 * The words with which a user hands over a text of somebody else: "what does she mean?", "here is the ticket:", "is the above true?". They
 * are read word by word, with sets instead of long alternations: what compiles is short. All that is given here is in lower case and of
 * bounded length; the long lists are in paste-words.json. The file is long because each form of handing over stands beside its grammar in
 * all languages, and is one story.
 */

/** What is read or written, and can be pasted, in the singular. */
const textNouns = wordSet(...lists.texts)
/** Nouns of two words, the second of which decides: "stack trace", "error message". */
const pairedNouns = wordSet("trace contents content")
/** Data that is handed over in the same way. */
const dataNouns = wordSet(...lists.data)

/** What people ask for a text that they hand over; some of it takes a second word. */
const readVerbs = wordSet(...lists.reading)
const pairedVerbs: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries({
    summary: "of",
    sum: "up",
    clean: "up",
    tidy: "up",
    reply: "to",
    respond: "to",
    comment: "on",
    look: "at",
    glance: "at",
    think: "of about",
    make: "of",
    thoughts: "on",
    opinion: "on",
    feedback: "on",
    say: "about to",
  }).map(([verb, behind]) => [verb, wordSet(behind)]),
)
/** Verbs that are said of other things as well. */
const handleVerbs = wordSet("answer address read check review debug format convert turn put")
const makeVerbs = wordSet("make create write draft")
const makesFrom = wordSet("from of on to")

const demonstratives = wordSet(
  "this these below following underneath dies diese diesen dieses diesem esto este ceci cela",
)
const pointers = wordSet("this these that those following attached")
const determiners = wordSet("this these that those his her their my the each following attached")

/** Who is neither the speaker nor the reader: none of these, before a word for saying. */
const notOthers = wordSet(...lists.notOthers)
const tellVerbs = wordSet(...lists.telling)
const adverbs = wordSet("just also really already")

/** A sentence as its words. */
type Said = { readonly text: string; readonly words: readonly string[] }

const word = new RegExp(`[${letters}]+(?:['’-][${letters}]+)*`, "g")
const noWords: readonly string[] = []

const read = (text: string): Said => ({ text, words: text.match(word) ?? noWords })

/** Where a word stands, which few ask for: no letter stands between two words, so each is found where it is looked for. */
function startOf({ text, words }: Said, at: number): number {
  let [start, end] = [0, 0]
  for (let n = 0; n <= at; n++) {
    const word = words[n] ?? ""
    start = text.indexOf(word, end)
    end = start + word.length
  }
  return start
}

const wordAt = ({ words }: Said, at: number): string => words[at] ?? ""
const isIn = (said: Said, at: number, set: ReadonlySet<string>): boolean => set.has(wordAt(said, at))

const singular = (noun: string): string => (noun.endsWith("s") ? noun.slice(0, -1) : noun)
const isText = (said: Said, at: number): boolean =>
  isIn(said, at, textNouns) ||
  textNouns.has(singular(wordAt(said, at))) ||
  (isIn(said, at, pairedNouns) && /^(?:stack|file)$/.test(wordAt(said, at - 1)))
const isTextOrData = (said: Said, at: number): boolean => isText(said, at) || isIn(said, at, dataNouns)

/** "traduis-le", "traduce-lo": the pronoun hangs on its verb. */
const clitic = /-(?:l[aeo]s?|l['’]|moi)$/

const readsAt = (said: Said, at: number): boolean =>
  isIn(said, at, readVerbs) ||
  (wordAt(said, at).includes("-") && readVerbs.has(wordAt(said, at).replace(clitic, ""))) ||
  pairedVerbs.get(wordAt(said, at))?.has(wordAt(said, at + 1)) === true

/** Is it a word that is said of texts among other things, or one that makes something of another? */
const handlesAt = (said: Said, at: number): boolean =>
  isIn(said, at, handleVerbs) ||
  (isIn(said, at, makeVerbs) && said.words.slice(at + 1, at + 9).some((next) => makesFrom.has(next)))

/** Words between what is asked for and what it is asked for; more is another thought. */
const maxReach = 12
const shortReach = 8

/** Nothing but letters, blanks and the usual signs follows a pronoun: a number or a quotation would be what it stands for. */
const standsAlone = (said: Said, at: number): boolean =>
  behindPronoun.test(said.text.slice(startOf(said, at) + wordAt(said, at).length))
const behindPronoun = new RegExp(`^,?\\s*[.?!:：]?\\s*(?:$|[${letters}])`)

/** Something is asked for that is done with a text: one that a pronoun stands for, or that is named. */
function asksFor(said: Said): boolean {
  for (const at of said.words.keys()) {
    const isRead = readsAt(said, at)
    if (!isRead && !handlesAt(said, at)) continue
    for (let next = at + 1; next < said.words.length && next <= at + maxReach; next++) {
      const isPronoun =
        isIn(said, next, demonstratives) || (isRead && (wordAt(said, next) === "that" || wordAt(said, next) === "it"))
      if (isPronoun && (isRead || next <= at + shortReach) && standsAlone(said, next)) return true
      if (
        next <= at + shortReach &&
        isIn(said, next, determiners) &&
        (isText(said, next + 1) || isText(said, next + 2)) &&
        !(wordAt(said, at) === "put" && isIn(said, next + 1, kept))
      )
        return true
    }
  }
  return false
}

/** "Put the ticket to In Progress": what stands in a system is moved there, and not handed over. */
const kept = wordSet("ticket issue task story card")

/** "Is this clause fair?" */
const asksAboutText = (said: Said): boolean =>
  /[?？]/.test(said.text) &&
  said.words.some((_, at) => isIn(said, at, pointers) && (isText(said, at + 1) || isText(said, at + 2)))

const possessive = /^(?!(?:today|it|that|what|here|there|let|who|he|she)['’]s)[^'’]{2,24}['’]s$/

/** "Anna's last mail" at the end. */
function namesTextOfOthers(said: Said): boolean {
  const last = said.words.length - 1
  return isText(said, last) && [1, 2, 3].some((back) => possessive.test(wordAt(said, last - back)))
}

/** "This is the ticket", "here's my sister's mail". */
function handsText(said: Said): boolean {
  return said.words.some((first, at) => {
    const isShort = first === "here's" || first === "here’s" || first === "this's"
    const isLong = presenting.has(first) && /^(?:is|are)$/.test(wordAt(said, at + 1))
    if (!isShort && !isLong) return false
    const from = at + (isShort ? 1 : 2)
    if (!/^(?:the|an?|my|our)$/.test(wordAt(said, from)) && !possessive.test(wordAt(said, from))) return false
    return [1, 2, 3, 4].some((next) => isText(said, from + next) || isOwned(said, from, from + next))
  })
}

const presenting = wordSet("here this these")

/** "This is the style file of a rival": something definite that belongs to somebody who is neither the speaker nor the reader. */
const isOwned = (said: Said, from: number, at: number): boolean =>
  wordAt(said, from) === "the" &&
  /^(?:of|from|by)$/.test(wordAt(said, at)) &&
  /^(?:an?|the|his|her|their|another|other|some|someone)$/.test(wordAt(said, at + 1)) &&
  !ownLead.test(said.text)

const wantVerbs = wordSet(...lists.wanting)
const asking = wordSet("do does did is are would should")

/** "What does she want?" */
const asksWhatOthersWant = (said: Said): boolean =>
  said.words.some(
    (first, at) =>
      first === "what" &&
      isIn(said, at + 1, asking) &&
      !isIn(said, at + 2, notOthers) &&
      [3, 4, 5].some((next) => isIn(said, at + next, wantVerbs)),
  )

const tellsWhom = wordSet("me us this back that")

/** "What the vendor wrote", "my sister just sent me" at the end. */
const othersTell = (said: Said): boolean =>
  said.words.some((_, at) => {
    if (!isIn(said, at, tellVerbs) || at === 0 || (wordAt(said, at) === "told" && wordAt(said, at + 1) === "us"))
      return false
    const subject = isIn(said, at - 1, adverbs) ? at - 2 : at - 1
    if (subject < 0 || isIn(said, subject, notOthers)) return false
    if ([1, 2, 3].some((back) => wordAt(said, subject - back) === "what")) return true
    const end = isIn(said, at + 1, tellsWhom) ? at + 2 : at + 1
    return end >= said.words.length
  })

const any = (...patterns: readonly string[]): LazyPattern => lazyPattern(patterns.join("|"))

/** Words that announce a text whatever else the sentence says: it was come by, is quoted, or stands below. */
const acquired = any(
  "\\b(?:got|received|found|saw|came across|copied|grabbed) (?:this|these|the following)\\b",
  "\\b(?:pasted|pasting|copy-?pasted|forwarding|forwarded|quoting)\\b|\\bpaste of\\b",
  "\\b(?:this|these|it|that)(?:'s|’s| is| are| was)? (?:taken |copied |quoted )?from (?:the|an?|my|our|his|her|their)\\b|^\\W*from (?:the|our|my|his|her|their) [^.?!\\n]{2,60}$",
)
const announced = any(
  "^[^.!\\n]{0,60}\\b(?:reword|rephrase|paraphrase|proof-?read|translate|tl;? ?dr)\\b[^.!\\n]{0,50}$",
  "\\b(?:is|are|was|were) (?:this|that|these|it) (?:really |actually |even |all )?(?:ok|okay|correct|true|right|legit|legal|fine|spam|a scam|phishing|normal|fair|good|safe|accurate|wrong|a joke)\\b[^.!\\n]{0,60}\\?",
  "\\b(?:do|should|must|can|could) (?:we|i) (?:have to |need to )?(?:react|reply|answer|respond|ignore|trust|agree|accept|sign|use (?:it|this))\\b[^.!\\n]{0,60}\\?",
  "\\b(?:what|how) (?:should|do|would|could|can) (?:i|we|you) (?:answer|reply|respond|react|say|tell)\\b",
  "\\bread (?:this|these|the following)\\b|\\b(?:got|received|found|saw|read|copied|grabbed) it (?:from|on|in)\\b",
  "\\b(?:this|here)(?:'s| is) (?:their|his|her|what (?!i\\b|we\\b|you\\b|to\\b))",
  "\\b(?:see|as|quoted|copied|pasted|shown|text|mail|message|listed|reply|answer|review|letter|post|ticket) below\\b|\\bbelow[.:：]?\\s*$",
)
/** The same in other languages: what is asked about stands there, or what somebody means by it. */
const announcedElsewhere = any(
  "^\\W*(?:voici|voilà|hier (?:ist|sind|kommt|is|zijn)|das (?:ist|sind)|aquí (?:está|están|tienes|va|te)|aqui (?:está|estão|vai)|eis|ecco|dit is) (?:le|la|les|l['’]|der|die|das|ein|eine|el|los|las|un|una|o|a|os|as|um|uma|il|lo|i|gli|de|het|een|du|ce)\\b",
  "\\b(?:ist|sind|war|stimmt|heißt|bedeutet|gilt) (?:das|dies|es)\\b[^.!\\n]{0,60}\\?|\\bhältst du (?:davon|von)\\b|\\bwas (?:will|wollen|meint|meinen) (?!ich|wir|du)",
  "\\bc['’]est [^.!\\n]{2,40}\\?|\\b(?:veut|veulent) dire\\b|\\bqu['’]en pens|\\bpenses?-(?:tu|vous)\\b",
  "\\bquieren? decir\\b|\\b(?:qué|que) (?:opinas|te parece)\\b|\\b(?:es|está) (?:correcto|verdad|legal|normal|bien)\\b[^.!\\n]{0,40}\\?|\\bquer(?:em)? dizer\\b|\\bisso (?:é|está)\\b[^.!\\n]{0,40}\\?|\\bvuol dire\\b|\\bcosa ne pensi\\b|\\b(?:è|sono) (?:giusto|corretto|vero|legale|normale)\\b",
  "(?:总结|翻译|解释|回复|看看|看一下|分析|润色|改写).{0,12}(?:这|下面|以下)|(?:下面|以下|这[封段篇条个份]).{0,12}(?:邮件|文字|文章|内容|消息|评论|合同|日志|报错|通知)",
  "(?:これ|以下|次の|この(?:メール|文章|文)).{0,20}(?:要約|翻訳|訳|説明|返信|見て|どう)|(?:переведи|перескажи|суммируй|объясни|ответь на|посмотри).{0,30}(?:это|этот|эту|ниже)|(?:이|다음|아래).{0,12}(?:요약|번역|설명|답장)",
)

const handsOver = (said: Said): boolean =>
  announced.test(said.text) ||
  announcedElsewhere.test(said.text) ||
  asksWhatOthersWant(said) ||
  asksFor(said) ||
  othersTell(said) ||
  asksAboutText(said) ||
  namesTextOfOthers(said) ||
  handsText(said)

/** A question about what is at hand, or none but a nod for it: "thoughts?" */
const asksAbout = any(
  "\\b(?:your (?:take|opinion|view|thoughts)|any thoughts|opinions?)\\b[^.!\\n]{0,40}[?？]\\s*$",
  "\\b(?:clause|section|article|paragraph|item|line) \\d[^.!\\n]{0,80}[?？]\\s*$",
  "\\b(?:this|these|he|she|they|er|sie|damit|ils|elle|esto)\\b[^.!\\n]{0,80}[?？]\\s*$",
  `^\\W*(?:[${letters}]{2,16}\\s){0,1}[${letters}]{2,16}[?？]+\\s*$`,
)
/** Work on what was spoken of before, which a question can ask for too. */
const works =
  /\b(?:fix|implement|add|change|update|refactor|run|deploy|commit|push|build|remove|delete|rename|move|ready|start|begin|continue|merge|install|create)\b/

/** "Scale this to eight people", "what's the rhyme scheme here": a pronoun for something that was not spoken of, so that it stands behind. */
const pointsAhead =
  /\b(?:this|these)(?=\s*(?:$|[.,;:!?]|(?:to|for|in|into|as|with|from|at|by|and|or|but|please|is|are|was|were|means?|says?|looks?|sounds?|so|shorter|better|legal|ok|okay|right|true|up|down|out|over)\b))/
const asksHere = /\b(?:here|this one|these ones)\s*[?？]?\s*$/
/** Verbs for what the speaker wants kept in mind or done in a certain way: what follows is how. */
const ownVerb =
  /\b(?:do|does|doing|done|remember|keep|note|pin|save|follow|observe|respect|obey|apply|stick|like|mind|understand|know|consider|work|start|begin|go|use)\b/

/** A sentence that ends with what stands behind it: "Solve this". Not where that is to be kept or followed. */
const endsWithThis = /\b(?:this|these|below|underneath|the following)\s*[.!:]?\s*$/
const keeps =
  /\b(?:remember|keep|note|pin|save|follow|observe|respect|obey|apply|use|do|like|mind|stick|try|about|all|for|after|before|with|on)\b/

/** A reply is asked for: to what, the next paragraph shows if it is long enough to be a letter. */
const repliesTo = any(
  "\\b(?:draft|write|compose|prepare|suggest)\\b[^.?!\\n]{0,30}\\b(?:reply|answer|response)\\b(?![.]\\w)",
)
const minLetter = 160

/** A sentence with such a word says what always holds, and hands nothing over. */
const binds = /\b(?:always|never|must|from now on|whenever|don['’]?t|do not|every|any|rules?|unless|before you)\b/
/** In a question it is what is asked about. */
const isQuestion = /[?？]\s*$/

const sentenceEnd = /(?<=[.?!])\s+/

/** "Here goes:" hands over rules of one's own too, unless the paragraph speaks of pasting. */
const handsOverAtEnd = /\bhere (?:goes|it is|it comes|they are|you go)\s*[:.!]?\s*$/

/** Does a paragraph announce that a text of somebody else follows? `ahead` is how many characters follow. */
export function announcesPaste(paragraph: string, ahead: number): boolean {
  if (ahead === 0) return false
  if (handsOverAtEnd.test(paragraph) && (!ownLead.test(paragraph) || /\bpast(?:e|es|ed|ing)\b/.test(paragraph)))
    return true
  return paragraph.split(sentenceEnd).some((sentence) => {
    if (acquired.test(sentence)) return true
    if (binds.test(sentence) && !isQuestion.test(sentence)) return false
    const said = read(sentence)
    if (handsOver(said) || (asksAbout.test(sentence) && !works.test(sentence))) return true
    if (pointsAhead.test(sentence) && !ownVerb.test(sentence) && said.words.length <= maxReach) return true
    if (asksFirst.test(sentence) && asksHere.test(sentence) && !works.test(sentence)) return true
    if (endsWithThis.test(sentence) && said.words.length <= maxReach && !keeps.test(sentence)) return true
    return ahead > minLetter && repliesTo.test(sentence)
  })
}

/** Words that point back at a text: a paragraph with one speaks of the paragraphs before it. */
const pointsBack = any(
  "\\b(?:the )?above\\b|^\\W*\\^|\\b(?:that|this) (?:is|was) what\\b|\\b(?:that|this)(?:'s|’s) what (?!i\\b|we\\b)",
  "\\b(?:oben|arriba|ci-dessus|acima|sopra|hierboven)\\b|上面|以上|上記",
)
/** Questions whether the reader took in what was said, which speak of the speaker's own words. */
const asksForNod =
  /\b(?:clear|understood|understand|ok|okay|agreed|got (?:it|that)|possible|work for you|make sense|makes sense|alles klar|verstanden|claro|entendido|d'accord|compris)\b/
/** A question by its first word, as people type it without a question mark. */
const asksFirst =
  /^\W*(?:(?:and|so|but|ok|hey|now) )?(?:what|who|whose|which|how|why|is|are|was|were|does|do|did|can|could|should|would)\b/
const pronoun = /\b(?:this|that|these|those|it|they|he|she|him|her|them|here)\b/

/** A paragraph that speaks of a text is short: what is longer says something of its own. */
const maxFrame = 200

/** "Turn the minutes into a list": a text that was not named before is the one that stands there. */
const namesTextBehind = (said: Said, at: number): boolean =>
  [1, 2].some((next) => isIn(said, at + next, determiners) && isText(said, at + next + 1))

/** Does the last paragraph of a message ask about the paragraphs before it, or for something to be done with them? */
export function asksAboutEarlier(paragraph: string): boolean {
  if (paragraph.length > maxFrame) {
    const [first = ""] = paragraph.split(sentenceEnd)
    return first.length <= maxFrame && pointsBack.test(first) && asksAboutEarlier(first)
  }
  return paragraph.split(sentenceEnd).some((sentence) => {
    if (pointsBack.test(sentence)) return true
    if (asksForNod.test(sentence) || (binds.test(sentence) && !isQuestion.test(sentence))) return false
    const said = read(sentence)
    const asks = isQuestion.test(sentence) || asksFirst.test(sentence)
    if (asks && (pronoun.test(sentence) || announced.test(sentence)) && !works.test(sentence)) return true
    if (said.words.length > maxReach) return false
    return said.words
      .slice(0, 2)
      .some((_, at) => readsAt(said, at) || (handlesAt(said, at) && namesTextBehind(said, at)))
  })
}

/** Does a paragraph ask for something, or about something? One of these frames the text beside it. */
export function isRequest(paragraph: string): boolean {
  if (paragraph.length > maxFrame) return false
  const sentences = paragraph.split(sentenceEnd)
  // A question about what stands beside it, whatever is said behind it.
  if (isQuestion.test(sentences[0] ?? "")) return true
  if (binds.test(paragraph)) return false
  return sentences.some((sentence) => {
    if (isQuestion.test(sentence) || asksFirst.test(sentence)) return true
    const said = read(sentence)
    const first = said.words.slice(0, 2).findIndex((_, at) => readsAt(said, at) || isIn(said, at, taskVerbs))
    return first === 0 || (first === 1 && wordAt(said, 0) === "please")
  })
}
const taskVerbs = wordSet(...lists.tasks)

/** Words of somebody who speaks for himself. */
const firstPerson =
  /\b(?:i|i['’](?:m|d|ll|ve)|my|mine|me|myself|ich|mir|mich|mein(?:e[nmrs]?)?|yo|mi|mis|je|j['’]|moi|mon|ma|mes|eu|meu|minha|ik|mijn|io|mio|mia)\b|我|私|僕|俺/

/** Does somebody speak for himself in a paragraph? */
export const speaksForSelf = (paragraph: string): boolean => firstPerson.test(paragraph)

/** Words with which people lead into their own points. */
const ownLead = new RegExp(`\\b${anyOf(lists.ownLeads)}\\b`)

/** "On this project you're read-only": a lead about the reader hands nothing over. */
const ofReader = /^\W*(?:(?:on|in|for|with|as) [^,:]{2,30},? )?you(?:['’]re| are)\b/

const adopts = /\b(?:mine|that['’]?s me|that is me|which is me|so do i)\b/
const ofThem = /^\W*(?:their|his|her)\s/
const ownPossessive = /^(?:team|company|user|today|tomorrow|let|it|that|what|here|there)['’]s$/

/** Is somebody else named as the owner or the speaker of what follows? */
function isOfOthers(said: Said): boolean {
  // "My editor's condition, and now mine": the speaker makes it his own.
  if (adopts.test(said.text)) return false
  if (ofThem.test(said.text)) return true
  const first = /^(?:my|our|the|an?)$/.test(wordAt(said, 0)) ? 1 : 0
  if ([first, first + 1].some((at) => possessive.test(wordAt(said, at)) && !ownPossessive.test(wordAt(said, at))))
    return true
  return said.words.some((_, at) => {
    if (at === 0 || !isIn(said, at, tellVerbs)) return false
    const subject = isIn(said, at - 1, adverbs) ? at - 2 : at - 1
    return subject >= 0 && !isIn(said, subject, notOthers)
  })
}

/** A lead before a colon that points at a text or says how it was come by. */
const leadsIn = any(
  "\\b(?:context|message|mail|note|text|copied|pasted|quote|news|update|ticket|comment) from [^.?!]{2,40}$|^from (?:the|his|her|their|my|our) [^.?!]{2,40}$",
  "^(?!\\W*(?:this|that|these|those|it)(?: one)? (?:is|are|goes|has|must|will)\\b).*\\b(?:the following|below|underneath)\\b[^.?!]{0,30}$",
  "\\b(?:i|we) (?:just )?(?:got|get|received|see|found|scanned|copied|heard)\\b[^.?!]{0,60}$",
  "(?:邮件|文字|文章|内容|消息|如下|下面|以下|写道|说|[发写转]来?的|メール|письмо|сообщение|текст|написал[аи]?|isto|abaixo|e-mail|correo|mensaje|testo|questo)\\s*$",
)
/** A word for a text and nothing else; before a sentence in the same line many of them are the topics of people's own points. */
const plainLabel =
  /^(?:e-?mail|mail|letter|message|quote|quoted|paste|pasted|forwarded|fwd|citation|transcript|article|original|ticket|slack|whatsapp|discord|teams|text|error|issue)$/
const labelOpeners = wordSet("the a an his her their original full whole incoming customer client")
const labelSource = /^(?:from|of|by|in|on|text|follows)$/

function isLabel(said: Said, isLast: boolean): boolean {
  let at = 0
  while (at < 2 && isIn(said, at, labelOpeners) && said.words.length > at + 1) at++
  const isNamed =
    plainLabel.test(wordAt(said, at)) ||
    (isLast && (isIn(said, at, textNouns) || /^(?:bug|source|context|data|file)$/.test(wordAt(said, at))))
  return isNamed && (at === said.words.length - 1 || labelSource.test(wordAt(said, at + 1)))
}

/** What may stand behind a word for saying: to whom, when, where. */
const tellsTail =
  /^\s*(?:(?:to )?(?:me|us|him|her|them|back|this|that|earlier|yesterday|today|on [^.?!]{2,30}|in [^.?!]{2,30}))?(?:,? [^\s.?!]{3,12})?\s*$/

/** What happens rather than is said: "the page just fired: …" goes on in the speaker's own words. */
const happenVerbs = wordSet(...lists.happening)

/**
 * A word for saying: a known one, or any verb in the past behind who did it at the end of the lead ("someone tweeted:"). In "he left three
 * alerts unworked: …" it says how things are.
 */
const tellsAt = (said: Said, at: number): boolean =>
  isIn(said, at, tellVerbs) ||
  (at > 0 &&
    at <= maxSubject &&
    at === said.words.length - 1 &&
    /^(?!un)[a-z]{3,}ed$/.test(wordAt(said, at)) &&
    !isIn(said, at, happenVerbs))
/** Words that name who says something. */
const maxSubject = 6

function endsTelling(said: Said): boolean {
  const at = said.words.findLastIndex((_, n) => tellsAt(said, n))
  if (at < 0) return false
  const before = isIn(said, at - 1, adverbs) ? at - 2 : at - 1
  if (/^(?:i|we|you|to|ll|i['’]ll)$/.test(wordAt(said, before))) return false
  if (!isIn(said, at, tellVerbs) && isIn(said, before, notOthers)) return false
  return tellsTail.test(said.text.slice(startOf(said, at) + wordAt(said, at).length))
}

const handing = /\bhere(?:'s|’s| is| are| comes)\b(?! (?:are |is )?(?:what|how) (?:i|we|you|to)\b)/
const whatOthers = /\bwhat (?!i\b|we\b|you\b|to\b)/
const naming = /^(?:an?|the|this)$/
const namingLast = /^(?:an?|the|this|my|our)$/
const noName = /^\W*(?:in|for|when|if|on|before|after|with|to)\b/
const namingTail = /^(?:was|is|were|said|shows?|are)$/

/** Is the lead a name for a text: "the mail", "our old wiki page", "the error message was"? */
function namesText(said: Said, isLast: boolean): boolean {
  const end = namingTail.test(wordAt(said, said.words.length - 1)) ? said.words.length - 2 : said.words.length - 1
  if (!isTextOrData(said, end)) return false
  if (end < said.words.length - 1 && isText(said, end)) return true
  return (
    !noName.test(said.text) &&
    (isLast ? [1, 2, 3] : [1, 2]).some((back) => (isLast ? namingLast : naming).test(wordAt(said, end - back)))
  )
}

const maxAsking = 60
/** "Handbook p. 8": a place in a text. */
const cites =
  /(?:\b(?:pp?|s|art|sec)\.|§|\b(?:pages?|section|chapter|article|clause|paragraph|verse|seite|kapitel|articulo|pagina|chapitre))\s?\d[\d.-]*\s*$/
const hasDigit = /\d/
const namesThis =
  /^(?!\W*(?:this|that|these|those|it)(?: one)? (?:is|are|goes|has|must|will)\b).*\b(?:this|these)\b[^.?!]{0,30}$/

/** "Check this thing of his:" hands a text over, and "not about this file alone:" does not: it asks for nothing and names no text. */
function handsThis(said: Said): boolean {
  if (!said.text.includes("this") && !said.text.includes("these")) return false
  if (!namesThis.test(said.text)) return false
  if (pointsAhead.test(said.text) || asksFirst.test(said.text)) return true
  const isThis = (at: number): boolean => /^(?:this|these)$/.test(wordAt(said, at))
  return (
    [0, 1, 2, 3].some((at) => readsAt(said, at) || handlesAt(said, at) || isIn(said, at, taskVerbs)) ||
    said.words.some((_, at) => isTextOrData(said, at) && (isThis(at - 1) || isThis(at - 2)))
  )
}

function leads(said: Said, isLast: boolean): boolean {
  if (handsThis(said) || leadsIn.test(said.text) || isLabel(said, isLast) || endsTelling(said)) return true
  const asked = said.words.findLastIndex((_, at) => readsAt(said, at))
  if (asked >= 0 && said.text.length - startOf(said, asked) <= maxAsking + wordAt(said, asked).length) return true
  if (handsText(said)) return true
  if (handing.test(said.text) && (whatOthers.test(said.text) || said.words.some((_, at) => isTextOrData(said, at))))
    return true
  return namesText(said, isLast)
}

const colon = /[:：](?=\s|$)|：/g
/** Colons of one line that are looked at. */
const maxColons = 3

/** Where in a line the words end that introduce a paste with a colon. `behind` is the line behind it. */
export function colonCut(line: string, behind: string | undefined): number | undefined {
  if (!line.includes(":") && !line.includes("：")) return undefined
  colon.lastIndex = 0
  for (let found = 0; found < maxColons; found++) {
    const index = colon.exec(line)?.index
    if (index === undefined) return undefined
    const rest = line.slice(index + 1)
    const isLast = rest.trim() === ""
    if (introduces(line.slice(0, index), isLast ? behind : rest, isLast)) return index + 1
  }
  return undefined
}

/** Characters before a colon that are its lead. */
const maxLead = 200

function introduces(lead: string, behind: string | undefined, isLast: boolean): boolean {
  const whole = lead.slice(-maxLead)
  if (hasDigit.test(whole) && cites.test(whole) && !noName.test(whole) && !ownLead.test(whole)) return true
  const stop = Math.max(lead.lastIndexOf("."), lead.lastIndexOf("?"), lead.lastIndexOf("!"))
  const said = read(lead.slice(stop + 1).slice(-maxLead))
  const isOthers = isOfOthers(said)
  if (!isOthers && (ownLead.test(said.text) || ofReader.test(said.text) || adopts.test(said.text))) return false
  if (isOthers && (ofThem.test(said.text) || possessive.test(wordAt(said, 0)) || possessive.test(wordAt(said, 1))))
    return true
  if (!leads(said, isLast)) return false
  // A list under a word for texts is the author's: "Commit message:" and how it is to be.
  return (
    behind === undefined || isOthers || !listed.test(behind) || pointsAt.test(said.text) || asksFirst.test(said.text)
  )
}
const listed = /^\s*(?:[-*+•]|\d{1,2}[.)])\s/
const pointsAt = /\b(?:this|these|we got|i got|received|found|below)\b/
