import { type LazyPattern, lazyPattern } from "../language/lazy.ts"
import { letters } from "../language/letters.ts"
import { wordSet } from "../language/word-forms.ts"
import { anyOf } from "../language/word-lists.ts"
import { binds, clitic, isIn, type ParsedSentence, parse, startOf, wordAt } from "./parsed-sentence.ts"
import lists from "./paste-words.json" with { type: "json" }
import { asksForText } from "./rewording.ts"

/**
 * Recognizes the words with which a user introduces somebody else's text: "what does she mean?", "here is the ticket:", "is the above
 * true?". They are matched word by word, with sets instead of long alternations, to keep the compiled patterns short. All input is in lower
 * case and of bounded length; the long lists are in paste-words.json. The file is long because all forms of introduction, in all languages,
 * belong together.
 */

/** Nouns for what is read or written, and can be pasted, in the singular. */
const textNouns = wordSet(...lists.texts)
/** Second words of compound nouns: "stack trace", "file contents". */
const pairedNouns = wordSet("trace contents content")
/** Nouns for data that is introduced in the same way. */
const dataNouns = wordSet(...lists.data)

/** Words for what people want done with a text; some need a second word. */
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
/** Verbs that apply to other things as well. */
const handleVerbs = wordSet("answer address read check review debug format convert turn put")
const makeVerbs = wordSet("make create write draft")
const makesFrom = wordSet("from of on to")

const demonstratives = wordSet(
  "this these below following underneath dies diese diesen dieses diesem esto este ceci cela",
)
const pointers = wordSet("this these that those following attached")
const determiners = wordSet("this these that those his her their my the each following attached")

/** Words before a verb of saying that do not name somebody else: the speaker, the reader and others. */
const notOthers = wordSet(...lists.notOthers)
const tellVerbs = wordSet(...lists.telling)
const adverbs = wordSet("just also really already")

const singular = (noun: string): string => (noun.endsWith("s") ? noun.slice(0, -1) : noun)
const isText = (parsed: ParsedSentence, at: number): boolean =>
  isIn(parsed, at, textNouns) ||
  textNouns.has(singular(wordAt(parsed, at))) ||
  (isIn(parsed, at, pairedNouns) && /^(?:stack|file)$/.test(wordAt(parsed, at - 1)))
const isTextOrData = (parsed: ParsedSentence, at: number): boolean => isText(parsed, at) || isIn(parsed, at, dataNouns)

const readsAt = (parsed: ParsedSentence, at: number): boolean =>
  isIn(parsed, at, readVerbs) ||
  (wordAt(parsed, at).includes("-") && readVerbs.has(wordAt(parsed, at).replace(clitic, ""))) ||
  pairedVerbs.get(wordAt(parsed, at))?.has(wordAt(parsed, at + 1)) === true

/** True for a verb that applies to texts among other things, or that makes one thing from another. */
const handlesAt = (parsed: ParsedSentence, at: number): boolean =>
  isIn(parsed, at, handleVerbs) ||
  (isIn(parsed, at, makeVerbs) && parsed.words.slice(at + 1, at + 9).some((next) => makesFrom.has(next)))

/** Maximum number of words between a verb and its object. */
const maxReach = 12
const shortReach = 8

/** True if a pronoun is followed by nothing or by a word: a number or a quotation would be what it refers to. */
const standsAlone = (parsed: ParsedSentence, at: number): boolean =>
  behindPronoun.test(parsed.text.slice(startOf(parsed, at) + wordAt(parsed, at).length))
const behindPronoun = new RegExp(`^,?\\s*[.?!:：]?\\s*(?:$|[${letters}])`)

/** All verbs of `readsAt` and `handlesAt`: one lookup tells that most words are none. */
const workVerbs: ReadonlySet<string> = new Set([...readVerbs, ...pairedVerbs.keys(), ...handleVerbs, ...makeVerbs])

