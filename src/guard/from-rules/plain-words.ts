import { lazy, lazyPattern } from "../../language/lazy.ts"
import { entriesOf } from "../../message/present.ts"
import glossary from "./glossary.json" with { type: "json" }
import { joined } from "./vocabulary.ts"

/**
 * The words of a rule in the form in which it is read: small letters, plain quotation marks, whole words for those of a chat, words of other
 * languages as their English ones where a rule may turn on them, and one way to forbid, to ask and to confine for the many there are.
 */
export function inPlainWords(text: string): string {
  const plain = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`「」『』]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return oneWayOfSaying(inEnglish(spelledOut(plain).replace(namedFolder, "$1/")))
}

/** "La carpeta de originales", "der Ordner alt": a folder by its name, as one writes it elsewhere. */
const namedFolder =
  /(?<![\p{L}\p{N}./_-])(?:ordner|verzeichnis|dossier|carpeta|pasta|cartella)(?: d[aeiou]l?s?)? (?!(?:d[aeiou]l?s?|des|ist|und|oder|et|ou|est|es|é|com|con|mit|avec|que|para|pour|médical|personne\p{L}*)(?![\p{L}]))([a-z](?:[\w.-]{0,29}\w)?)(?![\p{L}\w/-]|\.\w)/gu

/** What people leave out when they type. */
const typed: ReadonlyMap<string, string> = new Map(Object.entries(glossary.typed))

/** A word that is none of a value's: no part of an address, a path or an option. */
const [before, behind] = ["(?<![\\p{L}\\p{N}@./_*#'-])", "(?![\\p{L}\\p{N}@/_*-]|\\.[\\p{L}\\p{N}]|'\\p{L})"]

const typedWord = lazy(
  () =>
    new RegExp(
      `${before}(?:${[...typed.keys()].sort((one, other) => other.length - one.length).join("|")})(?=[\\s,.;:!?)]|$)`,
      "gu",
    ),
)

const spelledOut = (text: string): string => text.replace(typedWord(), (word) => typed.get(word) ?? word)

/** English words, each with its forms in other languages as a pattern. */
type Forms = Readonly<Record<string, string | readonly string[]>>

/** The forms of tables as one pattern whose groups are in the order of the English words. */
function tableOf(...tables: readonly Forms[]): { readonly pattern: RegExp; readonly english: readonly string[] } {
  const all = tables.flatMap((table) => Object.entries(table))
  const groups = all.map(([, forms]) => `(${joined(forms).replace(/\((?!\?)/g, "(?:")})`)
  return {
    pattern: new RegExp(`${before}(?:${groups.join("|")})(?<!\\s)${behind}`, "gu"),
    english: all.map(([english]) => english),
  }
}

/** What is said with several words comes first. None of these forms is an English word. */
const foreignWords = lazy(() => tableOf(glossary.phrases, glossary.words))

/** Some of the small words are English words too, so they count only beside others that are not. */
const smallWords = lazy(() => tableOf(glossary.small))

/** A text with every word of a table in English. */
const translated = (text: string, { pattern, english }: ReturnType<typeof tableOf>): string =>
  text.replace(pattern, (word: string, ...groups: readonly unknown[]) => english[groups.indexOf(word)] ?? word)

/** Two parts of one German verb, at the head and at the end of its clause. */
const separablePatterns = lazy(() =>
  glossary.separable.map(({ first, last, english }): readonly [RegExp, string] => [
    new RegExp(`^((?:bitte )?)(?:${first}) ([^,;:]{1,160}?) (?:${last})(?=[.!]*$|,)`, "u"),
    english,
  ]),
)

/** "D'effacer", "l'outil": the verb or noun is a word of its own. */
const elided = /(?<![\p{L}\p{N}])([ld])'(?=\p{L})/gu

/** A text in English words, or the same one. */
function inEnglish(text: string): string {
  if (/[\u3040-\u30ff]/u.test(text)) return japaneseInEnglish(text)
  let whole = text
    .replace(elided, "$1e ")
    .replace(/(?<![\p{L}\p{N}])n'(?=\p{L})/gu, "ne ")
    .replace(/(?<![\p{L}\p{N}])ne (\p{L}+(?: [\p{L}'-]+){0,4}?) qu(?:e |')/gu, "$1 seulement ")
  const asTyped = whole
  for (const [pattern, english] of separablePatterns())
    whole = whole.replace(pattern, (_, please: string, middle: string) => {
      // What is given out is money where a sum is named.
      const verb = english === "print" && /\d/.test(middle) ? "spend" : english
      return `${please}${verb} ${middle}`
    })
  let read = translated(whole, foreignWords())
  if (read === asTyped) return text
  // "No" is "in the" in Portuguese, behind other words.
  if (portuguese.test(read)) read = read.replace(/(?<=\p{L} )no(?= \p{L})/gu, "in the")
  return negationFirst(translated(read, smallWords()).replace(/\s+/g, " "))
}

const portuguese = lazyPattern(`${before}(?:você|não|uma|um|em|pelo|pela|ao|do|da|é|com|mande|enviar?)${behind}`, "u")

/** "Benutze nie …", "n'utilise jamais …" and "no uses nunca …" put the word that forbids behind the verb, or twice. */
const negationFirst = (text: string): string =>
  text
    .replace(/^((?:please )?)(?:don't|no|not) (?:you )?(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(/^((?:please )?)(?!never|don't|no |not )(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(
      /^((?:please )?)no (?=(?:you )?(?:write|answer|send|share|pass on|reveal|print|read|open|change|touch|delete|deploy|run|use|install|access|connect|download|upload|disable|buy|spend|order|contact|push|commit|publish)(?![\p{L}]))/u,
      "$1don't ",
    )

/**
 * The many ways to forbid, to ask for a question and to confine, each as the one that the families are read in: "I forbid you to run",
 * "refrain from running" and "running … is not permitted" are all "never run". Nothing but the way of saying changes.
 */
function oneWayOfSaying(text: string): string {
  let read = text
  for (const [pattern, plain] of [...waysToForbid(), ...waysToLeave(), ...waysToAsk(), ...waysToConfine()])
    read = read.replace(pattern, plain)
  return read === text ? text : read.replace(/\s+/g, " ").trim()
}

/** Before it a clause starts. */
const start = "(?<=^(?:please |and |but |also |so |then )*|[,;:.] (?:please |and |but |so |also )*)"

const notPermitted =
  "(?:banned|not (?:permitted|allowed|acceptable|ok|okay|an option)|prohibited|out of bounds|off[- ]limits|an? (?:absolute |strict )?no-go(?: area| zone)?|taboo|a no|out of the question|off the table|untouchable|sacrosanct|a red line)"

type Way = readonly [said: RegExp, plain: string]

const waysToForbid = lazy((): readonly Way[] => [
  // Who speaks forbids it.
  [new RegExp(`${start}i(?: hereby| strictly)? forbid you (?:to|from) `, "gu"), "never "],
  [new RegExp(`${start}i (?:don't|do not|never)(?: ever)? want (?:to see )?you (?:to )?(?=\\p{L})`, "gu"), "never "],
  [new RegExp(`${start}i (?:won't|will not|can't|don't) (?:have|see|let) you (?=\\p{L}+)`, "gu"), "never "],
  [new RegExp(`${start}i want (?:zero|no) `, "gu"), "no "],
  [
    new RegExp(
      `${start}i (?:don't|do not|never)(?: ever)? want to (?:see|find|read|hear of) (?:an?|any|one|a single) `,
      "gu",
    ),
    "no ",
  ],
  [new RegExp(`${start}i (?:insist on|want) (‹?\\p{L}+›?) for all `, "gu"), "always use $1 for all "],
  [new RegExp(`${start}i only want `, "gu"), "only "],
  // You are not to.
  [
    new RegExp(
      `${start}you(?:'re| are)? (?:(?:must|shall|should|may|can|will|are) )?(?:(?:not|never)(?: ever)?(?: (?:allowed|permitted|supposed|authorized))?(?: to)?|under no circumstances(?: to)?|forbidden (?:to|from)|prohibited from|banned from) (?=\\p{L})`,
      "gu",
    ),
    "never ",
  ],
  [new RegExp(`${start}you have no (?:authority|right|permission|mandate) to `, "gu"), "never "],
  [new RegExp(`${start}you have no business (?:in|with|on|near) `, "gu"), "stay away from "],
  // At no time.
  [
    /(?:under|in|on) no (?:circumstances?|conditions?|account|case) (?:are|may|should|must|can|shall|will) you (?:to |ever )?/gu,
    "never ",
  ],
  [
    /(?:under|in|on) no (?:circumstances?|conditions?|account|case) (?:is|are) (.{1,60}?) to be (?=\p{L})/gu,
    "$1 must never be ",
  ],
  [/(?:under|in|on) no (?:circumstances?|conditions?|account|case),? (?=\p{L})/gu, "never "],
  [new RegExp(`${start}at no (?:time|point) (?=\\p{L})`, "gu"), "never "],
])

