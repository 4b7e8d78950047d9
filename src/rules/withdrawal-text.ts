import { lazy } from "../language/lazy.ts"
import { createRecent } from "../message/recall.ts"
import { endedThings, isEmptyWord, maxKept, plain, sortedValues, withoutWideGrammar } from "./rule-topic.ts"
import wordLists from "./withdrawal-words.json" with { type: "json" }
import { classesIn } from "./word-classes.ts"

/**
 * Reads a rule or a sentence for the model of withdrawals: its words, what they are about, and their roles in a change. The words that have
 * a role are in `withdrawal-words.json`, by role and in the languages that rules are found in.
 */

/** A word, number or punctuation mark of a text. */
export type Token = {
  /** In lower case and without accents; a number as it is written. */
  readonly text: string
  readonly sort: "word" | "number" | "sign" | "unspaced"
  /** Stems of what it is about; pairs of characters in a run without blanks, nothing for a grammatical word. */
  readonly keys: readonly string[]
  readonly isName: boolean
  readonly isQuoted: boolean
}

/** What a text is about: enough to tell that most sentences are not about a rule. */
type KeyReading = {
  readonly tokens: readonly Token[]
  /** Stems of words, numbers, pairs of characters. */
  readonly keys: ReadonlySet<string>
  /** Same, by their first letters. */
  readonly stems: ReadonlyMap<string, readonly string[]>
  readonly quotes: boolean
}

export type TextReading = KeyReading & {
  readonly names: ReadonlySet<string>
  readonly classes: ReadonlySet<string>
  /** Roles of each token in a change, and all of them. */
  readonly roles: readonly (readonly string[])[]
  readonly allRoles: ReadonlySet<string>
  /** Keys of the words that have a role in a change. */
  readonly doing: ReadonlySet<string>
  /** Values by kind, and the numbers and names of languages as words. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>
  readonly numbers: ReadonlySet<string>
  readonly tongues: ReadonlySet<string>
  /** What it says is over, and which of that is not narrowed by the words after it. */
  readonly ended: readonly string[]
  readonly endedAlone: readonly string[]
  readonly asks: boolean
}

/** Maximum number of tokens read of one text. */
const maxTokens = 60

