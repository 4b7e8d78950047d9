import { isAsciiLetter } from "../language/letters.ts"
import { normalize, normalizedText } from "../language/normalize.ts"
import { wordSet } from "../language/word-forms.ts"
import { anyOf } from "../language/word-lists.ts"
import { createRecent } from "../message/recall.ts"
import lists from "./topic-words.json" with { type: "json" }

/** Number of texts whose readings are cached: every statement that may change a rule is compared with every rule in force. */
export const maxKept = 2000

/** Words that tell how strongly, how long, to whom or when a rule applies, not what it is about. */
const empty: ReadonlySet<string> = wordSet(...lists.empty)

/** Words that mean the same in rules, mapped to the first word of their row. */
const standsFor: ReadonlyMap<string, string> = new Map(
  lists.alike.flatMap((row) => {
    const [first = "", ...rest] = row.split(" ")
    return [first, ...rest].map((word) => [word, first] as const)
  }),
)

/** Same for Chinese and Japanese. */
const wideAlike: readonly (readonly [pattern: RegExp, word: string])[] = [
  [/花费|消费|支出|购买|采购|付款|花|买|金额/g, "spend"],
  [/报告|报表|周报|日报|报/g, "report"],
  [/邮件|电邮|メール/g, "email"],
  [/发送|发给|发到|转发|发布|发|送信/g, "send"],
  [/部署|上线|发版/g, "deploy"],
  [/删除|清空|移除|削除/g, "delete"],
  [/生产环境|生产|線上|线上|本番/g, "production"],
  [/密码|密钥|凭证|秘密|口令/g, "secret"],
  [/回复|回答|答复/g, "reply"],
  [/英文|英语|中文|汉语|语言|日语/g, "language"],
  [/批准|同意|许可|授权|审批|承認/g, "approval"],
  [/外部|公司外|外人/g, "external"],
  [/客户|用户|顾客/g, "customer"],
]

const wideEmpty = new RegExp(anyOf(lists.wideEmpty), "g")

/** True if a word tells how strongly, how long, to whom or when a rule applies, not what it is about. */
export const isEmptyWord = (word: string): boolean => empty.has(word)

/** Replaces the grammatical and modal words of a run without blanks by blanks. */
export const withoutWideGrammar = (run: string): string => run.replace(wideEmpty, " ")

const wide = /[\u3040-\u30ff\u3400-\u9fff]/

/** Maximum number of topics of one rule. */
const maxTopics = 40