/** True if a sentence asks for something to be done with a text that it names or refers to with a pronoun. */
function asksFor(parsed: ParsedSentence): boolean {
  for (const [at, verb] of parsed.words.entries()) {
    if (!workVerbs.has(verb) && !verb.includes("-")) continue
    const isRead = readsAt(parsed, at)
    if (!isRead && !handlesAt(parsed, at)) continue
    for (let next = at + 1; next < parsed.words.length && next <= at + maxReach; next++) {
      const isPronoun =
        isIn(parsed, next, demonstratives) ||
        (isRead && (wordAt(parsed, next) === "that" || wordAt(parsed, next) === "it"))
      if (isPronoun && (isRead || next <= at + shortReach) && standsAlone(parsed, next)) return true
      if (
        next <= at + shortReach &&
        isIn(parsed, next, determiners) &&
        (isText(parsed, next + 1) || isText(parsed, next + 2)) &&
        !(wordAt(parsed, at) === "put" && isIn(parsed, next + 1, inSystem))
      )
        return true
    }
  }
  return false
}

/** Items that stay in a system: "Put the ticket to In Progress" moves it there and introduces no text. */
const inSystem = wordSet("ticket issue task story card")

/** True for a question about a text: "Is this clause fair?" */
const asksAboutText = (parsed: ParsedSentence): boolean =>
  hasQuestionMark(parsed.text) &&
  parsed.words.some((_, at) => isIn(parsed, at, pointers) && (isText(parsed, at + 1) || isText(parsed, at + 2)))

