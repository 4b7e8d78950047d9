import languages from "./languages.json" with { type: "json" }

/** What a text can be told by: the letters it is written in, and for languages that share letters the small words that every sentence has. */
type Language = (typeof languages)[number]

/** Each script with how much one letter of it says, in letters of an alphabet. */
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

/** So much of a text is looked at: a language shows in a page. */
const readLength = 20_000
/** Fewer letters tell nothing: a path, a name, an "ok". */
const leastLetters = 40
/** A script that makes up this share of a text is the one that it is written in. */
const mainShare = 0.5
/** An answer in the right script has at least this share of it, however many identifiers it quotes. */
const leastShare = 0.15
/** So many small words tell a language, if no other has half as many. */
const leastWords = 6

const smallWords = languages
  .filter(({ words }) => words !== "")
  .map(({ name, words }) => ({ name, words: new Set(words.split(" ")) }))

/** A text without what is the same in every language: code, addresses, paths and names of things. */
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

/** The one language whose small words a text is full of. */
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

/** The language that somebody named, by code or name. */
function findLanguage(asked: string): Language | undefined {
  const plain = asked.trim().toLowerCase()
  const code = plain.split(/[-_]/)[0] ?? ""
  return languages.find(({ names }) => names.includes(plain)) ?? languages.find(({ names }) => names[0] === code)
}

/** What an answer is expected to be written in; absent where that cannot be told. */
export type Expected = { readonly name: string; readonly script: string; readonly told: boolean }

/** The language that was asked for, otherwise the one in which the user writes. */
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

/** Is a text surely in another language than expected? Too short or too mixed a text is given the benefit of the doubt. */
export function speaksAnother(text: string, expected: Expected): boolean {
  const prose = proseOf(text)
  const shares = sharesOf(prose)
  if (shares.total < leastLetters) return false
  if (shareOf(shares, expected.script) < leastShare) return true
  if (expected.script === "han" && (shares.of.get("kana") ?? 0) > 0.3) return true
  if (expected.script !== "latin" || !expected.told) return false
  const spoken = byWords(prose)
  return spoken !== undefined && spoken !== expected.name
}