const waysToLeave = lazy((): readonly Way[] => [
  // No network is what that means.
  [
    /(?<!\p{L})(?:work|stay|remain|operate|run)(?: strictly| completely| fully)? offline(?: only)?(?!\p{L})/gu,
    "never go online",
  ],
  [
    /(?<!\p{L})(?:work|stay|remain|operate|run|do (?:it|this|everything)) without (?:any |the |an? )?(internet|network)/gu,
    "never use the $1",
  ],
  // Leave it.
  [new RegExp(`${start}(?:refrain|abstain|desist) from (?=\\p{L}+ing(?:\\s|$))`, "gu"), "never "],
  [new RegExp(`${start}(?:quit|stop|cease|avoid) (?=\\p{L}+ing(?:\\s|$))`, "gu"), "never "],
  [new RegExp(`${start}(?:steer|stay|keep|stand) clear of `, "gu"), "stay away from "],
  [
    /(?<!\p{L})(?:keep|stay) (?:well |right |entirely |completely )?(?:out|away) (?:of|from) (.{1,60}?) (?:entirely|completely|altogether|at all)(?=[.!,;]|$)/gu,
    "stay away from $1",
  ],
  // It is not permitted, and what is done stands before or behind.
  [
    new RegExp(
      `(?<!\\p{L})(is|are|isn't|aren't) (?:strictly |absolutely |completely |altogether )?${notPermitted}(?: (?:for you|altogether|entirely|completely|at all times))*(?![\\p{L}-])`,
      "gu",
    ),
    "$1 off-limits",
  ],
  [new RegExp(`${start}it(?:'s| is) (?:strictly )?(?:forbidden|off-limits)(?: for you)? to `, "gu"), "never "],
  [
    new RegExp(`${start}(\\p{L}+ing) ([^,;:]{1,80}?) (?:is|are) (?:strictly )?(?:forbidden|off-limits)`, "gu"),
    "never $1 $2",
  ],
  [
    new RegExp(`${start}(\\p{L}{2,}) (?:no|nothing|nobody) ([^,;:]{0,80}?), (?:was|which|that) `, "gu"),
    "never $1 anything $2 that ",
  ],
  [
    new RegExp(`${start}(?:nobody|no one), (?:and (?:that|this) includes you|you included|not even you),? `, "gu"),
    "nobody ",
  ],
])