const possessive = /^(?!(?:today|it|that|what|here|there|let|who|he|she)['’]s)[^'’]{2,24}['’]s$/

/** True if a sentence ends with somebody's text: "Anna's last mail". */
function namesTextOfOthers(parsed: ParsedSentence): boolean {
  const last = parsed.words.length - 1
  return isText(parsed, last) && [1, 2, 3].some((back) => possessive.test(wordAt(parsed, last - back)))
}

/** True if a sentence presents a text: "This is the ticket", "here's my sister's mail". */
function handsText(parsed: ParsedSentence): boolean {
  if (!presents.test(parsed.text)) return false
  return parsed.words.some((first, at) => {
    const isShort = first === "here's" || first === "here’s" || first === "this's"
    const isLong = presenting.has(first) && /^(?:is|are)$/.test(wordAt(parsed, at + 1))
    if (!isShort && !isLong) return false
    const from = at + (isShort ? 1 : 2)
    if (!/^(?:the|an?|my|our)$/.test(wordAt(parsed, from)) && !possessive.test(wordAt(parsed, from))) return false
    return [1, 2, 3, 4].some((next) => isText(parsed, from + next) || isOwned(parsed, from, from + next))
  })
}

const presenting = wordSet("here this these")
const presents = /here|this|these/

/** True for something definite that belongs to somebody who is neither the speaker nor the reader: "This is the style file of a rival". */
const isOwned = (parsed: ParsedSentence, from: number, at: number): boolean =>
  wordAt(parsed, from) === "the" &&
  /^(?:of|from|by)$/.test(wordAt(parsed, at)) &&
  /^(?:an?|the|his|her|their|another|other|some|someone)$/.test(wordAt(parsed, at + 1)) &&
  !ownLead.test(parsed.text)

const wantVerbs = wordSet(...lists.wanting)
const asking = wordSet("do does did is are would should")

/** True for a question about what others want: "What does she want?" */
const asksWhatOthersWant = (parsed: ParsedSentence): boolean =>
  parsed.text.includes("what") &&
  parsed.words.some(
    (first, at) =>
      first === "what" &&
      isIn(parsed, at + 1, asking) &&
      !isIn(parsed, at + 2, notOthers) &&
      [3, 4, 5].some((next) => isIn(parsed, at + next, wantVerbs)),
  )

const tellsWhom = wordSet("me us this back that")

/** True if somebody else says something: "What the vendor wrote", or "my sister just sent me" at the end. */
const othersTell = (parsed: ParsedSentence): boolean =>
  parsed.words.some((_, at) => {
    if (!isIn(parsed, at, tellVerbs) || at === 0 || (wordAt(parsed, at) === "told" && wordAt(parsed, at + 1) === "us"))
      return false
    const subject = isIn(parsed, at - 1, adverbs) ? at - 2 : at - 1
    if (subject < 0 || isIn(parsed, subject, notOthers)) return false
    if ([1, 2, 3].some((back) => wordAt(parsed, subject - back) === "what")) return true
    const end = isIn(parsed, at + 1, tellsWhom) ? at + 2 : at + 1
    return end >= parsed.words.length
  })

/** Words that a sentence about somebody else starts with, and the maximum number of its words. */
const ofSomebody = wordSet(...lists.ofSomebody)
const maxTelling = 6

/** True if a sentence only says that somebody else said something, so that the next one is what was said. */
export function onlyTells(sentence: string): boolean {
  const clause = /(?:^|(?:,| and| but| und| y| et) )([^,]*)$/.exec(sentence)?.[1] ?? ""
  const parsed = parse(clause.replace(/^.* (?:and|but) /, ""))
  if (parsed.words.length > maxTelling || !isIn(parsed, 0, ofSomebody)) return false
  return othersTell(parsed) || toldElsewhere.test(parsed.text)
}

const anyPattern = (...patterns: readonly string[]): LazyPattern => lazyPattern(patterns.join("|"))

/** Patterns for words that announce a text whatever else the sentence says: it was received, is quoted, or stands below. */
const acquired = anyPattern(
  "\\b(?:got|received|found|saw|came across|copied|grabbed) (?:this|these|the following)\\b",
  "\\b(?:pasted|pasting|copy-?pasted|forwarding|forwarded|quoting)\\b|\\bpaste of\\b",
  "\\b(?:this|these|it|that)(?:'s|’s| is| are| was)? (?:taken |copied |quoted )?from (?:the|an?|my|our|his|her|their)\\b|^\\W*from (?:the|our|my|his|her|their) [^.?!\\n]{2,60}$",
)
const announced = anyPattern(
  "^[^.!\\n]{0,60}\\b(?:reword|rephrase|paraphrase|proof-?read|translate|tl;? ?dr)\\b[^.!\\n]{0,50}$",
  "\\b(?:what|how) (?:should|do|would|could|can) (?:i|we|you) (?:answer|reply|respond|react|say|tell)\\b",
  "\\bread (?:this|these|the following)\\b|\\b(?:got|received|found|saw|read|copied|grabbed) it (?:from|on|in)\\b",
  "\\b(?:this|here)(?:'s| is) (?:their|his|her|what (?!i\\b|we\\b|you\\b|to\\b))",
  "\\b(?:see|as|quoted|copied|pasted|shown|text|mail|message|listed|reply|answer|review|letter|post|ticket) below\\b|\\bbelow[.:：]?\\s*$",
)
/** Same, if the sentence has a question mark. */
const announcedByQuestion = anyPattern(
  "\\b(?:is|are|was|were) (?:this|that|these|it) (?:really |actually |even |all )?(?:ok|okay|correct|true|right|legit|legal|fine|spam|a scam|phishing|normal|fair|good|safe|accurate|wrong|a joke)\\b[^.!\\n]{0,60}\\?",
  "\\b(?:do|should|must|can|could) (?:we|i) (?:have to |need to )?(?:react|reply|answer|respond|ignore|trust|agree|accept|sign|use (?:it|this))\\b[^.!\\n]{0,60}\\?",
)
/** Same in other languages: the text is asked about, or what somebody means by it. */
const announcedElsewhere = anyPattern(
  "^\\W*(?:voici|voilà|hier (?:ist|sind|kommt|is|zijn)|das (?:ist|sind)|aquí (?:está|están|tienes|va|te)|aqui (?:está|estão|vai)|eis|ecco|dit is) (?:le|la|les|l['’]|der|die|das|ein|eine|el|los|las|un|una|o|a|os|as|um|uma|il|lo|i|gli|de|het|een|du|ce)\\b",
  "\\b(?:ist|sind|war|stimmt|heißt|bedeutet|gilt) (?:das|dies|es)\\b[^.!\\n]{0,60}\\?|\\bhältst du (?:davon|von)\\b|\\bwas (?:will|wollen|meint|meinen) (?!ich|wir|du)",
  "\\bc['’]est [^.!\\n]{2,40}\\?|\\b(?:veut|veulent) dire\\b|\\bqu['’]en pens|\\bpenses?-(?:tu|vous)\\b",
  "\\bquieren? decir\\b|\\b(?:qué|que) (?:opinas|te parece)\\b|\\b(?:es|está) (?:correcto|verdad|legal|normal|bien)\\b[^.!\\n]{0,40}\\?|\\bquer(?:em)? dizer\\b|\\bisso (?:é|está)\\b[^.!\\n]{0,40}\\?|\\bvuol dire\\b|\\bcosa ne pensi\\b|\\b(?:è|sono) (?:giusto|corretto|vero|legale|normale)\\b",
  "(?:总结|翻译|解释|回复|看看|看一下|分析|润色|改写).{0,12}(?:这|下面|以下)|(?:下面|以下|这[封段篇条个份]).{0,12}(?:邮件|文字|文章|内容|消息|评论|合同|日志|报错|通知)",
  "(?:これ|以下|次の|この(?:メール|文章|文)).{0,20}(?:要約|翻訳|訳|説明|返信|見て|どう)|(?:переведи|перескажи|суммируй|объясни|ответь на|посмотри).{0,30}(?:это|этот|эту|ниже)|(?:이|다음|아래).{0,12}(?:요약|번역|설명|답장)",
)

const hasQuestionMark = (text: string): boolean => text.includes("?") || text.includes("？")
const isAnnounced = (text: string): boolean =>
  announced.test(text) || (text.includes("?") && announcedByQuestion.test(text))

const handsOver = (parsed: ParsedSentence): boolean =>
  isAnnounced(parsed.text) ||
  announcedElsewhere.test(parsed.text) ||
  asksWhatOthersWant(parsed) ||
  asksFor(parsed) ||
  othersTell(parsed) ||
  asksAboutText(parsed) ||
  namesTextOfOthers(parsed) ||
  handsText(parsed)

/** Matches a question, which has a question mark, about what is at hand, or one of one or two words: "thoughts?" */
const asksAbout = anyPattern(
  "\\b(?:your (?:take|opinion|view|thoughts)|any thoughts|opinions?)\\b[^.!\\n]{0,40}[?？]\\s*$",
  "\\b(?:clause|section|article|paragraph|item|line) \\d[^.!\\n]{0,80}[?？]\\s*$",
  "\\b(?:this|these|he|she|they|er|sie|damit|ils|elle|esto)\\b[^.!\\n]{0,80}[?？]\\s*$",
  `^\\W*(?:[${letters}]{2,16}\\s){0,1}[${letters}]{2,16}[?？]+\\s*$`,
)
/** Matches work on what was mentioned before, which a question can ask for too. */
const works =
  /\b(?:fix|implement|add|change|update|refactor|run|deploy|commit|push|build|remove|delete|rename|move|ready|start|begin|continue|merge|install|create)\b/

/**
 * Matches a pronoun for something not mentioned before, so that it must follow: "Scale this to eight people", "what's the rhyme scheme
 * here".
 */
const pointsAhead =
  /\b(?:this|these)(?=\s*(?:$|[.,;:!?]|(?:to|for|in|into|as|with|from|at|by|and|or|but|please|is|are|was|were|means?|says?|looks?|sounds?|so|shorter|better|legal|ok|okay|right|true|up|down|out|over)\b))/
const asksHere = /\b(?:here|this one|these ones)\s*[?？]?\s*$/
/** Matches verbs for what the speaker wants remembered or done in a certain way: what follows says how. */
const ownVerb =
  /\b(?:do|does|doing|done|remember|keep|note|pin|save|follow|observe|respect|obey|apply|stick|like|mind|understand|know|consider|work|start|begin|go|use)\b/

/** Matches a sentence that ends by pointing at what follows ("Solve this"), unless `keeps` finds a verb of remembering or following. */
const endsWithThis = /\b(?:this|these|below|underneath|the following)\s*[.!:]?\s*$/
const keeps =
  /\b(?:remember|keep|note|pin|save|follow|observe|respect|obey|apply|use|do|like|mind|stick|try|about|all|for|after|before|with|on)\b/

/** Matches a request for a reply; the letter to reply to is the next paragraph if that is long enough. */
const repliesTo = anyPattern(
  "\\b(?:draft|write|compose|prepare|suggest)\\b[^.?!\\n]{0,30}\\b(?:reply|answer|response)\\b(?![.]\\w)",
)
const minLetter = 160

/** In a question such words are what is asked about. */
const isQuestion = /[?？]\s*$/

const sentenceEnd = /(?<=[.?!])\s+/

/** "Here goes:" also introduces the speaker's own rules, unless the paragraph mentions pasting. */
const handsOverAtEnd = /\bhere (?:goes|it is|it comes|they are|you go)\s*[:.!]?\s*$/

/** True if a line asks for something to be done with "this paragraph", or ends by pointing at the next line. */
export const asksForThis = (line: string): boolean => {
  if (binds.test(line)) return false
  const parsed = parse(line)
  if (endsWithThis.test(line) && parsed.words.length <= shortReach && !keeps.test(line)) return true
  const named = parsed.words.findIndex((_, at) => isIn(parsed, at, demonstratives) && isText(parsed, at + 1))
  return parsed.words.some((_, at) => at < named && at >= named - shortReach && readsAt(parsed, at))
}

/** True if a paragraph announces somebody else's text. `ahead` is the number of characters that follow it. */
export function announcesPaste(paragraph: string, ahead: number): boolean {
  if (ahead === 0) return false
  if (handsOverAtEnd.test(paragraph) && (!ownLead.test(paragraph) || /\bpast(?:e|es|ed|ing)\b/.test(paragraph)))
    return true
  return paragraph.split(sentenceEnd).some((sentence) => {
    if (acquired.test(sentence)) return true
    if (binds.test(sentence) && !isQuestion.test(sentence)) return false
    const parsed = parse(sentence)
    if (
      asksForText(sentence) ||
      handsOver(parsed) ||
      (hasQuestionMark(sentence) && asksAbout.test(sentence) && !works.test(sentence))
    )
      return true
    if (pointsAhead.test(sentence) && !ownVerb.test(sentence) && parsed.words.length <= maxReach) return true
    if (asksFirst.test(sentence) && asksHere.test(sentence) && !works.test(sentence)) return true
    if (endsWithThis.test(sentence) && parsed.words.length <= maxReach && !keeps.test(sentence)) return true
    return ahead > minLetter && repliesTo.test(sentence)
  })
}

/** True if a paragraph points at the text behind it, so that it is about no other. */
export const pointsAtNext = (paragraph: string): boolean =>
  /[:：]\s*$/.test(paragraph) ||
  endsWithThis.test(paragraph) ||
  handsOverAtEnd.test(paragraph) ||
  paragraph
    .split(sentenceEnd)
    .some((sentence) => acquired.test(sentence) || asksForText(sentence) || handsText(parse(sentence)))

/** Same, also for one that is incomplete without the text behind it: "Can you summarise this?", "Read the letter." */
export const needsNext = (paragraph: string): boolean =>
  pointsAtNext(paragraph) ||
  pointsAhead.test(paragraph) ||
  paragraph
    .split(sentenceEnd)
    .map(parse)
    .some((parsed) => isText(parsed, parsed.words.length - 1) && asksFor(parsed))

/** Matches words that point back at a text: the paragraph is about those before it. */
const pointsBack = anyPattern(
  "\\b(?:the )?above\\b|^\\W*\\^|\\b(?:that|this) (?:is|was) what\\b|\\b(?:that|this)(?:'s|’s) what (?!i\\b|we\\b)",
  "\\b(?:oben|arriba|ci-dessus|acima|sopra|hierboven)\\b|上面|以上|上記",
)
/** Matches questions whether the reader has understood, which are about the speaker's own words. */
const asksForNod =
  /\b(?:clear|understood|understand|ok|okay|agreed|got (?:it|that)|possible|work for you|make sense|makes sense|alles klar|verstanden|claro|entendido|d'accord|compris)\b/
/** Matches a question by its first word, because many are typed without a question mark. */
const asksFirst =
  /^\W*(?:(?:and|so|but|ok|hey|now) )?(?:what|who|whose|which|how|why|is|are|was|were|does|do|did|can|could|should|would)\b/
const pronoun = /\b(?:this|that|these|those|it|they|he|she|him|her|them|here)\b/

/** Maximum length of a paragraph that is about a text; a longer one says something of its own. */
const maxFrame = 200

/** True if a definite noun for a text follows: in "Turn the minutes into a list" the minutes are the text in the message. */
const namesTextBehind = (parsed: ParsedSentence, at: number): boolean =>
  [1, 2].some((next) => isIn(parsed, at + next, determiners) && isText(parsed, at + next + 1))

/** True if the last paragraph of a message asks about the paragraphs before it, or for something to be done with them. */
export function asksAboutEarlier(paragraph: string): boolean {
  if (paragraph.length > maxFrame) {
    const [first = ""] = paragraph.split(sentenceEnd)
    return first.length <= maxFrame && pointsBack.test(first) && asksAboutEarlier(first)
  }
  return paragraph.split(sentenceEnd).some((sentence) => {
    if (pointsBack.test(sentence)) return true
    if (asksForNod.test(sentence) || (binds.test(sentence) && !isQuestion.test(sentence))) return false
    const parsed = parse(sentence)
    const asks = isQuestion.test(sentence) || asksFirst.test(sentence)
    if (asks && (pronoun.test(sentence) || isAnnounced(sentence)) && !works.test(sentence)) return true
    if (parsed.words.length > maxReach) return false
    return parsed.words
      .slice(0, 2)
      .some((_, at) => readsAt(parsed, at) || (handlesAt(parsed, at) && namesTextBehind(parsed, at)))
  })
}

/** True if a paragraph asks for something or about something, and so may be about the text beside it. */
export function isRequest(paragraph: string): boolean {
  if (paragraph.length > maxFrame) return false
  const sentences = paragraph.split(sentenceEnd)
  // A question comes first: it is about the text beside it, whatever follows.
  if (isQuestion.test(sentences[0] ?? "")) return true
  if (binds.test(paragraph)) return false
  return sentences.some((sentence) => {
    if (isQuestion.test(sentence) || asksFirst.test(sentence)) return true
    const parsed = parse(sentence)
    const first = parsed.words.slice(0, 2).findIndex((_, at) => readsAt(parsed, at) || isIn(parsed, at, taskVerbs))
    return first === 0 || (first === 1 && wordAt(parsed, 0) === "please")
  })
}
const taskVerbs = wordSet(...lists.tasks)

/** Matches words of the first person. */
const firstPerson =
  /\b(?:i|i['’](?:m|d|ll|ve)|my|mine|me|myself|ich|mir|mich|mein(?:e[nmrs]?)?|yo|mi|mis|je|j['’]|moi|mon|ma|mes|eu|meu|minha|ik|mijn|io|mio|mia)\b|我|私|僕|俺/

/** True if somebody speaks in the first person in a paragraph. */
export const speaksForSelf = (paragraph: string): boolean => firstPerson.test(paragraph)

/** Matches words with which people introduce their own points. */
const ownLead = new RegExp(`\\b${anyOf(lists.ownLeads)}\\b`)

/** Matches a lead about the reader, which introduces no text: "On this project you're read-only". */
const ofReader = /^\W*(?:(?:on|in|for|with|as) [^,:]{2,30},? )?you(?:['’]re| are)\b/

const adopts = /\b(?:mine|that['’]?s me|that is me|which is me|so do i)\b/
const ofThem = /^\W*(?:their|his|her)\s/
const ownPossessive = /^(?:team|company|user|today|tomorrow|let|it|that|what|here|there)['’]s$/

/** True if somebody else is named as the owner or the speaker of what follows. */
function isOfOthers(parsed: ParsedSentence): boolean {
  // "My editor's condition, and now mine": the speaker adopts it.
  if (adopts.test(parsed.text)) return false
  if (ofThem.test(parsed.text)) return true
  const first = /^(?:my|our|the|an?)$/.test(wordAt(parsed, 0)) ? 1 : 0
  if ([first, first + 1].some((at) => possessive.test(wordAt(parsed, at)) && !ownPossessive.test(wordAt(parsed, at))))
    return true
  return parsed.words.some((_, at) => {
    if (at === 0 || !isIn(parsed, at, tellVerbs)) return false
    const subject = isIn(parsed, at - 1, adverbs) ? at - 2 : at - 1
    return subject >= 0 && !isIn(parsed, subject, notOthers)
  })
}

/** What somebody has said or written, in a perfect tense. */
const toldForm = `\\b(?:hat|haben|hatte|hatten|ha|han|(?:[mt]['’])?a|ont|heeft|hebben) (?:[^.?!]{1,60} )?${anyOf(lists.toldForms)}\\s*$`
const toldElsewhere = anyPattern(toldForm)

/** Patterns for a lead before a colon that points at a text or says how the speaker got it. */
const leadsIn = anyPattern(
  "\\b(?:context|message|mail|note|text|copied|pasted|quote|news|update|ticket|comment) from [^.?!]{2,40}$|^from (?:the|his|her|their|my|our) [^.?!]{2,40}$",
  "^(?!\\W*(?:this|that|these|those|it)(?: one)? (?:is|are|goes|has|must|will)\\b).*\\b(?:the following|below|underneath)\\b[^.?!]{0,30}$",
  "\\b(?:i|we) (?:just )?(?:got|get|received|see|found|scanned|copied|heard)\\b[^.?!]{0,60}$",
  toldForm,
  `\\b(?:recibí|recibimos|reçue?s?|ricevut[oaie]|recebi|ontvangen|bekommen|erhalten)\\s*$`,
  "(?:邮件|文字|文章|内容|消息|如下|下面|以下|写道|说|[发写转]来?的|メール|письмо|сообщение|текст|написал[аи]?|isto|abaixo|e-mail|correo|mensaje|testo|questo)\\s*$",
)
/**
 * Matches a label that is only a word for a text. Of other such nouns, many are topics of people's own points if text follows on the same
 * line.
 */
const plainLabel =
  /^(?:e-?mail|mail|letter|message|quote|quoted|paste|pasted|forwarded|fwd|citation|transcript|article|original|ticket|slack|whatsapp|discord|teams|text|error|issue)$/
const labelOpeners = wordSet("the a an his her their original full whole incoming customer client")
const labelSource = /^(?:from|of|by|in|on|text|follows)$/

function isLabel(parsed: ParsedSentence, isLast: boolean): boolean {
  let at = 0
  while (at < 2 && isIn(parsed, at, labelOpeners) && parsed.words.length > at + 1) at++
  const isNamed =
    plainLabel.test(wordAt(parsed, at)) ||
    (isLast && (isIn(parsed, at, textNouns) || /^(?:bug|source|context|contents?|data|file)$/.test(wordAt(parsed, at))))
  return isNamed && (at === parsed.words.length - 1 || labelSource.test(wordAt(parsed, at + 1)))
}

/** Matches what may follow a verb of saying: to whom, when, where. */
const tellsTail =
  /^\s*(?:(?:to )?(?:me|us|him|her|them|back|this|that|earlier|yesterday|today|on [^.?!]{2,30}|in [^.?!]{2,30}))?(?:,? [^\s.?!]{3,12})?\s*$/

/** Verbs for what happens and is not said: after "the page just fired: …" the speaker continues in his own words. */
const happenVerbs = wordSet(...lists.happening)

/**
 * True for a verb of saying: a known one, or a regular past form after a subject at the end of the lead ("someone tweeted:"). In "he left
 * three alerts unworked: …" it describes a state.
 */
const tellsAt = (parsed: ParsedSentence, at: number): boolean =>
  isIn(parsed, at, tellVerbs) ||
  (at > 0 &&
    at <= maxSubject &&
    at === parsed.words.length - 1 &&
    /^(?!un)[a-z]{3,}ed$/.test(wordAt(parsed, at)) &&
    !isIn(parsed, at, happenVerbs))
/** Maximum number of words that name who says something. */
const maxSubject = 6

function endsTelling(parsed: ParsedSentence): boolean {
  const at = parsed.words.findLastIndex((_, n) => tellsAt(parsed, n))
  if (at < 0) return false
  const before = isIn(parsed, at - 1, adverbs) ? at - 2 : at - 1
  if (/^(?:i|we|you|to|ll|i['’]ll)$/.test(wordAt(parsed, before))) return false
  if (!isIn(parsed, at, tellVerbs) && isIn(parsed, before, notOthers)) return false
  return tellsTail.test(parsed.text.slice(startOf(parsed, at) + wordAt(parsed, at).length))
}

const handing = /\bhere(?:'s|’s| is| are| comes)\b(?! (?:are |is )?(?:what|how) (?:i|we|you|to)\b)/
const whatOthers = /\bwhat (?!i\b|we\b|you\b|to\b)/
const naming = /^(?:an?|the|this)$/
const namingLast = /^(?:an?|the|this|my|our)$/
const noName = /^\W*(?:in|for|when|if|on|before|after|with|to)\b/
const namingTail = /^(?:was|is|were|said|shows?|are)$/

/** True if the lead names a text: "the mail", "our old wiki page", "the error message was". */
function namesText(parsed: ParsedSentence, isLast: boolean): boolean {
  const end = namingTail.test(wordAt(parsed, parsed.words.length - 1))
    ? parsed.words.length - 2
    : parsed.words.length - 1
  if (!isTextOrData(parsed, end)) return false
  if (end < parsed.words.length - 1 && isText(parsed, end)) return true
  return (
    !noName.test(parsed.text) &&
    (isLast ? [1, 2, 3] : [1, 2]).some((back) => (isLast ? namingLast : naming).test(wordAt(parsed, end - back)))
  )
}

const maxAsking = 60
/** Matches a reference to a place in a text: "Handbook p. 8". */
const cites =
  /(?:\b(?:pp?|s|art|sec)\.|§|\b(?:pages?|section|chapter|article|clause|paragraph|verse|seite|kapitel|articulo|pagina|chapitre))\s?\d[\d.-]*\s*$/
const digit = /\d/
const namesThis =
  /^(?!\W*(?:this|that|these|those|it)(?: one)? (?:is|are|goes|has|must|will)\b).*\b(?:this|these)\b[^.?!]{0,30}$/

/**
 * True if a lead with "this" introduces a text: "Check this thing of his:", but not "not about this file alone:", which asks for nothing
 * and names no text.
 */
function handsThis(parsed: ParsedSentence): boolean {
  if (!parsed.text.includes("this") && !parsed.text.includes("these")) return false
  if (!namesThis.test(parsed.text)) return false
  if (pointsAhead.test(parsed.text) || asksFirst.test(parsed.text)) return true
  const isThis = (at: number): boolean => /^(?:this|these)$/.test(wordAt(parsed, at))
  return (
    [0, 1, 2, 3].some((at) => readsAt(parsed, at) || handlesAt(parsed, at) || isIn(parsed, at, taskVerbs)) ||
    parsed.words.some((_, at) => isTextOrData(parsed, at) && (isThis(at - 1) || isThis(at - 2)))
  )
}

function leadIntroducesPaste(parsed: ParsedSentence, isLast: boolean): boolean {
  if (handsThis(parsed) || leadsIn.test(parsed.text) || isLabel(parsed, isLast) || endsTelling(parsed)) return true
  const asked = parsed.words.findLastIndex((_, at) => readsAt(parsed, at))
  if (asked >= 0 && parsed.text.length - startOf(parsed, asked) <= maxAsking + wordAt(parsed, asked).length) return true
  if (handsText(parsed)) return true
  if (
    handing.test(parsed.text) &&
    (whatOthers.test(parsed.text) || parsed.words.some((_, at) => isTextOrData(parsed, at)))
  )
    return true
  return namesText(parsed, isLast)
}

const colon = /[:：](?=\s|$)|：/g
/** Maximum number of colons looked at in one line. */
const maxColons = 3

/** Returns the offset in a line after the colon that introduces a paste. `behind` is the next line. */
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

/** Maximum length in characters of a lead before a colon. */
const maxLead = 200

function introduces(lead: string, behind: string | undefined, isLast: boolean): boolean {
  const whole = lead.slice(-maxLead)
  if (digit.test(whole) && cites.test(whole) && !noName.test(whole) && !ownLead.test(whole)) return true
  const stop = Math.max(lead.lastIndexOf("."), lead.lastIndexOf("?"), lead.lastIndexOf("!"))
  const parsed = parse(lead.slice(stop + 1).slice(-maxLead))
  const isOthers = isOfOthers(parsed)
  if (!isOthers && (ownLead.test(parsed.text) || ofReader.test(parsed.text) || adopts.test(parsed.text))) return false
  if (
    isOthers &&
    (ofThem.test(parsed.text) || possessive.test(wordAt(parsed, 0)) || possessive.test(wordAt(parsed, 1)))
  )
    return true
  if (!leadIntroducesPaste(parsed, isLast)) return false
  // A list after a noun for a text is the author's own: "Commit message:" and what it should be like.
  return (
    behind === undefined ||
    isOthers ||
    !listed.test(behind) ||
    pointsAt.test(parsed.text) ||
    asksFirst.test(parsed.text)
  )
}
const listed = /^\s*(?:[-*+•]|\d{1,2}[.)])\s/
const pointsAt = /\b(?:this|these|we got|i got|received|found|below)\b/
