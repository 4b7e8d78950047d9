import languages from "./languages.json" with { type: "json" }

/** How to recognize a language: by its script, and among languages with the same script by small words that occur in every sentence. */
type Language = (typeof languages)[number]

/** Each script with the weight of one of its letters, in letters of an alphabet. */
const scripts: readonly (readonly [script: string, letters: RegExp, weight: number])[] = [
  ["latin", /\p{Script=Latin}+/gu, 1],
  ["cyrillic", /\p{Script=Cyrillic}+/gu, 1],
  ["han", /\p{Script=Han}+/gu, 3],
  ["kana", /[\p{Script=Hiragana}\p{Script=Katakana}]+/gu, 2],
  ["hangul", /\p{Script=Hangul}+/gu, 2],
  ["arabic", /\p{Script=Arabic}+/gu, 1],
  ["hebrew", /\p{Script=Hebrew}+/gu, 1],
  ["greek", /\p{Script=Greek}+/gu, 1],
  ["devanagari", /\p{Script=Devanagari}+/gu, 1],
  ["thai", /\p{Script=Thai}+/gu, 1],
]

/** Number of characters examined: a page is enough to tell a language. */
const readLength = 20_000
/** Minimum number of letters: fewer, such as a path, a name or an "ok", tell nothing. */
const leastLetters = 40
/** Minimum share of a text for its main script. */
const mainShare = 0.5
/** Minimum share of the expected script in an answer, however many identifiers it quotes. */
const leastShare = 0.15
/** Minimum number of small words for a language, if no other has more than half as many. */
const leastWords = 6

const smallWords = languages
  .filter(({ words }) => words !== "")
  .map(({ name, words }) => ({ name, words: new Set(words.split(" ")) }))

/** Removes what is the same in every language: code, URLs, paths and identifiers. */
const proseOf = (text: string): string =>
  text
    .slice(0, readLength)
    .replace(/```[^`]*```|`[^`\n]*`/g, " ")
    .replace(/[\x21-\x7e\p{Script=Latin}]+/gu, (run) => (/[/\\_=<>{}@\d]/.test(run) ? " " : run))

type Shares = { readonly total: number; readonly of: ReadonlyMap<string, number> }

function sharesOf(prose: string): Shares {
  const sums = scripts.map(([script, letters, weight]) => {
    const length = (prose.match(letters) ?? []).reduce((sum, run) => sum + run.length, 0)
    return [script, length * weight] as const
  })
  const total = sums.reduce((sum, [, length]) => sum + length, 0)
  return { total, of: new Map(sums.map(([script, length]) => [script, total === 0 ? 0 : length / total])) }
}

const shareOf = ({ of }: Shares, script: string): number =>
  // Japanese is written in both.
  script === "kana" ? (of.get("kana") ?? 0) * 3 + (of.get("han") ?? 0) * 0.1 : (of.get(script) ?? 0)

/** Returns the language whose small words clearly prevail in a text. */
function byWords(prose: string): string | undefined {
  const words = prose.toLowerCase().match(/\p{L}+/gu) ?? []
  const hits = smallWords.map(({ name, words: known }) => ({
    name,
    count: words.filter((word) => known.has(word)).length,
  }))
  const [first, second] = hits.sort((one, other) => other.count - one.count)
  if (first === undefined || first.count < leastWords) return undefined
  return second !== undefined && second.count * 2 > first.count ? undefined : first.name
}

/** Returns the language that a code or name means. */
function findLanguage(asked: string): Language | undefined {
  const plain = asked.trim().toLowerCase()
  const code = plain.split(/[-_]/)[0] ?? ""
  return languages.find(({ names }) => names.includes(plain)) ?? languages.find(({ names }) => names[0] === code)
}

/** The language expected of an answer; absent if it cannot be detected. `told`: small words distinguish it from others of its script. */
export type Expected = { readonly name: string; readonly script: string; readonly told: boolean }

/** Returns the requested language, otherwise the one in which the user writes. */
export function expectedLanguage(asked: string | undefined, userText: string): Expected | undefined {
  if (asked !== undefined && asked.trim() !== "") {
    const found = findLanguage(asked)
    return found === undefined ? undefined : { name: found.name, script: found.script, told: found.words !== "" }
  }
  const prose = proseOf(userText)
  const shares = sharesOf(prose)
  if (shares.total < leastLetters) return undefined
  if ((shares.of.get("kana") ?? 0) > 0.1) return { name: "Japanese", script: "kana", told: false }
  const main = [...shares.of].find(([, share]) => share >= mainShare)?.[0]
  if (main === undefined) return undefined
  const spoken = main === "latin" ? byWords(prose) : undefined
  return {
    name: spoken ?? languages.find(({ script }) => script === main)?.name ?? main,
    script: main,
    told: spoken !== undefined,
  }
}

/** True if a text is certainly not in the expected language; false if it is too short or too mixed to tell. */
export function isOtherLanguage(text: string, expected: Expected): boolean {
  const prose = proseOf(text)
  const shares = sharesOf(prose)
  if (shares.total < leastLetters) return false
  if (shareOf(shares, expected.script) < leastShare) return true
  if (expected.script === "han" && (shares.of.get("kana") ?? 0) > 0.3) return true
  if (expected.script !== "latin" || !expected.told) return false
  const spoken = byWords(prose)
  return spoken !== undefined && spoken !== expected.name
}