const waysToAsk = lazy((): readonly Way[] => [
  [
    /(?<!\p{L})(?:hold off|wait)(?: on| with) (.{1,60}?) (?:until|till) (?:you've |you have |you )?(?:heard? from me|hear back from me|i .{1,20}?)(?=[.!,;]|$)/gu,
    "ask me before $1",
  ],
  [
    /(?<!\p{L})(?:needs?|requires?|takes?) an? (?:explicit |clear )?(?:yes|nod|thumbs up|green light|go) from me/gu,
    "needs my approval",
  ],
  [/(?<!\p{L})get an? (?:explicit |clear )?(?:yes|nod|thumbs up|green light|go) from me/gu, "get my approval"],
  [
    /(?<!\p{L})i (?:want|have|need|would like|'d like|expect) to be (?:consulted|asked|notified|told|informed) (?:ahead of|prior to|before|first for)/gu,
    "ask me before",
  ],
  [
    /(?<!\p{L})let me (?:approve|confirm|see|review|check|ok|okay) (.{1,60}?) before (?:it|they) (?:go|goes|leaves?|(?:is|are) sent|gets? sent)(?: (?:out|off))*/gu,
    "ask me before you send $1",
  ],
  [
    /(?<!\p{L})let me (?:approve|confirm|see|review|check|ok|okay) (.{1,60}?) before (?=you )/gu,
    "check $1 with me before ",
  ],
  [/(?<!\p{L})ahead of (?=any|every|each|a )/gu, "before "],
])

const waysToConfine = lazy((): readonly Way[] => [
  [/(?<!\p{L})the sole (?=\p{L})/gu, "the only "],
  // "It goes to … or it doesn't go": what is named is all.
  [
    /,? or (?:it|they|that|nothing) (?:doesn't|don't|does not|do not|isn't|is not|aren't|won't|will not)(?: \p{L}+){0,4}(?=[.!]*$)/gu,
    ", nothing else",
  ],
  [/(?<=must be |are |is )kept off (?:every|all|any|the) /gu, "never on "],
  [/(?<!\p{L})solely(?!\p{L})/gu, "only"],
  [/(?<!\p{L})(?:confine|restrict|limit|keep) (your|all|any|every) (\p{L}+) (?:to|within|inside|in) /gu, "$2 only in "],
  [/(?<!\p{L})(?:are|is) (?:restricted|confined|limited) to (?!\D{0,5}\d)(?:use (?:of|on) )?/gu, "only to "],
])

const { nouns, verbs, joints } = glossary.japanese

/** What forbids stands at the end of a sentence, behind the verb. */
const japaneseBan =
  /(?:ないで(?:ください|下さい|ね|ほしい)?|ないこと|ません(?:ように)?|ては(?:いけ|なら|だめ|ダメ)\p{L}*|ちゃ(?:だめ|ダメ|いけ)\p{L}*|(?:は|を)?禁止\p{L}*|な)[。.!！ ]*$/u

/** It says when it holds, gives leave or asks. */
const hedged =
  /(?:場合|(?:では|じゃ)な(?:く|い)|とき|時(?:は|に)|なら|(?:ば|たら)[、,]|できれば|可能なら|(?:て|ても)(?:も)?(?:いい|良い|よい|構い|かまい)|か[。？?]*$|でしょう|今日|今回|明日|まで待)/u

/** A word that is in none of the lists: what it changes in the rule cannot be told. */
const unknown = /[\u30a0-\u30ff\u4e00-\u9fff]/u

const beforehand = /(?:する)?(?:前に|前には)/u

/**
 * A Japanese sentence in English words, the verb before what it is done to. Only words that rules turn on are known; with a condition, a
 * permission or a question it stays as it is, and no policy is made of it.
 */
function japaneseInEnglish(text: string): string {
  if (hedged.test(text)) return text
  const negated = japaneseBan.test(text)
  const [first = "", ...rest] = text.split(beforehand)
  if (rest.length > 0) {
    const asked = rest.join(" ")
    const act = verbFirst(first)
    return asksMe.test(asked) && !unknown.test(act) ? `ask me before ${act}` : text
  }
  const read = verbFirst(text.replace(japaneseBan, ""))
  if (unknown.test(read)) return text
  return negated ? `never ${read.replace(/^never /, "")}` : `always ${read.replace(/^always /, "")}`
}

const asksMe = lazyPattern(joined(verbs["ask me"]), "u")

/** The words of a sentence without its particles, the last verb of it at its head. */
function verbFirst(text: string): string {
  let read = text.replace(/(\d[\d,.]*)\s?円/gu, " $1 yen ").replace(/(\d[\d,.]*)\s?ドル/gu, " $1 dollars ")
  for (const [english, forms] of entriesOf(nouns)) read = read.replace(new RegExp(joined(forms), "gu"), ` ${english} `)
  for (const [english, forms] of entriesOf(verbs))
    read = read.replace(new RegExp(joined(forms), "gu"), ` ‹${english}› `)
  for (const [english, forms] of entriesOf(joints)) read = read.replace(new RegExp(joined(forms), "gu"), ` ${english} `)
  const words = read.replace(/[\u3040-\u309fー。、！？・（）]+|下さい/gu, " ")
  const last = [...words.matchAll(/‹([^›]+)›/gu)].at(-1)?.[1]
  const others = words.replace(/‹([^›]+)›/gu, (_, verb: string) => (verb === last ? " " : verb))
  return `${last ?? ""} ${others}`.replace(/\s+/g, " ").trim()
}
