import { lazy, lazyPattern } from "../../language/lazy.ts"
import { chineseInEnglish } from "./chinese.ts"
import { forms, separable, small } from "./foreign-words.ts"
import { japaneseInEnglish } from "./japanese.ts"
import { plainSpeech } from "./plain-speech.ts"

/**
 * The words of a rule in the form in which it is read: small letters, plain quotation marks, whole words for those of a chat, and words of
 * other languages as their English ones where a rule may turn on them.
 */
export function wordsOfRule(text: string): string {
  const plain = text
    .normalize("NFC")
    .toLowerCase()
    .replace(/[’‘´]/g, "'")
    .replace(/["“”„«»`「」『』]|\*{2,}|(?<=^|\s)\*(?=\p{L})|(?<=\p{L})\*(?=\s|$)/gu, " ")
    .replace(/\s+/g, " ")
    .trim()
  return plainSpeech(inEnglish(spelledOut(plain).replace(namedFolder, "$1/")))
}

/** "La carpeta de originales", "der Ordner alt": a folder by its name, as one writes it elsewhere. */
const namedFolder =
  /(?<![\p{L}\p{N}./_-])(?:ordner|verzeichnis|dossier|carpeta|pasta|cartella)(?: d[aeiou]l?s?)? (?!(?:d[aeiou]l?s?|des|ist|und|oder|et|ou|est|es|é|com|con|mit|avec|que|para|pour|médical|personne\p{L}*)(?![\p{L}]))([a-z](?:[\w.-]{0,29}\w)?)(?![\p{L}\w/-]|\.\w)/gu

/** What people leave out when they type. */
const typed: ReadonlyMap<string, string> = new Map(
  Object.entries({
    dont: "don't",
    doesnt: "doesn't",
    didnt: "didn't",
    isnt: "isn't",
    arent: "aren't",
    cant: "can't",
    wont: "won't",
    mustnt: "mustn't",
    shouldnt: "shouldn't",
    u: "you",
    ur: "your",
    ya: "you",
    youre: "you're",
    ive: "i've",
    pls: "please",
    plz: "please",
    plse: "please",
    thx: "thanks",
    btw: "by the way",
    "w/": "with",
    "w/o": "without",
    b4: "before",
    thru: "through",
    msg: "message",
    msgs: "messages",
    ppl: "people",
    sth: "something",
    smth: "something",
    anyones: "anyone's",
    approx: "about",
    govt: "government",
    mgmt: "management",
    acct: "account",
    accts: "accounts",
    pw: "password",
    pws: "passwords",
    pwd: "password",
    pwds: "passwords",
    creds: "credentials",
    repo: "repository",
    repos: "repositories",
    okey: "okay",
    adress: "address",
    adresses: "addresses",
    "&": "and",
  }),
)

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

const glossPattern = lazy(
  () =>
    new RegExp(
      `${before}(?:${forms.map(([, list]) => `(${list.replace(/\((?!\?)/g, "(?:")})`).join("|")})(?<!\\s)${behind}`,
      "gu",
    ),
)

const smallPattern = lazy(
  () => new RegExp(`${before}(?:${small.map(([, list]) => `(${list})`).join("|")})${behind}`, "gu"),
)

const separablePatterns = lazy(() =>
  separable.map(([first, last, english]): readonly [RegExp, string] => [
    new RegExp(`^((?:bitte )?)(?:${first}) ([^,;:]{1,160}?) (?:${last})(?=[.!]*$|,)`, "u"),
    english,
  ]),
)

/** With the English words in the place of their forms. */
const glossed = (text: string): string =>
  text.replace(glossPattern(), (word: string, ...groups: readonly unknown[]) => {
    const at = groups.indexOf(word)
    return at < 0 || at >= forms.length ? word : (forms[at]?.[0] ?? word)
  })

/** A text in other words, or the same one. */
function inEnglish(text: string): string {
  if (/[\u3040-\u30ff]/u.test(text)) return japaneseInEnglish(text)
  if (/\p{Script=Han}/u.test(text)) return chineseInEnglish(text)
  let changed = false
  let read = text
    .replace(/(?<![\p{L}\p{N}])n'(?=\p{L})/gu, "ne ")
    .replace(/(?<![\p{L}\p{N}])ne (\p{L}+(?: [\p{L}'-]+){0,4}?) qu(?:e |')/gu, "$1 seulement ")
  for (const [pattern, english] of separablePatterns())
    read = read.replace(pattern, (_, please: string, middle: string) => {
      changed = true
      // What is given out is money where a sum is named.
      const verb = english === "print" && /\d/.test(middle) ? "spend" : english
      return `${please}${verb} ${middle}`
    })
  const before = read
  read = glossed(read)
  if (read !== before) changed = true
  if (!changed) return text
  const whole = read.replace(/(?<![\p{L}\p{N}])([ld])'(?=\p{L})/gu, "$1e ")
  if (whole !== read) read = glossed(whole)
  // "No" is "in the" in Portuguese, behind other words.
  if (portuguese.test(read)) read = read.replace(/(?<=\p{L} )no(?= \p{L})/gu, "in the")
  read = read.replace(smallPattern(), (word: string, ...groups: readonly unknown[]) => {
    const at = groups.indexOf(word)
    return at < 0 || at >= small.length ? word : (small[at]?.[0] ?? word)
  })
  return negationFirst(read.replace(/\s+/g, " "))
}

const portuguese = lazyPattern(`${before}(?:você|não|uma|um|em|pelo|pela|ao|do|da|é|com|mande|enviar?)${behind}`, "u")

/** "Benutze nie …", "n'utilise jamais …" and "no uses nunca …" put the word that forbids behind the verb, or twice. */
const negationFirst = (text: string): string =>
  text
    .replace(/^((?:please )?)(?:don't|no|not) (?:you )?(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u, "$1never $2")
    .replace(
      /^((?:please )?)(?!never|don't|no |not |whoever |who )(\p{L}+(?: on)?) (?:never|not)(?![\p{L}])/u,
      "$1never $2",
    )
    .replace(
      /^((?:please )?)no (?=(?:you )?(?:write|answer|send|share|pass on|reveal|print|read|open|change|touch|delete|deploy|run|use|install|access|connect|download|upload|disable|buy|spend|order|contact|push|commit|publish)(?![\p{L}]))/u,
      "$1don't ",
    )