const tokenPattern =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]+|\p{Nd}+(?:[.,:]\p{Nd}+)*|[\p{L}\p{M}]+(?:['’_/.][\p{L}\p{M}\p{N}]+)*|[$€£¥%?!;:,("“”„«»「」。、，：；？！—–…]|[#@]\w+/gu

/** Words and phrases of the table, each with its roles. */
const phrases = lazy((): ReadonlyMap<string, readonly string[]> => {
  const known = new Map<string, string[]>()
  for (const [name, list] of Object.entries(wordLists.words)) {
    const [single = "", ...longer] = plain(list.join(" ")).split("|")
    for (const entry of [...single.trim().split(" "), ...longer.map((phrase) => phrase.trim())])
      known.set(entry, [...(known.get(entry) ?? []), name])
  }
  return known
})
/** Number of words of the longest phrase that starts with a word. */
const longestPhrase = lazy((): ReadonlyMap<string, number> => {
  const longest = new Map<string, number>()
  for (const phrase of phrases().keys()) {
    const [first = "", ...more] = phrase.split(" ")
    longest.set(first, Math.max(longest.get(first) ?? 0, Math.min(maxPhrase, more.length + 1)))
  }
  return longest
})
/** Maximum number of words in a phrase. */
const maxPhrase = 5
const runs = lazy((): readonly (readonly [string, string])[] =>
  Object.entries(wordLists.runs).flatMap(([name, list]) =>
    plain(list.join(" "))
      .split(" ")
      .map((part) => [part, name] as const),
  ),
)

/**
 * Returns the roles of each token in a change. A phrase has its role at its first word, and the words within it have none of their own: "as
 * of today" applies from then on, not only today. Adds the keys of words with a role to `doing`.
 */
function rolesOf(tokens: readonly Token[], doing: Set<string>): readonly (readonly string[])[] {
  const known = phrases()
  const longest = longestPhrase()
  let phraseEnd = 0
  return tokens.map(({ sort, text }, n) => {
    if (sort === "unspaced") return [...new Set(runs().flatMap(([part, name]) => (text.includes(part) ? [name] : [])))]
    if (sort !== "word") return []
    const found: string[] = []
    let phrase = ""
    const words = longest.get(text) ?? 0
    for (let more = 0; more < words && tokens[n + more]?.sort === "word"; more++) {
      phrase += `${more === 0 ? "" : " "}${tokens[n + more]?.text}`
      const names = known.get(phrase)
      if (names === undefined || (more === 0 && n < phraseEnd)) continue
      found.push(...names)
      if (more > 0) phraseEnd = Math.max(phraseEnd, n + more + 1)
      for (const token of tokens.slice(n, n + more + 1)) for (const key of token.keys) doing.add(key)
    }
    return found
  })
}

const isUnspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u
const isLetter = /^[\p{L}#@]/u

/** Classes of words that tell what a sentence is about, not what it does. */
const topical: ReadonlySet<string> = new Set(
  "task order orderOrNoun scope product artifact output craft log rulefile step view data plural".split(" "),
)
const doingClasses = (text: string): readonly string[] => [...classesIn(text)].filter((name) => !topical.has(name))

/** Cached classes of a single word. */
export const classesOfWord = createRecent(doingClasses, 4 * maxKept)

/** Minimum number of letters that two forms of a word have in common. */
const stemLength = 4

/** Cached stem of a word; empty for a grammatical word. */
const wordKey = createRecent((word: string): string => {
  if (isLimit(word)) return word.replace(/s$/, "")
  if (word.length < 3 || isEmptyWord(word) || classesOfWord(word).some((name) => grammar.has(name))) return ""
  const bare = word.replace(/'\p{L}*$/u, "").replace(/^(?:[وفبل]?ال|لل)(?=\p{L}{2})/u, "")
  const single = bare.length > 3 ? bare.replace(/s$/, "") : bare
  return single.length > 3 ? single.replace(/[aeiouyаеиоуыяюьة]$/u, "") : single
}, 4 * maxKept)

/** True for a word that names a limit: a rule that sets one is about it. */
export const isLimit = (word: string): boolean => /^(?:caps?|limits?|maximum|minimum|ceiling|quota)$/.test(word)

/** True if two words are forms of one: most letters are the same from the start, or one begins with the other. */
export function isOneWord(one: string, two: string): boolean {
  if (one === two) return true
  const [short, long] = one.length < two.length ? [one, two] : [two, one]
  let same = 0
  while (same < short.length && short[same] === long[same]) same++
  return same >= stemLength && (same === short.length || (same > stemLength && same >= minAlike * long.length))
}
const minAlike = 0.6

/** True if a word of a sentence is also in a rule, in any form. */
export const hasKey = ({ stems }: Pick<KeyReading, "stems">, key: string): boolean =>
  stems.get(key.slice(0, stemLength))?.some((other) => isOneWord(key, other)) === true
const grammar: ReadonlySet<string> = new Set(
  "never always lasting general must should not dont only every if when before after unless please you i we this the now past maybe wh aux shall".split(
    " ",
  ),
)

/** Cached reading of what a text is about, shared by all pairs that it is in. */
export const readKeys = createRecent((text): KeyReading => {
  const tokens = tokensIn(text)
  const keys = new Set(tokens.flatMap(({ keys: own }) => own))
  const stems = Map.groupBy(keys, (key) => key.slice(0, stemLength))
  return { tokens, keys, stems, quotes: tokens.some(({ isQuoted }) => isQuoted) }
}, maxKept)

const isLanguage = ({ sort, text }: Token): boolean => sort === "word" && classesOfWord(text).includes("tongue")
/** True if a text names a language. */
export const namesTongue = createRecent((text): boolean => readKeys(text).tokens.some(isLanguage), maxKept)

/** Cached roles of the words of a text in a change; most sentences are read no further. */
export const readRoles = createRecent((text): Pick<TextReading, "roles" | "allRoles" | "doing"> => {
  const doing = new Set<string>()
  const roles = rolesOf(readKeys(text).tokens, doing)
  return { roles, doing, allRoles: new Set(roles.flat()) }
}, maxKept)

/** Cached full reading of a text. */
export const readText = createRecent((text): TextReading => {
  const { tokens, keys, stems, quotes } = readKeys(text)
  const seen = plain(text)
  const over = endedThings(seen)
  const keysOf = (some: readonly string[]): readonly string[] => some.map(wordKey).filter((key) => key !== "")
  const textsOf = (isWanted: (token: Token) => boolean): ReadonlySet<string> =>
    new Set(tokens.filter(isWanted).map((token) => token.text))
  return {
    tokens,
    keys,
    stems,
    quotes,
    names: new Set(tokens.flatMap(({ isName, keys: own }) => (isName ? own : []))),
    ...readRoles(text),
    classes: new Set(doingClasses(seen)),
    values: sortedValues(seen),
    numbers: textsOf(({ sort }) => sort === "number"),
    tongues: textsOf(isLanguage),
    ended: keysOf(over),
    endedAlone: keysOf(over.filter((word) => /^ ?(?:[.,;!:]|$)/.test(seen.slice(seen.indexOf(word) + word.length)))),
    asks: /[?？؟]\s*$/.test(text),
  }
}, maxKept)

/** Matches a full stop after a word, but not after a title such as "Dr." */
const fullStop = /\p{L}{4}\.\s+$/u
const isAscii = /^[\0-\x7f]*$/

function tokensIn(text: string): readonly Token[] {
  const tokens: Token[] = []
  let isQuoted = false
  // Whether the next token starts a sentence: a capital there makes no name.
  let isFirst = true
  for (const { 0: found, index } of text.matchAll(tokenPattern)) {
    if (tokens.length >= maxTokens) break
    const seen = isAscii.test(found) ? found.toLowerCase() : plain(found).replaceAll("’", "'")
    const token = { text: seen, keys: [], isName: false, isQuoted }
    if (isUnspaced.test(found)) tokens.push({ ...token, sort: "unspaced", keys: pairsOf(seen) })
    else if (/^\p{Nd}/u.test(found)) tokens.push({ ...token, sort: "number", ...numberOf(seen) })
    else if (isLetter.test(found)) {
      const key = wordKey(seen)
      const isName = !isFirst && key !== "" && /^\p{Lu}/u.test(found) && !fullStop.test(text.slice(0, index))
      tokens.push({ ...token, sort: "word", keys: key === "" ? [] : [key], isName })
    } else {
      if (/["“”„«»「」]/.test(found)) isQuoted = !isQuoted
      tokens.push({ ...token, sort: "sign", isQuoted: false })
    }
    isFirst = /^[:"“”„«»「」。！？?!]/.test(found)
  }
  return tokens
}

const numberOf = (seen: string): Pick<Token, "text" | "keys"> => {
  const text = seen.replaceAll(",", "")
  return { text, keys: [text] }
}

/** Returns the pairs of characters in a run without blanks, except grammatical words. */
function pairsOf(run: string): readonly string[] {
  const bare = withoutWideGrammar(run)
  return Array.from({ length: Math.max(0, bare.length - 1) }, (_, at) => bare.slice(at, at + 2)).filter(
    (pair) => !pair.includes(" ") && !/^[\u3041-\u309f]+$/.test(pair),
  )
}
