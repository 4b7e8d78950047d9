import { type LazyPattern, lazyPattern } from "../../language/lazy.ts"
import { cutBehind } from "../../language/sentences.ts"
import { anyOf } from "../../language/word-lists.ts"
import { createRecent } from "../../message/recall.ts"
import { maxReadPerEnd } from "../summary/summary.ts"
import lists from "./cue-words.json" with { type: "json" }

/** Compiles words of the languages in which most people write to agents; for other languages the structure of a text decides. */
const cue = (...list: readonly string[]): LazyPattern => lazyPattern(asOne(list), "iu")

/** The beginning of a word. */
const wordStart = "(?<![\\p{L}\\p{N}])"

/** Latin and Cyrillic words need a boundary on both sides; ideographs match anywhere. */
const words = (...list: readonly string[]): string => `${wordStart}${anyOf(list)}(?![\\p{L}\\p{N}])`

/** Joins patterns so that the beginning of a word is tested once at each position instead of once per list. */
function asOne(list: readonly string[]): string {
  const [wordPatterns, others] = [list.filter(isWord), list.filter((one) => !isWord(one))]
  return [
    ...others,
    ...(wordPatterns.length === 0 ? [] : [wordStart + anyOf(wordPatterns.map((one) => one.slice(wordStart.length)))]),
  ].join("|")
}
const isWord = (one: string): boolean => one.startsWith(wordStart)

/** Times in the future. */
const laterWords = anyOf(lists.later)

/** The user takes something back or corrects it. */
export const corrects = cue(
  "^(?:no|nope|wait|stop|actually|hmm,? no|sorry|nein|halt|non|нет|стой)(?![\\p{L}\\p{N}])(?! problem| worries| thanks| thank)",
  words(...lists.corrects),
  words(...lists.correctsElsewhere),
  ...lists.correctsIdeographic,
)

/** The user says that what was just said is wrong or unwanted. */
export const objects = cue(
  "^\\W*(?:no|nope|nah|nein|non|nee|não|нет|stop|halt|para|wait|not so fast)(?![\\p{L}\\p{N}])(?! problem| worries| thanks| thank| need| more)",
  words(...lists.objects),
)

/** The user wants the work redone, because it rested on something wrong. */
export const redoes = cue(words(...lists.redoes))

/** Something was in progress at the time. */
export const saysUnderWay = cue(words(...lists.underWay))

/** Something was still to be done at the time. */
export const saysNotYet = cue(words(...lists.notYet))

/** What was said before is no longer valid. */
export const voids = cue(words(...lists.voids))

/** The user withdraws a request. */
export const withdraws = cue(`^(?:${anyOf(lists.interjections)}[,.! ]{1,3}){0,3}${anyOf(lists.withdraws)}`)

/** The user stops the work; if more follows, it is only an interruption. */
export const halts = cue("^(?:stop|abort|halt)(?:,? (?:it|that|this|now|please|right there|everything)){0,2}[.!]*$")

/** The user requests something. */
export const requests = cue(words(...lists.requests), words(...lists.requestsElsewhere), ...lists.requestsIdeographic)

/** The assistant makes a decision or gives its reason. */
export const decides = cue(words(...lists.decides), words(...lists.decidesElsewhere), ...lists.decidesIdeographic)

/** The assistant has found out a fact. */
export const finds = cue(words(...lists.finds), words(...lists.findsElsewhere), ...lists.findsIdeographic)

/** The assistant says what it is about to do. */
export const announces = cue(
  words(...lists.announces),
  words(...lists.announcesElsewhere),
  ...lists.announcesIdeographic,
)

/** The assistant says what it will do later, after some event, or that something is left for later. */
export const defers = cue(
  // A verb in the future tense and a time.
  words("(?:i|we)(?:['’]ll| will| shall|(?:['’]m| am|['’]re| are) going to| still (?:have|need) to)") +
    "[^.!?]{0,160}" +
    words(laterWords),
  `${words("once|when|after|until")}[^.!?]{4,160}${words("(?:i|we)(?:['’]ll| will| shall)")}`,
  `${words("as soon as")}[^.!?]{4,160}${words("i|we")}`,
  words(
    ...lists.leftForLater,
    "(?:i|we)(?:['’]ll| will) (?:come|get|circle) back to",
    "(?:still|remains?) (?:outstanding|to be (?:done|fixed|handled|checked|written|tested))",
  ),
  `${words("(?:ich|wir)")}[^.!?]{0,120}${words("sobald|später|morgen|danach|nachher|im anschluss|heute noch")}`,
  `${words("sobald")}[^.!?]{4,160}${words("ich|wir")}`,
  `${words("(?:je|nous|on)")}[^.!?]{0,120}${words("dès que|dès qu['’]\\p{L}+|plus tard|demain|une fois que")}`,
  `${words("dès que|dès qu['’]\\p{L}+|une fois que")}[^.!?]{4,160}${words("je|nous")}`,
  words("\\p{L}{2,}r(?:é|emos|ei|ò|emo)|voy a|vamos a|vou|vamos") +
    "[^.!?]{0,120}" +
    words("en cuanto|tan pronto como|más tarde|mañana|assim que|mais tarde|amanhã|(?:non )?appena|più tardi|domani"),
  words("en cuanto|tan pronto como|assim que|(?:non )?appena") +
    "[^.!?]{4,160}" +
    words("\\p{L}{2,}(?:ré|remos|rei|rò|remo)|voy a|vamos a|vou|vamos"),
  `${words("(?:ik|we|wij)")}[^.!?]{0,120}${words("zodra|later|morgen|daarna")}`,
  `${words("zodra")}[^.!?]{4,160}${words("ik|we|wij")}`,
  "(?:次第|たら|後で|後ほど|のちほど|明日)[^。]{0,60}(?:ます|いたします)",
  "(?:一旦|等[^。]{1,30}(?:后|後|了)|之后|稍后|稍後|明天|到时)[^。]{0,40}(?:我会|我會|我将|我再)",
  "(?:[가-힣]면|나중에|내일|이후에)[^.]{0,40}(?:겠습니다|할게요)",
)

