import { lazy } from "../language/lazy.ts"
import { createRecent } from "../message/recall.ts"
import wordLists from "./explicit-changes.json" with { type: "json" }
import { endedThings, isEmptyWord, maxKept, plain, topicOf } from "./rule-topic.ts"
import { classesOfWord, hasKey, isOneWord, readText, type TextReading, type Token } from "./withdrawal-text.ts"

/**
 * Recognizes statements that change a rule explicitly: another value of the limit that it sets ("the cap is 800 EUR now"), or somebody else
 * in the place of one who is gone ("Anna left, send it to Tom"). The words are in `explicit-changes.json`, without accents, by language.
 */

/** What a statement does to a rule: it replaces it, or it only says something else about the same thing. */
type Change = "explicit" | "unclear" | undefined

type ListName = keyof typeof wordLists
const partsOf = (name: ListName): readonly string[] => plain(wordLists[name]).split(" | ")
const wordsOf = (name: ListName): ReadonlySet<string> => new Set(partsOf(name).flatMap((part) => part.split(" ")))
/** Pattern for one entry of a list, the longest that fits. */
const oneOf = (name: ListName): string =>
  `(?:${[...partsOf(name)].sort((one, two) => two.length - one.length).join("|")})`

const bounds = lazy(() => wordsOf("bounds"))
const fillers = lazy(() => wordsOf("fillers"))
const doubts = lazy(() => wordsOf("doubts"))
const limiting = lazy(() => wordsOf("limiting"))
const pronouns = lazy(() => wordsOf("pronouns"))
const delivers = lazy(() => wordsOf("delivers"))

/** Roles that make a statement no change: a guess, a plan, one exception, hearsay, an addition. */
const hedges: readonly string[] = ["guess", "says", "once", "plan", "but", "also", "stays"]
const isHedged = ({ allRoles, asks, tokens }: TextReading): boolean =>
  asks ||
  hedges.some((role) => allRoles.has(role)) ||
  (allRoles.has("today") && !allRoles.has("hence")) ||
  tokens.some(({ text }) => doubts().has(text))

/** A number and what is counted; the unit is empty if it is left open. */
type Amount = { readonly number: string; readonly unit: string }

