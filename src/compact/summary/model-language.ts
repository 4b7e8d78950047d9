/** What a text can be told by: the letters it is written in, and for languages that share letters the small words that every sentence has. */
type Language = {
  readonly name: string
  readonly names: readonly string[]
  readonly script: string
  readonly words?: string
}

const languages: readonly Language[] = [
  {
    name: "English",
    names: ["en", "english"],
    script: "latin",
    words: "the and of to is was were that this with for not are be has have been it on which from",
  },
  {
    name: "German",
    names: ["de", "german", "deutsch"],
    script: "latin",
    words: "der die das und ist nicht mit ein eine wurde den von zu auf für auch dass werden noch wird im dem",
  },
  {
    name: "French",
    names: ["fr", "french", "français", "francais"],
    script: "latin",
    words: "le la les des est une pour dans que qui pas du et sur avec été sont ce au aux cette",
  },
  {
    name: "Spanish",
    names: ["es", "spanish", "español", "espanol"],
    script: "latin",
    words: "el la los las que de es una para con por no se del fue más y está son como pero",
  },
  {
    name: "Portuguese",
    names: ["pt", "portuguese", "português", "portugues"],
    script: "latin",
    words: "o os as que de uma para com não por foi do da em são está mas como ao dos um",
  },
  {
    name: "Italian",
    names: ["it", "italian", "italiano"],
    script: "latin",
    words: "il lo gli che di è una per con non del della sono stato nel alla anche questo dei le",
  },
  {
    name: "Dutch",
    names: ["nl", "dutch", "nederlands"],
    script: "latin",
    words: "de het een van en is niet dat met voor op zijn werd ook naar aan maar worden er dit",
  },
  {
    name: "Polish",
    names: ["pl", "polish", "polski"],
    script: "latin",
    words: "i w na nie jest się z do to że o jak przez został są ale po dla oraz który",
  },
  {
    name: "Swedish",
    names: ["sv", "swedish", "svenska"],
    script: "latin",
    words: "och att det som en är inte på för med av den till har ett var de om men",
  },
  {
    name: "Turkish",
    names: ["tr", "turkish", "türkçe"],
    script: "latin",
    words: "ve bir bu için ile de da olarak değil var daha gibi çok olan ama ne",
  },
  {
    name: "Indonesian",
    names: ["id", "indonesian", "bahasa indonesia"],
    script: "latin",
    words: "yang dan di untuk dengan tidak dari ini itu pada adalah telah akan ke juga sudah",
  },
  {
    name: "Vietnamese",
    names: ["vi", "vietnamese", "tiếng việt"],
    script: "latin",
    words: "và là của không có được cho trong này đã với người một các những để",
  },
  { name: "Russian", names: ["ru", "russian", "русский"], script: "cyrillic" },
  { name: "Ukrainian", names: ["uk", "ukrainian", "українська"], script: "cyrillic" },
  { name: "Bulgarian", names: ["bg", "bulgarian", "български"], script: "cyrillic" },
  { name: "Chinese", names: ["zh", "chinese", "中文", "汉语", "漢語", "mandarin"], script: "han" },
  { name: "Japanese", names: ["ja", "japanese", "日本語"], script: "kana" },
  { name: "Korean", names: ["ko", "korean", "한국어"], script: "hangul" },
  { name: "Arabic", names: ["ar", "arabic", "العربية"], script: "arabic" },
  { name: "Persian", names: ["fa", "persian", "farsi", "فارسی"], script: "arabic" },
  { name: "Hebrew", names: ["he", "hebrew", "עברית"], script: "hebrew" },
  { name: "Greek", names: ["el", "greek", "ελληνικά"], script: "greek" },
  { name: "Hindi", names: ["hi", "hindi", "हिन्दी"], script: "devanagari" },
  { name: "Thai", names: ["th", "thai", "ไทย"], script: "thai" },
]

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

const smallWords = languages.flatMap(({ name, words }) =>
  words === undefined ? [] : [{ name, words: new Set(words.split(" ")) }],
)

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
    return found === undefined ? undefined : { name: found.name, script: found.script, told: found.words !== undefined }
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