/** The assistant waits for the user without a question mark. */
export const asksUser = cue(words(...lists.asksUser), words(...lists.asksUserElsewhere), ...lists.asksUserIdeographic)

/** Courtesies, which say nothing about the work. */
export const courteous = cue(
  words(...lists.courteous),
  words(...lists.courteousElsewhere),
  ...lists.courteousIdeographic,
  `^(?:${anyOf(lists.greetings)}(?![\\p{L}])|你好|您好|こんにちは|안녕)[^\\d]{0,60}$`,
)

/** Marks that may end a sentence, with closing marks after them; full-width ones end it whatever follows. */
const stops = /[.!?…]["')*”’»`\]]{0,8}|[。！？]["')”’»」』]{0,8}/g
const fullWidthStop = /^[。！？]/

/** Bullets, numbers, headings and emphasis before the first word. */
const leadingMarks = /^(?:[-*•>+|\s]|#{1,6}\s|\d{1,3}[.)]\s|\[[ xX]\]\s)+/

/** A full stop after these ends no sentence: list numbers, single letters, common abbreviations. */
const noEnd =
  /(?:^|[\s(])(?:\d{1,3}(?:\.\d{1,2})?|\p{L}|e\.g|i\.e|z\.B|p\.\s?ex|p\.\s?ej|etc|vs|cf|vgl|bzw|inkl|usw|Mr|Ms|Mrs|Mme|Dr|No|Sra|approx)$/u
/** Nor does one after these, if a number follows. */
const numbered =
  /(?:^|[\s(])(?:arts?|fig|eq|abs|nr|núm|num|nro|sec|ca|pp?|págs?|rev|vol|ver|cap|kap|ch|tel|ext|bd|tab|abb|ziff|ref)$/iu

/** Returns the parts of a text that are read: its beginning and end if it is long. */
const endsOf = (text: string): readonly string[] =>
  text.length <= 2 * maxReadPerEnd ? [text] : [text.slice(0, maxReadPerEnd), text.slice(-maxReadPerEnd)]

/** Removes fenced code from a text. A fence without a language whose content reads like prose is a plan or report and is kept. */
function withoutCode(text: string): string {
  const kept: string[] = []
  let fenced: string[] | undefined
  let isPlain = false
  for (const line of text.split("\n")) {
    const fence = /^\s*```(.*)$/.exec(line)
    if (fence === null) (fenced ?? kept).push(line)
    else if (fenced === undefined) [fenced, isPlain] = [[], plainFence.test(fence[1] ?? "")]
    else {
      if (isPlain && readsAsProse(fenced)) kept.push(...fenced)
      fenced = undefined
    }
  }
  return kept.join("\n")
}

const plainFence = /^(?:text|txt|markdown|md|plaintext)?\s*$/i

/** True if most lines are words in a row without code punctuation at their end. */
function readsAsProse(lines: readonly string[]): boolean {
  const written = lines.filter((line) => /[\p{L}\p{N}]/u.test(line))
  return (
    written.length >= leastProse && written.filter((line) => proseLine.test(line)).length >= written.length * proseShare
  )
}
const leastProse = 3
const proseShare = 0.6
const proseLine = /^[\s\d.)"'“‘•*>#-]{0,12}(?:[\p{L}\p{N}'’“”‘()/-]+[,:]?\s+){4}.*[^{};()=<>]$/u

/**
 * Number of texts whose sentences are cached: each message is read when it is flushed, when it is compacted, and again while it is shown.
 */
const maxKept = 2000

/** Returns the sentences and list items of a text in order, without code and bullets. */
export const sentencesOf = createRecent(
  (text): readonly string[] => endsOf(text).flatMap((end) => withoutCode(end).split("\n").flatMap(sentencesOfLine)),
  maxKept,
)

function sentencesOfLine(line: string): readonly string[] {
  const isEnd = (signs: string, at: number, start: number): boolean => {
    const next = line.charAt(at + signs.length)
    if (!fullWidthStop.test(signs) && next !== "" && next.trim() !== "") return false
    const before = line.slice(Math.max(start, at - 8), at)
    return signs !== "." || !(noEnd.test(before) || (numbered.test(before) && /^\s\d/.test(line.slice(at + 1, at + 3))))
  }
  return cutBehind(line, stops, { isEnd })
    .map(({ start, end }) => line.slice(start, end).replace(leadingMarks, "").replaceAll("**", "").trim())
    .filter((sentence) => sentence !== "")
}