const currencies: readonly (readonly [unit: string, words: RegExp])[] = [
  ["eur", /^(?:€|eur|euros?|евро)$/],
  ["usd", /^(?:\$|usd|us\$|dollars?|dolares|dollari|долларов)$/],
  ["gbp", /^(?:£|gbp|pounds?)$/],
  ["chf", /^(?:chf|francs?|franken)$/],
  ["jpy", /^(?:¥|jpy|yen|円)$/],
  ["cny", /^(?:cny|yuan|元|块|人民币)$/],
  ["time", /^(?:am|pm|a\.m|p\.m|uhr|o'clock)$/],
]
const unitOf = (word: string): string => currencies.find(([, words]) => words.test(word))?.[0] ?? word

const amount =
  /(?<before>[$€£¥]|\b(?:usd|eur|gbp|chf|jpy|cny) ?)?(?<![\p{L}\p{N}.,:_#-])(?<number>\p{N}+(?:[.,:]\p{N}+)*)(?![\p{N}_-])(?: ?(?<after>[$€£¥%元块円]|[\p{L}][\p{L}'.]*))?/gu

const amountsOf = createRecent((text): readonly Amount[] => {
  const seen = plain(text)
  return [...seen.matchAll(amount)].map(({ groups = {} }) => {
    const after = (groups.after ?? "").replace(/[.']+$/, "")
    const word = groups.before?.trim() ?? (isEmptyWord(after) ? "" : after)
    return { number: (groups.number ?? "").replace(/[,.](?=\d{3}\b)/g, ""), unit: unitOf(word) }
  })
}, maxKept)

const lower = lazy(() => {
  const [single = "", ...phrases] = partsOf("lower")
  return new RegExp(`(?<![\\p{L}])(?:${[...single.split(" "), ...phrases].join("|")})(?![\\p{L}])`, "u")
})
const isLower = (text: string): boolean => lower().test(plain(text))

const isBoundWord = ({ text }: { readonly text: string }): boolean => bounds().has(text)

/** True if a rule sets a limit: "never more than 500 EUR", "the cap is 800", "anything over 300 euros". */
export const setsBound = createRecent((text): boolean => {
  if (!/\p{N}/u.test(text)) return false
  const { classes, tokens } = readText(text)
  return classes.has("limit") || tokens.some((token) => isBoundWord(token) || limiting().has(token.text))
}, maxKept)

/** True if a statement is about a limit as such. "Orders are under 800 EUR now" only tells what they cost. */
const speaksOfBound = (text: string): boolean => readText(text).tokens.some(isBoundWord) || atMost().test(plain(text))
const atMost = lazy(() => new RegExp(`(?<![\\p{L}])${oneOf("atMost")}(?![\\p{L}])`, "u"))

const passive = lazy(() => new RegExp(`(?<![\\p{L}])${oneOf("passives")} (?=\\p{L}+)`, "gu"))

/** Matches "went up to" and the like, other ways to say that it changed. */
const moves = lazy(() => new RegExp(`(?<![\\p{L}])${oneOf("moves")} `, "gu"))

/**
 * Recognizes another value of the limit that a rule sets, whatever the rule calls it: "The cap is 800 EUR now". The statement is about a
 * limit of the same kind, another amount, and nothing that the rule is not about. Without a word that it has changed, that is unclear. A
 * statement that is known to be a rule (`isRule`) may call its limit anything.
 */
export function changesBound(rule: string, statement: string, isRule = false): Change {
  if (
    !setsBound(rule) ||
    !(isRule ? setsBound(statement) : speaksOfBound(statement)) ||
    isLower(rule) !== isLower(statement)
  )
    return undefined
  const ruleAmounts = amountsOf(rule)
  const [before] = ruleAmounts
  if (before === undefined || ruleAmounts.length > 1) return undefined
  const newAmounts = amountsOf(statement).filter(({ number }) => number !== before.number)
  const [after] = newAmounts
  if (after === undefined || newAmounts.length > 1 || endedThings(plain(statement)).includes(after.number))
    return undefined
  const [one, two] = [readText(rule), readText(plain(statement).replace(passive(), "").replace(moves(), "changed to "))]
  if (!isSameUnit(before, after, two) || isHedged(two) || two.allRoles.has("others") || two.allRoles.has("past"))
    return undefined
  const known = (key: string): boolean =>
    two.doing.has(key) || hasKey(one, key) || two.numbers.has(key) || isOneWord(key, after.unit)
  const rest = two.tokens.filter(
    (token) =>
      token.keys.length > 0 &&
      unitOf(token.text) !== after.unit &&
      !isBoundWord(token) &&
      !fillers().has(token.text) &&
      !limiting().has(token.text) &&
      !isTopic(rule, token.text) &&
      !token.keys.every(known),
  )
  if (rest.length > 0) return undefined
  const isAbout = two.tokens.some(
    ({ text, keys }) => isTopic(rule, text) || keys.some((key) => isSubject(one, before, key)),
  )
  // If nothing else is named, "the cap" is the known limit; "max 100" and "budget 900" are about something new.
  const isKnownBound = two.tokens.some((token, n) => isBoundWord(token) && isDeterminer(two.tokens[n - 1]?.text ?? ""))
  const hasUnit = before.unit !== "" && isOneWord(before.unit, after.unit)
  if (changeRoles.some((role) => two.allRoles.has(role)))
    return isAbout || isKnownBound || (hasUnit && two.tokens.some(isBoundWord)) ? "explicit" : undefined
  return hasUnit && (isAbout || isKnownBound) ? "unclear" : undefined
}
/** True for a word such as "the". Without one, "Set max to 800" is an order about something at hand. */
const isDeterminer = (word: string): boolean => isEmptyWord(word) && !fillers().has(word)
const changeRoles: readonly string[] = ["nowadays", "hence", "change"]

/** True if a word means what the rule is about, as "cost" does where the rule says "spend". */
const isTopic = (rule: string, word: string): boolean => topicOf(word).some((topic) => topicOf(rule).includes(topic))

/** True if both amounts have the same unit. If the statement leaves the unit open, it is the rule's. */
function isSameUnit(before: Amount, after: Amount, statement: TextReading): boolean {
  if (before.unit === after.unit || isOneWord(before.unit, after.unit)) return true
  if (currencies.some(([unit]) => unit === after.unit)) return false
  // The word after the number may be no unit: "800 from now on".
  const [word] = statement.tokens.filter(({ text }) => unitOf(text) === after.unit)
  return after.unit === "" || before.unit === "" || word === undefined || isNoUnit(word)
}

/** True if the statement counts something else than the rule: "the cap is 25 MB", where the rule limits euros. */
export function countsOther(rule: string, statement: string): boolean {
  const [[before], [after]] = [amountsOf(rule), amountsOf(statement)]
  return before !== undefined && after !== undefined && !isSameUnit(before, after, readText(statement))
}

/** True for a word that is no unit, such as "now" and "from". "MB" and "zł" are units, though too short to be about anything. */
const isNoUnit = ({ text, keys }: Token): boolean =>
  keys.length === 0 && (isEmptyWord(text) || classesOfWord(text).length > 0)

const isSubject = (rule: TextReading, { number, unit }: Amount, key: string): boolean =>
  hasKey(rule, key) && key !== number && unitOf(key) !== unit && !isOneWord(key, unit)

const lead =
  "^(?:(?:ok|okay|so|fyi|btw|by the way|heads up|update|note|since|as|because|now that|unfortunately|ubrigens|da|also|leider|au fait|comme|por cierto|como|a proposito|hi|hey|hello|note that)[,:]? )?"
const ends = "(?=\\s*(?:[,.;:!–—-]|$|and |so |und |also |et |donc |y |asi que |e |quindi |en |dus ))"
type GonePattern = { readonly gone: RegExp; readonly replaced: RegExp }
const patternsOf = createRecent((name): GonePattern => {
  const mind = "(?: (?:just|already|recently|sadly|leider|inzwischen))?"
  return {
    gone: new RegExp(`${lead}${name}${mind} ${oneOf("gone")}(?: ${oneOf("tails")})?${ends}`, "u"),
    replaced: new RegExp(`${lead}${name}${mind} ${oneOf("replaced")} `, "u"),
  }
}, 200)

const takesOver = lazy(
  () =>
    new RegExp(
      `^[\\s,.;:!–—-]*(?:(?:and|so|und|et|y|e|en|that's why) )?(\\p{L}[\\p{L}'’-]+)(?: \\p{L}[\\p{L}'’-]+)? (?:${oneOf("takes")})(?![\\p{L}])`,
      "u",
    ),
)
const pronounSubject =
  /^(?:she|he|they|it|this|that|sie|er|il|elle|ella|el|ele|ela|lui|lei|zij|hij|nobody|noone|who|someone|somebody)$/
const goneOrReplaced = lazy(() => new RegExp(`(?<![\\p{L}])(?:${oneOf("gone")}|${oneOf("replaced")})(?![\\p{L}])`, "u"))

/** Cached check whether a statement may replace somebody at all, because each is compared with every rule of a session. */
const mayReplace = createRecent((text) => goneOrReplaced().test(plain(text).replaceAll("’", "'")), maxKept)

/**
 * Recognizes a statement that somebody whom the rule names is gone, followed directly by who or what comes instead: "Anna left, send it to
 * Tom".
 */
export function replacesName(rule: string, statement: string): Change {
  if (!mayReplace(statement)) return undefined
  const seen = plain(statement).replaceAll("’", "'")
  const [one, two] = [readText(rule), readText(statement)]
  if (isHedged(two)) return undefined
  for (const name of namesOf(rule)) {
    const { gone, replaced } = patternsOf(name)
    const found = gone.exec(seen) ?? replaced.exec(seen)
    if (found === null) continue
    const behind = { plain: seen.slice(found[0].length), own: statement.slice(found[0].length) }
    const successor = replaced.test(seen) ? firstName(behind.own) : successorIn(behind.plain, behind.own, one)
    return successor === undefined || namesOf(rule).includes(plain(successor)) ? undefined : "explicit"
  }
  return undefined
}

const firstName = (text: string): string | undefined => /^\s*(?:the )?([\p{L}#@][\p{L}\p{N}'’_-]+)/u.exec(text)?.[1]

/** Cached names, channels and handles in a rule, as they are in a plain text. */
const namesOf = createRecent(
  (rule): readonly string[] => readText(rule).tokens.flatMap((token) => (isNamed(token) ? [token.text] : [])),
  maxKept,
)

/**
 * Returns who comes instead: "Tom takes over", or the only name of "send it to Tom". Undefined if the text is about anything else that the
 * rule is not about.
 */
function successorIn(seen: string, own: string, rule: TextReading): string | undefined {
  const taken = takesOver().exec(seen)
  const [all = "", taker = ""] = taken ?? []
  if (taken !== null && !pronounSubject.test(taker) && !isEmptyWord(taker))
    return wordsBeyondRule(readText(own.slice(all.length)), rule).length === 0 ? taker : undefined
  const text = own.replace(/^[\s,.;:!–—-]+/, "").replace(/^\p{Lu}/u, (letter) => letter.toLowerCase())
  const reading = readText(text)
  const others = wordsBeyondRule(reading, rule)
  const first = reading.tokens.findIndex(({ text: word }) => word === others[0]?.text)
  // A first and a last name are one.
  const isOneName = others.every((token, n) => isNamed(token) && token === reading.tokens[first + n])
  const isDirected = reading.tokens.some(({ text: word }) => delivers().has(word))
  return isOneName && isDirected ? others[0]?.text : undefined
}

/** Returns the words of a text that are about something else than the rule, except words for handing something over. */
const wordsBeyondRule = ({ tokens, doing }: TextReading, rule: TextReading): readonly Token[] =>
  tokens.filter(
    ({ text, keys }) =>
      keys.some((key) => !doing.has(key) && !hasKey(rule, key)) && !delivers().has(text) && !pronouns().has(text),
  )
const isNamed = ({ text, isName }: Token): boolean => isName || /^[#@]/.test(text)

/** Returns how a statement changes a rule explicitly, if it does. */
export const statedChange = (rule: string, statement: string, isRule = false): Change =>
  changesBound(rule, statement, isRule) ?? replacesName(rule, statement)