const words = /[\p{L}][\p{L}'-]*/gu

/** Returns what a rule is about: its words without modality, values and grammar, folded, sorted, each once. */
export const topicOf = createRecent((text): readonly string[] => {
  const seen = normalizedText(withoutValues(text))
  const topics = new Set<string>()
  if (!/[^\0-\x7f]/.test(seen)) addTopics(topics, seen)
  else
    for (const [word] of seen.matchAll(words)) {
      for (const topic of wide.test(word) ? wideTopics(word) : topicsOfWord(word)) topics.add(topic)
      if (topics.size >= maxTopics) break
    }
  return [...topics].sort()
}, maxKept)

/** Same for an ASCII text; topics of words are cached. */
function addTopics(topics: Set<string>, text: string): void {
  for (let at = 0; at < text.length && topics.size < maxTopics; ) {
    const start = at
    let hash = 0
    for (let code = text.charCodeAt(at); isAsciiLetter(code) || (at > start && isInnerMark(code)); ) {
      hash = Math.imul(hash ^ code, 0x01000193)
      code = text.charCodeAt(++at)
    }
    if (at === start) at++
    else for (const topic of keptTopics(text, start, at, hash)) topics.add(topic)
  }
}
const isInnerMark = (code: number): boolean => code === 0x27 || code === 0x2d

/** Number of cached words, each in one slot by its hash: more than the rules of many people have, in less than a megabyte. */
const maxWords = 8192
const keptWords: string[] = []
const topicsOfKept: (readonly string[])[] = []

/** Returns the topics of the word at a position of a text. */
function keptTopics(text: string, start: number, end: number, hash: number): readonly string[] {
  const place = (hash ^ (hash >>> 15)) & (maxWords - 1)
  const kept = keptWords[place]
  if (kept?.length === end - start && text.startsWith(kept, start)) return topicsOfKept[place] ?? []
  const word = text.slice(start, end)
  const topics = topicsOfWord(word)
  if (word.length > maxKeptLength) return topics
  keptWords[place] = word
  topicsOfKept[place] = topics
  return topics
}
const maxKeptLength = 40

/** Returns the topics of a word, if it has any: "the no-meat rule" is about meat. */
function topicsOfWord(word: string): readonly string[] {
  const bare = word.includes("'") ? word.replace(/'s$|n't$|'(?:ll|ve|re|d|m)$/, "").replace(/^'|'$/g, "") : word
  const parts = !bare.includes("-") || standsFor.has(bare) ? [bare] : bare.split("-")
  return parts.map(topicOfPart).filter((topic) => topic !== "")
}

function topicOfPart(word: string): string {
  const known = standsFor.get(word)
  if (known !== undefined || word.length < 2 || empty.has(word)) return known ?? ""
  const bare = stem(word)
  return standsFor.get(bare) ?? bare
}

/** Removes English endings if a word remains: "recipients", "pushing", "merged". Each is tried only if the last letter fits. */
function stem(word: string): string {
  if (/[^a-z'-]/.test(word) || word.length < 5) return word.endsWith("s") ? word.replace(/(?<=[a-z]{3})s$/, "") : word
  const single = word.endsWith("s")
    ? word
        .replace(/(?:ies)$/, "y")
        .replace(/(?<=(?:s|x|z|ch|sh))es$/, "")
        .replace(/(?<=[^su])s$/, "")
    : word
  const bare = single.endsWith("g") || single.endsWith("d") ? single.replace(/(?<=[a-z]{3})(?:ing|ed)$/, "") : single
  const short = bare.at(-1) === bare.at(-2) ? bare.replace(/([bdgmnpt])\1$/, "$1") : bare
  return short.endsWith("e") ? short.replace(/(?<=[a-z]{3}[^aeiou])e$/, "") : short
}

function wideTopics(run: string): readonly string[] {
  const topics: string[] = []
  let rest = run
  for (const [pattern, word] of wideAlike) {
    if (rest.search(pattern) >= 0) topics.push(word)
    rest = rest.replace(pattern, " ")
  }
  for (const word of rest.replace(wideEmpty, " ").split(" ")) {
    for (let at = 0; at + 2 <= word.length; at += 2) topics.push(word.slice(at, at + 2))
  }
  return topics
}

/** Matches amounts, addresses, names of channels, code: what a later rule may change. See `valuesOf`. */
const values = new RegExp(
  anyOf(
    '`[^`\\n]{1,200}`|"[^"\\n]{1,200}"|“[^”\\n]{1,200}”|\\bhttps?://\\S{1,300}',
    "[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,4}|(?<![\\w&])[#@][\\p{L}][\\p{L}\\p{N}_-]{1,40}",
    "\\b[a-z]{2}-[a-z]{3,12}-\\d\\b|\\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\\b",
    "(?:[$€£¥]|usd|eur|gbp)? ?\\d[\\d.,]{0,20}(?: ?(?:k|m|%|usd|eur|gbp|dollars?|euros?|元|美元|块|pesos|euro))?",
  ),
  "giu",
)

/** Every value has one of these. */
const mayHaveValues = /[`"“@#\d]|:\/\/|day/i

const withoutValues = (text: string): string => (mayHaveValues.test(text) ? text.replace(values, " ") : text)

/** Returns the values of a text by kind, folded: amounts, numbers, addresses, channels, regions, languages, names in code. */
export function valuesOf(text: string): ReadonlyMap<string, readonly string[]> {
  const sorted = new Map<string, string[]>()
  const add = (sort: string, value: string): void => {
    const list = sorted.get(sort) ?? []
    if (list.length < maxValues && !list.includes(value)) list.push(value)
    sorted.set(sort, list)
  }
  for (const { 0: found, index } of text.matchAll(values)) {
    const value = found.trim().toLowerCase()
    const sort = sortOf(value)
    const isName = sort === "number" && isIdentifier(text.slice(Math.max(0, index - maxBefore), index))
    add(isName ? "name" : sort, value.replace(/[`"“” ,]|\.$/g, ""))
  }
  for (const [name] of normalize(text).text.matchAll(languages)) add("language", name)
  return sorted
}

const maxValues = 16
const maxBefore = 40

/** True if a number identifies a thing ("issue 12") and is no quantity that a later rule could change: a noun stands before it. */
function isIdentifier(before: string): boolean {
  const word = /(?:^|[^\p{L}'])([\p{L}']+)[ #]*$/u.exec(before)?.[1]?.toLowerCase()
  return word !== undefined && !beforeQuantity.test(word)
}

const beforeQuantity = new RegExp(anyOf(`^${anyOf(lists.beforeQuantity)}$`, "[\\p{Script=Han}]"), "u")

/** Patterns for numbers, units, currencies, days and languages: values of which a rule may name another, by kind. */
const namedValues: readonly (readonly [sort: string, words: RegExp])[] = [
  [
    "number",
    /(?<![\p{L}\p{N}])(?:\d[\d.,:]*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)(?![\p{L}\p{N}])/gu,
  ],
  ["currency", /\b(?:usd|eur|chf|gbp|jpy|dollars?|euros?|francs?|franken|pounds?|yen|dolares|dollari)\b|[$€£¥]/g],
  [
    "unit",
    /\b(?:celsius|fahrenheit|kelvin|metric|imperial|(?:kilo)?(?:metres?|meters?)|feet|yards|lit(?:res?|ers?)|miles?|grams?|ounces?|cups|inches|centimet\w+|millimet\w+)\b|厘米|英寸/g,
  ],
  ["day", /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/g],
  [
    "language",
    new RegExp(anyOf(`\\b${anyOf(lists.languages)}\\b`, "英文|英语|中文|汉语|日语|法语|德语|日本語|英語|中国語"), "g"),
  ],
  ["tense", /\b(?:past|present|future|tegenwoordige|verleden) (?:tense|tijd)\b/g],
  ["address", /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g],
  ["channel", /(?<![\w&])#[a-z][\w-]{1,40}/g],
]

/** Cached text in lower case and without accents, with all other characters: an address keeps its "@". */
export const plain = createRecent(
  (text) => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "").normalize("NFC"),
  maxKept,
)

/** Cached values of a plain text, by kind. */
export const sortedValues = createRecent((seen): ReadonlyMap<string, ReadonlySet<string>> => {
  const sorted = new Map<string, ReadonlySet<string>>()
  for (const [sort, pattern] of namedValues) {
    const found = [...seen.matchAll(pattern)].map(([value]) => value.replace(sort === "day" ? /s$/ : /[.,:]$/, ""))
    if (found.length > 0) sorted.set(sort, new Set(found))
  }
  return sorted
}, maxKept)

/** Matches what somebody says is over: "no longer 4", "instead of French". */
const endedThing = new RegExp(
  `\\b${anyOf(lists.instead)}(?: (?:in|at|on|the|an|a|el|la|le|den|das|die))? ([\\p{L}\\p{N}#@$€.:_-]+)`,
  "gu",
)

/** Cached words of a plain text that somebody says are over. The rule that is meant contains them. */
export const endedThings = createRecent(
  (seen): readonly string[] => [...seen.matchAll(endedThing)].map(([, word = ""]) => word.replace(/[.:-]+$/, "")),
  maxKept,
)

/** True if a text says that a value is over which a rule does not have: then it is about another rule. */
export function endsAnother(rule: string, later: string): boolean {
  const seen = plain(later)
  const ended = endedThings(seen)
  if (ended.length === 0) return false
  const own = plain(rule)
  const values = [...sortedValues(seen)]
  return ended.some((word) => {
    if (own.includes(word)) return false
    // A number that is said to be over counts only beside the one that applies instead.
    return values.some(([sort, some]) => some.has(word) && (sort !== "number" || some.size > 1))
  })
}

/** True if the later text names a thing of the same kind by another number or letter: "region 1" beside "region 0". */
export function namesAnother(earlier: string, later: string): boolean {
  const [before, after] = [numberedThings(earlier), numberedThings(later)]
  return [...before].some(([kind, names]) => {
    const others = after.get(kind)
    return others !== undefined && !names.some((name) => others.includes(name))
  })
}

/** Cached things of a text that are identified by a number or a letter, by the noun before it: "table 4", "issue #12", "plan B". */
const numberedThings = createRecent((text): ReadonlyMap<string, readonly string[]> => {
  const things = new Map<string, string[]>()
  for (const [, word = "", name = ""] of text.matchAll(numbered)) {
    const noun = word.toLowerCase()
    if (isIdentifier(`${noun} `)) things.set(noun, [...(things.get(noun) ?? []), name])
  }
  return things
}, maxKept)
const numbered = /(\p{L}{3,30}) #?(\d{1,9}|(?!I)\p{Lu})(?![\p{L}\p{N}%$€]|[.,:]\d)/gu

/**
 * True if the later text is about another thing of a kind: "the web server" beside a rule on the mail server, "orders for the kitchen"
 * beside orders for the bar, class 8a beside class 7b, what applies before a time beside what applies after one.
 */
export function tellsApart(earlier: string, later: string): boolean {
  const [rule, seen] = [plain(earlier), plain(later)]
  const [before, after] = [kindsIn(rule), kindsIn(seen)]
  if (before.side !== undefined && after.side !== undefined && before.side !== after.side) return true
  const [some, others] = [before.lettered, after.lettered]
  if (some.length > 0 && others.length > 0 && !some.some((one) => others.includes(one))) return true
  const isOther = (word: string, known: readonly string[]): boolean =>
    known.length > 0 && !rule.includes(stemOfNoun(word)) && !known.some((one) => seen.includes(stemOfNoun(one)))
  for (const { kind, noun } of after.things)
    if (rule.includes(noun) && isOther(kind, wordsBefore(noun, rule))) return true
  return after.qualified.some(([noun, which]) =>
    isOther(
      which,
      before.qualified.flatMap(([own, other]) =>
        own.startsWith(noun) && own.length <= noun.length + 3 ? [other] : [],
      ),
    ),
  )
}

/** Cached properties by which a plain text tells one thing from another of its kind. */
const kindsIn = createRecent((seen) => {
  const things = [opening.exec(seen), ...seen.matchAll(allowed)].flatMap((found) => {
    const { kind = "", noun = "" } = found?.groups ?? {}
    return isEmptyWord(kind) || noun === "" ? [] : [{ kind, noun: stemOfNoun(noun) }]
  })
  return {
    side: sideOf(seen),
    lettered: [...seen.matchAll(lettered)].map(([one]) => one),
    things,
    /** Nouns, and whom or what they are for. */
    qualified: [...seen.matchAll(qualified)].flatMap(([, noun = "", which = ""]): (readonly [string, string])[] =>
      isEmptyWord(which) ? [] : [[stemOfNoun(noun), which]],
    ),
  }
}, maxKept)

const wordsBefore = (noun: string, rule: string): readonly string[] =>
  [...rule.matchAll(new RegExp(`(\\p{L}{3,}) ${noun}`, "gu"))].flatMap(([, one = ""]) =>
    isEmptyWord(one) ? [] : [one],
  )

/** Returns a noun without its plural ending. */
const stemOfNoun = (noun: string): string => noun.replace(/(?<=\p{L}{3})(?:es|s)$/u, "")
/** Matches a statement that starts with a thing of two words and continues with what applies to it. */
const opening =
  /^(?:(?:and|but|also|oh|ok),? )?(?:(?:the|our|my|all|any) )?(?<kind>\p{L}{3,20}(?<!(?:er|est|ed|ing|ly|ful|al|ive|ous|ish|n))) (?<noun>\p{L}{3,20}) (?:(?:for|of|in|on|to|from) (?:\p{L}+ ){1,3}?)?(?:is|are|may|can|must|you|we|i|should|goes?|go|will|stays?|have|has|needs?)(?!\p{L})/u
/** Matches a thing of two words that something may be done to: "you can push to feature branches". */
const allowed =
  /(?<!\p{L})(?:can|may|free to|allowed to|fine to|ok to|okay to) \p{L}{2,15} (?:(?:to|on|in|into|from|at) )?(?:(?:the|our|my|all|any) )?(?<kind>\p{L}{3,20}(?<!(?:er|est|ed|ing|ly|ful|al|ive|ous|ish|n))) (?<noun>\p{L}{3,20})(?!\p{L})/gu
const forWords =
  "(?:for|fur|pour|para|per|voor)(?: (?:the|our|my|die|das|den|la|le|les|el|los|las|o|a|os|as|il|lo|gli|i|de|het))?"
const qualified = new RegExp(`(\\p{L}{4,}) ${forWords} (\\p{L}{3,})`, "gu")

/** Matches a class or a flat: a number with a letter after it, no time. */
const lettered = /(?<![\p{L}\p{N}.,:])\d{1,3}[a-f](?![\p{L}\p{N}])/gu

/** Tells whether a text is about what comes after a time, or about what comes before it. */
function sideOf(seen: string): "before" | "after" | undefined {
  const [isAfter, isBefore] = [afterTime.test(seen), beforeTime.test(seen)]
  return isAfter === isBefore ? undefined : isAfter ? "after" : "before"
}
const afterTime =
  /(?<!\p{L})(?:after|later than|past|nach|apres|despues de|depois d[ae]s?|dopo|na|efter)(?: las?| les| as)? \d/u
const beforeTime =
  /(?<!\p{L})(?:before|earlier than|vor|avant|antes de|antes d[ae]s?|prima delle|voor|fore)(?: las?| les| as)? \d/u

const languages =
  /\b(?:english|spanish|german|french|chinese|japanese|portuguese|ingles|espanol|aleman|frances|englisch|deutsch|anglais|francais)\b|英文|英语|中文|汉语|日语|法语|德语/g

function sortOf(value: string): string {
  if (/^[`"“]/.test(value)) return "name"
  if (/^https?:|@[\w-]+\./.test(value)) return "address"
  if (/^[#@]/.test(value)) return "channel"
  if (/^[a-z]{2}-[a-z]+-\d$/.test(value)) return "region"
  if (/days?$/.test(value)) return "day"
  return /[$€£¥]|usd|eur|gbp|dollar|元|块|pesos/.test(value) ? "amount" : "number"
}

const contentWord =
  /[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff]+|[$€£¥]|%|\p{N}+(?:[.,:]\p{N}+)*|[\p{L}\p{M}]+(?:'\p{L}+)?/gu
const unspaced = /^[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff]/
/** True if a text starts in a script without blanks between words. */
export const isUnspaced = (text: string): boolean => unspaced.test(text)
const negation =
  /^(?:not|no|never|none|nobody|nothing|without|cannot|forbidden|prohibited|avoid|nunca|jamas|sin|ningun\w*|prohibido|nicht|kein\w*|nie|niemals|ohne|pas|jamais|sans|aucun\w*|nao)$|n't$/
const unspacedNegation = /不|没|未|勿|别|禁|严禁|无/

/** Cached words of a folded text that tell what it is about: names, numbers, and whether it forbids; no grammatical and modal words. */
export const topicWords = createRecent((text): ReadonlySet<string> => {
  const words = new Set<string>()
  for (const [found] of text.matchAll(contentWord)) {
    if (isUnspaced(found)) {
      if (unspacedNegation.test(found)) words.add("not")
      if (found.length === 1) words.add(found)
      for (let at = 0; at + 2 <= found.length; at++) words.add(found.slice(at, at + 2))
    } else if (negation.test(found)) words.add("not")
    else if (/^\p{N}/u.test(found)) words.add(found.replaceAll(",", ""))
    else if (!empty.has(found)) words.add(stem(found.replace(/'\p{L}+$/u, "")).slice(0, maxStem))
  }
  return words
}, maxKept)

/** Number of letters of a word that are compared, which also drops endings that no table has. */
const maxStem = 6

const commanded =
  /\b(?:never|always|(?:do|must|should|may|shall|can) ?not|don't|mustn't|shouldn't|can't)(?: ever)? (?!mind\b|need\b|have\b)\p{L}+/giu

/** Removes what a text forbids or asks for: "never change queue 2" and "always replace the filter" change no other rule. */
export const withoutCommanded = createRecent((text): string => text.replace(commanded, " "), maxKept)
